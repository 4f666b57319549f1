#include "tools/bench_description.h"
#include "nlohmann/json.hpp"
#include "tools/failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace burin {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// What is in `folder` and matches.
static llvm::Expected<std::vector<std::string>> entriesLike(llvm::StringRef folder, llvm::StringRef pattern) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (!glob)
    return glob.takeError();
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (glob->match(path::filename(entry->path())))
      found.push_back(entry->path());
  llvm::sort(found);
  return found;
}

/// The one path below `folder` that `pattern` stands for.
static llvm::Expected<std::string> findPath(llvm::StringRef folder, llvm::StringRef pattern) {
  std::vector<std::string> found = {path::is_absolute(pattern) ? std::string() : folder.str()};
  for (llvm::StringRef component : llvm::make_range(path::begin(pattern), path::end(pattern))) {
    std::vector<std::string> next;
    for (const std::string &parent : found) {
      if (component.contains('*')) {
        llvm::Expected<std::vector<std::string>> entries = entriesLike(parent, component);
        if (!entries)
          return entries.takeError();
        llvm::append_range(next, *entries);
        continue;
      }
      llvm::SmallString<256> child(parent);
      path::append(child, component);
      if (fs::exists(child))
        next.push_back(child.str().str());
    }
    found = std::move(next);
  }
  if (found.empty())
    return failure("nothing is at '" + pattern + "'");
  if (found.size() > 1)
    return failure("'" + pattern + "' is " + llvm::Twine(found.size()) + " files, '" + found[0] + "' and '" + found[1] +
                   "' among them, expected 1");
  return found[0];
}

static bool isCount(const nlohmann::json &value) { return value.is_number_integer() && value.get<int64_t>() > 0; }

/// The error names the entry.
static llvm::Expected<BenchDescription> describe(const nlohmann::json &given, llvm::StringRef folder) {
  BenchDescription description;
  if (!given.is_object() || !given.contains("model"))
    return failure("no entry 'model', expected an object that names one");
  for (auto &[name, value] : given.items()) {
    if (name == "model" && value.is_string()) {
      llvm::Expected<std::string> model = findPath(folder, value.get<std::string>());
      if (!model)
        return failure("model: " + llvm::toString(model.takeError()));
      description.model = *model;
    } else if (name == "times" && value.is_array() && llvm::all_of(value, isCount)) {
      description.times = value.get<std::vector<int64_t>>();
    } else if (name == "mixed" && isCount(value)) {
      description.mixed = value.get<int64_t>();
    } else if (name == "start_up" && value.is_boolean()) {
      description.startUp = value.get<bool>();
    } else {
      return failure("entry '" + name + "' is " + value.dump() +
                     ", expected model (a path), times (positive integers), mixed (one), start_up (true or false)");
    }
  }
  return description;
}

llvm::Expected<std::optional<BenchDescription>> readBenchDescription(llvm::StringRef folder) {
  llvm::SmallString<256> file(folder);
  path::append(file, "bench.json");
  if (folder.empty() || !fs::is_directory(folder) || !fs::exists(file))
    return std::nullopt;
  auto text = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!text)
    return failure(file + ": " + text.getError().message());
  nlohmann::json given = nlohmann::json::parse((*text)->getBuffer(), nullptr, /*allow_exceptions=*/false);
  if (given.is_discarded())
    return failure(file + ": not JSON");
  llvm::Expected<BenchDescription> description = describe(given, folder);
  if (!description)
    return failure(file + ": " + llvm::toString(description.takeError()));
  return std::optional(std::move(*description));
}

} // namespace burin
