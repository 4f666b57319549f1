// Opening packed files: mapped, shared, and refused with one sentence wherever they are damaged or for something else.
#include "packed_weights.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace burin_test;

namespace {

// --- opening ---

TEST(PackedFile, has_the_weights_in_their_layout) {
  std::string file = good_file();
  EXPECT_EQ(file.size(), 4096u + 80);
  EXPECT_EQ(file.substr(0, 8), "BURINPK1");
  EXPECT_EQ(header_of(file).content, burin_hash(file.data() + 4096, 80, 0));
  EXPECT_STREQ(header_of(file).target, "x86-64-avx2");
  EXPECT_STREQ(header_of(file).model, "two_tensors");
  EXPECT_EQ(file, good_file()); // the same weights give the same bytes

  burin_plan plan = two_tensors_plan();
  TemporaryFile on_disk(file);
  Opened opened = open_path(plan, on_disk.path());
  ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
  EXPECT_EQ(weights_of(plan, opened), packed_weights);
  EXPECT_EQ(uintptr_t(opened.model->weights) % 64, 0u);
}

TEST(PackedFile, opens_with_every_option) {
  burin_plan plan = two_tensors_plan();
  std::string bytes = good_file();
  TemporaryFile on_disk(bytes);
  AlignedMemory aligned(bytes.size());
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  for (int choice = 0; choice < 64; ++choice) {
    burin_open_options options = {};
    options.verify_content = choice & 1;
    options.prefault = choice >> 1 & 1;
    options.copy = choice >> 2 & 1;
    options.weights_stay = choice >> 3 & 1;
    options.lock_memory = choice >> 4 & 1;
    if (choice & 32) {
      options.weights = aligned.data();
      options.weights_bytes = aligned.size();
    } else {
      options.weights_path = on_disk.name();
    }
    Opened opened = open_with(plan, options);
    ASSERT_EQ(opened.status, BURIN_OK) << choice << " " << opened.message;
    EXPECT_EQ(weights_of(plan, opened), packed_weights) << choice;
    bool in_memory = (choice & 32) && options.weights_stay && !options.copy;
    EXPECT_EQ(opened.model->weights == aligned.data() + 4096, in_memory) << choice;
  }
}

TEST(PackedFile, bytes_in_memory_may_lie_anywhere_when_they_are_copied) {
  burin_plan plan = two_tensors_plan();
  std::string file = good_file();
  AlignedMemory memory(file.size() + 1);
  std::memcpy(memory.data() + 1, file.data(), file.size());
  burin_open_options options = {};
  options.weights = memory.data() + 1;
  options.weights_bytes = file.size();
  Opened opened = open_with(plan, options);
  ASSERT_EQ(opened.status, BURIN_OK) << opened.message;
  EXPECT_EQ(weights_of(plan, opened), packed_weights);
  options.weights_stay = 1;
  opened = open_with(plan, options);
  EXPECT_EQ(opened.status, BURIN_MISALIGNED);
  EXPECT_EQ(opened.message, "the bytes of the packed file are to stay in place, but are not 64-byte aligned");
}

#if defined(__linux__)
// What /proc says of the mapping that holds the address: its permissions, and device and inode of its file.
std::string mapping_of(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char permissions[8] = "", place[128] = "";
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %7s %*s %100[^/]", &begin, &end, permissions, place) >=
            3 &&
        uintptr_t(address) >= begin && uintptr_t(address) < end)
      return std::string(permissions) + " " + place;
  }
  return "";
}

TEST(PackedFile, is_mapped_and_its_pages_are_the_file) {
  burin_plan plan = two_tensors_plan();
  TemporaryFile file(good_file());
  Opened first = open_path(plan, file.path()), second = open_path(plan, file.path());
  ASSERT_TRUE(first.model && second.model);
  EXPECT_NE(first.model->weights, second.model->weights); // two mappings,
  std::string mapping = mapping_of(first.model->weights);
  struct stat properties;
  ASSERT_EQ(stat(file.name(), &properties), 0);
  EXPECT_EQ(mapping.substr(0, 3), "r--") << mapping; // that nobody can write,
  EXPECT_NE(mapping.find(" " + std::to_string(properties.st_ino)), std::string::npos) << mapping; // of that file,
  EXPECT_EQ(mapping, mapping_of(second.model->weights));                                          // the same for both,
  const unsigned char *weights = first.model->weights;
  first.model.reset();
  EXPECT_EQ(mapping_of(weights), ""); // until they are closed.

  burin_open_options copy = {};
  copy.copy = 1;
  Opened copied = open_path(plan, file.path(), copy);
  EXPECT_EQ(mapping_of(copied.model->weights).find(std::to_string(properties.st_ino)), std::string::npos);
}
#endif

TEST(PackedFile, replaced_by_rename_the_open_model_keeps_its_weights) {
  burin_plan plan = two_tensors_plan();
  TemporaryFile file(good_file());
  Opened opened = open_path(plan, file.path());
  ASSERT_EQ(opened.status, BURIN_OK);
  std::string other = two_tensors();
  other.replace(other.size() - 4, 4, float_bytes({5}));
  ASSERT_EQ(pack_to(plan, other, file.path()), BURIN_OK);
  EXPECT_EQ(weights_of(plan, opened), packed_weights);
  EXPECT_EQ(weights_of(plan, open_path(plan, file.path()))[18], 5);
}

