// Which parameters to try next. A search knows nothing of kernels: it proposes, is told times, and proposes again.
//
// What a trial costs decides how to search. Compiling a candidate takes about a second and measuring it some
// milliseconds, so candidates must be few, while measuring them is nearly free. And the landscapes, where they were
// looked at, are smooth along each parameter up to a cliff, where registers spill, and nearly separable. So:
//   1. a star: the derived point and each seed, and around the first of them every value of every parameter, alone;
//   2. from then on, around the best points known: what joins the best values of several parameters, and one step along
//      each;
//   3. until nothing better by half a percent was found twice in a row, or everything was tried.
// Within a round, halving saves time: all are measured briefly, and the better ones for longer (compiler/tuner).
//
// Rejected: successive halving of a random population alone (Jamieson and Talwalkar 2016, arXiv:1502.07943), which
// compiles many candidates that no neighbour speaks for; an exhaustive sweep, which takes ten times as long (`--sweep`
// makes one, to compare); a learned cost model, whose data would be all that there is to search.
#pragma once

#include "schedules/parameters.h"
#include <map>
#include <vector>

namespace burin {

/// The parameters that a kernel has, each with the values to try.
struct SearchSpace {
  std::vector<std::pair<Parameter, std::vector<int>>> axes;

  /// Those of `derived`, which is what the schedules made of a kernel without a choice.
  static SearchSpace around(const ScheduleParameters &derived);
  /// All points, or `most` of them, evenly taken.
  std::vector<ScheduleParameters> points(size_t most) const;
  size_t size() const;
};

class Search {
public:
  /// `seeds` are points that may be good: the derived one first, then neighbours' winners.
  Search(SearchSpace space, std::vector<ScheduleParameters> seeds);

  /// Points that were not proposed before; none when the search is over.
  std::vector<ScheduleParameters> propose();
  /// What a point takes, in any unit; infinity where it was refused. Points that were never proposed count as well.
  void report(const ScheduleParameters &point, double cost);
  /// Ends a round: everything proposed that will be reported was.
  void endRound();

  /// The least cost, of equals the first in order.
  const std::pair<const ScheduleParameters, double> *best() const;
  /// All that was reported.
  const std::map<ScheduleParameters, double> &costs() const { return costs_; }

private:
  void add(std::vector<ScheduleParameters> &to, const ScheduleParameters &point);
  void addStar(std::vector<ScheduleParameters> &to, const ScheduleParameters &centre);
  void addAround(std::vector<ScheduleParameters> &to);

  SearchSpace space_;
  std::vector<ScheduleParameters> seeds_;
  std::map<ScheduleParameters, bool> proposed_;
  std::map<ScheduleParameters, double> costs_;
  int round_ = 0, roundsWithoutGain_ = 0;
  double lastBest_;
};

} // namespace burin
