// Text for people. UTF-8 is taken apart by hand: the C library's functions obey the locale.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/api.h"

#define ELLIPSIS "\xE2\x80\xA6"

// What hides, turns the direction of what follows, or is no character at all (XML refuses it).
static bool is_trick(uint32_t code) {
  return code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

static bool is_control(uint32_t code) { return code < 0x20 || (code >= 0x7F && code <= 0x9F); }

size_t stowi_report_plain_size(stow_str text) {
  uint32_t code;
  size_t size = stowi_utf8(text, &code);
  return size == 0 || is_control(code) || is_trick(code) ? 0 : size;
}

static int escape_byte(unsigned char byte, char out[8]) {
  const char* named = byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : byte == '\r' ? "\\r" : NULL;
  return named != NULL ? snprintf(out, 8, "%s", named) : snprintf(out, 8, "\\x%02X", byte);
}

void stowi_report_escape(stow_str text, char* out, size_t capacity) {
  size_t used = 0;
  for (size_t at = 0; at < text.size;) {
    stow_str rest = {text.data + at, text.size - at};
    char piece[8];
    uint32_t code;
    size_t eaten = stowi_utf8(rest, &code);
    size_t size = stowi_report_plain_size(rest);
    if (size > 0) {
      memcpy(piece, rest.data, size);
    } else if (eaten > 0 && is_trick(code)) {
      size = (size_t)snprintf(piece, sizeof piece, "\\u%04X", (unsigned)code);
    } else {
      size = (size_t)escape_byte((unsigned char)rest.data[0], piece);
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

static bool starts_character(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

size_t stowi_report_width(const char* text) {
  size_t width = 0;
  for (; *text != '\0'; ++text) {
    width += starts_character(*text);
  }
  return width;
}

void stowi_report_cut(char* text, size_t width) {
  if (width == 0 || stowi_report_width(text) <= width) {
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

void stowi_report_cut_inside(char* text, size_t width) {
  stowi_report_cut_after(text, width == 0 ? 0 : (width - 1) / 3, width);
}

void stowi_report_cut_after(char* text, size_t head, size_t width) {
  size_t whole = stowi_report_width(text);
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
