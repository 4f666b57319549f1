// The instructions of an object's functions, as llvm-objdump prints them.
#pragma once

#include <string>
#include <vector>

namespace burin::isa {

struct Instruction {
  std::string mnemonic, operands;
};

/// Instructions from the target of a backward jump to the jump.
using Loop = std::vector<Instruction>;

struct Function {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<Loop> loops; // innermost ones: no jump backward within
};

/// Throws where the tool fails.
std::vector<Function> disassemble(const std::string &object);

} // namespace burin::isa
