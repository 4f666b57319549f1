#include "emit/tuned_schedules.h"
#include "emit/installation.h"
#include "schedules/schedule.h"
#include "schedules/tuner/cpu_name.h"
#include "schedules/tuner/row_buckets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace burin {

std::string ScheduleVariant::origin() const {
  if (recordBucket < 0)
    return plannedRows == 0
               ? "derived"
               : "derived for at most " + std::to_string(plannedRows) + (plannedRows == 1 ? " row" : " rows");
  return "record of " + bucketText(recordBucket) + " rows" + (recordBucket == bucket ? "" : ", a neighbour");
}

Expected<TunedSchedules> TunedSchedules::load(const TuningSource &source, StringRef target,
                                              function_ref<void(StringRef)> warn) {
  if (source.records)
    return TunedSchedules(*source.records);
  TunedSchedules tuned;
  if (source.database == "none")
    return tuned;
  std::vector<std::string> warnings;
  TuningDatabase own;
  if (!source.database.empty()) {
    auto read = TuningDatabase::read(source.database, warnings);
    if (!read)
      return read.takeError();
    own = std::move(*read);
  }
  std::string cpu = own.cpu;
  if (!source.cpu.empty()) {
    auto named = cpuNamed(source.cpu);
    if (!named)
      return named.takeError();
    cpu = *named;
    if (!own.cpu.empty() && own.cpu != cpu)
      return createStringError(source.database + ": a database of CPU '" + own.cpu + "', expected '" + cpu + "'");
  } else if (cpu.empty() && target == "host") {
    cpu = hostCpuName();
  }
  tuned.database_.cpu = cpu;
  std::string installed = cpu.empty() || !cpuNamed(cpu) ? "" : databaseFile(cpu);
  if (!installed.empty() && sys::fs::exists(installed)) {
    auto read = TuningDatabase::read(installed, warnings);
    if (!read)
      return read.takeError();
    tuned.database_.records = std::move(read->records);
  }
  for (auto &[key, record] : own.records)
    tuned.database_.records[key] = record;

  constexpr size_t mostWarnings = 5;
  for (const std::string &warning : ArrayRef(warnings).take_front(mostWarnings))
    warn(warning);
  if (warnings.size() > mostWarnings)
    warn("tuning database: " + std::to_string(warnings.size() - mostWarnings) + " more records are left out");
  return tuned;
}

std::vector<const PlanEntry *> entriesOf(const ModelPlan &plan) {
  std::vector<const PlanEntry *> entries{&plan.forward};
  for (const PlanStream &stream : plan.streams) {
    entries.push_back(&stream.one);
    if (stream.many)
      entries.push_back(&*stream.many);
  }
  return entries;
}

const PlanCall *firstCallOf(StringRef kernel, const ModelPlan &plan) {
  for (const PlanEntry *entry : entriesOf(plan))
    for (const PlanCall &call : entry->calls)
      if (call.kernel == kernel)
        return &call;
  return nullptr;
}

static bool isBuffer(const PlanArgument &argument) {
  return argument.kind == BURIN_ARG_INPUT || argument.kind == BURIN_ARG_OUTPUT || argument.kind == BURIN_ARG_SCRATCH;
}

int rowArgumentOf(const KernelText &kernel, const ModelPlan &plan) {
  const PlanCall *call = firstCallOf(kernel.function, plan);
  for (auto [index, argument] : enumerate(call ? ArrayRef(call->arguments) : ArrayRef<PlanArgument>()))
    if (isBuffer(argument) && argument.columnAxis < 0 &&
        (argument.rowAxis >= 0 || (argument.rowAxis == BURIN_AXIS_SEQUENCE && !call->perSequence)))
      return int(index);
  return -1;
}

std::string recordName(const KernelText &kernel) {
  return kernel.kernelClass + "_" + utohexstr(xxh3_64bits(kernel.text), /*LowerCase=*/true);
}

