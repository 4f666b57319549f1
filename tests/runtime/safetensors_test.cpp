// Every malformed weights file is refused with one sentence that names the tensor or field, and opens nothing.
#include "runtime_test.h"

#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>

using namespace burin_test;

namespace {

// The graph asks for one vector of two floats.
const burin_plan_parameter parameters[] = {{"a", 1, 0, {2, 1}}};
const burin_plan_segment segments[] = {{0, BURIN_PACK_VECTOR, 0, 0, 0, 0, 0}};
const burin_plan_entry no_calls = {};

burin_plan plan_of_one_vector() {
  burin_plan plan = {};
  plan.version = BURIN_PLAN_VERSION;
  plan.name = "one_vector";
  plan.target = "generic";
  plan.forward = &no_calls;
  plan.parameters = parameters;
  plan.parameter_count = 1;
  plan.segments = segments;
  plan.segment_count = 1;
  plan.weights_bytes = 64;
  return plan;
}

std::string with_length(uint64_t length, const std::string &rest) {
  return std::string(reinterpret_cast<const char *>(&length), 8) + rest;
}

// A file of one tensor 'a' with the given description.
std::string describing_a(const std::string &description, const std::string &data = std::string(8, '\0')) {
  return file_with("{\"a\":" + description + "}", data);
}

std::string a_at(const std::string &offsets, const std::string &data = std::string(8, '\0')) {
  return describing_a(R"({"dtype":"F32","shape":[2],"data_offsets":)" + offsets + "}", data);
}

std::string a_shaped(const std::string &shape) {
  return describing_a(R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,8]})");
}

const char good_a[] = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";

struct Malformed {
  const char *name;
  std::string file;
  const char *sentence;
};

void PrintTo(const Malformed &malformed, std::ostream *stream) { *stream << malformed.name; }

class MalformedFile : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedFile, is_refused_with_its_sentence) {
  Opened opened = open_bytes(plan_of_one_vector(), GetParam().file);
  EXPECT_EQ(opened.status, BURIN_FILE_MALFORMED);
  EXPECT_EQ(opened.message, GetParam().sentence);
  EXPECT_EQ(opened.model, nullptr);
}

const std::string data8(8, '\0');

