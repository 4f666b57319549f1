#include "environment.h"

#include <stdlib.h>

const char *burin_environment_isa(void) {
  const char *isa = getenv("BURIN_ISA");
  return isa && *isa ? isa : NULL;
}
