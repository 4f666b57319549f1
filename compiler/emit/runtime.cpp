// The names of the runtime's archives, and what a bare program has to provide; an object is asked what it needs.
#include "emit/runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include <set>

using namespace llvm;

namespace burin {

StringRef archiveNameOf(Runtime runtime) {
  return runtime == Runtime::bare ? "libburin_runtime_bare.a" : "libburin_runtime.a";
}

ArrayRef<BareSymbol> bareSymbols() {
  static const BareSymbol symbols[] = {
#define BURIN_BARE_SYMBOL(name, reason) {#name, reason},
#include "bare_symbols.def"
#undef BURIN_BARE_SYMBOL
  };
  return symbols;
}

Error checkBareObject(StringRef path) {
  auto object = object::ObjectFile::createObjectFile(path);
  if (!object)
    return object.takeError();
  std::set<std::string> others;
  for (const object::SymbolRef &symbol : object->getBinary()->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    Expected<object::SymbolRef::Type> type = symbol.getType();
    if (!type)
      return type.takeError();
    // Neither function nor data: what WebAssembly's linker defines, the stack's pointer and the table of functions.
    bool isProvided =
        name->empty() || *type == object::SymbolRef::ST_Other || name->starts_with("burin_rt_") ||
        is_contained(map_range(bareSymbols(), [](const BareSymbol &s) { return StringRef(s.name); }), *name);
    if ((*flags & object::SymbolRef::SF_Undefined) && !isProvided)
      others.insert(name->str());
  }
  if (others.empty())
    return Error::success();
  return createStringError(path + " needs " + join(others, ", ") +
                           ", which a program without an operating system is not asked to provide");
}

} // namespace burin
