// The choices of a graph, as data (choices.def): what a record of the database holds, what the pass form_kernels is
// told and what goes into a plan. The twin of parameters.h, for what is no kernel's.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace burin {

enum class Choice {
#define BURIN_CHOICE(name, ...) name,
#include "schedules/choices.def"
};

enum class ChoiceOf { kernels, threads };

/// A row of choices.def.
struct ChoiceRow {
  Choice choice;
  ChoiceOf of;
  llvm::StringLiteral name, about;
  int64_t least, most;
  llvm::ArrayRef<int64_t> values; // that a search tries, in order
};

llvm::ArrayRef<ChoiceRow> allChoices();
const ChoiceRow &rowOf(Choice choice);
/// Null where none has this name.
const ChoiceRow *findChoice(llvm::StringRef name);

/// Values of choices, by name.
class GraphChoices {
public:
  GraphChoices() = default;
  GraphChoices(std::initializer_list<std::pair<const Choice, int64_t>> values) : values_(values) {}

  std::optional<int64_t> get(Choice choice) const;
  void set(Choice choice, int64_t value) { values_[choice] = value; }
  bool empty() const { return values_.empty(); }
  const std::map<Choice, int64_t> &values() const { return values_; }
  /// "whole_step=0,norm_in_contract=1"; empty for none.
  std::string text() const;
  /// Empty where the value is in the choice's range, else a sentence.
  static std::string check(llvm::StringRef name, int64_t value);

  auto operator<=>(const GraphChoices &) const = default;

private:
  std::map<Choice, int64_t> values_;
};

/// The choices of a graph's entries, as one text for the pass form_kernels:
/// "forward.norm_in_contract=0,step.whole_step=1".
std::string choicesText(const std::map<std::string, GraphChoices> &ofEntries);
/// What choicesText gives; nothing, and why not in `error`, where it is something else.
std::optional<std::map<std::string, GraphChoices>> parseChoices(llvm::StringRef text, std::string &error);

} // namespace burin
