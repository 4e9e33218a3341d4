// The rule `parts`: what it makes, and that every bit stays. What it leaves: near_misses/.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "support/test.h"

#define FRAMES                                             \
  "graph @g {\n  %0 = input \"frames\" : u8[3, 2048]\n"    \
  "  %1 = constant \"scale\" {data = [0x1p-1]} : f32[1]\n" \
  "  %2 = cast(%0) : f32[3, 2048]\n"                       \
  "  %3 = mul(%2, %1) : f32[3, 2048]\n"

TEST(PartsAreComputedWhereTheyAreRead) {
  REWRITES(STOW_REWRITE_PARTS,
           FRAMES
           "  %4 \"a\", %5 \"b\", %6 \"c\" = split(%3) : f32[1, 2048], f32[1, 2048], f32[1, 2048]\n"
           "  %7 = softmax(%4) : f32[1, 2048]\n"
           "  %8 = softmax(%6) : f32[1, 2048]\n"
           "  %9 = add(%7, %8) : f32[1, 2048]\n"
           "  return %9\n}\n",
           "graph @g {\n"
           "  %0 = input \"frames\" : u8[3, 2048]\n"
           "  %1 = constant \"scale\" {data = [0x1p-1]} : f32[1]\n"
           "  %2 = slice(%0) {starts = [0], ends = [1], axes = [0], steps = [1]} : u8[1, 2048]\n"
           "  %3 = cast(%2) : f32[1, 2048]\n"
           "  %4 \"a\" = mul(%3, %1) : f32[1, 2048]\n"
           "  %5 = softmax(%4) : f32[1, 2048]\n"
           "  %6 = slice(%0) {starts = [2], ends = [3], axes = [0], steps = [1]} : u8[1, 2048]\n"
           "  %7 = cast(%6) : f32[1, 2048]\n"
           "  %8 \"c\" = mul(%7, %1) : f32[1, 2048]\n"
           "  %9 = softmax(%8) : f32[1, 2048]\n"
           "  %10 = add(%5, %9) : f32[1, 2048]\n"
           "  return %10\n"
           "}\n");
}

TEST(RowsOfATableAreConverted) {
  REWRITES(STOW_REWRITE_PARTS,
           "graph @g {\n  %0 = param \"table\" : f16[1000, 8]\n"
           "  %1 = input \"ids\" : i64[2, 3]\n"
           "  %2 = param \"bias\" : f32[8]\n"
           "  %3 = cast(%0) : f32[1000, 8]\n"
           "  %4 = add(%3, %2) : f32[1000, 8]\n"
           "  %5 \"rows\" = gather(%4, %1) : f32[2, 3, 8]\n"
           "  return %5\n}\n",
           "graph @g {\n"
           "  %0 = param \"table\" : f16[1000, 8]\n"
           "  %1 = input \"ids\" : i64[2, 3]\n"
           "  %2 = param \"bias\" : f32[8]\n"
           "  %3 = gather(%0, %1) : f16[2, 3, 8]\n"
           "  %4 = cast(%3) : f32[2, 3, 8]\n"
           "  %5 \"rows\" = add(%4, %2) : f32[2, 3, 8]\n"
           "  return %5\n"
           "}\n");
}

