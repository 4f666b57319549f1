#include "schedules/tuner/search.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace burin {

static constexpr double worthwhile = 0.995; // a gain below half a percent is within what repetitions differ by
static constexpr size_t centres = 3;        // best points that a round looks around

SearchSpace SearchSpace::around(const ScheduleParameters &derived) {
  SearchSpace space;
  for (auto [parameter, value] : derived.values()) {
    std::vector<int> values(rowOf(parameter).values);
    if (!llvm::is_contained(values, value))
      values.insert(llvm::upper_bound(values, value), value);
    space.axes.push_back({parameter, std::move(values)});
  }
  return space;
}

size_t SearchSpace::size() const {
  size_t size = 1;
  for (auto &[parameter, values] : axes)
    size *= values.size();
  return size;
}

std::vector<ScheduleParameters> SearchSpace::points(size_t most) const {
  std::vector<ScheduleParameters> points;
  size_t all = size();
  for (size_t n = 0; n < std::min(all, most); ++n) {
    size_t rest = all <= most ? n : n * all / most; // in the order of a counter, its last digit first
    ScheduleParameters point;
    for (auto &[parameter, values] : axes) {
      point.set(parameter, values[rest % values.size()]);
      rest /= values.size();
    }
    points.push_back(std::move(point));
  }
  return points;
}

Search::Search(SearchSpace space, std::vector<ScheduleParameters> seeds)
    : space_(std::move(space)), seeds_(std::move(seeds)), lastBest_(std::numeric_limits<double>::infinity()) {}

void Search::add(std::vector<ScheduleParameters> &to, const ScheduleParameters &point) {
  if (proposed_.try_emplace(point, true).second)
    to.push_back(point);
}

void Search::addStar(std::vector<ScheduleParameters> &to, const ScheduleParameters &centre) {
  for (auto &[parameter, values] : space_.axes)
    for (int value : values) {
      ScheduleParameters point = centre;
      point.set(parameter, value);
      add(to, point);
    }
}

void Search::addAround(std::vector<ScheduleParameters> &to) {
  std::vector<std::pair<double, const ScheduleParameters *>> order;
  for (auto &[point, cost] : costs_)
    if (std::isfinite(cost))
      order.push_back({cost, &point});
  llvm::stable_sort(order, [](auto &a, auto &b) { return a.first < b.first; });
  order.resize(std::min(order.size(), centres));
  if (order.empty())
    return;

  // The best known value of each parameter, and the points that join some of them with the best point.
  ScheduleParameters joined = *order[0].second;
  for (auto &[parameter, values] : space_.axes) {
    double least = std::numeric_limits<double>::infinity();
    for (auto &[point, cost] : costs_)
      if (cost < least && point.get(parameter)) {
        // Only points that differ from the first seed here alone say something of this parameter alone.
        ScheduleParameters alone = seeds_.front();
        alone.set(parameter, *point.get(parameter));
        if (alone == point) {
          least = cost;
          joined.set(parameter, *point.get(parameter));
        }
      }
  }
  add(to, joined);
  for (auto &[parameter, values] : space_.axes) {
    ScheduleParameters one = *order[0].second;
    one.set(parameter, *joined.get(parameter));
    add(to, one);
  }
  for (auto &[cost, centre] : order)
    for (auto &[parameter, values] : space_.axes) {
      auto at = llvm::find(values, centre->get(parameter).value_or(0)) - values.begin();
      for (auto next : {at - 1, at + 1})
        if (next >= 0 && next < std::ptrdiff_t(values.size())) {
          ScheduleParameters point = *centre;
          point.set(parameter, values[size_t(next)]);
          add(to, point);
        }
    }
}

std::vector<ScheduleParameters> Search::propose() {
  std::vector<ScheduleParameters> points;
  if (round_ == 0) {
    for (const ScheduleParameters &seed : seeds_)
      add(points, seed);
    addStar(points, seeds_.front());
  } else if (roundsWithoutGain_ < 2) {
    addAround(points);
  }
  return points;
}

void Search::report(const ScheduleParameters &point, double cost) {
  proposed_[point] = true;
  costs_[point] = cost;
}

void Search::endRound() {
  ++round_;
  auto *now = best();
  roundsWithoutGain_ = now && now->second < lastBest_ * worthwhile ? 0 : roundsWithoutGain_ + 1;
  if (now)
    lastBest_ = std::min(lastBest_, now->second);
}

const std::pair<const ScheduleParameters, double> *Search::best() const {
  const std::pair<const ScheduleParameters, double> *best = nullptr;
  for (const auto &entry : costs_)
    if (std::isfinite(entry.second) && (!best || entry.second < best->second))
      best = &entry;
  return best;
}

} // namespace burin
