// Strings, growing strings and writers. printf formats only integers and strings: its floats obey
// the locale.
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

stow_str stow_str_of(const char* text) {
  stow_str string = {text == NULL ? "" : text, text == NULL ? 0 : strlen(text)};
  return string;
}

bool stow_str_equal(stow_str a, stow_str b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int stow_str_compare(stow_str a, stow_str b) {
  size_t common = a.size < b.size ? a.size : b.size;
  int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
  if (order != 0) {
    return order;
  }
  return a.size < b.size ? -1 : a.size > b.size;
}

void stow_string_init(stow_string* string, stow_allocator allocator) {
  memset(string, 0, sizeof(*string));
  string->allocator = allocator;
}

void stow_string_free(stow_string* string) {
  stowi_free(string->allocator, string->data, string->capacity, 1);
  stow_string_init(string, string->allocator);
}

stow_status stow_string_append(stow_string* string, const char* data, size_t size) {
  if (size == SIZE_MAX) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  STOW_TRY(stowi_vec_reserve(string->allocator, (void**)&string->data, string->size,
                             &string->capacity, 1, size + 1));
  if (size != 0) {
    memcpy(string->data + string->size, data, size);
  }
  string->size += size;
  string->data[string->size] = '\0';
  return STOW_OK;
}

static stow_status write_to_string(void* user, const char* data, size_t size) {
  return stow_string_append((stow_string*)user, data, size);
}

stow_writer stow_string_writer(stow_string* string) {
  stow_writer writer = {write_to_string, string};
  return writer;
}

stow_status stowi_put_str(stow_writer writer, stow_str string) {
  return string.size == 0 ? STOW_OK : writer.write(writer.user, string.data, string.size);
}

stow_status stowi_put(stow_writer writer, const char* text) {
  return stowi_put_str(writer, stow_str_of(text));
}

stow_status stowi_printf(stow_writer writer, const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  if (size < 0 || (size_t)size >= sizeof(buffer)) {
    return STOW_ERR_LIMIT;
  }
  stow_str piece = {buffer, (size_t)size};
  return stowi_put_str(writer, piece);
}

static stow_status put_escaped_byte(stow_writer writer, unsigned char byte) {
  switch (byte) {
    case '"': return stowi_put(writer, "\\\"");
    case '\\': return stowi_put(writer, "\\\\");
    case '\n': return stowi_put(writer, "\\n");
    case '\t': return stowi_put(writer, "\\t");
    case '\r': return stowi_put(writer, "\\r");
    default: return stowi_printf(writer, "\\x%02x", (unsigned)byte);
  }
}

static bool needs_escape(unsigned char byte) {
  return byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\';
}

stow_status stowi_put_quoted(stow_writer writer, stow_str string) {
  STOW_TRY(stowi_put(writer, "\""));
  size_t plain_from = 0;
  for (size_t i = 0; i < string.size; ++i) {
    unsigned char byte = (unsigned char)string.data[i];
    if (!needs_escape(byte)) {
      continue;
    }
    stow_str plain = {string.data + plain_from, i - plain_from};
    STOW_TRY(stowi_put_str(writer, plain));
    STOW_TRY(put_escaped_byte(writer, byte));
    plain_from = i + 1;
  }
  stow_str rest = {string.data + plain_from, string.size - plain_from};
  STOW_TRY(stowi_put_str(writer, rest));
  return stowi_put(writer, "\"");
}

static int hex_digit(char c) {
  return stowi_is_digit(c)      ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

bool stowi_unescape(const char** at, const char* end, char* out) {
  static const char codes[] = "\"\\ntr";
  static const char meanings[] = "\"\\\n\t\r";
  const char* c = *at;
  if (c[0] != '\\') {
    *out = c[0];
    *at = c + 1;
    return true;
  }
  if (end - c >= 4 && c[1] == 'x' && hex_digit(c[2]) >= 0 && hex_digit(c[3]) >= 0) {
    *out = (char)(hex_digit(c[2]) * 16 + hex_digit(c[3]));
    *at = c + 4;
    return true;
  }
  const char* code = end - c >= 2 && c[1] != '\0' ? strchr(codes, c[1]) : NULL;
  if (code == NULL) {
    return false;
  }
  *out = meanings[code - codes];
  *at = c + 2;
  return true;
}

size_t stowi_utf8(stow_str text, uint32_t* out_code) {
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char* s = (const unsigned char*)text.data;
  unsigned lead = text.size == 0 ? 0x80 : s[0];
  size_t length = lead < 0x80    ? 1
                  : lead < 0xC2  ? 0
                  : lead < 0xE0  ? 2
                  : lead < 0xF0  ? 3
                  : lead <= 0xF4 ? 4
                                 : 0;
  if (length == 0 || length > text.size) {
    return 0;
  }
  uint32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((s[i] & 0xC0) != 0x80) {
      return 0;
    }
    code = code << 6 | (s[i] & 0x3Fu);
  }
  *out_code = code;
  bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < smallest[length] || code > 0x10FFFF || is_surrogate ? 0 : length;
}

static stow_status put_json_code(stow_writer writer, uint32_t code) {
  static const char codes[] = "\"\\\n\t\r";
  static const char letters[] = "\"\\ntr";
  const char* named = code == 0 || code > 0x7F ? NULL : strchr(codes, (int)code);
  return named != NULL ? stowi_printf(writer, "\\%c", letters[named - codes])
                       : stowi_printf(writer, "\\u%04x", (unsigned)code);
}

static bool is_json_plain(uint32_t code, bool in_page) {
  bool acts = code == '<' || code == '>' || code == '&' || code == 0x2028 || code == 0x2029;
  return code >= 0x20 && (code < 0x7F || code > 0x9F) && code != '"' && code != '\\' &&
         !(in_page && acts);
}

stow_status stowi_put_json(stow_writer writer, stow_str string, bool in_page) {
  STOW_TRY(stowi_put(writer, "\""));
  size_t from = 0;
  for (size_t at = 0; at < string.size;) {
    uint32_t code = 0xFFFD;
    size_t size = stowi_utf8((stow_str){string.data + at, string.size - at}, &code);
    if (size == 0 || !is_json_plain(code, in_page)) {
      STOW_TRY(stowi_put_str(writer, (stow_str){string.data + from, at - from}));
      STOW_TRY(put_json_code(writer, size > 0 ? code : 0xFFFD));
      from = at + (size > 0 ? size : 1);
    }
    at += size > 0 ? size : 1;
  }
  if (from < string.size) {  // an empty string may have no data
    STOW_TRY(stowi_put_str(writer, (stow_str){string.data + from, string.size - from}));
  }
  return stowi_put(writer, "\"");
}

bool stowi_is_plain_name(stow_str string) {
  if (string.size == 0 || !stowi_is_alpha(string.data[0])) {
    return false;
  }
  for (size_t i = 1; i < string.size; ++i) {
    if (!stowi_is_alnum(string.data[i]) && string.data[i] != '.') {
      return false;
    }
  }
  return true;
}

bool stowi_parse_u64(stow_str string, uint64_t* out) {
  uint64_t number = 0;
  for (size_t i = 0; i < string.size; ++i) {
    if (!stowi_is_digit(string.data[i])) {
      return false;
    }
    uint64_t digit = (uint64_t)(string.data[i] - '0');
    if (number > (UINT64_MAX - digit) / 10) {
      return false;
    }
    number = number * 10 + digit;
  }
  *out = number;
  return string.size != 0;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Row by row, of which the last three are kept.
size_t stowi_edit_distance(stow_str a, stow_str b) {
  size_t rows[3][STOWI_LONGEST_WORD + 1];
  for (size_t j = 0; j <= b.size; ++j) {
    rows[0][j] = j;
  }
  for (size_t i = 1; i <= a.size; ++i) {
    size_t* row = rows[i % 3];
    const size_t* above = rows[(i + 2) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size; ++j) {
      bool is_same = a.data[i - 1] == b.data[j - 1];
      row[j] = smaller(above[j - 1] + !is_same, smaller(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1]) {
        row[j] = smaller(row[j], rows[(i + 1) % 3][j - 2] + 1);
      }
    }
  }
  return rows[a.size % 3][b.size];
}
