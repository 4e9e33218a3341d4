// Flows: what tasks make and read. Everything is checked as it is added, so that later files need
// not ask whether the given order is valid or whether a sum of bytes can overflow. Amortised
// constant time per call.
#include "flow/flow.h"

#include <inttypes.h>
#include <string.h>

#include "base/diag.h"

#define MAX_THINGS ((size_t)UINT32_MAX - 1)  // tasks, blocks and reads have 32-bit numbers

void stowi_flow_block_desc_init(stowi_flow_block_desc* desc) { memset(desc, 0, sizeof(*desc)); }

stow_status stowi_flow_create(stow_allocator allocator, stow_diag* diag, stowi_flow** out_flow) {
  *out_flow = STOWI_NEW(allocator, stowi_flow);
  STOW_TRY(stowi_need_memory(*out_flow != NULL, diag));
  (*out_flow)->allocator = allocator;
  return STOW_OK;
}

void stowi_flow_destroy(stowi_flow* flow) {
  if (flow == NULL) {
    return;
  }
  stow_allocator allocator = flow->allocator;
  STOWI_VEC_FREE(allocator, &flow->tasks);
  STOWI_VEC_FREE(allocator, &flow->blocks);
  STOWI_VEC_FREE(allocator, &flow->reads);
  stowi_index_free(&flow->read_index, allocator);
  STOWI_VEC_FREE(allocator, &flow->links);
  STOWI_VEC_FREE(allocator, &flow->pairs);
  STOWI_DELETE(allocator, flow);
}

uint32_t stowi_flow_task_count(const stowi_flow* flow) { return (uint32_t)flow->tasks.count; }

uint32_t stowi_flow_block_count(const stowi_flow* flow) { return (uint32_t)flow->blocks.count; }

// ---------------------------------------------------------------------------------------------
// Tasks and blocks

static stow_status check_total(const stowi_flow* flow, uint64_t bytes, stow_diag* diag) {
  if (bytes > INT64_MAX - flow->total) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW,
                      "%" PRIu64 " more bytes would take the flow above 63 bits", bytes);
  }
  return STOW_OK;
}

static stow_status check_room(size_t count, const char* what, stow_diag* diag) {
  if (count >= MAX_THINGS) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "a flow holds at most %zu %s", MAX_THINGS, what);
  }
  return STOW_OK;
}

stow_status stowi_flow_add_task(stowi_flow* flow, uint64_t scratch, stow_diag* diag,
                                stowi_flow_task* out_task) {
  if (out_task != NULL) {
    *out_task = STOWI_FLOW_TASK_NONE;
  }
  STOW_TRY(check_room(flow->tasks.count, "tasks", diag));
  STOW_TRY(check_total(flow, scratch, diag));
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(flow->allocator, &flow->tasks, 1) == STOW_OK, diag));
  if (out_task != NULL) {
    *out_task = (stowi_flow_task)flow->tasks.count;
  }
  flow->tasks.data[flow->tasks.count++] = scratch;
  flow->total += scratch;
  return STOW_OK;
}

stow_status stowi_flow_add_block(stowi_flow* flow, const stowi_flow_block_desc* desc,
                                 stow_diag* diag, stowi_flow_block* out_block) {
  if (out_block != NULL) {
    *out_block = STOWI_FLOW_BLOCK_NONE;
  }
  STOW_TRY(check_room(flow->blocks.count, "blocks", diag));
  STOW_TRY(check_total(flow, desc->bytes, diag));
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(flow->allocator, &flow->blocks, 1) == STOW_OK, diag));
  if (out_block != NULL) {
    *out_block = (stowi_flow_block)flow->blocks.count;
  }
  flow->blocks.data[flow->blocks.count++] =
      (stowi_flow_block_info){.bytes = desc->bytes,
                              .maker = STOWI_FLOW_TASK_NONE,
                              .first_reader = STOWI_FLOW_TASK_NONE,
                              .whole = STOWI_FLOW_BLOCK_NONE,
                              .to_end = desc->to_end};
  flow->total += desc->bytes;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Makes, reads and links

static stow_status check_task(const stowi_flow* flow, stowi_flow_task task, stow_diag* diag) {
  if (task >= flow->tasks.count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "task %u is out of range (%zu tasks)",
                      (unsigned)task, flow->tasks.count);
  }
  return STOW_OK;
}

static stow_status check_block(const stowi_flow* flow, stowi_flow_block block, stow_diag* diag) {
  if (block >= flow->blocks.count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "block %u is out of range (%zu blocks)",
                      (unsigned)block, flow->blocks.count);
  }
  return STOW_OK;
}

stow_status stowi_flow_makes(stowi_flow* flow, stowi_flow_task task, stowi_flow_block block,
                             stow_diag* diag) {
  STOW_TRY(check_task(flow, task, diag));
  STOW_TRY(check_block(flow, block, diag));
  stowi_flow_block_info* b = &flow->blocks.data[block];
  if (b->maker != STOWI_FLOW_TASK_NONE) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "block %u has two makers: tasks %u and %u",
                      (unsigned)block, (unsigned)b->maker, (unsigned)task);
  }
  if (b->first_reader < task) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "task %u reads block %u, which task %u makes later",
                      (unsigned)b->first_reader, (unsigned)block, (unsigned)task);
  }
  if (b->whole != STOWI_FLOW_BLOCK_NONE && flow->blocks.data[b->whole].maker == task) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "task %u makes block %u and its part %u",
                      (unsigned)task, (unsigned)b->whole, (unsigned)block);
  }
  b->maker = task;
  return STOW_OK;
}

