// Kernels compile in processes of the running executable, so a test that compiles has a main of its own. What they
// compile is kept in the build folder and not in the user's cache; so is what OpenCL on a processor compiles of it,
// which is not optimised there: tests are small, and an optimiser is not what they are about.
#include "emit/kernel_worker.h"
#include "gtest/gtest.h"
#include <cstdlib>

int main(int argc, char **argv) {
  if (burin::isKernelWorker(argc, argv))
    return burin::runKernelWorker(argc, argv);
  setenv("BURIN_KERNEL_CACHE", BURIN_TEST_KERNEL_CACHE, /*overwrite=*/0);
  setenv("POCL_CACHE_DIR", BURIN_TEST_OPENCL_CACHE, /*overwrite=*/0);
  setenv("HL_OCL_BUILD_OPTIONS", "-cl-opt-disable", /*overwrite=*/0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
