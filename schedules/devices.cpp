// Whether a GPU of some API is at hand: its driver is looked for as Halide's runtime looks for it, when asked.
#include "schedules/targets.h"
#include <dlfcn.h>
#include <vector>

namespace burin {

/// A function of a library of which no header is needed; null where there is none.
template <typename Function> static Function find(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL); // stays: drivers do not like to be unloaded
  return handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
}

static bool openclIsHere() {
  using GetPlatforms = int32_t (*)(uint32_t, void **, uint32_t *);
  using GetDevices = int32_t (*)(void *, uint64_t, uint32_t, void **, uint32_t *);
  constexpr uint64_t anyDevice = 0xffffffff; // CL_DEVICE_TYPE_ALL
  auto platforms = find<GetPlatforms>("libOpenCL.so.1", "clGetPlatformIDs");
  auto devices = find<GetDevices>("libOpenCL.so.1", "clGetDeviceIDs");
  uint32_t count = 0;
  if (!platforms || !devices || platforms(0, nullptr, &count) != 0)
    return false;
  std::vector<void *> found(count);
  if (platforms(count, found.data(), nullptr) != 0)
    return false;
  for (void *platform : found)
    if (devices(platform, anyDevice, 0, nullptr, &count) == 0 && count > 0)
      return true;
  return false;
}

static bool cudaIsHere() {
  auto initialise = find<int (*)(unsigned)>("libcuda.so", "cuInit");
  auto countDevices = find<int (*)(int *)>("libcuda.so", "cuDeviceGetCount");
  int count = 0;
  return initialise && countDevices && initialise(0) == 0 && countDevices(&count) == 0 && count > 0;
}

bool deviceIsHere(llvm::StringRef api) {
  if (api.empty())
    return true;
  static const bool opencl = openclIsHere(), cuda = cudaIsHere();
  return (api == "opencl" && opencl) || (api == "cuda" && cuda);
}

} // namespace burin
