// The worker: reads a serialised kernel, builds, schedules and lowers it, bounds what it allocates, writes an object
// and a report. And its parent: looks in the cache, starts workers, collects what they wrote.
#include "emit/kernel_worker.h"
#include "burin_plan.h"
#include "emit/autoschedule.h"
#include "emit/kernel_builder.h"
#include "emit/kernel_cache.h"
#include "emit/link_modules.h"
#include "emit/write_file.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "schedules/vector_predication.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

using namespace mlir;
namespace json = llvm::json;
namespace sys = llvm::sys;

namespace burin {

static const char workerFlag[] = "--burin-kernel-worker";

/// What a block of threads has on every GPU that the targets name, without asking the driver for more.
constexpr int64_t mostSharedBytes = 48 * 1024;

std::string kernelCompilerVersion() {
  return "Halide " + std::to_string(HALIDE_VERSION_MAJOR) + "." + std::to_string(HALIDE_VERSION_MINOR) + "." +
         std::to_string(HALIDE_VERSION_PATCH);
}

// ---- The bound of what a kernel allocates ---------------------------------------------------------------------------

namespace {
/// Walks a lowered kernel with an interval for every symbol and adds up the allocations that live at the same time.
class AllocationBound : public Halide::Internal::IRVisitor {
public:
  AllocationBound(const std::map<std::string, int64_t> &maxima, const std::vector<Halide::Argument> &arguments)
      : maxima_(maxima) {
    for (const Halide::Argument &argument : arguments) // extents of buffers are read by lets, below
      if (auto known = maxima.find(argument.name); known != maxima.end() && argument.is_scalar())
        scope_.push(argument.name, interval(known->second, argument.type));
  }

  int64_t heapBytes = 0, stackBytes = 0;
  int64_t sharedBytes = 0; // of a block of threads
  std::string unbounded;   // the first allocation without a bound

private:
  using Interval = Halide::Internal::Interval;
  using IRVisitor::visit;

  static Interval interval(int64_t most, Halide::Type type) {
    return Interval(Halide::Internal::make_const(type, 0), Halide::Internal::make_const(type, most));
  }

  void visit(const Halide::Internal::LetStmt *let) override {
    let->value.accept(this);
    auto known = maxima_.find(let->name);
    Interval value = known != maxima_.end() ? interval(known->second, let->value.type())
                                            : Halide::Internal::bounds_of_expr_in_scope(let->value, scope_);
    scope_.push(let->name, value);
    let->body.accept(this);
    scope_.pop(let->name);
  }

  void visit(const Halide::Internal::For *loop) override {
    Interval first = Halide::Internal::bounds_of_expr_in_scope(loop->min, scope_);
    Interval last = Halide::Internal::bounds_of_expr_in_scope(loop->min + loop->extent - 1, scope_);
    scope_.push(loop->name, Interval(first.min, last.max));
    loop->body.accept(this);
    scope_.pop(loop->name);
  }

  void visit(const Halide::Internal::Allocate *allocate) override {
    using Halide::MemoryType;
    int64_t bytes = allocate->type.bytes();
    bool constant = true;
    for (const Halide::Expr &extent : allocate->extents) {
      auto fixed = Halide::Internal::as_const_int(extent);
      constant &= fixed.has_value();
      Halide::Expr most = Halide::Internal::simplify(Halide::Internal::bounds_of_expr_in_scope(extent, scope_).max);
      auto bound = most.defined() ? Halide::Internal::as_const_int(most) : std::nullopt;
      if (!bound) {
        if (unbounded.empty())
          unbounded = allocate->name;
        bound = 0;
      }
      bytes *= std::max<int64_t>(*bound, 0);
    }
    bytes += allocate->padding * allocate->type.bytes();
    // Halide puts small constant allocations on the stack by itself.
    bool stack =
        constant && (allocate->memory_type == MemoryType::Stack || allocate->memory_type == MemoryType::Register ||
                     (allocate->memory_type == MemoryType::Auto && bytes <= 16 * 1024));
    if (!stack)
      bytes = BURIN_ARENA_BLOCK_BYTES(bytes); // what the runtime's arena needs for it
    int64_t &now = stack ? stackNow_ : heapNow_;
    now += bytes;
    heapBytes = std::max(heapBytes, heapNow_);
    stackBytes = std::max(stackBytes, stackNow_);
    IRVisitor::visit(allocate);
    now -= bytes;
  }

