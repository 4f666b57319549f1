//   1. compile the derived schedules (one for any number of rows, or another for few as well), which say what
//   parameters
//      the kernel has;
//   2. rounds: what the searches of all buckets propose is compiled, several at once; then measured alone: all of it
//      briefly, the better third for longer;
//   3. the winners against the derived schedule in fresh runs, interleaved: who is not faster in each by more than
//   noise
//      is not accepted.
#include "tuner/tune_kernel.h"
#include "emit/tuned_schedules.h"
#include "tools/failure.h"
#include "tuner/acceptance.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>
#include <set>

namespace burin {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Where a kernel has several buckets, a winner is one more variant, which is code: it must gain more.
constexpr double leastGainOfVariant = 1.05;
constexpr double nearlyAsGood = 1.02; // in place of a bucket's best

class KernelTuner {
public:
  KernelTuner(TrialBench &bench, const TrialKernel &kernel, const TuneOptions &options, const TuningDatabase &database,
              Clock::time_point end, std::function<void(const std::string &)> tell)
      : bench_(bench), kernel_(kernel), options_(options), database_(database), end_(end), tell_(std::move(tell)) {}

  /// Results of all buckets; an error where nothing can be measured.
  llvm::Expected<std::vector<TuneResult>> run() {
    layOutSizes();
    if (llvm::Error error = measureDerived())
      return error;
    for (size_t b = 0; b < buckets_.size(); ++b) {
      searches_.push_back(Search(SearchSpace::around(derivedOf(b).used), seedsFor(b)));
      if (options_.start.empty()) // else what the derived one takes is not to help
        searches_.back().report(derivedOf(b).used, 1);
    }
    if (options_.sweep) {
      round_ = 1;
      if (llvm::Error error = tryPoints(SearchSpace::around(derived().used).points(options_.sweep)))
        return error;
    } else {
      while (!mustEnd()) {
        std::vector<ScheduleParameters> points;
        for (Search &search : searches_)
          for (const ScheduleParameters &point : search.propose())
            if (!candidates_.count(point) && !llvm::is_contained(points, point))
              points.push_back(point);
        if (points.empty())
          break;
        ++round_;
        if (llvm::Error error = tryPoints(points))
          return error;
        for (Search &search : searches_)
          search.endRound();
      }
    }
    if (tuningInterrupted)
      return failure("ended");
    return confirm();
  }

private:
  /// The derived schedule for any number of rows: what all others equal in every bit.
  const Candidate &derived() const { return *derived_.front(); }
  /// What a bucket has without a record.
  const Candidate &derivedOf(size_t bucket) const { return *derived_[derivedIndex_[bucket]]; }
  /// The derived schedules, which take part in every run, and others behind them.
  std::vector<const Candidate *> besideDerived(llvm::ArrayRef<const Candidate *> others) const {
    std::vector<const Candidate *> all;
    for (auto &candidate : derived_)
      all.push_back(candidate.get());
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
  bool mustEnd() const { return tuningInterrupted || Clock::now() >= end_; }

  void layOutSizes() {
    buckets_ = bucketsOf(kernel_);
    for (int bucket : buckets_) {
      sizesOfBucket_.emplace_back();
      for (int64_t rows : sizesOf(kernel_, bucket)) {
        sizesOfBucket_.back().push_back(sizes_.size());
        sizes_.push_back({rows, true});
      }
    }
    // Bits are compared where tiles have tails, too.
    if (kernel_.rowsVary)
      for (int64_t rows : {int64_t(1), int64_t(2), int64_t(7), int64_t(13), int64_t(29), kernel_.mostRows - 1})
        if (rows >= 1 && rows <= kernel_.mostRows && llvm::none_of(sizes_, [&](auto &s) { return s.rows == rows; }))
          sizes_.push_back({rows, false});
  }

  llvm::Error measureDerived() {
    std::vector<int64_t> planned; // of each of derived_
    auto compiled = [&](int64_t rows) -> llvm::Error {
      std::vector<Candidate> one = bench_.compile(kernel_, ScheduleParameters(), nullptr, rows);
      if (!one[0].refused.empty())
        return failure("the derived schedule: " + one[0].refused);
      planned.push_back(rows);
      derived_.push_back(std::make_unique<Candidate>(std::move(one[0])));
      return llvm::Error::success();
    };
    if (llvm::Error error = compiled(0))
      return error;
    for (int bucket : buckets_) {
      int64_t rows = kernel_.plannedRows[bucket];
      if (!llvm::is_contained(planned, rows))
        if (llvm::Error error = compiled(rows))
          return error;
      derivedIndex_.push_back(size_t(llvm::find(planned, rows) - planned.begin()));
    }
    auto result = bench_.run(kernel_, besideDerived({}), sizes_, firstRounds, secondsEach);
    if (!result)
      return result.takeError();
    for (const std::string &refused : result->refused)
      if (!refused.empty())
        return failure("the derived schedule: " + refused);
    return llvm::Error::success();
  }

  /// The derived point, or what the user starts from; then the winners of this kernel's records.
  std::vector<ScheduleParameters> seedsFor(size_t ofBucket) {
    ScheduleParameters first = derivedOf(ofBucket).used;
    for (auto [parameter, value] : options_.start.values())
      if (first.get(parameter))
        first.set(parameter, value);
    std::vector<ScheduleParameters> seeds{first};
    for (int bucket : buckets_)
      if (auto found = database_.find({recordName(kernel_.text), options_.target, bucket}); found.record) {
        ScheduleParameters seed = first;
        for (auto [parameter, value] : found.record->parameters.values())
          if (seed.get(parameter))
            seed.set(parameter, value);
        if (!llvm::is_contained(seeds, seed))
          seeds.push_back(seed);
      }
    return seeds;
  }

  void refuse(const ScheduleParameters &asked, const ScheduleParameters &used, const std::string &why) {
    for (size_t b = 0; b < searches_.size(); ++b) {
      searches_[b].report(asked, infinity);
      tried_[b].push_back({used.empty() ? asked : used, infinity, why, round_});
    }
  }

  /// Compiles and measures points; reports what each takes, in every bucket, to that bucket's search.
  llvm::Error tryPoints(std::vector<ScheduleParameters> points) {
    tried_.resize(buckets_.size());
    constexpr size_t atOnce = 16; // compiled between two looks at the clock
    for (size_t first = 0; first < points.size() && (!mustEnd() || (round_ == 1 && first == 0)); first += atOnce) {
      llvm::ArrayRef<ScheduleParameters> part =
          llvm::ArrayRef(points).slice(first, std::min(atOnce, points.size() - first));
      std::vector<Candidate> compiled = bench_.compile(kernel_, part, &derived());
      if (tuningInterrupted)
        return llvm::Error::success();
      std::vector<const Candidate *> fresh;
      for (Candidate &candidate : compiled) {
        Candidate &kept = candidates_[candidate.asked] = std::move(candidate);
        if (!kept.refused.empty()) {
          refuse(kept.asked, kept.used, kept.refused);
          continue;
        }
        auto [twin, isNew] = byContent_.try_emplace(kept.content, &kept);
        if (isNew)
          fresh.push_back(&kept);
        else
          twins_.push_back({&kept, twin->second});
      }
      if (llvm::Error error = measure(fresh))
        return error;
      for (auto [candidate, twin] : twins_)
        for (size_t b = 0; b < searches_.size(); ++b) {
          auto known = cost_.find({twin, b});
          double cost = known == cost_.end() ? infinity : known->second;
          searches_[b].report(candidate->asked, cost);
          cost_[{candidate, b}] = cost;
        }
      twins_.clear();
      say();
    }
    return llvm::Error::success();
  }

  llvm::Error measure(std::vector<const Candidate *> fresh) {
    if (fresh.empty())
      return llvm::Error::success();
    std::vector<const Candidate *> all = besideDerived(fresh);
    size_t first = derived_.size();
    auto brief = bench_.run(kernel_, all, sizes_, firstRounds, secondsEach);
    if (!brief)
      return measureApart(fresh, brief.takeError());
    auto costIn = [&](const TrialResult &result, size_t place, size_t b) {
      return costOf(result.seconds[place], result.seconds[derivedIndex_[b]], sizesOfBucket_[b]);
    };
    std::set<size_t> good; // into `fresh`
    std::vector<std::vector<double>> costs(fresh.size(), std::vector<double>(buckets_.size(), infinity));
    for (size_t b = 0; b < buckets_.size(); ++b) {
      std::vector<std::pair<double, size_t>> order;
      for (size_t i = 0; i < fresh.size(); ++i) {
        if (!brief->refused[first + i].empty())
          continue;
        costs[i][b] = costIn(*brief, first + i, b);
        order.push_back({costs[i][b], i});
      }
      llvm::sort(order);
      for (size_t n = 0; n < std::max<size_t>((order.size() + 2) / 3, 2) && n < order.size(); ++n)
        good.insert(order[n].second);
    }
    if (!good.empty()) {
      std::vector<const Candidate *> better;
      for (size_t i : good)
        better.push_back(fresh[i]);
      auto longer = bench_.run(kernel_, besideDerived(better), sizes_, longRounds, secondsEach);
      if (!longer)
        return longer.takeError();
      size_t place = first;
      for (size_t i : good) {
        for (size_t b = 0; b < buckets_.size(); ++b)
          costs[i][b] = longer->refused[place].empty() ? costIn(*longer, place, b) : infinity;
        ++place;
      }
    }
    for (size_t i = 0; i < fresh.size(); ++i) {
      if (const std::string &refused = brief->refused[first + i]; !refused.empty()) {
        refuse(fresh[i]->asked, fresh[i]->used, refused);
        candidates_[fresh[i]->asked].refused = refused;
        continue;
      }
      for (size_t b = 0; b < buckets_.size(); ++b) {
        searches_[b].report(fresh[i]->asked, costs[i][b]);
        cost_[{fresh[i], b}] = costs[i][b];
        tried_[b].push_back({fresh[i]->used, costs[i][b], "", round_});
      }
    }
    return llvm::Error::success();
  }

  /// One candidate ends the program for all: it is found by running them one by one.
  llvm::Error measureApart(const std::vector<const Candidate *> &fresh, llvm::Error together) {
    if (fresh.size() == 1) {
      std::string why = llvm::toString(std::move(together));
      auto alone = bench_.run(kernel_, besideDerived({}), sizes_, 1, secondsEach);
      if (!alone)
        return alone.takeError();
      refuse(fresh[0]->asked, fresh[0]->used, why);
      candidates_[fresh[0]->asked].refused = why;
      return llvm::Error::success();
    }
    llvm::consumeError(std::move(together));
    for (size_t i = 0; i < fresh.size() && !tuningInterrupted; ++i)
      if (llvm::Error error = measure({fresh[i]}))
        return error;
    return llvm::Error::success();
  }

  /// The best candidate of a bucket; the derived one where none is better. Of those that are nearly as good as the
  /// best, one that another bucket has already is taken: every variant of a kernel is code.
  const Candidate *bestOf(size_t b, llvm::ArrayRef<const Candidate *> taken) const {
    double least = 1;
    const Candidate *best = &derivedOf(b);
    for (auto &[of, cost] : cost_)
      if (of.second == b && of.first->refused.empty() && cost < least) {
        least = cost;
        best = of.first;
      }
    for (const Candidate *other : taken)
      if (auto known = cost_.find({other, b}); known != cost_.end() && known->second <= least * nearlyAsGood)
        return other;
    return best;
  }

  /// The best candidates of the buckets beside the derived ones, in fresh runs.
  llvm::Expected<std::vector<TuneResult>> confirm() {
    std::vector<const Candidate *> finalists = besideDerived({}), taken;
    std::vector<size_t> finalistOf(buckets_.size());
    for (size_t b = buckets_.size(); b-- > 0;) {
      const Candidate *best = bestOf(b, taken);
      auto same = llvm::find_if(finalists, [&](const Candidate *one) { return one->content == best->content; });
      finalistOf[b] = size_t(same - finalists.begin());
      if (same == finalists.end())
        finalists.push_back(best);
      if (finalistOf[b] != derivedIndex_[b] && !llvm::is_contained(taken, best))
        taken.insert(taken.begin(), best); // the neighbour's first
    }
    std::vector<bool> accepted(buckets_.size(), true);
    std::vector<double> seconds(buckets_.size(), infinity), defaults(buckets_.size(), infinity);
    for (int run = 0; run < confirmRuns; ++run) {
      auto result = bench_.run(kernel_, finalists, sizes_, confirmRounds, secondsEach);
      if (!result)
        return result.takeError();
      for (size_t b = 0; b < buckets_.size(); ++b) {
        size_t its = finalistOf[b], base = derivedIndex_[b], largest = sizesOfBucket_[b].back();
        accepted[b] = accepted[b] && its != base && result->refused[its].empty() &&
                      isBetter(result->seconds[its], result->seconds[base], sizesOfBucket_[b],
                               buckets_.size() == 1 ? leastGain : leastGainOfVariant);
        seconds[b] = std::min(seconds[b], result->seconds[its][largest]);
        defaults[b] = std::min(defaults[b], result->seconds[base][largest]);
      }
    }
    std::vector<TuneResult> results;
    tried_.resize(buckets_.size());
    for (size_t b = 0; b < buckets_.size(); ++b) {
      TuneResult result;
      result.kernel = recordName(kernel_.text);
      result.kernelClass = kernel_.text.kernelClass;
      result.bucket = buckets_[b];
      result.derived = derivedOf(b).used;
      result.best = accepted[b] ? finalists[finalistOf[b]]->used : result.derived;
      result.defaultSeconds = defaults[b];
      result.seconds = accepted[b] ? seconds[b] : defaults[b];
      result.flops = kernel_.flops(sizes_[sizesOfBucket_[b].back()].rows);
      result.bytes = kernel_.bytes + kernel_.bytesPerRow * double(sizes_[sizesOfBucket_[b].back()].rows);
      result.tried = std::move(tried_[b]);
      results.push_back(std::move(result));
    }
    return results;
  }

  void say() {
    double least = 1;
    for (auto &[of, cost] : cost_)
      least = std::min(least, cost);
    tell_(llvm::formatv("{0} tried, best {1:F2}x of the default", candidates_.size(), 1 / least).str());
  }

  TrialBench &bench_;
  const TrialKernel &kernel_;
  const TuneOptions &options_;
  const TuningDatabase &database_;
  Clock::time_point end_;
  std::function<void(const std::string &)> tell_;

  std::vector<int> buckets_;
  std::vector<TrialSize> sizes_;
  std::vector<std::vector<size_t>> sizesOfBucket_;  // into sizes_
  std::vector<std::unique_ptr<Candidate>> derived_; // the first is that for any number of rows
  std::vector<size_t> derivedIndex_;                // of each bucket, into derived_
  std::vector<Search> searches_;                    // of each bucket
  std::map<ScheduleParameters, Candidate> candidates_;
  std::map<uint64_t, const Candidate *> byContent_;
  std::vector<std::pair<const Candidate *, const Candidate *>> twins_; // of equal code: who, and who was measured
  std::map<std::pair<const Candidate *, size_t>, double> cost_;
  std::vector<std::vector<TriedPoint>> tried_;
  int round_ = 0;
};

} // namespace

llvm::Expected<std::vector<TuneResult>> tuneKernel(TrialBench &bench, const TrialKernel &kernel,
                                                   const TuneOptions &options, const TuningDatabase &database,
                                                   Clock::time_point end,
                                                   std::function<void(const std::string &)> tell) {
  return KernelTuner(bench, kernel, options, database, end, std::move(tell)).run();
}

} // namespace burin
