#include "tools/tool_main.h"

int main(int argc, char **argv) { return burin::toolMain(argc, argv); }
