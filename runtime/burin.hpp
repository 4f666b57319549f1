// Burin's runtime for C++20: what burin.h and a generated header declare, with owners in place of pointers.
//
//     burin::Model model(policy_open, policy_close, burin::weights_from_file("policy.safetensors"));
//     burin::Scratch scratch(policy_scratch_bytes(1));
//     burin::State state(model, policy_state_bytes(), policy_reset);
//     burin::call(policy_step, model, state, scratch, std::span(x), std::span(y)); // throws burin::Error
//
// There is nothing here that the C functions cannot do, and nothing that they do twice. Owners turn into the pointers
// that C asks for: `policy_step(model, state, scratch.data(), scratch.bytes(), x, y)` is the same call.
//
// A status that is not BURIN_OK becomes an exception or a value, by choice: what throws has a twin whose name starts
// with `try_` and that gives the status. A program without exceptions (-fno-exceptions) has the twins alone.
//
// A call neither allocates nor locks, as in C; making a Scratch or a State allocates.
#ifndef BURIN_HPP
#define BURIN_HPP

#include "burin.h"
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace burin {

#if defined(__cpp_exceptions)
/// A status that is not BURIN_OK, and what was said about it.
class Error : public std::runtime_error {
public:
  Error(burin_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
  explicit Error(burin_status status) : Error(status, burin_status_text(status)) {}
  burin_status status() const noexcept { return status_; }

private:
  burin_status status_;
};

/// Throws an Error unless all is well.
inline void check(burin_status status) {
  if (status != BURIN_OK)
    throw Error(status);
}
#endif

/// Options that open a file, or its bytes; everything else is as zero-initialised options are, and may be set.
inline burin_open_options weights_from_file(const char *path) {
  burin_open_options options = {};
  options.weights_path = path;
  return options;
}

inline burin_open_options weights_from_memory(std::span<const std::byte> bytes) {
  burin_open_options options = {};
  options.weights = bytes.data();
  options.weights_bytes = bytes.size();
  return options;
}

/// An opened model; closed with this. Shared by threads like what it owns.
class Model {
public:
  using Open = burin_status (*)(const burin_open_options *, burin_model **);
  using Close = void (*)(burin_model *);

  Model() = default;
  Model(Model &&other) noexcept { swap(other); }
  Model &operator=(Model other) noexcept {
    swap(other);
    return *this;
  }
  ~Model() {
    if (model_)
      close_(model_);
  }

  /// BURIN_OK and an opened `model`, or why not: as status, and as a sentence in `message` where it is given.
  [[nodiscard]] static burin_status try_open(Open open, Close close, burin_open_options options, Model &model,
                                             std::string *message = nullptr) {
    char text[512] = "";
    if (!options.message) {
      options.message = text;
      options.message_bytes = sizeof text;
    }
    Model opened;
    opened.close_ = close;
    burin_status status = open(&options, &opened.model_);
    if (message && status != BURIN_OK)
      *message = *options.message ? options.message : burin_status_text(status);
    model.swap(opened);
    return status;
  }

#if defined(__cpp_exceptions)
  Model(Open open, Close close, const burin_open_options &options) {
    std::string message;
    if (burin_status status = try_open(open, close, options, *this, &message); status != BURIN_OK)
      throw Error(status, message);
  }
#endif

  const burin_model *get() const noexcept { return model_; }
  operator const burin_model *() const noexcept { return model_; }
  explicit operator bool() const noexcept { return model_ != nullptr; }

private:
  void swap(Model &other) noexcept {
    std::swap(model_, other.model_);
    std::swap(close_, other.close_);
  }

  burin_model *model_ = nullptr;
  Close close_ = nullptr;
};

/// Memory as the C functions want it: 64-byte aligned, of at least `bytes`. Without exceptions, `data()` is null where
/// there was none.
class Memory {
public:
  Memory() = default;
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    std::size_t rounded = bytes > SIZE_MAX - (alignment - 1) ? 0 : (bytes + alignment - 1) / alignment * alignment;
    data_ = rounded != 0 || bytes == 0 ? std::aligned_alloc(alignment, rounded != 0 ? rounded : alignment) : nullptr;
#if defined(__cpp_exceptions)
    if (!data_)
      throw std::bad_alloc();
#endif
    bytes_ = data_ ? bytes_ : 0;
  }
  Memory(Memory &&other) noexcept { swap(other); }
  Memory &operator=(Memory other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory() { std::free(data_); }

  void *data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

private:
  static constexpr std::size_t alignment = 64;

  void swap(Memory &other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  void *data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What calls work in; one call at a time. Its size is what the model's `scratch_bytes` says.
class Scratch : public Memory {
public:
  using Memory::Memory;
};

/// A stream's state; one call at a time. `try_reset` makes it an empty one.
class State : public Memory {
public:
  using Reset = burin_status (*)(const burin_model *, void *, std::size_t);
  using Memory::Memory;

  [[nodiscard]] burin_status try_reset(const Model &model, Reset reset) { return reset(model.get(), data(), bytes()); }

#if defined(__cpp_exceptions)
  State(const Model &model, std::size_t bytes, Reset reset) : Memory(bytes) { this->reset(model, reset); }
  void reset(const Model &model, Reset reset) { check(try_reset(model, reset)); }
#endif

  /// Position of the next sample of a stream; burin_state_stream_position.
  std::int64_t position(int stream = 0) const { return burin_state_stream_position(data(), stream); }

  operator void *() noexcept { return data(); }
  operator const void *() const noexcept { return data(); }
};

namespace detail {
// What one argument of `call` becomes: scratch its address and its size, a span its first element, the rest itself.
template <typename Function> auto with(Function &&function) { return std::forward<Function>(function)(); }

template <typename Function, typename First, typename... Rest>
auto with(Function &&function, First &&first, Rest &&...rest) {
  using Argument = std::remove_cvref_t<First>;
  auto then = [&](auto... expanded) {
    return with([&](auto &&...others) { return function(expanded..., others...); }, std::forward<Rest>(rest)...);
  };
  if constexpr (std::is_same_v<Argument, Scratch>)
    return then(first.data(), first.bytes());
  else if constexpr (std::is_same_v<Argument, State>)
    return then(first.data());
  else if constexpr (std::is_same_v<Argument, Model>)
    return then(first.get());
  else if constexpr (requires { std::span(first); } && !std::is_pointer_v<Argument>)
    return then(std::span(first).data());
  else
    return then(first);
}
} // namespace detail

/// Calls an entry point of a model: `try_call(policy_step, model, state, scratch, x, y)`. Arrays, vectors and spans
/// stand for their first element; that they are as long as the generated header says is the caller's promise, as in C.
template <typename... Parameters, typename... Arguments>
[[nodiscard]] burin_status try_call(burin_status (*entry)(Parameters...), Arguments &&...arguments) {
  return detail::with([&](auto... expanded) { return entry(expanded...); }, std::forward<Arguments>(arguments)...);
}

#if defined(__cpp_exceptions)
/// The same; throws an Error unless all went well.
template <typename... Parameters, typename... Arguments>
void call(burin_status (*entry)(Parameters...), Arguments &&...arguments) {
  check(try_call(entry, std::forward<Arguments>(arguments)...));
}
#endif

} // namespace burin
#endif
