/* What runtime/bare_symbols.def lists, in its plainest form, and nothing else. Compiled so that no loop here becomes a
 * call of itself. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
  return to;
}

void *memset(void *memory, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((unsigned char *)memory)[i] = (unsigned char)value;
  return memory;
}

int memcmp(const void *a, const void *b, size_t bytes) {
  const unsigned char *first = a, *second = b;
  for (size_t i = 0; i < bytes; ++i)
    if (first[i] != second[i])
      return first[i] < second[i] ? -1 : 1;
  return 0;
}

void *memchr(const void *memory, int value, size_t bytes) {
  const unsigned char *first = memory;
  for (size_t i = 0; i < bytes; ++i)
    if (first[i] == (unsigned char)value)
      return (void *)(first + i);
  return NULL;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  return length;
}

int strcmp(const char *a, const char *b) {
  while (*a && *a == *b)
    ++a, ++b;
  return (unsigned char)*a - (unsigned char)*b;
}
