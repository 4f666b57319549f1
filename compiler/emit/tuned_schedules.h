// Which parameters each kernel's schedules are given: those of the most specific record of the tuning database, of a
// neighbouring bucket of rows, or none, which leaves all to the analytical default.
//
// The same command gives the same object on every machine: records are of the CPU that is named, or that a given file
// is of. Only where the target is `host`, and so the object is this machine's anyway, is it this machine's CPU.
//
// Rejected: records of the compiling machine for every target. A build server would decide how a program runs
// elsewhere.
#pragma once

#include "emit/model_plan.h"
#include "schedules/tuner/database.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace burin {

/// As the options --cpu and --database give it, or as a tuner does.
struct TuningSource {
  std::string cpu;      // whose records; empty: that of `database`, or this machine's where the target is `host`
  std::string database; // a file whose records come before those that belong to the compiler; "none": no records at all
  std::shared_ptr<const TuningDatabase> records = nullptr; // where given, these and no others
};

/// A stretch of buckets for which a kernel has the same parameters.
struct ScheduleVariant {
  int bucket = 0;                // the first
  int64_t mostRows = INT64_MAX;  // of the last
  ScheduleParameters parameters; // none: all derived
  int64_t plannedRows = 0;       // most rows that the derived schedule is for; 0: any number
  int recordBucket = -1;         // of the record; -1: there is none
  TuningRecord record;           // where there is one

  /// "record of 5-16 rows", "record of 5-16 rows, a neighbour", "derived", "derived for at most 4
  /// rows".
  std::string origin() const;
};

class TunedSchedules {
public:
  /// None: everything is derived.
  TunedSchedules() = default;
  explicit TunedSchedules(TuningDatabase database) : database_(std::move(database)) {}
  /// `target` is what --target was given. What is left out of a database is told to `warn`, a sentence each, no more
  /// than some.
  static llvm::Expected<TunedSchedules> load(const TuningSource &source, llvm::StringRef target,
                                             llvm::function_ref<void(llvm::StringRef)> warn);

  /// Whose records are used; empty for none.
  const std::string &cpu() const { return database_.cpu; }
  const TuningDatabase &database() const { return database_; }

  /// Of a kernel of the plan, in order of rows; at least one. Only one for a kernel whose rows are always the same.
  std::vector<ScheduleVariant> variantsOf(const KernelText &kernel, const ModelPlan &plan) const;
  /// The widths of panels that differ from the derived, for the pass pack_weights: "384x1536=2,…".
  std::string panels(const Target &target) const;

  /// What is chosen for an entry of a graph, `forward` or `step`; null where there is no record.
  const TuningRecord *recordOf(llvm::StringRef entry, llvm::StringRef graph, const Target &target) const;
  /// All of it, for the pass form_kernels.
  std::string choices(llvm::StringRef graph, const Target &target) const;
  /// How calls are split among threads; a record of it is `parallel`.
  ParallelGrain grain(const Target &target) const;
  const TuningRecord *grainRecord(const Target &target) const;

private:
  TuningDatabase database_;
};

/// What a record names a kernel by: class and hash of its content.
std::string recordName(const KernelText &kernel);

/// What records name a graph by: a hash of its forward, as it is before the passes.
std::string graphName(mlir::ModuleOp module);
/// What a record names an entry of a graph by, and how calls are split.
std::string recordName(llvm::StringRef entry, llvm::StringRef graph);
inline constexpr llvm::StringLiteral grainRecordName = "parallel";
/// The entries for which records choose kernels: those that are timed.
inline constexpr llvm::StringLiteral entriesWithChoices[] = {"forward", "step"};

/// The argument of a kernel whose number of rows says which variant runs; -1 where all are fixed.
int rowArgumentOf(const KernelText &kernel, const ModelPlan &plan);

/// For how many rows at most the derived schedule of a kernel's bucket is made; 0: for any number, as for most buckets.
int64_t plannedRowsOf(const KernelText &kernel, const ModelPlan &plan, int bucket);

/// The call of a plan, in the entry where it comes first; null for a kernel that is not called.
const PlanCall *firstCallOf(llvm::StringRef kernel, const ModelPlan &plan);

/// All entries of a plan.
std::vector<const PlanEntry *> entriesOf(const ModelPlan &plan);

} // namespace burin
