// The C99 header of a model: its entry points with shapes, units and errors. Two compilations of one graph give the
// same text, so it says nothing of time or place.
#include "emit/object.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace burin {

namespace {

constexpr size_t lineWidth = 120;

const char *cType(int type) {
  switch (type) {
  case BURIN_F32:
    return "float";
  case BURIN_F64:
    return "double";
  case BURIN_I64:
    return "int64_t";
  case BURIN_I32:
    return "int32_t";
  default:
    return "uint8_t";
  }
}

/// "a, b and c".
std::string listed(ArrayRef<std::string> items) {
  std::string text;
  for (auto [index, item] : enumerate(items))
    text += (index == 0 ? "" : index + 1 == items.size() ? " and " : ", ") + item;
  return text;
}

/// What one row of an entry stands for in the shapes of a call: a name that multiplies it, or nothing.
struct Units {
  StringRef ofSequence = "", ofCall = "";
};

class HeaderWriter {
public:
  HeaderWriter(ArrayRef<const ModelPlan *> plans, Runtime runtime)
      : plan_(boundOf(plans)), runtime_(runtime), name_(plan_.name), upper_(StringRef(plan_.name).upper()),
        out_(text_) {
    for (const ModelPlan *plan : plans)
      targets_.push_back(plan->target->name.str());
  }

  std::string run() {
    std::string guard = "BURIN_MODEL_" + upper_ + "_H";
    begin("Model `" + name_ + "`, compiled by Burin for " + listed(targets_) + ". Generated: do not edit.");
    if (targets_.size() > 1)
      say("Opening chooses the first of these that the processor has, or the one that the options name in `isa`.");
    say("");
    say("What every model promises (alignment, threads, errors) stands in burin.h.");
    for (const PlanAxis &axis : plan_.axes)
      say(axis.name + ": number of samples of a sequence, 0 to " + std::to_string(axis.maximum) + ".");
    if (runtime_ == Runtime::bare)
      linking();
    end();
    out_ << "#ifndef " << guard << "\n#define " << guard << "\n\n#include \"burin.h\"\n\n"
         << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    constants();
    opening();
    forward();
    if (plan_.streams.empty()) {
      begin("No step: " + plan_.noStep + ".");
      end();
      out_ << "\n";
    } else {
      streaming();
      savedStates();
    }
    out_ << "/* The tables that the runtime executes; for tools. */\nstruct burin_plan;\nconst struct burin_plan *"
         << name_ << "_plan(void);\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return text_;
  }

private:
  // ---- Text

  /// A comment's first words, and more of them, broken into lines that `end` writes.
  void begin(const std::string &words) { fill("/* ", words, " * "); }
  void say(const std::string &words) { fill(" * ", words, " * "); }
  void item(const std::string &words) { fill(" *   ", words, " *     "); }

  void fill(StringRef first, const std::string &words, StringRef next) {
    std::string line = first.str();
    bool isEmpty = true;
    for (StringRef word : split(words, ' ')) {
      if (!isEmpty && line.size() + 1 + word.size() > lineWidth) {
        comment_.push_back(line);
        line = next.str();
        isEmpty = true;
      }
      line += (isEmpty ? "" : " ") + word.str();
      isEmpty = false;
    }
    comment_.push_back(line);
  }

  void end() {
    if (comment_.size() == 1 && comment_[0].size() + 3 <= lineWidth)
      comment_[0] += " */";
    else
      comment_.push_back(" */");
    for (StringRef line : comment_)
      out_ << line.rtrim() << "\n";
    comment_.clear();
  }

  /// A declaration; the parameters that do not fit on a line go on to the next.
  void declare(const std::string &result, StringRef function, ArrayRef<std::string> parameters) {
    std::string line = result + " " + name_ + "_" + function.str() + "(";
    for (auto [index, parameter] : enumerate(parameters)) {
      std::string piece = parameter + (index + 1 == parameters.size() ? ");" : ",");
      if (index && line.size() + 1 + piece.size() > lineWidth) {
        out_ << line << "\n";
        line = "    " + piece;
      } else {
        line += (index ? " " : "") + piece;
      }
    }
    out_ << line << (parameters.empty() ? "void);" : "") << "\n";
  }

  void define(const std::string &what, int64_t value, StringRef note = "") {
    out_ << "#define " << upper_ << "_" << what << " " << value;
    if (!note.empty())
      out_ << " /* " << note << " */";
    out_ << "\n";
  }

  // ---- Tensors

