// Calls become requests: how many bytes stand behind each pointer follows from the plan's tables.
#include "machine/emulated_model.h"
#include "emit/installation.h"
#include "emit/plan_tables.h"
#include "emit/run_tool.h"
#include "emit/write_file.h"
#include "machine/server_process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstring>

namespace burin {

namespace {

/// Lengths of a call's sequences, by time symbol.
class Lengths {
public:
  /// Of one sequence; null `rows` are none.
  Lengths(const burin_plan &plan, const int64_t *rows) : perSequence_(1) {
    for (int axis = 0; axis < plan.axis_count; ++axis)
      add(plan, axis, 0, rows[axis]);
  }
  Lengths(const burin_plan &plan, int64_t sequences, const int64_t *const *offsets)
      : perSequence_(size_t(std::max<int64_t>(sequences, 0))) {
    for (int64_t sequence = 0; sequence < sequences; ++sequence)
      for (int axis = 0; axis < plan.axis_count; ++axis)
        add(plan, axis, sequence, offsets[axis][sequence + 1] - offsets[axis][sequence]);
  }

  /// False where the runtime refuses the call: its buffers need not be as large as the lengths say.
  bool areAllowed() const { return allowed_; }

  int64_t elementsOf(const burin_plan_tensor &tensor) const {
    if (tensor.column_axis >= 0) { // a mask: a block for each sequence
      int64_t elements = 0;
      for (const std::vector<int64_t> &rows : perSequence_)
        elements += rows[tensor.row_axis] * rows[tensor.column_axis];
      return elements;
    }
    int64_t rows = tensor.row_axis == BURIN_AXIS_SEQUENCE ? int64_t(perSequence_.size()) : 1;
    if (tensor.row_axis >= 0) {
      rows = 0;
      for (const std::vector<int64_t> &lengths : perSequence_)
        rows += lengths[tensor.row_axis];
    }
    return rows * tensor.rows_each * tensor.columns;
  }

private:
  void add(const burin_plan &plan, int axis, int64_t sequence, int64_t rows) {
    allowed_ &= rows >= 0 && rows <= plan.axes[axis].maximum;
    perSequence_[sequence].push_back(rows);
  }

  std::vector<std::vector<int64_t>> perSequence_;
  bool allowed_ = true;
};

int64_t elementBytes(const burin_plan_tensor &tensor) {
  return tensor.type == BURIN_U8 ? 1 : tensor.type == BURIN_F64 || tensor.type == BURIN_I64 ? 8 : 4;
}

/// The part of a request that is inputs, and the sizes of the outputs.
struct Tensors {
  /// `elements` says how many a tensor has.
  Tensors(const burin_plan_entry &entry, const void *const *inputs, void *const *outputs,
          llvm::function_ref<int64_t(const burin_plan_tensor &)> elements) {
    for (int32_t i = 0; inputs && i < entry.input_count; ++i)
      inputBlocks.push_back({inputs[i], elements(entry.inputs[i]) * elementBytes(entry.inputs[i])});
    for (int32_t i = 0; outputs && i < entry.output_count; ++i)
      outputBytes.push_back(outputs[i] ? elements(entry.outputs[i]) * elementBytes(entry.outputs[i])
                                       : BURIN_NULL_BLOCK);
  }
  RequestBlock sizes() const { return {outputBytes.data(), int64_t(outputBytes.size() * sizeof(int64_t))}; }

