#include "brute_flow.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Random flows

static uint64_t bytes_of(test_random* random) {
  static const uint64_t sizes[] = {0, 1, 2, 3, 4, 5, 8, 8, 10, 16, 30};
  return sizes[test_random_below(random, sizeof(sizes) / sizeof(*sizes))];
}

static void add_reads(brute_flow* b, test_random* random, int task) {
  int reads = (int)test_random_below(random, 4);
  for (int i = 0; i < reads && b->block_count > 0; ++i) {
    // Mostly the blocks made last: chains, not only forks.
    int back = (int)test_random_below(random, test_random_below(random, 2) == 0 ? 3 : 24);
    int block = b->block_count - 1 - back;
    if (block >= 0) {
      b->blocks[block].readers |= UINT32_C(1) << task;
    }
  }
}

static void add_block(brute_flow* b, test_random* random, int maker, unsigned kinds) {
  if (b->block_count < BRUTE_BLOCKS) {
    bool to_end = (kinds & BRUTE_TO_END) != 0 && test_random_below(random, 6) == 0;
    b->blocks[b->block_count++] = (brute_block){bytes_of(random), to_end, maker, 0, -1};
  }
}

static bool reads(const brute_flow* b, int task, int block) {
  return (b->blocks[block].readers >> task & 1) != 0 && b->blocks[block].maker != task;
}

// Makes some of the blocks that its maker reads parts of |whole|.
static void add_parts(brute_flow* b, test_random* random, int whole) {
  uint64_t sum = 0;
  for (int p = 0; p < whole; ++p) {
    if (b->blocks[p].whole < 0 && reads(b, b->blocks[whole].maker, p) &&
        test_random_below(random, 4) != 0) {
      b->blocks[p].whole = whole;
      sum += b->blocks[p].bytes;
    }
  }
  if (b->blocks[whole].bytes < sum) {
    b->blocks[whole].bytes = sum + (test_random_below(random, 3) == 0 ? 2 : 0);
  }
}

static void add_pairs(brute_flow* b, test_random* random, int task) {
  for (int made = 0; made < b->block_count; ++made) {
    for (int read = 0; read < b->block_count; ++read) {
      if (b->blocks[made].maker == task && reads(b, task, read) && b->pair_count < BRUTE_PAIRS &&
          test_random_below(random, 2) == 0) {
        b->pairs[b->pair_count++] = (brute_pair){task, made, read};
      }
    }
  }
}

brute_flow brute_random(test_random* random, int max_tasks, unsigned kinds) {
  brute_flow b;
  memset(&b, 0, sizeof(b));
  b.task_count = 1 + (int)test_random_below(random, (uint64_t)max_tasks);
  int inputs = (int)test_random_below(random, 3);
  for (int i = 0; i < inputs; ++i) {
    add_block(&b, random, -1, kinds);
  }
  for (int t = 0; t < b.task_count; ++t) {
    add_reads(&b, random, t);
    int first = b.block_count;
    int makes = test_random_below(random, 5) == 0 ? (int)test_random_below(random, 3) : 1;
    for (int i = 0; i < makes; ++i) {
      add_block(&b, random, t, kinds);
    }
    if ((kinds & BRUTE_PARTS) != 0 && test_random_below(random, 2) == 0 && b.block_count > first) {
      add_parts(&b, random, first);
    }
    if ((kinds & BRUTE_OVER) != 0) {
      add_pairs(&b, random, t);
    }
    if ((kinds & BRUTE_SCRATCH) != 0 && test_random_below(random, 3) == 0) {
      b.scratch[t] = bytes_of(random);
    }
    if ((kinds & BRUTE_FOLLOWS) != 0 && t > 0 && test_random_below(random, 3) == 0) {
      b.follows[t] |= UINT32_C(1) << test_random_below(random, (uint64_t)t);
    }
  }
  return b;
}

// ---------------------------------------------------------------------------------------------
// As a flow

