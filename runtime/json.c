/* Tokens of JSON text (RFC 8259); json.h says which. */
#include "json.h"

static void skip_white_space(burin_json *json) {
  while (json->next < json->end &&
         (*json->next == ' ' || *json->next == '\t' || *json->next == '\n' || *json->next == '\r'))
    ++json->next;
}

int burin_json_take(burin_json *json, char punctuation) {
  skip_white_space(json);
  if (json->next == json->end || *json->next != punctuation)
    return 0;
  ++json->next;
  return 1;
}

int burin_json_at_end(burin_json *json) {
  skip_white_space(json);
  return json->next == json->end;
}

static int take_four_digits(burin_json *json, uint32_t *value) {
  *value = 0;
  if (json->end - json->next < 4)
    return 0;
  for (int i = 0; i < 4; ++i) {
    char c = *json->next++;
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return 0;
    *value = *value * 16 + (uint32_t)digit;
  }
  return 1;
}

/* What follows "\u": one code point, out of one or two escapes. */
static int take_code_point(burin_json *json, uint32_t *code) {
  uint32_t low;
  if (!take_four_digits(json, code))
    return 0;
  if (*code < 0xD800 || *code > 0xDFFF)
    return 1;
  if (*code > 0xDBFF || json->end - json->next < 2 || json->next[0] != '\\' || json->next[1] != 'u')
    return 0;
  json->next += 2;
  if (!take_four_digits(json, &low) || low < 0xDC00 || low > 0xDFFF)
    return 0;
  *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
  return 1;
}

static char *write_utf8(char *to, uint32_t code) {
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  if (code < 0x800) {
    *to++ = (char)(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      *to++ = (char)(0xE0 | code >> 12);
    } else {
      *to++ = (char)(0xF0 | code >> 18);
      *to++ = (char)(0x80 | (code >> 12 & 0x3F));
    }
    *to++ = (char)(0x80 | (code >> 6 & 0x3F));
  }
  *to++ = (char)(0x80 | (code & 0x3F));
  return to;
}

int burin_json_take_string(burin_json *json, char *decoded, burin_json_string *string) {
  char *to = decoded;
  if (!burin_json_take(json, '"'))
    return 0;
  while (json->next < json->end) {
    char c = *json->next++;
    uint32_t code;
    if (c == '"') {
      string->text = decoded;
      string->length = (size_t)(to - decoded);
      return 1;
    }
    if ((unsigned char)c < 0x20)
      return 0;
    if (c != '\\') {
      *to++ = c;
      continue;
    }
    if (json->next == json->end)
      return 0;
    switch (*json->next++) {
    case '"':
      *to++ = '"';
      break;
    case '\\':
      *to++ = '\\';
      break;
    case '/':
      *to++ = '/';
      break;
    case 'b':
      *to++ = '\b';
      break;
    case 'f':
      *to++ = '\f';
      break;
    case 'n':
      *to++ = '\n';
      break;
    case 'r':
      *to++ = '\r';
      break;
    case 't':
      *to++ = '\t';
      break;
    case 'u':
      if (!take_code_point(json, &code))
        return 0;
      to = write_utf8(to, code);
      break;
    default:
      return 0;
    }
  }
  return 0;
}

int burin_json_take_number(burin_json *json, int64_t *number) {
  skip_white_space(json);
  const char *first = json->next;
  int64_t value = 0;
  for (; json->next < json->end && *json->next >= '0' && *json->next <= '9'; ++json->next) {
    int digit = *json->next - '0';
    if (value > (INT64_MAX - digit) / 10)
      return 0;
    value = value * 10 + digit;
  }
  if (json->next == first || (*first == '0' && json->next - first > 1))
    return 0;
  *number = value;
  return 1;
}

size_t burin_first_not_utf8(const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t i = 0;
  while (i < length) {
    unsigned char first = bytes[i];
    size_t more = first < 0x80 ? 0 : first >= 0xC2 && first <= 0xDF ? 1 : first >= 0xE0 && first <= 0xEF ? 2 : 3;
    if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || more >= length - i)
      return i;
    for (size_t k = 1; k <= more; ++k)
      if ((bytes[i + k] & 0xC0) != 0x80)
        return i;
    /* Overlong forms, surrogates, and what lies past U+10FFFF. */
    if ((first == 0xE0 && bytes[i + 1] < 0xA0) || (first == 0xED && bytes[i + 1] > 0x9F) ||
        (first == 0xF0 && bytes[i + 1] < 0x90) || (first == 0xF4 && bytes[i + 1] > 0x8F))
      return i;
    i += more + 1;
  }
  return length;
}
