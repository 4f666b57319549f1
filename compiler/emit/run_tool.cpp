#include "emit/run_tool.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace burin {

Error runTool(const std::vector<std::string> &command) {
  // LLVM's own tools come with a version in their name on PATH, and without it in their folder.
  ErrorOr<std::string> program = sys::findProgramByName(command[0], {BURIN_LLVM_TOOLS});
  if (!program)
    program = sys::findProgramByName(command[0]);
  if (!program)
    return createStringError("'" + command[0] + "' is not installed");
  SmallString<128> output;
  if (std::error_code code = sys::fs::createTemporaryFile("burin", "log", output))
    return createStringError(code, "no temporary file");
  std::vector<StringRef> arguments(command.begin(), command.end());
  std::string error;
  int status = sys::ExecuteAndWait(*program, arguments, std::nullopt,
                                   {std::nullopt, StringRef(output), StringRef(output)}, 0, 0, &error);
  std::string text;
  if (auto buffer = MemoryBuffer::getFile(output))
    text = (*buffer)->getBuffer().rtrim().str();
  sys::fs::remove(output);
  if (status != 0)
    return createStringError("'" + sys::path::filename(command[0]).str() +
                             "' failed: " + (error.empty() ? text : error));
  return Error::success();
}

/// A name beside `path` on the same file system, so that renaming to it is one step.
static Expected<std::string> besides(StringRef path) {
  SmallString<128> temporary;
  if (std::error_code code = sys::fs::createUniqueFile(path + ".%%%%%%.new", temporary))
    return createFileError(path, code);
  return std::string(temporary);
}

Error installFile(StringRef finished, StringRef path) {
  auto temporary = besides(path);
  if (!temporary)
    return temporary.takeError();
  if (std::error_code code = sys::fs::copy_file(finished, *temporary))
    return createFileError(path, code);
  return errorCodeToError(sys::fs::rename(*temporary, path));
}

Error installText(StringRef text, StringRef path) {
  auto temporary = besides(path);
  if (!temporary)
    return temporary.takeError();
  std::error_code code;
  raw_fd_ostream stream(*temporary, code);
  stream << text;
  stream.close();
  if (code || stream.has_error())
    return createFileError(path, code ? code : stream.error());
  return errorCodeToError(sys::fs::rename(*temporary, path));
}

} // namespace burin
