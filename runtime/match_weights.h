/* Whether a file holds the tensors that a graph asks for: every difference counts, the first few are told. */
#ifndef BURIN_MATCH_WEIGHTS_H
#define BURIN_MATCH_WEIGHTS_H

#include "safetensors.h"

BURIN_PRIVATE burin_status burin_match_weights(const burin_plan *plan, burin_safetensors *file, int allow_extra_tensors,
                                               burin_message *message);

#endif
