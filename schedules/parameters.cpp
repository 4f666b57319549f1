#include "schedules/parameters.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <vector>

namespace burin {

llvm::ArrayRef<ParameterRow> allParameters() {
#define BURIN_PARAMETER(name, least, most, about, ...) static const int name##Values[] = {__VA_ARGS__};
#include "schedules/parameters.def"
  static const std::vector<ParameterRow> rows = {
#define BURIN_PARAMETER(name, least, most, about, ...) {Parameter::name, #name, about, least, most, name##Values},
#include "schedules/parameters.def"
  };
  return rows;
}

const ParameterRow &rowOf(Parameter parameter) { return allParameters()[size_t(parameter)]; }

const ParameterRow *findParameter(llvm::StringRef name) {
  for (const ParameterRow &row : allParameters())
    if (row.name == name)
      return &row;
  return nullptr;
}

std::optional<int> ScheduleParameters::get(Parameter parameter) const {
  auto found = values_.find(parameter);
  return found == values_.end() ? std::nullopt : std::optional<int>(found->second);
}

std::string ScheduleParameters::text() const {
  std::string text;
  for (auto [parameter, value] : values_)
    text += (text.empty() ? "" : ",") + rowOf(parameter).name.str() + "=" + std::to_string(value);
  return text;
}

std::string ScheduleParameters::check(llvm::StringRef name, int64_t value) {
  const ParameterRow *row = findParameter(name);
  if (!row)
    return ("no parameter is named '" + name + "'").str();
  if (value < row->least || value > row->most)
    return (name + " is " + llvm::Twine(value) + ", expected " + llvm::Twine(row->least) + " to " +
            llvm::Twine(row->most))
        .str();
  return "";
}

std::optional<ScheduleParameters> ScheduleParameters::parse(llvm::StringRef text, std::string &error) {
  ScheduleParameters parameters;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [name, number] = part.trim().split('=');
    int64_t value;
    if (number.getAsInteger(10, value)) {
      error = ("'" + part + "', expected a parameter and its value, such as tile_rows=8").str();
      return std::nullopt;
    }
    error = check(name, value);
    if (!error.empty())
      return std::nullopt;
    parameters.set(findParameter(name)->parameter, int(value));
  }
  return parameters;
}

} // namespace burin
