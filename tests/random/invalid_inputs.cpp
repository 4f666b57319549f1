// What people feed the tool, with mistakes in it: every input is taken, or refused with a sentence that says where;
// none crashes, hangs or passes in silence.
//
//     invalid_inputs --inputs N [--first SEED] [--golden FOLDER] [--corpus FOLDER]
//
// Textual IR, declarations in the DSL, configurations of a model's directory, case files and tuning databases are made
// from random graphs or from sound files by a few random changes. The corpus, which the fuzzers have as well
// (tests/fuzz), is tried first as it is. The input of a crash or hang is written to a file, beside a line that says
// which seed it was. There is a limit on memory, so that no number in an input makes anything take it without bound.
#include "read_input.h"
#include "recipe.h"
#include "tools/initial_values.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace burin;
using namespace burin::laws;
using burin_fuzz::Verdict;

namespace {

// ---- What a handler of signals may read

uint64_t seed;
const char *kind = "";
char path[64], current[1 << 18];
size_t currentBytes;

void rememberInput(const char *what, llvm::StringRef text) {
  kind = what;
  currentBytes = std::min(text.size(), sizeof current);
  std::memcpy(current, text.data(), currentBytes);
}

void onSignal(int number) {
  char line[160];
  int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0 && ::write(file, current, currentBytes) < 0)
    file = -1;
  int length = std::snprintf(line, sizeof line, "invalid_inputs: signal %d (%s) for seed %llu, %s: see %s\n", number,
                             number == SIGALRM ? "no end after 20 s" : "a crash", (unsigned long long)seed, kind, path);
  if (::write(2, line, size_t(length)) < 0 || true)
    _exit(3);
}

int wrong = 0;
void complain(const std::string &what) {
  ++wrong;
  llvm::errs() << "invalid_inputs: seed " << seed << ", " << kind << ": " << what << "\n"
               << llvm::StringRef(current, currentBytes) << "\n";
}

// ---- Changes

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random_(seed, "mutations") {}

  size_t below(size_t end) { return end ? size_t(random_.next() % end) : 0; }

  /// A number that is small, at an edge, or negative.
  std::string number() {
    constexpr const char *numbers[] = {"0",          "1",
                                       "2",          "3",
                                       "8",          "-1",
                                       "64",         "2147483647",
                                       "2147483648", "65536",
                                       "0.5",        "9223372036854775807",
                                       "1e9",        "9223372036854775808"};
    return numbers[below(std::size(numbers))];
  }

  std::string change(std::string text) {
    switch (below(8)) {
    case 0: { // a character
      if (!text.empty())
        text[below(text.size())] = char(32 + below(95));
      break;
    }
    case 1: // a few characters less
      if (!text.empty())
        text.erase(below(text.size()), 1 + below(6));
      break;
    case 2:
    case 3: { // a number
      auto [first, last] = run(text, [](char c) { return c >= '0' && c <= '9'; });
      text.replace(first, last - first, number());
      break;
    }
    case 4: { // a word by another of the text
      auto isWord = +[](char c) { return llvm::isAlnum(c) || c == '_' || c == '%' || c == '.' || c == '#'; };
      auto [from, fromEnd] = run(text, isWord);
      std::string other = text.substr(from, fromEnd - from);
      auto [first, last] = run(text, isWord);
      text.replace(first, last - first, other);
      break;
    }
    case 5: { // a line twice, or two in another order, or one less
      std::vector<std::string> lines;
      llvm::SmallVector<llvm::StringRef> parts;
      llvm::StringRef(text).split(parts, '\n');
      for (llvm::StringRef part : parts)
        lines.push_back(part.str());
      size_t line = below(lines.size()), other = below(lines.size()), choice = below(3);
      if (choice == 0)
        lines.insert(lines.begin() + ptrdiff_t(other), std::string(lines[line]));
      else if (choice == 1)
        std::swap(lines[line], lines[other]);
      else
        lines.erase(lines.begin() + ptrdiff_t(line));
      text = llvm::join(lines, "\n");
      break;
    }
    case 6: // cut off
      text.resize(below(text.size() + 1));
      break;
    case 7: // a part of it somewhere else
      if (!text.empty()) {
        size_t first = below(text.size());
        text.insert(below(text.size()), text.substr(first, 1 + below(30)));
      }
      break;
    }
    return text;
  }
  std::string changeSome(std::string text) {
    for (size_t changes = 1 + below(3); changes > 0; --changes)
      text = change(std::move(text));
    return text;
  }

private:
  /// Some run of such characters; empty where there is none.
  std::pair<size_t, size_t> run(const std::string &text, bool (*belongs)(char)) {
    size_t start = below(text.size()), first = start;
    while (first < text.size() && !belongs(text[first]))
      ++first;
    size_t last = first;
    while (last < text.size() && belongs(text[last]))
      ++last;
    while (first > 0 && first < text.size() && belongs(text[first - 1]))
      --first;
    return {first, last};
  }

  RandomStream random_;
};

// ---- Inputs of each kind

