// The parameters of a schedule, as data: what a record of the database holds, what a kernel's worker is told and what a
// search varies. Needs no Halide.
//
// Only what is chosen is in it; a schedule derives the rest (parameters.def).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>

namespace burin {

enum class Parameter {
#define BURIN_PARAMETER(name, ...) name,
#include "schedules/parameters.def"
};

/// A row of parameters.def.
struct ParameterRow {
  Parameter parameter;
  llvm::StringLiteral name, about;
  int least, most;
  llvm::ArrayRef<int> values; // that a search tries, in order
};

llvm::ArrayRef<ParameterRow> allParameters();
const ParameterRow &rowOf(Parameter parameter);
/// Null where none has this name.
const ParameterRow *findParameter(llvm::StringRef name);

/// Changes whenever a parameter, or what a schedule makes of one, gets another meaning: what was measured before says
/// nothing then.
inline constexpr int scheduleVersion = 2;

/// Values of parameters, by name.
class ScheduleParameters {
public:
  ScheduleParameters() = default;
  ScheduleParameters(std::initializer_list<std::pair<const Parameter, int>> values) : values_(values) {}

  std::optional<int> get(Parameter parameter) const;
  void set(Parameter parameter, int value) { values_[parameter] = value; }
  bool empty() const { return values_.empty(); }
  const std::map<Parameter, int> &values() const { return values_; }
  /// "tile_rows=8,depth_unroll=2"; empty for none.
  std::string text() const;
  /// What text() gives; nothing, and why not in `error`, where a name or a value is not one.
  static std::optional<ScheduleParameters> parse(llvm::StringRef text, std::string &error);
  /// Empty where the value is in the parameter's range, else a sentence.
  static std::string check(llvm::StringRef name, int64_t value);

  auto operator<=>(const ScheduleParameters &) const = default;

private:
  std::map<Parameter, int> values_;
};

} // namespace burin
