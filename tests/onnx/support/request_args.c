// Names of symbols may hold any byte, `=` and spaces too: the last `=` ends them.
#include "request_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBERS 64

static void fail(const char* argument, const char* why) {
  fprintf(stderr, "%s: %s\n", argument, why);
  exit(2);
}

static size_t read_numbers(const char* argument, const char* text, int64_t* numbers) {
  size_t count = 0;
  while (*text != '\0') {
    char* end = NULL;
    long long number = strtoll(text, &end, 10);
    if (end == text || (*end != ',' && *end != '\0') || count == MAX_NUMBERS) {
      fail(argument, "expected numbers, separated by commas");
    }
    numbers[count++] = number;
    text = *end == ',' ? end + 1 : end;
  }
  return count;
}

static stow_status apply(stow_import_request* request, const char* option, const char* argument,
                         stow_diag* diag) {
  int64_t numbers[MAX_NUMBERS];
  const char* equals = strrchr(argument, '=');
  if (strcmp(option, "--bind-rest") == 0) {
    return stow_import_request_bind_rest(request, strtoll(argument, NULL, 10), diag);
  }
  if (equals == NULL) {
    fail(argument, "expected NAME=NUMBER");
    return STOW_ERR_SYNTAX;
  }
  stow_str name = {argument, (size_t)(equals - argument)};
  size_t count = read_numbers(argument, equals + 1, numbers);
  if (strcmp(option, "--value") == 0) {
    return stow_import_request_value(request, name, numbers, count, diag);
  }
  if (strcmp(option, "--shape") == 0) {
    return stow_import_request_shape(request, name, numbers, count, diag);
  }
  return stow_import_request_bind(request, name, count == 0 ? 0 : numbers[0], diag);
}

bool request_take_arg(stow_import_request* request, int argc, char** argv, int* index) {
  static const char* const options[] = {"--bind", "--bind-rest", "--value", "--shape"};
  const char* option = argv[*index];
  stow_diag diag;
  stow_diag_init(&diag);
  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); ++i) {
    if (strcmp(option, options[i]) != 0) {
      continue;
    }
    if (*index + 1 >= argc) {
      fail(option, "expected an argument");
    }
    if (apply(request, option, argv[*index + 1], &diag) != STOW_OK) {
      fail(argv[*index + 1], diag.message);
    }
    *index += 2;
    return true;
  }
  return false;
}
