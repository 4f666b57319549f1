/* Copies the graph's parameters from a file into the layout that kernels read. */
#ifndef BURIN_PACK_WEIGHTS_H
#define BURIN_PACK_WEIGHTS_H

#include "safetensors.h"

/* `packed` is plan->weights_bytes long and zero; `file` holds every parameter in its shape. On failure `message` names
 * a tensor that the plan's precision cannot hold. */
BURIN_PRIVATE burin_status burin_pack_weights(const burin_plan *plan, const burin_safetensors *file,
                                              unsigned char *packed, burin_message *message);

#endif
