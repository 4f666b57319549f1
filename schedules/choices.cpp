#include "schedules/choices.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <vector>

namespace burin {

llvm::ArrayRef<ChoiceRow> allChoices() {
#define BURIN_CHOICE(name, of, least, most, about, ...) static const int64_t name##Values[] = {__VA_ARGS__};
#include "schedules/choices.def"
  static const std::vector<ChoiceRow> rows = {
#define BURIN_CHOICE(name, of, least, most, about, ...)                                                                \
  {Choice::name, ChoiceOf::of, #name, about, least, most, name##Values},
#include "schedules/choices.def"
  };
  return rows;
}

const ChoiceRow &rowOf(Choice choice) { return allChoices()[size_t(choice)]; }

const ChoiceRow *findChoice(llvm::StringRef name) {
  for (const ChoiceRow &row : allChoices())
    if (row.name == name)
      return &row;
  return nullptr;
}

std::optional<int64_t> GraphChoices::get(Choice choice) const {
  auto found = values_.find(choice);
  return found == values_.end() ? std::nullopt : std::optional<int64_t>(found->second);
}

std::string GraphChoices::text() const {
  std::string text;
  for (auto [choice, value] : values_)
    text += (text.empty() ? "" : ",") + rowOf(choice).name.str() + "=" + std::to_string(value);
  return text;
}

std::string GraphChoices::check(llvm::StringRef name, int64_t value) {
  const ChoiceRow *row = findChoice(name);
  if (!row)
    return ("no choice is named '" + name + "'").str();
  if (value < row->least || value > row->most)
    return (name + " is " + llvm::Twine(value) + ", expected " + llvm::Twine(row->least) + " to " +
            llvm::Twine(row->most))
        .str();
  return "";
}

std::string choicesText(const std::map<std::string, GraphChoices> &ofEntries) {
  std::string text;
  for (auto &[entry, choices] : ofEntries)
    for (auto [choice, value] : choices.values())
      text += (text.empty() ? "" : ",") + entry + "." + rowOf(choice).name.str() + "=" + std::to_string(value);
  return text;
}

std::optional<std::map<std::string, GraphChoices>> parseChoices(llvm::StringRef text, std::string &error) {
  std::map<std::string, GraphChoices> ofEntries;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    auto [place, number] = part.split('=');
    auto [entry, name] = place.rsplit('.'); // entries' names may hold dots
    int64_t value;
    if (name.empty() || number.getAsInteger(10, value)) {
      error = ("'" + part + "', expected an entry, a choice and its value, such as step.whole_step=0").str();
      return std::nullopt;
    }
    error = GraphChoices::check(name, value);
    if (!error.empty())
      return std::nullopt;
    ofEntries[entry.str()].set(findChoice(name)->choice, value);
  }
  return ofEntries;
}

} // namespace burin
