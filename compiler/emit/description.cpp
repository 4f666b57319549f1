#include "emit/description.h"
#include "emit/object.h"
#include "emit/run_tool.h"
#include "nlohmann/json.hpp"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using Json = nlohmann::ordered_json;

namespace burin {

static constexpr int descriptionFormat = 1;

static std::string typeName(int type) {
  switch (type) {
  case BURIN_F32:
    return "f32";
  case BURIN_F64:
    return "f64";
  case BURIN_I64:
    return "i64";
  case BURIN_I32:
    return "i32";
  default:
    return "u8";
  }
}

/// The rows count a time symbol, `rows_each` for each `sequence`, or for each `sample` of a stream.
static Json tensorsOf(const ModelPlan &plan, ArrayRef<PlanTensor> tensors, bool ofStream) {
  Json list = Json::array();
  for (const PlanTensor &tensor : tensors) {
    std::string rows = ofStream ? "sample" : tensor.rowAxis >= 0 ? plan.axes[tensor.rowAxis].name : "sequence";
    Json columns = tensor.columnAxis >= 0 ? Json(plan.axes[tensor.columnAxis].name) : Json(tensor.columns);
    list.push_back({{"name", tensor.name},
                    {"type", typeName(tensor.type)},
                    {"rows", rows},
                    {"rows_each", tensor.rowsEach},
                    {"columns", columns}});
    if (tensor.limit)
      list.back()["limit"] = tensor.limit;
  }
  return list;
}

static Json orNull(int64_t value, int64_t none) { return value == none ? Json() : Json(value); }

std::string descriptionOf(ArrayRef<const ModelPlan *> plans) {
  ModelPlan plan = boundOf(plans);
  Json text = {{"format", descriptionFormat},
               {"model", plan.name},
               {"open_options_bytes", sizeof(burin_open_options)},
               {"targets", Json::array()},
               {"time", Json::array()},
               {"parameters", Json::array()},
               {"inputs", tensorsOf(plan, plan.forward.inputs, /*ofStream=*/false)},
               {"outputs", tensorsOf(plan, plan.forward.outputs, /*ofStream=*/false)},
               {"streams", Json::array()},
               {"state", Json::array()}};
  for (const ModelPlan *each : plans)
    text["targets"].push_back(each->target->name.str());
  for (const PlanAxis &axis : plan.axes)
    text["time"].push_back({{"name", axis.name}, {"max", axis.maximum}});
  for (const PlanParameter &parameter : plan.parameters)
    text["parameters"].push_back({{"name", parameter.name}, {"shape", parameter.shape}});
  for (const PlanStream &stream : plan.streams)
    text["streams"].push_back({{"name", stream.name},
                               {"most_rows", stream.mostRows},
                               {"capacity", orNull(stream.capacity, -1)},
                               {"position_end", orNull(stream.positionEnd, -1)},
                               {"inputs", tensorsOf(plan, stream.one.inputs, /*ofStream=*/true)},
                               {"outputs", tensorsOf(plan, stream.one.outputs, /*ofStream=*/true)}});
  for (const PlanStateValue &value : plan.stateValues)
    text["state"].push_back({{"name", value.name},
                             {"stream", plan.streams[value.stream].name},
                             {"window", orNull(value.window, 0)},
                             {"features", value.features}});
  if (plan.streams.empty())
    text["no_step"] = plan.noStep;
  // A name may hold bytes that are no text.
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Expected<std::string> addDescription(StringRef object, const std::string &description, StringRef folder) {
  std::string text = (folder + "/description.json").str(), described = (folder + "/described.o").str();
  std::error_code code;
  raw_fd_ostream stream(text, code);
  stream << description << '\0';
  stream.close();
  if (code || stream.has_error())
    return createFileError(text, code ? code : stream.error());
  const std::string section = ".rodata.burin_description";
  if (Error error =
          runTool({"llvm-objcopy", "--add-section=" + section + "=" + text,
                   "--set-section-flags=" + section + "=alloc,readonly",
                   "--add-symbol=burin_library_description=" + section + ":0,global,object", object.str(), described}))
    return error;
  return described;
}

} // namespace burin
