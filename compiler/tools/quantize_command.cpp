// burin quantize: what fewer bits cost each contract of a golden case, and a graph in which each has as few as it can.
#include "dialect/int8.h"
#include "emit/write_file.h"
#include "nlohmann/json.hpp"
#include "tools/case_reference.h"
#include "tools/commands.h"
#include "tools/comparison.h"
#include "tools/graph_text.h"
#include "tools/kernel_bench.h"
#include "tools/latency.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace burin {

namespace {

struct QuantizeOptions {
  std::string path, weights, target, output;
  double atMost = 0.01;
  int64_t sequences = 0;
  unsigned jobs = 0;
  bool json = false;
};

constexpr Precision narrower[] = {Precision::BFloat16, Precision::Int8};

/// A contract of the graph, and what its precisions make of the rows that it is given.
struct Contract {
  KernelOpInterface op;
  std::string weight;
  int64_t inputs, outputs;
  double squares = 0; // Σ y², in float64
  std::map<Precision, double> squaredErrors = {};
  Precision chosen = Precision::Float32;

  double error(Precision precision) const {
    auto found = squaredErrors.find(precision);
    return found == squaredErrors.end() || squares == 0 ? 0 : std::sqrt(found->second / squares);
  }
  int64_t bytes(Precision precision) const {
    int64_t values = inputs * outputs;
    Int8Groups groups = int8GroupsOf(inputs);
    switch (precision) {
    case Precision::Float32:
      return values * 4;
    case Precision::BFloat16:
    case Precision::BFloat16Dot:
      return values * 2;
    case Precision::Int8: // with a scale for each group of a column, and the column's sum
      return values + outputs * (groups.count + 1) * 4;
    }
    llvm_unreachable("a precision");
  }
};

void setPrecisionOf(mlir::Operation *op, Precision precision) {
  if (precision == Precision::Float32)
    op->removeAttr(attribute::precision);
  else
    op->setAttr(attribute::precision, mlir::StringAttr::get(op->getContext(), precisionName(precision)));
}

class Quantizer {
public:
  Quantizer(const QuantizeOptions &options, const GoldenCase &given, mlir::ModuleOp module)
      : options_(options), case_(given), module_(module), signature_(signatureOf(module)),
        reference_(given, signature_),
        sequences_(options.sequences ? std::min(options.sequences, given.sequences()) : given.sequences()) {
    module.walk([&](KernelOpInterface op) {
      if (op.getPanelOperand() < 0)
        return;
      mlir::Value weight = op->getOperand(op.getPanelOperand());
      auto parameter = weight.getDefiningOp<ParameterOp>();
      auto shape = mlir::cast<mlir::RankedTensorType>(weight.getType()).getShape();
      bool outIn = op.panelsAreOutIn();
      contracts_.push_back(
          {op, parameter ? parameter.getName().str() : "", shape[outIn ? 1 : 0], shape[outIn ? 0 : 1]});
    });
  }

  llvm::Error run(const Target &target) {
    for (llvm::Error (Quantizer::*part)() : {&Quantizer::compareContracts, &Quantizer::compareModels})
      if (llvm::Error error = (this->*part)())
        return error;
    if (llvm::Error error = timeContracts(target))
      return error;
    progress_.clear();
    options_.json ? printJson() : print(target);
    return options_.output.empty() ? llvm::Error::success() : installText(textOf(module_), options_.output);
  }

private:
  /// Each contract on the rows that the graph in float64 gives it.
  llvm::Error compareContracts() {
    llvm::DenseMap<mlir::Operation *, Contract *> byOp;
    for (Contract &contract : contracts_)
      byOp[contract.op] = &contract;
    for (int64_t sequence = 0; sequence < sequences_; ++sequence) {
      progress_.update("contracts, sequence", sequence, sequences_);
      auto results = reference_.evaluate(
          module_, sequence, [&](mlir::Operation *op, llvm::ArrayRef<HostTensor> operands, const HostTensor &exact) {
            auto found = byOp.find(op);
            if (found == byOp.end())
              return;
            for (double value : exact.values())
              found->second->squares += value * value;
            for (Precision precision : narrower) {
              setPrecisionOf(op, precision);
              HostTensor got = mlir::cast<ReferenceOpInterface>(op).evaluate(operands);
              setPrecisionOf(op, Precision::Float32);
              for (int64_t i = 0; i < got.size(); ++i)
                found->second->squaredErrors[precision] += std::pow(got(i) - exact(i), 2);
            }
          });
      if (!results)
        return results.takeError();
      exact_.push_back(std::move(*results));
    }
    for (Contract &contract : contracts_)
      for (Precision precision : narrower) // a NaN is no small error
        if (contract.error(precision) <= options_.atMost)
          contract.chosen = precision;
    return llvm::Error::success();
  }

