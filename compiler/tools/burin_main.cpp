// A DSL program's main: the graph is declared when a command asks for it.
#include "dsl/burin_main.h"
#include "tools/tool_main.h"

namespace burin {

int burin_main(int argc, char **argv, Graph (*build)()) {
  return toolMain(argc, argv, [build] { return takeModuleOrPrint(build()); });
}

} // namespace burin
