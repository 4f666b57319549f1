// What --target takes, and what it says of what it does not know.
#include "emit/target_list.h"
#include "schedules/target_features.h"
#include "gtest/gtest.h"

using namespace burin;

static std::vector<std::string> namesOf(llvm::StringRef list) {
  llvm::Expected<std::vector<const Target *>> targets = targetsNamed(list);
  if (!targets)
    return {llvm::toString(targets.takeError())};
  std::vector<std::string> names;
  for (const Target *target : *targets)
    names.push_back(target->name.str());
  return names;
}

using Names = std::vector<std::string>;

TEST(TargetList, one_or_several_the_preferred_first_and_each_once) {
  EXPECT_EQ(namesOf("x86-64-avx2"), Names({"x86-64-avx2"}));
  EXPECT_EQ(namesOf("x86-64"), Names({"x86-64-avx512", "x86-64-avx2", "x86-64-sse41"}));
  EXPECT_EQ(namesOf("x86-64-sse41,x86-64-avx2"), Names({"x86-64-avx2", "x86-64-sse41"}));
  EXPECT_EQ(namesOf("x86-64-sse41, x86-64-avx2, x86-64-sse41"), Names({"x86-64-avx2", "x86-64-sse41"}));
  EXPECT_EQ(namesOf("x86-64,generic-x86-64"),
            Names({"x86-64-avx512", "x86-64-avx2", "x86-64-sse41", "generic-x86-64"}));
}

TEST(TargetList, host_is_the_preferred_of_those_that_run_here) {
  if (!hostTarget())
    GTEST_SKIP() << "this machine runs none of the targets";
  EXPECT_EQ(namesOf("host"), Names({hostTarget()->name.str()}));
}

TEST(TargetList, an_unknown_name_gets_the_nearest) {
  EXPECT_EQ(namesOf("x86-64-avx3"),
            Names({"target 'x86-64-avx3' is not known; near it is x86-64-avx2; `burin targets` lists all"}));
  EXPECT_EQ(namesOf("x86-64-sse"),
            Names({"target 'x86-64-sse' is not known; near it is x86-64-sse41; `burin targets` lists all"}));
  EXPECT_EQ(namesOf("x86-64-avx2,hosts"),
            Names({"target 'hosts' is not known; near it is host; `burin targets` lists all"}));
  EXPECT_EQ(namesOf("quantum"), Names({"target 'quantum' is not known; `burin targets` lists all"}));
  EXPECT_EQ(namesOf(""), Names({"target '' is not known; `burin targets` lists all"}));
}

TEST(TargetList, an_option_gives_a_row_another_feature_and_its_own_value_gives_the_row) {
  ASSERT_FALSE(allTargetOptions().empty());
  for (const TargetOption &option : allTargetOptions()) {
    const Target *row = findTarget(option.target);
    ASSERT_NE(row, nullptr) << option.target.str();
    int own = 0;
    for (llvm::StringRef value : option.values) {
      std::string name = nameWithOption(option, value);
      const Target *target = findTarget(name);
      ASSERT_NE(target, nullptr) << name;
      EXPECT_TRUE((target->halide + "-").str().find((option.feature + value + "-").str()) != std::string::npos)
          << name << ": " << target->halide.str();
      EXPECT_EQ(target->triple, row->triple) << name;
      own += target == row;
      if (target != row) {
        EXPECT_EQ(target->name, name);
      }
    }
    EXPECT_EQ(own, 1) << "the value of the row of " << option.target.str() << " is one of those of "
                      << option.name.str();
  }
}

TEST(TargetList, an_option_that_a_target_has_not_gets_those_that_it_has) {
  for (const TargetOption &option : allTargetOptions()) {
    std::string given = (option.target + "-something_else").str(), all;
    for (auto [index, value] : llvm::enumerate(option.values))
      all += (index == 0 ? "" : index + 1 == option.values.size() ? " and " : ", ") + nameWithOption(option, value);
    EXPECT_EQ(namesOf(given),
              Names({"target '" + given + "' is not known; near it are " + all + "; `burin targets` lists all"}));
  }
}

