// A weight has one place: packed or as it lies in the graph, never both. So only what a single
// operand reads can be packed, and its tensor then simply has the packed bytes.
#include "exec/run/pack.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "effects/api.h"
#include "exec/api.h"
#include "exec/program/words.h"
#include "exec/run/prepare.h"
#include "graph/api.h"

#define ALIGNMENT 64

// ---------------------------------------------------------------------------------------------
// What is packed

stow_status stowi_exec_packer_init(stowi_exec_packer* packer, stow_diag* diag) {
  const stowi_exec_program* program = packer->program;
  packer->readers = STOWI_ARRAY_ZERO(program->allocator, uint32_t, program->value_count);
  STOW_TRY(stowi_need_memory(packer->readers != NULL, diag));
  for (stow_node node = 0; node < program->node_count; ++node) {
    for (size_t k = 0; k < program->steps[node].operand_count; ++k) {
      stow_value operand = program->steps[node].operands[k];
      if (operand != STOW_VALUE_NONE) {
        ++packer->readers[operand];
      }
    }
  }
  return STOW_OK;
}

void stowi_exec_packer_free(stowi_exec_packer* packer) {
  if (packer->program != NULL) {
    STOWI_ARRAY_FREE(packer->program->allocator, packer->readers, packer->program->value_count);
  }
}

// Whether it has data, or will have: what is decided must not depend on folded data being there,
// or on weights being read.
static bool has_data(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  const stow_attr* folded = stow_graph_attr(graph, node, "folded");
  return stowi_graph_has_data(graph, value) ||
         (stow_graph_op(graph, node) == STOW_OP_PARAM && folded != NULL && folded->b);
}

static bool is_given_packed(const stowi_exec_packer* packer, stow_value value) {
  const stow_graph* graph = packer->program->graph;
  size_t index = 0;
  for (stow_node node = 0; node < stow_graph_producer(graph, value); ++node) {
    index += stow_graph_op(graph, node) == STOW_OP_INPUT;
  }
  return index < 64 && (packer->inputs >> index & 1) != 0;
}

static bool is_packable(const stowi_exec_packer* packer, stow_value value) {
  const stowi_exec_value* facts = &packer->program->values[value];
  return facts->is_boundary && !facts->is_output && facts->bytes != 0 &&
         packer->readers[value] == 1 && !stowi_effects_state(packer->effects, value) &&
         (facts->is_input ? packer->inputs != 0 && is_given_packed(packer, value)
                          : has_data(packer->program->graph, value));
}

// Whether a result has the bytes of operand |k|, which must then be what they are.
static bool is_viewed(const stow_graph* graph, stow_node node, size_t k) {
  bool is_viewed = false;
  for (size_t i = 0; i < stow_graph_result_count(graph, node); ++i) {
    stow_view view;
    is_viewed = is_viewed || (stow_graph_view(graph, node, i, &view) && view.operand == k);
  }
  return is_viewed;
}

// Whether |bytes| instead of |before| are welcome.
static bool is_worth(stow_pack pack, uint64_t bytes, uint64_t before) {
  return bytes != 0 && bytes <= PTRDIFF_MAX &&
         (pack == STOW_PACK_ALWAYS || bytes <= before + before / 8);
}

static void pack_operand(stowi_exec_packer* packer, stow_node node, size_t k,
                         stow_kernel_call* call) {
  stowi_exec_program* program = packer->program;
  stowi_exec_step* step = &program->steps[node];
  stowi_exec_value* facts = &program->values[step->operands[k]];
  uint64_t bytes = step->kernel.pack_size(call, k);
  uint64_t end;
  if (is_worth(packer->pack, bytes, facts->bytes) &&
      stowi_add_u64(program->packed_size, bytes, &end) && stowi_align_up(end, ALIGNMENT, &end) &&
      end <= PTRDIFF_MAX) {
    facts->packed_bytes = bytes;
    facts->packed_at = program->packed_size;
    step->packed |= UINT64_C(1) << k;
    program->packed_size = end;
  }
}

