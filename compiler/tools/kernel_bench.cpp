#include "tools/kernel_bench.h"
#include "nlohmann/json.hpp"
#include "tools/compiled_model.h"
#include "tools/failure.h"
#include "tools/fma_peak.h"
#include "tools/graph_source.h"
#include "tools/initial_values.h"
#include "tools/latency.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

namespace {

constexpr int rounds = 10;
constexpr double roundSeconds = 0.02;

llvm::Expected<ContractSize> parseSize(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, 'x');
  ContractSize size;
  auto read = [](llvm::StringRef part, int64_t &value) {
    return !part.getAsInteger(10, value) && value >= 1 && value <= 1 << 20;
  };
  if (parts.size() != 3 || !read(parts[0], size.M) || !read(parts[1], size.K) || !read(parts[2], size.N))
    return failure("size '" + text + "', expected MxKxN, such as 128x384x1536");
  return size;
}

/// A dense op with bias and nothing around it.
std::string contractGraph(ContractSize size) {
  const char *text = R"(
    module @contract {
      func.func @forward(%x: tensor<?x{1}xf32, #encoder.rows<"row", {0}>> {{encoder.name = "x"})
          -> (tensor<?x{2}xf32, #encoder.rows<"row", {0}>> {{encoder.name = "y"}) {{
        %W = encoder.parameter "W" init "normal" : tensor<{1}x{2}xf32>
        %b = encoder.parameter "b" init "normal" : tensor<{2}xf32>
        %y = encoder.dense %x, %W, %b
            : tensor<?x{1}xf32, #encoder.rows<"row", {0}>>, tensor<{1}x{2}xf32>, tensor<{2}xf32>
        return %y : tensor<?x{2}xf32, #encoder.rows<"row", {0}>>
      }
    })";
  return llvm::formatv(text, size.M, size.K, size.N);
}

/// Best of rounds, the kernel's and the peak's in turn, so that both see the same clocks and the same neighbours. A
/// round is the mean over about 20 ms, as the peak's is over its loop.
ContractTime measure(const std::function<void()> &call, int lanes, Progress &progress) {
  using Clock = std::chrono::steady_clock;
  ContractTime best = {1e9, 0};
  for (int round = 0; round < rounds; ++round) {
    progress.update("timing", round, rounds);
    best.peak = std::max(best.peak, measureFmaPeak(lanes));
    call(); // its data is in the caches again
    Clock::time_point start = Clock::now();
    double elapsed = 0;
    int64_t calls = 0;
    do {
      call();
      ++calls;
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    } while (elapsed < roundSeconds);
    best.seconds = std::min(best.seconds, elapsed / double(calls));
  }
  return best;
}

} // namespace

llvm::Expected<ContractTime> timeContract(ContractSize size, Precision precision, const Target &target, unsigned jobs,
                                          Progress &progress) {
  llvm::Expected<LoadedGraph> graph = LoadedGraph::parse(contractGraph(size), "contract");
  if (!graph)
    return graph.takeError();
  setPrecision(graph->module(), precision);
  GraphSignature signature = signatureOf(graph->module());
  llvm::Expected<SafetensorsWriter> weights = initialWeights(signature, 0, progress);
  if (!weights)
    return weights.takeError();
  auto model = CompiledModel::compile(graph->module(), target.name, jobs, progress);
  if (!model)
    return model.takeError();
  if (llvm::Error error = (*model)->openBytes(weights->bytes()))
    return error;
  if ((*model)->plan().forward->call_count != 1)
    return failure("the graph became " + llvm::Twine((*model)->plan().forward->call_count) + " kernels, expected 1");

  std::vector<float> x = normalValues(size.M * size.K, 0, "x");
  const void *inputs[] = {x.data()};
  (*model)->reserveScratch(size.M, 1);
  CompiledModel::Outputs outputs = (*model)->makeOutputs(*(*model)->plan().forward, size.M, 1);
  std::vector<void *> pointers = pointersTo(outputs);
  burin_status status = (*model)->callForward(&size.M, inputs, pointers.data());
  if (status != BURIN_OK)
    return failure(llvm::Twine("forward: ") + burin_status_text(status));
  return measure([&] { (*model)->callForward(&size.M, inputs, pointers.data()); }, target.lanes, progress);
}

llvm::Error benchKernel(const KernelBenchOptions &options, const Target &target, Progress &progress) {
  if (options.kernel != "contract")
    return failure("kernel '" + options.kernel + "' is not known, expected contract");
  llvm::Expected<ContractSize> size = parseSize(options.size);
  if (!size)
    return size.takeError();
  llvm::Expected<ContractTime> time = timeContract(*size, options.precision, target, options.jobs, progress);
  if (!time)
    return time.takeError();
  ContractTime best = *time;
  progress.clear();
  double achieved = 2.0 * double(size->M) * double(size->K) * double(size->N) / best.seconds * 1e-9;
  double percent = 100 * achieved / best.peak;
  if (options.json) {
    nlohmann::ordered_json line = {{"kernel", options.kernel},    {"size", options.size},
                                   {"target", target.name.str()}, {"precision", precisionName(options.precision).str()},
                                   {"seconds", best.seconds},     {"gflops", achieved},
                                   {"peak_gflops", best.peak},    {"percent_of_fma_peak", percent}};
    llvm::outs() << line.dump() << "\n";
    return llvm::Error::success();
  }
  llvm::outs() << llvm::formatv("{0} {1} on {2}, one thread, best of {3} rounds: {4}, {5:F1} GFLOP/s\n", options.kernel,
                                options.size, target.name, rounds, duration(best.seconds), achieved)
               << llvm::formatv("FMA peak, {0} floats in a vector, best of {1} runs in between: {2:F1} GFLOP/s\n",
                                target.lanes, rounds, best.peak)
               << llvm::formatv("{0:F1} % of FMA peak\n", percent);
  return llvm::Error::success();
}

} // namespace burin