TEST(PackedFile, memory_that_may_not_be_locked_is_a_status) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer locks no memory";
#endif
  burin_plan plan = two_tensors_plan();
  TemporaryFile file(good_file());
  rlimit before, none;
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
  none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
  const bool is_root = geteuid() == 0; // who may lock all memory
  if (is_root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  burin_open_options options = {};
  options.lock_memory = 1;
  Opened opened = open_path(plan, file.path(), options);
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  setrlimit(RLIMIT_MEMLOCK, &before);
  EXPECT_EQ(opened.status, BURIN_MEMORY_NOT_LOCKED);
  EXPECT_EQ(opened.model, nullptr);
  EXPECT_EQ(opened.message, "80 bytes of weights cannot be locked in memory: Operation not permitted; "
                            "this process may lock 0 in all (RLIMIT_MEMLOCK)");
}

// --- what is refused ---

struct Damaged {
  const char *name;
  std::string file;
  burin_status status;
  std::string sentence;
};

void PrintTo(const Damaged &damaged, std::ostream *stream) { *stream << damaged.name; }

std::vector<Damaged> damaged_files() {
  const std::string good = good_file(), magic = "BURINPK1";
  const burin_packed_header header = header_of(good);
  std::string version = good, other_order = good, flipped = good;
  version[offsetof(burin_packed_header, version)] = 2;
  std::reverse(other_order.begin() + offsetof(burin_packed_header, byte_order),
               other_order.begin() + offsetof(burin_packed_header, byte_order) + 4);
  flipped[4095] = 1;
  const std::string right_layout = hash_text(burin_packed_layout([] {
    static burin_plan plan = two_tensors_plan();
    return &plan;
  }()));
  return {
      {"of_another_format", "BURINPK2" + good.substr(8), BURIN_FILE_MALFORMED,
       "the packed file begins with 'BURINPK2', expected 'BURINPK1'"},
      {"magic_cut", good.substr(0, 7), BURIN_FILE_MALFORMED,
       "the file has 7 bytes, too few for the length of a header"},
      {"magic_alone", magic, BURIN_FILE_MALFORMED, "the packed file has 8 bytes, fewer than the 4096 of its header"},
      {"header_cut", good.substr(0, 4095), BURIN_FILE_MALFORMED,
       "the packed file has 4095 bytes, fewer than the 4096 of its header"},
      {"no_weights", good.substr(0, 4096), BURIN_FILE_MALFORMED,
       "the packed file has 0 bytes of weights, but its header says 80"},
      {"weights_cut", good.substr(0, good.size() - 1), BURIN_FILE_MALFORMED,
       "the packed file has 79 bytes of weights, but its header says 80"},
      {"weights_too_long", good + '\0', BURIN_FILE_MALFORMED,
       "the packed file has 81 bytes of weights, but its header says 80"},
      {"of_a_later_version", version, BURIN_FILE_MALFORMED,
       "the packed file has format version 2, this runtime reads version 1"},
      {"of_another_byte_order", other_order, BURIN_FILE_MALFORMED,
       "the packed file has another byte order than this processor: its mark is 0000000004030201, expected "
       "0000000001020304"},
      {"header_flipped", flipped, BURIN_FILE_MALFORMED,
       "the header of the packed file is damaged: its checksum is " + hash_text(checksum_of(header_of(flipped))) +
           ", expected " + hash_text(header.checksum)},
      {"zeros_after_the_magic", magic + std::string(good.size() - 8, '\0'), BURIN_FILE_MALFORMED,
       "the packed file has another byte order than this processor: its mark is 0000000000000000, expected "
       "0000000001020304"},
      {"size_past_everything", with_header(good, [](auto &h) { h.weights_bytes = UINT64_MAX; }), BURIN_FILE_MALFORMED,
       "the packed file has 80 bytes of weights, but its header says 18446744073709551615"},
      {"size_of_another_plan", with_header(good, [](auto &h) { h.weights_bytes = 16; }).substr(0, 4112),
       BURIN_WEIGHTS_MISMATCH,
       "the packed file is for model 'two_tensors' with weights of layout " + right_layout +
           ", expected model 'two_tensors' with layout " + right_layout},
      {"for_another_target", with_header(good, [](auto &h) { std::strcpy(h.target, "x86-64-avx512"); }),
       BURIN_WEIGHTS_MISMATCH, "the packed file is for target 'x86-64-avx512', expected 'x86-64-avx2'"},
      {"target_without_end", with_header(good, [](auto &h) { std::memset(h.target, 'x', sizeof h.target); }),
       BURIN_WEIGHTS_MISMATCH, "the packed file is for target '" + std::string(64, 'x') + "', expected 'x86-64-avx2'"},
      {"of_another_layout",
       with_header(good,
                   [](auto &h) {
                     h.layout = 0xABC;
                     std::strcpy(h.model, "other\n");
                   }),
       BURIN_WEIGHTS_MISMATCH,
       "the packed file is for model 'other?' with weights of layout 0000000000000abc, expected model 'two_tensors' "
       "with layout " +
           right_layout},
  };
}