static stow_status fill_blocks(const brute_flow* b, stowi_flow* flow) {
  for (int i = 0; i < b->block_count; ++i) {
    const brute_block* block = &b->blocks[i];
    stowi_flow_block_desc desc;
    stowi_flow_block_desc_init(&desc);
    desc.bytes = block->bytes;
    desc.to_end = block->to_end;
    stow_status status = stowi_flow_add_block(flow, &desc, NULL, NULL);
    if (status == STOW_OK && block->maker >= 0) {
      status = stowi_flow_makes(flow, (stowi_flow_task)block->maker, (stowi_flow_block)i, NULL);
    }
    for (int t = 0; t < b->task_count && status == STOW_OK; ++t) {
      if ((block->readers >> t & 1) != 0) {
        status = stowi_flow_reads(flow, (stowi_flow_task)t, (stowi_flow_block)i, NULL);
      }
    }
    if (status != STOW_OK) {
      return status;
    }
  }
  return STOW_OK;
}

static stow_status fill(const brute_flow* b, stowi_flow* flow) {
  stow_status status = STOW_OK;
  for (int t = 0; t < b->task_count && status == STOW_OK; ++t) {
    status = stowi_flow_add_task(flow, b->scratch[t], NULL, NULL);
    for (int e = 0; e < t && status == STOW_OK; ++e) {
      if ((b->follows[t] >> e & 1) != 0) {
        status = stowi_flow_follows(flow, (stowi_flow_task)t, (stowi_flow_task)e, NULL);
      }
    }
  }
  status = status == STOW_OK ? fill_blocks(b, flow) : status;
  for (int i = 0; i < b->block_count && status == STOW_OK; ++i) {
    if (b->blocks[i].whole >= 0) {
      status =
          stowi_flow_absorbs(flow, (stowi_flow_block)b->blocks[i].whole, (stowi_flow_block)i, NULL);
    }
  }
  for (int i = 0; i < b->pair_count && status == STOW_OK; ++i) {
    const brute_pair* p = &b->pairs[i];
    status = stowi_flow_in_place(flow, (stowi_flow_task)p->task, (stowi_flow_block)p->made,
                                 (stowi_flow_block)p->read, NULL);
  }
  return status;
}

stowi_flow* brute_build(const brute_flow* b, stow_allocator allocator) {
  stowi_flow* flow = NULL;
  if (stowi_flow_create(allocator, NULL, &flow) != STOW_OK) {
    return NULL;
  }
  stow_status status = fill(b, flow);
  CHECK(status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY);
  if (status != STOW_OK) {
    stowi_flow_destroy(flow);
    return NULL;
  }
  return flow;
}

// ---------------------------------------------------------------------------------------------
// The model

static uint32_t readers_of(const brute_block* block) {
  return block->maker < 0 ? block->readers : block->readers & ~(UINT32_C(1) << block->maker);
}

static bool exists(const brute_block* block, uint32_t ran) {
  bool made = block->maker < 0 || (ran >> block->maker & 1) != 0;
  return made && (block->to_end || (readers_of(block) & ~ran) != 0);
}

// Whether |block| exists while |task| runs after |ran|.
static bool exists_at(const brute_flow* b, int block, uint32_t ran, int task) {
  return exists(&b->blocks[block], ran) || b->blocks[block].maker == task;
}

static bool counts_at(const brute_flow* b, int block, uint32_t ran, int task) {
  if (!exists_at(b, block, ran, task)) {
    return false;
  }
  for (int w = b->blocks[block].whole; w >= 0; w = b->blocks[w].whole) {
    if (exists_at(b, w, ran, task)) {
      return false;
    }
  }
  return true;
}

static uint64_t pair_bytes(const brute_flow* b, const brute_pair* pair) {
  uint64_t made = b->blocks[pair->made].bytes;
  uint64_t read = b->blocks[pair->read].bytes;
  return made < read ? made : read;
}

