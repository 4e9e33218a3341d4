#include "families.h"

#include <stdio.h>
#include <stdlib.h>

// splitmix64
static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void short_life(uint64_t i, uint64_t random, uint64_t* begin, uint64_t* end) {
  *begin = i;
  *end = i + 2 + random % 3;
}

static void chain(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  (void)count;
  short_life(i, random, begin, end);
}

static void suffix(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  (void)random;
  *begin = i;
  *end = count;
}

static void params(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  if (random % 10 < 3) {
    *begin = 0;
    *end = count + 4;
  } else {
    short_life(i, random / 10, begin, end);
  }
}

static void half(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  if (random % 2 == 0) {
    *begin = i;
    *end = count + 4;
  } else {
    short_life(i, random / 2, begin, end);
  }
}

static void wide(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  uint64_t width = count / 8 < 2048 ? count / 8 : 2048;
  *begin = i;
  *end = i + width / 2 + random % width + 1;
}

static void layers(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  uint64_t width = count / 8 < 1024 ? count / 8 : 1024;
  (void)random;
  *begin = i / width * 2;
  *end = *begin + 4;
}

static void staircase(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  (void)random;
  *begin = i;
  *end = i + (count / 10 < 1000 ? count / 10 : 1000) + 1;
}

// Activations are kept from the forward step to the backward step that mirrors it; every other
// buffer is short.
static void nested(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  if (i % 2 == 0 && i < count / 2) {
    *begin = i;
    *end = count - i;
  } else {
    short_life(i, random, begin, end);
  }
}

static void mixed(uint64_t i, uint64_t count, uint64_t random, uint64_t* begin, uint64_t* end) {
  uint64_t length = 2;
  uint64_t bits = random;
  while (length < count && bits % 2 != 0) {
    length *= 2;
    bits /= 2;
  }
  *begin = i;
  *end = i + length + random / 65536 % length;
}

const bench_family bench_families[] = {
    {"chain", "each lives for 2 to 4 steps", chain},
    {"suffix", "each lives to the end", suffix},
    {"params", "3 of 10 live always, the others for 2 to 4 steps", params},
    {"half", "half live to the end, half for 2 to 4 steps", half},
    {"mixed", "lives of all lengths, each length half as often as half of it", mixed},
    {"nested", "forward and backward: nested lives among short ones", nested},
    {"staircase", "1000 live at once, in order", staircase},
    {"layers", "layers of 1024, each alive with the next", layers},
    {"wide", "about 2000 live at once, in no order", wide},
};
const size_t bench_family_count = sizeof(bench_families) / sizeof(bench_families[0]);

static void require(bool condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "bench: %s\n", what);
    exit(EXIT_FAILURE);
  }
}

stow_problem* bench_family_make(const bench_family* family, size_t count,
                                stow_allocator allocator) {
  stow_problem* problem = NULL;
  uint64_t state = count;
  require(stow_problem_create(allocator, NULL, &problem) == STOW_OK, "out of memory");
  for (size_t i = 0; i < count; ++i) {
    stow_buffer_desc desc;
    stow_buffer_desc_init(&desc);
    unsigned scale = (unsigned)(next_random(&state) % 14);
    desc.size = (UINT64_C(256) << scale) + next_random(&state) % (UINT64_C(256) << scale);
    desc.alignment = 64;
    family->life(i, count, next_random(&state), &desc.begin, &desc.end);
    require(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK, "cannot add a buffer");
  }
  return problem;
}
