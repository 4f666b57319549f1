#include "tools/safetensors_file.h"
#include "emit/write_file.h"
#include "nlohmann/json.hpp"
#include "tools/failure.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <optional>
#include <set>

namespace burin {

using Json = nlohmann::json;

static constexpr std::pair<ElementType, llvm::StringLiteral> elementTypeNames[] = {
    {ElementType::F32, "F32"}, {ElementType::F64, "F64"},   {ElementType::U8, "U8"},   {ElementType::I32, "I32"},
    {ElementType::F16, "F16"}, {ElementType::BF16, "BF16"}, {ElementType::I64, "I64"}, {ElementType::I16, "I16"},
    {ElementType::I8, "I8"},   {ElementType::Bool, "BOOL"}};

llvm::StringRef nameOf(ElementType type) { return elementTypeNames[int(type)].second; }

size_t bytesOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
    return 2;
  case ElementType::U8:
  case ElementType::I8:
  case ElementType::Bool:
    return 1;
  default:
    return 4;
  }
}

std::string describe(ElementType type, llvm::ArrayRef<int64_t> shape) {
  std::string text = nameOf(type).lower() + "[";
  for (auto [axis, extent] : llvm::enumerate(shape))
    text += (axis ? "," : "") + std::to_string(extent);
  return text + "]";
}

std::vector<double> StoredTensor::toDoubles() const {
  std::vector<double> values(elements());
  auto convertHalf = [&](const llvm::fltSemantics &format) {
    auto stored = copy<uint16_t>();
    for (auto [word, value] : llvm::zip_equal(stored, values)) {
      llvm::APFloat number(format, llvm::APInt(16, word));
      bool losesInfo;
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      value = number.convertToDouble();
    }
  };
  auto convert = [&](auto zero) {
    auto stored = copy<decltype(zero)>();
    std::copy(stored.begin(), stored.end(), values.begin());
  };
  switch (type) {
  case ElementType::F32:
    convert(float());
    break;
  case ElementType::F64:
    convert(double());
    break;
  case ElementType::U8:
    convert(uint8_t());
    break;
  case ElementType::I32:
    convert(int32_t());
    break;
  case ElementType::I64:
    convert(int64_t());
    break;
  case ElementType::I16:
    convert(int16_t());
    break;
  case ElementType::I8:
    convert(int8_t());
    break;
  case ElementType::Bool:
    convert(uint8_t());
    break;
  case ElementType::F16:
    convertHalf(llvm::APFloat::IEEEhalf());
    break;
  case ElementType::BF16:
    convertHalf(llvm::APFloat::BFloat());
    break;
  }
  return values;
}

// ---- Reading

/// The header as JSON. A key that occurs twice in one object is refused: which of the two would count is undefined.
static llvm::Expected<Json> parseHeader(llvm::StringRef text) {
  std::vector<std::set<std::string>> keys; // of the objects that enclose the place at hand
  std::string repeated;
  auto watchKeys = [&](int, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      repeated = value.get<std::string>();
    return true;
  };
  try {
    Json header = Json::parse(text.begin(), text.end(), watchKeys);
    if (!repeated.empty())
      return failure("the header names '" + llvm::Twine(repeated) + "' twice");
    if (!header.is_object())
      return failure("the header is not a JSON object");
    return header;
  } catch (const Json::exception &error) {
    return failure("the header is not JSON: " + llvm::Twine(error.what()));
  }
}

/// A list of whole numbers from 0; nothing when it is anything else.
static std::optional<std::vector<int64_t>> wholeNumbers(const Json &entry, const char *field) {
  auto found = entry.find(field);
  if (found == entry.end() || !found->is_array())
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json &item : *found) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > uint64_t(INT64_MAX))
      return std::nullopt;
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

/// One tensor, and where its bytes lie in the data.
static llvm::Expected<StoredTensor> readTensor(const Json &entry, llvm::ArrayRef<char> data, int64_t &begin) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string())
    return failure("has no dtype");
  auto typeName = entry["dtype"].get<std::string>();
  auto *type = llvm::find_if(elementTypeNames, [&](auto &known) { return known.second == typeName; });
  if (type == std::end(elementTypeNames))
    return failure("has type " + llvm::Twine(typeName) +
                   ", expected one of F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL");
  auto shape = wholeNumbers(entry, "shape");
  if (!shape)
    return failure("has no shape of whole numbers");
  auto offsets = wholeNumbers(entry, "data_offsets");
  if (!offsets || offsets->size() != 2)
    return failure("has data_offsets that are not two whole numbers");
  begin = (*offsets)[0];
  int64_t end = (*offsets)[1];
  if (begin > end || uint64_t(end) > data.size())
    return failure("has data_offsets " + llvm::Twine(begin) + " and " + llvm::Twine(end) +
                   ", expected an ascending pair up to " + llvm::Twine(data.size()));
  uint64_t expected = bytesOf(type->first);
  for (int64_t extent : *shape)
    if (__builtin_mul_overflow(expected, uint64_t(extent), &expected))
      return failure("has a shape of more than 2^64 bytes");
  if (expected != uint64_t(end - begin))
    return failure("has " + llvm::Twine(end - begin) + " bytes, expected " + llvm::Twine(expected) + " for " +
                   describe(type->first, *shape));
  return StoredTensor{type->first, *shape, data.slice(begin, end - begin)};
}

