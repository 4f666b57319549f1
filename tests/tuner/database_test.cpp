// The tuning database: what is written is read again, records are found by bucket, databases merge, and whatever a file
// holds, the rest of it is used and a warning names what is not.
#include "emit/tuned_schedules.h"
#include "schedules/tuner/cpu_name.h"
#include "schedules/tuner/database.h"
#include "schedules/tuner/row_buckets.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include <thread>

using namespace burin;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// A file that goes away with the test.
class File {
public:
  explicit File(llvm::StringRef text = "") {
    int descriptor;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("tuning", "json", descriptor, path_));
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  }
  ~File() { llvm::sys::fs::remove(path_); }
  std::string path() const { return path_.str().str(); }

private:
  llvm::SmallString<128> path_;
};

struct Read {
  TuningDatabase database;
  std::vector<std::string> warnings;
};

Read readFile(const std::string &path) {
  Read read;
  llvm::Expected<TuningDatabase> database = TuningDatabase::read(path, read.warnings);
  EXPECT_TRUE(bool(database)) << llvm::toString(database.takeError());
  if (database)
    read.database = std::move(*database);
  return read;
}

std::string record(const std::string &parameters, const std::string &more = "",
                   const std::string &kernel = "contract_1", const std::string &compiler = tuningCompilerVersion(),
                   const std::string &seconds = "1e-6") {
  return R"({"kernel": ")" + kernel +
         R"(", "about": "dense", "rows": "5-16", "target": "x86-64-avx2", "parameters": {)" + parameters +
         R"(}, "seconds": )" + seconds + R"(, "default_seconds": 2e-6, "date": "2025-01-31", "compiler": ")" +
         compiler + "\"" + more + "}";
}

std::string file(const std::string &records) { return R"({"cpu": "znver4", "records": [)" + records + "]}"; }

TuningRecord measured(double seconds, double defaultSeconds, int tileRows = 8, std::string date = "2025-01-31") {
  return {{{Parameter::tile_rows, tileRows}}, seconds, defaultSeconds, "dense", std::move(date)};
}

} // namespace

TEST(TuningDatabase, what_is_written_is_read_again) {
  TuningDatabase database("znver4");
  database.records[{"contract_1", "x86-64-avx2", 2}] = measured(1e-6, 2e-6);
  database.records[{"whole_2", "x86-64-avx512", 0}] = {{}, 5e-7, 5e-7, "(dense), \"relu\"\n", "2025-02-01"};
  File place;
  ASSERT_FALSE(bool(database.write(place.path())));
  Read again = readFile(place.path());
  EXPECT_THAT(again.warnings, IsEmpty());
  EXPECT_EQ(again.database.cpu, "znver4");
  ASSERT_EQ(again.database.records.size(), 2u);
  const TuningRecord &one = again.database.records[{"contract_1", "x86-64-avx2", 2}];
  EXPECT_EQ(one.parameters.text(), "tile_rows=8");
  EXPECT_DOUBLE_EQ(one.seconds, 1e-6);
  EXPECT_DOUBLE_EQ(one.defaultSeconds, 2e-6);
  EXPECT_EQ(one.date, "2025-01-31");
  EXPECT_EQ(again.database.records.count({"whole_2", "x86-64-avx512", 0}), 1u);
}

TEST(TuningDatabase, writing_into_no_folder_is_an_error_and_leaves_nothing) {
  llvm::Error error = TuningDatabase("znver4").write("/nowhere/tuned.json");
  EXPECT_THAT(llvm::toString(std::move(error)), HasSubstr("/nowhere/tuned.json"));
}

