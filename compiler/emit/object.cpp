// Tables and entry points as LLVM IR, compiled, linked with the kernels, renamed and hidden.
//
// The tables mirror runtime/burin_plan.h field by field. The entry points only gather their arguments into arrays and
// forward to the runtime: what they do is data.
#include "emit/object.h"
#include "emit/link_modules.h"
#include "emit/local_symbols.h"
#include "emit/run_tool.h"
#include "emit/write_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace burin {

namespace {

class TableWriter {
public:
  TableWriter(Module &module, const TargetCode &code)
      : module_(module), context_(module.getContext()), plan_(*code.plan) {
    for (const KernelObject &kernel : code.kernels)
      symbolOf_[kernel.function] = kernel.symbol;
    for (const KernelDispatch &dispatch : code.dispatches) {
      symbolOf_[dispatch.function] = dispatch.symbol;
      writeDispatch(dispatch);
    }
  }

  /// `fallback` is the plan of the next target, or null.
  GlobalVariable *plan(Constant *fallback) {
    std::vector<Constant *> axes, parameters, segments, states, bits, streams;
    for (const PlanAxis &axis : plan_.axes)
      axes.push_back(record({text(axis.name), i64(axis.maximum)}));
    for (const PlanParameter &parameter : plan_.parameters)
      parameters.push_back(
          record({text(parameter.name), i32(parameter.shape.size()), i32(0),
                  array64({parameter.shape[0], parameter.shape.size() > 1 ? parameter.shape[1] : 1})}));
    for (const PlanSegment &s : plan_.segments)
      segments.push_back(record({i32(s.parameter), i32(s.layout), i32(s.transposed), i32(s.panel), i64(s.rows),
                                 i64(s.column), i64(s.destination), i32(s.terms), i32(s.group), i64(s.columns),
                                 i64(s.scales), i64(s.sums), i64(s.corrections)}));
    for (const PlanStateValue &v : plan_.stateValues)
      states.push_back(record({text(v.name), i32(v.type), i32(v.tile), i32(v.stream), i32(0), i64(v.rows),
                               i64(v.window), i64(v.features), i64(v.offset), i64(v.bytes)}));
    for (const CpuBit &bit : plan_.target->cpuBits)
      bits.push_back(record({i32(bit.leaf), i32(bit.subleaf), i32(bit.reg), i32(bit.mask)}));
    for (const PlanStream &s : plan_.streams)
      streams.push_back(
          record({text(s.name), entry(s.name + "_one", s.one), s.many ? entry(s.name + "_many", *s.many) : null(),
                  i32(s.axis), i32(s.mostRows), i64(s.capacity), i64(s.positionEnd)}));
    return global("plan", record({fallback ? fallback : null(),
                                  i32(BURIN_PLAN_VERSION),
                                  i32(axes.size()),
                                  i64(plan_.fingerprint),
                                  i64(plan_.graph),
                                  text(plan_.name),
                                  text(plan_.target->name),
                                  table("axes", axes),
                                  table("parameters", parameters),
                                  table("segments", segments),
                                  table("state_values", states),
                                  table("cpu_bits", bits),
                                  entry("forward", plan_.forward),
                                  table("streams", streams),
                                  i32(parameters.size()),
                                  i32(segments.size()),
                                  i32(states.size()),
                                  i32(bits.size()),
                                  i32(streams.size()),
                                  i32(0),
                                  i64(plan_.weightsBytes),
                                  i64(plan_.stateBytes),
                                  i64(plan_.grain.workerWork),
                                  i64(plan_.grain.entryWork),
                                  device()}));
  }

private:
  Function *kernelNamed(const std::string &symbol) {
    auto *type = FunctionType::get(Type::getInt32Ty(context_), {PointerType::get(context_, 0)}, false);
    return cast<Function>(module_.getOrInsertFunction(symbol + "_argv", type).getCallee());
  }