  /// Kernels on a GPU are started by halide_<api>_run, whose 9th argument here is the shared memory of a block.
  void visit(const Halide::Internal::Call *call) override {
    llvm::StringRef name = call->name;
    if (name.starts_with("halide_") && name.ends_with("_run") && call->args.size() > 8) {
      Halide::Expr most =
          Halide::Internal::simplify(Halide::Internal::bounds_of_expr_in_scope(call->args[8], scope_).max);
      auto bound = most.defined() ? Halide::Internal::as_const_int(most) : std::nullopt;
      if (!bound && unbounded.empty())
        unbounded = "shared memory";
      sharedBytes = std::max(sharedBytes, bound.value_or(0));
    }
    IRVisitor::visit(call);
  }

  const std::map<std::string, int64_t> &maxima_;
  Halide::Internal::Scope<Interval> scope_;
  int64_t heapNow_ = 0, stackNow_ = 0;
};
} // namespace

// ---- The worker
// ------------------------------------------------------------------------------------------------------

static Halide::Target halideTarget(const Target &target) {
  Halide::Target halide(std::string(target.halide));
  for (auto feature : {Halide::Target::NoRuntime, Halide::Target::NoAsserts, Halide::Target::NoBoundsQuery,
                       Halide::Target::UserContext})
    halide.set_feature(feature);
  return halide;
}

static const Schedules &noSchedules() {
  static const Schedules none = {[](const KernelGroup &, const Target &) {}, [](const KernelGroup &, const Target &) {},
                                 [](const KernelGroup &, const Target &) {}, [](const KernelGroup &, const Target &) {},
                                 [](const KernelGroup &, const Target &) {}, [](const KernelGroup &, const Target &) {},
                                 [](const StateWrite &, const Target &) {},  [](const StateWrite &, const Target &) {}};
  return none;
}

/// Parameters as they stand in a worker's input and report.
static json::Object toJson(const ScheduleParameters &parameters) {
  json::Object object;
  for (auto [parameter, value] : parameters.values())
    object[rowOf(parameter).name] = value;
  return object;
}

static ScheduleParameters parametersFrom(const json::Object *object) {
  ScheduleParameters parameters;
  for (const ParameterRow &row : allParameters())
    if (auto value = object ? object->getInteger(row.name) : std::nullopt)
      parameters.set(row.parameter, int(*value));
  return parameters;
}

/// Compiles what `input` describes to the object file `output`; fills the report. An error's text, or empty.
static std::string compileKernel(const json::Object &input, const std::string &output, json::Object &report) {
  auto text = [&](llvm::StringRef key) { return input.getString(key).value_or("").str(); };
  const Target *target = findTarget(text("target"));
  if (!target)
    return "no target is named '" + text("target") + "'";

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<EncoderDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text("module"), &context);
  auto kernel = module ? module->lookupSymbol<func::FuncOp>(text("function")) : func::FuncOp();
  if (!kernel || !kernel->hasAttr(attribute::kernel))
    return "the module has no kernel '" + text("function") + "'";

