/* Opening a model: is the processor right, is the file right, then one block of memory with all weights packed.
 * Either everything fits and the model is opened, or nothing is kept and one sentence says why.
 */
#include "match_weights.h"
#include "message.h"
#include "pack_weights.h"
#include "processor.h"
#include "safetensors.h"
#include "weights_file.h"

#include <stdlib.h>

/* One block: the model in the first 64-byte aligned place, its packed weights in the next. */
typedef struct opened_model {
  burin_model model; /* first, so that a model's address is this one's */
  void *block;
} opened_model;

static burin_model *allocate_model(const burin_plan *plan) {
  size_t front = burin_size_round_up(sizeof(opened_model));
  size_t bytes = burin_size_add(front + BURIN_BLOCK_ALIGNMENT, (size_t)plan->weights_bytes);
  void *block = bytes == SIZE_MAX ? NULL : calloc(1, bytes);
  if (!block)
    return NULL;
  opened_model *opened = (opened_model *)burin_advance_pointer(
      block, (int64_t)(BURIN_BLOCK_ALIGNMENT - ((uintptr_t)block & (BURIN_BLOCK_ALIGNMENT - 1))));
  opened->block = block;
  opened->model.fingerprint = plan->fingerprint;
  opened->model.weights = (unsigned char *)opened + front;
  return &opened->model;
}

static burin_status open_weights(const burin_plan *plan, const void *memory, size_t bytes, int allow_extra_tensors,
                                 burin_model **model, burin_message *message) {
  burin_safetensors file;
  burin_status status = burin_safetensors_read(&file, memory, bytes, message);
  if (status != BURIN_OK)
    return status;
  status = burin_match_weights(plan, &file, allow_extra_tensors, message);
  if (status == BURIN_OK) {
    *model = allocate_model(plan);
    if (*model) {
      burin_pack_weights(plan, &file, (*model)->weights);
    } else {
      status = BURIN_OUT_OF_MEMORY;
      burin_message_number(message, (uint64_t)plan->weights_bytes);
      burin_message_text(message, " bytes for the packed weights could not be allocated");
    }
  }
  burin_safetensors_free(&file);
  return status;
}

burin_status burin_rt_open(const burin_plan *plan, const burin_open_options *options, burin_model **model) {
  burin_message message;
  if (!options || !model)
    return BURIN_NULL_POINTER;
  *model = NULL;
  burin_message_start(&message, options->message, options->message_bytes);
  if (plan->version != BURIN_PLAN_VERSION) {
    burin_message_text(&message, "the object has tables of version ");
    burin_message_number(&message, plan->version);
    burin_message_text(&message, ", this runtime reads version ");
    burin_message_number(&message, BURIN_PLAN_VERSION);
    return BURIN_KERNEL_FAILED;
  }
  if (!burin_processor_has(plan->cpu_bits, plan->cpu_bit_count)) {
    burin_message_text(&message, "this processor, or its operating system, lacks what target '");
    burin_message_text(&message, plan->target);
    burin_message_text(&message, "' needs");
    return BURIN_CPU_UNSUPPORTED;
  }
  if (options->weights_path) {
    burin_weights_file file;
    burin_status status = burin_weights_file_map(&file, options->weights_path, &message);
    if (status == BURIN_OK)
      status = open_weights(plan, file.memory, file.bytes, options->allow_extra_tensors, model, &message);
    burin_weights_file_unmap(&file);
    return status;
  }
  if (options->weights)
    return open_weights(plan, options->weights, options->weights_bytes, options->allow_extra_tensors, model, &message);
  if (plan->parameter_count == 0) {
    *model = allocate_model(plan);
    return *model ? BURIN_OK : BURIN_OUT_OF_MEMORY;
  }
  burin_message_text(&message, "neither a path nor the bytes of a weights file are given");
  return BURIN_NULL_POINTER;
}

void burin_rt_close(burin_model *model) {
  if (model)
    free(((opened_model *)model)->block);
}
