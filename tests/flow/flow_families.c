#include "flow_families.h"

#include <stdlib.h>
#include <string.h>

// A flow under construction. Each task makes one block.
typedef struct maker {
  stowi_flow* flow;
  test_random random;
  stow_status status;
} maker;

static void note(maker* m, stow_status status) {
  CHECK(status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY);
  m->status = m->status == STOW_OK ? status : m->status;
}

static uint64_t below(maker* m, uint64_t bound) { return test_random_below(&m->random, bound); }

static stowi_flow_block add_block(maker* m, uint64_t bytes, bool to_end) {
  stowi_flow_block_desc desc;
  stowi_flow_block_desc_init(&desc);
  desc.bytes = bytes;
  desc.to_end = to_end;
  stowi_flow_block block = 0;
  note(m, stowi_flow_add_block(m->flow, &desc, NULL, &block));
  return block;
}

static void read(maker* m, stowi_flow_task task, stowi_flow_block block) {
  if (m->status == STOW_OK) {
    note(m, stowi_flow_reads(m->flow, task, block, NULL));
  }
}

// A task that reads |count| blocks; returns what it makes.
static stowi_flow_block op(maker* m, const stowi_flow_block* reads, size_t count, uint64_t bytes) {
  stowi_flow_task task = 0;
  note(m, stowi_flow_add_task(m->flow, 0, NULL, &task));
  stowi_flow_block made = add_block(m, bytes, false);
  if (m->status == STOW_OK) {
    note(m, stowi_flow_makes(m->flow, task, made, NULL));
  }
  for (size_t i = 0; i < count; ++i) {
    read(m, task, reads[i]);
  }
  return made;
}

static stowi_flow_block op1(maker* m, stowi_flow_block a, uint64_t bytes) {
  return op(m, &a, 1, bytes);
}

static stowi_flow_block op2(maker* m, stowi_flow_block a, stowi_flow_block b, uint64_t bytes) {
  stowi_flow_block reads[2] = {a, b};
  return op(m, reads, 2, bytes);
}

// Allows |made|, the last block, in place of |read|, which its maker reads.
static void in_place(maker* m, stowi_flow_block made, stowi_flow_block under) {
  if (m->status == STOW_OK) {
    note(m, stowi_flow_in_place(m->flow, stowi_flow_task_count(m->flow) - 1, made, under, NULL));
  }
}

static uint64_t size(maker* m) { return UINT64_C(64) * (1 + below(m, 32)); }

static void chain(maker* m, uint32_t tasks) {
  stowi_flow_block last = add_block(m, 4096, false);
  for (uint32_t i = 0; i < tasks; ++i) {
    stowi_flow_block made = op1(m, last, size(m));
    if (below(m, 2) == 0) {
      in_place(m, made, last);
    }
    last = made;
  }
}

static void layered(maker* m, uint32_t tasks) {
  enum { WIDTH = 6 };
  stowi_flow_block layer[WIDTH];
  stowi_flow_block input = add_block(m, 1024, false);
  for (int i = 0; i < WIDTH; ++i) {
    layer[i] = input;
  }
  for (uint32_t made = 0; made < tasks; made += WIDTH) {
    stowi_flow_block next[WIDTH];
    for (int i = 0; i < WIDTH; ++i) {
      next[i] = op2(m, layer[i], layer[below(m, WIDTH)], size(m));
    }
    memcpy(layer, next, sizeof(layer));
  }
  op(m, layer, WIDTH, 64);
}

// Branches that fork at |from| and join again.
static stowi_flow_block parallel(maker* m, stowi_flow_block from, uint32_t tasks, int depth) {
  uint32_t branches = 2 + (uint32_t)below(m, 3);
  if (tasks < branches + 2 || depth > 6) {
    return op1(m, from, size(m));
  }
  stowi_flow_block ends[4];
  for (uint32_t i = 0; i < branches; ++i) {
    stowi_flow_block first = op1(m, from, size(m));
    ends[i] = parallel(m, first, (tasks - 1) / branches - 1, depth + 1);
  }
  return op(m, ends, branches, size(m));
}