class DamagedFile : public testing::TestWithParam<size_t> {};

TEST_P(DamagedFile, is_refused_with_its_sentence) {
  const Damaged damaged = damaged_files()[GetParam()];
  SCOPED_TRACE(damaged.name);
  burin_plan plan = two_tensors_plan();
  TemporaryFile file(damaged.file);
  burin_open_options bytes = {};
  bytes.weights = damaged.file.data();
  bytes.weights_bytes = damaged.file.size();
  for (const Opened &opened : {open_path(plan, file.path()), open_with(plan, bytes)}) {
    EXPECT_EQ(opened.status, damaged.status);
    EXPECT_EQ(opened.message, damaged.sentence);
    EXPECT_EQ(opened.model, nullptr);
  }
}
INSTANTIATE_TEST_SUITE_P(, DamagedFile, testing::Range(size_t(0), size_t(16)));

TEST(PackedFile, every_damaged_file_is_tried) { EXPECT_EQ(damaged_files().size(), 16u); }

TEST(PackedFile, the_layout_knows_every_table) {
  const burin_plan plan = two_tensors_plan();
  TemporaryFile file(good_file());
  auto status_of = [&](const burin_plan &changed) { return open_path(changed, file.path()).status; };
  burin_plan changed = plan;
  changed.name = "renamed";  // the graph's name and
  changed.fingerprint = 999; // what it computes are not the weights' business
  EXPECT_EQ(status_of(changed), BURIN_OK);

  std::vector<burin_plan_parameter> tensors(two_parameters, two_parameters + 2);
  changed.parameters = tensors.data();
  for (auto change : {+[](burin_plan_parameter &p) { p.name = "b2"; }, +[](burin_plan_parameter &p) { p.rank = 2; },
                      +[](burin_plan_parameter &p) { p.shape[0] = 4; }}) {
    tensors.assign(two_parameters, two_parameters + 2);
    EXPECT_EQ(status_of(changed), BURIN_OK);
    change(tensors[1]);
    EXPECT_EQ(status_of(changed), BURIN_WEIGHTS_MISMATCH);
  }
  changed = plan;
  std::vector<burin_plan_segment> copies;
  changed.segments = (copies.assign(two_segments, two_segments + 2), copies.data());
  for (auto change : {+[](burin_plan_segment &s) { s.parameter = 1; }, +[](burin_plan_segment &s) { s.layout = 2; },
                      +[](burin_plan_segment &s) { s.transposed = 0; }, +[](burin_plan_segment &s) { s.panel = 4; },
                      +[](burin_plan_segment &s) { s.rows = 3; }, +[](burin_plan_segment &s) { s.column = 1; },
                      +[](burin_plan_segment &s) { s.destination = 64; }}) {
    copies.assign(two_segments, two_segments + 2);
    EXPECT_EQ(status_of(changed), BURIN_OK);
    change(copies[0]);
    EXPECT_EQ(status_of(changed), BURIN_WEIGHTS_MISMATCH);
  }
  changed = plan;
  changed.weights_bytes = 96;
  EXPECT_EQ(status_of(changed), BURIN_WEIGHTS_MISMATCH);
}

// --- damage anywhere ---

TEST(PackedFile, survives_damage_anywhere) {
  burin_plan plan = two_tensors_plan();
  const std::string good = good_file();
  auto open_exactly = [&](const std::string &file, int verify) {
    AlignedMemory exact(file.size()); // a sanitizer sees the first byte past it
    std::memcpy(exact.data(), file.data(), file.size());
    burin_open_options options = {};
    options.weights = exact.data();
    options.weights_bytes = exact.size();
    options.verify_content = verify;
    Opened opened = open_with(plan, options);
    EXPECT_EQ(opened.status == BURIN_OK, opened.message.empty());
    EXPECT_EQ(opened.status == BURIN_OK, opened.model != nullptr);
    return opened.status;
  };
  for (size_t length = 0; length < good.size(); length += length < 300 || length > 4000 ? 1 : 61)
    EXPECT_NE(open_exactly(good.substr(0, length), 0), BURIN_OK) << length;
  for (size_t place = 0; place < good.size(); place += place < 300 || place > 4000 ? 1 : 61)
    for (int bit = 0; bit < 8; ++bit) {
      std::string file = good;
      file[place] = char(file[place] ^ 1 << bit);
      EXPECT_NE(open_exactly(file, 1), BURIN_OK) << place;
    }
  std::mt19937 random(42);
  for (int round = 0; round < 3000; ++round) { // a header that says anything, and a checksum that fits it
    std::string file = with_header(good, [&](burin_packed_header &header) {
      auto *bytes = reinterpret_cast<unsigned char *>(&header);
      for (unsigned changes = 1 + random() % 4; changes > 0; --changes)
        bytes[16 + random() % 240] = static_cast<unsigned char>(random());
    });
    file.resize(4096 + random() % 3 * 40);
    open_exactly(file, int(random() % 2));
  }
}

} // namespace
