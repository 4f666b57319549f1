#include "tools/initial_values.h"
#include "tools/failure.h"
#include <cmath>
#include <numbers>

namespace burin {

static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

RandomStream::RandomStream(uint64_t seed, llvm::StringRef name) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a of the name
  for (unsigned char letter : name)
    hash = (hash ^ letter) * 0x100000001b3;
  state_ = mix(seed) ^ hash;
}

uint64_t RandomStream::next() { return mix(state_ += 0x9e3779b97f4a7c15); }

double RandomStream::uniform() { return double((next() >> 11) + 1) * 0x1p-53; }

double RandomStream::normal() {
  double radius = std::sqrt(-2 * std::log(uniform())); // the logarithm's argument is never 0
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

llvm::Expected<std::vector<float>> initialValues(const GraphParameter &parameter, uint64_t seed) {
  int64_t count = 1;
  for (int64_t extent : parameter.shape)
    count *= extent;
  double deviation;
  if (parameter.init == "zeros" || parameter.init == "ones")
    return std::vector<float>(count, parameter.init == "ones" ? 1.0f : 0.0f);
  else if (parameter.init == "normal")
    deviation = 1 / std::sqrt(double(parameter.shape.front()));
  else if (parameter.init == "positions")
    deviation = 0.02;
  else
    return failure("parameter '" + parameter.name + "' has init '" + parameter.init +
                   "', expected normal, zeros, ones or positions");
  std::vector<float> values = normalValues(count, seed, parameter.name);
  for (float &value : values)
    value = float(value * deviation);
  return values;
}

llvm::Expected<SafetensorsWriter> initialWeights(const GraphSignature &signature, uint64_t seed, Progress &progress) {
  SafetensorsWriter writer;
  int64_t done = 0, total = int64_t(signature.parameters.size());
  for (const GraphParameter &parameter : signature.parameters) {
    progress.update("making weights", done++, total);
    llvm::Expected<std::vector<float>> values = initialValues(parameter, seed);
    if (!values)
      return values.takeError();
    writer.add(parameter.name, parameter.shape, *values);
  }
  return writer;
}

std::vector<float> normalValues(int64_t count, uint64_t seed, llvm::StringRef name) {
  RandomStream stream(seed, name);
  std::vector<float> values(count);
  for (float &value : values)
    value = float(stream.normal());
  return values;
}

} // namespace burin
