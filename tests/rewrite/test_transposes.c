// The rule `transposes`: what it makes, and that every bit stays. What it leaves: near_misses/.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "support/test.h"

#define TURNED                                       \
  "graph @g {\n  %0 = input \"x\" : f32[1, 6, 40]\n" \
  "  %1 \"turned\" = transpose(%0) {perm = [0, 2, 1]} : f32[1, 40, 6]\n"

TEST(WhatIsPickedIsTransposed) {
  REWRITES(STOW_REWRITE_TRANSPOSES,
           TURNED
           "  %2 \"scores\" = slice(%1) {starts = [4], ends = [99], axes = [-1]} : f32[1, 40, 2]\n"
           "  %3 = input \"which\" : i64[2, 3]\n"
           "  %4 \"rows\" = gather(%1, %3) {axis = 1} : f32[1, 2, 3, 6]\n"
           "  return %2, %4\n}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[1, 6, 40]\n"
           "  %1 = slice(%0) {axes = [1], starts = [4], ends = [99], steps = [1]} : "
           "f32[1, 2, 40]\n"
           "  %2 \"scores\" = transpose(%1) {perm = [0, 2, 1]} : f32[1, 40, 2]\n"
           "  %3 = input \"which\" : i64[2, 3]\n"
           "  %4 = gather(%0, %3) {axis = 2} : f32[1, 6, 2, 3]\n"
           "  %5 \"rows\" = transpose(%4) {perm = [0, 2, 3, 1]} : f32[1, 2, 3, 6]\n"
           "  return %2, %5\n"
           "}\n");
}

TEST(TheLargestIsFoundBeforeAndItsAxisGoes) {
  REWRITES(STOW_REWRITE_TRANSPOSES,
           TURNED
           "  %2 = reduce(%1) {op = \"max\", axes = [2], keepdims = false} : f32[1, 40]\n"
           "  %3 = argmin(%1) {axis = 1} : i64[1, 1, 6]\n"
           "  return %2, %3\n}\n",
           "graph @g {\n"
           "  %0 = input \"x\" : f32[1, 6, 40]\n"
           "  %1 = reduce(%0) {op = \"max\", keepdims = false, axes = [1]} : f32[1, 40]\n"
           "  %2 = transpose(%1) {perm = [0, 1]} : f32[1, 40]\n"
           "  %3 = argmin(%0) {axis = 2} : i64[1, 6, 1]\n"
           "  %4 = transpose(%3) {perm = [0, 2, 1]} : i64[1, 1, 6]\n"
           "  return %2, %4\n"
           "}\n");
}

// ---------------------------------------------------------------------------------------------
// Random readers

typedef struct writer {
  test_random* random;
  char* out;
  size_t size, room;
  unsigned next;  // value
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer* w, const char* format, ...) {
  va_list list;
  va_start(list, format);
  w->size += (size_t)vsnprintf(w->out + w->size, w->room - w->size, format, list);
  va_end(list);
  REQUIRE(w->size < w->room);
}

static unsigned draw(writer* w, unsigned most) {
  return (unsigned)test_random_below(w->random, most);
}

static void put_type(writer* w, const char* dtype, const unsigned* dims, unsigned rank) {
  put(w, " : %s[", dtype);
  for (unsigned i = 0; i < rank; ++i) {
    put(w, "%s%u", i == 0 ? "" : ", ", dims[i]);
  }
  put(w, "]\n");
}

