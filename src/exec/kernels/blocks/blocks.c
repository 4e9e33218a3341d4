// Runs the kernels of a function for one block of rows after the other. Values between them are
// only as large as a block. Each row is computed by the same kernels from the same numbers as if
// there were one block, so the bits do not depend on the size of blocks.
#include "exec/kernels/blocks/blocks.h"

#include <string.h>

#include "exec/kernels/blocks/call.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/kernel.h"

// What a worker has in scratch.
typedef struct frame {
  bool tells;            // its kernels may write the call's message: one worker does
  unsigned char* bytes;  // values of the block
  unsigned char** data;  // by value: where it is
  stow_tensor* tensors;  // of a step: operands, then results
  const stow_tensor** operands;
  stow_tensor** results;
} frame;

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static frame carve_frame(stowi_kernel_carve* carve, const stowi_kernel_block_size* size) {
  const stowi_kernel_block_body* body = size->body;
  const stowi_kernel_block_body* tail = size->tail == NULL ? body : size->tail;
  frame f = {.tells = false};
  f.bytes = (unsigned char*)stowi_kernel_carve_take(carve, larger(body->bytes, tail->bytes), 1);
  size_t most = (size_t)body->most_operands + body->most_results;
  f.tensors = (stow_tensor*)stowi_kernel_carve_take(carve, most, sizeof(stow_tensor));
  // One piece for all pointers: each taken for itself would be rounded up.
  unsigned char* pointers =
      (unsigned char*)stowi_kernel_carve_take(carve, body->value_count + most, STOWI_KERNEL_WIDE);
  if (pointers != NULL) {
    f.data = (unsigned char**)(void*)pointers;
    f.operands =
        (const stow_tensor**)(void*)(pointers + body->value_count * sizeof(unsigned char*));
    f.results = (stow_tensor**)(void*)(f.operands + body->most_operands);
  }
  return f;
}

static const stowi_kernel_blocks* blocks_of(const stow_kernel_call* call) {
  return (const stowi_kernel_blocks*)call->user;
}

static const stowi_kernel_block_size* size_of(const stow_kernel_call* call) {
  return &blocks_of(call)->sizes[stowi_kernel_variant(call)];
}

