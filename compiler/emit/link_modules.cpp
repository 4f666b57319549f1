#include "emit/link_modules.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace burin {

Error linkModules(Module &module, ArrayRef<KernelObject> kernels, ArrayRef<std::string> visible) {
  // What LLVM has to say of a clash; unless somebody listens, it ends the process.
  std::string reason;
  module.getContext().setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *diagnostic, void *reason) {
        raw_string_ostream stream(*static_cast<std::string *>(reason));
        DiagnosticPrinterRawOStream printer(stream);
        if (diagnostic->getSeverity() == DS_Error)
          diagnostic->print(printer);
      },
      &reason);
  auto stopListening = make_scope_exit([&] { module.getContext().setDiagnosticHandlerCallBack(nullptr); });
  Linker linker(module);
  StringSet<> linked;
  for (const KernelObject &kernel : kernels) {
    if (!linked.insert(kernel.symbol).second)
      continue;
    auto file = MemoryBuffer::getFile(kernel.path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file)
      return createFileError(kernel.path, file.getError());
    auto parsed = parseBitcodeFile(**file, module.getContext());
    if (!parsed)
      return joinErrors(createStringError("the bitcode of kernel '" + kernel.symbol + "'"), parsed.takeError());
    // Halide's LLVM writes triple and layout in its own spelling of the same machine; its flags speak to Halide alone.
    (*parsed)->setTargetTriple(module.getTargetTriple());
    (*parsed)->setDataLayout(module.getDataLayout());
    if (NamedMDNode *flags = (*parsed)->getModuleFlagsMetadata())
      flags->eraseFromParent();
    if (linker.linkInModule(std::move(*parsed)))
      return createStringError("kernel '" + kernel.symbol + "' does not link with the tables: " + reason);
  }
  for (const auto &[halides, runtimes] : runtimeHooks())
    if (Function *hook = module.getFunction(halides))
      hook->setName(runtimes);
  StringSet<> stays;
  for (const std::string &name : visible)
    stays.insert(name);
  for (GlobalValue &value : module.global_values())
    if (!value.isDeclaration() && !stays.contains(value.getName()))
      value.setLinkage(GlobalValue::InternalLinkage);
  return Error::success();
}

} // namespace burin
