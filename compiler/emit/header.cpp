// The C99 header of a model: its entry points with shapes, units and errors. Two compilations of one graph give the
// same text, so it says nothing of time or place.
#include "emit/object.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace burin {

namespace {

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

class HeaderWriter {
public:
  explicit HeaderWriter(const ModelPlan &plan) : plan_(plan), name_(plan.name), out_(text_) {}

  std::string run() {
    std::string guard = "BURIN_MODEL_" + StringRef(name_).upper() + "_H";
    out_ << "/* Model `" << name_ << "`, compiled by Burin for " << plan_.target->name << ". Generated: do not edit.\n"
         << " *\n * What every model promises (alignment, threads, errors) stands in burin.h.\n";
    for (const PlanAxis &axis : plan_.axes)
      out_ << " * " << axis.name << ": number of samples of a sequence, 0 to " << axis.maximum << ".\n";
    out_ << " */\n#ifndef " << guard << "\n#define " << guard << "\n\n#include \"burin.h\"\n\n"
         << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (const PlanAxis &axis : plan_.axes)
      out_ << "#define " << StringRef(name_).upper() << "_" << StringRef(axis.name).upper() << "_MAX " << axis.maximum
           << "\n";
    for (const PlanTensor &tensor : plan_.forward.inputs)
      columns(tensor);
    for (const PlanTensor &tensor : plan_.forward.outputs)
      columns(tensor);
    stack("FORWARD", plan_.forward);
    if (plan_.step)
      stack("STEP", *plan_.step);
    opening();
    forward();
    if (plan_.step)
      streaming();
    else
      out_ << "/* No step: " << plan_.noStep << ". */\n\n";
    out_ << "/* The tables that the runtime executes; for tools. */\nstruct burin_plan;\nconst struct burin_plan *"
         << name_ << "_plan(void);\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return text_;
  }

private:
  void stack(StringRef entry, const PlanEntry &planned) {
    out_ << "#define " << StringRef(name_).upper() << "_" << entry << "_KERNEL_STACK_BYTES " << planned.kernelStackBytes
         << " /* buffers of its largest kernel; the runtime's frames come on top */\n";
  }

  void columns(const PlanTensor &tensor) {
    if (tensor.columnAxis < 0)
      out_ << "#define " << StringRef(name_).upper() << "_" << StringRef(tensor.name).upper() << "_FEATURES "
           << tensor.columns << "\n";
  }

  std::string shape(const PlanTensor &tensor, StringRef rows) const {
    std::string text = "[";
    if (tensor.rowAxis == BURIN_AXIS_ONE)
      text += "1";
    else if (tensor.rowAxis == BURIN_AXIS_SEQUENCE)
      text += rows.empty() ? "1" : rows.str();
    else
      text += plan_.axes[tensor.rowAxis].name;
    return text + ", " +
           (tensor.columnAxis >= 0 ? plan_.axes[tensor.columnAxis].name : std::to_string(tensor.columns)) + "]";
  }

  void tensors(const PlanEntry &entry, StringRef perSequence) {
    for (const PlanTensor &tensor : entry.inputs)
      out_ << " *   " << tensor.name << ": " << shape(tensor, perSequence) << " " << cType(tensor.type)
           << (tensor.type == BURIN_U8 ? ", 1 where the query may see the key" : "")
           << (tensor.limit ? ", from 0 to " + std::to_string(tensor.limit - 1) + ", or the call is BURIN_BAD_ID" : "")
           << "\n";
    for (const PlanTensor &tensor : entry.outputs)
      out_ << " *   " << tensor.name << ": " << shape(tensor, perSequence) << " " << cType(tensor.type)
           << ", written\n";
  }

  std::string parameters(const PlanEntry &entry) const {
    std::string text;
    for (const PlanTensor &tensor : entry.inputs)
      text += std::string(", const ") + cType(tensor.type) + " *" + tensor.name;
    for (const PlanTensor &tensor : entry.outputs)
      text += std::string(", ") + cType(tensor.type) + " *" + tensor.name;
    return text;
  }

  std::string rows(StringRef type, StringRef suffix) const {
    std::string text;
    for (const PlanAxis &axis : plan_.axes)
      text += (text.empty() ? "" : ", ") + type.str() + axis.name + suffix.str();
    return text;
  }