  std::string shape(const PlanTensor &tensor, Units units) const {
    std::string rows = std::to_string(tensor.rowsEach);
    StringRef unit = tensor.rowAxis == BURIN_AXIS_SEQUENCE ? units.ofSequence
                     : tensor.rowAxis == BURIN_AXIS_ONE    ? units.ofCall
                                                           : StringRef(plan_.axes[tensor.rowAxis].name);
    if (!unit.empty())
      rows = unit.str() + (tensor.rowsEach == 1 ? "" : " * " + rows);
    return "[" + rows + ", " +
           (tensor.columnAxis >= 0 ? plan_.axes[tensor.columnAxis].name : std::to_string(tensor.columns)) + "]";
  }

  void tensors(const PlanEntry &entry, Units units = {}) {
    for (const PlanTensor &tensor : entry.inputs)
      item(tensor.name + ": " + shape(tensor, units) + " " + cType(tensor.type) +
           (tensor.type == BURIN_U8 ? ", 1 where the query may see the key" : "") +
           (tensor.limit ? ", from 0 to " + std::to_string(tensor.limit - 1) + ", or the call is BURIN_BAD_ID" : ""));
    for (const PlanTensor &tensor : entry.outputs)
      item(tensor.name + ": " + shape(tensor, units) + " " + cType(tensor.type) + ", written");
  }

  static std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string> &more) {
    append_range(first, more);
    return first;
  }

  static std::vector<std::string> parameters(const PlanEntry &entry) {
    std::vector<std::string> list;
    for (const PlanTensor &tensor : entry.inputs)
      list.push_back(std::string("const ") + cType(tensor.type) + " *" + tensor.name);
    for (const PlanTensor &tensor : entry.outputs)
      list.push_back(std::string(cType(tensor.type)) + " *" + tensor.name);
    return list;
  }

  std::vector<std::string> axes(StringRef type, StringRef suffix) const {
    std::vector<std::string> list;
    for (const PlanAxis &axis : plan_.axes)
      list.push_back((type + axis.name + suffix).str());
    return list;
  }

  // ---- Sections

  void constants() {
    for (const PlanAxis &axis : plan_.axes)
      define(StringRef(axis.name).upper() + "_MAX", axis.maximum);
    for (auto [number, stream] : enumerate(plan_.streams))
      define(StringRef(stream.name).upper() + "_STREAM", int64_t(number));
    for (ArrayRef<PlanTensor> list : {ArrayRef(plan_.forward.inputs), ArrayRef(plan_.forward.outputs)})
      for (const PlanTensor &tensor : list)
        if (tensor.columnAxis < 0)
          define(StringRef(tensor.name).upper() + "_FEATURES", tensor.columns);
    define("WEIGHTS_BYTES", plan_.weightsBytes, targets_.size() > 1 ? "packed, at most" : "packed");
    out_ << "/* Stack that the buffers of an entry's largest kernel take; the runtime's frames come on top. */\n";
    define("FORWARD_KERNEL_STACK_BYTES", plan_.forward.kernelStackBytes);
    for (auto [number, stream] : enumerate(plan_.streams)) {
      int64_t one = stream.one.kernelStackBytes, many = stream.many ? stream.many->kernelStackBytes : 0;
      if (number == 0)
        define("STEP_KERNEL_STACK_BYTES", one);
      define((number == 0 ? "ADVANCE" : "APPEND_" + StringRef(stream.name).upper()) + "_KERNEL_STACK_BYTES",
             std::max(one, many));
    }
    out_ << "\n";
  }

  /// What stands beside the object in a program without an operating system.
  void linking() {
    say("");
    say("Without an operating system: link " + archiveNameOf(Runtime::bare).str() + "; the program provides");
    for (const BareSymbol &symbol : bareSymbols())
      item(symbol.name.str() + ": " + symbol.reason.str());
  }

  void opening() {
    std::string onError = " On an error *model is null and options->message says what is wrong. ";
    std::string tensors = "Tensors of a safetensors file, float32, float16 or bfloat16";
    if (runtime_ == Runtime::bare)
      begin("Opens the model: options->weights are the bytes of a packed file, which `burin pack` makes of a "
            "safetensors file, and options->memory is 64-byte aligned. With weights_stay, and weights that are 64-byte "
            "aligned, BURIN_MODEL_BYTES of memory are enough; without, the weights are copied behind them: " +
            upper_ + "_WEIGHTS_BYTES more." + onError + tensors + ", to pack:");
    else
      begin("Opens the model: reads, checks and packs the weights of a safetensors file, or maps a packed one; "
            "allocates, unless options->memory has BURIN_MODEL_BYTES + " +
            upper_ + "_WEIGHTS_BYTES for it." + onError + tensors + ":");
    for (const PlanParameter &parameter : plan_.parameters)
      item(parameter.name + " [" + join(map_range(parameter.shape, [](int64_t n) { return std::to_string(n); }), ", ") +
           "]");
    say("With options->threads above 1, or options->workers, forward and forward_batch share their work among threads; "
        "results have the same bits. Who finds them busy runs alone.");
    end();
    declare("burin_status", "open", {"const burin_open_options *options", "burin_model **model"});
    declare("void", "close", {"burin_model *model"});
    out_ << "\n";
  }

