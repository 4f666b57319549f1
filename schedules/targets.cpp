// The rows of targets.def as a table, and the questions that depend on the machine at hand.
#include "schedules/target_features.h"
#include "llvm/ADT/Twine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <deque>
#include <map>
#include <vector>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace burin {

// The schedule files' entries, declared here rather than taken from schedule.h, which brings Halide.
#define BURIN_TARGET(name, about, halide, triple, cpu, features, bits, preference, lanes, registers, fused, rowLanes,  \
                     keyTile, linker, runner, programLinker, packages, schedule, ...)                                  \
  const Schedules &schedule##Schedules();
#include "schedules/targets.def"
#undef BURIN_TARGET

namespace {
#define BURIN_BITS(...) __VA_ARGS__
#define BURIN_TARGET(name, about, halide, triple, cpu, features, bits, ...) {BURIN_BITS bits},
const std::vector<std::vector<CpuBit>> cpuBitTable = {
#include "schedules/targets.def"
};
#undef BURIN_TARGET
#undef BURIN_BITS
} // namespace

/// Of a row, or of a row with one feature.
static std::optional<IntegerDot> integerDotOf(llvm::StringRef target) {
  static const std::pair<llvm::StringLiteral, IntegerDot> dots[] = {
#define BURIN_TARGET(...)
#define BURIN_INTEGER_DOT(name, terms, unsignedRows) {name, {terms, unsignedRows}},
#include "schedules/targets.def"
#undef BURIN_TARGET
  };
  for (auto &[name, dot] : dots)
    if (name == target)
      return dot;
  return std::nullopt;
}

