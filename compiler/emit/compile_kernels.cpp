// The parent: looks in the cache, starts workers, collects what they wrote.
#include "emit/compile_kernels.h"
#include "emit/kernel_cache.h"
#include "emit/kernel_worker.h"
#include "emit/worker_processes.h"
#include "emit/write_file.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <optional>
#include <set>
#include <thread>

using namespace mlir;
namespace json = llvm::json;
namespace sys = llvm::sys;

namespace burin {

std::string kernelCompilerVersion() {
  return "Halide " + std::to_string(HALIDE_VERSION_MAJOR) + "." + std::to_string(HALIDE_VERSION_MINOR) + "." +
         std::to_string(HALIDE_VERSION_PATCH);
}

KernelSource serialiseKernel(func::FuncOp kernel, llvm::StringRef symbol) {
  // A module of the kernel and the functions that it calls; whole kernels call one level deep.
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto original = kernel->getParentOfType<ModuleOp>();
  kernel.walk([&](func::CallOp call) {
    if (!module->lookupSymbol(call.getCallee()))
      builder.clone(*original.lookupSymbol(call.getCallee()));
  });
  builder.clone(*kernel);
  KernelSource source{symbol.str(), kernel.getName().str(), "", {}};
  llvm::raw_string_ostream text(source.module);
  module->print(text);
  return source;
}

static llvm::Expected<CompiledKernel> readReport(llvm::StringRef report, std::string object) {
  auto parsed = json::parse(report);
  if (!parsed)
    return parsed.takeError();
  const json::Object &fields = *parsed->getAsObject();
  CompiledKernel kernel;
  kernel.object = std::move(object);
  kernel.heapBytes = fields.getInteger("heap_bytes").value_or(0);
  kernel.stackBytes = fields.getInteger("stack_bytes").value_or(0);
  kernel.seconds = fields.getNumber("seconds").value_or(0);
  kernel.used = parametersFrom(fields.getObject("parameters"));
  return kernel;
}

static llvm::Error failed(const KernelSource &kernel, const llvm::Twine &why) {
  return llvm::createStringError("kernel " + kernel.symbol + ": " + why);
}

static std::string readFile(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? (*file)->getBuffer().str() : "";
}

static std::string inputOf(const KernelSource &kernel, const Target &target) {
  std::string input;
  llvm::raw_string_ostream(input) << json::Value(json::Object{{"target", target.name},
                                                              {"symbol", kernel.symbol},
                                                              {"function", kernel.function},
                                                              {"module", kernel.module},
                                                              {"parameters", toJson(kernel.parameters)},
                                                              {"autoscheduler", kernel.autoscheduler},
                                                              {"rows", kernel.rows}});
  return input;
}

namespace {
/// What compiles kernels that are not in the cache.
class Workers {
public:
  Workers(llvm::ArrayRef<KernelSource> kernels, const KernelCompileOptions &options, llvm::StringRef folder)
      : kernels_(kernels), options_(options), folder_(folder) {}

  llvm::Error begin(size_t kernel, llvm::StringRef input) {
    KernelFiles files = filesOf(kernel);
    llvm::Error error = start();
    if (!error)
      error = writeFile(files.input(), input);
    if (!error)
      error = processes_->begin(kernel, files.base, files.errors());
    if (error)
      return failed(kernels_[kernel], llvm::toString(std::move(error)));
    running_.insert(kernel);
    return llvm::Error::success();
  }

  size_t running() const { return running_.size(); }