  void forward() {
    std::vector<std::string> lengths = axes("int64_t ", "");
    bool hasStep = !plan_.streams.empty();
    begin(std::string("Bytes of scratch, 64-byte aligned, that one call on so many samples needs") +
          (hasStep ? ": forward, step, and what takes several samples of a stream, which then lie in scratch together."
                   : "."));
    end();
    declare("size_t", "scratch_bytes", lengths);
    begin("The same for a batch: samples of all sequences together.");
    end();
    declare("size_t", "batch_scratch_bytes", joined({"int64_t sequences"}, lengths));
    out_ << "\n";

    const std::vector<std::string> memory{"const burin_model *model", "void *scratch", "size_t scratch_bytes"};
    begin("One whole sequence.");
    tensors(plan_.forward);
    end();
    declare("burin_status", "forward", joined(joined(memory, lengths), parameters(plan_.forward)));
    out_ << "\n";

    begin("Several sequences, their rows one after another, without padding. Offsets are [sequences + 1]: sequence i "
          "has rows offsets[i] to offsets[i + 1]; the first is 0. Each result has the bits that its sequence gives "
          "alone.");
    tensors(plan_.forward, {.ofSequence = "sequences"});
    end();
    declare("burin_status", "forward_batch",
            joined(joined(joined(memory, {"int64_t sequences"}), axes("const int64_t *", "_offsets")),
                   parameters(plan_.forward)));
    out_ << "\n";
  }

  // ---- Streams

  ArrayRef<PlanStream> contexts() const { return ArrayRef(plan_.streams).drop_front(); }

  static std::string bounds(const PlanStream &stream) {
    std::vector<std::string> all;
    if (stream.capacity >= 0)
      all.push_back("at most " + std::to_string(stream.capacity) + " samples after a reset");
    if (stream.positionEnd >= 0)
      all.push_back("positions below " + std::to_string(stream.positionEnd) + ", where a learned table ends");
    return all.empty() ? "without end" : listed(all);
  }

  /// Which samples a value holds, as an axis of its shape.
  std::string rowsOf(const PlanStateValue &value) const {
    if (value.type == BURIN_F64)
      return "";
    const std::string &stream = plan_.streams[value.stream].name;
    return value.window ? "the last " + std::to_string(value.window) + " samples of " + stream + ", "
                        : "samples of " + stream + " so far, ";
  }

  void streaming() {
    const PlanStream &first = plan_.streams[0];
    begin(contexts().empty() ? "A stream: samples that come while the program runs, and a state between them:"
                             : "Streams: samples that come while the program runs, and one state of them all:");
    item(first.name + ", which `step` and `advance` take: " + bounds(first));
    for (const PlanStream &context : contexts())
      item(context.name + ", which `append_" + context.name + "` takes: " + bounds(context));
    if (any_of(plan_.streams, [](const PlanStream &s) { return s.capacity >= 0 || s.positionEnd >= 0; }))
      say("A sample past these bounds is BURIN_STATE_FULL and leaves the state as it was.");
    if (contexts().empty())
      say("After n samples the outputs are those of forward on the n samples, up to rounding.");
    else
      say("A sample of " + first.name + " sees what was appended before it, and changes none of that; where nothing " +
          "was, attention to it gives 0. With all of the context appended first, the outputs after n samples of " +
          first.name + " are those of forward on these and the context, up to rounding.");
    end();
    out_ << "\n";

    begin("Bytes of a state, 64-byte aligned memory of the caller. A copy of them is another state, which goes on from "
          "the same point." +
          std::string(plan_.stateValues.empty() ? "" : " Values in it:"));
    for (const PlanStateValue &value : plan_.stateValues)
      item(value.name + " [" + rowsOf(value) + std::to_string(value.features) + "]");
    end();
    declare("size_t", "state_bytes", {});
    out_ << "\n";
    resets();

    const std::vector<std::string> memory{"const burin_model *model", "void *state", "void *scratch",
                                          "size_t scratch_bytes"};
    begin("One more sample of " + first.name + ".");
    tensors(first.one);
    end();
    declare("burin_status", "step", joined(memory, parameters(first.one)));
    out_ << "\n";
    for (const PlanStream &stream : plan_.streams) {
      bool isContext = &stream != &first;
      std::string what = isContext ? "`count` more samples of " + stream.name + ", for those of " + first.name +
                                         " that come after them."
                                   : "`count` samples: the inputs and outputs of that many steps, row after row, equal "
                                     "up to rounding.";
      begin(what + " " + together(stream));
      tensors(stream.one, {"count", "count"});
      end();
      declare("burin_status", isContext ? "append_" + stream.name : "advance",
              joined(joined(memory, {"int64_t count"}), parameters(stream.one)));
      out_ << "\n";
    }
  }

