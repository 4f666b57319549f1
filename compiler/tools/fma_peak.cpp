// In a file of its own, because its functions are compiled for processors that the rest of the tool need not run on.
//
// An FMA takes four or five cycles on the x86 cores of the last ten years and two start in each, so ten chains that do
// not depend on one another keep the units busy; twelve stay in the sixteen registers of AVX2.
#include "tools/fma_peak.h"
#include <chrono>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace burin {

namespace {

constexpr int chains = 12;
constexpr int64_t iterations = 1 << 20; // about 10 ms

double gigaflops(int lanes, std::chrono::steady_clock::duration time) {
  return double(iterations) * chains * lanes * 2 / std::chrono::duration<double>(time).count() * 1e-9;
}

} // namespace

// x ← x · factor + addend in twelve chains. The empty assembly keeps every chain in a register and alive.
#define BURIN_FMA_LOOP(Vector, splat, fma, registerClass)                                                              \
  Vector factor = splat(0.999f), addend = splat(0.001f);                                                               \
  Vector a = splat(0.1f), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;                 \
  auto start = std::chrono::steady_clock::now();                                                                       \
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {                                                   \
    a = fma(a, factor, addend), b = fma(b, factor, addend), c = fma(c, factor, addend), d = fma(d, factor, addend);    \
    e = fma(e, factor, addend), f = fma(f, factor, addend), g = fma(g, factor, addend), h = fma(h, factor, addend);    \
    i = fma(i, factor, addend), j = fma(j, factor, addend), k = fma(k, factor, addend), l = fma(l, factor, addend);    \
    asm volatile(""                                                                                                    \
                 : "+" registerClass(a), "+" registerClass(b), "+" registerClass(c), "+" registerClass(d),             \
                   "+" registerClass(e), "+" registerClass(f), "+" registerClass(g), "+" registerClass(h),             \
                   "+" registerClass(i), "+" registerClass(j), "+" registerClass(k), "+" registerClass(l));            \
  }                                                                                                                    \
  return std::chrono::steady_clock::now() - start

#if defined(__x86_64__)

__attribute__((target("avx512f"))) static std::chrono::steady_clock::duration time16() {
  BURIN_FMA_LOOP(__m512, _mm512_set1_ps, _mm512_fmadd_ps, "v");
}

__attribute__((target("avx2,fma"))) static std::chrono::steady_clock::duration time8() {
  BURIN_FMA_LOOP(__m256, _mm256_set1_ps, _mm256_fmadd_ps, "x");
}

static __m128 multiplyAdd(__m128 x, __m128 factor, __m128 addend) { return _mm_add_ps(_mm_mul_ps(x, factor), addend); }

static std::chrono::steady_clock::duration time4() { BURIN_FMA_LOOP(__m128, _mm_set1_ps, multiplyAdd, "x"); }

double measureFmaPeak(int lanes) {
  if (lanes >= 16 && __builtin_cpu_supports("avx512f"))
    return gigaflops(16, time16());
  if (lanes >= 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return gigaflops(8, time8());
  return gigaflops(4, time4());
}

#else

// Elsewhere the compiler's vectors of four floats stand for the machine's, and the compiler fuses x · factor + addend.
using Floats = float __attribute__((vector_size(16)));

static Floats splat(float value) { return Floats{value, value, value, value}; }
static Floats multiplyAdd(Floats x, Floats factor, Floats addend) { return x * factor + addend; }

static std::chrono::steady_clock::duration time4() { BURIN_FMA_LOOP(Floats, splat, multiplyAdd, "w"); }

double measureFmaPeak(int) { return gigaflops(4, time4()); }

#endif

double measureReadBandwidth() {
  static const std::vector<uint64_t> memory(size_t(64) << 17, 1); // 64 MB
  auto start = std::chrono::steady_clock::now();
  uint64_t sums[8] = {};
  for (size_t n = 0; n < memory.size(); n += 8)
    for (size_t lane = 0; lane < 8; ++lane)
      sums[lane] += memory[n + lane];
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  volatile uint64_t kept = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
  (void)kept;
  return double(memory.size() * sizeof memory[0]) / time.count();
}

} // namespace burin
