/* Sentences piece by piece; message.h says what they are for. */
#include "message.h"

#include <string.h>

enum { LONGEST_NAME = 120 };

void burin_message_start(burin_message *message, char *text, size_t capacity) {
  message->text = capacity > 0 ? text : NULL;
  message->capacity = capacity;
  burin_message_clear(message);
}

void burin_message_clear(burin_message *message) {
  message->length = 0;
  message->cut = 0;
  if (message->text)
    message->text[0] = '\0';
}

/* How many of the first `room` bytes of `text` are whole UTF-8 characters. */
static size_t whole_characters(const char *text, size_t length, size_t room) {
  if (length <= room)
    return length;
  while (room > 0 && ((unsigned char)text[room] & 0xC0) == 0x80)
    --room;
  return room;
}

static void append(burin_message *message, const char *text, size_t length) {
  if (!message->text || message->cut)
    return;
  size_t kept = whole_characters(text, length, message->capacity - 1 - message->length);
  memcpy(message->text + message->length, text, kept);
  message->length += kept;
  message->text[message->length] = '\0';
  message->cut = kept < length; /* nothing follows a cut */
}

void burin_message_text(burin_message *message, const char *text) { append(message, text, strlen(text)); }

void burin_message_name(burin_message *message, const char *name, size_t length) {
  size_t kept = whole_characters(name, length, LONGEST_NAME);
  append(message, "'", 1);
  for (size_t begin = 0, end = 0; end <= kept; ++end) {
    int control = end < kept && ((unsigned char)name[end] < 0x20 || name[end] == 0x7F);
    if (end < kept && !control)
      continue;
    append(message, name + begin, end - begin);
    if (control)
      append(message, "?", 1);
    begin = end + 1;
  }
  if (kept < length)
    append(message, "...", 3);
  append(message, "'", 1);
}

void burin_message_number(burin_message *message, uint64_t number) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  append(message, digits + first, sizeof digits - first);
}

void burin_message_hash(burin_message *message, uint64_t hash) {
  char digits[16];
  for (size_t i = sizeof digits; i > 0; hash >>= 4)
    digits[--i] = "0123456789abcdef"[hash & 15];
  append(message, digits, sizeof digits);
}

void burin_message_shape(burin_message *message, const int64_t *shape, int32_t rank) {
  append(message, "[", 1);
  for (int32_t i = 0; i < rank; ++i) {
    if (i > 0)
      append(message, ", ", 2);
    burin_message_number(message, (uint64_t)shape[i]);
  }
  append(message, "]", 1);
}