  std::vector<RequestBlock> inputBlocks;
  std::vector<int64_t> outputBytes;
};

class EmulatedModel : public LoadedModel {
public:
  EmulatedModel(const ModelPlan &plan, const std::vector<std::string> &command)
      : tables_(plan), server_(command, ("the program that runs '" + plan.name + "' on " + plan.target->name).str()) {
    Reply said = server_.greeting();
    burin_greeting theirs = {};
    if (said.blocks.size() == 1 && said.blocks[0].size() == sizeof theirs)
      std::memcpy(&theirs, said.blocks[0].data(), sizeof theirs);
    const burin_plan &ours = this->plan();
    const burin_greeting expected = {ours.version, ours.fingerprint, ours.graph, ours.weights_bytes, ours.state_bytes};
    if (std::memcmp(&theirs, &expected, sizeof theirs) != 0)
      throw MachineError("the program that runs '" + plan.name + "' on " + plan.target->name.str() +
                         " has other tables than the compiler: plan version " + std::to_string(theirs.plan_version) +
                         ", fingerprint " + llvm::utohexstr(theirs.fingerprint) + ", expected " +
                         std::to_string(expected.plan_version) + ", " + llvm::utohexstr(expected.fingerprint));
  }

  const burin_plan &plan() const override { return *tables_.table(); }

  size_t scratchBytes(const int64_t *rows, int64_t sequences) const override {
    Request request = {.kind = BURIN_REQUEST_SCRATCH_BYTES, .number = sequences};
    return size_t(server_.ask(request, {rowsBlock(rows)}).value);
  }

  std::unique_ptr<ModelCalls> open(const burin_open_options &options, burin_status &status) const override;

  void *entryPoint(const std::string &) const override { return nullptr; }

  RequestBlock rowsBlock(const int64_t *rows) const { return {rows, plan().axis_count * int64_t(sizeof(int64_t))}; }
  ServerProcess &server() const { return server_; }

private:
  PlanTables tables_;
  mutable ServerProcess server_; // a conversation, which calls of a loaded model go on with
};

class EmulatedCalls : public ModelCalls {
public:
  EmulatedCalls(const EmulatedModel &loaded, int64_t model, std::string target)
      : loaded_(loaded), model_(model), target_(std::move(target)) {}
  ~EmulatedCalls() override {
    try {
      ask({.kind = BURIN_REQUEST_CLOSE}, {});
    } catch (const MachineError &) { // it is closed with its process
    }
  }

  llvm::StringRef target() const override { return target_; }
  burin_status forward(void *scratch, size_t scratchBytes, const int64_t *rows, const void *const *inputs,
                       void *const *outputs) const override {
    Lengths lengths(plan(), rows);
    Tensors tensors = tensorsOf(lengths, inputs, outputs);
    std::vector<RequestBlock> blocks{loaded_.rowsBlock(rows), tensors.sizes()};
    llvm::append_range(blocks, tensors.inputBlocks);
    Reply reply = ask({.kind = BURIN_REQUEST_FORWARD, .scratchBytes = sizeOf(scratch, scratchBytes)}, blocks);
    return takeOutputs(reply, 0, tensors, outputs);
  }

  burin_status forwardBatch(void *scratch, size_t scratchBytes, int64_t sequences, const int64_t *const *offsets,
                            const void *const *inputs, void *const *outputs) const override {
    Lengths lengths(plan(), sequences, offsets);
    Tensors tensors = tensorsOf(lengths, inputs, outputs);
    std::vector<RequestBlock> blocks{tensors.sizes()};
    for (int axis = 0; axis < plan().axis_count; ++axis)
      blocks.push_back({offsets[axis], std::max<int64_t>(sequences + 1, 0) * int64_t(sizeof(int64_t))});
    llvm::append_range(blocks, tensors.inputBlocks);
    Reply reply =
        ask({.kind = BURIN_REQUEST_FORWARD_BATCH, .scratchBytes = sizeOf(scratch, scratchBytes), .number = sequences},
            blocks);
    return takeOutputs(reply, 0, tensors, outputs);
  }

  burin_status reset(void *state, size_t stateBytes, int64_t position) const override {
    Reply reply = ask({.kind = BURIN_REQUEST_RESET, .number = position}, {{state, int64_t(stateBytes)}});
    return takeState(reply, state);
  }

  burin_status step(void *state, void *scratch, size_t scratchBytes, const void *const *inputs,
                    void *const *outputs) const override {
    return streamCall({.kind = BURIN_REQUEST_STEP, .scratchBytes = sizeOf(scratch, scratchBytes), .count = 1}, state,
                      inputs, outputs);
  }

