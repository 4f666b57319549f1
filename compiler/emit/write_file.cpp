#include "emit/write_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace burin {

Error writeFile(StringRef path, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (code)
    return createFileError(path, code);
  stream << bytes;
  stream.close();
  code = stream.error();
  stream.clear_error();
  return code ? createFileError(path, code) : Error::success();
}

Error installText(StringRef text, StringRef path) {
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && !sys::fs::is_regular_file(status))
    return writeFile(path, text);
  SmallString<128> temporary; // on the same file system, so that renaming is one step
  if (std::error_code code = sys::fs::createUniqueFile(path + ".%%%%%%.new", temporary))
    return createFileError(path, code);
  Error error = writeFile(temporary, text);
  if (!error) {
    std::error_code code = sys::fs::rename(temporary, path);
    if (!code)
      return Error::success();
    error = createFileError(path, code);
  } else {
    // Under the name that the user knows.
    error = handleErrors(std::move(error),
                         [&](const FileError &each) { return createFileError(path, each.convertToErrorCode()); });
  }
  sys::fs::remove(temporary);
  return error;
}

Error installFile(StringRef finished, StringRef path) {
  auto file = MemoryBuffer::getFile(finished, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return createFileError(finished, file.getError());
  return installText((*file)->getBuffer(), path);
}

} // namespace burin
