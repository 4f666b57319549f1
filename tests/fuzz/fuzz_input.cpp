// One of the readers of read_input.h, BURIN_FUZZ_READ, under libFuzzer.
#include "read_input.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>
#include <string>

/// LLVM's allocators mark what they have not given away, in the code that is compiled here, and not in LLVM's
/// libraries, which take from the same ones: marks would be found where nothing is wrong.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  // What the importer warns of; libFuzzer writes to stderr.
  return std::freopen("/dev/null", "w", stdout) ? 0 : 1;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size); // as files are read, with a 0 behind it
  burin_fuzz::Verdict verdict = burin_fuzz::BURIN_FUZZ_READ(text);
  if (!verdict.wrong.empty()) {
    llvm::errs() << verdict.wrong << "\n";
    std::abort();
  }
  return 0;
}