TEST(TuningDatabase, a_record_of_the_bucket_comes_before_a_neighbours_and_the_one_with_more_rows_first) {
  TuningDatabase database("znver4");
  auto found = [&](int bucket) { return database.find({"contract_1", "x86-64-avx2", bucket}).bucket; };
  EXPECT_EQ(found(3), -1);
  database.records[{"contract_1", "x86-64-avx2", 2}] = measured(1e-6, 2e-6);
  EXPECT_EQ(found(2), 2);
  EXPECT_EQ(found(3), 2);
  EXPECT_EQ(found(1), 2);
  EXPECT_EQ(found(4), -1) << "two buckets away is no neighbour";
  database.records[{"contract_1", "x86-64-avx2", 4}] = measured(1e-6, 2e-6);
  EXPECT_EQ(found(3), 4);
  EXPECT_EQ(found(6), 4) << "more rows than were tuned: the last record";
  EXPECT_EQ(database.find({"contract_1", "x86-64-avx512", 2}).record, nullptr) << "of another target";
  EXPECT_EQ(database.find({"contract_2", "x86-64-avx2", 2}).record, nullptr) << "of another kernel";
}

TEST(TuningDatabase, of_two_records_the_greater_gain_stays_and_of_equals_the_later) {
  RecordKey key{"contract_1", "x86-64-avx2", 2}, other{"contract_2", "x86-64-avx2", 2};
  TuningDatabase a("znver4"), b("znver4");
  a.records[key] = measured(1.0e-6, 2e-6, 8);
  b.records[key] = measured(0.9e-6, 1.2e-6, 4); // faster, on a faster day: the gain is smaller
  b.records[other] = measured(1e-6, 1e-6, 2);
  ASSERT_FALSE(bool(a.merge(b)));
  EXPECT_EQ(a.records.size(), 2u);
  EXPECT_EQ(a.records[key].parameters.text(), "tile_rows=8");
  TuningDatabase later("znver4");
  later.records[key] = measured(1.0e-6, 2e-6, 6, "2025-03-01");
  ASSERT_FALSE(bool(a.merge(later)));
  EXPECT_EQ(a.records[key].parameters.text(), "tile_rows=6");
  EXPECT_EQ(llvm::toString(a.merge(TuningDatabase("haswell"))),
            "databases of the CPUs 'znver4' and 'haswell' cannot be merged, expected one CPU");
}

