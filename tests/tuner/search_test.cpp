// The search on landscapes that are known: with a bad point to start from, it reaches what an exhaustive sweep finds.
//
// The landscapes have what real ones have: a cliff where registers spill, a tail where rows do not divide, a little
// noise of the kind that repeats. They are deterministic, so that a failure says something of the search and not of the
// machine.
#include "schedules/tuner/search.h"
#include "gtest/gtest.h"
#include <cmath>
#include <functional>
#include <limits>

using namespace burin;

namespace {

struct Landscape {
  std::string kernelClass;
  ScheduleParameters derived, bad; // the planted start
  std::function<double(const ScheduleParameters &)> cost;
};

double at(const ScheduleParameters &point, Parameter parameter) { return *point.get(parameter); }

/// A few percent that depend on the point and on nothing else.
double roughness(const ScheduleParameters &point, double most) {
  uint32_t hash = 2166136261u;
  for (auto [parameter, value] : point.values())
    hash = (hash ^ uint32_t(value * 31 + int(parameter))) * 16777619u;
  return 1 + most * double(hash % 1000) / 1000;
}

std::vector<Landscape> landscapes() {
  using P = Parameter;
  return {
      {"contract",
       {{P::tile_rows, 10}, {P::block_rows, 0}, {P::depth_unroll, 1}},
       {{P::tile_rows, 1}, {P::block_rows, 24}, {P::depth_unroll, 8}},
       [](const ScheduleParameters &p) {
         double rows = at(p, P::tile_rows), vectors = 3, registers = rows * vectors + vectors + 1;
         double loads = (rows + vectors) / (rows * vectors), spill = registers > 32 ? 1 + (registers - 32) * 0.2 : 1;
         double tail = std::ceil(64 / rows) * rows / 64, loop = 1 + 0.06 / at(p, P::depth_unroll);
         double block = at(p, P::block_rows) == 0 ? 1.02 : 1 + std::abs(std::log2(at(p, P::block_rows) / 96)) * 0.02;
         return std::max(0.5, loads) * spill * tail * loop * block * roughness(p, 0.01);
       }},
      {"contract of one row",
       {{P::sum_registers, 16}, {P::depth_unroll, 1}},
       {{P::sum_registers, 2}, {P::depth_unroll, 1}},
       [](const ScheduleParameters &p) {
         double sums = at(p, P::sum_registers), latency = std::max(1.0, 8 / sums), spill = sums > 28 ? 1.7 : 1;
         return latency * spill * (1 + 0.1 / at(p, P::depth_unroll)) * roughness(p, 0.01);
       }},
      {"attend",
       {{P::tile_keys, 8}, {P::tile_queries, 8}, {P::value_vectors, 2}},
       {{P::tile_keys, 1}, {P::tile_queries, 1}, {P::value_vectors, 4}},
       [](const ScheduleParameters &p) {
         double keys = at(p, P::tile_keys), queries = at(p, P::tile_queries), vectors = at(p, P::value_vectors);
         double products = 1 + 2 / keys + (keys > 8 ? 0.8 : 0);
         double sums = 1 + 1 / queries + 1 / vectors + (queries * vectors > 24 ? 1.1 : 0); // one with the other
         return (products + sums) * roughness(p, 0.01);
       }},
      {"row_reduce",
       {{P::row_vectors, 1}},
       {{P::row_vectors, 8}},
       [](const ScheduleParameters &p) { return 1 + std::abs(at(p, P::row_vectors) - 3) * 0.05; }},
  };
}

struct Outcome {
  double cost;
  size_t tried;
};

Outcome searchFrom(const Landscape &landscape, const ScheduleParameters &start) {
  Search search(SearchSpace::around(landscape.derived), {start});
  size_t tried = 0;
  for (;;) {
    std::vector<ScheduleParameters> points = search.propose();
    if (points.empty())
      break;
    for (const ScheduleParameters &point : points)
      search.report(point, landscape.cost(point));
    tried += points.size();
    search.endRound();
  }
  return {search.best()->second, tried};
}

double bestOfSweep(const Landscape &landscape, const std::vector<ScheduleParameters> &points) {
  double least = std::numeric_limits<double>::infinity();
  for (const ScheduleParameters &point : points)
    least = std::min(least, landscape.cost(point));
  return least;
}

} // namespace