  /// int kernel_argv(void **arguments): counts the rows of one buffer (runtime/kernel_buffer.h) and hands on.
  void writeDispatch(const KernelDispatch &dispatch) {
    Function *function = kernelNamed(dispatch.symbol);
    if (!function->empty())
      return; // two plans of one object have it
    function->setLinkage(GlobalValue::InternalLinkage);
    function->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> builder(BasicBlock::Create(context_, "", function));
    Type *pointer = builder.getPtrTy(), *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty();
    Type *elementType = StructType::get(context_, {builder.getInt8Ty(), builder.getInt8Ty(), builder.getInt16Ty()});
    Type *buffer = StructType::get(context_, {i64, pointer, pointer, i64, elementType, i32, pointer, pointer});
    Type *dimension = StructType::get(context_, {i32, i32, i32, i32});
    Value *arguments = function->getArg(0);
    Value *described =
        builder.CreateLoad(pointer, builder.CreateConstGEP1_32(pointer, arguments, dispatch.rowArgument));
    Value *dimensions = builder.CreateLoad(pointer, builder.CreateStructGEP(buffer, described, 6));
    Value *rows = builder.CreateLoad(
        i32, builder.CreateConstInBoundsGEP2_32(dimension, builder.CreateConstGEP1_32(dimension, dimensions, 1), 0, 1));
    for (const KernelDispatch::Variant &variant : dispatch.variants) {
      auto *take = BasicBlock::Create(context_, "", function);
      auto *next = &variant == &dispatch.variants.back() ? nullptr : BasicBlock::Create(context_, "", function);
      if (next)
        builder.CreateCondBr(builder.CreateICmpSLE(rows, this->i32(variant.mostRows)), take, next);
      else
        builder.CreateBr(take);
      builder.SetInsertPoint(take);
      CallInst *call = builder.CreateCall(kernelNamed(variant.symbol), {arguments});
      call->setTailCall();
      builder.CreateRet(call);
      if (next)
        builder.SetInsertPoint(next);
    }
  }

  Constant *i32(int64_t value) { return ConstantInt::get(Type::getInt32Ty(context_), uint64_t(value), false, true); }
  Constant *i64(int64_t value) { return ConstantInt::get(Type::getInt64Ty(context_), uint64_t(value)); }
  Constant *null() { return ConstantPointerNull::get(PointerType::get(context_, 0)); }
  Constant *record(ArrayRef<Constant *> fields) { return ConstantStruct::getAnon(context_, fields); }
  Constant *array64(ArrayRef<int64_t> values) {
    return ConstantDataArray::get(context_, ArrayRef(reinterpret_cast<const uint64_t *>(values.data()), values.size()));
  }

  /// The functions of the target's GPU API: in a library beside the object.
  Constant *device() {
    if (plan_.target->device.empty())
      return null();
    return module_.getOrInsertGlobal(("burin_gpu_" + plan_.target->device).str(), Type::getInt8Ty(context_));
  }

  GlobalVariable *global(const Twine &name, Constant *value) {
    // Private: the object file has no symbol for it, which would be larger than many a table.
    auto *variable = new GlobalVariable(module_, value->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage,
                                        value, plan_.name + "_table_" + name);
    variable->setAlignment(Align(8));
    return variable;
  }
  Constant *text(StringRef value) {
    Constant *&known = texts_[value];
    if (!known)
      known = global("text", ConstantDataArray::getString(context_, value));
    return known;
  }
  Constant *table(const Twine &name, ArrayRef<Constant *> rows) {
    return rows.empty() ? null()
                        : global(name, ConstantArray::get(ArrayType::get(rows[0]->getType(), rows.size()), rows));
  }

  Constant *tensors(const Twine &name, ArrayRef<PlanTensor> list) {
    std::vector<Constant *> rows;
    for (const PlanTensor &t : list)
      rows.push_back(record({text(t.name), i32(t.type), i32(t.rowAxis), i32(t.columnAxis), i32(t.limit),
                             i32(t.rowsEach), i64(t.columns)}));
    return table(name, rows);
  }

  Constant *argument(const PlanArgument &a) {
    return record({i32(a.kind), i32(a.index), i32(a.type), i32(a.rowAxis), i32(a.columnAxis), i32(a.rowsEach),
                   i32(a.tile), i32(a.ring), i64(a.columns), i64(a.offset)});
  }

  Constant *guards(const Twine &name, ArrayRef<PlanGuard> list) {
    std::vector<Constant *> rows;
    for (const PlanGuard &g : list)
      rows.push_back(record({argument(g.signal), ConstantFP::get(context_, APFloat(g.threshold)), i32(g.parent)}));
    return table(name, rows);
  }

