#include "tools/start_up_bench.h"
#include "emit/compile.h"
#include "emit/installation.h"
#include "tools/bench_inputs.h"
#include "tools/failure.h"
#include "tools/latency.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <sstream>

namespace burin {

namespace {

constexpr int64_t rowsOfFirstResult = 32;
constexpr int processes = 5;
constexpr double megabyte = 1e6;

/// Removed with all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    if (!path_.empty())
      llvm::sys::fs::remove_directories(path_);
  }
  llvm::Error make() {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("burin", path_))
      return failure("a temporary folder cannot be made: " + error.message());
    return llvm::Error::success();
  }
  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> path(path_);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  std::string path() const { return path_.str().str(); }

private:
  llvm::SmallString<128> path_;
};

/// Of one process.
struct StartUp {
  double open = 0, firstResult = 0; // seconds since before opening
  double peakBytes = 0;
};

class StartUpBench {
public:
  StartUpBench(const burin_plan &plan, const StartUpBenchOptions &options, Progress &progress)
      : plan_(plan), options_(options), progress_(progress) {
    for (const burin_plan_axis &axis : llvm::ArrayRef(plan.axes, plan.axis_count))
      rows_ = std::min(rows_, axis.maximum);
  }

  llvm::Error run(mlir::ModuleOp module) {
    if (llvm::Error error = folder_.make())
      return error;
    if (llvm::Error error = compile(module))
      return error;
    std::string packed = folder_.file("weights.packed");
    if (llvm::Error error = pack(packed))
      return error;
    for (auto &[what, weights] : {std::pair("safetensors", options_.weights), std::pair("packed", packed)})
      if (llvm::Error error = measure(what, weights))
        return error;
    return llvm::Error::success();
  }

private:
  /// The library that the processes load.
  llvm::Error compile(mlir::ModuleOp module) {
    CompileOptions options;
    options.target = options_.target;
    options.outputFolder = folder_.path();
    options.sharedLibrary = true;
    options.jobs = options_.jobs;
    llvm::Expected<CompileResult> result = compileModel(module, options);
    if (!result)
      return result.takeError();
    library_ = result->sharedLibraryPath;
    name_ = module.getName()->str();
    return llvm::Error::success();
  }

  llvm::Error pack(const std::string &path) const {
    progress_.update("packing the weights");
    char message[512] = "";
    burin_open_options options = {};
    options.weights_path = options_.weights.c_str();
    options.allow_extra_tensors = 1;
    options.message = message;
    options.message_bytes = sizeof message;
    burin_status status = burin_rt_pack(&plan_, &options, path.c_str(), nullptr);
    if (status != BURIN_OK)
      return failure(options_.weights + ": " + (*message ? message : burin_status_text(status)));
    return llvm::Error::success();
  }

  llvm::Expected<StartUp> startProcess(const std::string &weights) const {
    const std::string output = folder_.file("output"), rows = std::to_string(rows_);
    const std::string probe = programNamed("burin-start-up-probe");
    std::string problem;
    int status = llvm::sys::ExecuteAndWait(probe, {probe, library_, name_, weights, rows}, std::nullopt,
                                           {std::nullopt, llvm::StringRef(output), llvm::StringRef(output)},
                                           /*SecondsToWait=*/60, 0, &problem);
    std::string text;
    if (auto buffer = llvm::MemoryBuffer::getFile(output))
      text = (*buffer)->getBuffer().rtrim().str();
    if (status != 0)
      return failure("the process that opens the model failed: " + (problem.empty() ? text : problem));
    StartUp startUp;
    if (!(std::istringstream(text) >> startUp.open >> startUp.firstResult >> startUp.peakBytes))
      return failure("the process that opens the model wrote '" + text + "', expected three numbers");
    return startUp;
  }

  llvm::Error measure(const std::string &what, const std::string &weights) {
    std::vector<double> open, firstResult, peakBytes;
    for (int process = 0; process < processes; ++process) {
      progress_.update("start-up from " + what, process, processes);
      llvm::Expected<StartUp> startUp = startProcess(weights);
      if (!startUp)
        return startUp.takeError();
      open.push_back(startUp->open);
      firstResult.push_back(startUp->firstResult);
      peakBytes.push_back(startUp->peakBytes);
    }
    progress_.clear();
    report(what, {latencyOf(open).median, latencyOf(firstResult).median, latencyOf(peakBytes).median});
    return llvm::Error::success();
  }

  void report(const std::string &what, const StartUp &median) {
    if (options_.json) {
      nlohmann::ordered_json line = {{"start_up", what},
                                     {"rows", rows_},
                                     {"processes", processes},
                                     {"open_median_s", median.open},
                                     {"first_result_median_s", median.firstResult},
                                     {"peak_resident_bytes", int64_t(median.peakBytes)}};
      llvm::outs() << line.dump() << "\n";
      return;
    }
    if (!std::exchange(headed_, true))
      llvm::outs() << llvm::formatv("start-up of a fresh process, {0} {1}s, median of {2}:\n", rows_,
                                    rowWordsOf(*plan_.forward).row, processes)
                   << llvm::formatv("  {0,-26} {1,11} {2,21} {3,21}\n", "from", "opening", "opening, first result",
                                    "peak resident memory");
    llvm::outs() << llvm::formatv("  {0,-26} {1,11} {2,21} {3,18:F1} MB\n", what, duration(median.open),
                                  duration(median.firstResult), median.peakBytes / megabyte);
  }

  const burin_plan &plan_;
  const StartUpBenchOptions &options_;
  Progress &progress_;
  TemporaryFolder folder_;
  std::string library_, name_;
  int64_t rows_ = rowsOfFirstResult;
  bool headed_ = false;
};

} // namespace

llvm::Error benchStartUp(const LoadedGraph &graph, const burin_plan &plan, const StartUpBenchOptions &options,
                         Progress &progress) {
  return StartUpBench(plan, options, progress).run(graph.module());
}

} // namespace burin
