/* Whether this processor, and its operating system, can run what an object was compiled for. */
#ifndef BURIN_PROCESSOR_H
#define BURIN_PROCESSOR_H

#include "private.h"

BURIN_PRIVATE int burin_processor_has(const burin_plan_cpu_bit *bits, int32_t count);

#endif
