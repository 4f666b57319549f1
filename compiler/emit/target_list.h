// What a --target means: names become rows of schedules/targets.def, or an error that says which names come near.
#pragma once

#include "schedules/targets.h"
#include "llvm/Support/Error.h"

namespace burin {

/// A target's name, with an option or without, `host`, a family's name, or several of them with commas between. Each
/// target once; those that a machine prefers stand first, so that who chooses takes the first that fits.
llvm::Expected<std::vector<const Target *>> targetsNamed(llvm::StringRef list,
                                                         Precision precision = Precision::Float32);

/// The same where only one target is meant.
llvm::Expected<const Target *> targetNamed(llvm::StringRef name, Precision precision = Precision::Float32);

/// Whether the code of all of them can lie in one object.
llvm::Error checkOneObject(llvm::ArrayRef<const Target *> targets);

/// "a, b and c".
std::string listed(llvm::ArrayRef<const Target *> targets);

} // namespace burin