  burin_status advance(int32_t stream, void *state, void *scratch, size_t scratchBytes, int64_t count,
                       const void *const *inputs, void *const *outputs) const override {
    return streamCall({.kind = BURIN_REQUEST_ADVANCE,
                       .scratchBytes = sizeOf(scratch, scratchBytes),
                       .number = stream,
                       .count = count},
                      state, inputs, outputs);
  }

  burin_status stateRead(const void *state, const char *name, float *values, size_t capacity,
                         int64_t *rows) const override {
    Reply reply = ask({.kind = BURIN_REQUEST_STATE_READ, .count = values ? int64_t(capacity) : 0},
                      {stateBlock(state), {name, int64_t(std::strlen(name)) + 1}});
    if (reply.status == BURIN_OK) {
      *rows = reply.value;
      take(reply, 0, values, capacity * sizeof(float));
    }
    return burin_status(reply.status);
  }

  burin_status stateSave(const void *state, void *saved, size_t capacity, size_t *bytes) const override {
    Reply reply = ask({.kind = BURIN_REQUEST_STATE_SAVE, .count = saved ? int64_t(capacity) : 0}, {stateBlock(state)});
    if (reply.status == BURIN_OK) {
      *bytes = size_t(reply.value);
      take(reply, 0, saved, capacity);
    }
    return burin_status(reply.status);
  }

  burin_status stateLoad(void *state, size_t stateBytes, const void *saved, size_t bytes) const override {
    Reply reply = ask({.kind = BURIN_REQUEST_STATE_LOAD}, {{state, int64_t(stateBytes)}, {saved, int64_t(bytes)}});
    return takeState(reply, state);
  }

private:
  const burin_plan &plan() const { return loaded_.plan(); }

  Reply ask(Request request, const std::vector<RequestBlock> &blocks) const {
    request.model = model_;
    return loaded_.server().ask(request, blocks);
  }

  static int64_t sizeOf(const void *memory, size_t bytes) { return memory ? int64_t(bytes) : BURIN_NULL_BLOCK; }

  RequestBlock stateBlock(const void *state) const { return {state, plan().state_bytes}; }

  Tensors tensorsOf(const Lengths &lengths, const void *const *inputs, void *const *outputs) const {
    return Tensors(*plan().forward, inputs, outputs, [&](const burin_plan_tensor &tensor) {
      return lengths.areAllowed() ? lengths.elementsOf(tensor) : 0;
    });
  }

  burin_status streamCall(Request request, void *state, const void *const *inputs, void *const *outputs) const {
    const burin_plan_stream &stream = plan().streams[request.number];
    int64_t count = std::max<int64_t>(request.count, 0); // buffers hold so many rows, refused or not
    Tensors tensors(*stream.one, inputs, outputs,
                    [&](const burin_plan_tensor &tensor) { return count * tensor.rows_each * tensor.columns; });
    std::vector<RequestBlock> blocks{stateBlock(state), tensors.sizes()};
    llvm::append_range(blocks, tensors.inputBlocks);
    Reply reply = ask(request, blocks);
    takeState(reply, state);
    return takeOutputs(reply, 1, tensors, outputs);
  }

  /// Copies a block of the reply, which has at most `most` bytes, to where the call's pointer says.
  static void take(const Reply &reply, size_t block, void *to, size_t most) {
    if (block >= reply.blocks.size() || reply.blocks[block].size() > most)
      throw MachineError("a reply has " + std::to_string(reply.blocks.size()) +
                         " blocks, or more bytes than the call has room for; expected block " + std::to_string(block) +
                         " of at most " + std::to_string(most) + " bytes");
    if (!reply.blocks[block].empty())
      std::memcpy(to, reply.blocks[block].data(), reply.blocks[block].size());
  }

  burin_status takeState(const Reply &reply, void *state) const {
    if (state)
      take(reply, 0, state, reply.blocks.empty() ? 0 : reply.blocks[0].size());
    return burin_status(reply.status);
  }

