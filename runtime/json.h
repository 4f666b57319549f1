/* Reads JSON text one token at a time: just what a safetensors header holds (objects, strings, lists of whole numbers).
 *
 * Nothing here recurses or allocates: the header's shape is fixed, so whatever may nest deeply is an error at its first
 * bracket. Rejected: a general JSON parser, most of which would only be attack surface.
 */
#ifndef BURIN_JSON_H
#define BURIN_JSON_H

#include "private.h"

typedef struct burin_json {
  const char *next;
  const char *end;
} burin_json;

/* A string decoded into memory of the caller; may hold any character, zero included. */
typedef struct burin_json_string {
  const char *text;
  size_t length;
} burin_json_string;

/* Each takes the token if it comes next, white space before it included, and says whether it did. */
BURIN_PRIVATE int burin_json_take(burin_json *json, char punctuation);
/* `decoded` has room for the rest of the text: a decoded string is never longer than its source. */
BURIN_PRIVATE int burin_json_take_string(burin_json *json, char *decoded, burin_json_string *string);
/* A whole number from 0 to 2^63 - 1 in JSON's form: no sign, no leading zero, no fraction, no exponent. */
BURIN_PRIVATE int burin_json_take_number(burin_json *json, int64_t *number);
BURIN_PRIVATE int burin_json_at_end(burin_json *json);

/* Index of the first byte that is not part of well-formed UTF-8, or `length`. */
BURIN_PRIVATE size_t burin_first_not_utf8(const char *text, size_t length);

#endif
