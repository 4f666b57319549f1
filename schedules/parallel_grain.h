// How much work is worth a thread: two numbers of a plan, in floating-point operations, which say when the runtime
// splits a call among workers (runtime/split.h). A property of a machine rather than of a kernel, and no result depends
// on it.
//
// These are the derived ones; a record `parallel` of the tuning database has others.
#pragma once

#include "schedules/choices.h"

namespace burin {

struct ParallelGrain {
  /// Least work of one worker in a call. Measured (AMD EPYC, Zen 4, two threads): a fork and a join take 0.5 us, in
  /// which a core does 60,000 operations at its peak, so two workers break even at that much each.
  int64_t workerWork = 100000;
  /// Least work of an entry. Threads that sleep are woken by a system call (measured: 1.6 us) and begin some tens of
  /// microseconds later, of which this is the work at that peak.
  int64_t entryWork = 4000000;

  bool operator==(const ParallelGrain &) const = default;
};

/// What a record chooses; the rest is derived.
inline ParallelGrain grainOf(const GraphChoices &choices) {
  ParallelGrain derived;
  return {choices.get(Choice::worker_work).value_or(derived.workerWork),
          choices.get(Choice::entry_work).value_or(derived.entryWork)};
}

} // namespace burin