  burin_status takeOutputs(const Reply &reply, size_t first, const Tensors &tensors, void *const *outputs) const {
    if (reply.status == BURIN_OK)
      for (size_t i = 0; i < tensors.outputBytes.size(); ++i)
        take(reply, first + i, outputs[i], size_t(std::max<int64_t>(tensors.outputBytes[i], 0)));
    return burin_status(reply.status);
  }

  const EmulatedModel &loaded_;
  int64_t model_;
  std::string target_;
};

std::unique_ptr<ModelCalls> EmulatedModel::open(const burin_open_options &options, burin_status &status) const {
  const std::pair<int, int> flags[] = {{options.weights_stay, BURIN_OPEN_WEIGHTS_STAY},
                                       {options.copy, BURIN_OPEN_COPY},
                                       {options.verify_content, BURIN_OPEN_VERIFY_CONTENT},
                                       {options.prefault, BURIN_OPEN_PREFAULT},
                                       {options.lock_memory, BURIN_OPEN_LOCK_MEMORY},
                                       {options.allow_extra_tensors, BURIN_OPEN_ALLOW_EXTRA_TENSORS}};
  int64_t bits = 0;
  for (auto [given, bit] : flags)
    bits |= given ? bit : 0;
  RequestBlock path = {options.weights_path, options.weights_path ? int64_t(std::strlen(options.weights_path)) + 1 : 0};
  Request request = {.kind = BURIN_REQUEST_OPEN, .count = options.message ? int64_t(options.message_bytes) : 0};
  Reply reply =
      server_.ask(request, {{options.weights, int64_t(options.weights_bytes)}, path, {&bits, int64_t(sizeof bits)}});
  status = burin_status(reply.status);
  if (reply.blocks.empty())
    throw MachineError("a reply to opening has no block, expected a text");
  if (status == BURIN_OK)
    return std::make_unique<EmulatedCalls>(
        *this, reply.value, llvm::StringRef(reply.blocks[0].data(), reply.blocks[0].size()).rtrim('\0').str());
  if (options.message && options.message_bytes > 0) {
    size_t bytes = std::min(reply.blocks[0].size(), options.message_bytes);
    std::memcpy(options.message, reply.blocks[0].data(), bytes);
    options.message[options.message_bytes - 1] = '\0';
  }
  return nullptr;
}

std::vector<std::string> wordsOf(llvm::StringRef command) {
  std::vector<std::string> words;
  for (llvm::StringRef word : llvm::split(command, ' '))
    words.push_back(word.str());
  return words;
}

} // namespace

std::string findRunnerProgram(llvm::StringRef name) {
  std::string ours = programNamed(name.str());
  if (llvm::sys::fs::can_execute(ours))
    return ours;
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name);
  return found ? *found : "";
}

std::string modelServerObject(const Target &target) {
  return (llvm::sys::path::parent_path(runtimeArchive(target)) + "/model_server.o").str();
}

llvm::Expected<std::unique_ptr<LoadedModel>> loadEmulated(const CompileResult &compiled) {
  const Target &target = *compiled.plan.target;
  std::string program = compiled.objectPath + ".server";
  std::string servedPlan = program + "_plan.c", plan = compiled.plan.name + "_plan";
  if (llvm::Error error = installText("const void *" + plan + "(void);\nconst void *served_plan(void);\n" +
                                          "const void *served_plan(void) { return " + plan + "(); }\n",
                                      servedPlan))
    return error;
  std::vector<std::string> link = wordsOf(target.programLinker);
  link.insert(link.end(), {"-o", program, modelServerObject(target), servedPlan, compiled.objectPath,
                           runtimeArchive(target), "-lm"});
  if (llvm::Error error = runTool(link))
    return error;
  std::vector<std::string> command = wordsOf(target.runner);
  command[0] = findRunnerProgram(command[0]);
  command.push_back(program);
  try {
    return std::make_unique<EmulatedModel>(compiled.plan, command);
  } catch (const MachineError &error) {
    return llvm::createStringError(error.what());
  }
}

} // namespace burin