  /// The whole graph, its contracts in one precision each, and as chosen.
  llvm::Error compareModels() {
    for (Precision precision : narrower) {
      setPrecision(module_, precision);
      if (llvm::Error error = compareModel(precisionName(precision)))
        return error;
    }
    for (Contract &contract : contracts_)
      setPrecisionOf(contract.op, contract.chosen);
    return compareModel("chosen");
  }

  llvm::Error compareModel(llvm::StringRef name) {
    double sum = 0;
    int64_t rows = 0;
    Cosines &cosines = models_.emplace_back(name.str(), Cosines{}).second;
    for (int64_t sequence = 0; sequence < sequences_; ++sequence) {
      progress_.update(("the graph in " + name + ", sequence").str(), sequence, sequences_);
      auto results = reference_.evaluate(module_, sequence);
      if (!results)
        return results.takeError();
      for (auto [got, exact] : llvm::zip_equal(*results, exact_[sequence])) {
        if (!exact.rows())
          continue;
        std::vector<float> values(got.values().begin(), got.values().end());
        Cosines one = cosinesOf(values, exact.values(), exact.shape());
        cosines.least = std::min(cosines.least, one.least);
        sum += one.mean * double(exact.rows());
        rows += exact.rows();
      }
    }
    cosines.mean = rows ? sum / double(rows) : 1;
    return llvm::Error::success();
  }

  /// Each size of contract once, on as many rows as the longest sequence has.
  llvm::Error timeContracts(const Target &target) {
    rows_ = 1;
    for (const std::vector<int64_t> &offsets : case_.offsets())
      for (int64_t sequence = 0; sequence < sequences_; ++sequence)
        rows_ = std::max(rows_, offsets[sequence + 1] - offsets[sequence]);
    for (const Contract &contract : contracts_)
      for (Precision precision : {Precision::Float32, Precision::BFloat16, Precision::Int8}) {
        auto [place, isNew] = seconds_.try_emplace({contract.inputs, contract.outputs, precision});
        if (!isNew)
          continue;
        llvm::Expected<ContractTime> time =
            timeContract({rows_, contract.inputs, contract.outputs}, precision, target, options_.jobs, progress_);
        if (!time)
          return time.takeError();
        place->second = time->seconds;
      }
    return llvm::Error::success();
  }

  double seconds(const Contract &contract, Precision precision) const {
    return seconds_.at({contract.inputs, contract.outputs, precision});
  }

  void print(const Target &target) const {
    llvm::raw_ostream &out = llvm::outs();
    out << llvm::formatv(
               "contracts of {0}: error on the rows that float64 gives them, relative to their outputs; bytes of "
               "weights; time of {1} rows on {2}\n",
               case_.name(), rows_, target.name)
        << llvm::formatv("{0,-56} {1,11} {2,9} {3,9}  {4,-26}  {5,-29}  {6}\n", "weight", "size", "bf16", "int8",
                         "KiB in float32, bf16, int8", "time in float32, bf16, int8", "chosen");
    for (const Contract &c : contracts_) {
      std::string bytes, times;
      for (Precision precision : {Precision::Float32, Precision::BFloat16, Precision::Int8}) {
        bytes += llvm::formatv("{0,8:F1} ", double(c.bytes(precision)) / 1024).str();
        times += llvm::formatv("{0,9} ", duration(seconds(c, precision))).str();
      }
      out << llvm::formatv("{0,-56} {1,11} {2,9:E2} {3,9:E2}  {4,-26}  {5,-29}  {6}\n", c.weight,
                           std::to_string(c.inputs) + "x" + std::to_string(c.outputs), c.error(Precision::BFloat16),
                           c.error(Precision::Int8), bytes, times, precisionName(c.chosen));
    }
    for (const auto &[name, cosines] : models_)
      out << llvm::formatv("{0}: cosine with float64 {1:F6} at worst, {2:F6} on average, of {3} sequences\n", name,
                           cosines.least, cosines.mean, sequences_);
  }

