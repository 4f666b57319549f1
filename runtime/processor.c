/* Reads CPUID on x86. Other processors are not asked: their targets have no bits in the table. */
#include "processor.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>

/* The register states that the operating system saves (XCR0); 0 where it does not say. */
static uint32_t saved_states(void) {
  unsigned int eax, ebx, ecx, edx, low, high;
  const unsigned int osxsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & osxsave))
    return 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

int burin_processor_has(const burin_plan_cpu_bit *bits, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    unsigned int registers[4] = {0, 0, 0, 0};
    uint32_t value;
    if (bits[i].reg == 4) {
      value = saved_states();
    } else {
      if (!__get_cpuid_count(bits[i].leaf, bits[i].subleaf, &registers[0], &registers[1], &registers[2], &registers[3]))
        return 0;
      value = registers[bits[i].reg & 3];
    }
    if ((value & bits[i].mask) != bits[i].mask)
      return 0;
  }
  return 1;
}

#else

int burin_processor_has(const burin_plan_cpu_bit *bits, int32_t count) {
  (void)bits;
  (void)count;
  return 1;
}

#endif
