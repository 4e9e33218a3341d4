// Kernels meet nodes and elements that nobody expects (hostile.h). Each call gives results or an
// error with a message; none crashes, writes outside of its tensors, or takes long. Calls run in
// children, so that one that crashes is named.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/hostile.h"
#include "exec/kernel_case.h"
#include "exec/kernels/table.h"
#include "graph/in_place_cases.h"
#include "support/test.h"

#define SECONDS 2  // of the processor, for one call in all its ways

// What the parent knows of its child.
typedef struct progress {
  size_t index;      // the case being run
  size_t variation;  // of it
  uint64_t run;      // calls
  uint64_t passed;   // those that gave results
} progress;

static test_random random_for(size_t index, size_t variation) {
  return (test_random){(uint64_t)index * 1000003 + (uint64_t)variation};
}

static void fill(kernel_case* c, test_random* random) {
  const stow_graph* graph = kernel_case_graph(c);
  stow_node node = kernel_case_node(c);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value value = stow_graph_operands(graph, node)[k];
    if (value != STOW_VALUE_NONE && stow_graph_data(graph, value, NULL) == NULL) {
      const stow_type* type = stow_graph_type(graph, value);
      uint64_t elements = 0;
      stow_type_elements(type, &elements);
      hostile_fill(type->dtype, kernel_case_operand(c, k), (size_t)elements, random);
    }
  }
}

static void run_one(size_t index, size_t variation, progress* p) {
  test_random random = random_for(index, variation);
  stow_graph* graph = hostile_graph(index, &random);
  if (graph == NULL) {
    return;
  }
  kernel_case* c = kernel_case_of(graph);
  if (stowi_kernel_of(stow_graph_op(graph, kernel_case_node(c))) != NULL) {
    fill(c, &random);
    stow_status status = kernel_case_resolve(c);
    status = status == STOW_OK ? kernel_case_run(c) : status;
    CHECK(status == STOW_OK || kernel_case_message(c)[0] != '\0');
    p->run += 1;
    p->passed += status == STOW_OK;
  }
  kernel_case_destroy(c);
}

// Goes on to the next variation; false where all are done.
static bool advance(progress* p, size_t count) {
  p->variation += 1;
  if (p->variation == count) {
    p->variation = 0;
    p->index += 1;
  }
  return p->index < OVER_CASE_COUNT;
}

// Runs from where |p| is, up to the first call that fails a check.
static void run_child(progress* p, size_t count) {
  const struct itimerval limit = {{0, 0}, {SECONDS, 0}};
  unsigned failures = test_failures();
  do {
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
    run_one(p->index, p->variation, p);
    if (test_failures() != failures) {
      _exit(1);
    }
  } while (advance(p, count));
  _exit(0);
}

static void report(const progress* p, int ended) {
  test_random random = random_for(p->index, p->variation);
  stow_graph* graph = hostile_graph(p->index, &random);
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  if (graph != NULL) {
    stow_graph_print(graph, stow_string_writer(&text));
  }
  test_check(false, __FILE__, __LINE__, "case %zu, variation %zu: %s %d\n%.*s", p->index,
             p->variation, WIFSIGNALED(ended) ? "signal" : "ended with",
             WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended), (int)text.size,
             text.data == NULL ? "" : text.data);
  stow_string_free(&text);
  stow_graph_destroy(graph);
}

TEST(KernelsSurviveHostileInputs) {
  const size_t count = test_is_long() ? 2000 : 120;
  progress* p =
      (progress*)mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(p != MAP_FAILED);
  int ended;
  do {
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      run_child(p, count);
    }
    REQUIRE(waitpid(child, &ended, 0) == child);
    if (ended != 0) {
      report(p, ended);
    }
  } while (ended != 0 && advance(p, count));
  printf("%llu calls, %llu gave results\n", (unsigned long long)p->run,
         (unsigned long long)p->passed);
  CHECK(p->passed > OVER_CASE_COUNT);
  munmap(p, sizeof(*p));
}

// ---------------------------------------------------------------------------------------------
// Windows