// Along one axis of %2: |reader| says how. Sets the dims of its result.
static unsigned put_reader(writer* w, unsigned* dims, unsigned rank) {
  unsigned axis = draw(w, rank), dim = dims[axis], which = draw(w, 6);
  static const char* const largest[] = {"max", "min"};
  int named = (int)axis - (draw(w, 2) == 0 ? (int)rank : 0);
  bool keeps = rank == 1 || draw(w, 2) == 0;
  unsigned first = draw(w, dim), step = 1 + draw(w, 2);
  const char* dtype = which == 5 ? "i64" : "f32";
  if (which == 0 || which == 1) {
    put(w, "%%%u = slice(%%2) {starts = [%u], ends = [%u], axes = [%d], steps = [%u]}", w->next,
        first, draw(w, 2) == 0 ? 99 : dim, named, step);
    dims[axis] = (dim - first + step - 1) / step;
  } else if (which == 2) {
    put(w, "%%%u = narrow(%%2) {axis = %u, start = %u, len = %u}", w->next, axis, first,
        dim - first);
    dims[axis] = dim - first;
  } else if (which == 3) {
    unsigned indices = draw(w, 3);
    put(w, "%%%u = gather(%%2, %%%s) {axis = %d}", w->next,
        indices == 0   ? "3"
        : indices == 1 ? "4"
                       : "5",
        named);
    memmove(dims + axis + indices, dims + axis + 1, (rank - axis - 1) * sizeof(dims[0]));
    dims[axis] = indices == 0 ? dims[axis] : indices == 1 ? 3 : 2;
    dims[axis + 1] = indices == 2 ? 1 : dims[axis + 1];
    rank += indices - 1;
  } else {
    if (which == 4) {
      put(w, "%%%u = reduce(%%2) {op = \"%s\", axes = [%d], keepdims = %s}", w->next,
          largest[draw(w, 2)], named, keeps ? "true" : "false");
    } else {
      put(w, "%%%u = argmax(%%2) {axis = %d, keepdims = %s, select_last_index = %s}", w->next,
          named, keeps ? "true" : "false", draw(w, 2) == 0 ? "true" : "false");
    }
    dims[axis] = 1;
    if (!keeps) {
      memmove(dims + axis, dims + axis + 1, (rank - axis - 1) * sizeof(dims[0]));
      --rank;
    }
  }
  put_type(w, dtype, dims, rank);
  return rank;
}

// Numbers are rounded, so that 0 and -0 are often the largest.
static void make(test_random* random, char* out, size_t room) {
  writer w = {random, out, 0, room, 6};
  unsigned rank = 1 + draw(&w, 4), dims[8], turned[8], perm[4], readers = 1 + draw(&w, 3);
  for (unsigned i = 0; i < rank; ++i) {
    unsigned other = draw(&w, i + 1);
    dims[i] = 1 + draw(&w, 5);
    perm[i] = perm[other];
    perm[other] = i;
  }
  put(&w, "graph @g {\n%%0 = input \"x\"");
  put_type(&w, "f32", dims, rank);
  put(&w, "%%1 = round(%%0)");
  put_type(&w, "f32", dims, rank);
  put(&w, "%%2 = transpose(%%1) {perm = [");
  for (unsigned i = 0; i < rank; ++i) {
    put(&w, "%s%u", i == 0 ? "" : ", ", perm[i]);
    turned[i] = dims[perm[i]];
  }
  put(&w, "]}");
  put_type(&w, "f32", turned, rank);
  put(&w, "%%3 = constant \"i0\" {data = [0]} : i64[]\n");
  put(&w, "%%4 = constant \"i1\" {data = [0, -1, 0]} : i64[3]\n");
  put(&w, "%%5 = constant \"i2\" {data = [-1, 0]} : i64[2, 1]\n");
  for (unsigned i = 0; i < readers; ++i, ++w.next) {
    memcpy(dims, turned, sizeof(dims));
    put_reader(&w, dims, rank);
  }
  put(&w, "return %%6%s%s\n}\n", readers > 1 ? ", %7" : "", readers > 2 ? ", %8" : "");
}

TEST(EveryBitStays) {
  size_t fired = 0, graphs = test_is_long() ? 20000 : 1000;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    test_random random = {seed};
    char text[4096];
    make(&random, text, sizeof(text));
    stow_module* module = parse_graph(text);
    const stow_graph* graph = stow_module_graph(module, 0);
    stow_rewritten* r = rewrite_graph(graph, NULL);
    fired += stow_rewritten_count(r, STOW_REWRITE_TRANSPOSES) != 0;
    test_check(run_outputs(graph, NULL, seed) == run_outputs(graph, r, seed), __FILE__, __LINE__,
               "seed %llu differs:\n%s", (unsigned long long)seed, text);
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
  printf("%zu graphs, %zu rewritten\n", graphs, fired);
  CHECK(fired * 4 > graphs);
}

TEST(EveryAllocationMayFail) {
  CHECK(rewrite_with_faults(TURNED "  %2 = argmin(%1) {axis = 1} : i64[1, 1, 6]\n  return %2\n}\n",
                            NULL) > 20);
}
