#include "dsl/layer_checks.h"

namespace burin {

Tensor requirePositive(Tensor x, Where where, const std::string &layer, std::initializer_list<NamedSize> sizes) {
  for (const auto &[name, value] : sizes)
    if (value < 1)
      x = refuse(x, where, layer + ": " + name + " is " + std::to_string(value) + ", expected at least 1");
  return x;
}

Tensor requireHeads(Tensor x, Where where, const std::string &layer, int64_t heads, int64_t d_model) {
  if (d_model < 1 || heads < 1 || d_model % heads == 0)
    return x;
  return refuse(
      x, where, layer + ": " + std::to_string(heads) + " heads do not divide d_model " + std::to_string(d_model),
      "choose a d_model that is a multiple of heads, such as " + std::to_string((d_model + heads - 1) / heads * heads));
}

Tensor requireWindow(Tensor x, Where where, const std::string &layer, std::optional<int64_t> window, bool causal) {
  if (window && *window < 1)
    return requirePositive(x, where, layer, {{"window", *window}});
  if (!window || causal)
    return x;
  return refuse(x, where, layer + ": window is " + std::to_string(*window) + ", but it is not causal",
                "declare it with .causal = true");
}

Tensor requireWidth(Tensor x, Where where, const std::string &layer, const std::string &name, int64_t d_model) {
  if (!x || x.features() == d_model)
    return x;
  return refuse(x, where,
                layer + ": " + name + " has " + std::to_string(x.features()) + " features, but d_model is " +
                    std::to_string(d_model));
}

Tensor requireLength(Tensor x, Where where, const std::string &layer, std::optional<int64_t> max_len) {
  if (max_len)
    x = requirePositive(x, where, layer, {{"max_len", *max_len}});
  if (!x)
    return x;
  if (!x.time())
    return refuse(x, where, layer + ": x has no time axis, expected [time, features]");
  if (!max_len || x.time().max() <= *max_len)
    return x;
  std::string longest = std::to_string(x.time().max()), limit = std::to_string(*max_len);
  return refuse(x, where, layer + ": a sequence can have " + longest + " rows, but max_len is " + limit,
                "raise max_len, or declare the time with .max = " + limit);
}

} // namespace burin