const Malformed malformed[] = {
    {"empty", "", "the file has 0 bytes, too few for the length of a header"},
    {"seven_bytes", "1234567", "the file has 7 bytes, too few for the length of a header"},
    {"length_zero", with_length(0, data8), "the header length is 0"},
    {"length_all_ones", with_length(UINT64_MAX, "{}"),
     "the header length is 18446744073709551615, but the file has 2 bytes after it"},
    {"length_past_end", with_length(3, "{}"), "the header length is 3, but the file has 2 bytes after it"},
    {"begins_with_space", file_with(" {}"), "the header does not begin with '{'"},
    {"begins_with_list", file_with("[]"), "the header does not begin with '{'"},
    {"not_utf8", file_with("{\"\xFF\":1}"), "the header is not UTF-8 at byte 2"},
    {"utf8_cut", file_with("{\"\xC3\":1}"), "the header is not UTF-8 at byte 2"},
    {"utf8_overlong", file_with("{\"\xC0\x80\":1}"), "the header is not UTF-8 at byte 2"},
    {"utf8_surrogate", file_with("{\"\xED\xA0\x80\":1}"), "the header is not UTF-8 at byte 2"},
    {"utf8_cut_at_end", file_with("{\"\xF0\x9F"), "the header is not UTF-8 at byte 2"},
    {"unclosed", file_with("{"), "the header is not well-formed JSON at byte 1"},
    {"unclosed_after_tensor", file_with(std::string("{") + good_a, data8),
     "the header is not well-formed JSON at byte 53"},
    {"comma_at_end", file_with(std::string("{") + good_a + ",}", data8),
     "the header is not well-formed JSON at byte 54"},
    {"no_colon", file_with(R"({"a" 1})"), "the header is not well-formed JSON at byte 5"},
    {"name_unquoted", file_with(R"({a:1})"), "the header is not well-formed JSON at byte 1"},
    {"name_unclosed", file_with(R"({"a)"), "the header is not well-formed JSON at byte 3"},
    {"bad_escape", file_with(R"({"\x":1})"), "the header is not well-formed JSON at byte 4"},
    {"lone_surrogate", file_with(R"({"\ud800":1})"), "the header is not well-formed JSON at byte 8"},
    {"control_in_name", file_with("{\"a\n\":1}"), "the header is not well-formed JSON at byte 4"},
    {"trailing_text", file_with(std::string("{") + good_a + "} x", data8),
     "the header goes on after its closing brace, at byte 55"},
    {"trailing_zero", file_with(std::string("{") + good_a + "}" + std::string(1, '\0'), data8),
     "the header goes on after its closing brace, at byte 54"},
    {"tensor_is_number", describing_a("1"), "tensor 'a' is not described by an object"},
    {"deep_nesting", describing_a(std::string(100000, '[')), "tensor 'a' is not described by an object"},
    {"deep_objects", describing_a(R"({"x":{"x":{"x":)"), "tensor 'a' has the unknown field 'x'"},
    {"empty_description", describing_a("{}"), "the header is not well-formed JSON at byte 6"},
    {"no_dtype", describing_a(R"({"shape":[2],"data_offsets":[0,8]})"), "tensor 'a' has no field 'dtype'"},
    {"no_shape", describing_a(R"({"dtype":"F32","data_offsets":[0,8]})"), "tensor 'a' has no field 'shape'"},
    {"no_data_offsets", describing_a(R"({"dtype":"F32","shape":[2]})"), "tensor 'a' has no field 'data_offsets'"},
    {"field_twice", describing_a(R"({"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]})"),
     "tensor 'a' has twice the field 'shape'"},
    {"dtype_number", describing_a(R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})"),
     "the dtype of tensor 'a' is not a string"},
    {"dtype_unknown", describing_a(R"({"dtype":"Q7","shape":[2],"data_offsets":[0,8]})"),
     "tensor 'a' has the unknown dtype 'Q7'"},
    {"dtype_lower_case", describing_a(R"({"dtype":"f32","shape":[2],"data_offsets":[0,8]})"),
     "tensor 'a' has the unknown dtype 'f32'"},
    {"shape_number", a_shaped("2"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_negative", a_shaped("[-2]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_fraction", a_shaped("[2.0]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_exponent", a_shaped("[2e0]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_leading_zero", a_shaped("[02]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_string", a_shaped("[\"2\"]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_nested", a_shaped("[[2]]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_null", a_shaped("null"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_comma", a_shaped("[2,]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_past_int64", a_shaped("[9223372036854775808]"), "the shape of tensor 'a' is not a list of whole numbers"},
    {"shape_overflows", a_shaped("[4294967296,4294967296]"),
     "tensor 'a' has type F32 and shape [4294967296, 4294967296], which is no possible number of bytes"},
    {"bytes_overflow", a_shaped("[9223372036854775807]"),
     "tensor 'a' has type F32 and shape [9223372036854775807], which is no possible number of bytes"},
    {"nine_dimensions", a_shaped("[1,1,1,1,1,1,1,1,2]"), "tensor 'a' has more than 8 dimensions"},
    {"part_of_a_byte", describing_a(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", "12"),
     "tensor 'a' has type F4 and shape [3], which is no possible number of bytes"},
    {"shape_and_offsets_differ", a_shaped("[3]"),
     "tensor 'a' has type F32 and shape [3], that is 12 bytes, but its data_offsets span 8"},
    {"offsets_none", a_at("[]"), "the data_offsets of tensor 'a' hold 0 numbers, expected 2"},
    {"offsets_one", a_at("[8]"), "the data_offsets of tensor 'a' hold 1 number, expected 2"},
    {"offsets_three", a_at("[0,4,8]"), "the data_offsets of tensor 'a' hold 3 numbers, expected 2"},
    {"offsets_reversed", a_at("[8,0]"), "the data_offsets of tensor 'a' are reversed: [8, 0]"},
    {"offsets_negative", a_at("[-8,0]"), "the data_offsets of tensor 'a' are not a list of whole numbers"},
    {"offsets_huge", a_at("[0,18446744073709551616]"),
     "the data_offsets of tensor 'a' are not a list of whole numbers"},
    {"offsets_string", a_at("\"0,8\""), "the data_offsets of tensor 'a' are not a list of whole numbers"},
    {"past_the_end", a_at("[0,8]", "1234"),
     "the data_offsets of tensor 'a' end at 8, but the file has 4 bytes of data"},
    {"far_past_the_end", a_at("[9223372036854775799,9223372036854775807]"),
     "the data_offsets of tensor 'a' end at 9223372036854775807, but the file has 8 bytes of data"},
    {"gap_before", a_at("[4,12]", std::string(12, '\0')), "4 bytes of data before tensor 'a' belong to no tensor"},
    {"gap_after", a_at("[0,8]", std::string(9, '\0')), "the last 1 bytes of data belong to no tensor"},
    {"overlapping",
     file_with(std::string("{") + good_a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
               std::string(12, '\0')),
     "tensors 'a' and 'b' overlap in the data"},
    {"same_place",
     file_with(std::string("{") + good_a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", data8),
     "tensors 'a' and 'b' overlap in the data"},
    {"name_twice", file_with(std::string("{") + good_a + "," + good_a + "}", data8), "tensor 'a' appears twice"},
    {"name_twice_escaped",
     file_with(std::string("{") + good_a + R"(,"\u0061":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
               std::string(16, '\0')),
     "tensor 'a' appears twice"},
    {"metadata_twice", file_with(std::string(R"({"__metadata__":{},"__metadata__":{},)") + good_a + "}", data8),
     "the field '__metadata__' appears twice"},
    {"metadata_number", file_with(std::string(R"({"__metadata__":{"format":1},)") + good_a + "}", data8),
     "the field '__metadata__' is not an object of strings"},
    {"metadata_deep", file_with(R"({"__metadata__":{"x":)" + std::string(100000, '{')),
     "the field '__metadata__' is not an object of strings"},
    {"control_characters_in_name", file_with(R"({"a\u0000\n\u001b[2J":1})"),
     "tensor 'a???[2J' is not described by an object"},
};

INSTANTIATE_TEST_SUITE_P(Safetensors, MalformedFile, testing::ValuesIn(malformed),
                         [](const auto &info) { return std::string(info.param.name); });

// A file with a header of so much: pages of zeros that are never touched.
TEST(Safetensors, the_longest_header_is_bounded) {
  const size_t length = 100000001, bytes = 8 + length;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memcpy(memory, &length, 8);
  burin_open_options options = {};
  options.weights = memory;
  options.weights_bytes = bytes;
  Opened opened = open_with(plan_of_one_vector(), options);
  EXPECT_EQ(opened.status, BURIN_FILE_MALFORMED);
  EXPECT_EQ(opened.message, "the header length is 100000001, but at most 100000000 bytes are accepted");
  munmap(memory, bytes);
}

TEST(Safetensors, long_names_are_shortened_at_a_character) {
  std::string name;
  for (int i = 0; i < 100; ++i)
    name += "\u00e9";
  Opened opened = open_bytes(plan_of_one_vector(), file_with("{\"x" + name + "\":1}"));
  EXPECT_EQ(opened.message, "tensor 'x" + name.substr(0, 118) + "...' is not described by an object");
}

TEST(Safetensors, accepts_what_the_format_allows) {
  const std::string files[] = {
      file_with(std::string("{") + good_a + "}", float_bytes({1, 2})),
      file_with(std::string("{") + good_a + "}   \n", float_bytes({1, 2})),
      file_with(std::string("{ \"__metadata__\" : {\"format\":\"pt\", \"k\":\"\\\"{[\\u00e9\\ud83d\\ude00\"} ,\n") +
                    good_a + "\t}",
                float_bytes({1, 2})),
      file_with(R"({"\u0061":{"data_offsets":[0,8],"shape":[2],"dtype":"F32"}})", float_bytes({1, 2})),
  };
  for (const std::string &file : files) {
    Opened opened = open_bytes(plan_of_one_vector(), file);
    EXPECT_EQ(opened.status, BURIN_OK) << opened.message;
    EXPECT_EQ(opened.message, "");
  }
  Opened extra =
      open_bytes(plan_of_one_vector(),
                 file_with(std::string("{") + good_a + R"(,"scalar":{"dtype":"I64","shape":[],"data_offsets":[8,16]})" +
                               R"(,"none":{"dtype":"BF16","shape":[0,9],"data_offsets":[8,8]}})",
                           std::string(16, '\0')),
                 true);
  EXPECT_EQ(extra.status, BURIN_OK) << extra.message;
}

// Files near a good one: whatever a byte becomes, opening ends with a status and stays inside the file.
TEST(Safetensors, survives_damage_anywhere) {
  const std::string good =
      file_with(std::string(R"({"__metadata__":{"format":"pt\u00e9"},)") + good_a + "}", float_bytes({1, 2}));
  burin_plan plan = plan_of_one_vector();
  ASSERT_EQ(open_bytes(plan, good).status, BURIN_OK);
  for (size_t length = 0; length < good.size(); ++length) {
    AlignedMemory exact(length);
    std::memcpy(exact.data(), good.data(), length);
    EXPECT_NE(open_bytes(plan, std::string(good.data(), length)).status, BURIN_OK) << length;
  }
  const std::string likely = "{}[]\",:\\u0129-.eE \xFF\x80\xE0";
  std::mt19937 random(42);
  for (int round = 0; round < 20000; ++round) {
    std::string file = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      size_t place = random() % file.size();
      switch (random() % 3) {
      case 0:
        file[place] = likely[random() % likely.size()];
        break;
      case 1:
        file.erase(place, 1 + random() % 3);
        break;
      default:
        file.insert(place, 1, likely[random() % likely.size()]);
      }
      if (file.empty())
        break;
    }
    Opened opened = open_bytes(plan, file);
    EXPECT_EQ(opened.status == BURIN_OK, opened.message.empty()) << round;
    EXPECT_EQ(opened.status == BURIN_OK, opened.model != nullptr) << round;
  }
}

} // namespace
