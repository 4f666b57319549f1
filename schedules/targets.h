// The targets, as data: one row each, from targets.def. No other file names a target, and this header needs no Halide,
// so that passes, emission, tools and tests ask the rows.
#pragma once

#include "dialect/precision.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace burin {

struct Schedules; // schedules/schedule.h: the functions that serve the kernel classes

/// CPUID(leaf, subleaf): all bits of `mask` must be set in `reg` (0 eax, 1 ebx, 2 ecx, 3 edx); reg 4: mask of XCR0.
/// targets.def says what stands for it on RISC-V.
struct CpuBit {
  uint32_t leaf, subleaf, reg, mask;
};

/// How the target adds up products of int8 weights: so many terms in one instruction, two of 16 bits or four of 8; of
/// four, rows may have to be numbers without a sign.
struct IntegerDot {
  int terms = 2;
  bool unsignedRows = false;
};

struct Target {
  llvm::StringRef name;       // as in --target
  llvm::StringLiteral about;  // what it is for
  llvm::StringRef halide;     // Halide's target string
  llvm::StringLiteral triple; // LLVM's, for code that does not come from Halide
  llvm::StringLiteral cpu;
  llvm::StringLiteral features;
  llvm::ArrayRef<CpuBit> cpuBits;    // what a processor must have
  int preference;                    // the highest that a machine supports is its host target; 0: only when named
  int lanes;                         // floats in a vector
  int registers;                     // vector registers
  bool fused;                        // numeric form: a product and its addition are rounded once
  int rowLanes;                      // numeric form: partial sums of a row
  int keyTile;                       // keys across lanes in a cache of them; a multiple of the row lanes
  llvm::StringLiteral linker;        // makes a relocatable object of several
  llvm::StringLiteral runner;        // runs the target's programs on a machine of another architecture; empty: none
  llvm::StringLiteral programLinker; // links a program for the runner, with arguments
  llvm::StringLiteral packages;      // that have runner and program linker, of Debian if nothing else is said
  const Schedules &(*schedules)();   // the schedule file's entry
  // Of targets whose kernels run on a GPU:
  llvm::StringLiteral device = ""; // its API, as Halide names it; empty: the processor runs the kernels
  int depthTile = 0;               // numeric form: so many products of a contract, or weighted values of attention, are
                                   // summed apart; 0: all in one
  const Target *row = nullptr;     // of a target with an option: the row, whose option has another value
  IntegerDot integerDot = {};      // of int8 weights
  bool bfloatDot = false;          // an instruction adds up two products of bfloat16
};

/// A feature of which a target's row has one value, and `<target>-<option>_<value>` another.
struct TargetOption {
  llvm::StringLiteral target, name;
  llvm::StringLiteral feature; // Halide's, before the value
  std::vector<llvm::StringRef> values;
};

/// Targets that one object may hold, which then chooses among them when it is opened.
struct TargetFamily {
  llvm::StringLiteral name, about;
  std::vector<const Target *> targets; // the preferred first
};

llvm::ArrayRef<Target> allTargets();
llvm::ArrayRef<TargetFamily> allTargetFamilies();
llvm::ArrayRef<TargetOption> allTargetOptions();

/// The name of a target with an option.
std::string nameWithOption(const TargetOption &option, llvm::StringRef value);

/// Null where no target has this name; `host` is a name too, and so are those with options.
const Target *findTarget(llvm::StringRef name, Precision precision = Precision::Float32);

/// The preferred target of those that this machine runs, for a model whose contracts are in `precision`; null where it
/// runs none.
const Target *hostTarget(Precision precision = Precision::Float32);

/// True when this machine's processor, operating system and, where one is needed, GPU driver have all that the target's
/// code uses.
bool runsHere(const Target &target);

/// True when the driver of the API is installed and shows a device; true without an API.
bool deviceIsHere(llvm::StringRef api);

/// Whether the two give the same bits for the same input.
bool sharesNumericForm(const Target &one, const Target &other);
/// True where the target's objects are linked with those that this machine's compiler makes.
bool sharesArchitecture(const Target &target);

/// False where the target has the schedules that are correct everywhere.
bool hasOwnSchedules(const Target &target);

/// Whether contracts can be in `precision`: on a device in float32 alone.
bool computesIn(const Target &target, Precision precision);

/// Whether a product and its addition are one instruction.
bool isFused(const Target &target, Precision precision);

/// Columns of a panel in which a K × N weight is packed, the last panel padded with zeros: schedules/packed_panels.h.
int64_t panelWidth(const Target &target, Precision precision, int64_t K, int64_t N);

/// Rows of a register tile over panels of that width.
int64_t rowTile(const Target &target, Precision precision, int64_t panel);

} // namespace burin