  void opening() {
    out_ << "\n/* Opens the model: reads, checks and packs the weights of a safetensors file (" << plan_.weightsBytes
         << " bytes packed), or\n * maps a packed one. On an error *model is null and options->message says what is "
            "wrong. Tensors of a safetensors file,\n"
         << " * float32, float16 or bfloat16:\n";
    for (const PlanParameter &parameter : plan_.parameters) {
      out_ << " *   " << parameter.name << " [" << parameter.shape[0];
      if (parameter.shape.size() > 1)
        out_ << ", " << parameter.shape[1];
      out_ << "]\n";
    }
    out_ << " */\nburin_status " << name_ << "_open(const burin_open_options *options, burin_model **model);\n"
         << "void " << name_ << "_close(burin_model *model);\n\n";
  }

  void forward() {
    std::string lengths = rows("int64_t ", "");
    out_ << "/* Bytes of scratch, 64-byte aligned, that one call needs" << (plan_.step ? ", or a step" : "") << ". */\n"
         << "size_t " << name_ << "_scratch_bytes(" << (lengths.empty() ? "void" : lengths) << ");\n"
         << "/* The same for a batch: rows of all sequences together. */\n"
         << "size_t " << name_ << "_batch_scratch_bytes(int64_t sequences" << (lengths.empty() ? "" : ", ") << lengths
         << ");\n\n";
    out_ << "/* One whole sequence.\n";
    tensors(plan_.forward, "");
    out_ << " */\nburin_status " << name_ << "_forward(const burin_model *model, void *scratch, size_t scratch_bytes"
         << (lengths.empty() ? "" : ", ") << lengths << parameters(plan_.forward) << ");\n\n";
    out_ << "/* Several sequences, their rows one after another, without padding. Offsets are [sequences + 1]: "
            "sequence i has\n"
         << " * rows offsets[i] to offsets[i + 1]; the first is 0. Each result has the bits that its sequence gives "
            "alone.\n";
    tensors(plan_.forward, "sequences");
    std::string offsets = rows("const int64_t *", "_offsets");
    out_ << " */\nburin_status " << name_
         << "_forward_batch(const burin_model *model, void *scratch, size_t scratch_bytes, int64_t sequences"
         << (offsets.empty() ? "" : ", ") << offsets << parameters(plan_.forward) << ");\n\n";
  }

  void streaming() {
    out_ << "/* Bytes of a stream's state, 64-byte aligned memory of the caller. Values in it:\n";
    for (const PlanStateValue &value : plan_.stateValues)
      out_ << " *   " << value.name << " [" << (value.type == BURIN_F64 ? "" : "samples so far, ") << value.features
           << "]\n";
    out_ << " */\nsize_t " << name_ << "_state_bytes(void);\n\n"
         << "/* Makes the memory an empty state. */\nburin_status " << name_
         << "_reset(const burin_model *model, void *state, size_t state_bytes);\n\n"
         << "/* One more sample. After n steps the outputs are those of forward on the n samples, up to rounding; the "
            "state takes\n"
         << " * " << plan_.axes[plan_.stepAxis].maximum << " samples, after which a step is BURIN_STATE_FULL.\n";
    tensors(*plan_.step, "");
    out_
        << " */\nburin_status " << name_
        << "_step(const burin_model *model, void *state, void *scratch, size_t scratch_bytes" << parameters(*plan_.step)
        << ");\n\n"
        << "/* `count` samples, one after another: the inputs and outputs of that many steps, row after row. "
           "*/\nburin_status "
        << name_ << "_advance(const burin_model *model, void *state, void *scratch, size_t scratch_bytes, int64_t count"
        << parameters(*plan_.step) << ");\n\n"
        << "/* A value of the state, row after row, into room for `capacity` floats; *rows receives how many rows. */\n"
        << "burin_status " << name_
        << "_state_read(const burin_model *model, const void *state, const char *name, float *values, size_t "
           "capacity,\n"
        << "    int64_t *rows);\n\n";
  }

  const ModelPlan &plan_;
  std::string name_, text_;
  raw_string_ostream out_;
};

} // namespace

std::string headerOf(const ModelPlan &plan) { return HeaderWriter(plan).run(); }

} // namespace burin
