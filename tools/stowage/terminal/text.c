// Names as files, quoted names, and misspelt words.
#include "terminal/text.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/api.h"

// Bytes of the character that a file's name may hold as it is; 0: it may not.
static size_t file_character_size(stow_str at, bool is_first) {
  size_t size = stowi_report_plain_size(at);
  bool is_special = size == 1 && (strchr("%/\\:*?\"<>|", at.data[0]) != NULL ||
                                  (is_first && strchr(".-~ ", at.data[0]) != NULL));
  return is_special ? 0 : size;
}

bool cli_file_name_of(stow_str name, stow_string* out) {
  static const char hex[] = "0123456789ABCDEF";
  bool made = true;
  for (size_t at = 0; at < name.size && made;) {
    size_t size = file_character_size((stow_str){name.data + at, name.size - at}, at == 0);
    unsigned char byte = (unsigned char)name.data[at];
    char piece[] = {'%', hex[byte >> 4], hex[byte & 15]};
    made =
        stow_string_append(out, size > 0 ? name.data + at : piece, size > 0 ? size : 3) == STOW_OK;
    at += size > 0 ? size : 1;
  }
  return made;
}

// Of `%7f` as of `\x7f`.
static bool read_byte(const char* text, size_t size, char* out) {
  char escape[] = {'\\', 'x', size > 1 ? text[1] : '\0', size > 2 ? text[2] : '\0'};
  const char* at = escape;
  return size > 2 && text[0] == '%' && stowi_unescape(&at, escape + sizeof escape, out);
}

size_t cli_name_of_file(char* text, size_t size) {
  size_t used = 0;
  for (size_t at = 0; at < size; ++at) {
    char byte = text[at];
    at += read_byte(text + at, size - at, &byte) ? 2 : 0;
    text[used++] = byte;
  }
  return used;
}

static bool is_control(char byte) { return (unsigned char)byte < ' ' || byte == 0x7f; }

bool cli_needs_file_name(stow_str name) {
  for (size_t i = 0; i < name.size; ++i) {
    char byte;
    if (is_control(name.data[i]) || read_byte(name.data + i, name.size - i, &byte)) {
      return true;
    }
  }
  return false;
}

bool cli_is_file_name(stow_str name) {
  for (size_t i = 0; i < name.size; ++i) {
    char byte;
    if (read_byte(name.data + i, name.size - i, &byte) && (is_control(byte) || byte == '%')) {
      return true;
    }
  }
  return false;
}

bool cli_cut_file_name(stow_string* name, size_t most, size_t number) {
  char end[32];
  size_t end_size = (size_t)snprintf(end, sizeof end, "%%~%zu", number);
  if (name->size <= most) {
    return true;
  }
  size_t kept = 0;
  for (size_t next = 0; next <= most - end_size;) {  // whole characters, and whole %HH
    kept = next;
    uint32_t code;
    next += name->data[next] == '%'
                ? 3
                : stowi_utf8((stow_str){name->data + next, name->size - next}, &code);
  }
  name->size = kept;
  return stow_string_append(name, end, end_size) == STOW_OK;
}

stow_status cli_unquote(stow_str quoted, stow_string* out) {
  if (quoted.size < 2 || quoted.data[0] != '"' || quoted.data[quoted.size - 1] != '"') {
    return STOW_ERR_SYNTAX;
  }
  const char* end = quoted.data + quoted.size - 1;
  stow_status status = STOW_OK;
  for (const char* at = quoted.data + 1; at < end && status == STOW_OK;) {
    char c;
    status = stowi_unescape(&at, end, &c) ? stow_string_append(out, &c, 1) : STOW_ERR_SYNTAX;
  }
  return status;
}

#define WORD_MAX 40

bool cli_is_plain_word(stow_str text) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
  for (size_t i = 0; i < text.size; ++i) {
    if (memchr(plain, text.data[i], sizeof plain - 1) == NULL) {
      return false;
    }
  }
  return true;
}

bool cli_starts_with(stow_str text, const char* start) {
  size_t size = strlen(start);
  return text.size >= size && memcmp(text.data, start, size) == 0;
}

const char* cli_closest(const char* word, const char* (*word_at)(size_t index, const void* user),
                        size_t count, const void* user) {
  stow_str wanted = stow_str_of(word);
  if (wanted.size == 0 || wanted.size > WORD_MAX) {
    return NULL;
  }
  const char* best = NULL;
  size_t best_distance = wanted.size < 4   ? 1
                         : wanted.size < 9 ? 2
                                           : 3;  // the largest still "close"
  for (size_t i = 0; i < count; ++i) {
    stow_str candidate = stow_str_of(word_at(i, user));
    size_t d = candidate.size > WORD_MAX ? SIZE_MAX : stowi_edit_distance(wanted, candidate);
    if (d < best_distance || (d == best_distance && best == NULL)) {
      best = candidate.data;
      best_distance = d;
    }
  }
  return best;
}