static uint64_t read_hash(stowi_flow_task task, stowi_flow_block block) {
  return stowi_hash_u64(STOWI_HASH_SEED, (uint64_t)task << 32 | block);
}

static bool read_equal(const void* context, uint32_t id, const void* key) {
  const stowi_flow* flow = (const stowi_flow*)context;
  const stowi_flow_read* wanted = (const stowi_flow_read*)key;
  const stowi_flow_read* read = &flow->reads.data[id];
  return read->task == wanted->task && read->block == wanted->block;
}

// Whether |task| reads |block|. Not meaningful for blocks that it makes.
static bool reads(const stowi_flow* flow, stowi_flow_task task, stowi_flow_block block) {
  stowi_flow_read key = {task, block};
  return flow->blocks.data[block].maker != task &&
         stowi_index_find(&flow->read_index, read_hash(task, block), read_equal, flow, &key) !=
             STOWI_INDEX_NONE;
}

stow_status stowi_flow_reads(stowi_flow* flow, stowi_flow_task task, stowi_flow_block block,
                             stow_diag* diag) {
  STOW_TRY(check_task(flow, task, diag));
  STOW_TRY(check_block(flow, block, diag));
  stowi_flow_block_info* b = &flow->blocks.data[block];
  if (b->maker != STOWI_FLOW_TASK_NONE && task < b->maker) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "task %u reads block %u, which task %u makes later", (unsigned)task,
                      (unsigned)block, (unsigned)b->maker);
  }
  stowi_flow_read read = {task, block};
  uint64_t hash = read_hash(task, block);
  if (stowi_index_find(&flow->read_index, hash, read_equal, flow, &read) != STOWI_INDEX_NONE) {
    return STOW_OK;
  }
  STOW_TRY(check_room(flow->reads.count, "reads", diag));
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(flow->allocator, &flow->reads, 1) == STOW_OK &&
                                 stowi_index_reserve(&flow->read_index, flow->allocator) == STOW_OK,
                             diag));
  stowi_index_insert(&flow->read_index, hash, (uint32_t)flow->reads.count);
  flow->reads.data[flow->reads.count++] = read;
  b->first_reader = task < b->first_reader ? task : b->first_reader;
  return STOW_OK;
}

stow_status stowi_flow_follows(stowi_flow* flow, stowi_flow_task task, stowi_flow_task earlier,
                               stow_diag* diag) {
  STOW_TRY(check_task(flow, task, diag));
  STOW_TRY(check_task(flow, earlier, diag));
  if (task <= earlier) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "task %u cannot follow task %u, which is not before it in the given order",
                      (unsigned)task, (unsigned)earlier);
  }
  STOW_TRY(check_room(flow->links.count, "links", diag));
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(flow->allocator, &flow->links, 1) == STOW_OK, diag));
  flow->links.data[flow->links.count++] = (stowi_flow_link){task, earlier};
  return STOW_OK;
}

stow_status stowi_flow_in_place(stowi_flow* flow, stowi_flow_task task, stowi_flow_block made,
                                stowi_flow_block read, stow_diag* diag) {
  STOW_TRY(check_task(flow, task, diag));
  STOW_TRY(check_block(flow, made, diag));
  STOW_TRY(check_block(flow, read, diag));
  if (flow->blocks.data[made].maker != task || !reads(flow, task, read)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "task %u cannot make block %u in place of block %u: it does not %s",
                      (unsigned)task, (unsigned)made, (unsigned)read,
                      flow->blocks.data[made].maker != task ? "make the first" : "read the second");
  }
  STOW_TRY(check_room(flow->pairs.count, "pairs", diag));
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(flow->allocator, &flow->pairs, 1) == STOW_OK, diag));
  flow->pairs.data[flow->pairs.count++] = (stowi_flow_pair){task, made, read};
  return STOW_OK;
}

stow_status stowi_flow_absorbs(stowi_flow* flow, stowi_flow_block whole, stowi_flow_block part,
                               stow_diag* diag) {
  STOW_TRY(check_block(flow, whole, diag));
  STOW_TRY(check_block(flow, part, diag));
  stowi_flow_block_info* w = &flow->blocks.data[whole];
  stowi_flow_block_info* p = &flow->blocks.data[part];
  if (p->whole != STOWI_FLOW_BLOCK_NONE) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "block %u is part of two blocks, %u and %u",
                      (unsigned)part, (unsigned)p->whole, (unsigned)whole);
  }
  // A maker runs after the makers of its parts, so no block is part of itself at any depth.
  if (w->maker == STOWI_FLOW_TASK_NONE || !reads(flow, w->maker, part)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "block %u cannot be part of block %u, whose maker does not read it",
                      (unsigned)part, (unsigned)whole);
  }
  if (p->bytes > w->bytes - w->part_bytes) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the parts of block %u have more bytes than it has, %" PRIu64,
                      (unsigned)whole, w->bytes);
  }
  p->whole = whole;
  w->part_bytes += p->bytes;
  return STOW_OK;
}