  void printJson() const {
    nlohmann::ordered_json contracts = nlohmann::json::array(), models = nlohmann::json::object();
    for (const Contract &c : contracts_) {
      nlohmann::ordered_json line = {{"weight", c.weight}, {"inputs", c.inputs}, {"outputs", c.outputs}};
      for (Precision precision : {Precision::Float32, Precision::BFloat16, Precision::Int8})
        line[precisionName(precision).str()] = {
            {"error", c.error(precision)}, {"bytes", c.bytes(precision)}, {"seconds", seconds(c, precision)}};
      line["chosen"] = precisionName(c.chosen).str();
      contracts.push_back(std::move(line));
    }
    for (const auto &[name, cosines] : models_)
      models[name] = {{"least_cosine", cosines.least}, {"mean_cosine", cosines.mean}};
    nlohmann::ordered_json report = {{"case", case_.name()},
                                     {"sequences", sequences_},
                                     {"rows", rows_},
                                     {"contracts", contracts},
                                     {"models", models}};
    llvm::outs() << report.dump(2) << "\n";
  }

  const QuantizeOptions &options_;
  const GoldenCase &case_;
  mlir::ModuleOp module_;
  GraphSignature signature_;
  CaseReference reference_;
  int64_t sequences_, rows_ = 0;
  std::vector<Contract> contracts_;
  std::vector<llvm::SmallVector<HostTensor>> exact_; // by sequence
  std::vector<std::pair<std::string, Cosines>> models_;
  std::map<std::tuple<int64_t, int64_t, Precision>, double> seconds_;
  Progress progress_{"evaluating"};
};

} // namespace

static llvm::Expected<int> quantize(const QuantizeOptions &options) {
  llvm::Expected<const Target *> target = targetToTime(options.target, Precision::Int8);
  if (!target)
    return target.takeError();
  llvm::Expected<GoldenCase> given = GoldenCase::read(options.path);
  if (!given)
    return given.takeError();
  SafetensorsFile weights;
  if (!options.weights.empty()) {
    llvm::Expected<SafetensorsFile> file = SafetensorsFile::read(options.weights);
    if (!file)
      return file.takeError();
    weights = std::move(*file);
    given->useWeights(weights);
  }
  llvm::Expected<LoadedGraph> graph = given->buildGraph();
  if (!graph)
    return graph.takeError();
  if (llvm::Error error = given->fit(signatureOf(graph->module())))
    return error;
  setPrecision(graph->module(), Precision::Float32);
  if (llvm::Error error = Quantizer(options, *given, graph->module()).run(**target))
    return error;
  return 0;
}

void addQuantizeCommand(Tool &tool) {
  CLI::App *command = addCommand(tool, "quantize",
                                 "what bf16 and int8 cost each contract of a golden case: error, size and time; and a "
                                 "graph in which each has the fewest bits that its error allows",
                                 "tests/golden/encoder_causal_deep.safetensors --at-most 0.01 -o smaller.mlir");
  auto options = std::make_shared<QuantizeOptions>();
  command->add_option("CASE", options->path, "golden case file, whose inputs the errors are measured on")->required();
  command->add_option("--weights", options->weights,
                      "safetensors file with the parameters, by their own names, of a case that holds none");
  command
      ->add_option("--at-most", options->atMost,
                   "largest relative error, root of mean squares, at which a contract gets fewer bits")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--sequences", options->sequences, "only the first sequences of the case; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "file of textual IR to write, each contract as chosen");
  addTargetOption(*command, options->target);
  addJobsOption(*command, options->jobs);
  command->add_flag("--json", options->json, "one JSON object");
  command->callback([&tool, options] { tool.action = [options] { return quantize(*options); }; });
}

} // namespace burin
