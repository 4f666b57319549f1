// The steps from a graph to files, in order, each timed.
#include "emit/compile.h"
#include "dialect/precision.h"
#include "emit/description.h"
#include "emit/installation.h"
#include "emit/compile_kernels.h"
#include "emit/link_modules.h"
#include "emit/object.h"
#include "emit/run_tool.h"
#include "emit/target_list.h"
#include "emit/write_file.h"
#include "mlir/Pass/PassManager.h"
#include "passes/passes.h"
#include "schedules/tuner/row_buckets.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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

/// The graph on its way through the compiler for one target.
struct TargetRun {
  const Target &target;
  mlir::ModuleOp module;
  ModelPlan plan;
  std::vector<KernelText> texts;
  std::vector<std::vector<ScheduleVariant>> variants; // of each of `texts`
  std::vector<KernelSource> sources;                  // of each of their variants, in order

  TargetRun(const Target &target, mlir::ModuleOp module) : target(target), module(module) {}

  Error analyse(const TunedSchedules &tuned) {
    if (Error error = runPasses(module, target, tuned))
      return error;
    plan = makePlan(module, target);
    plan.grain = tuned.grain(target);
    texts = kernelsOf(module);
    for (const KernelText &text : texts) {
      variants.push_back(tuned.variantsOf(text, plan));
      for (const ScheduleVariant &variant : variants.back()) {
        std::string symbol = symbolOf(plan.name, text, target);
        if (variants.back().size() > 1)
          symbol += "_from_" + std::to_string(leastRowsOf(variant.bucket)) + "_rows";
        sources.push_back({symbol, "kernel", text.text, variant.parameters, {}, variant.plannedRows});
      }
    }
    return Error::success();
  }

  /// Writes the kernels' objects, and the memory that kernels need into the plan.
  Expected<TargetCode> compileTo(StringRef folder, const CompileOptions &options,
                                 function_ref<void(const KernelSource &, const CompiledKernel &)> progress,
                                 std::vector<KernelReport> &reports) {
    KernelCompileOptions kernelOptions{
        .cacheFolder = options.cacheFolder, .useCache = options.useCache, .jobs = options.jobs};
    auto compiled = compileKernels(sources, target, kernelOptions, progress);
    if (!compiled)
      return compiled.takeError();
    TargetCode code{&plan, {}, {}};
    StringMap<int64_t> heapOf, stackOf;
    size_t next = 0;
    for (auto [text, itsVariants] : zip_equal(texts, variants)) {
      KernelReport report;
      report.function = text.function;
      report.symbol = symbolOf(plan.name, text, target);
      report.kernelClass = text.kernelClass;
      KernelDispatch dispatch{text.function, report.symbol, rowArgumentOf(text, plan), {}};
      report.variants = itsVariants;
      size_t first = next;
      for (const ScheduleVariant &variant : itsVariants) {
        const KernelSource &source = sources[next];
        const CompiledKernel &kernel = (*compiled)[next++];
        // Of equal parameters it is equal code: what another variant has is not there twice.
        size_t same = first;
        while ((*compiled)[same].used != kernel.used)
          ++same;
        if (same != next - 1) {
          dispatch.variants.push_back({variant.mostRows, sources[same].symbol});
          continue;
        }
        std::string path = (folder + "/" + source.symbol + ".o").str();
        if (Error error = writeFile(path, kernel.object))
          return error;
        code.kernels.push_back({text.function, source.symbol, path});
        dispatch.variants.push_back({variant.mostRows, source.symbol});
        report.heapBytes = std::max(report.heapBytes, kernel.heapBytes);
        report.stackBytes = std::max(report.stackBytes, kernel.stackBytes);
        report.objectBytes += int64_t(kernel.object.size());
        report.seconds += kernel.seconds;
      }
      report.cached = report.seconds == 0;
      heapOf[text.function] = report.heapBytes;
      stackOf[text.function] = report.stackBytes;
      if (dispatch.variants.size() > 1)
        code.dispatches.push_back(std::move(dispatch));
      reports.push_back(std::move(report));
    }
    for (const PlanEntry *entry : entriesOf(plan))
      for (const PlanCall &call : entry->calls) {
        auto *filled = const_cast<PlanEntry *>(entry); // of this object's own plan
        filled->kernelScratchBytes = std::max(entry->kernelScratchBytes, heapOf.lookup(call.kernel));
        filled->kernelStackBytes = std::max(entry->kernelStackBytes, stackOf.lookup(call.kernel));
      }
    return code;
  }
};

} // namespace

Error runPasses(mlir::ModuleOp module, const Target &target, const TunedSchedules &tuned) {
  mlir::PassManager passes(module.getContext());
  buildPipeline(passes, target.name, tuned.panels(target), tuned.choices(graphName(module), target));
  if (mlir::failed(passes.run(module)))
    return createStringError("the graph has errors");
  return Error::success();
}

