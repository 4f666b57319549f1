/* A state as bytes that another process, on another target, may load.
 *
 *   [header] [for each value of the state: its kept rows, oldest first, [row][feature]] [hash of all before]
 *
 * Caches are float32 and accumulators float64, bit for bit; the layout of a target's storage is not in the bytes. They
 * are in the byte order of the targets, which is little endian, and may lie at any address.
 *
 * Nothing in the bytes is trusted: how many there must be follows from the plan and from the streams' positions, which
 * are compared with what the plan allows, and the hash finds damage. A state is written only when all is right.
 */
#include "device.h"
#include "hash.h"
#include "state.h"

#include <string.h>

static const char magic[8] = {'B', 'U', 'R', 'I', 'N', 'S', 'T', '1'};
enum { HASH_BYTES = sizeof(uint64_t) };

typedef struct saved_header {
  char magic[8]; /* with the version of the format */
  uint64_t graph;
  uint64_t values;                  /* values_hash */
  int64_t position[BURIN_MAX_AXES]; /* as in the state; 0 where there is no such stream */
  int64_t start[BURIN_MAX_AXES];
} saved_header;
typedef char saved_header_has_88_bytes[sizeof(saved_header) == 88 ? 1 : -1];

/* What the values of a state are, without their layout: a compiler that divides a graph's state otherwise gives another
 * hash. */
static uint64_t values_hash(const burin_plan *plan) {
  uint64_t hash = (uint64_t)plan->state_value_count;
  for (int32_t i = 0; i < plan->state_value_count; ++i) {
    const burin_plan_state_value *value = &plan->state_values[i];
    const int64_t numbers[] = {value->type, value->stream, value->window, value->features};
    hash = burin_hash(value->name, strlen(value->name) + 1, hash);
    hash = burin_hash(numbers, sizeof numbers, hash);
  }
  return hash;
}

static size_t kept_bytes(const burin_plan_state_value *value, const int64_t *taken) {
  size_t row_bytes = burin_size_multiply((size_t)value->features, burin_element_bytes(value->type));
  return burin_size_multiply((size_t)burin_kept(value, taken[value->stream]).rows, row_bytes);
}

static size_t saved_bytes(const burin_plan *plan, const int64_t *taken) {
  size_t bytes = sizeof(saved_header) + HASH_BYTES;
  for (int32_t i = 0; i < plan->state_value_count; ++i)
    bytes = burin_size_add(bytes, kept_bytes(&plan->state_values[i], taken));
  return bytes;
}

/* All values, in the order of the plan. */
static void move_values(burin_direction direction, const burin_plan *plan, const int64_t *taken, unsigned char *state,
                        unsigned char *saved) {
  unsigned char *plain = saved + sizeof(saved_header);
  for (int32_t i = 0; i < plan->state_value_count; ++i) {
    const burin_plan_state_value *value = &plan->state_values[i];
    burin_move_rows(direction, value, taken[value->stream], state + value->offset, plain);
    plain += kept_bytes(value, taken);
  }
}

burin_status burin_rt_state_save(const burin_plan *plan, const burin_model *model, const void *state, void *saved,
                                 size_t capacity, size_t *bytes) {
  if (plan->stream_count == 0)
    return BURIN_NO_STEP;
  burin_status status = burin_take_plan_of(model, &plan);
  if (status != BURIN_OK)
    return status;
  if (!state || !bytes || (!saved && capacity != 0))
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT))
    return BURIN_MISALIGNED;
  const burin_state_header *from = (const burin_state_header *)state;
  int64_t taken[BURIN_MAX_AXES];
  if (!burin_state_belongs(from, plan, taken))
    return BURIN_STATE_FOREIGN;
  size_t needed = saved_bytes(plan, taken);
  if (saved) {
    if (capacity < needed)
      return BURIN_NO_SUCH_STATE_VALUE;
    if (burin_overlap(saved, needed, state, (size_t)plan->state_bytes))
      return BURIN_OVERLAP;
    status = burin_state_from_device(plan, model, state);
    if (status != BURIN_OK)
      return status;
    saved_header header = {{0}, plan->graph, values_hash(plan), {0}, {0}};
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.position, from->position, sizeof header.position);
    memcpy(header.start, from->start, sizeof header.start);
    memcpy(saved, &header, sizeof header);
    move_values(BURIN_FROM_STATE, plan, taken, (unsigned char *)(uintptr_t)state, (unsigned char *)saved);
    uint64_t hash = burin_hash(saved, needed - HASH_BYTES, 0);
    memcpy((unsigned char *)saved + needed - HASH_BYTES, &hash, HASH_BYTES);
  }
  *bytes = needed;
  return BURIN_OK;
}

/* Whether the plan's streams can have come to these positions; gives the rows that they took. */
static int positions_fit(const burin_plan *plan, const saved_header *header, int64_t taken[BURIN_MAX_AXES]) {
  for (int32_t stream = 0; stream < BURIN_MAX_AXES; ++stream) {
    int64_t position = header->position[stream], start = header->start[stream];
    if (start < 0 || position < start || (stream >= plan->stream_count && position != 0))
      return 0;
    taken[stream] = position - start;
    if (stream < plan->stream_count && !burin_stream_has_room(&plan->streams[stream], position, taken[stream], 0))
      return 0;
  }
  return 1;
}

burin_status burin_rt_state_load(const burin_plan *plan, const burin_model *model, void *state, size_t state_bytes,
                                 const void *saved, size_t bytes) {
  if (plan->stream_count == 0)
    return BURIN_NO_STEP;
  burin_status status = burin_take_plan_of(model, &plan);
  if (status != BURIN_OK)
    return status;
  if (!state || !saved)
    return BURIN_NULL_POINTER;
  if (!burin_is_aligned(state, BURIN_BLOCK_ALIGNMENT))
    return BURIN_MISALIGNED;
  if (state_bytes < (size_t)plan->state_bytes)
    return BURIN_SCRATCH_TOO_SMALL;
  if (burin_overlap(saved, bytes, state, (size_t)plan->state_bytes))
    return BURIN_OVERLAP;

  /* Of another format nothing more can be said. Otherwise damage is told first, lest a damaged word looks foreign. */
  if (bytes >= sizeof magic && memcmp(saved, magic, sizeof magic) != 0)
    return BURIN_STATE_FOREIGN;
  if (bytes < sizeof(saved_header) + HASH_BYTES)
    return BURIN_STATE_DAMAGED;
  saved_header header;
  uint64_t hash;
  memcpy(&header, saved, sizeof header);
  memcpy(&hash, (const unsigned char *)saved + bytes - HASH_BYTES, HASH_BYTES);
  if (hash != burin_hash(saved, bytes - HASH_BYTES, 0))
    return BURIN_STATE_DAMAGED;
  if (header.graph != plan->graph || header.values != values_hash(plan))
    return BURIN_STATE_FOREIGN;
  int64_t taken[BURIN_MAX_AXES];
  if (!positions_fit(plan, &header, taken) || bytes != saved_bytes(plan, taken))
    return BURIN_STATE_DAMAGED;

  memset(state, 0, (size_t)plan->state_bytes);
  burin_state_header *to = (burin_state_header *)state;
  to->magic = BURIN_STATE_MAGIC;
  to->fingerprint = plan->fingerprint;
  memcpy(to->position, header.position, sizeof to->position);
  memcpy(to->start, header.start, sizeof to->start);
  move_values(BURIN_TO_STATE, plan, taken, (unsigned char *)state, (unsigned char *)(uintptr_t)saved);
  return burin_state_to_device(plan, model, state);
}