  auto start = std::chrono::steady_clock::now();
  // An autoscheduler wants algorithms that nobody scheduled.
  Target described = *target;
  std::string autoscheduler = text("autoscheduler");
  if (!autoscheduler.empty())
    described.schedules = noSchedules;
  KernelBuilder builder(kernel, described, parametersFrom(input.getObject("parameters")),
                        autoscheduler.empty() ? input.getInteger("rows").value_or(0) : 0);
  if (std::string error = builder.build(); !error.empty())
    return error;
  Halide::Pipeline pipeline = builder.pipeline();
  addVectorPredication(pipeline, halideTarget(*target));
  if (!autoscheduler.empty())
    autoschedule(pipeline, halideTarget(*target), autoscheduler, input.getInteger("rows").value_or(1));
  if (!text("statement").empty()) // for people who tune schedules
    pipeline.compile_to_lowered_stmt(text("statement"), builder.arguments(), Halide::Text, halideTarget(*target));
  Halide::Module lowered = pipeline.compile_to_module(builder.arguments(), text("symbol"), halideTarget(*target),
                                                      Halide::LinkageType::ExternalPlusArgv);

  AllocationBound bound(builder.maxima(), builder.arguments());
  for (const Halide::Internal::LoweredFunc &function : lowered.functions())
    if (function.name == text("symbol"))
      function.body.accept(&bound);
  if (!bound.unbounded.empty() && autoscheduler.empty())
    return "the size of its buffer '" + bound.unbounded + "' has no bound";

  if (bound.sharedBytes > mostSharedBytes)
    return "its blocks take " + std::to_string(bound.sharedBytes) + " bytes of shared memory, expected at most " +
           std::to_string(mostSharedBytes);

  lowered.compile({{linksModules(*target) ? Halide::OutputFileType::bitcode : Halide::OutputFileType::object, output}});
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report["heap_bytes"] = bound.heapBytes;
  report["stack_bytes"] = bound.stackBytes;
  report["seconds"] = seconds.count();
  report["parameters"] = toJson(builder.usedParameters());
  return "";
}

bool isKernelWorker(int argc, char **argv) { return argc == 4 && llvm::StringRef(argv[1]) == workerFlag; }

int runKernelWorker(int, char **argv) {
  std::string inputPath = argv[2], outputPath = argv[3], error;
  auto file = llvm::MemoryBuffer::getFile(inputPath);
  if (!file) {
    llvm::errs() << "cannot read " << inputPath << "\n";
    return 1;
  }
  json::Object report;
  auto input = json::parse((*file)->getBuffer());
  if (!input) {
    error = llvm::toString(input.takeError());
  } else {
    try {
      error = compileKernel(*input->getAsObject(), outputPath, report);
    } catch (const Halide::Error &e) {
      error = e.what();
    }
  }
  if (!error.empty()) {
    llvm::errs() << error << "\n";
    return 1;
  }
  std::string reported;
  llvm::raw_string_ostream(reported) << json::Value(std::move(report)) << "\n";
  if (llvm::Error failed = writeFile(outputPath + ".json", reported)) {
    llvm::errs() << llvm::toString(std::move(failed)) << "\n";
    return 1;
  }
  return 0;
}

// ---- The parent
// ------------------------------------------------------------------------------------------------------

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

namespace {
/// A worker under way: its process and the files between it and its parent.
struct Worker {
  size_t kernel;
  sys::ProcessInfo process;
  std::string input, output, errors, key;
};
} // namespace

static llvm::Error failed(const KernelSource &kernel, const llvm::Twine &why) {
  return llvm::createStringError("kernel " + kernel.symbol + ": " + why);
}

static std::string readFile(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return file ? (*file)->getBuffer().str() : "";
}

static llvm::Error startWorker(Worker &worker, const KernelSource &kernel, llvm::StringRef input,
                               llvm::StringRef folder) {
  llvm::SmallString<128> base(folder);
  sys::path::append(base, std::to_string(worker.kernel));
  worker.input = (base + ".input").str();
  worker.output = (base + ".o").str();
  worker.errors = (base + ".errors").str();
  if (llvm::Error error = writeFile(worker.input, input))
    return failed(kernel, llvm::toString(std::move(error)));
  std::string program = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&isKernelWorker)), message;
  bool bad = false;
  worker.process =
      sys::ExecuteNoWait(program, {program, workerFlag, worker.input, worker.output}, std::nullopt,
                         {std::nullopt, llvm::StringRef(""), llvm::StringRef(worker.errors)}, 0, &message, &bad);
  return bad ? failed(kernel, "cannot start a worker: " + message) : llvm::Error::success();
}

