/* Opening with a safetensors file: its tensors compared with the graph's parameters, and packed; open.h. */
#include "open.h"

#include "heap.h"
#include "match_weights.h"
#include "pack_weights.h"
#include "safetensors.h"

burin_status burin_open_safetensors(const burin_plan *plan, const burin_open_options *options, const void *memory,
                                    size_t bytes, burin_opened_model **opened, burin_message *message) {
  burin_safetensors file;
  burin_status status = burin_safetensors_read(&file, memory, bytes, message);
  if (status != BURIN_OK)
    return status;
  status = burin_match_weights(plan, &file, options->allow_extra_tensors, message);
  if (status == BURIN_OK)
    status = burin_make_model(plan, options, (size_t)plan->weights_bytes, opened, message);
  if (status == BURIN_OK) {
    status = burin_pack_weights(plan, &file, burin_writable_weights(*opened), message);
    if (status != BURIN_OK)
      burin_heap_free((*opened)->block); /* null in memory of the caller */
  }
  burin_safetensors_free(&file);
  return status;
}
