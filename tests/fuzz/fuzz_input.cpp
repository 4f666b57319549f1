// One of the readers of read_input.h, BURIN_FUZZ_READ, under libFuzzer.
#include "read_input.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  // What the importer warns of; libFuzzer writes to stderr.
  return std::freopen("/dev/null", "w", stdout) ? 0 : 1;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  burin_fuzz::Verdict verdict = burin_fuzz::BURIN_FUZZ_READ({reinterpret_cast<const char *>(data), size});
  if (!verdict.wrong.empty()) {
    llvm::errs() << verdict.wrong << "\n";
    std::abort();
  }
  return 0;
}
