#include "disassembly.h"
#include <cstdio>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace burin::isa {

static std::string outputOf(const std::string &command) {
  FILE *pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (size_t count; pipe && (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, count);
  if (!pipe || pclose(pipe) != 0)
    throw std::runtime_error("failed: " + command);
  return text;
}

/// Where an instruction jumps to, as its last operand says; nothing for one that is no jump.
static std::optional<uint64_t> jumpTarget(const Instruction &instruction) {
  static const std::regex jump("j.*|b|b\\..*|cbn?z|tbn?z"), address("(?:.*, )?0x([0-9a-f]+)(?: .*)?"); // x86, ARM
  std::smatch match;
  if (!std::regex_match(instruction.mnemonic, jump) || !std::regex_match(instruction.operands, match, address))
    return std::nullopt;
  return std::stoull(match[1], nullptr, 16);
}

/// Fills in the loops of a function: `addresses` are those of its instructions.
static void findLoops(Function &function, const std::vector<uint64_t> &addresses) {
  std::map<uint64_t, size_t> indexOf;
  for (size_t i = 0; i < addresses.size(); ++i)
    indexOf[addresses[i]] = i;
  size_t lastEnd = 0; // of the jump backward before: a loop that begins before it holds another
  for (size_t i = 0; i < addresses.size(); ++i) {
    std::optional<uint64_t> address = jumpTarget(function.instructions[i]);
    auto target = address ? indexOf.find(*address) : indexOf.end();
    if (target == indexOf.end() || target->second > i)
      continue;
    if (target->second >= lastEnd)
      function.loops.emplace_back(function.instructions.begin() + target->second,
                                  function.instructions.begin() + i + 1);
    lastEnd = i + 1;
  }
}

std::vector<Function> disassemble(const std::string &object) {
  static const std::regex header("^[0-9a-f]+ <(.*)>:$"), line("^\\s*([0-9a-f]+):\\s+(\\S+)\\s*([^#]*)");
  std::istringstream text(outputOf(BURIN_OBJDUMP " -d --no-show-raw-insn '" + object + "'"));
  std::vector<Function> functions;
  std::vector<uint64_t> addresses;
  auto finish = [&] {
    if (!functions.empty())
      findLoops(functions.back(), addresses);
    addresses.clear();
  };
  for (std::string row; std::getline(text, row);) {
    std::smatch match;
    if (std::regex_match(row, match, header)) {
      finish();
      functions.push_back({match[1], {}, {}});
    } else if (!functions.empty() && std::regex_search(row, match, line)) {
      addresses.push_back(std::stoull(match[1], nullptr, 16));
      functions.back().instructions.push_back({match[2], match[3]});
    }
  }
  finish();
  return functions;
}

} // namespace burin::isa
