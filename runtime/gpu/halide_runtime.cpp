// Writes Halide's runtime for a target as an object file: halide_runtime TARGET OBJECT.
#include "Halide.h"
#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s TARGET OBJECT\n", argv[0]);
    return 2;
  }
  Halide::compile_standalone_runtime(std::string(argv[2]), Halide::Target(argv[1]));
}
