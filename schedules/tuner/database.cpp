// Reading says what is wrong with each record; writing is sorted, so that files are compared line by line.
#include "schedules/tuner/database.h"
#include "nlohmann/json.hpp"
#include "schedules/tuner/row_buckets.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using Json = nlohmann::ordered_json;

namespace burin {

namespace {

constexpr uint64_t mostBytes = 64 << 20; // of a file; a record takes about 300
constexpr size_t longestText = 256;      // of a field

/// A record's fields, each checked; `error` is the first thing that is wrong.
class RecordReader {
public:
  explicit RecordReader(const Json &json) : json_(json) {
    static const llvm::StringLiteral known[] = {"kernel",  "about",           "rows", "target",  "parameters",
                                                "seconds", "default_seconds", "date", "compiler"};
    if (!json.is_object()) {
      error = "not an object";
      return;
    }
    for (auto &[name, value] : json.items())
      if (!llvm::is_contained(known, name))
        complain("unknown field '" + printable(name) + "'");
  }

  std::string error;

  std::string text(const char *name) {
    auto value = json_.is_object() ? json_.find(name) : json_.end();
    if (error.empty() && (value == json_.end() || !value->is_string()))
      complain(std::string("field '") + name + "' is missing or no text");
    else if (error.empty() && value->get_ref<const std::string &>().size() > longestText)
      complain(std::string("field '") + name + "' has more than " + std::to_string(longestText) + " characters");
    return error.empty() ? value->get<std::string>() : "";
  }

  double seconds(const char *name) {
    auto value = json_.is_object() ? json_.find(name) : json_.end();
    double number = value != json_.end() && value->is_number() ? value->get<double>() : -1;
    if (!(number > 0 && std::isfinite(number)))
      complain(std::string("field '") + name + "' is missing or no positive number");
    return number;
  }

  /// Parameters of schedules and choices of graphs have different names and stand in one object.
  void takeValues(ScheduleParameters &parameters, GraphChoices &choices) {
    auto object = json_.is_object() ? json_.find("parameters") : json_.end();
    if (object == json_.end() || !object->is_object()) {
      complain("field 'parameters' is missing or no object");
      return;
    }
    for (auto &[name, value] : object->items()) {
      if (!value.is_number_integer()) {
        complain("parameter '" + printable(name) + "' is no integer");
        continue;
      }
      const ChoiceRow *choice = findChoice(name);
      std::string wrong = choice ? GraphChoices::check(name, value.get<int64_t>())
                                 : ScheduleParameters::check(name, value.get<int64_t>());
      if (!wrong.empty())
        complain(printable(wrong));
      else if (choice)
        choices.set(choice->choice, value.get<int64_t>());
      else
        parameters.set(findParameter(name)->parameter, value.get<int>());
    }
  }

  void complain(std::string what) {
    if (error.empty())
      error = std::move(what);
  }

