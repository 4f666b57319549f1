/* The few atomic operations that workers need; C99 has none. Each is one instruction or a loop of a few. */
#ifndef BURIN_ATOMIC_H
#define BURIN_ATOMIC_H

#include <stdint.h>

/* 1 for who sets the flag; 0 where it was set. What the last owner wrote is seen. */
static inline int burin_flag_take(int32_t *flag) { return __atomic_exchange_n(flag, 1, __ATOMIC_ACQUIRE) == 0; }

static inline void burin_flag_give_back(int32_t *flag) { __atomic_store_n(flag, 0, __ATOMIC_RELEASE); }

/* Some of the `total` units that nobody claimed, [*first, *end): a part of what is left, so that
 * claims get smaller towards the end and all claimants finish at about the same time (guided self-scheduling,
 * Polychronopoulos and Kuck 1987). 0 where nothing is left. */
static inline int burin_claim_units(int64_t *claimed, int64_t total, int64_t parts, int64_t *first, int64_t *end) {
  *first = __atomic_load_n(claimed, __ATOMIC_RELAXED);
  do {
    int64_t left = total - *first;
    if (left <= 0)
      return 0;
    *end = *first + (left > parts ? left / parts : 1);
  } while (!__atomic_compare_exchange_n(claimed, first, *end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return 1;
}

#endif