uint64_t stowi_exec_packer_candidates(const stowi_exec_packer* packer, stow_node node) {
  const stowi_exec_step* step = &packer->program->steps[node];
  uint64_t bits = 0;
  for (size_t k = 0; packer->pack != STOW_PACK_NEVER && k < step->operand_count && k < 64; ++k) {
    bool is = step->operands[k] != STOW_VALUE_NONE && is_packable(packer, step->operands[k]) &&
              !is_viewed(packer->program->graph, node, k);
    bits |= (uint64_t)is << k;
  }
  return bits;
}

void stowi_exec_packer_choose(stowi_exec_packer* packer, stow_node node, stow_kernel_call* call) {
  uint64_t candidates = packer->program->steps[node].kernel.pack_size == NULL
                            ? 0
                            : stowi_exec_packer_candidates(packer, node);
  for (size_t k = 0; k < 64 && candidates >> k != 0; ++k) {
    if ((candidates >> k & 1) != 0) {
      pack_operand(packer, node, k, call);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Making it

struct stowi_exec_packed {
  stow_allocator allocator;
  pthread_mutex_t lock;  // executors may be created at the same time
  unsigned char* memory;
  size_t size;
};

stow_status stowi_exec_packed_create(stow_allocator allocator, stow_diag* diag,
                                     stowi_exec_packed** out_packed) {
  *out_packed = STOWI_NEW(allocator, stowi_exec_packed);
  STOW_TRY(stowi_need_memory(*out_packed != NULL, diag));
  (*out_packed)->allocator = allocator;
  if (pthread_mutex_init(&(*out_packed)->lock, NULL) != 0) {
    STOWI_DELETE(allocator, *out_packed);
    *out_packed = NULL;
    return stowi_fail(diag, STOW_ERR_LIMIT, "the system has no further lock");
  }
  return STOW_OK;
}

static void* change(stowi_exec_packed* packed, void* memory, size_t from, size_t to) {
  return packed->allocator.reallocate(packed->allocator.user, memory, from, to, ALIGNMENT);
}

void stowi_exec_packed_destroy(stowi_exec_packed* packed) {
  if (packed == NULL) {
    return;
  }
  if (packed->memory != NULL) {
    change(packed, packed->memory, packed->size, 0);
  }
  pthread_mutex_destroy(&packed->lock);
  STOWI_DELETE(packed->allocator, packed);
}

#define PART_SIZE ((size_t)1 << 20)

static void tell(stowi_exec_weights weights, stow_value value, const void* data, size_t size) {
  if (weights.on_copied != NULL) {
    weights.on_copied(weights.user, value, data, size);
  }
}

void stowi_exec_copy_weight(stowi_exec_weights weights, stow_value value, void* to,
                            const void* from, size_t size) {
  for (size_t at = 0; at < size; at += PART_SIZE) {
    size_t part = size - at < PART_SIZE ? size - at : PART_SIZE;
    memcpy((unsigned char*)to + at, (const unsigned char*)from + at, part);
    tell(weights, value, (const unsigned char*)from + at, part);
  }
}

typedef struct packing {
  const stowi_exec_program* program;
  stowi_exec_packed* packed;
  stowi_exec_frame frame;
  unsigned char* memory;
  stowi_exec_weights weights;
  stow_diag* diag;
} packing;

static stow_status find_data(const packing* p, stow_value value, const void** out_data) {
  const stow_graph* graph = p->program->graph;
  size_t size = 0;
  *out_data = stow_graph_data(graph, value, &size);
  if (*out_data == NULL && p->weights.weight != NULL) {
    *out_data = p->weights.weight(p->weights.user, value, &size);
  }
  if (*out_data != NULL && size == p->program->values[value].bytes) {
    return STOW_OK;
  }
  stowi_fail(p->diag, STOW_ERR_NOT_FOUND,
             "param %s has no data; it is folded: see stow_folded_create",
             stowi_exec_words_value(graph, value).text);
  stowi_diag_value(p->diag, value);
  return STOW_ERR_NOT_FOUND;
}

// What is not aligned in the graph is copied for as long as it is packed.
static stow_status pack_value(packing* p, stow_node node, size_t k) {
  const stowi_exec_step* step = &p->program->steps[node];
  stow_value value = step->operands[k];
  const stowi_exec_value* facts = &p->program->values[value];
  stow_tensor* tensor = &p->frame.tensors[value];
  const void* data;
  STOW_TRY(find_data(p, value, &data));
  size_t size = (size_t)facts->bytes;
  bool is_aligned = (uintptr_t)data % stowi_exec_dtype_alignment(tensor->dtype) == 0;
  memcpy(&tensor->data, &data, sizeof(data));
  if (!is_aligned) {
    tensor->data = change(p->packed, NULL, 0, size);
    STOW_TRY(stowi_need_memory(tensor->data != NULL, p->diag));
    stowi_exec_copy_weight(p->weights, value, tensor->data, data, size);
  }
  step->kernel.pack(&p->frame.call, k, p->memory + facts->packed_at);
  if (is_aligned) {
    tell(p->weights, value, data, size);
  } else {
    change(p->packed, tensor->data, size, 0);
  }
  tensor->data = NULL;
  return STOW_OK;
}

// The operands of |node| that have |most| bytes or less, but more than half of that.
static stow_status pack_node(packing* p, stow_node node, uint64_t most) {
  const stowi_exec_step* step = &p->program->steps[node];
  for (size_t k = 0; k < 64 && step->packed >> k != 0; ++k) {
    uint64_t bytes = (step->packed >> k & 1) == 0 ? 0 : p->program->values[step->operands[k]].bytes;
    if (bytes <= most && bytes > most / 2) {
      stowi_exec_frame_call(&p->frame, node);
      STOW_TRY(pack_value(p, node, k));
    }
  }
  return STOW_OK;
}

// Large ones first: what is copied for one of these is gone when most memory is in use.
static stow_status pack_all(packing* p, stow_allocator allocator) {
  STOW_TRY(stowi_exec_frame_init(&p->frame, p->program, allocator, p->diag));
  for (uint64_t most = UINT64_MAX; most != 0; most /= 2) {
    for (stow_node node = 0; node < p->program->node_count; ++node) {
      STOW_TRY(pack_node(p, node, most));
    }
  }
  return STOW_OK;
}

static stow_status make(const stow_prepared* prepared, stowi_exec_weights weights,
                        stow_diag* diag) {
  stowi_exec_packed* packed = prepared->packed;
  size_t size = (size_t)prepared->program.packed_size;
  packing p = {.program = &prepared->program, .packed = packed, .weights = weights, .diag = diag};
  p.memory = (unsigned char*)change(packed, NULL, 0, size);
  STOW_TRY(stowi_need_memory(p.memory != NULL, diag));
  stow_status status = pack_all(&p, packed->allocator);
  stowi_exec_frame_free(&p.frame);
  if (status != STOW_OK) {
    change(packed, p.memory, size, 0);
    return status;
  }
  packed->memory = p.memory;
  packed->size = size;
  return STOW_OK;
}

stow_status stowi_exec_pack(const stow_prepared* prepared, stowi_exec_weights weights,
                            stow_diag* diag) {
  stowi_exec_packed* packed = prepared->packed;
  if (prepared->program.packed_size == 0) {
    return STOW_OK;
  }
  if (pthread_mutex_lock(&packed->lock) != 0) {
    return stowi_fail(diag, STOW_ERR_CONFLICT, "a lock cannot be taken");
  }
  stow_status status = packed->memory != NULL ? STOW_OK : make(prepared, weights, diag);
  pthread_mutex_unlock(&packed->lock);
  return status;
}

const void* stowi_exec_packed_data(const stow_prepared* prepared, stow_value value) {
  return prepared->packed->memory + prepared->program.values[value].packed_at;
}

stow_status stow_prepared_describe(const stow_prepared* prepared, stow_prepared_info* out_info) {
  stow_prepared_info info = {.struct_size = sizeof(info)};
  for (stow_value value = 0; value < prepared->program.value_count; ++value) {
    const stowi_exec_value* facts = &prepared->program.values[value];
    if (facts->packed_bytes != 0) {
      ++info.packed_count;
      info.packed_bytes += facts->packed_bytes;
      info.packed_from += facts->bytes;
    }
  }
  return stowi_fill_struct(out_info, &info, sizeof(info), "stow_prepared_info", NULL);
}
