// Kernels compile in processes of the running executable, so a test that compiles has a main of its own. What they
// compile is kept in the build folder and not in the user's cache.
#include "emit/kernel_worker.h"
#include "gtest/gtest.h"
#include <cstdlib>

int main(int argc, char **argv) {
  if (burin::isKernelWorker(argc, argv))
    return burin::runKernelWorker(argc, argv);
  setenv("BURIN_KERNEL_CACHE", BURIN_TEST_KERNEL_CACHE, /*overwrite=*/0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
