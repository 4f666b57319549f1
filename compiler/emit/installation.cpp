#include "emit/installation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace llvm;

namespace burin {

/// The folder above bin/ and lib/. This code is in a program in the first or in a library in the second.
static SmallString<128> root() {
  static const char here = 0;
  Dl_info info = {};
  SmallString<128> file;
  bool inLibrary = dladdr(&here, &info) && StringRef(info.dli_fname).contains(".so");
  file = inLibrary ? std::string(info.dli_fname) : sys::fs::getMainExecutable(nullptr, const_cast<char *>(&here));
  sys::fs::make_absolute(file);
  sys::path::remove_filename(file);
  sys::path::append(file, "..");
  sys::path::remove_dots(file, /*remove_dot_dot=*/true);
  return file;
}

static std::string within(StringRef folder, StringRef name) {
  SmallString<128> path = root();
  sys::path::append(path, folder, name);
  return path.str().str();
}

std::string runtimeArchive(const Target &target) {
  const Target &row = target.row ? *target.row : target;
  return within(sharesArchitecture(row) ? "lib" : ("lib/" + row.name).str(), "libburin_runtime.a");
}
std::string gpuArchive(const Target &target) {
  return target.device.empty() ? "" : within("lib", ("libburin_gpu_" + target.device + ".a").str());
}
std::string databaseFile(const std::string &cpu) { return within("share/burin/database", cpu + ".json"); }
std::string programNamed(const std::string &name) { return within("bin", name); }

} // namespace burin
