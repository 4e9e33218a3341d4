// A very small test harness. Test functions register themselves; names state a property. One
// program per source file, each runnable alone, under valgrind, sanitizers or a debugger, on a
// machine with nothing but a compiler: that is why it is our own and not a package.
//
//     TEST(EmptyGraphIsRefused) {
//       CHECK(status == STOW_ERR_TYPE);
//       CHECK_U64(stow_plan_arena_size(plan), 1152);
//       REQUIRE(plan != NULL);  // ends this test
//     }
//
// Run a program with a part of a name to run only the tests whose names hold it; with --long for
// the long versions.
#ifndef STOWAGE_TESTS_SUPPORT_TEST_H_
#define STOWAGE_TESTS_SUPPORT_TEST_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test_case {
  const char* name;
  void (*run)(void);
  struct test_case* next;
} test_case;

void test_register(test_case* test);
// Records a failure of the running test, and returns |passed|.
bool test_check(bool passed, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
bool test_check_u64(uint64_t actual, uint64_t expected, const char* file, int line,
                    const char* what);
// Shows the first difference. Either may be NULL.
bool test_check_text(const char* actual, const char* expected, const char* file, int line,
                     const char* what);
// Checks of the running test that failed so far.
unsigned test_failures(void);
// Whether --long was given: more random cases.
bool test_is_long(void);
// Arguments that are not options, after the filter: e.g. a data folder given by CMake with --data
// DIR.
const char* test_data_dir(void);

#define TEST(test_name)                                                 \
  static void test_name(void);                                          \
  __attribute__((constructor)) static void test_name##_register(void) { \
    static test_case registration = {#test_name, test_name, NULL};      \
    test_register(&registration);                                       \
  }                                                                     \
  static void test_name(void)

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, "%s", #condition)
#define CHECK_U64(actual, expected) \
  test_check_u64((uint64_t)(actual), (uint64_t)(expected), __FILE__, __LINE__, #actual)
#define CHECK_TEXT(actual, expected) \
  test_check_text((actual), (expected), __FILE__, __LINE__, #actual)
// |actual| contains |part|.
#define CHECK_HAS(actual, part)                                                            \
  test_check(strstr((actual), (part)) != NULL, __FILE__, __LINE__, "\"%s\" has no \"%s\"", \
             (actual), (part))
#define REQUIRE(condition) \
  do {                     \
    if (!CHECK(condition)) \
      return;              \
  } while (0)

// A deterministic random number generator (splitmix64).
typedef struct test_random {
  uint64_t state;
} test_random;
uint64_t test_random_u64(test_random* random);
// 0 … bound-1; |bound| above 0.
uint64_t test_random_below(test_random* random, uint64_t bound);

// Reads a whole file; the text is followed by a NUL. Ends the program on failure. Free with free().
char* test_read_file(const char* path, size_t* out_size);

#endif  // STOWAGE_TESTS_SUPPORT_TEST_H_