// Two runs on one file: each reads, adds and writes, and neither overwrites what the other added meanwhile.
TEST(TuningDatabase, what_several_runs_write_at_the_same_time_is_all_kept) {
  File one;
  ASSERT_FALSE(bool(TuningDatabase("znver4").write(one.path())));
  constexpr int runs = 4, kernels = 8;
  std::vector<std::string> errors(runs);
  std::vector<std::thread> threads;
  for (int run = 0; run < runs; ++run)
    threads.emplace_back([&, run] {
      for (int kernel = 0; kernel < kernels; ++kernel)
        if (llvm::Error error = TuningDatabase::update(one.path(), "znver4", [&](TuningDatabase &database) {
              RecordKey key{"contract_" + std::to_string(run * kernels + kernel), "x86-64-avx2", 2};
              database.records[key] = measured(1e-6, 2e-6);
            }))
          errors[run] = llvm::toString(std::move(error));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(errors, testing::Each(IsEmpty()));
  Read read = readFile(one.path());
  EXPECT_THAT(read.warnings, IsEmpty());
  EXPECT_EQ(read.database.records.size(), size_t(runs * kernels));
}

TEST(TuningDatabase, a_file_of_another_cpu_is_not_written) {
  File one;
  ASSERT_FALSE(bool(TuningDatabase("znver4").write(one.path())));
  llvm::Error error = TuningDatabase::update(one.path(), "znver5", [](TuningDatabase &) {});
  EXPECT_THAT(llvm::toString(std::move(error)), HasSubstr("a database of CPU 'znver4', expected 'znver5'"));
  EXPECT_EQ(readFile(one.path()).database.cpu, "znver4");
}

// What is wrong with a record, and what the warning says of it. The good record behind it is read in every case.
TEST(TuningDatabase, a_bad_record_is_left_out_by_name_and_the_others_stay) {
  struct Case {
    std::string record, warning;
  };
  const std::string stale = record("", "", "contract_9", "burin 0.0.1, Halide 20.0.0, schedules 1");
  for (const Case &one : std::vector<Case>{
           {record("\"tile_rows\": 8", ", \"colour\": \"red\""), "unknown field 'colour'"},
           {record("\"tile_rows\": 99"), "tile_rows is 99, expected 1 to 32"},
           {record("\"tile_rows\": 0"), "tile_rows is 0, expected 1 to 32"},
           {record("\"tile_rows\": -9223372036854775808"), "tile_rows is -9223372036854775808"},
           {record("\"tile_rows\": 8.5"), "parameter 'tile_rows' is no integer"},
           {record("\"tile_rows\": 1e300"), "parameter 'tile_rows' is no integer"},
           {record("\"tile_columns\": 8"), "no parameter is named 'tile_columns'"},
           {stale, "stale: measured with 'burin 0.0.1, Halide 20.0.0, schedules 1'"},
           {record("", "", "contract_9", tuningCompilerVersion(), "0"), "field 'seconds'"},
           {record("", "", "contract_9", tuningCompilerVersion(), "-1"), "field 'seconds'"},
           {record("", "", "contract_9", tuningCompilerVersion(), "\"fast\""), "field 'seconds'"},
           {record("", "", std::string(1000, 'k')), "field 'kernel' has more than 256 characters"},
           {"{}", "field 'compiler' is missing"},
           {"17", "not an object"},
           {"null", "not an object"},
           {"[[]]", "not an object"},
           {record("", "", "contract_8") + "," + record("", "", "contract_8"), "a second record of the same"}}) {
    File damaged(file(one.record + "," + record("\"tile_rows\": 4", "", "contract_good")));
    Read read = readFile(damaged.path());
    ASSERT_THAT(read.warnings, ElementsAre(HasSubstr(one.warning))) << one.record;
    EXPECT_THAT(read.warnings[0], HasSubstr(damaged.path() + ": record ")) << one.record;
    EXPECT_EQ(read.database.records.count({"contract_good", "x86-64-avx2", 2}), 1u) << one.record;
  }
}

TEST(TuningDatabase, a_warning_shows_no_control_characters) {
  File damaged(file(record("\"a\\u001b[31m\": 1")));
  Read read = readFile(damaged.path());
  ASSERT_THAT(read.warnings, ElementsAre(HasSubstr("no parameter is named 'a?[31m'")));
}

TEST(TuningDatabase, a_file_that_is_no_database_is_one_warning) {
  const std::string whole = file(record("\"tile_rows\": 8"));
  std::vector<std::string> texts{"",
                                 "{",
                                 "[]",
                                 "true",
                                 "{\"cpu\": 1, \"records\": []}",
                                 "{\"cpu\": \"x\"}",
                                 std::string(100000, '['),
                                 "{\"cpu\": \"x\", \"records\": {}}",
                                 std::string("\0\xff", 2)};
  for (size_t bytes = 1; bytes < whole.size(); bytes += 7) // cut off anywhere
    texts.push_back(whole.substr(0, bytes));
  for (const std::string &text : texts) {
    File damaged(text);
    Read read = readFile(damaged.path());
    EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("no tuning database"))) << text.substr(0, 200);
    EXPECT_TRUE(read.database.records.empty());
  }
}

TEST(TuningDatabase, any_byte_may_be_damaged) {
  const std::string whole = file(record("\"tile_rows\": 8") + "," + record("\"tile_rows\": 4", "", "contract_2"));
  for (size_t place = 0; place < whole.size(); ++place)
    for (char byte : {'\0', '"', '9', '{', '\xff'}) {
      std::string damaged = whole;
      damaged[place] = byte;
      File at(damaged);
      Read read = readFile(at.path());
      EXPECT_LE(read.database.records.size(), 2u);
      for (auto &[key, one] : read.database.records)
        for (auto [parameter, value] : one.parameters.values())
          EXPECT_EQ(ScheduleParameters::check(rowOf(parameter).name, value), "") << damaged;
    }
}

TEST(TuningDatabase, a_missing_file_is_an_error) {
  std::vector<std::string> warnings;
  auto read = TuningDatabase::read("/nowhere/tuned.json", warnings);
  EXPECT_THAT(llvm::toString(read.takeError()), HasSubstr("/nowhere/tuned.json"));
}

