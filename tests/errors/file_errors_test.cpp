// What the tool says of files that are not what they should be: tensors, golden cases. A row each.
#include "tools/golden_case.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace burin;

namespace {

std::string fileOf(const std::string &header, const std::string &data = "") {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header + data;
}

class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes) {
    path_ = testing::TempDir() + "burin_file_errors_" + std::to_string(getpid());
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

template <typename T> std::string saidOf(llvm::Expected<T> result, const std::string &path) {
  if (result)
    return "";
  std::string text = llvm::toString(result.takeError());
  EXPECT_EQ(text.find(path), 0u) << text << ": it does not begin with the file";
  return text.substr(std::min(text.size(), path.size() + 2));
}

struct Row {
  const char *name;
  std::string bytes, sentence;
};
void PrintTo(const Row &row, std::ostream *stream) { *stream << row.name; }
std::string nameOf(const testing::TestParamInfo<Row> &row) { return row.param.name; }

// ---- Tensors

std::string tensor(const std::string &fields) { return fileOf("{\"x\":{" + fields + "}}", std::string(4, '\0')); }

const Row tensors[] = {
    {"seven_bytes", std::string(7, '\0'), "the file has 7 bytes, expected at least 8"},
    {"length_past_the_end", std::string(8, '\xff') + "{}",
     "the header claims 18446744073709551615 bytes, the file has 2 after the length"},
    {"no_json", fileOf("{"), "the header is not JSON: "},
    {"no_object", fileOf("[]"), "the header is not a JSON object"},
    {"twice", fileOf(R"({"x":{},"x":{}})"), "the header names 'x' twice"},
    {"no_dtype", tensor(R"("shape":[1])"), "tensor 'x' has no dtype"},
    {"unknown_dtype", tensor(R"("dtype":"F31")"),
     "tensor 'x' has type F31, expected one of F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL"},
    {"shape", tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "tensor 'x' has no shape of whole numbers"},
    {"offsets_of_one", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"),
     "tensor 'x' has data_offsets that are not two whole numbers"},
    {"offsets_reversed", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"),
     "tensor 'x' has data_offsets 4 and 0, expected an ascending pair up to 4"},
    {"shape_that_overflows", tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"),
     "tensor 'x' has a shape of more than 2^64 bytes"},
    {"size", tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
     "tensor 'x' has 4 bytes, expected 8 for f32[2]"},
    {"gap", fileOf(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", std::string(8, '\0')),
     "tensor 'x' begins at byte 4 of the data, expected 0"},
    {"rest", fileOf(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", std::string(8, '\0')),
     "the tensors cover 4 bytes of data, the file has 8"},
    {"metadata", fileOf(R"({"__metadata__":1})"), "__metadata__ is not an object"},
    {"metadata_number", fileOf(R"({"__metadata__":{"op":1}})"), "metadata 'op' is not a string"},
};

class TensorFile : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(, TensorFile, testing::ValuesIn(tensors), nameOf);

TEST_P(TensorFile, IsRefusedWithItsSentence) {
  TemporaryFile file(GetParam().bytes);
  std::string said = saidOf(SafetensorsFile::read(file.path()), file.path());
  EXPECT_EQ(said.substr(0, GetParam().sentence.size()), GetParam().sentence);
  EXPECT_TRUE(said == GetParam().sentence || GetParam().sentence.back() == ' ') << said;
}

// ---- Golden cases

std::string caseOf(const std::string &metadata, const std::string &inputs = "", const std::string &data = "") {
  return fileOf("{\"__metadata__\":{" + metadata + "}" + inputs + "}", data);
}

const Row cases[] = {
    {"neither", caseOf(R"("source":"here")"), "metadata has neither 'op' nor 'graph', expected one of them"},
    {"both", caseOf(R"("op":"sinusoidal_positions","graph":"module {}")"),
     "metadata has both 'op' and 'graph', expected one of them"},
    {"args", caseOf(R"("op":"sinusoidal_positions","args":"[1]")"), "metadata 'args' is not a JSON object"},
};

class CaseFile : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(, CaseFile, testing::ValuesIn(cases), nameOf);

TEST_P(CaseFile, IsRefusedWithItsSentence) {
  TemporaryFile file(GetParam().bytes);
  EXPECT_EQ(saidOf(GoldenCase::read(file.path()), file.path()), GetParam().sentence);
}

/// A case of a graph of rows of one feature, of at most 4.
std::string meanCase(const std::string &args, const std::string &inputs, const std::string &data) {
  return caseOf(R"("args":")" + args +
                    R"(","graph":"#t = #encoder.rows<\"time\", 4>\nmodule @m { func.func @forward(%x: )"
                    R"(tensor<?x1xf32, #t> {encoder.name = \"x\"}) -> (tensor<?x1xf32, #t> {encoder.name = \"y\"}) { )"
                    R"(%y = encoder.relu %x : tensor<?x1xf32, #t> return %y : tensor<?x1xf32, #t> } }")",
                inputs, data);
}
std::string input(const char *name, const char *type, int rows, const char *shape, int begin) {
  return std::string(",\"in.") + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(begin + 4 * rows) + "]}";
}
std::string words(std::vector<int32_t> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(int32_t)};
}

const Row sequences[] = {
    {"no_rows", meanCase("{}", "", ""), "args has no 'time' and no 'length', so the rows are not known"},
    {"too_long", meanCase("{}", input("x", "F32", 5, "[5,1]", 0), words({0, 0, 0, 0, 0})),
     "in.x asks for 5 rows of 'time', expected 0 to 4"},
    {"too_long_by_args", meanCase("{\\\"length\\\": 9}", input("x", "F32", 1, "[1,1]", 0), words({0})),
     "args asks for 9 rows of 'time', expected 0 to 4"},
    {"no_offsets", meanCase("{\\\"sequences\\\": 2}", input("x", "F32", 1, "[1,1]", 0), words({0})),
     "'in.offsets' is missing: args says 2 sequences"},
    {"offsets_of_floats", meanCase("{}", input("offsets", "F32", 2, "[2]", 0), words({0, 0})),
     "in.offsets is f32[2], expected i32[sequences + 1]"},
    {"another_number", meanCase("{\\\"sequences\\\": 2}", input("offsets", "I32", 2, "[2]", 0), words({0, 1})),
     "in.offsets has 1 sequences, args says 2"},
    {"first_offset", meanCase("{}", input("offsets", "I32", 2, "[2]", 0), words({1, 1})),
     "in.offsets begins with 1, expected 0"},
    {"long_sequence", meanCase("{}", input("offsets", "I32", 3, "[3]", 0), words({0, 1, 6})),
     "in.offsets gives sequence 1 5 rows, expected 0 to 4"},
};

class CaseSequences : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(, CaseSequences, testing::ValuesIn(sequences), nameOf);

TEST_P(CaseSequences, AreRefusedWithTheirSentence) {
  TemporaryFile file(GetParam().bytes);
  llvm::Expected<GoldenCase> read = GoldenCase::read(file.path());
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  llvm::Expected<LoadedGraph> graph = read->buildGraph();
  ASSERT_TRUE(bool(graph)) << llvm::toString(graph.takeError());
  llvm::Error error = read->fit(signatureOf(graph->module()));
  ASSERT_TRUE(bool(error));
  EXPECT_NE(llvm::toString(std::move(error)).find(GetParam().sentence), std::string::npos);
}

} // namespace
