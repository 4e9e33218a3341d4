// Nothing here depends on the locale or on the C library's ways to print: the same model gives the
// same bytes everywhere.
#include "export/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "export/api.h"
#include "report/api.h"

#define MAX_COMMENT 100
#define MAX_NAME 160  // within a label

void stowi_export_put_bytes(stowi_export_out* out, const char* data, size_t size) {
  if (out->status == STOW_OK) {
    out->status = stowi_put_str(out->writer, (stow_str){data, size});
  }
}

void stowi_export_put(stowi_export_out* out, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bool is_whole = size >= 0 && (size_t)size < sizeof text;
  if (!is_whole && out->status == STOW_OK) {
    out->status = STOW_ERR_LIMIT;
  }
  stowi_export_put_bytes(out, text, is_whole ? (size_t)size : 0);
}

void stowi_export_label(const stow_graph* graph, stow_node node,
                        char out[STOWI_EXPORT_LABEL_SIZE]) {
  char name[MAX_NAME] = "";
  int size = snprintf(out, STOWI_EXPORT_LABEL_SIZE, "node %" PRIu32 " (%.40s)", node,
                      stow_graph_op_name(graph, node));
  if (stow_graph_result_count(graph, node) > 0) {
    stow_value value = stow_graph_first_result(graph, node);
    stowi_report_escape(stow_graph_value_name(graph, value), name, sizeof name);
    const char* quote = name[0] == '\0' ? "" : "\"";
    (void)snprintf(out + size, STOWI_EXPORT_LABEL_SIZE - (size_t)size, " %%%" PRIu32 "%s%s%s%s",
                   value, name[0] == '\0' ? "" : " ", quote, name, quote);
  }
}

void stowi_export_identifier(stow_str text, char out[STOWI_EXPORT_NAME_SIZE]) {
  size_t most = STOWI_EXPORT_NAME_SIZE - 16;  // what makes it unique comes behind
  size_t size = text.size < most ? text.size : most;
  for (size_t i = 0; i < size; ++i) {
    out[i] = stowi_is_alnum(text.data[i]) ? text.data[i] : '_';
  }
  if (size == 0) {
    out[size++] = 'x';
  }
  out[size] = '\0';
}

bool stowi_export_is_name(const char* text) {
  // What else a program's folder and its Makefile have.
  static const char* const taken[] = {"LICENSE", "Makefile", "README",  "clean", "exec",
                                      "lib",     "main",     "program", "run",   "stowage"};
  size_t size = strlen(text);
  bool is_one =
      size > 0 && size < STOWI_EXPORT_NAME_SIZE - 16 && text[0] != '_' && stowi_is_alpha(text[0]);
  for (size_t i = 0; i < size && is_one; ++i) {
    is_one = stowi_is_alnum(text[i]);
  }
  for (size_t i = 0; i < sizeof taken / sizeof taken[0] && is_one; ++i) {
    is_one = strcmp(text, taken[i]) != 0;
  }
  return is_one;
}

// Octal escapes end after three digits, whatever follows; `?` is one too, since two of them begin a
// trigraph.
void stowi_export_put_string(stowi_export_out* out, stow_str text) {
  stowi_export_put(out, "\"");
  for (size_t i = 0; i < text.size; ++i) {
    unsigned char c = (unsigned char)text.data[i];
    if (c < 32 || c > 126 || c == '"' || c == '\\' || c == '?') {
      stowi_export_put(out, "\\%03o", (unsigned)c);
    } else {
      stowi_export_put(out, "%c", c);
    }
  }
  stowi_export_put(out, "\"");
}

void stowi_export_put_comment(stowi_export_out* out, stow_str text) {
  static const char others[] = " .,:-/()[]";
  size_t size = text.size < MAX_COMMENT ? text.size : MAX_COMMENT;
  for (size_t i = 0; i < size; ++i) {
    char c = text.data[i];
    bool is_plain = stowi_is_alnum(c) || (c != '\0' && strchr(others, c) != NULL);
    stowi_export_put(out, "%c", is_plain ? c : '_');
  }
  stowi_export_put(out, "%s", size < text.size ? "..." : "");
}

void stowi_export_put_int(stowi_export_out* out, int64_t number) {
  if (number == INT64_MIN) {
    stowi_export_put(out, "INT64_MIN");
  } else if (number > INT32_MAX || number < -INT32_MAX) {
    stowi_export_put(out, "INT64_C(%" PRId64 ")", number);
  } else {
    stowi_export_put(out, "%" PRId64, number);
  }
}

// The mantissa's 53 bits as an integer, times a power of two: exact, and never rounded.
void stowi_export_put_float(stowi_export_out* out, double number) {
  int exponent = 0;
  if (isnan(number)) {
    stowi_export_put(out, "NAN");
  } else if (isinf(number)) {
    stowi_export_put(out, "%sINFINITY", number < 0 ? "-" : "");
  } else {
    double mantissa = ldexp(frexp(fabs(number), &exponent), 53);
    uint64_t digits = (uint64_t)mantissa;
    exponent = digits == 0 ? 0 : exponent - 53;
    while (digits != 0 && digits % 2 == 0) {
      digits /= 2;
      ++exponent;
    }
    stowi_export_put(out, "%s0x%" PRIx64 "p%d", signbit(number) ? "-" : "", digits, exponent);
  }
}
