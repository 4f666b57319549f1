/* Copies the graph's parameters from a file into the layout that kernels read. */
#ifndef BURIN_PACK_WEIGHTS_H
#define BURIN_PACK_WEIGHTS_H

#include "safetensors.h"

/* `packed` is plan->weights_bytes long and zero; `file` holds every parameter in its shape. */
BURIN_PRIVATE void burin_pack_weights(const burin_plan *plan, const burin_safetensors *file, unsigned char *packed);

#endif
