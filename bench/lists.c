#include "lists.h"

#include <stdlib.h>
#include <string.h>

bool bench_parse_number(const char* text, uint64_t* out_number) {
  char* end = NULL;
  *out_number = strtoull(text, &end, 10);
  return end != text && *end == '\0' && text[0] != '-';
}

bool bench_parse_numbers(const char* text, bench_numbers* out_numbers) {
  out_numbers->count = 0;
  for (const char* at = text;; ++at) {
    char* end = NULL;
    uint64_t value = strtoull(at, &end, 10);
    if (end == at || *at == '-' || value == 0 || out_numbers->count == BENCH_MAX_NUMBERS) {
      return false;
    }
    out_numbers->values[out_numbers->count++] = value;
    at = end;
    if (*at != ',') {
      return *at == '\0';
    }
  }
}

bool bench_is_among(const char* name, const char* names) {
  size_t size = strlen(name);
  for (const char* at = names; at != NULL; at = strchr(at, ','), at = at == NULL ? NULL : at + 1) {
    if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0')) {
      return true;
    }
  }
  return names == NULL;
}

size_t bench_count_names(const char* names, size_t all) {
  size_t count = 1;
  for (const char* at = names; at != NULL && *at != '\0'; ++at) {
    count += *at == ',';
  }
  return names == NULL ? all : count;
}