  struct Finished {
    size_t kernel;
    llvm::Expected<KernelCache::Entry> result;
  };
  /// Waits for the next that ends.
  Finished wait() {
    auto ended = processes_->wait();
    if (!ended) { // and so have all that it started
      size_t kernel = *running_.begin();
      running_.erase(kernel);
      if (running_.empty()) // what begins later starts another
        processes_.reset();
      return {kernel, failed(kernels_[kernel], llvm::toString(ended.takeError()))};
    }
    running_.erase(ended->job);
    const KernelSource &kernel = kernels_[ended->job];
    KernelFiles files = filesOf(ended->job);
    if (ended->good)
      return {ended->job, KernelCache::Entry{readFile(files.output()), readFile(files.report())}};
    std::string errors = llvm::StringRef(readFile(files.errors())).trim().str();
    if (ended->late)
      errors = "took longer than " + std::to_string(options_.timeLimitSeconds) + " s to compile";
    return {ended->job, failed(kernel, errors.empty() ? "the worker " + ended->how : errors)};
  }

private:
  llvm::Error start() {
    if (processes_)
      return llvm::Error::success();
    std::string program = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&isKernelWorker));
    auto started = WorkerProcesses::start(program, kernelWorkerFlag, options_.timeLimitSeconds);
    if (!started)
      return started.takeError();
    processes_.emplace(std::move(*started));
    return llvm::Error::success();
  }

  KernelFiles filesOf(size_t kernel) const {
    llvm::SmallString<128> base(folder_);
    sys::path::append(base, std::to_string(kernel));
    return {base.str().str()};
  }

  llvm::ArrayRef<KernelSource> kernels_;
  const KernelCompileOptions &options_;
  std::string folder_;
  std::optional<WorkerProcesses> processes_; // since the first kernel
  std::set<size_t> running_;
};
} // namespace

llvm::Expected<std::vector<CompiledKernel>>
compileKernels(llvm::ArrayRef<KernelSource> kernels, const Target &target, const KernelCompileOptions &options,
               llvm::function_ref<void(const KernelSource &, const CompiledKernel &)> progress) {
  KernelCache cache(options.cacheFolder);
  unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  llvm::SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("burin-kernels", folder))
    return llvm::createStringError("cannot make a temporary folder: " + code.message());

  std::vector<CompiledKernel> results(kernels.size());
  std::vector<std::string> keys(kernels.size());
  llvm::Error error = llvm::Error::success();
  bool good = true;
  auto done = [&](size_t i, CompiledKernel kernel) {
    results[i] = std::move(kernel);
    if (progress)
      progress(kernels[i], results[i]);
  };
  auto fail = [&](size_t kernel, llvm::Error e) {
    if (options.failed)
      return options.failed(kernel, std::move(e));
    error = good ? std::move(e) : llvm::joinErrors(std::move(error), std::move(e));
    good = false;
  };
  auto begin = [&](Workers &workers, size_t i) {
    std::string input = inputOf(kernels[i], target);
    keys[i] = KernelCache::key(input, kernelCompilerVersion());
    if (auto entry = options.useCache ? cache.find(keys[i]) : std::nullopt) {
      if (auto kernel = readReport(entry->report, entry->object)) {
        kernel->seconds = 0;
        return done(i, std::move(*kernel));
      } else {
        llvm::consumeError(kernel.takeError()); // a broken entry is none
      }
    }
    if (llvm::Error e = workers.begin(i, input))
      fail(i, std::move(e));
  };
  auto end = [&](Workers::Finished finished) {
    if (!finished.result)
      return fail(finished.kernel, finished.result.takeError());
    auto kernel = readReport(finished.result->report, finished.result->object);
    if (!kernel)
      return fail(finished.kernel, kernel.takeError());
    if (options.useCache)
      cache.insert(keys[finished.kernel], *finished.result);
    done(finished.kernel, std::move(*kernel));
  };

  {
    Workers workers(kernels, options, folder);
    for (size_t next = 0; workers.running() || (good && next < kernels.size());)
      if (good && next < kernels.size() && workers.running() < jobs)
        begin(workers, next++);
      else
        end(workers.wait());
  }
  sys::fs::remove_directories(folder);
  if (!good)
    return error;
  llvm::consumeError(std::move(error));
  return results;
}

} // namespace burin
