#include "schedules/tuner/cpu_name.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"

namespace burin {

std::string hostCpuName() { return llvm::sys::getHostCPUName().str(); }

llvm::Expected<std::string> cpuNamed(llvm::StringRef name) {
  if (name == "host")
    return hostCpuName();
  auto allowed = [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; };
  if (name.empty() || name.size() > 64 || !llvm::all_of(name, allowed) || name[0] == '.')
    return llvm::createStringError("CPU '" + name + "', expected a name such as znver4, or host");
  return name.str();
}

} // namespace burin
