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
    case '"':
      return stowi_put(writer, "\\\"");
    case '\\':
      return stowi_put(writer, "\\\\");
    case '\n':
      return stowi_put(writer, "\\n");
    case '\t':
      return stowi_put(writer, "\\t");
    case '\r':
      return stowi_put(writer, "\\r");
    default:
      return stowi_printf(writer, "\\x%02x", (unsigned)byte);
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

// Levenshtein distance, row by row.
size_t stowi_edit_distance(stow_str a, stow_str b) {
  size_t row[STOWI_LONGEST_WORD + 1];
  for (size_t j = 0; j <= b.size; ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size; ++j) {
      size_t changed = diagonal + (a.data[i - 1] != b.data[j - 1]);
      diagonal = row[j];
      row[j] = smaller(changed, smaller(row[j], row[j - 1]) + 1);
    }
  }
  return row[b.size];
}
