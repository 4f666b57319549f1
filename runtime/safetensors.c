/* The safetensors header, read and checked; safetensors.h says how strictly.
 *
 *   [uint64 header length, little endian] [header: JSON, padded with spaces] [data]
 *   header: { name : { "dtype": string, "shape": [whole numbers], "data_offsets": [begin, end] }, …,
 *             "__metadata__": { string : string } }
 */
#include "safetensors.h"

#include "json.h"

#include <stdlib.h>
#include <string.h>

/* The limit of the format's reference implementation. */
#define LONGEST_HEADER UINT64_C(100000000)
/* No tensor takes less text: "":{"dtype":"U8","shape":[],"data_offsets":[0,0]} */
enum { SHORTEST_ENTRY = 49 };

static const struct {
  const char *name;
  int64_t bits;
} types[] = {{"F32", 32},        {"F16", 16},    {"BF16", 16},   {"F64", 64}, {"I64", 64},    {"I32", 32},
             {"I16", 16},        {"I8", 8},      {"U64", 64},    {"U32", 32}, {"U16", 16},    {"U8", 8},
             {"BOOL", 8},        {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"C64", 64}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
             {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};

typedef struct reader {
  burin_json json;
  const char *header;
  char *names; /* where the next decoded string goes */
  burin_message *message;
} reader;

/* What every tensor says of itself, in any order. */
static const char *const field_names[] = {"dtype", "shape", "data_offsets"};

/* Every failure is a sentence about one tensor: `before` 'name' `after`. */
static int fail(reader *r, const char *before, const burin_file_tensor *tensor, const char *after) {
  burin_message_text(r->message, before);
  burin_message_name(r->message, tensor->name, tensor->name_length);
  burin_message_text(r->message, after);
  return 0;
}

static int fail_syntax(reader *r) {
  burin_message_text(r->message, "the header is not well-formed JSON at byte ");
  burin_message_number(r->message, (uint64_t)(r->json.next - r->header));
  return 0;
}

static int take_name(reader *r, burin_json_string *name) {
  if (!burin_json_take_string(&r->json, r->names, name))
    return 0;
  r->names += name->length;
  return 1;
}

static int string_is(const burin_json_string *string, const char *text) {
  return string->length == strlen(text) && memcmp(string->text, text, string->length) == 0;
}

/* A list of whole numbers; keeps the first `capacity` and says how many there are, or -1 when it is no such list. */
static int64_t take_numbers(reader *r, int64_t *numbers, int64_t capacity) {
  int64_t count = 0, number;
  if (!burin_json_take(&r->json, '['))
    return -1;
  if (burin_json_take(&r->json, ']'))
    return 0;
  do {
    if (!burin_json_take_number(&r->json, &number))
      return -1;
    if (count < capacity)
      numbers[count] = number;
    ++count;
  } while (burin_json_take(&r->json, ','));
  return burin_json_take(&r->json, ']') ? count : -1;
}

static int take_type(reader *r, burin_file_tensor *tensor) {
  burin_json_string type;
  if (!take_name(r, &type))
    return fail(r, "the dtype of tensor ", tensor, " is not a string");
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (string_is(&type, types[i].name)) {
      tensor->type = types[i].name;
      return 1;
    }
  fail(r, "tensor ", tensor, " has the unknown dtype ");
  burin_message_name(r->message, type.text, type.length);
  return 0;
}

static int take_shape(reader *r, burin_file_tensor *tensor) {
  int64_t rank = take_numbers(r, tensor->shape, BURIN_MAX_RANK);
  if (rank < 0)
    return fail(r, "the shape of tensor ", tensor, " is not a list of whole numbers");
  if (rank > BURIN_MAX_RANK)
    return fail(r, "tensor ", tensor, " has more than 8 dimensions");
  tensor->rank = (int32_t)rank;
  return 1;
}

static int take_offsets(reader *r, burin_file_tensor *tensor) {
  int64_t offsets[2], count = take_numbers(r, offsets, 2);
  if (count < 0)
    return fail(r, "the data_offsets of tensor ", tensor, " are not a list of whole numbers");
  if (count != 2) {
    fail(r, "the data_offsets of tensor ", tensor, " hold ");
    burin_message_number(r->message, (uint64_t)count);
    burin_message_text(r->message, count == 1 ? " number, expected 2" : " numbers, expected 2");
    return 0;
  }
  if (offsets[1] < offsets[0]) {
    fail(r, "the data_offsets of tensor ", tensor, " are reversed: ");
    burin_message_shape(r->message, offsets, 2);
    return 0;
  }
  tensor->begin = offsets[0];
  tensor->end = offsets[1];
  return 1;
}

/* The bytes that type and shape ask for, or -1 when that is no number. */
static int64_t bytes_of(const burin_file_tensor *tensor) {
  int64_t count = 1, bits = 0;
  for (int32_t i = 0; i < tensor->rank; ++i)
    if (tensor->shape[i] == 0)
      return 0;
  for (int32_t i = 0; i < tensor->rank; ++i) {
    if (count > INT64_MAX / tensor->shape[i])
      return -1;
    count *= tensor->shape[i];
  }
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (types[i].name == tensor->type)
      bits = types[i].bits;
  return count > INT64_MAX / bits || count * bits % 8 != 0 ? -1 : count * bits / 8;
}

static int check_size(reader *r, const burin_file_tensor *tensor) {
  int64_t bytes = bytes_of(tensor);
  if (bytes == tensor->end - tensor->begin)
    return 1;
  fail(r, "tensor ", tensor, " has type ");
  burin_message_text(r->message, tensor->type);
  burin_message_text(r->message, " and shape ");
  burin_message_shape(r->message, tensor->shape, tensor->rank);
  if (bytes < 0) {
    burin_message_text(r->message, ", which is no possible number of bytes");
    return 0;
  }
  burin_message_text(r->message, ", that is ");
  burin_message_number(r->message, (uint64_t)bytes);
  burin_message_text(r->message, " bytes, but its data_offsets span ");
  burin_message_number(r->message, (uint64_t)(tensor->end - tensor->begin));
  return 0;
}

static int take_tensor(reader *r, burin_file_tensor *tensor) {
  int seen = 0;
  if (!burin_json_take(&r->json, '{'))
    return fail(r, "tensor ", tensor, " is not described by an object");
  do {
    burin_json_string field;
    char *names = r->names;
    if (!take_name(r, &field))
      return fail_syntax(r);
    int index = 0;
    while (index < 3 && !string_is(&field, field_names[index]))
      ++index;
    if (index == 3 || (seen & 1 << index)) {
      fail(r, "tensor ", tensor, index == 3 ? " has the unknown field " : " has twice the field ");
      burin_message_name(r->message, field.text, field.length);
      return 0;
    }
    r->names = names; /* names of fields are not kept */
    seen |= 1 << index;
    if (!burin_json_take(&r->json, ':'))
      return fail_syntax(r);
    if (!(index == 0 ? take_type(r, tensor) : index == 1 ? take_shape(r, tensor) : take_offsets(r, tensor)))
      return 0;
  } while (burin_json_take(&r->json, ','));
  if (!burin_json_take(&r->json, '}'))
    return fail_syntax(r);
  for (int index = 0; index < 3; ++index)
    if (!(seen & 1 << index)) {
      fail(r, "tensor ", tensor, " has no field ");
      burin_message_name(r->message, field_names[index], strlen(field_names[index]));
      return 0;
    }
  return check_size(r, tensor);
}

/* Free text for people and tools; read for its form and dropped. */
static int take_metadata(reader *r) {
  char *names = r->names;
  burin_json_string string;
  int good = burin_json_take(&r->json, '{');
  if (good && !burin_json_take(&r->json, '}')) {
    do {
      good = take_name(r, &string) && burin_json_take(&r->json, ':') && take_name(r, &string);
      r->names = names;
    } while (good && burin_json_take(&r->json, ','));
    good = good && burin_json_take(&r->json, '}');
  }
  if (!good)
    burin_message_text(r->message, "the field '__metadata__' is not an object of strings");
  return good;
}

static int take_header(reader *r, burin_safetensors *file, size_t capacity) {
  int metadata = 0;
  if (!burin_json_take(&r->json, '{'))
    return fail_syntax(r);
  if (!burin_json_take(&r->json, '}')) {
    do {
      burin_json_string name;
      if (!take_name(r, &name) || !burin_json_take(&r->json, ':'))
        return fail_syntax(r);
      if (string_is(&name, "__metadata__")) {
        if (metadata++) {
          burin_message_text(r->message, "the field '__metadata__' appears twice");
          return 0;
        }
        if (!take_metadata(r))
          return 0;
        continue;
      }
      if (file->count == capacity)
        return fail_syntax(r);
      burin_file_tensor *tensor = &file->tensors[file->count];
      memset(tensor, 0, sizeof *tensor);
      tensor->name = name.text;
      tensor->name_length = name.length;
      if (!take_tensor(r, tensor))
        return 0;
      ++file->count;
    } while (burin_json_take(&r->json, ','));
    if (!burin_json_take(&r->json, '}'))
      return fail_syntax(r);
  }
  if (burin_json_at_end(&r->json))
    return 1;
  burin_message_text(r->message, "the header goes on after its closing brace, at byte ");
  burin_message_number(r->message, (uint64_t)(r->json.next - r->header));
  return 0;
}

static int by_place(const void *left, const void *right) {
  const burin_file_tensor *a = (const burin_file_tensor *)left, *b = (const burin_file_tensor *)right;
  return a->begin != b->begin ? (a->begin < b->begin ? -1 : 1) : (a->end > b->end) - (a->end < b->end);
}

static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length) {
  int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_name(const void *left, const void *right) {
  const burin_file_tensor *a = (const burin_file_tensor *)left, *b = (const burin_file_tensor *)right;
  return compare_names(a->name, a->name_length, b->name, b->name_length);
}

static int check_names(reader *r, burin_safetensors *file) {
  qsort(file->tensors, file->count, sizeof *file->tensors, by_name);
  for (size_t i = 1; i < file->count; ++i)
    if (by_name(&file->tensors[i - 1], &file->tensors[i]) == 0)
      return fail(r, "tensor ", &file->tensors[i], " appears twice");
  return 1;
}

/* Tensors fill the data, each byte belonging to one. */
static int check_places(reader *r, burin_safetensors *file, uint64_t data_bytes) {
  int64_t filled = 0;
  qsort(file->tensors, file->count, sizeof *file->tensors, by_place);
  for (size_t i = 0; i < file->count; ++i) {
    const burin_file_tensor *tensor = &file->tensors[i];
    if ((uint64_t)tensor->end > data_bytes) {
      fail(r, "the data_offsets of tensor ", tensor, " end at ");
      burin_message_number(r->message, (uint64_t)tensor->end);
      burin_message_text(r->message, ", but the file has ");
      burin_message_number(r->message, data_bytes);
      burin_message_text(r->message, " bytes of data");
      return 0;
    }
    if (tensor->begin < filled) {
      fail(r, "tensors ", &file->tensors[i - 1], " and ");
      burin_message_name(r->message, tensor->name, tensor->name_length);
      burin_message_text(r->message, " overlap in the data");
      return 0;
    }
    if (tensor->begin > filled) {
      burin_message_number(r->message, (uint64_t)(tensor->begin - filled));
      return fail(r, " bytes of data before tensor ", tensor, " belong to no tensor");
    }
    filled = tensor->end;
  }
  if ((uint64_t)filled == data_bytes)
    return 1;
  burin_message_text(r->message, "the last ");
  burin_message_number(r->message, data_bytes - (uint64_t)filled);
  burin_message_text(r->message, " bytes of data belong to no tensor");
  return 0;
}

/* The header's text, bounded by what is there; null with a message otherwise. */
static const char *find_header(const unsigned char *memory, size_t bytes, uint64_t *length, burin_message *message) {
  if (bytes < 8) {
    burin_message_text(message, "the file has ");
    burin_message_number(message, bytes);
    burin_message_text(message, " bytes, too few for the length of a header");
    return NULL;
  }
  *length = 0;
  for (int i = 7; i >= 0; --i)
    *length = *length << 8 | memory[i];
  const char *header = (const char *)memory + 8;
  if (*length > bytes - 8 || *length > LONGEST_HEADER) {
    int missing = *length > bytes - 8;
    burin_message_text(message, "the header length is ");
    burin_message_number(message, *length);
    burin_message_text(message, missing ? ", but the file has " : ", but at most ");
    burin_message_number(message, missing ? bytes - 8 : LONGEST_HEADER);
    burin_message_text(message, missing ? " bytes after it" : " bytes are accepted");
    return NULL;
  }
  if (*length == 0 || header[0] != '{') {
    burin_message_text(message, *length == 0 ? "the header length is 0" : "the header does not begin with '{'");
    return NULL;
  }
  size_t wrong = burin_first_not_utf8(header, (size_t)*length);
  if (wrong != *length) {
    burin_message_text(message, "the header is not UTF-8 at byte ");
    burin_message_number(message, wrong);
    return NULL;
  }
  return header;
}

burin_status burin_safetensors_read(burin_safetensors *file, const void *memory, size_t bytes, burin_message *message) {
  uint64_t length;
  const char *header = find_header((const unsigned char *)memory, bytes, &length, message);
  if (!header)
    return BURIN_FILE_MALFORMED;
  size_t capacity = (size_t)length / SHORTEST_ENTRY + 1;
  file->count = 0;
  file->data = (const unsigned char *)memory + 8 + length;
  file->tensors = (burin_file_tensor *)malloc(capacity * sizeof *file->tensors);
  file->names = (char *)malloc((size_t)length);
  if (!file->tensors || !file->names) {
    burin_safetensors_free(file);
    burin_message_text(message, "memory for the names of the tensors could not be allocated");
    return BURIN_OUT_OF_MEMORY;
  }
  reader r = {{header, header + length}, header, file->names, message};
  if (take_header(&r, file, capacity) && check_names(&r, file) && check_places(&r, file, bytes - 8 - length)) {
    qsort(file->tensors, file->count, sizeof *file->tensors, by_name); /* for burin_safetensors_find */
    return BURIN_OK;
  }
  burin_safetensors_free(file);
  return BURIN_FILE_MALFORMED;
}

void burin_safetensors_free(burin_safetensors *file) {
  free(file->tensors);
  free(file->names);
  file->tensors = NULL;
  file->names = NULL;
  file->count = 0;
}

burin_file_tensor *burin_safetensors_find(const burin_safetensors *file, const char *name) {
  size_t low = 0, high = file->count, length = strlen(name);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    burin_file_tensor *tensor = &file->tensors[middle];
    int order = compare_names(name, length, tensor->name, tensor->name_length);
    if (order == 0)
      return tensor;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}
