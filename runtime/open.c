/* Opening a model: is the processor right, is the file right, then its weights: packed into one block of memory with
 * the model, or in place in a packed file. Either everything fits and the model is opened, or nothing is kept and one
 * sentence says why.
 */
#include "open.h"

#include "choose_plan.h"
#include "device.h"
#include "hash.h"
#include "heap.h"
#include "packed_file.h"
#include "pages.h"
#include "team.h"

#include <string.h>

/* One block of the heap: the model in the first aligned place, the weights in the next where they are packed here.
 * Weights that are to be locked have pages of their own: locks do not nest, and the lock of a shared page would end
 * with the first model that is closed. */
static burin_status make_on_heap(size_t weights_bytes, int own_pages, burin_opened_model **opened,
                                 burin_message *message) {
  size_t alignment = own_pages ? burin_page_bytes() : BURIN_BLOCK_ALIGNMENT;
  size_t front = (sizeof(burin_opened_model) + alignment - 1) / alignment * alignment;
  size_t back = own_pages ? alignment - 1 : 0; /* room for the rest of the last page */
  void *block = NULL;
  burin_status status = burin_heap_allocate(&block, weights_bytes, front + alignment + back, message);
  if (status != BURIN_OK)
    return status;
  *opened =
      (burin_opened_model *)burin_advance_pointer(block, (int64_t)(alignment - ((uintptr_t)block & (alignment - 1))));
  (*opened)->block = block;
  (*opened)->model.weights = (unsigned char *)*opened + front;
  return BURIN_OK;
}

/* In memory of the caller: the model in the first BURIN_MODEL_BYTES, the weights behind it. */
static burin_status make_in_memory(const burin_open_options *options, size_t weights_bytes, burin_opened_model **opened,
                                   burin_message *message) {
  size_t bytes = burin_size_add(BURIN_MODEL_BYTES, weights_bytes);
  if (!burin_is_aligned(options->memory, BURIN_BLOCK_ALIGNMENT)) {
    burin_message_text(message, "the memory for the model is not 64-byte aligned");
    return BURIN_MISALIGNED;
  }
  if (options->memory_bytes < bytes) {
    burin_message_text(message, "the memory for the model has ");
    burin_message_number(message, options->memory_bytes);
    burin_message_text(message, " bytes, expected ");
    burin_message_number(message, bytes);
    burin_message_text(message, weights_bytes > 0 ? ", with its weights" : "");
    return BURIN_OUT_OF_MEMORY;
  }
  if (options->weights && burin_overlap(options->memory, bytes, options->weights, options->weights_bytes)) {
    burin_message_text(message, "the memory for the model overlaps the bytes of the weights");
    return BURIN_OVERLAP;
  }
  memset(options->memory, 0, bytes);
  *opened = (burin_opened_model *)options->memory;
  (*opened)->model.weights = (unsigned char *)options->memory + BURIN_MODEL_BYTES;
  return BURIN_OK;
}

burin_status burin_make_model(const burin_plan *plan, const burin_open_options *options, size_t weights_bytes,
                              burin_opened_model **opened, burin_message *message) {
  int own_pages = options->lock_memory && weights_bytes > 0;
  burin_status status = options->memory ? make_in_memory(options, weights_bytes, opened, message)
                                        : make_on_heap(weights_bytes, own_pages, opened, message);
  if (status == BURIN_OK)
    (*opened)->model.plan = plan;
  return status;
}

/* In place where `stays`, else a copy. */
static burin_status open_packed(const burin_plan *plan, const burin_open_options *options, const void *memory,
                                size_t bytes, int stays, burin_opened_model **opened, burin_message *message) {
  burin_status status = burin_packed_check_header(memory, bytes, message);
  if (status == BURIN_OK) {
    const char *target = (const char *)memory + offsetof(burin_packed_header, target);
    plan = burin_plan_of_file(plan, options, target, sizeof((burin_packed_header *)0)->target);
    status = burin_packed_match(plan, memory, message); /* the file's size is now the plan's */
  }
  size_t weights_bytes = (size_t)plan->weights_bytes;
  if (status == BURIN_OK && options->verify_content)
    status = burin_packed_check_content(memory, burin_hash(burin_packed_weights(memory), weights_bytes, 0), message);
  if (status == BURIN_OK && stays && !burin_is_aligned(memory, BURIN_BLOCK_ALIGNMENT)) {
    burin_message_text(message, "the bytes of the packed file are to stay in place, but are not 64-byte aligned");
    status = BURIN_MISALIGNED;
  }
  if (status == BURIN_OK)
    status = burin_make_model(plan, options, stays ? 0 : weights_bytes, opened, message);
  if (status != BURIN_OK)
    return status;
  if (stays)
    (*opened)->model.weights = burin_packed_weights(memory);
  else
    memcpy(burin_writable_weights(*opened), burin_packed_weights(memory), weights_bytes);
  return BURIN_OK;
}