std::string graphName(mlir::ModuleOp module) {
  std::string text;
  raw_string_ostream stream(text);
  if (mlir::Operation *forward = module.lookupSymbol("forward")) // verify_graph says that it is missing
    forward->print(stream, mlir::OpPrintingFlags().useLocalScope());
  return utohexstr(xxh3_64bits(text), /*LowerCase=*/true);
}

std::string recordName(StringRef entry, StringRef graph) { return (entry + "_" + graph).str(); }

int64_t plannedRowsOf(const KernelText &kernel, const ModelPlan &plan, int bucket) {
  auto fewRows = plan.target->schedules().fewRows;
  if (!fewRows || rowArgumentOf(kernel, plan) < 0)
    return 0;
  for (int64_t end : fewRows(*kernelClassNamed(kernel.kernelClass)))
    if (mostRowsOf(bucket) <= end)
      return end;
  return 0;
}

std::vector<ScheduleVariant> TunedSchedules::variantsOf(const KernelText &kernel, const ModelPlan &plan) const {
  int first = 0, end = rowBuckets;
  if (rowArgumentOf(kernel, plan) < 0) { // of results with a fixed number of rows
    int64_t rows = 1;
    if (const PlanCall *call = firstCallOf(kernel.function, plan))
      for (const PlanArgument &argument : call->arguments)
        rows = isBuffer(argument) ? std::max<int64_t>(rows, argument.rowsEach) : rows;
    first = bucketOf(rows);
    end = first + 1;
  }
  std::vector<ScheduleVariant> variants;
  for (int bucket = first; bucket < end; ++bucket) {
    ScheduleVariant variant;
    variant.bucket = bucket;
    variant.mostRows = mostRowsOf(bucket);
    TuningDatabase::Found found = database_.find({recordName(kernel), plan.target->name.str(), bucket});
    if (found.record) {
      variant.record = *found.record;
      variant.parameters = found.record->parameters;
      variant.recordBucket = found.bucket;
    }
    if (variant.parameters.empty())
      variant.plannedRows = plannedRowsOf(kernel, plan, bucket);
    if (!variants.empty() && variants.back().parameters == variant.parameters &&
        variants.back().plannedRows == variant.plannedRows)
      variants.back().mostRows = variant.mostRows;
    else
      variants.push_back(std::move(variant));
  }
  variants.back().mostRows = INT64_MAX;
  return variants;
}

std::string TunedSchedules::panels(const Target &target) const {
  std::string text;
  for (auto &[key, record] : database_.records)
    if (auto vectors = record.parameters.get(Parameter::panel_vectors);
        vectors && key.target == target.name && StringRef(key.kernel).starts_with("weight_"))
      text += (text.empty() ? "" : ",") + key.kernel.substr(7) + "=" + std::to_string(*vectors);
  return text;
}

const TuningRecord *TunedSchedules::recordOf(StringRef entry, StringRef graph, const Target &target) const {
  auto found = database_.records.find({recordName(entry, graph), target.name.str(), anyRows});
  return found == database_.records.end() ? nullptr : &found->second;
}

std::string TunedSchedules::choices(StringRef graph, const Target &target) const {
  std::map<std::string, GraphChoices> ofEntries;
  for (StringRef entry : entriesWithChoices)
    if (const TuningRecord *record = recordOf(entry, graph, target))
      ofEntries[entry.str()] = record->choices;
  return choicesText(ofEntries);
}

const TuningRecord *TunedSchedules::grainRecord(const Target &target) const {
  auto found = database_.records.find({grainRecordName.str(), target.name.str(), anyRows});
  return found == database_.records.end() ? nullptr : &found->second;
}

ParallelGrain TunedSchedules::grain(const Target &target) const {
  const TuningRecord *record = grainRecord(target);
  return record ? grainOf(record->choices) : ParallelGrain();
}

} // namespace burin