  /// As a warning may show it: short, and without control characters.
  static std::string printable(llvm::StringRef text) {
    std::string shown;
    for (char c : text.take_front(80))
      shown += (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
    return shown;
  }

private:
  const Json &json_;
};

/// Takes one record; says what is wrong, or nothing.
std::string addRecord(const Json &json, TuningDatabase &database) {
  RecordReader reader(json);
  std::string compiler = reader.text("compiler");
  if (reader.error.empty() && compiler != tuningCompilerVersion())
    reader.complain("stale: measured with '" + RecordReader::printable(compiler) + "', this is '" +
                    tuningCompilerVersion() + "'");
  RecordKey key{reader.text("kernel"), reader.text("target"), 0};
  TuningRecord record;
  record.about = reader.text("about");
  record.date = reader.text("date");
  std::string rows = reader.text("rows");
  std::optional<int> bucket = bucketNamed(rows);
  if (!bucket)
    reader.complain("rows '" + RecordReader::printable(rows) + "' are no bucket");
  record.seconds = reader.seconds("seconds");
  record.defaultSeconds = reader.seconds("default_seconds");
  reader.takeValues(record.parameters, record.choices);
  if (!reader.error.empty())
    return reader.error;
  key.bucket = *bucket;
  if (!database.records.try_emplace(key, record).second)
    return "a second record of the same";
  return "";
}

/// How a warning names a record: its place, and what it says it is of.
std::string nameOf(size_t index, const Json &json) {
  std::string name = "record " + std::to_string(index);
  for (const char *field : {"kernel", "rows", "target"})
    if (auto value = json.is_object() ? json.find(field) : json.end(); json.is_object() && value != json.end())
      if (value->is_string())
        name += " " + RecordReader::printable(value->get_ref<const std::string &>());
  return name;
}

} // namespace

std::string tuningCompilerVersion() {
  return "burin " BURIN_VERSION ", Halide " BURIN_HALIDE_VERSION ", schedules " + std::to_string(scheduleVersion);
}

llvm::Expected<TuningDatabase> TuningDatabase::read(llvm::StringRef path, std::vector<std::string> &warnings) {
  auto warn = [&](const llvm::Twine &what) { warnings.push_back((path + ": " + what).str()); };
  uint64_t bytes = 0;
  if (std::error_code error = llvm::sys::fs::file_size(path, bytes))
    return llvm::createStringError(path + ": " + error.message());
  TuningDatabase database;
  if (bytes > mostBytes) {
    warn("no tuning database: " + llvm::Twine(bytes) + " bytes, expected at most " + llvm::Twine(mostBytes));
    return database;
  }
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return llvm::createStringError(path + ": " + file.getError().message());
  Json json =
      Json::parse((*file)->getBuffer().begin(), (*file)->getBuffer().end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("cpu") || !json["cpu"].is_string() || !json.contains("records") ||
      !json["records"].is_array()) {
    warn("no tuning database, expected an object with 'cpu' and 'records'");
    return database;
  }
  database.cpu = json["cpu"].get<std::string>();
  size_t index = 0;
  for (const Json &record : json["records"]) {
    if (std::string wrong = addRecord(record, database); !wrong.empty())
      warn(nameOf(index, record) + " is left out: " + wrong);
    ++index;
  }
  return database;
}

llvm::Error TuningDatabase::write(llvm::StringRef path) const {
  Json list = Json::array();
  for (auto &[key, record] : records) {
    Json parameters = Json::object();
    for (auto [parameter, value] : record.parameters.values())
      parameters[rowOf(parameter).name.str()] = value;
    for (auto [choice, value] : record.choices.values())
      parameters[rowOf(choice).name.str()] = value;
    list.push_back({{"kernel", key.kernel},
                    {"about", record.about},
                    {"rows", bucketText(key.bucket)},
                    {"target", key.target},
                    {"parameters", parameters},
                    {"seconds", record.seconds},
                    {"default_seconds", record.defaultSeconds},
                    {"date", record.date},
                    {"compiler", tuningCompilerVersion()}});
  }
  llvm::SmallString<128> temporary;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(path + ".%%%%%%.new", temporary))
    return llvm::createStringError(path + ": " + error.message());
  std::error_code error;
  llvm::raw_fd_ostream stream(temporary, error);
  if (!error) { // a record a line, so that a difference shows which changed
    stream << "{\"cpu\": " << Json(cpu).dump() << ", \"records\": [";
    for (size_t i = 0; i < list.size(); ++i)
      stream << (i ? ",\n" : "\n") << list[i].dump(-1, ' ', false, Json::error_handler_t::replace);
    stream << "\n]}\n";
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (!error)
    error = llvm::sys::fs::rename(temporary, path);
  if (error) {
    llvm::sys::fs::remove(temporary);
    return llvm::createStringError(path + ": " + error.message());
  }
  return llvm::Error::success();
}

llvm::Error TuningDatabase::update(llvm::StringRef path, llvm::StringRef cpu,
                                   llvm::function_ref<void(TuningDatabase &)> change) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  int descriptor = ::open(folder.empty() ? "." : folder.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return llvm::createStringError(path + ": its folder: " + std::generic_category().message(errno));
  llvm::scope_exit close([&] { ::close(descriptor); });
  while (::flock(descriptor, LOCK_EX) != 0)
    if (errno != EINTR)
      return llvm::createStringError(path + ": its folder cannot be locked: " + std::generic_category().message(errno));
  TuningDatabase database(cpu.str());
  if (llvm::sys::fs::exists(path)) {
    std::vector<std::string> warnings; // were told when the run began
    auto found = read(path, warnings);
    if (!found)
      return found.takeError();
    if (!found->cpu.empty() && found->cpu != cpu)
      return llvm::createStringError(path + ": a database of CPU '" + found->cpu + "', expected '" + cpu + "'");
    database.records = std::move(found->records);
  }
  change(database);
  return database.write(path);
}

llvm::Error TuningDatabase::merge(const TuningDatabase &other) {
  if (cpu.empty())
    cpu = other.cpu;
  if (cpu != other.cpu)
    return llvm::createStringError("databases of the CPUs '" + cpu + "' and '" + other.cpu +
                                   "' cannot be merged, expected one CPU");
  auto gain = [](const TuningRecord &record) { return record.defaultSeconds / record.seconds; };
  for (auto &[key, theirs] : other.records) {
    auto [place, isNew] = records.try_emplace(key, theirs);
    if (!isNew && std::pair(gain(theirs), theirs.date) > std::pair(gain(place->second), place->second.date))
      place->second = theirs;
  }
  return llvm::Error::success();
}

TuningDatabase::Found TuningDatabase::find(const RecordKey &key) const {
  for (int bucket : {key.bucket, key.bucket + 1, key.bucket - 1})
    if (auto found = records.find({key.kernel, key.target, bucket}); bucket != anyRows && found != records.end())
      return {&found->second, bucket};
  // Batches have more rows than the longest sequence, which is what is tuned. Where there are many already, what is
  // best for still more is nearly the same, and not worth a variant.
  constexpr int64_t manyRows = 16;
  for (int bucket = key.bucket - 2; bucket > 0 && leastRowsOf(bucket) > manyRows; --bucket)
    if (auto found = records.find({key.kernel, key.target, bucket}); found != records.end())
      return {&found->second, bucket};
  return {};
}

} // namespace burin