TEST(TargetList, two_values_of_an_option_are_refused_in_one_object) {
  for (const TargetOption &option : allTargetOptions()) {
    std::string one = option.target.str(), other;
    for (llvm::StringRef value : option.values)
      if (findTarget(nameWithOption(option, value)) != findTarget(one))
        other = nameWithOption(option, value);
    EXPECT_EQ(namesOf(one + "," + other),
              Names({"targets " + one + " and " + other +
                     " cannot be in one object: they are one target with two values of an option; compile once for "
                     "each"}));
  }
}

TEST(TargetList, a_feature_is_asked_of_the_processor_besides_what_the_row_needs) {
  ASSERT_FALSE(allTargetFeatures().empty());
  for (const TargetFeature &feature : allTargetFeatures()) {
    const Target *row = findTarget(feature.target), *target = findTarget(nameWithFeature(feature));
    ASSERT_NE(row, nullptr) << feature.target.str();
    ASSERT_NE(target, nullptr) << nameWithFeature(feature);
    EXPECT_EQ(target->row, row);
    EXPECT_EQ(target->halide, (row->halide + "-" + feature.halide).str());
    EXPECT_GT(target->cpuBits.size(), row->cpuBits.size());
    EXPECT_TRUE(sharesNumericForm(*target, *row));
    // Opening can choose, and tries the feature first.
    EXPECT_EQ(namesOf((row->name + "," + target->name).str()), Names({target->name.str(), row->name.str()}));
  }
}

TEST(TargetList, features_follow_one_another_in_their_order) {
  EXPECT_EQ(namesOf("arm-64-dot_prod-fp16"), Names({"arm-64-dot_prod-fp16"}));
  EXPECT_EQ(findTarget("arm-64-dot_prod-fp16")->cpuBits.size(), 2u);
  EXPECT_EQ(namesOf("arm-64-fp16-dot_prod").front().rfind("target 'arm-64-fp16-dot_prod' is not known; near it ", 0),
            0u);
}

TEST(TargetList, a_feature_that_a_target_has_not_gets_those_that_it_has) {
  EXPECT_EQ(namesOf("arm-64-something_else"), Names({"target 'arm-64-something_else' is not known; near it are "
                                                     "arm-64-dot_prod and arm-64-fp16; `burin targets` lists all"}));
}

TEST(TargetList, several_are_refused_where_one_is_meant) {
  EXPECT_EQ((*targetNamed("x86-64-avx2"))->name, "x86-64-avx2");
  EXPECT_EQ(llvm::toString(targetNamed("x86-64").takeError()),
            "'x86-64' are several targets, expected one of x86-64-avx512, x86-64-avx2 and x86-64-sse41");
}

TEST(TargetList, two_architectures_are_refused_in_one_object) {
  Target other = allTargets()[0], same = other;
  other.name = "other";
  other.triple = "aarch64-unknown-linux-gnu";
  EXPECT_FALSE(bool(checkOneObject({&allTargets()[0], &same})));
  EXPECT_EQ(llvm::toString(checkOneObject({&same, &other})),
            "targets " + same.name.str() + " and other cannot be in one object: it is for " + same.triple.str() +
                " or for aarch64-unknown-linux-gnu; compile once for each");
}

// A family is data as a row is: what it names must be there, on one architecture, the preferred first.
TEST(TargetList, families_name_targets_of_one_architecture) {
  for (const TargetFamily &family : allTargetFamilies()) {
    ASSERT_FALSE(family.targets.empty()) << family.name.str();
    for (const Target *target : family.targets)
      ASSERT_NE(target, nullptr) << family.name.str();
    EXPECT_FALSE(bool(checkOneObject(family.targets))) << family.name.str();
    EXPECT_TRUE(llvm::is_sorted(family.targets, [](auto *a, auto *b) { return a->preference > b->preference; }));
    EXPECT_EQ(findTarget(family.name), nullptr) << family.name.str() << " is a target's name too";
  }
}
