// Runs a model in a static array, without the planner. tiny_arena.h is generated from tiny.stow by
//
//     stowage plan tiny.stow --align 16 --capacity 4KiB --format c -o tiny_arena.h
//
// Firmware needs nothing else: no allocator, no library, and the build fails if the model exceeds
// its memory.
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>

#include "tiny_arena.h"

static alignas(TINY_ARENA_ALIGNMENT) unsigned char arena[TINY_ARENA_SIZE];

static float* at(size_t offset) { return (float*)(void*)(arena + offset); }

// out[columns] = x[rows] · w[rows, columns]
static void matmul(const float* x, const float* w, size_t rows, size_t columns, float* out) {
  for (size_t c = 0; c < columns; ++c) {
    float sum = 0.0f;
    for (size_t r = 0; r < rows; ++r) {
      sum += x[r] * w[r * columns + c];
    }
    out[c] = sum;
  }
}

static void load(float* out, size_t size, float value) {
  for (size_t i = 0; i < size / sizeof(float); ++i) {
    out[i] = value;
  }
}

int main(void) {
  // Weights are loaded once; params keep their bytes for the whole run.
  load(at(TINY_W1_OFFSET), TINY_W1_SIZE, 0.5f);
  load(at(TINY_W2_OFFSET), TINY_W2_SIZE, 2.0f);

  for (int round = 1; round <= 3; ++round) {
    load(at(TINY_READINGS_OFFSET), TINY_READINGS_SIZE, (float)round);
    matmul(at(TINY_READINGS_OFFSET), at(TINY_W1_OFFSET), 16, 12, at(TINY_SUM_OFFSET));
    for (size_t i = 0; i < 12; ++i) {
      float sum = at(TINY_SUM_OFFSET)[i];
      at(TINY_HIDDEN_OFFSET)[i] = sum > 0.0f ? sum : 0.0f;
    }
    matmul(at(TINY_HIDDEN_OFFSET), at(TINY_W2_OFFSET), 12, 4, at(TINY_SCORE_OFFSET));

    // Small integers are exact in floating point: 16 · round · 0.5, then 12 of these times 2.
    float score = at(TINY_SCORE_OFFSET)[3];
    printf("round %d: score %d\n", round, (int)score);
    if ((int)score != 16 * round / 2 * 12 * 2) {
      fprintf(stderr, "wrong score\n");
      return 1;
    }
  }
  printf("%u bytes of static memory\n", (unsigned)TINY_ARENA_SIZE);
  return 0;
}
