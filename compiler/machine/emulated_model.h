// A model in an emulator of its target's processor: a child process (model_server.c) that is asked through a pair of
// sockets, and ended with this.
#pragma once

#include "machine/loaded_model.h"

namespace burin {

/// Links the model's object to a program and starts it under the target's runner.
llvm::Expected<std::unique_ptr<LoadedModel>> loadEmulated(const CompileResult &compiled);

/// A runner or a program linker: this project's own, from the folder of programs, or the machine's, from PATH. Empty
/// where there is none.
std::string findRunnerProgram(llvm::StringRef name);

/// The program's own object file, beside the target's runtime.
std::string modelServerObject(const Target &target);

} // namespace burin