TEST(RowBuckets, every_number_of_rows_is_in_one) {
  for (int64_t rows : {1, 2, 4, 5, 16, 17, 64, 65, 256, 257, 1024, 1025, 1 << 30}) {
    int bucket = bucketOf(rows);
    EXPECT_GE(rows, leastRowsOf(bucket));
    EXPECT_LE(rows, mostRowsOf(bucket));
    EXPECT_EQ(bucketNamed(bucketText(bucket)), bucket);
  }
  EXPECT_EQ(bucketText(bucketOf(3)), "2-4");
  EXPECT_EQ(bucketText(bucketOf(5000)), "1025-");
  EXPECT_FALSE(bucketNamed("2-5"));
}

TEST(CpuName, a_name_is_one_that_a_file_may_have) {
  EXPECT_EQ(*cpuNamed("znver4"), "znver4");
  EXPECT_EQ(*cpuNamed("host"), hostCpuName());
  for (const char *bad : {"", "../znver4", "a/b", ".hidden", "a b"})
    EXPECT_THAT(llvm::toString(cpuNamed(bad).takeError()), HasSubstr("expected a name such as znver4"));
}

TEST(TunedSchedules, an_explicit_target_takes_no_records_of_the_machine_that_compiles) {
  auto none = [](llvm::StringRef) {};
  EXPECT_EQ((*TunedSchedules::load({}, "x86-64-avx2", none)).cpu(), "");
  EXPECT_EQ((*TunedSchedules::load({}, "x86-64", none)).cpu(), "");
  EXPECT_EQ((*TunedSchedules::load({}, "host", none)).cpu(), hostCpuName());
  EXPECT_EQ((*TunedSchedules::load({"", "none"}, "host", none)).cpu(), "");
  EXPECT_EQ((*TunedSchedules::load({"haswell", ""}, "x86-64-avx2", none)).cpu(), "haswell");
  File own(file(record("\"tile_rows\": 8")));
  auto of = TunedSchedules::load({"", own.path()}, "x86-64-avx2", none);
  EXPECT_EQ(of->cpu(), "znver4");
  EXPECT_EQ(of->database().records.count({"contract_1", "x86-64-avx2", 2}), 1u);
  EXPECT_EQ(llvm::toString(TunedSchedules::load({"haswell", own.path()}, "x86-64-avx2", none).takeError()),
            own.path() + ": a database of CPU 'znver4', expected 'haswell'");
}

TEST(TunedSchedules, many_bad_records_are_a_few_warnings) {
  std::string records;
  for (int n = 0; n < 100; ++n)
    records += (n ? "," : "") + record("\"tile_rows\": 99", "", "contract_" + std::to_string(n));
  File bad(file(records));
  std::vector<std::string> warnings;
  ASSERT_TRUE(bool(TunedSchedules::load({"", bad.path()}, "x86-64-avx2",
                                        [&](llvm::StringRef warning) { warnings.push_back(warning.str()); })));
  ASSERT_EQ(warnings.size(), 6u);
  EXPECT_EQ(warnings[5], "tuning database: 95 more records are left out");
}

TEST(ScheduleParameters, text_is_read_again_and_mistakes_are_named) {
  std::string error;
  EXPECT_EQ(ScheduleParameters::parse("tile_rows=8, depth_unroll=2", error)->text(), "tile_rows=8,depth_unroll=2");
  EXPECT_TRUE(ScheduleParameters::parse("", error)->empty());
  for (auto [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"tile_rows", "'tile_rows', expected a parameter and its value, such as tile_rows=8"},
           {"tile_rows=x", "'tile_rows=x', expected a parameter and its value, such as tile_rows=8"},
           {"tile_rows=33", "tile_rows is 33, expected 1 to 32"},
           {"rows=1", "no parameter is named 'rows'"}}) {
    EXPECT_FALSE(ScheduleParameters::parse(text, error));
    EXPECT_EQ(error, expected);
  }
}
