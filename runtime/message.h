/* The sentence that a failed open leaves with its caller: written piece by piece into the caller's memory, cut to fit.
 * A cut never splits a UTF-8 character. Text out of a file is shortened, and its control characters are replaced.
 */
#ifndef BURIN_MESSAGE_H
#define BURIN_MESSAGE_H

#include "private.h"

typedef struct burin_message {
  char *text; /* null when the caller wants none */
  size_t capacity;
  size_t length;
  int cut;
} burin_message;

BURIN_PRIVATE void burin_message_start(burin_message *message, char *text, size_t capacity);
BURIN_PRIVATE void burin_message_clear(burin_message *message);
BURIN_PRIVATE void burin_message_text(burin_message *message, const char *text);
BURIN_PRIVATE void burin_message_name(burin_message *message, const char *name, size_t length); /* in quotes */
BURIN_PRIVATE void burin_message_number(burin_message *message, uint64_t number);
BURIN_PRIVATE void burin_message_hash(burin_message *message, uint64_t hash); /* 16 hexadecimal digits */
BURIN_PRIVATE void burin_message_shape(burin_message *message, const int64_t *shape, int32_t rank);

#endif
