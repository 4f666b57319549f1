#include "tuner/trial.h"
#include "emit/run_tool.h"
#include "emit/split.h"
#include "emit/tuned_schedules.h"
#include "emit/write_file.h"
#include "machine/loaded_model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/failure.h"
#include "tools/work.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <set>

using namespace mlir;

namespace burin {

// The program's sources, as string literals (compiler/tools/CMakeLists.txt).
static const char trialHeader[] =
#include "tuner/trial_program.h.inc"
    ;
static const char trialSource[] =
#include "tuner/trial_program.c.inc"
    ;

// ---- Kernels of a plan as C tables

static llvm::StringRef typeName(int type) {
  static const llvm::StringLiteral names[] = {"TRIAL_F32", "TRIAL_F64", "TRIAL_I64", "TRIAL_I32",
                                              "TRIAL_U8",  "TRIAL_U16", "TRIAL_I8"};
  static_assert(std::size(names) == BURIN_I8 + 1, "every type of burin_plan.h has a name");
  return names[type];
}

/// Rows that a stream took before the call: half of what it has room for.
static int64_t rowsTaken(const ModelPlan &plan, int stream, int64_t most) {
  int64_t bound = 128; // where nothing bounds it
  if (stream < int(plan.streams.size()))
    for (int64_t end : {plan.streams[stream].capacity, plan.streams[stream].positionEnd})
      bound = end >= 0 ? std::min(bound, end) : bound;
  return std::max<int64_t>(0, (bound - most) / 2);
}

static std::string argumentText(const ModelPlan &plan, const PlanEntry &entry, const PlanArgument &argument,
                                int rowAxis, bool written, int64_t most) {
  struct {
    llvm::StringRef kind = "TRIAL_ROWS";
    bool varies = false;
    int64_t rowsEach = 1, columns = 1, stride = 1, value = 0;
  } row;
  row.columns = argument.columns;
  switch (argument.kind) {
  case BURIN_ARG_CONTEXT:
    row.kind = "TRIAL_CONTEXT";
    break;
  case BURIN_ARG_WEIGHTS:
  case BURIN_ARG_STATE:
    row.kind = "TRIAL_VECTOR";
    break;
  case BURIN_ARG_STATE_ROW:
    row.stride = argument.tile ? argument.tile : 1;
    break;
  case BURIN_ARG_POSITION:
  case BURIN_ARG_COUNT:
    row.kind = "TRIAL_NUMBER";
    row.value = rowsTaken(plan, argument.index, most);
    break;
  case BURIN_ARG_FIRST_TILE:
    row.kind = "TRIAL_TILE";
    break;
  case BURIN_ARG_POSITIONS:
    row.kind = "TRIAL_COUNTS";
    row.columns = 1;
    row.varies = true;
    break;
  default:
    row.rowsEach = argument.rowsEach;
    row.varies = argument.rowAxis >= 0 || (argument.rowAxis == BURIN_AXIS_SEQUENCE && rowAxis == BURIN_AXIS_SEQUENCE);
    if (argument.kind == BURIN_ARG_INPUT && argument.type == BURIN_I32)
      row.value = entry.inputs[argument.index].limit;
  }
  return llvm::formatv("  {{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}},\n", row.kind,
                       row.kind == "TRIAL_COUNTS" ? "TRIAL_I64" : typeName(argument.type), int(row.varies),
                       row.rowsEach, int(argument.columnAxis >= 0), row.stride, int(written), row.columns, row.value)
      .str();
}

/// The number of rows that the buffers of one sequence have at most.
static int64_t mostRowsOf(const ModelPlan &plan, int axis) {
  return axis >= 0 ? plan.axes[axis].maximum : 64; // of sequences: a batch
}

std::vector<TrialKernel> trialKernelsOf(ModuleOp module, const ModelPlan &plan) {
  std::vector<TrialKernel> kernels;
  for (const KernelText &text : kernelsOf(module)) {
    const PlanEntry *entry = nullptr;
    const PlanCall *call = nullptr;
    for (const PlanEntry *each : entriesOf(plan))
      for (const PlanCall &one : each->calls)
        if (!call && one.kernel == text.function) {
          call = &one;
          entry = each;
        }
    if (!call)
      continue;
    TrialKernel kernel;
    kernel.text = text;
    int rowArgument = rowArgumentOf(text, plan);
    int axis = rowArgument < 0 ? BURIN_AXIS_ONE : call->arguments[rowArgument].rowAxis;
    kernel.rowsVary = rowArgument >= 0;
    for (int bucket = 0; bucket < rowBuckets; ++bucket)
      kernel.plannedRows.push_back(plannedRowsOf(text, plan, bucket));
    if (kernel.rowsVary)
      kernel.mostRows = mostRowsOf(plan, axis);
    else
      for (const PlanArgument &argument : call->arguments)
        if (argument.kind == BURIN_ARG_OUTPUT || argument.kind == BURIN_ARG_SCRATCH)
          kernel.mostRows = std::max<int64_t>(kernel.mostRows, argument.rowsEach);
    // Results stand behind the context, the weights, what is read and the first tile.
    auto function = module.lookupSymbol<func::FuncOp>(text.function);
    size_t firstResult = 1 + (call->arguments.size() > 1 && call->arguments[1].kind == BURIN_ARG_WEIGHTS);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      firstResult += !function.getArgAttr(i, attribute::weightOffset);
    firstResult += takesFirstTile(function, *plan.target);
    for (auto [index, argument] : llvm::enumerate(call->arguments))
      kernel.arguments +=
          argumentText(plan, *entry, argument, axis, index >= firstResult, kernel.rowsVary ? kernel.mostRows : 1);
    if (call->arguments.size() > 1 && call->arguments[1].kind == BURIN_ARG_WEIGHTS) {
      constexpr int64_t beyondCaches = 64 << 20;
      kernel.weightArgument = 1;
      kernel.weightCopies = int(std::clamp<int64_t>(std::min(plan.weightsBytes, beyondCaches) /
                                                        std::max<int64_t>(call->arguments[1].columns * 4, 1),
                                                    1, 1 << 12));
    }
    for (const PlanArgument &argument : call->arguments) {
      double bytes = double(argument.columns) * (argument.type == BURIN_F64 || argument.type == BURIN_I64 ? 8 : 4);
      bool varies = argument.rowAxis >= 0 || (argument.rowAxis == BURIN_AXIS_SEQUENCE && axis == BURIN_AXIS_SEQUENCE);
      (varies ? kernel.bytesPerRow : kernel.bytes) += bytes * argument.rowsEach;
    }
    kernel.flops = [function, axes = plan.axes](int64_t rows) {
      RowCounts counts;
      for (const PlanAxis &each : axes)
        counts[each.name] = std::min(rows, each.maximum);
      counts[""] = rows; // and as many that a stream keeps
      return flopsIn(function, counts);
    };
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::vector<int> bucketsOf(const TrialKernel &kernel) {
  std::vector<int> buckets;
  int last = bucketOf(kernel.mostRows);
  for (int bucket = kernel.rowsVary ? 0 : last; bucket <= last; ++bucket)
    buckets.push_back(bucket);
  return buckets;
}

std::vector<int64_t> sizesOf(const TrialKernel &kernel, int bucket) {
  if (!kernel.rowsVary)
    return {kernel.mostRows};
  int64_t least = leastRowsOf(bucket), end = std::min(mostRowsOf(bucket), kernel.mostRows);
  int64_t middle = least + (end - least) / 2;
  return middle == end ? std::vector<int64_t>{end} : std::vector<int64_t>{middle, end};
}

// ---- The bench

llvm::Expected<std::unique_ptr<TrialBench>> TrialBench::open(const Target &target, const TrialOptions &options,
                                                             const std::atomic<bool> &interrupted) {
  std::unique_ptr<TrialBench> bench(new TrialBench(target, options, interrupted));
  if (llvm::Error error = bench->prepare())
    return error;
  return bench;
}

llvm::Expected<std::unique_ptr<TrialBench>> TrialBench::openToCompile(const Target &target, const TrialOptions &options,
                                                                      const std::atomic<bool> &interrupted) {
  std::unique_ptr<TrialBench> bench(new TrialBench(target, options, interrupted));
  if (llvm::Error error = bench->makeFolder())
    return error;
  return bench;
}

llvm::Error TrialBench::makeFolder() {
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("burin-tune", folder))
    return failure("a temporary folder cannot be made: " + error.message());
  folder_ = folder.str().str();
  return llvm::Error::success();
}

llvm::Error TrialBench::prepare() {
  if (!target_.device.empty())
    return failure("target '" + target_.name + "': its kernels run on a GPU, and trials run on a processor");
  if (target_.linker.empty())
    return failure("target '" + target_.name +
                   "': its kernels are linked as modules, and no program is made of one kernel");
  if (llvm::Error error = makeFolder())
    return error;
  // The target's own compiler driver; on this architecture, the machine's.
  for (llvm::StringRef word :
       llvm::split(sharesArchitecture(target_) ? llvm::StringRef("cc") : llvm::StringRef(target_.programLinker), ' '))
    if (!word.empty())
      linker_.push_back(word.str());
  if (linker_.empty())
    return failure("target '" + target_.name + "' has no program linker in schedules/targets.def");
  if (llvm::Error error = installText(trialHeader, folder_ + "/trial_program.h"))
    return error;
  if (llvm::Error error = installText(trialSource, folder_ + "/trial_program.c"))
    return error;
  std::vector<std::string> compile{linker_[0]};
  for (const std::string &word : llvm::drop_begin(linker_))
    if (!llvm::StringRef(word).starts_with("-Wl"))
      compile.push_back(word);
  compile.insert(compile.end(), {"-O2", "-c", "-o", folder_ + "/trial_program.o", folder_ + "/trial_program.c"});
  return runTool(compile);
}

TrialBench::~TrialBench() {
  if (!folder_.empty())
    llvm::sys::fs::remove_directories(folder_);
}

/// An object's bytes with its own name blanked, which is all that differs between objects of equal code.
static std::string withoutSymbol(std::string bytes, llvm::StringRef symbol) {
  for (size_t at = bytes.find(symbol); at != std::string::npos; at = bytes.find(symbol, at + 1))
    std::fill_n(bytes.begin() + at, symbol.size(), '_');
  return bytes;
}

/// Takes what was compiled, and its object to a file.
void TrialBench::keep(Candidate &candidate, CompiledKernel compiled, const std::string &symbol) {
  std::string bytes = std::move(compiled.object);
  candidate.compiled = std::move(compiled);
  candidate.used = candidate.compiled.used;
  candidate.objectBytes = bytes.size();
  candidate.path = folder_ + "/" + symbol + ".o";
  if (llvm::Error error = installText(bytes, candidate.path))
    candidate.refused = llvm::toString(std::move(error));
  candidate.content = llvm::xxh3_64bits(withoutSymbol(std::move(bytes), symbol));
}

Candidate TrialBench::compileAutoscheduled(const TrialKernel &kernel, const std::string &autoscheduler, int64_t rows) {
  Candidate candidate;
  KernelSource source{
      llvm::formatv("candidate_{0,0+6}", kernels_++).str(), "kernel", kernel.text.text, {}, autoscheduler, rows};
  KernelCompileOptions options;
  options.useCache = false;
  options.timeLimitSeconds = 60;
  options.failed = [&](size_t, llvm::Error error) { candidate.refused = llvm::toString(std::move(error)); };
  auto compiled = compileKernels(source, target_, options);
  if (!compiled)
    candidate.refused = llvm::toString(compiled.takeError());
  else if (candidate.refused.empty())
    keep(candidate, std::move(compiled->front()), source.symbol);
  // No bound of what it allocates is known: what it may take is what a core can have.
  candidate.compiled.heapBytes = std::max<int64_t>(candidate.compiled.heapBytes, 64 << 20);
  return candidate;
}

std::vector<Candidate> TrialBench::compile(const TrialKernel &kernel, llvm::ArrayRef<ScheduleParameters> points,
                                           const Candidate *limits, int64_t mostRows) {
  std::vector<Candidate> candidates(points.size());
  std::vector<KernelSource> sources;
  for (auto [point, candidate] : llvm::zip_equal(points, candidates)) {
    candidate.asked = point;
    sources.push_back(
        {llvm::formatv("candidate_{0,0+6}", kernels_++).str(), "kernel", kernel.text.text, point, {}, mostRows});
  }
  KernelCompileOptions options;
  options.jobs = options_.jobs;
  options.cacheFolder = options_.cacheFolder;
  options.useCache = false; // symbols are numbered: nothing would be found again
  options.timeLimitSeconds = 60;
  options.failed = [&](size_t index, llvm::Error error) {
    candidates[index].refused = llvm::toString(std::move(error));
  };
  auto compiled = compileKernels(sources, target_, options);
  if (!compiled) {
    for (Candidate &candidate : candidates)
      candidate.refused = "not compiled";
    llvm::consumeError(compiled.takeError());
    return candidates;
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate &candidate = candidates[i];
    if (!candidate.refused.empty())
      continue;
    keep(candidate, std::move((*compiled)[i]), sources[i].symbol);
    const CompiledKernel &its = candidate.compiled;
    // Derived: what a first-level instruction cache holds, or four times the default where that has more.
    constexpr size_t mostCode = 64 << 10;
    if (limits) {
      const CompiledKernel &most = limits->compiled;
      size_t code = std::max(mostCode, 4 * limits->objectBytes);
      int64_t stack = std::max<int64_t>(most.stackBytes, 16 << 10);
      if (candidate.objectBytes > code)
        candidate.refused =
            std::to_string(candidate.objectBytes) + " bytes of object, expected at most " + std::to_string(code);
      else if (its.heapBytes > most.heapBytes)
        candidate.refused = std::to_string(its.heapBytes) + " bytes of scratch, expected at most the default's " +
                            std::to_string(most.heapBytes);
      else if (its.stackBytes > stack)
        candidate.refused =
            std::to_string(its.stackBytes) + " bytes of stack, expected at most " + std::to_string(stack);
    }
  }
  return candidates;
}

/// Runs a command with stdout to a file; its text, or why there is none.
llvm::Expected<std::string> TrialBench::execute(const std::string &program) {
  std::vector<std::string> command;
  if (options_.runner.empty()) {
    command = {program};
  } else { // as a shell reads it, so that a runner may have arguments
    command = {"/bin/sh", "-c", options_.runner + " \"$1\"", "runner", program};
  }
  std::string output = program + ".out", errors = program + ".err", message;
  std::vector<llvm::StringRef> words(command.begin(), command.end());
  constexpr unsigned limitSeconds = 600;
  int status = llvm::sys::ExecuteAndWait(command[0], words, std::nullopt,
                                         {std::nullopt, llvm::StringRef(output), llvm::StringRef(errors)}, limitSeconds,
                                         0, &message);
  auto text = [](const std::string &path) {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().trim().str() : std::string();
  };
  std::string said = text(output), complaint = text(errors);
  if (status != 0) {
    llvm::StringRef last = llvm::StringRef(said).rsplit('\n').second;
    return failure((options_.runner.empty() ? "the trial program" : "runner '" + options_.runner + "'") +
                   " ended with status " + llvm::Twine(status) +
                   (complaint.empty() ? message.empty() ? last.empty() ? "" : ": " + last.str() : ": " + message
                                      : ": " + llvm::StringRef(complaint).take_front(300).str()));
  }
  return said;
}

llvm::Expected<TrialResult> TrialBench::run(const TrialKernel &kernel, llvm::ArrayRef<const Candidate *> candidates,
                                            llvm::ArrayRef<TrialSize> sizes, int rounds, double secondsEach) {
  std::string program = folder_ + "/trial_" + std::to_string(programs_++), table = program + ".c";
  int64_t heap = 0;
  std::string text = "#include \"trial_program.h\"\n", kernels;
  std::vector<std::string> objects;
  for (const Candidate *candidate : candidates) {
    std::string symbol = llvm::sys::path::stem(candidate->path).str();
    text += "extern int " + symbol + "_argv(void **);\n";
    kernels += "  {" + symbol + "_argv, \"" + candidate->used.text() + "\"},\n";
    objects.push_back(candidate->path);
    heap = std::max(heap, candidate->compiled.heapBytes);
  }
  text += "const trial_kernel trial_kernels[] = {\n" + kernels + "};\n";
  text += "const trial_argument trial_arguments[] = {\n" + kernel.arguments + "};\n";
  text += "const trial_size trial_sizes[] = {";
  for (const TrialSize &size : sizes)
    text += "{" + std::to_string(size.rows) + ", " + std::to_string(int(size.timed)) + "}, ";
  text += llvm::formatv("};\nconst int32_t trial_kernel_count = {0}, trial_argument_count = sizeof trial_arguments / "
                        "sizeof *trial_arguments, trial_size_count = {1}, trial_rounds = {2}, trial_weight_argument = "
                        "{5}, trial_weight_copies = {6};\n"
                        "const int64_t trial_arena_bytes = {3}, trial_nanoseconds = {4};\n",
                        candidates.size(), sizes.size(), rounds, heap + 4096, int64_t(secondsEach * 1e9),
                        kernel.weightArgument, kernel.weightCopies)
              .str();
  if (llvm::Error error = installText(text, table))
    return error;
  std::vector<std::string> link = linker_;
  link.insert(link.end(), {"-o", program, "-I" + folder_, table, folder_ + "/trial_program.o"});
  link.insert(link.end(), objects.begin(), objects.end());
  link.push_back("-lm");
  if (llvm::Error error = runTool(link))
    return error;
  llvm::scope_exit clean([&] {
    for (const char *suffix : {"", ".c", ".out", ".err"})
      llvm::sys::fs::remove(program + suffix);
  });
  auto said = execute(program);
  if (!said)
    return said.takeError();

  TrialResult result;
  result.seconds.assign(candidates.size(), std::vector<double>(sizes.size(), std::nan("")));
  result.refused.assign(candidates.size(), "");
  std::map<int64_t, std::string> bits; // of the first, by rows
  bool done = false;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(*said).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef> words;
    line.split(words, ' ', -1, /*KeepEmpty=*/false);
    done |= line.trim() == "done";
    size_t number;
    int64_t rows;
    if (words.size() < 4 || words[0] != "kernel" || words[1].getAsInteger(10, number) || number >= candidates.size())
      continue;
    if (words[2] == "wrote") {
      result.refused[number] = "it wrote outside its buffers";
      continue;
    }
    if (words.size() != 6 || words[2] != "rows" || words[3].getAsInteger(10, rows))
      continue;
    auto size = llvm::find_if(sizes, [&](const TrialSize &one) { return one.rows == rows; });
    double seconds;
    if (size == sizes.end())
      continue;
    if (words[4] == "bits" && number == 0)
      bits[rows] = words[5].str();
    else if (words[4] == "bits" && bits[rows] != words[5])
      result.refused[number] = "other bits than the default's at " + std::to_string(rows) + " rows";
    else if (words[4] == "seconds" && !words[5].getAsDouble(seconds) && seconds > 0)
      result.seconds[number][size - sizes.begin()] = seconds;
  }
  bool complete = done && bits.size() == sizes.size();
  for (size_t s = 0; s < sizes.size(); ++s)
    for (auto &seconds : result.seconds)
      complete &= !sizes[s].timed || std::isfinite(seconds[s]);
  if (!complete)
    return failure((options_.runner.empty() ? "the trial program" : "runner '" + options_.runner + "'") +
                   " did not give a time and bits for each kernel and size, expected what the program prints");
  return result;
}

} // namespace burin
