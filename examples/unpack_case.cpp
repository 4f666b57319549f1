// What a C program takes from a golden case file (tests/golden): a header with its values, and the parameters as
// weights.
//
//     unpack_case mhsa_page.safetensors mhsa_page_case.h weights.safetensors
//
// In the header, `in.x` [4, 8] and `out.y` [4, 8] of the case are
//
//     static const float mhsa_page_in_x[4][8] = …;
//     static const double mhsa_page_out_y[4][8] = …;
//
// and so are the parameters, so that an example has real inputs and expected values without a line that reads files. In
// the weights file, `param.W_Q` is `W_Q`, as the model that the case is about names it.
#include "tools/safetensors_file.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace burin;

namespace {

struct CType {
  const char *name;
  const char *digits; // enough of them to give back the same bits
};

CType cType(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return {"float", "%.9g"};
  case ElementType::F64:
    return {"double", "%.17g"};
  case ElementType::I32:
    return {"int32_t", "%.0f"};
  case ElementType::U8:
    return {"uint8_t", "%.0f"};
  }
  return {};
}

/// An array's initialiser, a row per line.
void printValues(llvm::raw_ostream &out, const StoredTensor &tensor) {
  std::vector<double> values = tensor.toDoubles();
  const char *digits = cType(tensor.type).digits;
  bool isMatrix = tensor.shape.size() == 2;
  int64_t columns = isMatrix ? tensor.shape[1] : 16;
  for (size_t i = 0; i < values.size(); ++i) {
    bool first = i % columns == 0, last = (i + 1) % columns == 0 || i + 1 == values.size();
    out << (!first ? ", " : isMatrix ? "  {" : "  ") << llvm::format(digits, values[i]);
    if (last)
      out << (isMatrix ? "},\n" : ",\n");
  }
}

void printArray(llvm::raw_ostream &out, std::string name, const StoredTensor &tensor) {
  std::replace(name.begin(), name.end(), '.', '_');
  out << "static const " << cType(tensor.type).name << " " << name;
  for (int64_t extent : tensor.shape)
    out << "[" << extent << "]";
  out << " = {\n";
  printValues(out, tensor);
  out << "};\n\n";
}

llvm::Error unpack(llvm::StringRef casePath, llvm::StringRef headerPath, llvm::StringRef weightsPath) {
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::read(casePath);
  if (!file)
    return file.takeError();

  std::string name = llvm::sys::path::stem(casePath).str(), text;
  llvm::raw_string_ostream header(text);
  header << "/* Golden case " << name << ". Generated: do not edit. */\n#include <stdint.h>\n\n";
  SafetensorsWriter weights;
  for (const auto &[part, tensor] : file->tensors()) {
    printArray(header, name + "." + part, tensor);
    llvm::StringRef parameter = part;
    if (parameter.consume_front("param."))
      weights.add(parameter, tensor.type, tensor.shape, tensor.bytes.data());
  }

  std::error_code code;
  llvm::raw_fd_ostream out(headerPath, code);
  if (code)
    return llvm::createStringError(code, headerPath + ": " + code.message());
  out << text;
  return weights.write(weightsPath);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    llvm::errs() << "usage: unpack_case CASE.safetensors HEADER.h WEIGHTS.safetensors\n";
    return 2;
  }
  if (llvm::Error error = unpack(argv[1], argv[2], argv[3])) {
    llvm::errs() << "unpack_case: error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