static bool pair_holds(const brute_flow* b, const brute_pair* pair, uint32_t ran, int task) {
  const brute_block* read = &b->blocks[pair->read];
  uint32_t others = readers_of(read) & ~ran & ~(UINT32_C(1) << task);
  return pair->task == task && !read->to_end && others == 0 &&
         counts_at(b, pair->read, ran, task) && counts_at(b, pair->made, ran, task);
}

static uint64_t credit(const brute_flow* b, uint32_t ran, int task) {
  uint32_t used = 0;
  uint64_t sum = 0;
  for (;;) {
    const brute_pair* best = NULL;
    for (int i = 0; i < b->pair_count; ++i) {
      const brute_pair* p = &b->pairs[i];
      bool is_free = (used >> p->made & 1) == 0 && (used >> p->read & 1) == 0;
      if (is_free && pair_holds(b, p, ran, task) &&
          (best == NULL || pair_bytes(b, p) > pair_bytes(b, best))) {
        best = p;
      }
    }
    if (best == NULL) {
      return sum;
    }
    sum += pair_bytes(b, best);
    used |= UINT32_C(1) << best->made | UINT32_C(1) << best->read;
  }
}

uint64_t brute_need(const brute_flow* b, uint32_t ran, int task) {
  uint64_t bytes = b->scratch[task];
  for (int i = 0; i < b->block_count; ++i) {
    bytes += counts_at(b, i, ran, task) ? b->blocks[i].bytes : 0;
  }
  return bytes - credit(b, ran, task);
}

bool brute_may_run(const brute_flow* b, uint32_t ran, int task) {
  if ((ran >> task & 1) != 0 || (b->follows[task] & ~ran) != 0) {
    return false;
  }
  for (int i = 0; i < b->block_count; ++i) {
    int maker = b->blocks[i].maker;
    if (maker >= 0 && reads(b, task, i) && (ran >> maker & 1) == 0) {
      return false;
    }
  }
  return true;
}

uint64_t brute_peak(const brute_flow* b, const stowi_flow_task* order) {
  uint64_t peak = 0;
  uint32_t ran = 0;
  for (int i = 0; i < b->task_count; ++i) {
    CHECK(brute_may_run(b, ran, (int)order[i]));
    uint64_t need = brute_need(b, ran, (int)order[i]);
    peak = need > peak ? need : peak;
    ran |= UINT32_C(1) << order[i];
  }
  return peak;
}

uint64_t brute_optimum(const brute_flow* b) {
  static uint64_t best[UINT32_C(1) << BRUTE_TASKS];
  uint32_t all = (UINT32_C(1) << b->task_count) - 1;
  for (uint32_t ran = 0; ran <= all; ++ran) {
    best[ran] = ran == 0 ? 0 : UINT64_MAX;
  }
  for (uint32_t ran = 0; ran < all; ++ran) {
    for (int t = 0; t < b->task_count && best[ran] != UINT64_MAX; ++t) {
      if (brute_may_run(b, ran, t)) {
        uint64_t need = brute_need(b, ran, t);
        need = need > best[ran] ? need : best[ran];
        uint64_t* next = &best[ran | UINT32_C(1) << t];
        *next = need < *next ? need : *next;
      }
    }
  }
  return best[all];
}

static uint64_t try_orders(const brute_flow* b, uint32_t ran, uint64_t peak) {
  uint64_t best = UINT64_MAX;
  if (ran == (UINT32_C(1) << b->task_count) - 1) {
    return peak;
  }
  for (int t = 0; t < b->task_count; ++t) {
    if (brute_may_run(b, ran, t)) {
      uint64_t need = brute_need(b, ran, t);
      uint64_t found = try_orders(b, ran | UINT32_C(1) << t, need > peak ? need : peak);
      best = found < best ? found : best;
    }
  }
  return best;
}

uint64_t brute_optimum_of_orders(const brute_flow* b) { return try_orders(b, 0, 0); }