  Constant *entry(const std::string &name, const PlanEntry &entry) {
    std::vector<Constant *> calls;
    for (const PlanCall &call : entry.calls) {
      std::vector<Constant *> arguments;
      for (const PlanArgument &a : call.arguments)
        arguments.push_back(argument(a));
      std::string symbol = symbolOf_.lookup(call.kernel);
      Function *kernel = kernelNamed(symbol);
      calls.push_back(
          record({kernel, text(symbol), table(name + "_arguments", arguments), i32(arguments.size()),
                  i32(call.perSequence), i32(call.guard), i32(call.splitAxis), i32(call.splitUnits), i64(call.work)}));
    }
    return global(
        name + "_entry",
        record({table(name + "_calls", calls), tensors(name + "_inputs", entry.inputs),
                tensors(name + "_outputs", entry.outputs), guards(name + "_guards", entry.guards),
                i32(entry.calls.size()), i32(entry.inputs.size()), i32(entry.outputs.size()), i32(entry.guards.size()),
                i32(entry.usesPositions), array64(entry.scratchRowBytes), i64(entry.kernelScratchBytes)}));
  }

  Module &module_;
  LLVMContext &context_;
  const ModelPlan &plan_;
  StringMap<std::string> symbolOf_;
  StringMap<Constant *> texts_;
};

/// The entry points: each gathers what it is given and calls the runtime.
class EntryWriter {
public:
  EntryWriter(Module &module, const ModelPlan &plan, GlobalVariable *table)
      : module_(module), builder_(module.getContext()), plan_(plan), table_(table) {
    pointer_ = builder_.getPtrTy();
    number_ = builder_.getInt64Ty();                                   // int64_t
    size_ = module.getDataLayout().getIntPtrType(module.getContext()); // size_t
    status_ = builder_.getInt32Ty();
  }

  void run() {
    size_t axes = plan_.axes.size();
    begin("plan", pointer_, {});
    builder_.CreateRet(table_);
    begin("open", status_, {pointer_, pointer_});
    forwardTo("burin_rt_open", {table_, argument(0), argument(1)});
    begin("close", builder_.getVoidTy(), {pointer_});
    builder_.CreateCall(runtime("burin_rt_close", builder_.getVoidTy(), {pointer_}), {argument(0)});
    builder_.CreateRetVoid();
    begin("scratch_bytes", size_, std::vector<Type *>(axes, number_));
    forwardTo("burin_rt_scratch_bytes", {table_, gather(0, axes, number_), builder_.getInt64(1)});
    begin("batch_scratch_bytes", size_, std::vector<Type *>(axes + 1, number_));
    forwardTo("burin_rt_scratch_bytes", {table_, gather(1, axes, number_), argument(0)});

    // forward(model, scratch, scratch_bytes, rows…, inputs…, outputs…)
    size_t inputs = plan_.forward.inputs.size(), outputs = plan_.forward.outputs.size();
    begin("forward", status_, signature({pointer_, pointer_, size_}, axes, number_, inputs + outputs));
    forwardTo("burin_rt_forward", {table_, argument(0), argument(1), argument(2), gather(3, axes, number_),
                                   gather(3 + axes, inputs, pointer_), gather(3 + axes + inputs, outputs, pointer_)});
    // forward_batch(model, scratch, scratch_bytes, sequences, offsets…, inputs…, outputs…)
    begin("forward_batch", status_, signature({pointer_, pointer_, size_, number_}, axes, pointer_, inputs + outputs));
    forwardTo("burin_rt_forward_batch",
              {table_, argument(0), argument(1), argument(2), argument(3), gather(4, axes, pointer_),
               gather(4 + axes, inputs, pointer_), gather(4 + axes + inputs, outputs, pointer_)});
    if (!plan_.streams.empty())
      streaming();
  }

private:
  void streaming() {
    const PlanEntry &step = plan_.streams[0].one;
    begin("state_bytes", size_, {});
    builder_.CreateRet(ConstantInt::get(size_, uint64_t(plan_.stateBytes)));
    begin("reset", status_, {pointer_, pointer_, size_});
    forwardTo("burin_rt_reset", {table_, argument(0), argument(1), argument(2), builder_.getInt64(0)});
    begin("reset_at", status_, {pointer_, pointer_, size_, number_});
    forwardTo("burin_rt_reset", {table_, argument(0), argument(1), argument(2), argument(3)});
    // step(model, state, scratch, scratch_bytes, inputs…, outputs…)
    size_t inputs = step.inputs.size(), outputs = step.outputs.size();
    begin("step", status_, signature({pointer_, pointer_, pointer_, size_}, 0, number_, inputs + outputs));
    forwardTo("burin_rt_step", {table_, argument(0), argument(1), argument(2), argument(3), gather(4, inputs, pointer_),
                                gather(4 + inputs, outputs, pointer_)});
    for (auto [number, stream] : llvm::enumerate(plan_.streams))
      rowsOfStream(number == 0 ? "advance" : "append_" + stream.name, number, stream.one);
    begin("state_read", status_, {pointer_, pointer_, pointer_, pointer_, size_, pointer_});
    forwardTo("burin_rt_state_read",
              {table_, argument(0), argument(1), argument(2), argument(3), argument(4), argument(5)});
    begin("state_save", status_, {pointer_, pointer_, pointer_, size_, pointer_});
    forwardTo("burin_rt_state_save", {table_, argument(0), argument(1), argument(2), argument(3), argument(4)});
    begin("state_load", status_, {pointer_, pointer_, size_, pointer_, size_});
    forwardTo("burin_rt_state_load", {table_, argument(0), argument(1), argument(2), argument(3), argument(4)});
  }