static burin_status open_path(const burin_plan *plan, const burin_open_options *options, burin_opened_model **opened,
                              burin_message *message) {
  burin_weights_file file;
  burin_status status = burin_weights_file_map(&file, options->weights_path, message);
  if (status != BURIN_OK)
    return status;
  int stays = 0;
  if (burin_is_packed(file.memory, file.bytes)) {
    stays = !options->copy;
    status = open_packed(plan, options, file.memory, file.bytes, stays, opened, message);
  } else {
    status = burin_open_safetensors(plan, options, file.memory, file.bytes, opened, message);
  }
  if (status == BURIN_OK && stays)
    (*opened)->file = file;
  else
    burin_weights_file_unmap(&file);
  return status;
}

static burin_status open_bytes(const burin_plan *plan, const burin_open_options *options, burin_opened_model **opened,
                               burin_message *message) {
  if (burin_is_packed(options->weights, options->weights_bytes))
    return open_packed(plan, options, options->weights, options->weights_bytes, options->weights_stay && !options->copy,
                       opened, message);
  return burin_open_safetensors(plan, options, options->weights, options->weights_bytes, opened, message);
}

static burin_status open_weights(const burin_plan *plan, const burin_open_options *options, burin_opened_model **opened,
                                 burin_message *message) {
  if (options->weights_path)
    return open_path(plan, options, opened, message);
  if (options->weights)
    return open_bytes(plan, options, opened, message);
  if (plan->parameter_count == 0)
    return burin_make_model(plan, options, (size_t)plan->weights_bytes, opened, message);
  burin_message_text(message, "neither a path nor the bytes of a weights file are given");
  return BURIN_NULL_POINTER;
}

static burin_status check_object(const burin_plan *plan, burin_message *message) {
  if (plan->version != BURIN_PLAN_VERSION) {
    burin_message_text(message, "the object has tables of version ");
    burin_message_number(message, plan->version);
    burin_message_text(message, ", this runtime reads version ");
    burin_message_number(message, BURIN_PLAN_VERSION);
    return BURIN_KERNEL_FAILED;
  }
  return BURIN_OK;
}

/* Where addresses have 32 bits, a model may be too large for them; from here on its sizes fit. */
static burin_status check_addressable(const burin_plan *plan, burin_message *message) {
  int64_t most = plan->weights_bytes > plan->state_bytes ? plan->weights_bytes : plan->state_bytes;
  if ((uint64_t)most <= SIZE_MAX / 2)
    return BURIN_OK;
  burin_message_number(message, (uint64_t)most);
  burin_message_text(message, most == plan->weights_bytes ? " bytes of packed weights" : " bytes of state");
  burin_message_text(message, " are more than a program here can address");
  return BURIN_OUT_OF_MEMORY;
}

burin_status burin_rt_open(const burin_plan *plan, const burin_open_options *options, burin_model **model) {
  burin_message message;
  burin_opened_model *opened = NULL;
  const burin_plan *chosen = NULL;
  if (!options || !model)
    return BURIN_NULL_POINTER;
  *model = NULL;
  burin_message_start(&message, options->message, options->message_bytes);
  burin_status status = check_object(plan, &message);
  if (status == BURIN_OK)
    status = burin_choose_plan(plan, options, &chosen, &message);
  if (status == BURIN_OK)
    status = check_addressable(chosen, &message);
  if (status == BURIN_OK)
    status = open_weights(chosen, options, &opened, &message);
  if (status != BURIN_OK)
    return status;
  opened->model.fingerprint = plan->fingerprint;
  size_t bytes = (size_t)opened->model.plan->weights_bytes;
  status = burin_team_open(opened->model.plan, options, &opened->model.team, &message);
  if (status == BURIN_OK && options->lock_memory) {
    status = burin_pages_lock(opened->model.weights, bytes, &message);
    opened->locked_bytes = status == BURIN_OK ? bytes : 0;
  }
  if (status != BURIN_OK) {
    burin_rt_close(&opened->model);
    return status;
  }
  if (options->prefault)
    burin_pages_prefault(opened->model.weights, bytes);
  chosen = opened->model.plan; /* a packed file may have asked for another */
  if (chosen->device && !(opened->model.device = chosen->device->open(opened->model.weights, bytes))) {
    burin_message_text(&message, "the weights cannot go to a GPU: no driver or device that target '");
    burin_message_text(&message, chosen->target);
    burin_message_text(&message, "' can use, or too little memory on it");
    burin_rt_close(&opened->model);
    return BURIN_CPU_UNSUPPORTED;
  }
  *model = &opened->model;
  return BURIN_OK;
}

const char *burin_model_isa(const burin_model *model) { return model ? model->plan->target : NULL; }

void burin_rt_close(burin_model *model) {
  burin_opened_model *opened = (burin_opened_model *)model;
  if (!opened)
    return;
  burin_team_close(opened->model.team);
  if (opened->model.device)
    opened->model.device->api->close(opened->model.device);
  burin_pages_unlock(opened->model.weights, opened->locked_bytes);
  burin_weights_file_unmap(&opened->file);
  burin_heap_free(opened->block);
}
