// burin run: a graph on safetensors inputs, to safetensors outputs.
#include "tools/commands.h"
#include "tools/compiled_model.h"
#include "tools/failure.h"
#include "tools/graph_signature.h"
#include "tools/input_values.h"
#include "llvm/ADT/STLExtras.h"

namespace burin {

namespace {

struct RunOptions {
  std::string weights, inputs, output, target;
  std::optional<Precision> precision; // else the graph's own
  unsigned jobs = 0;
  bool step = false, allowExtraTensors = false;
};

/// A file of inputs, checked against the graph: tensors named as the graph's inputs, and `offsets` where several
/// sequences lie one after another.
class RunInputs {
public:
  RunInputs(SafetensorsFile file, const GraphSignature &signature) : file_(std::move(file)), signature_(signature) {}

  llvm::Error check() {
    if (llvm::Error error = readOffsets())
      return error;
    for (auto &[name, tensor] : file_.tensors())
      if (name != "offsets" && llvm::none_of(signature_.inputs, [&](auto &input) { return input.name == name; }))
        return failure("tensor '" + llvm::Twine(name) + "' is not an input of the graph");
    for (const EntryTensor &input : signature_.inputs)
      if (llvm::Error error = readInput(input))
        return error;
    for (const Axis &axis : signature_.axes)
      if (llvm::Error error = checkLengths(axis))
        return error;
    return llvm::Error::success();
  }

  /// Row at which each sequence starts, and the end.
  const std::vector<int64_t> &offsetsOf(llvm::StringRef axis) const { return offsets_.at(axis.str()); }
  int64_t sequences() const { return sequences_; }

  const InputValues &values() const { return values_; }

private:
  llvm::Error readOffsets() {
    const StoredTensor *stored = file_.find("offsets");
    if (!stored)
      return llvm::Error::success();
    if (stored->type != ElementType::I32 || stored->shape.size() != 1 || stored->elements() < 1)
      return failure("offsets is " + describe(stored->type, stored->shape) + ", expected i32[sequences + 1]");
    if (signature_.axes.size() != 1)
      return failure("offsets is given, but the graph has " + llvm::Twine(signature_.axes.size()) +
                     " time symbols, expected 1");
    std::vector<int32_t> offsets = stored->copy<int32_t>();
    if (offsets.front() != 0 || !llvm::is_sorted(offsets))
      return failure("offsets do not start at 0 and ascend");
    sequences_ = int64_t(offsets.size()) - 1;
    offsets_[signature_.axes[0].name].assign(offsets.begin(), offsets.end());
    return llvm::Error::success();
  }

  llvm::Error checkLengths(const Axis &axis) const {
    auto found = offsets_.find(axis.name);
    if (found == offsets_.end())
      return failure("no input says how many rows '" + axis.name + "' has; give 'offsets'");
    for (int64_t sequence = 0; sequence < sequences_; ++sequence)
      if (int64_t rows = found->second[sequence + 1] - found->second[sequence]; rows > axis.maximum)
        return failure("sequence " + llvm::Twine(sequence) + " has " + llvm::Twine(rows) + " rows of '" + axis.name +
                       "', the graph takes at most " + llvm::Twine(axis.maximum));
    return llvm::Error::success();
  }

  llvm::Error readInput(const EntryTensor &input) {
    const StoredTensor *stored = file_.find(input.name);
    if (!stored)
      return failure("input '" + input.name + "' is missing");
    auto settle = [&](const std::string &axis, int64_t rows) {
      return offsets_.try_emplace(axis, std::vector<int64_t>{0, rows}).first->second.back();
    };
    std::vector<int64_t> given = stored->shape;
    if (input.columnsBy.empty() && input.columns == 1 && given.size() == 1)
      given.push_back(1); // a list, such as one of ids
    std::vector<int64_t> shape = given;
    if (stored->type == input.type && shape.size() == 2)
      shape = {settle(input.rows, shape[0]),
               input.columnsBy.empty() ? input.columns : settle(input.columnsBy, shape[1])};
    if (stored->type != input.type || given.size() != 2 || given != shape)
      return failure("input '" + input.name + "' is " + describe(stored->type, stored->shape) + ", expected " +
                     (shape.size() == 2 ? describe(input.type, shape) : "a matrix of " + nameOf(input.type).str()));
    values_.add(input.name, input.columns * int64_t(bytesOf(input.type)), stored->copy<char>());
    return llvm::Error::success();
  }