// Boxes and classes of two scales.
TEST(PartsThatAreSplitAgainArePutTogetherAlone) {
  REWRITES(
      STOW_REWRITE_PARTS,
      "graph @g {\n"
      "  %0 = input \"b0\" : f32[1, 4, 32, 32]\n"
      "  %1 = input \"c0\" : f32[1, 8, 32, 32]\n"
      "  %2 = input \"b1\" : f32[1, 4, 256]\n"
      "  %3 = input \"c1\" : f32[1, 8, 256]\n"
      "  %4 = concat(%0, %1) {axis = 1} : f32[1, 12, 32, 32]\n"
      "  %5 = concat(%2, %3) {axis = 1} : f32[1, 12, 256]\n"
      "  %6 = reshape(%4) : f32[1, 12, 1024]\n"
      "  %7 = concat(%6, %5) {axis = 2} : f32[1, 12, 1280]\n"
      "  %8 \"boxes\", %9 \"classes\" = split(%7) {axis = -2, sizes = [4, 8]} : f32[1, 4, 1280], "
      "f32[1, 8, 1280]\n"
      "  %10 = softmax(%8) {axis = 1} : f32[1, 4, 1280]\n"
      "  return %10, %9\n}\n",
      "graph @g {\n"
      "  %0 = input \"b0\" : f32[1, 4, 32, 32]\n"
      "  %1 = input \"c0\" : f32[1, 8, 32, 32]\n"
      "  %2 = input \"b1\" : f32[1, 4, 256]\n"
      "  %3 = input \"c1\" : f32[1, 8, 256]\n"
      "  %4 = reshape(%0) : f32[1, 4, 1024]\n"
      "  %5 = reshape(%1) : f32[1, 8, 1024]\n"
      "  %6 \"classes\" = concat(%5, %3) {axis = 2} : f32[1, 8, 1280]\n"
      "  %7 \"boxes\" = concat(%4, %2) {axis = 2} : f32[1, 4, 1280]\n"
      "  %8 = softmax(%7) {axis = 1} : f32[1, 4, 1280]\n"
      "  return %8, %6\n}\n");
}

#define CACHE                                          \
  "graph @g {\n  %0 = input \"past\" : f16[256, 64]\n" \
  "  %1 = input \"new\" : f16[1, 64]\n"                \
  "  %2 \"all\" = concat(%0, %1) : f16[257, 64]\n"     \
  "  %3 = cast(%2) : f32[257, 64]\n"                   \
  "  %4 = sigmoid(%3) : f32[257, 64]\n"                \
  "  %5 \"y\" = mul(%4, %3) : f32[257, 64]\n"          \
  "  %6 = cumsum(%5) : f32[257, 64]\n"                 \
  "  return %6\n}\n"

TEST(OperandsOfAConcatAreConverted) {
  REWRITES(STOW_REWRITE_PARTS, CACHE,
           "graph @g {\n"
           "  %0 = input \"past\" : f16[256, 64]\n"
           "  %1 = input \"new\" : f16[1, 64]\n"
           "  %2 = cast(%0) : f32[256, 64]\n"
           "  %3 = sigmoid(%2) : f32[256, 64]\n"
           "  %4 = mul(%3, %2) : f32[256, 64]\n"
           "  %5 = cast(%1) : f32[1, 64]\n"
           "  %6 = sigmoid(%5) : f32[1, 64]\n"
           "  %7 = mul(%6, %5) : f32[1, 64]\n"
           "  %8 \"y\" = concat(%4, %7) : f32[257, 64]\n"
           "  %9 = cumsum(%8) : f32[257, 64]\n"
           "  return %9\n"
           "}\n");
}

// ---------------------------------------------------------------------------------------------
// Random groups

typedef struct writer {
  test_random* random;
  char* out;
  size_t size, room;
  unsigned next;  // value
  unsigned dims[4], rank;
  const char* dtype;
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
  put(w, "%s[", dtype);
  for (unsigned i = 0; i < rank; ++i) {
    put(w, "%s%u", i == 0 ? "" : ", ", dims[i]);
  }
  put(w, "]");
}

static void put_end(writer* w, const char* dtype, const unsigned* dims, unsigned rank) {
  put(w, " : ");
  put_type(w, dtype, dims, rank);
  put(w, "\n");
}

// Inputs that are broadcast in some dims, and may lack the first ones: %|first| and the next one.
static void put_common(writer* w) {
  for (unsigned i = 0; i < 2; ++i) {
    unsigned dims[4], skipped = draw(w, w->rank + 1);
    for (unsigned k = skipped; k < w->rank; ++k) {
      dims[k - skipped] = draw(w, 3) == 0 ? w->dims[k] : 1;
    }
    put(w, "%%%u = input \"common%u\"", w->next++, i);
    put_end(w, "f32", dims, w->rank - skipped);
  }
}

