#include "support/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPORTED_FAILURES 20

static test_case* first_test;
static test_case** last_link = &first_test;
static unsigned failures_in_test;
static bool long_run;
static const char* data_dir;

void test_register(test_case* test) {
  *last_link = test;
  last_link = &test->next;
}

bool test_check(bool passed, const char* file, int line, const char* format, ...) {
  if (passed) {
    return true;
  }
  ++failures_in_test;
  if (failures_in_test <= MAX_REPORTED_FAILURES) {
    fprintf(stderr, "%s:%d: failed: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
  }
  return false;
}

bool test_check_u64(uint64_t actual, uint64_t expected, const char* file, int line,
                    const char* what) {
  return test_check(actual == expected, file, line, "%s is %" PRIu64 ", expected %" PRIu64, what,
                    actual, expected);
}

bool test_check_text(const char* actual, const char* expected, const char* file, int line,
                     const char* what) {
  if (actual == NULL || expected == NULL) {
    return test_check(actual == expected, file, line, "%s is %s, expected %s", what,
                      actual ? actual : "NULL", expected ? expected : "NULL");
  }
  size_t at = 0;
  size_t line_number = 1;
  while (actual[at] != '\0' && actual[at] == expected[at]) {
    line_number += actual[at] == '\n';
    ++at;
  }
  return test_check(actual[at] == expected[at], file, line,
                    "%s differs at byte %zu (line %zu):\n  is       …%.60s\n  expected …%.60s",
                    what, at, line_number, actual + at, expected + at);
}

unsigned test_failures(void) { return failures_in_test; }
bool test_is_long(void) { return long_run; }
const char* test_data_dir(void) { return data_dir; }

uint64_t test_random_u64(test_random* random) {
  uint64_t x = (random->state += UINT64_C(0x9e3779b97f4a7c15));
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

uint64_t test_random_below(test_random* random, uint64_t bound) {
  return test_random_u64(random) % bound;
}

char* test_read_file(const char* path, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fprintf(stderr, "cannot open %s\n", path);
    exit(2);
  }
  char* text = NULL;
  size_t size = 0;
  size_t capacity = 0;
  do {
    capacity = capacity == 0 ? 4096 : capacity * 2;
    text = (char*)realloc(text, capacity + 1);
    if (text == NULL) {
      exit(2);
    }
    size += fread(text + size, 1, capacity - size, file);
  } while (size == capacity);
  fclose(file);
  text[size] = '\0';
  if (out_size != NULL) {
    *out_size = size;
  }
  return text;
}

int main(int argc, char** argv) {
  const char* filter = "";
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--long") == 0) {
      long_run = true;
    } else if (strcmp(argv[i], "--data") == 0 && i + 1 < argc) {
      data_dir = argv[++i];
    } else {
      filter = argv[i];
    }
  }
  unsigned passed = 0;
  unsigned failed = 0;
  for (test_case* test = first_test; test != NULL; test = test->next) {
    if (strstr(test->name, filter) == NULL) {
      continue;
    }
    failures_in_test = 0;
    test->run();
    printf("%s %s\n", failures_in_test == 0 ? "ok  " : "FAIL", test->name);
    *(failures_in_test == 0 ? &passed : &failed) += 1;
  }
  printf("%u passed, %u failed\n", passed, failed);
  return failed != 0 || passed == 0;
}