TEST(Search, from_a_planted_bad_start_it_reaches_95_percent_of_the_best_of_a_sweep) {
  for (const Landscape &landscape : landscapes()) {
    SearchSpace space = SearchSpace::around(landscape.derived);
    Outcome found = searchFrom(landscape, landscape.bad);
    double best = bestOfSweep(landscape, space.points(200));
    EXPECT_GT(landscape.cost(landscape.bad), best / 0.95)
        << landscape.kernelClass << ": the planted start is no bad one, so that the test says nothing";
    EXPECT_LE(found.cost, best / 0.95) << landscape.kernelClass << ": " << found.tried << " of " << space.size()
                                       << " points tried";
  }
}

TEST(Search, it_tries_a_small_part_of_a_large_space) {
  const Landscape contract = landscapes()[0];
  size_t all = SearchSpace::around(contract.derived).size();
  EXPECT_LE(searchFrom(contract, contract.derived).tried, all / 4) << "of " << all;
}

TEST(Search, no_point_is_proposed_twice_and_the_start_is_the_first) {
  const Landscape contract = landscapes()[0];
  Search search(SearchSpace::around(contract.derived), {contract.derived, contract.bad, contract.derived});
  std::map<ScheduleParameters, int> times;
  bool isFirst = true;
  for (std::vector<ScheduleParameters> points = search.propose(); !points.empty(); points = search.propose()) {
    if (isFirst) {
      EXPECT_EQ(points[0].text(), contract.derived.text());
      EXPECT_EQ(points[1].text(), contract.bad.text());
    }
    isFirst = false;
    for (const ScheduleParameters &point : points) {
      EXPECT_EQ(++times[point], 1) << point.text();
      search.report(point, contract.cost(point));
    }
    search.endRound();
  }
}

TEST(Search, refused_points_are_never_the_best_and_end_nothing) {
  Landscape contract = landscapes()[0];
  auto cost = contract.cost;
  contract.cost = [&](const ScheduleParameters &point) { // everything but the planted start and long tiles
    return at(point, Parameter::tile_rows) < 4 && point != contract.bad ? std::numeric_limits<double>::infinity()
                                                                        : cost(point);
  };
  Outcome found = searchFrom(contract, contract.bad);
  EXPECT_TRUE(std::isfinite(found.cost));
  EXPECT_LE(found.cost, bestOfSweep(contract, SearchSpace::around(contract.derived).points(200)) / 0.95);
}

TEST(Search, where_everything_is_refused_there_is_no_best) {
  Search search(SearchSpace::around({{Parameter::row_vectors, 1}}), {{{Parameter::row_vectors, 1}}});
  for (const ScheduleParameters &point : search.propose())
    search.report(point, std::numeric_limits<double>::infinity());
  search.endRound();
  EXPECT_EQ(search.best(), nullptr);
  EXPECT_TRUE(search.propose().empty());
}

TEST(SearchSpace, a_sweep_has_the_points_asked_for_each_once) {
  SearchSpace space = SearchSpace::around(landscapes()[0].derived);
  for (size_t most : {size_t(1), size_t(7), size_t(200), space.size(), space.size() + 5}) {
    std::vector<ScheduleParameters> points = space.points(most);
    std::map<ScheduleParameters, bool> once;
    for (const ScheduleParameters &point : points)
      once[point] = true;
    EXPECT_EQ(points.size(), std::min(most, space.size()));
    EXPECT_EQ(once.size(), points.size());
  }
}

TEST(SearchSpace, the_derived_value_is_one_of_the_values) {
  SearchSpace space = SearchSpace::around({{Parameter::tile_rows, 11}});
  ASSERT_EQ(space.axes.size(), 1u);
  EXPECT_EQ(std::count(space.axes[0].second.begin(), space.axes[0].second.end(), 11), 1);
  EXPECT_TRUE(std::is_sorted(space.axes[0].second.begin(), space.axes[0].second.end()));
}
