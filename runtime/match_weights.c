/* Compares the graph's parameters with a file's tensors by name, shape and type. Names are not mapped or guessed: a
 * near name only helps the message.
 */
#include "match_weights.h"

#include "file_floats.h"

#include <string.h>

/* Differences told in one message; the rest are counted. */
enum { MOST_TOLD = 4 };
/* Bounds on the search for a near name, which is for people and must not make a large file slow to refuse. */
enum { LONGEST_COMPARED = 96, MOST_COMPARED = 4096 };

typedef struct report {
  burin_message *message;
  size_t differences;
} report;

/* Starts one more difference; 0 when it is one too many to tell. */
static int tell(report *r) {
  if (r->differences++ >= MOST_TOLD)
    return 0;
  if (r->differences > 1)
    burin_message_text(r->message, "; ");
  burin_message_text(r->message, "tensor ");
  return 1;
}

/* Least number of characters to insert, remove or replace (Levenshtein), or `limit` + 1 when it is more. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length, size_t limit) {
  size_t row[LONGEST_COMPARED + 1];
  if (a_length > LONGEST_COMPARED || b_length > LONGEST_COMPARED)
    return limit + 1;
  if (a_length > b_length + limit || b_length > a_length + limit)
    return limit + 1;
  for (size_t j = 0; j <= b_length; ++j)
    row[j] = j;
  for (size_t i = 1; i <= a_length; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; ++j) {
      size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      size_t other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
      diagonal = row[j];
      row[j] = replace < other ? replace : other;
    }
  }
  return row[b_length] <= limit ? row[b_length] : limit + 1;
}

static int is_dotted_suffix(const char *name, size_t length, const char *suffix, size_t suffix_length) {
  return length > suffix_length && name[length - suffix_length - 1] == '.' &&
         memcmp(name + length - suffix_length, suffix, suffix_length) == 0;
}

/* The file's tensor that a missing name most likely stands for: one that no parameter has, and the other within a
 * prefix
 * ('bert.embed.W') or a few characters. */
static burin_file_tensor *find_near(const burin_safetensors *file, const char *name) {
  size_t length = strlen(name), least = length / 4 + 1;
  burin_file_tensor *nearest = NULL;
  for (size_t i = 0, compared = 0; i < file->count && compared < MOST_COMPARED; ++i) {
    burin_file_tensor *tensor = &file->tensors[i];
    if (tensor->matched)
      continue;
    ++compared;
    if (is_dotted_suffix(tensor->name, tensor->name_length, name, length) ||
        is_dotted_suffix(name, length, tensor->name, tensor->name_length))
      return tensor;
    size_t distance = edit_distance(name, length, tensor->name, tensor->name_length, least);
    if (distance <= least) {
      nearest = tensor;
      least = distance - 1;
      if (least == 0)
        break;
    }
  }
  return nearest;
}

static void compare_tensor(report *r, const burin_plan_parameter *parameter, const burin_file_tensor *tensor) {
  if (burin_file_float_type(tensor->type) < 0 && tell(r)) {
    burin_message_name(r->message, tensor->name, tensor->name_length);
    burin_message_text(r->message, " is ");
    burin_message_text(r->message, tensor->type);
    burin_message_text(r->message, ", expected F32, F16 or BF16");
  }
  int equal = tensor->rank == parameter->rank;
  for (int32_t i = 0; equal && i < parameter->rank; ++i)
    equal = tensor->shape[i] == parameter->shape[i];
  if (!equal && tell(r)) {
    burin_message_name(r->message, tensor->name, tensor->name_length);
    burin_message_text(r->message, " has shape ");
    burin_message_shape(r->message, tensor->shape, tensor->rank);
    burin_message_text(r->message, ", expected ");
    burin_message_shape(r->message, parameter->shape, parameter->rank);
  }
}

burin_status burin_match_weights(const burin_plan *plan, burin_safetensors *file, int allow_extra_tensors,
                                 burin_message *message) {
  report r = {message, 0};
  for (int32_t p = 0; p < plan->parameter_count; ++p) {
    burin_file_tensor *tensor = burin_safetensors_find(file, plan->parameters[p].name);
    if (tensor)
      tensor->matched = 1;
  }
  for (int32_t p = 0; p < plan->parameter_count; ++p) {
    const burin_plan_parameter *parameter = &plan->parameters[p];
    burin_file_tensor *tensor = burin_safetensors_find(file, parameter->name);
    if (tensor) {
      compare_tensor(&r, parameter, tensor);
    } else if (tell(&r)) {
      burin_file_tensor *near = find_near(file, parameter->name);
      burin_message_name(message, parameter->name, strlen(parameter->name));
      burin_message_text(message, " is missing");
      if (near) {
        near->matched = 1; /* told here, so not told again as a tensor too many */
        burin_message_text(message, " (the file has ");
        burin_message_name(message, near->name, near->name_length);
        burin_message_text(message, ")");
      }
    }
  }
  for (size_t i = 0; i < file->count && !allow_extra_tensors; ++i)
    if (!file->tensors[i].matched && tell(&r)) {
      burin_message_name(message, file->tensors[i].name, file->tensors[i].name_length);
      burin_message_text(message, " is not in the graph");
    }
  if (r.differences > MOST_TOLD) {
    burin_message_text(message, "; and ");
    burin_message_number(message, r.differences - MOST_TOLD);
    burin_message_text(message, " more");
  }
  return r.differences == 0 ? BURIN_OK : BURIN_WEIGHTS_MISMATCH;
}