llvm::Expected<SafetensorsFile> SafetensorsFile::parse(std::unique_ptr<llvm::MemoryBuffer> contents) {
  llvm::StringRef bytes = contents->getBuffer();
  if (bytes.size() < 8)
    return failure("the file has " + llvm::Twine(bytes.size()) + " bytes, expected at least 8");
  uint64_t headerBytes = llvm::support::endian::read64le(bytes.data());
  if (headerBytes > bytes.size() - 8)
    return failure("the header claims " + llvm::Twine(headerBytes) + " bytes, the file has " +
                   llvm::Twine(bytes.size() - 8) + " after the length");
  llvm::Expected<Json> header = parseHeader(bytes.substr(8, headerBytes));
  if (!header)
    return header.takeError();
  llvm::StringRef rest = bytes.substr(8 + headerBytes);

  SafetensorsFile file;
  std::vector<std::tuple<int64_t, int64_t, std::string>> extents; // begin, end, name
  for (auto &[name, entry] : header->items()) {
    if (name == "__metadata__") {
      if (!entry.is_object())
        return failure("__metadata__ is not an object");
      for (auto &[key, value] : entry.items()) {
        if (!value.is_string())
          return failure("metadata '" + llvm::Twine(key) + "' is not a string");
        file.metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    int64_t begin = 0;
    llvm::Expected<StoredTensor> tensor = readTensor(entry, {rest.data(), rest.size()}, begin);
    if (!tensor)
      return failure("tensor '" + llvm::Twine(name) + "' " + llvm::toString(tensor.takeError()));
    extents.emplace_back(begin, begin + int64_t(tensor->bytes.size()), name);
    file.tensors_[name] = std::move(*tensor);
  }

  llvm::sort(extents);
  int64_t covered = 0;
  for (auto &[begin, end, name] : extents) {
    if (begin != covered)
      return failure("tensor '" + llvm::Twine(name) + "' begins at byte " + llvm::Twine(begin) +
                     " of the data, expected " + llvm::Twine(covered));
    covered = end;
  }
  if (uint64_t(covered) != rest.size())
    return failure("the tensors cover " + llvm::Twine(covered) + " bytes of data, the file has " +
                   llvm::Twine(rest.size()));
  file.contents_ = std::move(contents);
  return file;
}

llvm::Expected<SafetensorsFile> SafetensorsFile::read(llvm::StringRef path) {
  auto contents = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!contents)
    return failure(path + ": " + contents.getError().message());
  llvm::Expected<SafetensorsFile> file = parse(std::move(*contents));
  if (!file)
    return failure(path + ": " + llvm::toString(file.takeError()));
  return file;
}

const StoredTensor *SafetensorsFile::find(const std::string &name) const {
  auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

// ---- Writing

void SafetensorsWriter::add(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> shape, const void *data) {
  size_t bytes = bytesOf(type);
  for (int64_t extent : shape)
    bytes *= extent;
  entries_.push_back({name.str(), type, shape.vec(), std::string(static_cast<const char *>(data), bytes)});
}

std::string SafetensorsWriter::bytes() const {
  std::vector<const Entry *> ordered;
  for (const Entry &entry : entries_)
    ordered.push_back(&entry);
  llvm::sort(ordered, [](const Entry *a, const Entry *b) {
    return std::pair(-int(bytesOf(a->type)), a->name) < std::pair(-int(bytesOf(b->type)), b->name);
  });
  Json header = Json::object();
  std::string data;
  for (const Entry *entry : ordered) {
    header[entry->name] = {{"dtype", nameOf(entry->type).str()},
                           {"shape", entry->shape},
                           {"data_offsets", {data.size(), data.size() + entry->data.size()}}};
    data += entry->data;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  char length[8];
  llvm::support::endian::write64le(length, text.size());
  return std::string(length, 8) + text + data;
}

llvm::Error SafetensorsWriter::write(llvm::StringRef path) const { return installText(bytes(), path); }

} // namespace burin