llvm::ArrayRef<Target> allTargets() {
  static const std::vector<Target> targets = [] {
    size_t row = 0;
    std::vector<Target> rows;
#define BURIN_TARGET(name, about, halide, triple, cpu, features, bits, preference, lanes, registers, fused, rowLanes,  \
                     keyTile, linker, runner, programLinker, packages, schedule, ...)                                  \
  rows.push_back(Target{name, about, halide, triple, cpu, features, cpuBitTable[row++], preference, lanes, registers,  \
                        fused, rowLanes, keyTile, linker, runner, programLinker, packages,                             \
                        schedule##Schedules __VA_OPT__(, ) __VA_ARGS__});
#include "schedules/targets.def"
#undef BURIN_TARGET
    for (Target &row : rows)
      row.integerDot = integerDotOf(row.name).value_or(IntegerDot{});
#define BURIN_TARGET(...)
#define BURIN_BFLOAT_DOT(target)                                                                                       \
  for (Target & row : rows)                                                                                            \
    row.bfloatDot |= row.name == target;
#include "schedules/targets.def"
#undef BURIN_TARGET
    return rows;
  }();
  return targets;
}

llvm::ArrayRef<TargetFamily> allTargetFamilies() {
  static const std::vector<TargetFamily> families = [] {
    std::vector<TargetFamily> rows;
    auto add = [&](llvm::StringLiteral name, llvm::StringLiteral about, std::initializer_list<const char *> targets) {
      rows.push_back({name, about, {}});
      for (const char *target : targets)
        rows.back().targets.push_back(findTarget(target));
    };
#define BURIN_TARGET(...)
#define BURIN_FAMILY(name, about, ...) add(name, about, {__VA_ARGS__});
#include "schedules/targets.def"
#undef BURIN_TARGET
    return rows;
  }();
  return families;
}

llvm::ArrayRef<TargetOption> allTargetOptions() {
  static const std::vector<TargetOption> options = {
#define BURIN_TARGET(...)
#define BURIN_OPTION(target, name, feature, ...) {target, name, feature, {__VA_ARGS__}},
#include "schedules/targets.def"
#undef BURIN_TARGET
  };
  return options;
}

std::string nameWithOption(const TargetOption &option, llvm::StringRef value) {
  return (option.target + "-" + option.name + "_" + value).str();
}

llvm::ArrayRef<TargetFeature> allTargetFeatures() {
  static const std::vector<TargetFeature> features = {
#define BURIN_BITS(...) __VA_ARGS__
#define BURIN_TARGET(...)
#define BURIN_FEATURE(target, name, about, halide, bits) {target, name, about, halide, {BURIN_BITS bits}},
#include "schedules/targets.def"
#undef BURIN_TARGET
#undef BURIN_BITS
  };
  return features;
}

std::string nameWithFeature(const TargetFeature &feature) { return (feature.target + "-" + feature.name).str(); }

namespace {
/// A row with another value of its option, or with features. Its target's texts are here.
struct VariantOfRow {
  std::string name, halide;
  std::vector<CpuBit> cpuBits;
  Target target;
};

class Variants {
public:
  Variants() {
    for (const TargetOption &option : allTargetOptions())
      addValues(option);
    for (const Target &row : allTargets())
      addFeatures(row);
  }
  const Target *find(llvm::StringRef name) const {
    auto found = byName_.find(name.str());
    return found == byName_.end() ? nullptr : found->second;
  }

private:
  Target &add(std::string name, const Target &row, std::string halide) {
    VariantOfRow &made = made_.emplace_back(VariantOfRow{std::move(name), std::move(halide), {}, row});
    made.target.name = made.name;
    made.target.halide = made.halide;
    made.target.row = &row;
    byName_[made.name] = &made.target;
    return made.target;
  }

  /// The value that a row has makes no target of its own, only a name.
  void addValues(const TargetOption &option);
  /// Each choice among the row's features, but none of them.
  void addFeatures(const Target &row);

  std::deque<VariantOfRow> made_; // stays where it is
  std::map<std::string, const Target *> byName_;
};
} // namespace

static const Target *findRow(llvm::StringRef name) {
  for (const Target &target : allTargets())
    if (name == target.name)
      return &target;
  return nullptr;
}

void Variants::addValues(const TargetOption &option) {
  const Target &row = *findRow(option.target);
  size_t begin = row.halide.find(option.feature) + option.feature.size();
  llvm::StringRef before = row.halide.take_front(begin), rest = row.halide.drop_front(begin),
                  its = rest.split('-').first, behind = rest.drop_front(its.size());
  for (llvm::StringRef value : option.values) {
    std::string name = nameWithOption(option, value);
    if (value == its)
      byName_[name] = &row;
    else
      add(name, row, (before + value + behind).str());
  }
}

void Variants::addFeatures(const Target &row) {
  std::vector<const TargetFeature *> features;
  for (const TargetFeature &feature : allTargetFeatures())
    if (feature.target == row.name)
      features.push_back(&feature);
  for (uint32_t choice = 1; choice < 1u << features.size(); ++choice) {
    std::string name = row.name.str(), halide = row.halide.str();
    std::vector<CpuBit> bits = row.cpuBits.vec();
    IntegerDot dot = row.integerDot;
    int count = 0;
    for (size_t i = 0; i < features.size(); ++i) {
      if (!(choice >> i & 1))
        continue;
      name += ("-" + features[i]->name).str();
      halide += ("-" + features[i]->halide).str();
      bits.insert(bits.end(), features[i]->cpuBits.begin(), features[i]->cpuBits.end());
      dot = integerDotOf(nameWithFeature(*features[i])).value_or(dot);
      ++count;
    }
    Target &target = add(name, row, halide);
    target.integerDot = dot;
    made_.back().cpuBits = std::move(bits);
    target.cpuBits = made_.back().cpuBits;
    target.preference += count; // before the row in an object for both
  }
}

const Target *findTarget(llvm::StringRef name, Precision precision) {
  if (name == "host")
    return hostTarget(precision);
  if (const Target *row = findRow(name))
    return row;
  static const Variants variants;
  return variants.find(name);
}

bool sharesArchitecture(const Target &target) {
  static const llvm::Triple::ArchType here = llvm::Triple(llvm::sys::getProcessTriple()).getArch();
  return llvm::Triple(target.triple).getArch() == here;
}

static bool processorHas(const Target &target) {
  if (!sharesArchitecture(target))
    return false;
#if defined(__x86_64__)
  for (const CpuBit &bit : target.cpuBits) {
    uint32_t registers[5] = {};
    if (bit.reg == 4) {
      uint32_t high; // xgetbv is there: every row asks for OSXSAVE before XCR0
      __asm__ volatile("xgetbv" : "=a"(registers[4]), "=d"(high) : "c"(0));
    } else if (!__get_cpuid_count(bit.leaf, bit.subleaf, &registers[0], &registers[1], &registers[2], &registers[3])) {
      return false;
    }
    if ((registers[bit.reg] & bit.mask) != bit.mask)
      return false;
  }
#elif defined(__aarch64__) && defined(__linux__)
  for (const CpuBit &bit : target.cpuBits)
    if ((getauxval(AT_HWCAP) & bit.mask) != bit.mask)
      return false;
#endif
  return true;
}

bool runsHere(const Target &target) { return processorHas(target) && deviceIsHere(target.device); }

bool hasOwnSchedules(const Target &target) { return target.schedules != genericSchedules; }

const Target *hostTarget(Precision precision) {
  // What adds up products of few bits in one instruction asks for a newer processor, and gives nothing but that.
  auto isFor = [&](const Target &target) {
    return computesIn(target, precision) &&
           (target.integerDot.terms == 2 || precision == Precision::Int8 || precision == Precision::BFloat16Dot);
  };
  const Target *best = nullptr;
  for (const Target &target : allTargets())
    if (isFor(target) && target.preference > 0 && (!best || target.preference > best->preference) && runsHere(target))
      best = &target;
  // Else what it prefers in float32, which says that it does not compute in the precision.
  return best || precision == Precision::Float32 ? best : hostTarget();
}

bool sharesNumericForm(const Target &one, const Target &other) {
  return one.fused == other.fused && one.rowLanes == other.rowLanes && one.keyTile == other.keyTile &&
         one.depthTile == other.depthTile;
}

bool computesIn(const Target &target, Precision precision) {
  if (!target.device.empty())
    return precision == Precision::Float32;
  return precision != Precision::BFloat16Dot || target.bfloatDot;
}

bool isFused(const Target &target, Precision precision) {
  return precision == Precision::Int8 ? target.integerDot.terms > 2 : target.fused;
}

int64_t panelWidth(const Target &target, Precision precision, int64_t, int64_t N) {
  // Derived: three vectors wide is the best ratio of multiplications to loads that leaves room for a row tile
  // (x86.cpp), and two where a product that is not fused takes a register too; narrower where that pads less; below a
  // vector, the power of two that holds all columns, but never fewer than four, so that accumulators always are vectors
  // and keep their order of summation.
  int64_t lanes = target.lanes;
  if (N < lanes) {
    int64_t width = 4;
    while (width < N)
      width *= 2;
    return std::min(width, lanes);
  }
  int64_t best = lanes, bestPadded = -1;
  for (int64_t vectors : {3, 4, 2, 1}) {
    int64_t width = vectors * lanes, padded = (N + width - 1) / width * width;
    bool fits = target.registers >= 32 || vectors <= (isFused(target, precision) ? 3 : 2);
    if (fits && (bestPadded < 0 || padded < bestPadded)) {
      best = width;
      bestPadded = padded;
    }
  }
  return best;
}

int64_t rowTile(const Target &target, Precision precision, int64_t panel) {
  // As many rows as leave, beside their sums, registers for a row of the panel, a broadcast and a product that is not
  // fused with its addition. Derived; at most 12, where loads no longer limit; even, because sequences tend to be.
  int64_t vectors = std::max<int64_t>(panel / target.lanes, 1);
  int64_t rows = std::min<int64_t>(12, (target.registers - vectors - (isFused(target, precision) ? 1 : 2)) / vectors);
  return rows > 1 ? rows - rows % 2 : rows;
}

} // namespace burin
