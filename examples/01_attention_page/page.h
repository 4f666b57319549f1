// What the page's sections share: an opened model, memory for its calls, and a report that compares what came out with
// what the page states.
#pragma once

#include "burin.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace page {

/// Ends the program where a call that has to succeed did not.
inline void require(burin_status status, const char *message = "") {
  if (status == BURIN_OK)
    return;
  std::fprintf(stderr, "error: %s%s%s\n", burin_status_text(status), *message ? ": " : "", message);
  std::exit(1);
}

/// A model for as long as this lives. Every model has functions of its own, which its generated header declares, so
/// `open` and `close` come from the caller; what they open is a burin_model for all of them.
class Model {
public:
  using Open = burin_status (*)(const burin_open_options *, burin_model **);
  using Close = void (*)(burin_model *);

  /// A model without parameters needs no weights.
  Model(Open open, Close close, const std::string &weightsPath = "") : close_(close) {
    char message[512] = "";
    burin_open_options options = {};
    options.weights_path = weightsPath.empty() ? nullptr : weightsPath.c_str();
    options.message = message;
    options.message_bytes = sizeof message;
    require(open(&options, &model_), message);
  }
  ~Model() { close_(model_); }
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  operator burin_model *() const { return model_; }

private:
  Close close_;
  burin_model *model_ = nullptr;
};

/// Memory for a scratch arena or a state: burin.h asks for 64-byte alignment.
class Memory {
public:
  explicit Memory(size_t bytes) : bytes_((bytes + 63) / 64 * 64), memory_(std::aligned_alloc(64, bytes_), std::free) {}
  operator void *() const { return memory_.get(); }
  size_t bytes() const { return bytes_; }

private:
  size_t bytes_;
  std::unique_ptr<void, void (*)(void *)> memory_;
};

/// Prints a line for everything that is compared, and remembers whether all of it held.
class Report {
public:
  void section(const std::string &title) { std::printf("\n%s\n", title.c_str()); }

  void number(const std::string &what, double got, double stated, double tolerance = 1e-4) {
    bool ok = std::fabs(got - stated) <= tolerance; // false for NaN
    line(ok, what);
    std::printf(ok ? "%.4f\n" : "%.4f, stated %.4f\n", got, stated);
  }

  void count(const std::string &what, int64_t got, int64_t stated) {
    line(got == stated, what);
    std::printf(got == stated ? "%lld\n" : "%lld, stated %lld\n", (long long)got, (long long)stated);
  }

  /// Two arrays of equal length; a tolerance of 0 asks for equal values.
  template <typename Got, typename Stated>
  void equal(const std::string &what, const Got *got, const Stated *stated, size_t count, double tolerance = 1e-4) {
    double largest = 0;
    bool ok = true;
    for (size_t i = 0; i < count; ++i) {
      double difference = std::fabs(double(got[i]) - double(stated[i]));
      ok &= difference <= tolerance;
      largest = std::max(largest, difference);
    }
    line(ok, what);
    if (ok && tolerance == 0)
      std::printf("equal\n");
    else
      std::printf("largest difference %.1e, allowed %.0e\n", largest, tolerance);
  }

  void fact(const std::string &what, bool holds) {
    line(holds, what);
    std::printf(holds ? "yes\n" : "no\n");
  }

  /// The program's exit status, after a last line.
  int finish() const {
    std::printf("\n%d of %d hold\n", lines_ - wrong_, lines_);
    return wrong_ == 0 ? 0 : 1;
  }

private:
  void line(bool ok, const std::string &what) {
    ++lines_;
    wrong_ += !ok;
    std::printf("  %-5s %-66s ", ok ? "ok" : "WRONG", what.c_str());
  }

  int lines_ = 0, wrong_ = 0;
};

/// The section on mistakes, in a file of its own: only it needs the graph language.
void refusedGraphs(Report &report);

} // namespace page
