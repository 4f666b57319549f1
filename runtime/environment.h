/* What the operating system's environment asks of the runtime. In a file of its own: a program without an operating
 * system brings an environment that asks for nothing. */
#ifndef BURIN_ENVIRONMENT_H
#define BURIN_ENVIRONMENT_H

#include "private.h"

/* The variable BURIN_ISA, or null where it is not set or empty. */
BURIN_PRIVATE const char *burin_environment_isa(void);

#endif