// Nodes that compute |w->next| - 1 element by element; %0 and %1 are common.
static void put_group(writer* w) {
  static const char* const ops[] = {"sigmoid", "neg", "relu", "atan"};
  static const char* const pairs[] = {"mul", "add", "max", "sub"};
  unsigned source = w->next - 1, count = 1 + draw(w, 4);
  if (strcmp(w->dtype, "f32") != 0) {
    put(w, "%%%u = cast(%%%u)", w->next++, source);
    put_end(w, "f32", w->dims, w->rank);
    w->dtype = "f32";
    source = w->next - 1;
  }
  for (unsigned i = 0; i < count; ++i, ++w->next) {
    unsigned other = draw(w, 3) == 0 ? source : draw(w, 2);
    if (draw(w, 2) == 0) {
      put(w, "%%%u = %s(%%%u)", w->next, ops[draw(w, 4)], w->next - 1);
    } else {
      put(w, "%%%u = %s(%%%u, %%%u)", w->next, pairs[draw(w, 4)], w->next - 1, other);
    }
    put_end(w, "f32", w->dims, w->rank);
  }
}

// Reads a part of %|whole|, and what comes of it is returned.
static void put_reader(writer* w, unsigned whole) {
  unsigned axis = draw(w, w->rank), dim = w->dims[axis], which = draw(w, 5), dims[5];
  unsigned first = draw(w, dim), rank = w->rank, step = 1 + draw(w, 2);
  memcpy(dims, w->dims, sizeof(w->dims));
  if (which == 0) {
    put(w, "%%%u = slice(%%%u) {starts = [%u], ends = [99999], axes = [%d], steps = [%u]}",
        w->next++, whole, first, (int)axis - (int)rank, step);
    dims[axis] = (dim - first + step - 1) / step;
  } else if (which == 1) {
    put(w, "%%%u = slice(%%%u) {starts = [-1], ends = [-99999], axes = [%u], steps = [-1]}",
        w->next++, whole, axis);
  } else if (which == 2) {
    put(w, "%%%u = narrow(%%%u) {axis = %u, start = %u, len = %u}", w->next++, whole, axis, first,
        dim - first);
    dims[axis] = dim - first;
  } else if (which == 3 && dim > 1) {
    unsigned left = 1 + draw(w, dim - 1);
    put(w, "%%%u, %%%u = split(%%%u) {axis = %u, sizes = [%u, %u]} : ", w->next, w->next + 1, whole,
        axis, left, dim - left);
    dims[axis] = left;
    put_type(w, "f32", dims, rank);
    put(w, ", ");
    dims[axis] = dim - left;
    put_type(w, "f32", dims, rank);
    put(w, "\n");
    w->next += 2;
  } else {
    unsigned indices = draw(w, 3);
    put(w, "%%%u = gather(%%%u, %%%u) {axis = %u}", w->next++, whole, 2 + indices, axis);
    memmove(dims + axis + indices, dims + axis + 1, (rank - axis - 1) * sizeof(dims[0]));
    dims[axis] = indices == 0 ? dims[axis] : indices == 1 ? 3 : 2;
    dims[axis + 1] = indices == 2 ? 1 : dims[axis + 1];
    rank += indices - 1;
  }
  if (which != 3 || dim == 1) {
    put_end(w, "f32", dims, rank);
  }
  put(w, "%%%u = %s(%%%u)", w->next, draw(w, 2) == 0 ? "cosh" : "softsign", w->next - 1);
  put_end(w, "f32", dims, rank);
  ++w->next;
}

static void put_indices(writer* w) {
  put(w, "%%2 = constant \"i0\" {data = [0]} : i64[]\n");
  put(w, "%%3 = constant \"i1\" {data = [0, -1, 0]} : i64[3]\n");
  put(w, "%%4 = constant \"i2\" {data = [-1, 0]} : i64[2, 1]\n");
  w->next += 3;
}

static void put_dims(writer* w) {
  w->rank = 1 + draw(w, 4);
  unsigned elements = 1;
  for (unsigned i = 0; i < w->rank; ++i) {
    w->dims[i] = 1 + draw(w, 6);
    elements *= w->dims[i];
  }
  w->dims[draw(w, w->rank)] *= elements < 6000 ? 6000 / elements + 1 : 1;
}

