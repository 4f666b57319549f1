// Where entries lie and how they get there: one file each, written beside its place and renamed onto it.
#include "emit/kernel_cache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace burin {

static std::string defaultFolder() {
  if (auto folder = sys::Process::GetEnv("BURIN_KERNEL_CACHE"); folder && !folder->empty())
    return *folder;
  SmallString<128> path;
  if (auto folder = sys::Process::GetEnv("XDG_CACHE_HOME"); folder && !folder->empty()) {
    path = *folder;
  } else if (sys::path::home_directory(path)) {
    sys::path::append(path, ".cache");
  } else {
    return "";
  }
  sys::path::append(path, "burin");
  return std::string(path);
}

/// What stands for this compiler in every key: a hash of the running executable.
static const std::string &executableHash() {
  static const std::string hash = [] {
    std::string path = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&executableHash));
    auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file)
      return std::string();
    auto digest = SHA256::hash(arrayRefFromStringRef((*file)->getBuffer()));
    return toHex(digest, /*LowerCase=*/true);
  }();
  return hash;
}

KernelCache::KernelCache(StringRef folder) : folder_(folder.empty() ? defaultFolder() : folder.str()) {
  if (executableHash().empty()) // cannot tell compilers apart: keep nothing
    folder_.clear();
}

std::string KernelCache::key(StringRef input, StringRef compilerVersion) {
  SHA256 hash;
  for (StringRef part : {input, compilerVersion, StringRef(executableHash())}) {
    hash.update(part);
    hash.update(StringRef("\0", 1));
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

static std::string hashOf(StringRef report, StringRef object) {
  SHA256 hash;
  hash.update(report);
  hash.update(object);
  return toHex(hash.final(), /*LowerCase=*/true);
}

/// An entry is a line with the hash of what follows and the length of the report; the report, the object. A damaged file
/// is no entry.
std::optional<KernelCache::Entry> KernelCache::find(StringRef key) const {
  if (folder_.empty())
    return std::nullopt;
  SmallString<128> path(folder_);
  sys::path::append(path, key + ".kernel");
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  auto [line, rest] = (*file)->getBuffer().split('\n');
  auto [hash, length] = line.split(' ');
  size_t reportBytes;
  if (length.getAsInteger(10, reportBytes) || reportBytes >= rest.size() ||
      hash != hashOf(rest.take_front(reportBytes), rest.drop_front(reportBytes)))
    return std::nullopt;
  return Entry{rest.drop_front(reportBytes).str(), rest.take_front(reportBytes).str()};
}

void KernelCache::insert(StringRef key, const Entry &entry) const {
  if (folder_.empty() || sys::fs::create_directories(folder_))
    return;
  SmallString<128> path(folder_), temporary;
  sys::path::append(path, key + ".kernel");
  int descriptor;
  if (sys::fs::createUniqueFile(path + ".%%%%%%%%", descriptor, temporary))
    return;
  bool bad;
  {
    raw_fd_ostream file(descriptor, /*shouldClose=*/true);
    file << hashOf(entry.report, entry.object) << ' ' << entry.report.size() << '\n' << entry.report << entry.object;
    file.flush();
    bad = file.has_error();
    file.clear_error();
  }
  if (bad || sys::fs::rename(temporary, path))
    sys::fs::remove(temporary);
}

} // namespace burin