int taken = 0, refused = 0;

void tell(const Verdict &verdict) {
  ++(verdict.isTaken ? taken : refused);
  if (!verdict.wrong.empty())
    complain(verdict.wrong);
}

struct Kind {
  const char *name, *what; // name: of its folder in the corpus
  Verdict (*read)(llvm::StringRef input);
  std::vector<std::string> sound; // inputs that are changed

  void tryInput(llvm::StringRef input) const {
    rememberInput(what, input);
    tell(read(input));
  }
};

void tryRecipe(const Recipe &recipe) {
  rememberInput("a declaration", textOf(recipe));
  try {
    graphOf(recipe, "random");
    ++taken;
  } catch (const std::runtime_error &error) {
    ++refused;
    if (std::string(error.what()).empty())
      complain("it is refused without a word");
  }
}

/// The contents of a folder's files, by name.
std::vector<std::string> filesIn(const std::string &folder) {
  std::vector<std::string> paths, files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(folder, error), end; entry != end && !error; entry.increment(error))
    paths.push_back(entry->path());
  llvm::sort(paths);
  for (const std::string &path : paths)
    if (auto file = llvm::MemoryBuffer::getFile(path, false, false); file && (*file)->getBufferSize() < 100000)
      files.push_back((*file)->getBuffer().str());
  return files;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t inputs = 1000, first = 1;
  std::string golden, corpus;
  for (int i = 1; i + 1 < argc; i += 2) {
    llvm::StringRef word = argv[i], value = argv[i + 1];
    if (word == "--golden" || word == "--corpus")
      (word == "--golden" ? golden : corpus) = value.str();
    else if ((word != "--inputs" && word != "--first") || value.getAsInteger(10, word == "--inputs" ? inputs : first)) {
      llvm::errs() << "invalid_inputs: '" << word << " " << value
                   << "', expected --inputs N, --first SEED, --golden FOLDER, --corpus FOLDER\n";
      return 2;
    }
  }
  std::snprintf(path, sizeof path, "invalid_input_%d", int(getpid()));
  for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
    std::signal(number, onSignal);
    // A few of the tool's own programs take a fifth of it. A sanitizer reserves more than any limit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory = {rlim_t(1) << 30, rlim_t(1) << 30};
  setrlimit(RLIMIT_DATA, &memory);
#endif
  freopen("/dev/null", "w", stdout); // sentences of the importer's warnings
  Kind graphs{"graph", "textual IR", burin_fuzz::readGraph, {}},
      configs{"config", "a model's configuration", burin_fuzz::readConfig, {}},
      cases{"case", "a case file", burin_fuzz::readCase, {}},
      databases{"database", "a tuning database", burin_fuzz::readDatabase, {}};
  seed = 0;
  for (Kind *kind : {&graphs, &configs, &cases, &databases}) {
    kind->sound = filesIn(corpus + "/" + kind->name);
    if (kind->sound.empty()) {
      llvm::errs() << "invalid_inputs: '" << corpus << "' has no inputs in a folder '" << kind->name << "'\n";
      return 2;
    }
    for (const std::string &input : kind->sound) {
      alarm(20);
      kind->tryInput(input);
    }
  }
  llvm::append_range(cases.sound, filesIn(golden));
  for (uint64_t graph = 0; graph < 60; ++graph) {
    std::string &text = graphs.sound.emplace_back();
    llvm::raw_string_ostream stream(text);
    DeclaredGraph(graphOf(randomRecipe(graph), "random").build()).module()->print(stream);
  }
  for (seed = first; seed < first + inputs; ++seed) {
    alarm(20);
    Mutator mutator(seed);
    auto change = [&](const Kind &kind) {
      kind.tryInput(mutator.changeSome(kind.sound[mutator.below(kind.sound.size())]));
    };
    switch (seed % 8) {
    default:
      change(graphs);
      break;
    case 4: {
      Recipe recipe = randomRecipe(mutator.below(60));
      for (size_t changes = 1 + mutator.below(3); changes > 0; --changes) {
        RecipeOp &op = recipe[mutator.below(recipe.size())];
        int64_t number = 0;
        if (!op.arguments.empty() && !llvm::StringRef(mutator.number()).getAsInteger(10, number))
          op.arguments[mutator.below(op.arguments.size())] = number;
      }
      tryRecipe(recipe);
      break;
    }
    case 5:
      change(databases);
      break;
    case 6:
      change(configs);
      break;
    case 7: { // the header, where everything is said; the numbers behind it may be any
      std::string bytes = cases.sound[mutator.below(cases.sound.size())];
      size_t header = std::min<size_t>(bytes.size(), 2000);
      cases.tryInput(mutator.changeSome(bytes.substr(0, header)) + bytes.substr(header));
      break;
    }
    }
  }
  alarm(0);
  llvm::errs() << inputs << " inputs from seed " << first << " on, and the corpus: " << taken << " taken, " << refused
               << " refused, " << wrong << " wrong\n";
  return wrong ? 1 : 0;
}