static void put_picked(writer* w) {
  static const char* const dtypes[] = {"f32", "f16", "u8"};
  unsigned readers = 1 + draw(w, 3), returned[3];
  w->dtype = dtypes[draw(w, 3)];
  put(w, "%%%u = input \"x\"", w->next++);
  put_end(w, w->dtype, w->dims, w->rank);
  put_group(w);
  unsigned whole = w->next - 1;
  if (draw(w, 4) == 0) {  // nothing reads this
    put(w, "%%%u = narrow(%%%u) {axis = 0, start = 0, len = %u}", w->next++, whole, w->dims[0]);
    put_end(w, "f32", w->dims, w->rank);
  }
  for (unsigned i = 0; i < readers; ++i) {
    put_reader(w, whole);
    returned[i] = w->next - 1;
  }
  put(w, "return ");
  for (unsigned i = 0; i < readers; ++i) {
    put(w, "%s%%%u", i == 0 ? "" : ", ", returned[i]);
  }
}

static void put_joined(writer* w) {
  static const char* const dtypes[] = {"f32", "f16", "u8"};
  unsigned axis = draw(w, w->rank), parts = 1 + draw(w, 3), first = w->next, whole = 0;
  w->dtype = dtypes[draw(w, 3)];
  for (unsigned i = 0; i < parts; ++i) {
    unsigned dims[4];
    memcpy(dims, w->dims, sizeof(dims));
    dims[axis] = (1 + draw(w, 3)) * w->dims[axis];
    whole += dims[axis];
    put(w, "%%%u = input \"x%u\"", w->next++, i);
    put_end(w, w->dtype, dims, w->rank);
  }
  put(w, "%%%u = concat(", w->next++);
  for (unsigned i = 0; i < parts; ++i) {
    put(w, "%s%%%u", i == 0 ? "" : ", ", first + i);
  }
  put(w, ") {axis = %u}", axis);
  w->dims[axis] = whole;
  put_end(w, w->dtype, w->dims, w->rank);
  put_group(w);
  put(w, "%%%u = cumsum(%%%u)", w->next, w->next - 1);
  put_end(w, "f32", w->dims, w->rank);
  put(w, "return %%%u", w->next);
}

// Common inputs have the dims of the whole, or 1: before a concat, as many as that has.
static void make(test_random* random, char* out, size_t room, bool joins) {
  writer w = {.random = random, .out = out, .room = room};
  put(&w, "graph @g {\n");
  put_dims(&w);
  if (joins) {
    unsigned dims[4];
    memcpy(dims, w.dims, sizeof(dims));
    for (unsigned i = 0; i < 4; ++i) {
      w.dims[i] = 1;
    }
    put_common(&w);
    memcpy(w.dims, dims, sizeof(dims));
  } else {
    put_common(&w);
  }
  put_indices(&w);
  if (joins) {
    put_joined(&w);
  } else {
    put_picked(&w);
  }
  put(&w, "\n}\n");
}

static void compare_all(bool joins) {
  size_t fired = 0, graphs = test_is_long() ? 20000 : 500;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    test_random random = {seed};
    char text[8192];
    make(&random, text, sizeof(text), joins);
    stow_module* module = parse_graph(text);
    const stow_graph* graph = stow_module_graph(module, 0);
    stow_rewritten* r = rewrite_graph(graph, NULL);
    fired += stow_rewritten_count(r, STOW_REWRITE_PARTS) != 0;
    test_check(run_outputs(graph, NULL, seed) == run_outputs(graph, r, seed), __FILE__, __LINE__,
               "seed %llu differs:\n%s", (unsigned long long)seed, text);
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
  printf("%zu graphs, %zu rewritten\n", graphs, fired);
  CHECK(fired * 16 > graphs);
}

TEST(EveryBitOfPickedPartsStays) { compare_all(false); }

TEST(EveryBitOfJoinedPartsStays) { compare_all(true); }

TEST(EveryAllocationMayFail) {
  CHECK(rewrite_with_faults(CACHE, NULL) > 20);
  CHECK(rewrite_with_faults(FRAMES "  %4 = narrow(%3) {axis = 1, start = 0, len = 200} : "
                                   "f32[3, 200]\n  %5 = softmax(%4) : f32[3, 200]\n"
                                   "  return %5\n}\n",
                            NULL) > 20);
}
