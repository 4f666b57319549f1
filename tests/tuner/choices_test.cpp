// The choices of a graph as data: what a pass is told, what a record holds, what a plan gets.
#include "emit/tuned_schedules.h"
#include "schedules/choices.h"
#include "schedules/parallel_grain.h"
#include "schedules/tuner/database.h"
#include "schedules/tuner/row_buckets.h"
#include "tuner/acceptance.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace burin;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// What reading a file with this one record gives.
std::pair<TuningDatabase, std::vector<std::string>> readRecord(const std::string &kernel, const std::string &rows,
                                                               const std::string &parameters) {
  int descriptor;
  llvm::SmallString<128> path;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("choices", "json", descriptor, path));
  llvm::scope_exit remove([&] { llvm::sys::fs::remove(path); });
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true)
      << R"({"cpu": "znver4", "records": [{"kernel": ")" << kernel << R"(", "about": "2 threads", "rows": ")" << rows
      << R"(", "target": "x86-64-avx2", "parameters": {)" << parameters
      << R"(}, "seconds": 1e-6, "default_seconds": 2e-6, "date": "2025-01-31", "compiler": ")"
      << tuningCompilerVersion() << "\"}]}";
  std::vector<std::string> warnings;
  auto database = TuningDatabase::read(path, warnings);
  EXPECT_TRUE(bool(database)) << llvm::toString(database.takeError());
  return {database ? *database : TuningDatabase(), warnings};
}

} // namespace

TEST(GraphChoices, their_text_is_read_again) {
  std::map<std::string, GraphChoices> choices = {
      {"append.state", {{Choice::norm_in_contract, 0}}},
      {"step", {{Choice::whole_step, 0}, {Choice::residual_in_contract, 1}}}};
  std::string text = choicesText(choices), error;
  EXPECT_EQ(text, "append.state.norm_in_contract=0,step.whole_step=0,step.residual_in_contract=1");
  EXPECT_EQ(parseChoices(text, error), choices) << error;
  EXPECT_EQ(parseChoices("", error), (std::map<std::string, GraphChoices>()));
}

TEST(GraphChoices, what_is_none_is_an_error_that_says_why) {
  std::string error;
  for (auto [text, expected] : std::vector<std::pair<const char *, const char *>>{
           {"step.whole_step=2", "whole_step is 2, expected 0 to 1"},
           {"step.whole_step=-1", "whole_step is -1, expected 0 to 1"},
           {"step.colour=1", "no choice is named 'colour'"},
           {"whole_step=1", "'whole_step=1', expected an entry, a choice and its value"},
           {"step.whole_step", "'step.whole_step', expected"},
           {"step.whole_step=many", "'step.whole_step=many', expected"},
           {"step.whole_step=99999999999999999999", "expected an entry, a choice and its value"}}) {
    EXPECT_FALSE(parseChoices(text, error)) << text;
    EXPECT_THAT(error, HasSubstr(expected));
  }
}

TEST(GraphChoices, every_value_that_a_search_tries_is_in_its_range) {
  for (const ChoiceRow &row : allChoices()) {
    EXPECT_EQ(findChoice(row.name), &row);
    for (int64_t value : row.values)
      EXPECT_EQ(GraphChoices::check(row.name, value), "");
  }
}

TEST(GraphChoices, a_record_of_a_graph_is_written_and_read_again) {
  TuningDatabase database("znver4");
  RecordKey key{"step_1", "x86-64-avx2", anyRows};
  database.records[key] = {{}, 1e-6, 2e-6, "the kernels of step", "2025-01-31", {{Choice::whole_step, 0}}};
  llvm::SmallString<128> path;
  int descriptor;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("choices", "json", descriptor, path));
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true).flush();
  llvm::scope_exit remove([&] { llvm::sys::fs::remove(path); });
  ASSERT_FALSE(bool(database.write(path)));
  std::vector<std::string> warnings;
  auto again = TuningDatabase::read(path, warnings);
  ASSERT_TRUE(bool(again));
  EXPECT_THAT(warnings, IsEmpty());
  ASSERT_EQ(again->records.count(key), 1u);
  EXPECT_EQ(again->records[key].choices.text(), "whole_step=0");
  EXPECT_TRUE(again->records[key].parameters.empty());
}

