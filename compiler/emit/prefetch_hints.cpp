// Disassembles, because the bytes of an instruction may stand in another's number.
#include "emit/prefetch_hints.h"
#include "emit/write_file.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;

namespace burin {

namespace {
/// What a disassembler is made of.
struct Disassembly {
  explicit Disassembly(const Triple &triple) {
    InitializeAllTargetInfos();
    InitializeAllTargetMCs();
    InitializeAllDisassemblers();
    std::string error;
    const Target *target = TargetRegistry::lookupTarget(triple, error);
    if (!target)
      return;
    registers.reset(target->createMCRegInfo(triple));
    assembly.reset(target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
    features.reset(target->createMCSubtargetInfo(triple, "", ""));
    instructions.reset(target->createMCInstrInfo());
    context = std::make_unique<MCContext>(triple, assembly.get(), registers.get(), features.get());
    disassembler.reset(target->createMCDisassembler(*features, *context));
  }

  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembly;
  std::unique_ptr<MCSubtargetInfo> features;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler; // null: LLVM has none for this processor
};
} // namespace

Error prefetchIntoAllCaches(StringRef objectPath) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(objectPath);
  if (!buffer)
    return createFileError(objectPath, buffer.getError());
  std::string bytes = (*buffer)->getBuffer().str();
  auto object = object::ObjectFile::createObjectFile((*buffer)->getMemBufferRef());
  if (!object)
    return createFileError(objectPath, object.takeError());
  Disassembly of((*object)->makeTriple());
  if (!of.disassembler)
    return Error::success();
  for (const object::SectionRef &section : (*object)->sections()) {
    if (!section.isText())
      continue;
    Expected<StringRef> text = section.getContents();
    if (!text)
      return createFileError(objectPath, text.takeError());
    ArrayRef<uint8_t> code(text->bytes_begin(), text->size());
    char *written = bytes.data() + (text->data() - (*buffer)->getBufferStart());
    uint64_t size = 1;
    for (uint64_t place = 0; place < code.size(); place += std::max<uint64_t>(size, 1)) {
      MCInst instruction;
      auto status = of.disassembler->getInstruction(instruction, size, code.drop_front(place), place, nulls());
      if (status != MCDisassembler::Success || of.instructions->getName(instruction.getOpcode()) != "PREFETCHNTA")
        continue;
      // [prefixes] 0F 18 /0 becomes 0F 18 /1.
      StringRef one = text->substr(place, size);
      size_t opcode = one.find(StringRef("\x0f\x18", 2));
      if (opcode != StringRef::npos && opcode + 2 < size)
        written[place + opcode + 2] |= 1 << 3;
    }
  }
  return writeFile(objectPath, bytes);
}

} // namespace burin
