#include "emit/kernel_worker.h"
#include "emit/allocation_bound.h"
#include "emit/autoschedule.h"
#include "emit/kernel_builder.h"
#include "emit/link_modules.h"
#include "emit/prefetch_hints.h"
#include "emit/worker_processes.h"
#include "emit/write_file.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "schedules/panel_prefetch.h"
#include "schedules/vector_predication.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>

using namespace mlir;
namespace json = llvm::json;

namespace burin {

const char kernelWorkerFlag[] = "--burin-kernel-worker";

/// What a block of threads has on every GPU that the targets name, without asking the driver for more.
constexpr int64_t mostSharedBytes = 48 * 1024;

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

json::Object toJson(const ScheduleParameters &parameters) {
  json::Object object;
  for (auto [parameter, value] : parameters.values())
    object[rowOf(parameter).name] = value;
  return object;
}

ScheduleParameters parametersFrom(const json::Object *object) {
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
  addPanelPrefetch(pipeline, halideTarget(*target), input.getInteger("rows").value_or(0));
  if (!autoscheduler.empty())
    autoschedule(pipeline, halideTarget(*target), autoscheduler, input.getInteger("rows").value_or(1));
  if (!text("statement").empty()) // for people who tune schedules
    pipeline.compile_to_lowered_stmt(text("statement"), builder.arguments(), Halide::Text, halideTarget(*target));
  Halide::Module lowered = pipeline.compile_to_module(builder.arguments(), text("symbol"), halideTarget(*target),
                                                      Halide::LinkageType::ExternalPlusArgv);

  AllocationBound bound;
  bool prefetches = false;
  for (const Halide::Internal::LoweredFunc &function : lowered.functions())
    if (function.name == text("symbol")) {
      bound = boundAllocations(function, builder.maxima());
      prefetches = asksForPanels(function);
    }
  if (!bound.unbounded.empty() && autoscheduler.empty())
    return "the size of its buffer '" + bound.unbounded + "' has no bound";

  if (bound.sharedBytes > mostSharedBytes)
    return "its blocks take " + std::to_string(bound.sharedBytes) + " bytes of shared memory, expected at most " +
           std::to_string(mostSharedBytes);

  lowered.compile({{linksModules(*target) ? Halide::OutputFileType::bitcode : Halide::OutputFileType::object, output}});
  if (prefetches)
    if (llvm::Error error = prefetchIntoAllCaches(output))
      return llvm::toString(std::move(error));
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  report["heap_bytes"] = bound.heapBytes;
  report["stack_bytes"] = bound.stackBytes;
  report["seconds"] = seconds.count();
  report["parameters"] = toJson(builder.usedParameters());
  return "";
}

/// One kernel, in a process of its own. The exit status.
static int compileFiles(const KernelFiles &files) {
  auto fail = [](const std::string &why) {
    llvm::errs() << why << "\n";
    return 1;
  };
  auto file = llvm::MemoryBuffer::getFile(files.input());
  if (!file)
    return fail("cannot read " + files.input());
  auto input = json::parse((*file)->getBuffer());
  if (!input)
    return fail(llvm::toString(input.takeError()));
  json::Object report;
  try {
    if (std::string error = compileKernel(*input->getAsObject(), files.output(), report); !error.empty())
      return fail(error);
  } catch (const Halide::Error &error) {
    return fail(error.what());
  }
  std::string reported;
  llvm::raw_string_ostream(reported) << json::Value(std::move(report)) << "\n";
  if (llvm::Error failed = writeFile(files.report(), reported))
    return fail(llvm::toString(std::move(failed)));
  return 0;
}

bool isKernelWorker(int argc, char **argv) { return argc == 3 && llvm::StringRef(argv[1]) == kernelWorkerFlag; }

int runKernelWorker(int, char **argv) {
  unsigned limitSeconds = 0;
  if (llvm::StringRef(argv[2]).getAsInteger(10, limitSeconds))
    return 2;
  return serveJobs(limitSeconds, [](llvm::StringRef base) { return compileFiles({base.str()}); });
}

} // namespace burin