  /// advance, append_<stream> (model, state, scratch, scratch_bytes, count, inputs…, outputs…)
  void rowsOfStream(StringRef name, int64_t number, const PlanEntry &entry) {
    size_t inputs = entry.inputs.size(), outputs = entry.outputs.size();
    begin(name, status_, signature({pointer_, pointer_, pointer_, size_, number_}, 0, number_, inputs + outputs));
    forwardTo("burin_rt_advance",
              {table_, argument(0), builder_.getInt32(number), argument(1), argument(2), argument(3), argument(4),
               gather(5, inputs, pointer_), gather(5 + inputs, outputs, pointer_)});
  }

  std::vector<Type *> signature(std::vector<Type *> first, size_t axes, Type *axisType, size_t tensors) {
    first.insert(first.end(), axes, axisType);
    first.insert(first.end(), tensors, pointer_);
    return first;
  }

  void begin(StringRef name, Type *result, ArrayRef<Type *> arguments) {
    function_ = Function::Create(FunctionType::get(result, arguments, false), Function::ExternalLinkage,
                                 plan_.name + "_" + name, module_);
    function_->addFnAttr(Attribute::NoUnwind);
    builder_.SetInsertPoint(BasicBlock::Create(module_.getContext(), "", function_));
  }

  Value *argument(unsigned i) { return function_->getArg(i); }

  /// An array on the stack of `count` arguments from the `first`; null for none.
  Value *gather(unsigned first, unsigned count, Type *type) {
    if (count == 0)
      return ConstantPointerNull::get(cast<PointerType>(pointer_));
    Value *array = builder_.CreateAlloca(ArrayType::get(type, count));
    for (unsigned i = 0; i < count; ++i)
      builder_.CreateStore(argument(first + i),
                           builder_.CreateConstInBoundsGEP2_64(ArrayType::get(type, count), array, 0, i));
    return array;
  }

  FunctionCallee runtime(StringRef name, Type *result, ArrayRef<Type *> arguments) {
    return module_.getOrInsertFunction(name, FunctionType::get(result, arguments, false));
  }

  void forwardTo(StringRef name, ArrayRef<Value *> arguments) {
    std::vector<Type *> types;
    for (Value *argument : arguments)
      types.push_back(argument->getType());
    builder_.CreateRet(builder_.CreateCall(runtime(name, function_->getReturnType(), types), arguments));
  }

  Module &module_;
  IRBuilder<> builder_;
  const ModelPlan &plan_;
  GlobalVariable *table_;
  Type *pointer_, *size_, *number_, *status_;
  Function *function_ = nullptr;
};

/// The functions that the object makes visible, as symbols.
std::vector<std::string> visibleSymbols(const ModelPlan &plan) {
  std::vector<std::string> symbols = entryPointsOf(plan);
  for (std::string &symbol : symbols)
    symbol = plan.name + "_" + symbol;
  return symbols;
}

/// For the linker: one section of code of all kernels. The plan refers to each of them, so none could be left out of a
/// program, and a section of its own costs each a header, a name and a table of relocations.
const char mergedSections[] = "SECTIONS { .text : { *(.text .text.*) } }\n";

/// Tables and entry points as any processor runs them that runs one of the targets: compiled for the last.
Error compileTables(ArrayRef<TargetCode> targets, StringRef path) {
  static const bool initialised = [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmPrinters();
    return true;
  }();
  (void)initialised;
  std::vector<const ModelPlan *> plans;
  for (const TargetCode &code : targets)
    plans.push_back(code.plan);
  ModelPlan plan = boundOf(plans);
  const Target &last = *plans.back()->target;
  LLVMContext context;
  Module module(plan.name, context); // the file's symbol too: it must say nothing of where it was compiled
  Triple triple(last.triple);
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("no code generator for '" + last.triple + "': " + error);
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, last.cpu, last.features, TargetOptions(), Reloc::PIC_));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
  GlobalVariable *table = nullptr;
  for (const TargetCode &code : reverse(targets))
    table = TableWriter(module, code).plan(table);
  EntryWriter(module, plan, table).run();
  if (verifyModule(module, &errs()))
    return createStringError("the tables of model '" + plan.name + "' are not valid LLVM IR");
  if (linksModules(last))
    for (const TargetCode &code : targets)
      if (Error error = linkModules(module, code.kernels, visibleSymbols(plan)))
        return error;
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("no object files for '" + last.triple + "'");
  passes.run(module);
  return writeFile(path, StringRef(bytes.data(), bytes.size()));
}

} // namespace

