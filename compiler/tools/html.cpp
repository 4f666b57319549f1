#include "tools/html.h"
#include "llvm/Support/JSON.h"

namespace burin {

std::string escaped(llvm::StringRef text) {
  std::string out;
  for (char c : llvm::json::fixUTF8(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if ((unsigned char)c < 0x20 || c == 0x7f)
      out += "\xEF\xBF\xBD"; // a control character: U+FFFD
    else
      out += c;
  }
  return out;
}

} // namespace burin
