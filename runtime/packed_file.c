/* The header of a packed file: made, and compared with what is expected; packed_file.h. */
#include "packed_file.h"

#include "hash.h"

#include <string.h>

static const char magic[8] = {'B', 'U', 'R', 'I', 'N', 'P', 'K', '1'};

static uint64_t add_number(uint64_t hash, int64_t number) { return burin_hash(&number, sizeof number, hash); }

/* With its end, so that two names never read as one. */
static uint64_t add_name(uint64_t hash, const char *name) { return burin_hash(name, strlen(name) + 1, hash); }

uint64_t burin_packed_layout(const burin_plan *plan) {
  uint64_t hash = add_number(add_name(BURIN_PACKED_VERSION, plan->target), plan->weights_bytes);
  hash = add_number(hash, plan->parameter_count);
  for (int32_t p = 0; p < plan->parameter_count; ++p) {
    const burin_plan_parameter *parameter = &plan->parameters[p];
    hash = add_number(add_name(hash, parameter->name), parameter->rank);
    for (int32_t i = 0; i < parameter->rank; ++i)
      hash = add_number(hash, parameter->shape[i]);
  }
  for (int32_t s = 0; s < plan->segment_count; ++s) {
    const burin_plan_segment *segment = &plan->segments[s];
    const int64_t numbers[] = {segment->parameter,  segment->layout,  segment->transposed,  segment->panel,
                               segment->rows,       segment->column,  segment->destination, segment->terms,
                               segment->group,      segment->columns, segment->scales,      segment->sums,
                               segment->corrections};
    hash = burin_hash(numbers, sizeof numbers, hash);
  }
  return hash;
}

static uint64_t checksum_of(const burin_packed_header *header) {
  burin_packed_header copy = *header;
  copy.checksum = 0;
  return burin_hash(&copy, sizeof copy, 0);
}

static void copy_name(char *to, size_t capacity, const char *name) {
  size_t length = name ? strlen(name) : 0;
  memcpy(to, name ? name : "", length < capacity - 1 ? length : capacity - 1);
}

void burin_packed_make_header(burin_packed_header *header, const burin_plan *plan, uint64_t content) {
  memset(header, 0, sizeof *header);
  memcpy(header->magic, magic, sizeof magic);
  header->version = BURIN_PACKED_VERSION;
  header->byte_order = BURIN_PACKED_BYTE_ORDER;
  header->layout = burin_packed_layout(plan);
  header->weights_bytes = (uint64_t)plan->weights_bytes;
  header->content = content;
  copy_name(header->target, sizeof header->target, plan->target);
  copy_name(header->model, sizeof header->model, plan->name);
  header->checksum = checksum_of(header);
}

int burin_is_packed(const void *memory, size_t bytes) {
  return bytes >= sizeof magic && memcmp(memory, magic, sizeof magic - 1) == 0;
}

static burin_status fail_hashes(burin_message *message, const char *what, uint64_t found, uint64_t expected) {
  burin_message_text(message, what);
  burin_message_hash(message, found);
  burin_message_text(message, ", expected ");
  burin_message_hash(message, expected);
  return BURIN_FILE_MALFORMED;
}

static burin_status fail_numbers(burin_message *message, const char *before, uint64_t found, const char *between,
                                 uint64_t expected, const char *after) {
  burin_message_text(message, before);
  burin_message_number(message, found);
  burin_message_text(message, between);
  burin_message_number(message, expected);
  burin_message_text(message, after);
  return BURIN_FILE_MALFORMED;
}

burin_status burin_packed_check_header(const void *memory, size_t bytes, burin_message *message) {
  burin_packed_header header;
  if (!burin_is_packed(memory, bytes)) {
    burin_message_text(message, "the file is not a packed one: it does not begin with BURINPK1");
    return BURIN_FILE_MALFORMED;
  }
  if (memcmp(memory, magic, sizeof magic) != 0) {
    burin_message_text(message, "the packed file begins with ");
    burin_message_name(message, (const char *)memory, sizeof magic);
    burin_message_text(message, ", expected 'BURINPK1'");
    return BURIN_FILE_MALFORMED;
  }
  if (bytes < sizeof header)
    return fail_numbers(message, "the packed file has ", bytes, " bytes, fewer than the ", sizeof header,
                        " of its header");
  memcpy(&header, memory, sizeof header); /* the bytes may lie at any address */
  if (header.byte_order != BURIN_PACKED_BYTE_ORDER) {
    fail_hashes(message, "the packed file has another byte order than this processor: its mark is ", header.byte_order,
                BURIN_PACKED_BYTE_ORDER);
    return BURIN_FILE_MALFORMED;
  }
  if (header.version != BURIN_PACKED_VERSION)
    return fail_numbers(message, "the packed file has format version ", header.version, ", this runtime reads version ",
                        BURIN_PACKED_VERSION, "");
  uint64_t checksum = checksum_of(&header);
  if (header.checksum != checksum)
    return fail_hashes(message, "the header of the packed file is damaged: its checksum is ", checksum,
                       header.checksum);
  if (header.weights_bytes != bytes - sizeof header)
    return fail_numbers(message, "the packed file has ", bytes - sizeof header,
                        " bytes of weights, but its header says ", header.weights_bytes, "");
  return BURIN_OK;
}

/* 'text', as much of it as its place has. */
static void tell_name(burin_message *message, const char *text, size_t capacity) {
  const char *end = (const char *)memchr(text, '\0', capacity);
  burin_message_name(message, text, end ? (size_t)(end - text) : capacity);
}

burin_status burin_packed_match(const burin_plan *plan, const void *memory, burin_message *message) {
  burin_packed_header header, expected;
  memcpy(&header, memory, sizeof header);
  burin_packed_make_header(&expected, plan, 0);
  if (memcmp(header.target, expected.target, sizeof header.target) != 0) {
    burin_message_text(message, "the packed file is for target ");
    tell_name(message, header.target, sizeof header.target);
    burin_message_text(message, ", expected ");
    tell_name(message, expected.target, sizeof expected.target);
    return BURIN_WEIGHTS_MISMATCH;
  }
  if (header.layout != expected.layout || header.weights_bytes != expected.weights_bytes) {
    burin_message_text(message, "the packed file is for model ");
    tell_name(message, header.model, sizeof header.model);
    burin_message_text(message, " with weights of layout ");
    burin_message_hash(message, header.layout);
    burin_message_text(message, ", expected model ");
    tell_name(message, expected.model, sizeof expected.model);
    burin_message_text(message, " with layout ");
    burin_message_hash(message, expected.layout);
    return BURIN_WEIGHTS_MISMATCH;
  }
  return BURIN_OK;
}

burin_status burin_packed_check_content(const void *memory, uint64_t content, burin_message *message) {
  burin_packed_header header;
  memcpy(&header, memory, sizeof header);
  if (header.content == content)
    return BURIN_OK;
  return fail_hashes(message, "the weights in the packed file are damaged: their content hash is ", content,
                     header.content);
}