std::vector<std::string> entryPointsOf(const ModelPlan &plan) {
  std::vector<std::string> names{"plan",    "open",         "close", "scratch_bytes", "batch_scratch_bytes",
                                 "forward", "forward_batch"};
  if (plan.streams.empty())
    return names;
  names.insert(names.end(),
               {"state_bytes", "reset", "reset_at", "step", "advance", "state_read", "state_save", "state_load"});
  for (const PlanStream &context : ArrayRef(plan.streams).drop_front())
    names.push_back("append_" + context.name);
  return names;
}

ArrayRef<std::pair<std::string, std::string>> runtimeHooks() {
  static const std::vector<std::pair<std::string, std::string>> hooks{
      {"halide_malloc", "burin_rt_malloc"}, {"halide_free", "burin_rt_free"}, {"halide_error", "burin_rt_error"}};
  return hooks;
}

Error writeObject(ArrayRef<TargetCode> targets, StringRef folder, StringRef path) {
  const ModelPlan &plan = *targets.front().plan;
  std::string tables = (folder + "/tables.o").str(), linked = (folder + "/linked.o").str(),
              hidden = (folder + "/hidden.o").str(), oneOfEach = (folder + "/sections.ld").str();
  if (Error error = compileTables(targets, tables))
    return error;
  if (linksModules(*plan.target))
    return installFile(tables, path);

  // One object of all: what was global in one part and used in another is bound here.
  if (Error error = writeFile(oneOfEach, mergedSections))
    return error;
  std::vector<std::string> link{plan.target->linker.str(), "-r", "-T", oneOfEach, "-o", linked, tables};
  StringMap<bool> linkedOnce;
  for (const TargetCode &code : targets)
    for (const KernelObject &kernel : code.kernels)
      if (linkedOnce.try_emplace(kernel.symbol, true).second)
        link.push_back(kernel.path);
  if (Error error = runTool(link))
    return error;
  if (Error error = nameFirstLabels(linked))
    return error;

  // Only the entry points stay visible, and Halide's hooks get the runtime's names, so that a program may hold a Halide
  // library of its own.
  std::vector<std::string> copy{"llvm-objcopy", "--strip-unneeded"};
  for (const std::string &symbol : visibleSymbols(plan))
    copy.push_back("--keep-global-symbol=" + symbol);
  for (const auto &[halides, runtimes] : runtimeHooks())
    copy.push_back("--redefine-sym=" + halides + "=" + runtimes);
  // What hands a call's arguments to a kernel is smaller than a name of its own would be: one for all of a target.
  for (const TargetCode &code : targets) {
    std::string handsOn = plan.name + "_" + llvm::join(llvm::split(code.plan->target->name, '-'), "_") + "_argv";
    for (const KernelObject &kernel : code.kernels)
      copy.push_back("--redefine-sym=" + kernel.symbol + "_argv=" + handsOn);
    for (const KernelDispatch &dispatch : code.dispatches)
      copy.push_back("--redefine-sym=" + dispatch.symbol + "_argv=" + handsOn);
  }
  copy.insert(copy.end(), {linked, hidden});
  if (Error error = runTool(copy))
    return error;
  return installFile(hidden, path);
}

Error writeSharedLibrary(StringRef object, ArrayRef<std::string> archives, StringRef path) {
  std::string temporary = (path + ".new").str();
  std::vector<std::string> link{"ld.lld", "-shared", "--undefined=burin_status_text", "-o", temporary, object.str()};
  link.insert(link.end(), archives.begin(), archives.end());
  if (Error error = runTool(link))
    return error;
  return errorCodeToError(sys::fs::rename(temporary, path));
}

} // namespace burin