TEST(GraphChoices, a_damaged_record_is_left_out_by_name) {
  auto [good, none] = readRecord("parallel", "any", "\"worker_work\": 25000");
  EXPECT_THAT(none, IsEmpty());
  EXPECT_EQ(good.records.size(), 1u);
  for (auto [parameters, warning] : std::vector<std::pair<const char *, const char *>>{
           {"\"worker_work\": 0", "worker_work is 0, expected 1000 to 1000000000"},
           {"\"entry_work\": -5", "entry_work is -5, expected 0 to 1000000000"},
           {"\"whole_step\": 2", "whole_step is 2, expected 0 to 1"},
           {"\"worker_work\": 2.5e4", "parameter 'worker_work' is no integer"}}) {
    auto [bad, warnings] = readRecord("parallel", "any", parameters);
    EXPECT_THAT(bad.records, IsEmpty());
    ASSERT_THAT(warnings, ElementsAre(HasSubstr(warning)));
    EXPECT_THAT(warnings[0], HasSubstr("parallel any x86-64-avx2 is left out"));
  }
}

TEST(GraphChoices, a_kernel_takes_no_record_that_is_of_no_bucket) {
  TuningDatabase database = readRecord("contract_1", "any", "\"tile_rows\": 3").first;
  ASSERT_EQ(database.records.size(), 1u);
  EXPECT_EQ(database.find({"contract_1", "x86-64-avx2", 0}).record, nullptr);
}

TEST(GraphChoices, a_grain_is_what_a_record_says_and_the_rest_is_derived) {
  const Target &target = *findTarget("x86-64-avx2");
  TunedSchedules tuned(readRecord("parallel", "any", "\"entry_work\": 250000").first);
  EXPECT_EQ(tuned.grain(target), (ParallelGrain{ParallelGrain().workerWork, 250000}));
  EXPECT_EQ(tuned.grain(*findTarget("x86-64-avx512")), ParallelGrain()) << "a record of another target";
  EXPECT_EQ(TunedSchedules().grain(target), ParallelGrain());
}

TEST(GraphChoices, a_pass_is_told_of_the_records_of_its_graph_and_target_alone) {
  const Target &target = *findTarget("x86-64-avx2");
  TunedSchedules tuned(readRecord("step_5d81", "any", "\"whole_step\": 0").first);
  EXPECT_EQ(tuned.choices("5d81", target), "step.whole_step=0");
  EXPECT_EQ(tuned.choices("5d82", target), "");
  EXPECT_EQ(tuned.choices("5d81", *findTarget("x86-64-avx512")), "");
}

TEST(Acceptance, a_winner_is_faster_over_all_sizes_and_slower_at_none) {
  const std::vector<double> defaults = {1, 2, 4};
  EXPECT_TRUE(isBetter({0.9, 1.8, 3.6}, defaults, {0, 1, 2}));
  EXPECT_TRUE(isBetter({0.9, 2.0, 4.0}, defaults, {0, 1, 2}));
  EXPECT_FALSE(isBetter({0.99, 1.98, 3.96}, defaults, {0, 1, 2})) << "within the noise";
  EXPECT_FALSE(isBetter({0.5, 1.0, 4.1}, defaults, {0, 1, 2})) << "slower at the last";
  EXPECT_TRUE(isBetter({0.5, 1.0, 4.1}, defaults, {0, 1})) << "which is not asked for";
  EXPECT_FALSE(isBetter({0.97, 1.94, 3.88}, defaults, {0, 1, 2}, 1.05)) << "less than is asked for";
  EXPECT_FALSE(isBetter({0.5, NAN, 1.0}, defaults, {0, 1, 2})) << "not measured";
  EXPECT_FALSE(isBetter({INFINITY, 1.0, 1.0}, defaults, {0, 1, 2})) << "not measured";
}
