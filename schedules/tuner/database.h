// The tuning database: what was measured on a CPU, a file for each (schedules/database/<cpu>.json, and files of users).
//
// A file is data from somewhere: a record that cannot be meant for this compiler is left out with a warning that names
// it, and a file that is no database is one warning. Nothing in one can make a kernel wrong, since parameters change no
// bit; the worst that a bad record does is a slow kernel.
//
// Rejected: one file for all CPUs. Records of two machines would meet in every merge, and a compiler reads those of
// one.
#pragma once

#include "schedules/choices.h"
#include "schedules/parameters.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace burin {

/// What a record is found by, within the database of a CPU.
struct RecordKey {
  /// Class and hash of its content: "contract_5d81…"; of a weight "weight_384x1536". Of what is no kernel's: entry and
  /// hash of the graph, "step_5d81…"; "parallel" of how calls are split among threads.
  std::string kernel;
  std::string target;
  int bucket = 0; // of rows (row_buckets.h); anyRows of what is no kernel's

  auto operator<=>(const RecordKey &) const = default;
};

struct TuningRecord {
  ScheduleParameters parameters; // none: the derived ones are the best that was found
  double seconds = 0, defaultSeconds = 0;
  std::string about;         // the kernel's ops, for people
  std::string date;          // 2025-01-31
  GraphChoices choices = {}; // of what is no kernel's, in place of parameters
};

class TuningDatabase {
public:
  explicit TuningDatabase(std::string cpu = "") : cpu(std::move(cpu)) {}

  std::string cpu; // as cpu_name.h gives it
  std::map<RecordKey, TuningRecord> records;

  /// Reads a file. What is wrong with it or its records is added to `warnings`, a sentence each, and left out. Fails
  /// only where the file cannot be read.
  static llvm::Expected<TuningDatabase> read(llvm::StringRef path, std::vector<std::string> &warnings);
  /// Writes beside the path and renames onto it, so that there is always a whole file.
  llvm::Error write(llvm::StringRef path) const;

  /// Reads the file of a CPU, or none, lets `change` have its records and writes it, while no other process of this
  /// machine does the same to a file of that folder: two runs on one file keep each other's records. The lock is the
  /// folder's, which leaves nothing behind; it goes with the process that holds it.
  static llvm::Error update(llvm::StringRef path, llvm::StringRef cpu,
                            llvm::function_ref<void(TuningDatabase &)> change);

  /// Adds what another has of the same CPU. Of two records for the same, that with the greater gain over the default
  /// stays; of equals, the later.
  llvm::Error merge(const TuningDatabase &other);

  struct Found {
    const TuningRecord *record = nullptr;
    int bucket = -1; // whose it is
  };
  /// The record of the bucket, else that of a neighbour: the one with more rows first. For more rows than were tuned,
  /// the last record, where that is of many.
  Found find(const RecordKey &key) const;
};

/// What stands in a record for the compiler that measured: a record of another is stale.
std::string tuningCompilerVersion();

} // namespace burin