/// Beside the object what a program links with it for a GPU: once for all models of the program.
static Error installGpuArchives(ArrayRef<TargetRun> runs, StringRef folder) {
  for (const TargetRun &run : runs) {
    std::string archive = gpuArchive(run.target);
    if (archive.empty())
      continue;
    SmallString<128> path(folder);
    sys::path::append(path, sys::path::filename(archive));
    if (std::error_code code = sys::fs::copy_file(archive, path))
      return createFileError(archive, code);
  }
  return Error::success();
}

Expected<CompileResult> compileModel(mlir::ModuleOp module, const CompileOptions &options) {
  CompileResult result;
  Clock clock(result.times);
  auto targets = targetsNamed(options.target, narrowestPrecision(module));
  if (!targets)
    return targets.takeError();
  if (options.sharedLibrary && options.runtime == Runtime::bare)
    return createStringError("a shared library is loaded by an operating system, and runtime 'bare' is for programs "
                             "without one");
  for (const Target *target : *targets)
    if (options.sharedLibrary && linksModules(*target))
      return createStringError("target '" + target->name +
                               "' has no shared libraries, expected a program that links the object");

  for (const Target *target : *targets)
    if (!target->device.empty() && options.runtime == Runtime::bare)
      return createStringError("target " + target->name +
                               " needs a GPU's driver, and runtime 'bare' is for programs without an operating system");

  auto tuned = TunedSchedules::load(options.tuning, options.target, [&](StringRef warning) {
    if (options.warn)
      options.warn(warning);
  });
  if (!tuned)
    return tuned.takeError();
  for (const Target *target : *targets)
    for (Precision precision : {Precision::BFloat16, Precision::BFloat16Dot, Precision::Int8})
      if (hasPrecision(module, precision) && !computesIn(*target, precision))
        return createStringError("target " + target->name + " does not compute in " + precisionName(precision) +
                                 ", the model's precision" +
                                 (computesIn(*target, Precision::BFloat16) ? "" : ", but in float32 alone"));

  // The passes take a module apart: each target but the first has a copy.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> copies;
  for (size_t i = 1; i < targets->size(); ++i)
    copies.emplace_back(module.clone());
  std::vector<TargetRun> runs;
  size_t kernels = 0;
  for (auto [index, target] : enumerate(*targets)) {
    TargetRun run{*target, index == 0 ? module : *copies[index - 1]};
    if (Error error = run.analyse(*tuned))
      return error;
    kernels += run.sources.size();
    runs.push_back(std::move(run));
  }
  clock.finish("passes");

  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("burin", folder))
    return createStringError(code, "no temporary folder");
  scope_exit cleanUp([&] { sys::fs::remove_directories(folder); });
  int done = 0;
  auto progress = [&](const KernelSource &source, const CompiledKernel &) {
    if (options.progress)
      options.progress(source.symbol, ++done, int(kernels));
  };
  std::vector<TargetCode> code;
  for (TargetRun &run : runs) {
    auto compiled = run.compileTo(folder, options, progress, result.kernels);
    if (!compiled)
      return compiled.takeError();
    code.push_back(std::move(*compiled));
  }
  clock.finish("kernels");

  if (std::error_code code = sys::fs::create_directories(options.outputFolder))
    return createFileError(options.outputFolder, code);
  std::string stem = options.outputFolder + "/" + runs.front().plan.name;
  result.objectPath = stem + ".o";
  result.headerPath = stem + ".h";
  if (Error error = writeObject(code, folder, result.objectPath))
    return error;
  if (options.runtime == Runtime::bare)
    if (Error error = checkBareObject(result.objectPath))
      return error;
  std::vector<const ModelPlan *> plans;
  for (const TargetRun &run : runs)
    plans.push_back(&run.plan);
  if (Error error = installText(headerOf(plans, options.runtime), result.headerPath))
    return error;
  if (options.sharedLibrary) {
    Expected<std::string> described = addDescription(result.objectPath, descriptionOf(plans), folder);
    if (!described)
      return described.takeError();
    std::vector<std::string> archives;
    for (const TargetRun &run : runs)
      archives.push_back(gpuArchive(run.target));
    archives.push_back(runtimeArchive(runs.front().target));
    llvm::erase(archives, "");
    result.sharedLibraryPath = stem + ".so";
    if (Error error = writeSharedLibrary(*described, archives, result.sharedLibraryPath))
      return error;
  } else if (Error error = installGpuArchives(runs, options.outputFolder)) {
    return error;
  }
  result.plan = std::move(runs.front().plan);
  for (TargetRun &run : drop_begin(runs))
    result.fallbacks.push_back(std::move(run.plan));
  clock.finish("object and header");
  return result;
}

} // namespace burin
