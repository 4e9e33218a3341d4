// Text for people. UTF-8 is taken apart by hand: the C library's functions obey the locale, which
// this command never sets. The distance between words is the optimal string alignment distance
// (insert, delete, replace, swap two neighbours), O(length²) with three short rows.
#include "text.h"

#include <stdio.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6"

static size_t printable_size(const unsigned char* text, size_t size) {
  static const unsigned char first_of_size[] = {0, 0, 0xC0, 0xE0, 0xF0};
  unsigned char lead = text[0];
  if (lead < 0x80) {
    return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  }
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > size) {
    return 0;
  }
  uint32_t code = (uint32_t)(lead - first_of_size[length]);
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xC0) != 0x80) {
      return 0;
    }
    code = code << 6 | (text[i] & 0x3F);
  }
  static const uint32_t smallest[] = {0, 0, 0xA0, 0x800, 0x10000};  // 0x80 … 0x9F are controls
  bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= smallest[length] && code <= 0x10FFFF && !surrogate ? length : 0;
}

size_t cli_character_size(stow_str text) {
  return text.size == 0 ? 0 : printable_size((const unsigned char*)text.data, text.size);
}

// The code of the character at |text| where it would hide, turn the direction of what follows, or
// is none at all (XML refuses it); else 0. |size|: of the character.
static unsigned trick_at(const unsigned char* text, size_t size) {
  unsigned code = size == 2   ? (text[0] & 31u) << 6 | (text[1] & 63u)
                  : size == 3 ? (text[0] & 15u) << 12 | (text[1] & 63u) << 6 | (text[2] & 63u)
                              : 0;
  bool trick = code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
               (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
               code == 0xFEFF || code >= 0xFFFE;
  return trick ? code : 0;
}

static size_t escape_byte(unsigned char byte, char out[5]) {
  static const char hex[] = "0123456789ABCDEF";
  const char* named = byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : byte == '\r' ? "\\r" : NULL;
  if (named != NULL) {
    memcpy(out, named, 3);
    return 2;
  }
  out[0] = '\\';
  out[1] = 'x';
  out[2] = hex[byte >> 4];
  out[3] = hex[byte & 15];
  out[4] = '\0';
  return 4;
}

void cli_escape(stow_str text, char* out, size_t capacity) {
  const unsigned char* bytes = (const unsigned char*)text.data;
  size_t used = 0;
  for (size_t at = 0; at < text.size;) {
    char piece[8];
    size_t eaten = printable_size(bytes + at, text.size - at);
    unsigned trick = trick_at(bytes + at, eaten);
    size_t size = eaten;
    if (trick != 0) {
      size = (size_t)snprintf(piece, sizeof piece, "\\u%04X", trick);
    } else if (eaten > 0) {
      memcpy(piece, bytes + at, eaten);
    } else {
      size = escape_byte(bytes[at], piece);
      eaten = 1;
    }
    if (used + size >= capacity) {
      break;
    }
    memcpy(out + used, piece, size);
    used += size;
    at += eaten;
  }
  out[used] = '\0';
}

// Bytes of the character that a file's name may hold as it is; 0: it may not.
static size_t file_character_size(const unsigned char* at, size_t size, bool is_first) {
  size_t length = printable_size(at, size);
  bool is_special = length == 1 && (strchr("%/\\:*?\"<>|", at[0]) != NULL ||
                                    (is_first && strchr(".-~ ", at[0]) != NULL));
  return is_special || trick_at(at, length) != 0 ? 0 : length;
}

bool cli_file_name_of(stow_str name, stow_string* out) {
  static const char hex[] = "0123456789ABCDEF";
  const unsigned char* bytes = (const unsigned char*)name.data;
  bool made = true;
  for (size_t at = 0; at < name.size && made;) {
    size_t size = file_character_size(bytes + at, name.size - at, at == 0);
    char piece[] = {'%', hex[bytes[at] >> 4], hex[bytes[at] & 15]};
    made =
        stow_string_append(out, size > 0 ? name.data + at : piece, size > 0 ? size : 3) == STOW_OK;
    at += size > 0 ? size : 1;
  }
  return made;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// One character of a quoted string, from |*at| on, which moves behind it. False for an escape that
// is none.
static bool unquote_one(const char** at, const char* end, char* out) {
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

stow_status cli_unquote(stow_str quoted, stow_string* out) {
  if (quoted.size < 2 || quoted.data[0] != '"' || quoted.data[quoted.size - 1] != '"') {
    return STOW_ERR_SYNTAX;
  }
  const char* end = quoted.data + quoted.size - 1;
  stow_status status = STOW_OK;
  for (const char* at = quoted.data + 1; at < end && status == STOW_OK;) {
    char c;
    status = unquote_one(&at, end, &c) ? stow_string_append(out, &c, 1) : STOW_ERR_SYNTAX;
  }
  return status;
}

stow_status cli_unescape(stow_str text, stow_string* out) {
  const char* end = text.data + text.size;
  stow_status status = STOW_OK;
  for (const char* at = text.data; at < end && status == STOW_OK;) {
    char c = *at;
    if (!unquote_one(&at, end, &c)) {
      ++at;
    }
    status = stow_string_append(out, &c, 1);
  }
  return status;
}

size_t cli_name_of_file(char* text, size_t size) {
  size_t used = 0;
  for (size_t at = 0; at < size; ++at) {
    bool is_byte = text[at] == '%' && size - at > 2 && hex_digit(text[at + 1]) >= 0 &&
                   hex_digit(text[at + 2]) >= 0;
    text[used++] =
        is_byte ? (char)(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2])) : text[at];
    at += is_byte ? 2 : 0;
  }
  return used;
}

static bool starts_character(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

size_t cli_width(const char* text) {
  size_t width = 0;
  for (; *text != '\0'; ++text) {
    width += starts_character(*text);
  }
  return width;
}

void cli_cut(char* text, size_t width) {
  if (width == 0 || cli_width(text) <= width) {
    return;
  }
  size_t kept = 0;
  for (; *text != '\0'; ++text) {
    if (starts_character(*text) && kept++ == width - 1) {
      memcpy(text, ELLIPSIS, sizeof ELLIPSIS);
      return;
    }
  }
}

// Where the character number |index| begins.
static char* character_at(char* text, size_t index) {
  for (; *text != '\0'; ++text) {
    if (starts_character(*text) && index-- == 0) {
      break;
    }
  }
  return text;
}

void cli_cut_inside(char* text, size_t width) {
  cli_cut_after(text, width == 0 ? 0 : (width - 1) / 3, width);
}

void cli_cut_after(char* text, size_t head, size_t width) {
  size_t whole = cli_width(text);
  if (width == 0 || whole <= width) {
    return;
  }
  size_t tail = width - 1 - head;
  const char* rest = character_at(text, whole - tail);
  char* cut = character_at(text, head);
  size_t rest_size = strlen(rest) + 1;
  memmove(cut + sizeof ELLIPSIS - 1, rest, rest_size);
  memcpy(cut, ELLIPSIS, sizeof ELLIPSIS - 1);
}

#define WORD_MAX 40

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned distance(const char* a, size_t a_size, const char* b, size_t b_size) {
  unsigned rows[3][WORD_MAX + 1];
  for (size_t j = 0; j <= b_size; ++j) {
    rows[0][j] = (unsigned)j;
  }
  for (size_t i = 1; i <= a_size; ++i) {
    unsigned* row = rows[i % 3];
    const unsigned* above = rows[(i + 2) % 3];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= b_size; ++j) {
      bool same = a[i - 1] == b[j - 1];
      row[j] = smaller(above[j - 1] + !same, smaller(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = smaller(row[j], rows[(i + 1) % 3][j - 2] + 1);
      }
    }
  }
  return rows[a_size % 3][b_size];
}

const char* cli_closest(const char* word, const char* (*word_at)(size_t index, const void* user),
                        size_t count, const void* user) {
  size_t size = strlen(word);
  if (size == 0 || size > WORD_MAX) {
    return NULL;
  }
  const char* best = NULL;
  unsigned best_distance = size < 4 ? 1 : size < 9 ? 2 : 3;  // the largest that still is "close"
  for (size_t i = 0; i < count; ++i) {
    const char* candidate = word_at(i, user);
    size_t candidate_size = strlen(candidate);
    if (candidate_size > WORD_MAX) {
      continue;
    }
    unsigned d = distance(word, size, candidate, candidate_size);
    if (d < best_distance || (d == best_distance && best == NULL)) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}