#define MOST "9223372036854775807"  // INT64_MAX
#define FAR "4611686018427387904"   // 2^62
#define NEAR "288230376151711744"   // 2^58
#define MANY "549755813888"         // 2^39
#define SAME "auto_pad = \"same_upper\""

typedef struct window_case {
  const char* operands;
  const char* node;
  const char* result;
  bool is_refused;
} window_case;

// A stride of one position and a dilation of one tap mean nothing, however large. All others give
// what they should, or are refused before anything overflows. UBSan sees to that.
static const window_case window_cases[] = {
    {"f32[1, 1, 4]; f32[1, 1, 1]", "conv(%0, %1) {dilations = [" MOST "], pads = [1, 1]}",
     "f32[1, 1, 6]", false},
    {"f64[1, 1, 4]; f64[1, 1, 1]", "conv(%0, %1) {dilations = [" MOST "], pads = [1, 1]}",
     "f64[1, 1, 6]", false},
    {"f32[1, 2, 4]; f32[8, 2, 1]", "conv(%0, %1) {dilations = [" MOST "], pads = [1, 1]}",
     "f32[1, 8, 6]", false},
    {"f32[1, 2, 4]; f32[8, 2, 1]", "fused_conv(%0, %1) {dilations = [" MOST "], pads = [1, 1]}",
     "f32[1, 8, 6]", false},
    {"u8[1, 2, 4]; i8[2, 2, 1]", "conv_integer(%0, %1) {dilations = [" MOST "], pads = [1, 1]}",
     "i32[1, 2, 6]", false},
    {"u8[1, 2, 4]; i8[2, 1, 1]",
     "conv_integer(%0, %1) {dilations = [" MOST "], pads = [1, 1], group = 2}", "i32[1, 2, 6]",
     false},
    {"u8[1, 2, 4]; f32[]; u8[]; i8[2, 2, 1]; i8[]",
     "qlinear_conv(%0, %1, %2, %3, %1, %4, %1, %2) {dilations = [" MOST "], pads = [1, 1]}",
     "u8[1, 2, 6]", false},
    {"f32[1, 1, 4]; f32[1, 1, 1]", "conv_transpose(%0, %1) {dilations = [" MOST "]}",
     "f32[1, 1, 4]", false},
    {"f64[1, 1, 4]; f64[1, 1, 1]", "conv_transpose(%0, %1) {dilations = [" MOST "]}",
     "f64[1, 1, 4]", false},
    {"f32[1, 1, 4, 4]; f32[1, 1, 1, 1]; f32[1, 2, 4, 4]",
     "deform_conv(%0, %1, %2) {dilations = [" MOST ", " MOST "]}", "f32[1, 1, 4, 4]", false},
    {"f32[1, 1, 4]", "pool(%0) {kernel = [1], dilations = [" MOST "], pads = [1, 1]}",
     "f32[1, 1, 6]", false},
    {"f64[1, 1, 4]", "pool(%0) {op = \"avg\", kernel = [1], dilations = [" MOST "], pads = [1, 1]}",
     "f64[1, 1, 6]", false},
    {"f32[1, 1, 4]; i64[1] = [4]; i64[1] = [1]", "col2im(%0, %1, %2) {dilations = [" MOST "]}",
     "f32[1, 1, 4]", false},

    {"f32[1, 1, 4]; f32[1, 1, 2]", "conv(%0, %1) {strides = [" MOST "]}", "f32[1, 1, 1]", false},
    {"f64[1, 2, 4]; f64[8, 2, 2]", "conv(%0, %1) {strides = [" MOST "]}", "f64[1, 8, 1]", false},
    {"f32[1, 1, 1]; f32[1, 1, 2]", "conv_transpose(%0, %1) {strides = [" MOST "]}", "f32[1, 1, 2]",
     false},
    {"f32[1, 1, 4]", "pool(%0) {kernel = [2], strides = [" MOST "]}", "f32[1, 1, 1]", false},
    {"u8[1, 1, 4]; f32[]", "qlinear_pool(%0, %1, _, %1) {kernel = [2], strides = [" MOST "]}",
     "u8[1, 1, 1]", false},
    {"f32[1, 1, 1]; i64[1] = [4]; i64[1] = [1]", "col2im(%0, %1, %2) {strides = [" MOST "]}",
     "f32[1, 1, 4]", false},

    {"f32[1, 1, 4]; f32[1, 1, 2]", "conv(%0, %1) {dilations = [" NEAR "], pads = [" NEAR ", 0]}",
     "f32[1, 1, 4]", false},
    {"f32[1, 1, 4]; f32[1, 1, 2]", "conv(%0, %1) {dilations = [" FAR "], pads = [" FAR ", 0]}",
     "f32[1, 1, 4]", true},
    {"f64[1, 2, 4]; f64[8, 2, 2]", "conv(%0, %1) {dilations = [" MOST "], " SAME "}",
     "f64[1, 8, 4]", true},
    {"u8[1, 2, 4]; i8[2, 2, 2]", "conv_integer(%0, %1) {dilations = [" MOST "], " SAME "}",
     "i32[1, 2, 4]", true},
    {"f32[1, 1, 4]; f32[1, 1, 2]", "conv_transpose(%0, %1) {dilations = [" MOST "], " SAME "}",
     "f32[1, 1, 4]", true},
    {"f32[1, 1, 4]; f32[1, 1, 2]", "conv_transpose(%0, %1) {output_padding = [" MOST "], " SAME "}",
     "f32[1, 1, 4]", true},
    {"f32[1, 1, 4]", "pool(%0) {kernel = [" MANY "], " SAME "}", "f32[1, 1, 4]", false},
    {"f32[1, 1, 4]", "pool(%0) {op = \"avg\", kernel = [" MANY "], " SAME "}", "f32[1, 1, 4]",
     false},
    {"f32[1, 1, 4]", "pool(%0) {kernel = [" MOST "], " SAME "}", "f32[1, 1, 4]", true},
    {"f32[1, 1, 4, 4]", "pool(%0) {kernel = [" MANY ", " MANY "], " SAME "}", "f32[1, 1, 4, 4]",
     true},
    {"f64[1, 1, 4]", "pool(%0) {kernel = [2], dilations = [" FAR "], pads = [" FAR ", 0]}",
     "f64[1, 1, 4]", true},
    {"f32[1, 2, 4]; i64[1] = [4]; i64[1] = [2]",
     "col2im(%0, %1, %2) {dilations = [" FAR "], pads = [" FAR ", 0]}", "f32[1, 1, 4]", true},
    {"f32[1, 1, 2]; i64[1, 1, 2]",
     "max_unpool(%0, %1) {kernel = [4], strides = [" FAR "], pads = [" FAR ", 0]}", "f32[1, 1, 4]",
     true},
    {"f32[1, 0, 4]; f32[2, 0, " MANY "]", "conv(%0, %1) {" SAME "}", "f32[1, 2, 4]", false},
    {"f64[1, 0, 4]; f64[0, 2, " MANY "]", "conv_transpose(%0, %1) {" SAME "}", "f64[1, 2, 4]",
     false},
    {"u8[1, 0, 4]; i8[2, 0, " MANY "]", "conv_integer(%0, %1) {" SAME "}", "i32[1, 2, 4]", false},
};

TEST(HugeWindowsDoNotOverflow) {
  for (size_t i = 0; i < sizeof(window_cases) / sizeof(window_cases[0]); ++i) {
    const window_case* w = &window_cases[i];
    kernel_case* c = kernel_case_create(w->operands, w->node, w->result);
    REQUIRE(c != NULL);
    kernel_case_fill(c, 3);
    stow_status status = kernel_case_run(c);
    test_check(status == (w->is_refused ? STOW_ERR_UNSUPPORTED : STOW_OK), __FILE__, __LINE__,
               "%s: status %d: %s", w->node, (int)status, kernel_case_message(c));
    kernel_case_destroy(c);
  }
}