static stow_status scratch_blocks(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_carve carve = {NULL, 0};
  for (uint32_t i = 0; i < call->workers; ++i) {
    (void)carve_frame(&carve, size_of(call));
  }
  *out_bytes = carve.used;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// A block

// The places of values that are in the same one for every block.
static void begin_body(frame* f, const stowi_kernel_block_body* body) {
  memset(f->tensors, 0, (body->most_operands + body->most_results) * sizeof(stow_tensor));
  for (uint32_t i = 0; i < body->value_count; ++i) {
    const stowi_kernel_block_value* value = &body->values[i];
    if (value->home != STOWI_KERNEL_BLOCK_OPERAND && value->home != STOWI_KERNEL_BLOCK_RESULT) {
      f->data[i] = f->bytes + value->at;
    }
  }
}

static unsigned char* part_of(const stow_tensor* tensor, const stowi_kernel_block_cut* cut,
                              uint64_t group, uint64_t row) {
  uint64_t slice = cut->slices == 1 ? 0 : group / cut->divide % cut->slices;
  return (unsigned char*)tensor->data + slice * cut->slice + row * cut->row;
}

// Copies between the pieces of a part and a tensor that has them one after the other.
static void move_pieces(unsigned char* part, unsigned char* dense, bool is_gathered,
                        const stowi_kernel_block_cut* cut, uint64_t rows) {
  size_t size = (size_t)(rows * cut->row);
  for (uint64_t i = 0; i < cut->pieces; ++i) {
    unsigned char* piece = part + i * cut->pitch;
    memcpy(is_gathered ? dense : piece, is_gathered ? piece : dense, size);
    dense += size;
  }
}

static void place_block(frame* f, const stow_kernel_call* call, const stowi_kernel_block_body* body,
                        uint64_t group, uint64_t row) {
  const stowi_kernel_blocks* blocks = blocks_of(call);
  for (uint32_t i = 0; i < body->value_count; ++i) {
    const stowi_kernel_block_value* value = &body->values[i];
    uint32_t k = value->index;
    if (value->home == STOWI_KERNEL_BLOCK_OPERAND) {
      f->data[i] = part_of(call->operands[k], &blocks->operands[k], group, row) + value->at;
    } else if (value->home == STOWI_KERNEL_BLOCK_RESULT) {
      f->data[i] = part_of(call->results[k], &blocks->results[k], group, row) + value->at;
    } else if (value->home == STOWI_KERNEL_BLOCK_GATHER) {
      move_pieces(part_of(call->operands[k], &blocks->operands[k], group, row), f->data[i], true,
                  &blocks->operands[k], body->rows);
    }
  }
}

static void scatter_block(frame* f, const stow_kernel_call* call,
                          const stowi_kernel_block_body* body, uint64_t group, uint64_t row) {
  const stowi_kernel_blocks* blocks = blocks_of(call);
  for (uint32_t i = 0; i < body->value_count; ++i) {
    uint32_t k = body->values[i].index;
    if (body->values[i].home == STOWI_KERNEL_BLOCK_SCATTER) {
      move_pieces(part_of(call->results[k], &blocks->results[k], group, row), f->data[i], false,
                  &blocks->results[k], body->rows);
    }
  }
}

// The tensor of a value, in place of that of another one. Strides are 0 in all of them.
static void fill_tensor(const frame* f, stow_tensor* tensor, const stowi_kernel_block_body* body,
                        uint32_t value) {
  const stow_tensor* from = &body->values[value].tensor;
  tensor->data = f->data[value];
  tensor->dtype = from->dtype;
  for (uint32_t i = 0; i < from->rank || i < tensor->rank; ++i) {
    tensor->dims[i] = from->dims[i];
  }
  tensor->rank = from->rank;
}

static stow_status run_step(frame* f, const stow_kernel_call* call,
                            const stowi_kernel_block_body* body,
                            const stowi_kernel_block_step* step) {
  stow_tensor* next = f->tensors;
  for (uint32_t k = 0; k < step->operand_count; ++k) {
    uint32_t value = step->operands[k];
    f->operands[k] = value == UINT32_MAX ? NULL : next;
    if (value != UINT32_MAX) {
      fill_tensor(f, next++, body, value);
    }
  }
  for (uint32_t k = 0; k < step->result_count; ++k) {
    f->results[k] = next;
    fill_tensor(f, next++, body, step->first_result + k);
  }
  stow_kernel_call inner = stowi_kernel_block_call(step, f->operands, f->results);
  inner.scratch = f->bytes + step->scratch_at;
  inner.scratch_size = (size_t)step->scratch_size;
  inner.message = f->tells ? call->message : NULL;
  inner.message_size = f->tells ? call->message_size : 0;
  return step->kernel->run(&inner);
}

static stow_status run_body(frame* f, const stow_kernel_call* call,
                            const stowi_kernel_block_body* body) {
  for (uint32_t i = 0; i < body->step_count; ++i) {
    STOWI_KERNEL_TRY(run_step(f, call, body, &body->steps[i]));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// All blocks

typedef struct work {
  const stow_kernel_call* call;
  stow_status* failed;  // by worker; the first failure of each
} work;

// Of the call, which may be for some of all groups: results have a slice for each.
static uint64_t group_count(const stow_kernel_call* call) {
  return stow_tensor_bytes(call->results[0]) / blocks_of(call)->results[0].slice;
}

static uint64_t blocks_per_group(const stow_kernel_call* call) {
  const stowi_kernel_block_size* size = size_of(call);
  return blocks_of(call)->rows / size->body->rows + (size->tail != NULL);
}

static void run_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const work* w = (const work*)user;
  const stow_kernel_call* call = w->call;
  const stowi_kernel_block_size* size = size_of(call);
  stowi_kernel_carve carve = {(unsigned char*)call->scratch, 0};
  uint64_t per_group = blocks_per_group(call);
  const stowi_kernel_block_body* begun = NULL;
  frame f = carve_frame(&carve, size);
  for (uint32_t i = 0; i < worker; ++i) {
    f = carve_frame(&carve, size);
  }
  f.tells = worker == 0;
  for (size_t i = begin; i < end && w->failed[worker] == STOW_OK; ++i) {
    uint64_t block = i % per_group;
    bool is_tail = size->tail != NULL && block + 1 == per_group;
    const stowi_kernel_block_body* body = is_tail ? size->tail : size->body;
    if (body != begun) {
      begin_body(&f, body);
      begun = body;
    }
    place_block(&f, call, body, i / per_group, block * size->body->rows);
    w->failed[worker] = run_body(&f, call, body);
    scatter_block(&f, call, body, i / per_group, block * size->body->rows);
  }
}

#define MOST_WORKERS 256

static stow_status run_blocks(stow_kernel_call* call) {
  stow_status failed[MOST_WORKERS];
  work w = {call, failed};
  uint32_t workers = call->workers < MOST_WORKERS ? call->workers : MOST_WORKERS;
  memset(failed, 0, workers * sizeof(failed[0]));
  stow_kernel_split(call, (size_t)(group_count(call) * blocks_per_group(call)), 1, run_range, &w);
  for (uint32_t i = 0; i < workers; ++i) {
    if (failed[i] != STOW_OK) {
      return failed[i];
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Packing: as the kernel of the function that reads the operand does it

static const stowi_kernel_block_body* any_body(const stow_kernel_call* call) {
  return blocks_of(call)->sizes[0].body;
}

static uint64_t pack_size_blocks(const stow_kernel_call* call, size_t k) {
  return stowi_kernel_block_pack_size(call, any_body(call), k);
}

static void pack_blocks(const stow_kernel_call* call, size_t k, void* out) {
  stowi_kernel_block_pack(call, any_body(call), k, out);
}

STOWI_KERNEL(BLOCKS, scratch_blocks, run_blocks, .variant_count = 4, .pack_size = pack_size_blocks,
             .pack = pack_blocks);
