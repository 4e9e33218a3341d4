// Nothing here depends on the locale or on the C library's ways to print: the same model gives the
// same bytes everywhere.
#include "export/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define MAX_COMMENT 100

void cli_identifier(stow_str text, char out[CLI_IDENTIFIER_SIZE]) {
  size_t most = CLI_IDENTIFIER_SIZE - 16;  // what makes it unique comes behind
  size_t size = text.size < most ? text.size : most;
  for (size_t i = 0; i < size; ++i) {
    out[i] = stowi_is_alnum(text.data[i]) ? text.data[i] : '_';
  }
  if (size == 0) {
    out[size++] = 'x';
  }
  out[size] = '\0';
}

void cli_capitals(const char* identifier, char out[CLI_IDENTIFIER_SIZE]) {
  size_t size = strlen(identifier);
  for (size_t i = 0; i <= size; ++i) {
    char c = identifier[i];
    out[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
}

bool cli_is_identifier(const char* text) {
  // What else a program's folder and its Makefile have.
  static const char* const taken[] = {"LICENSE", "Makefile", "README",  "clean", "exec",
                                      "lib",     "main",     "program", "run",   "stowage"};
  size_t size = strlen(text);
  bool is_one =
      size > 0 && size < CLI_IDENTIFIER_SIZE - 16 && text[0] != '_' && stowi_is_alpha(text[0]);
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
void cli_print_c_string(cli_output* output, stow_str text) {
  cli_print(output, "\"");
  for (size_t i = 0; i < text.size; ++i) {
    unsigned char c = (unsigned char)text.data[i];
    if (c < 32 || c > 126 || c == '"' || c == '\\' || c == '?') {
      cli_print(output, "\\%03o", (unsigned)c);
    } else {
      cli_print(output, "%c", c);
    }
  }
  cli_print(output, "\"");
}

void cli_print_c_comment(cli_output* output, stow_str text) {
  static const char others[] = " .,:-/()[]";
  size_t size = text.size < MAX_COMMENT ? text.size : MAX_COMMENT;
  for (size_t i = 0; i < size; ++i) {
    char c = text.data[i];
    bool is_plain = stowi_is_alnum(c) || (c != '\0' && strchr(others, c) != NULL);
    cli_print(output, "%c", is_plain ? c : '_');
  }
  cli_print(output, "%s", size < text.size ? "..." : "");
}

void cli_print_c_int(cli_output* output, int64_t number) {
  if (number == INT64_MIN) {
    cli_print(output, "INT64_MIN");
  } else if (number > INT32_MAX || number < -INT32_MAX) {
    cli_print(output, "INT64_C(%" PRId64 ")", number);
  } else {
    cli_print(output, "%" PRId64, number);
  }
}

// The mantissa's 53 bits as an integer, times a power of two: exact, and never rounded.
void cli_print_c_float(cli_output* output, double number) {
  int exponent = 0;
  if (isnan(number)) {
    cli_print(output, "NAN");
  } else if (isinf(number)) {
    cli_print(output, "%sINFINITY", number < 0 ? "-" : "");
  } else {
    double mantissa = ldexp(frexp(fabs(number), &exponent), 53);
    uint64_t digits = (uint64_t)mantissa;
    exponent = digits == 0 ? 0 : exponent - 53;
    while (digits != 0 && digits % 2 == 0) {
      digits /= 2;
      ++exponent;
    }
    cli_print(output, "%s0x%" PRIx64 "p%d", signbit(number) ? "-" : "", digits, exponent);
  }
}