  SafetensorsFile file_;
  const GraphSignature &signature_;
  std::map<std::string, std::vector<int64_t>> offsets_; // by time symbol
  int64_t sequences_ = 1;
  InputValues values_;
};

} // namespace

/// All sequences at once; outputs by the graph's outputs.
static llvm::Expected<CompiledModel::Outputs> runForward(CompiledModel &model, const RunInputs &inputs) {
  std::vector<std::vector<int64_t>> offsets;
  for (int axis = 0; axis < model.plan().axis_count; ++axis)
    offsets.push_back(inputs.offsetsOf(model.plan().axes[axis].name));
  return model.forwardBatch(offsets, inputs.values().of(*model.plan().forward));
}

/// Sample after sample, each sequence from a fresh state to which all context was appended; row n of an output is what
/// sample n gave.
static llvm::Expected<CompiledModel::Outputs> runSteps(CompiledModel &model, const RunInputs &inputs,
                                                       Progress &progress) {
  if (!model.hasStep())
    return failure("the graph has no step: " + model.noStepReason());
  const burin_plan_entry &step = *model.streams()[0].one;
  const std::vector<int64_t> &offsets = inputs.offsetsOf(model.streams()[0].name);
  CompiledModel::Outputs all(step.output_count);
  for (int64_t sequence = 0; sequence < inputs.sequences(); ++sequence) {
    if (llvm::Error error = model.reset())
      return error;
    for (auto [number, context] : llvm::enumerate(model.streams())) {
      if (number == 0)
        continue;
      int64_t rows = inputs.offsetsOf(context.name).back(); // one sequence, as there are several symbols
      if (auto none = model.advance(int(number), rows, inputs.values().of(*context.one)); !none)
        return none.takeError();
    }
    for (int64_t row = offsets[sequence]; row < offsets[sequence + 1]; ++row) {
      progress.update("steps", row, offsets.back());
      llvm::Expected<CompiledModel::Outputs> outputs = model.step(inputs.values().of(step, row));
      if (!outputs)
        return outputs.takeError();
      for (auto [output, rows] : llvm::zip_equal(*outputs, all))
        llvm::append_range(rows, output);
    }
  }
  return all;
}

static llvm::Expected<int> run(const GraphSource &source, const RunOptions &options) {
  llvm::Expected<LoadedGraph> graph = source.load();
  if (!graph)
    return graph.takeError();
  applyPrecision(graph->module(), options.precision);
  llvm::Expected<const Target *> target = targetThatRuns(options.target, narrowestPrecision(graph->module()));
  if (!target)
    return target.takeError();
  GraphSignature signature = signatureOf(graph->module());
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::read(options.inputs);
  if (!file)
    return file.takeError();
  RunInputs inputs(std::move(*file), signature);
  if (llvm::Error error = inputs.check())
    return failure(options.inputs + ": " + llvm::toString(std::move(error)));

  Progress progress("compiling");
  auto model = CompiledModel::compile(graph->module(), (*target)->name, options.jobs, progress);
  if (!model)
    return model.takeError();
  progress.update("opening the weights");
  if (llvm::Error error = (*model)->openFile(options.weights, options.allowExtraTensors))
    return error;
  progress.update("running");
  llvm::Expected<CompiledModel::Outputs> outputs =
      options.step ? runSteps(**model, inputs, progress) : runForward(**model, inputs);
  if (!outputs)
    return outputs.takeError();
  SafetensorsWriter writer;
  for (auto [tensor, values] : llvm::zip_equal(signature.outputs, *outputs))
    writer.add(tensor.name, {int64_t(values.size()) / tensor.columns, tensor.columns}, values);
  if (llvm::Error error = writer.write(options.output))
    return error;
  return 0;
}

void addRunCommand(Tool &tool) {
  CLI::App *command = addCommand(tool, "run", "a graph on inputs from a file",
                                 tool.graph.exampleArgument() +
                                     "--weights weights.safetensors --inputs in.safetensors -o out.safetensors");
  auto options = std::make_shared<RunOptions>();
  tool.graph.addArgument(*command);
  command->add_option("--weights", options->weights, "safetensors file with the graph's parameters")->required();
  command
      ->add_option("--inputs", options->inputs,
                   "safetensors file with the graph's inputs, by name; i32 'offsets' for several sequences")
      ->required();
  command->add_option("-o,--output", options->output, "safetensors file to write")->required();
  command->add_flag("--allow-extra-tensors", options->allowExtraTensors,
                    "tensors that the graph does not name are no error");
  command->add_flag(
      "--step", options->step,
      "sample after sample instead of forward; of a graph with contexts, all their rows are appended first");
  addTargetOption(*command, options->target);
  addPrecisionOption(*command, options->precision);
  addJobsOption(*command, options->jobs);
  command->callback([&tool, options] { tool.action = [&tool, options] { return run(tool.graph, *options); }; });
}

} // namespace burin
