#include "emit/local_symbols.h"
#include "emit/write_file.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace llvm::object;

namespace burin {

namespace {

using File = ELFFile<ELF64LE>;
using Symbol = File::Elf_Sym;

/// For each symbol of a table, the one that stands for it: itself, or the first label at its place.
Expected<std::vector<uint32_t>> firstLabels(const File &file, const File::Elf_Shdr &table) {
  Expected<File::Elf_Sym_Range> symbols = file.symbols(&table);
  if (!symbols)
    return symbols.takeError();
  Expected<StringRef> names = file.getStringTableForSymtab(table);
  if (!names)
    return names.takeError();
  std::vector<uint32_t> first;
  DenseMap<std::pair<uint32_t, uint64_t>, uint32_t> at; // by section and offset
  for (const Symbol &symbol : *symbols) {
    uint32_t index = first.size();
    first.push_back(index);
    Expected<StringRef> name = symbol.getName(*names);
    if (!name)
      return name.takeError();
    if (symbol.getBinding() == ELF::STB_LOCAL && symbol.getType() == ELF::STT_NOTYPE && name->starts_with(".L") &&
        symbol.st_shndx != ELF::SHN_UNDEF && symbol.st_shndx < ELF::SHN_LORESERVE)
      first.back() = at.try_emplace({symbol.st_shndx, symbol.st_value}, index).first->second;
  }
  return first;
}

} // namespace

Error nameFirstLabels(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createFileError(path, buffer.getError());
  std::string bytes = (*buffer)->getBuffer().str();
  if (getElfArchType(bytes) != std::pair<unsigned char, unsigned char>(ELF::ELFCLASS64, ELF::ELFDATA2LSB))
    return Error::success();
  Expected<File> file = File::create(bytes);
  if (!file)
    return createFileError(path, file.takeError());
  Expected<File::Elf_Shdr_Range> sections = file->sections();
  if (!sections)
    return createFileError(path, sections.takeError());
  for (const File::Elf_Shdr &section : *sections) {
    if (section.sh_type != ELF::SHT_RELA)
      continue;
    Expected<const File::Elf_Shdr *> table = file->getSection(section.sh_link);
    if (!table)
      return createFileError(path, table.takeError());
    Expected<std::vector<uint32_t>> first = firstLabels(*file, **table);
    if (!first)
      return createFileError(path, first.takeError());
    Expected<File::Elf_Rela_Range> relocations = file->relas(section);
    if (!relocations)
      return createFileError(path, relocations.takeError());
    for (const File::Elf_Rela &relocation : *relocations) {
      Expected<const Symbol *> symbol = file->getRelocationSymbol(relocation, *table); // null: of none
      if (!symbol)
        return createFileError(path, symbol.takeError());
      if (!*symbol)
        continue;
      // The same bytes, which are ours to change.
      auto offset = reinterpret_cast<const char *>(&relocation) - bytes.data();
      reinterpret_cast<File::Elf_Rela *>(bytes.data() + offset)
          ->setSymbol((*first)[relocation.getSymbol(false)], false);
    }
  }
  return writeFile(path, bytes);
}

} // namespace burin
