// What the runtime's archive brings into a program: no name of Halide's, no constructor, and one variable.
#include <cstdio>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Lines of a command's output.
std::vector<std::string> lines_of(const std::string &command) {
  std::vector<std::string> lines;
  FILE *pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c; pipe && (c = std::fgetc(pipe)) != EOF;)
    text += char(c);
  if (pipe)
    pclose(pipe);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

TEST(Archive, holds_no_name_of_halide_and_one_variable) {
  std::vector<std::string> symbols = lines_of("nm -A " BURIN_RUNTIME_ARCHIVE " 2>/dev/null");
  if (symbols.empty())
    GTEST_SKIP() << "nm is missing";
  for (const std::string &symbol : symbols)
    if (symbol.find("__asan") != std::string::npos)
      GTEST_SKIP() << "built with a sanitizer, which adds its own";
  std::string variables;
  for (const std::string &line : symbols) {
    size_t space = line.rfind(' ');
    std::string name = line.substr(space + 1);
    char kind = line[space - 1];
    EXPECT_NE(name.rfind("halide_", 0), 0u) << line;
    EXPECT_NE(name.rfind("_Z", 0), 0u) << line;
    EXPECT_EQ(name.find("_GLOBAL__"), std::string::npos) << line;
    // Everything that another object can see carries the project's prefix.
    if (kind == 'T' || kind == 'D' || kind == 'B' || kind == 'R') {
      EXPECT_EQ(name.rfind("burin_", 0), 0u) << line;
    }
    // Tables of pointers are constant too, but position independent code must write them once when it is loaded.
    if (std::string("BbCDd").find(kind) != std::string::npos && name.rfind("field_names", 0) != 0 &&
        name.rfind("types", 0) != 0)
      variables += name + " ";
  }
  EXPECT_EQ(variables, "burin_rt_probe ");
}

TEST(Archive, has_no_constructors) {
  std::vector<std::string> sections = lines_of("objdump -h " BURIN_RUNTIME_ARCHIVE " 2>/dev/null");
  for (const std::string &line : sections) {
    if (line.find("asan") != std::string::npos)
      GTEST_SKIP() << "built with a sanitizer, which adds its own";
  }
  for (const std::string &line : sections) {
    EXPECT_EQ(line.find(".init_array"), std::string::npos) << line;
    EXPECT_EQ(line.find(".ctors"), std::string::npos) << line;
  }
}

} // namespace