static void cells(maker* m, uint32_t tasks) {
  stowi_flow_block before = add_block(m, 2048, false);
  stowi_flow_block last = op1(m, before, 2048);
  for (uint32_t made = 0; made < tasks; made += 16) {
    stowi_flow_block pool[7] = {before, last};
    for (int i = 0; i < 5; ++i) {
      stowi_flow_block a = op1(m, pool[below(m, (uint64_t)i + 2)], 512 + 64 * below(m, 8));
      stowi_flow_block b = op1(m, pool[below(m, (uint64_t)i + 2)], 512 + 64 * below(m, 8));
      stowi_flow_block c = op1(m, b, 256 + 64 * below(m, 24));
      pool[i + 2] = op2(m, a, c, 512);
    }
    before = last;
    last = op(m, pool + 2, 5, 2048);
  }
}

static void randwire(maker* m, uint32_t tasks) {
  enum { STAGE = 32 };
  stowi_flow_block input = add_block(m, 1024, false);
  for (uint32_t made = 0; made < tasks; made += STAGE + 6) {
    stowi_flow_block nodes[STAGE];
    bool is_read[STAGE] = {false};
    for (uint64_t i = 0; i < STAGE; ++i) {
      stowi_flow_block reads[4];
      size_t count = 1 + below(m, 3);
      for (size_t r = 0; r < count; ++r) {
        uint64_t back = 1 + below(m, 8);
        reads[r] = i < back ? input : nodes[i - back];
        if (i >= back) {
          is_read[i - back] = true;
        }
      }
      nodes[i] = op(m, reads, count, 256 + 64 * below(m, 8));
    }
    stowi_flow_block ends[STAGE];
    size_t count = 0;
    for (size_t i = 0; i < STAGE; ++i) {
      if (!is_read[i]) {
        ends[count++] = nodes[i];
      }
    }
    input = ends[0];
    for (size_t i = 1; i < count; ++i) {
      input = op2(m, input, ends[i], 512);
    }
    input = op1(m, input, 1024);
  }
}

// Each skip is widened as soon as it exists, long before it is read.
static void unet(maker* m, uint32_t tasks) {
  enum { LEVELS = 64 };
  stowi_flow_block skips[LEVELS];
  uint32_t levels = tasks / 6 < LEVELS ? tasks / 6 : LEVELS;
  stowi_flow_block last = add_block(m, 4096, false);
  for (uint32_t i = 0; i < levels; ++i) {
    uint64_t bytes = 65536 >> (i < 8 ? i : 8);
    stowi_flow_block level = op1(m, last, bytes);
    skips[i] = op1(m, op1(m, level, bytes / 2), bytes);
    last = op1(m, level, bytes / 4);
  }
  for (uint32_t i = levels; i-- > 0;) {
    uint64_t bytes = 65536 >> (i < 8 ? i : 8);
    last = op2(m, op1(m, last, bytes / 4), skips[i], bytes / 2);
  }
}

// Blocks of a transformer whose weights are unpacked by tasks that wait for nothing, all at the
// beginning.
static void strays(maker* m, uint32_t tasks) {
  enum { BLOCK = 8 };
  uint32_t blocks = tasks / BLOCK + 1;
  stowi_flow_block* weights = (stowi_flow_block*)calloc(blocks, 4 * sizeof(*weights));
  for (uint32_t i = 0; i < 4 * blocks; ++i) {
    weights[i] = op(m, NULL, 0, 1024 + 64 * below(m, 8));
  }
  stowi_flow_block last = add_block(m, 1024, false);
  for (uint32_t i = 0; i < blocks; ++i) {
    stowi_flow_block q = op2(m, last, weights[4 * i], 512 + 64 * below(m, 16));
    stowi_flow_block k = op2(m, last, weights[4 * i + 1], 512 + 64 * below(m, 16));
    stowi_flow_block v = op2(m, last, weights[4 * i + 2], 1024);
    stowi_flow_block heads = op2(m, op2(m, q, k, 4096), v, 1024);
    last = op2(m, op2(m, heads, weights[4 * i + 3], 1024), last, 1024);
  }
  free(weights);
}