  void resets() {
    const PlanStream &first = plan_.streams[0];
    begin("Makes the memory an empty state.");
    end();
    declare("burin_status", "reset", {"const burin_model *model", "void *state", "size_t state_bytes"});
    begin("The same, with the next sample of " + first.name + " at `position`, 0 to " +
          (first.positionEnd >= 0 ? std::to_string(first.positionEnd) : "INT64_MAX") +
          ", as positional encodings count it; another is BURIN_TIME_OUT_OF_RANGE." +
          (contexts().empty() ? "" : " Contexts begin at 0."));
    end();
    declare("burin_status", "reset_at",
            {"const burin_model *model", "void *state", "size_t state_bytes", "int64_t position"});
    out_ << "\n";
  }

  std::string together(const PlanStream &stream) const {
    if (!stream.many || stream.mostRows <= 1)
      return "They are taken one after another.";
    std::string lengths;
    for (const PlanAxis &axis : plan_.axes)
      lengths += (lengths.empty() ? "" : ", ") +
                 (axis.name == plan_.axes[stream.axis].name ? std::to_string(stream.mostRows) : std::string("0"));
    return "Up to " + std::to_string(stream.mostRows) +
           " are taken at once, as many as scratch has room for: " + name_ + "_scratch_bytes(" + lengths +
           ") is room for all of these.";
  }

  void savedStates() {
    begin("A value of the state, row after row, the oldest first, into room for `capacity` floats; *rows receives how "
          "many rows. Null `values` and capacity 0 only ask that.");
    end();
    declare("burin_status", "state_read",
            {"const burin_model *model", "const void *state", "const char *name", "float *values", "size_t capacity",
             "int64_t *rows"});
    begin("The state as bytes for a file or another process, into room for `capacity` of them; *bytes receives how "
          "many. Null `saved` and capacity 0 only ask that. The bytes are the same on every target, and any of them "
          "may load a state of the same graph.");
    end();
    declare("burin_status", "state_save",
            {"const burin_model *model", "const void *state", "void *saved", "size_t capacity", "size_t *bytes"});
    begin("Makes the memory the state that was saved. A state of another graph is BURIN_STATE_FOREIGN, bytes that are "
          "not what was saved BURIN_STATE_DAMAGED; the memory is then as it was.");
    end();
    declare("burin_status", "state_load",
            {"const burin_model *model", "void *state", "size_t state_bytes", "const void *saved", "size_t bytes"});
    out_ << "\n";
  }

  const ModelPlan plan_;
  Runtime runtime_;
  std::vector<std::string> targets_;
  std::string name_, upper_, text_;
  std::vector<std::string> comment_; // lines of the one that is being written
  raw_string_ostream out_;
};

} // namespace

ModelPlan boundOf(ArrayRef<const ModelPlan *> plans) {
  ModelPlan bound = *plans.front();
  auto raise = [](auto &most, auto value) { most = std::max(most, value); };
  for (const ModelPlan *plan : plans.drop_front()) {
    raise(bound.weightsBytes, plan->weightsBytes);
    raise(bound.stateBytes, plan->stateBytes);
    raise(bound.forward.kernelStackBytes, plan->forward.kernelStackBytes);
    for (auto [stream, other] : zip_equal(bound.streams, plan->streams)) {
      raise(stream.one.kernelStackBytes, other.one.kernelStackBytes);
      raise(stream.mostRows, other.mostRows);
      if (stream.many && other.many)
        raise(stream.many->kernelStackBytes, other.many->kernelStackBytes);
      else if (other.many)
        stream.many = other.many;
    }
  }
  return bound;
}

std::string headerOf(ArrayRef<const ModelPlan *> plans, Runtime runtime) { return HeaderWriter(plans, runtime).run(); }

} // namespace burin
