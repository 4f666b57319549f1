/* Reads CPUID on x86; on RISC-V asks Linux and the processor, on ARM Linux. Others are not asked: their targets have no
 * bits in the table. Nor are RISC-V and ARM without an operating system: who wrote the start code knows the processor.
 */
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

#elif defined(__riscv) && defined(__linux__) && __STDC_HOSTED__ && defined(__GNUC__)
#include <sys/auxv.h>

/* Bytes of a vector register: the CSR vlenb, by its number. 0 without vectors, where reading it is illegal. */
static uint32_t vector_bytes(unsigned long extensions) {
  const unsigned long vectors = 1ul << ('V' - 'A');
  unsigned long bytes = 0;
  if (extensions & vectors)
    __asm__ volatile("csrr %0, 0xc22" : "=r"(bytes));
  return (uint32_t)bytes;
}

int burin_processor_has(const burin_plan_cpu_bit *bits, int32_t count) {
  const unsigned long extensions = getauxval(AT_HWCAP);
  const uint32_t values[2] = {(uint32_t)extensions, vector_bytes(extensions)};
  for (int32_t i = 0; i < count; ++i)
    if ((values[bits[i].reg & 1] & bits[i].mask) != bits[i].mask)
      return 0;
  return 1;
}

#elif defined(__aarch64__) && defined(__linux__) && __STDC_HOSTED__
#include <sys/auxv.h>

int burin_processor_has(const burin_plan_cpu_bit *bits, int32_t count) {
  const uint32_t features = (uint32_t)getauxval(AT_HWCAP);
  for (int32_t i = 0; i < count; ++i)
    if ((features & bits[i].mask) != bits[i].mask)
      return 0;
  return 1;
}

#else

int burin_processor_has(const burin_plan_cpu_bit *bits, int32_t count) {
  (void)bits;
  (void)count;
  return 1;
}

#endif
