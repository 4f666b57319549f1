#include "emit/run_tool.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

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

} // namespace burin
