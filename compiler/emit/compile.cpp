// The steps from a graph to files, in order, each timed.
#include "emit/compile.h"
#include "emit/installation.h"
#include "emit/kernel_worker.h"
#include "emit/object.h"
#include "emit/run_tool.h"
#include "mlir/Pass/PassManager.h"
#include "passes/passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <chrono>

using namespace llvm;

namespace burin {

namespace {

class Clock {
public:
  explicit Clock(std::vector<PhaseTime> &times) : times_(times), start_(now()) {}
  void finish(StringRef phase) {
    double end = now();
    times_.push_back({phase.str(), end - start_});
    start_ = end;
  }

private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  std::vector<PhaseTime> &times_;
  double start_;
};

/// Model, class, content and target: unique where objects of several models and targets meet, and the same for the same
/// kernel wherever it is compiled.
std::string symbolOf(StringRef model, const KernelText &kernel, const Target &target) {
  std::string symbol = (model + "_" + kernel.kernelClass + "_" + utohexstr(xxh3_64bits(kernel.text), true) + "_" +
                        StringRef(target.name))
                           .str();
  for (char &c : symbol)
    c = isAlnum(c) ? c : '_';
  return symbol;
}

std::vector<PlanEntry *> allEntries(ModelPlan &plan) {
  std::vector<PlanEntry *> entries{&plan.forward};
  for (PlanStream &stream : plan.streams) {
    entries.push_back(&stream.one);
    if (stream.many)
      entries.push_back(&*stream.many);
  }
  return entries;
}

Error writeFile(StringRef path, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  stream << bytes;
  stream.close();
  return code || stream.has_error() ? createFileError(path, code ? code : stream.error()) : Error::success();
}

} // namespace

Expected<const Target *> targetNamed(StringRef name) {
  if (const Target *target = findTarget(name))
    return target;
  std::string known = "host";
  for (const Target &target : allTargets())
    known += ", " + target.name.str();
  return createStringError("target '" + name + "' is not known; the targets are " + known);
}

Error runPasses(mlir::ModuleOp module, const Target &target) {
  mlir::PassManager passes(module.getContext());
  buildPipeline(passes, target.name);
  if (mlir::failed(passes.run(module)))
    return createStringError("the graph has errors");
  return Error::success();
}

Expected<CompileResult> compileModel(mlir::ModuleOp module, const CompileOptions &options) {
  CompileResult result;
  Clock clock(result.times);
  auto target = targetNamed(options.target);
  if (!target)
    return target.takeError();
  if (options.sharedLibrary && options.runtime == Runtime::bare)
    return createStringError("a shared library is loaded by an operating system, and runtime 'bare' is for programs "
                             "without one");
  if (Error error = runPasses(module, **target))
    return error;
  result.plan = makePlan(module, **target);
  clock.finish("passes");

  std::vector<KernelText> texts = kernelsOf(module);
  std::vector<KernelSource> sources;
  for (const KernelText &text : texts)
    sources.push_back({symbolOf(result.plan.name, text, **target), "kernel", text.text});
  int done = 0;
  auto progress = [&](const KernelSource &source, const CompiledKernel &) {
    if (options.progress)
      options.progress(source.symbol, ++done, int(sources.size()));
  };
  KernelCompileOptions kernelOptions{
      .cacheFolder = options.cacheFolder, .useCache = options.useCache, .jobs = options.jobs};
  auto compiled = compileKernels(sources, **target, kernelOptions, progress);
  if (!compiled)
    return compiled.takeError();
  clock.finish("kernels");

  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("burin", folder))
    return createStringError(code, "no temporary folder");
  scope_exit cleanUp([&] { sys::fs::remove_directories(folder); });
  std::vector<KernelObject> objects;
  StringMap<int64_t> heapOf, stackOf;
  for (auto [text, source, kernel] : zip_equal(texts, sources, *compiled)) {
    std::string path = (folder + "/" + source.symbol + ".o").str();
    if (Error error = writeFile(path, kernel.object))
      return error;
    objects.push_back({text.function, source.symbol, path});
    heapOf[text.function] = kernel.heapBytes;
    stackOf[text.function] = kernel.stackBytes;
    result.kernels.push_back({text.function, source.symbol, text.kernelClass, kernel.heapBytes, kernel.stackBytes,
                              int64_t(kernel.object.size()), kernel.seconds, kernel.seconds == 0});
  }
  for (PlanEntry *entry : allEntries(result.plan))
    for (const PlanCall &call : entry->calls) {
      entry->kernelScratchBytes = std::max(entry->kernelScratchBytes, heapOf.lookup(call.kernel));
      entry->kernelStackBytes = std::max(entry->kernelStackBytes, stackOf.lookup(call.kernel));
    }

  if (std::error_code code = sys::fs::create_directories(options.outputFolder))
    return createFileError(options.outputFolder, code);
  std::string stem = options.outputFolder + "/" + result.plan.name;
  result.objectPath = stem + ".o";
  result.headerPath = stem + ".h";
  if (Error error = writeObject(result.plan, objects, folder, result.objectPath))
    return error;
  if (options.runtime == Runtime::bare)
    if (Error error = checkBareObject(result.objectPath))
      return error;
  if (Error error = installText(headerOf(result.plan, options.runtime), result.headerPath))
    return error;
  if (options.sharedLibrary) {
    result.sharedLibraryPath = stem + ".so";
    if (Error error = writeSharedLibrary(result.objectPath, runtimeArchive(), result.sharedLibraryPath))
      return error;
  }
  clock.finish("object and header");
  return result;
}

} // namespace burin