static void backward(maker* m, uint32_t tasks) {
  uint32_t layers = tasks / 5 + 1;
  stowi_flow_block* saved = (stowi_flow_block*)calloc(layers, sizeof(*saved));
  stowi_flow_block* weights = (stowi_flow_block*)calloc(layers, sizeof(*weights));
  stowi_flow_block* gradients = (stowi_flow_block*)calloc(layers, sizeof(*gradients));
  stowi_flow_block last = add_block(m, 1024, false);
  for (uint32_t i = 0; i < layers; ++i) {
    weights[i] = add_block(m, 512, true);
    saved[i] = last;
    last = op2(m, last, weights[i], size(m));
  }
  for (uint32_t i = layers; i-- > 0;) {
    gradients[i] = op2(m, last, saved[i], 512);
    last = op2(m, last, weights[i], 1024);
  }
  for (uint32_t i = 0; i < layers; ++i) {  // all updates at the end: the most expensive order
    stowi_flow_block moved = op1(m, gradients[i], 512);
    op2(m, moved, weights[i], 0);
  }
  free(saved);
  free(weights);
  free(gradients);
}

static void experts(maker* m, uint32_t tasks) {
  enum { EXPERTS = 6 };
  stowi_flow_block last = add_block(m, 1024, false);
  for (uint32_t made = 0; made < tasks; made += 3 * EXPERTS + 2) {
    stowi_flow_block first[EXPERTS];
    stowi_flow_block ends[EXPERTS + 1];
    for (int i = 0; i < EXPERTS; ++i) {
      first[i] = op1(m, last, 4096);
    }
    for (int i = 0; i < EXPERTS; ++i) {
      ends[i] = op1(m, op1(m, first[i], 4096), 1024);
    }
    ends[EXPERTS] = last;
    last = op1(m, op(m, ends, EXPERTS + 1, 1024), 1024);
  }
}

static void dense(maker* m, uint32_t tasks) {
  stowi_flow_block all = op1(m, add_block(m, 256, false), 1024);
  uint64_t bytes = 1024;
  for (uint32_t made = 0; made < tasks; made += 4) {
    stowi_flow_block grown = op1(m, op1(m, op1(m, all, bytes), 512), 256);
    stowi_flow_block whole = op2(m, all, grown, bytes + 256);
    if (m->status == STOW_OK && below(m, 4) != 0) {
      note(m, stowi_flow_absorbs(m->flow, whole, all, NULL));
      note(m, stowi_flow_absorbs(m->flow, whole, grown, NULL));
    }
    all = whole;
    bytes += 256;
  }
}

const char* flow_family_name(flow_family family) {
  static const char* const names[FLOW_FAMILY_COUNT] = {"chain",    "layered", "parallel", "cells",
                                                       "randwire", "unet",    "backward", "experts",
                                                       "dense",    "strays"};
  return names[family];
}

static void make(maker* m, flow_family family, uint32_t tasks) {
  switch (family) {
    case FLOW_CHAIN: chain(m, tasks); break;
    case FLOW_LAYERED: layered(m, tasks); break;
    case FLOW_PARALLEL: parallel(m, add_block(m, 1024, false), tasks, 0); break;
    case FLOW_CELLS: cells(m, tasks); break;
    case FLOW_RANDWIRE: randwire(m, tasks); break;
    case FLOW_UNET: unet(m, tasks); break;
    case FLOW_BACKWARD: backward(m, tasks); break;
    case FLOW_EXPERTS: experts(m, tasks); break;
    case FLOW_STRAYS: strays(m, tasks); break;
    default: dense(m, tasks); break;
  }
}

stowi_flow* flow_family_make(flow_family family, uint32_t tasks, uint64_t seed,
                             stow_allocator allocator) {
  maker m = {.random = {seed}, .status = STOW_OK};
  if (stowi_flow_create(allocator, NULL, &m.flow) != STOW_OK) {
    return NULL;
  }
  make(&m, family, tasks);
  if (m.status != STOW_OK) {
    stowi_flow_destroy(m.flow);
    return NULL;
  }
  return m.flow;
}