/// What a process has computed: on a machine that is busy otherwise, the time that passes says nothing of a kernel.
static double processorSeconds(sys::procid_t process) {
  clockid_t clock;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) || clock_gettime(clock, &time))
    return 0;
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Null while the worker runs; otherwise its result.
static std::optional<llvm::Expected<CompiledKernel>>
poll(Worker &worker, const KernelSource &kernel, const KernelCompileOptions &options, const KernelCache &cache) {
  std::string message;
  sys::ProcessInfo ended = sys::Wait(worker.process, 0, &message);
  if (ended.Pid == 0) {
    if (processorSeconds(worker.process.Pid) < options.timeLimitSeconds)
      return std::nullopt;
    ::kill(worker.process.Pid, SIGKILL);
    sys::Wait(worker.process, std::nullopt);
    return failed(kernel, "took longer than " + llvm::Twine(options.timeLimitSeconds) + " s to compile");
  }
  if (ended.ReturnCode != 0) {
    std::string errors = llvm::StringRef(readFile(worker.errors)).trim().str();
    return failed(kernel, errors.empty() ? "the worker ended with status " + std::to_string(ended.ReturnCode) : errors);
  }
  KernelCache::Entry entry{readFile(worker.output), readFile(worker.output + ".json")};
  auto result = readReport(entry.report, entry.object);
  if (result && options.useCache)
    cache.insert(worker.key, entry);
  return result;
}

llvm::Expected<std::vector<CompiledKernel>>
compileKernels(llvm::ArrayRef<KernelSource> kernels, const Target &target, const KernelCompileOptions &options,
               llvm::function_ref<void(const KernelSource &, const CompiledKernel &)> progress) {
  KernelCache cache(options.cacheFolder);
  unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  llvm::SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("burin-kernels", folder))
    return llvm::createStringError("cannot make a temporary folder: " + code.message());

  std::vector<CompiledKernel> results(kernels.size());
  std::vector<Worker> running;
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

  size_t next = 0;
  while (next < kernels.size() || !running.empty()) {
    while (good && next < kernels.size() && running.size() < jobs) {
      size_t i = next++;
      std::string input;
      llvm::raw_string_ostream(input) << json::Value(json::Object{{"target", target.name},
                                                                  {"symbol", kernels[i].symbol},
                                                                  {"function", kernels[i].function},
                                                                  {"module", kernels[i].module},
                                                                  {"parameters", toJson(kernels[i].parameters)},
                                                                  {"autoscheduler", kernels[i].autoscheduler},
                                                                  {"rows", kernels[i].rows}});
      std::string key = KernelCache::key(input, kernelCompilerVersion());
      if (auto entry = options.useCache ? cache.find(key) : std::nullopt) {
        if (auto kernel = readReport(entry->report, entry->object)) {
          kernel->seconds = 0;
          done(i, std::move(*kernel));
          continue;
        } else {
          llvm::consumeError(kernel.takeError()); // a broken entry is none
        }
      }
      Worker worker{i, {}, "", "", "", key};
      if (llvm::Error e = startWorker(worker, kernels[i], input, folder))
        fail(i, std::move(e));
      else
        running.push_back(std::move(worker));
    }
    if (!good)
      next = kernels.size();
    for (size_t w = 0; w < running.size();) {
      auto result = poll(running[w], kernels[running[w].kernel], options, cache);
      if (!result) {
        ++w;
        continue;
      }
      if (*result)
        done(running[w].kernel, std::move(**result));
      else
        fail(running[w].kernel, result->takeError());
      running.erase(running.begin() + w);
    }
    if (!running.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  sys::fs::remove_directories(folder);
  if (!good)
    return error;
  llvm::consumeError(std::move(error));
  return results;
}

} // namespace burin
