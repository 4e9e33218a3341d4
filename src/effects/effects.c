// The effects table. Effects are rare, so those of values are in a short array behind an index that
// exists only once something is declared (4 bytes per value), and those of nodes in lists sorted by
// node. Adding in node order, as executors do, costs O(1); otherwise the tail of the list moves,
// which is cheap while effects are few. Getters stay plain reads that threads may share.
#include "effects/effects.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/api.h"

stow_status stow_effects_create(const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                                stow_effects** out_effects) {
  *out_effects = NULL;
  stow_effects* effects = STOWI_NEW(allocator, stow_effects);
  STOW_TRY(stowi_need_memory(effects != NULL, diag));
  effects->allocator = allocator;
  effects->graph = graph;
  effects->node_count = stow_graph_node_count(graph);
  effects->value_count = stow_graph_value_count(graph);
  stow_status status = STOW_OK;
  if (!stowi_effects_bits_of_outputs(&effects->outputs, graph, allocator)) {
    status = stowi_fail_memory(diag);
  }
  if (status == STOW_OK) {
    status = stowi_effects_read_clauses(effects, diag);
  }
  if (status != STOW_OK) {
    stow_effects_destroy(effects);
    return status;
  }
  *out_effects = effects;
  return STOW_OK;
}

#define COPY_LIST(to, from, list)                                                                  \
  ((from)->list.count == 0 ||                                                                      \
   (STOWI_VEC_RESERVE((to)->allocator, &(to)->list, (from)->list.count) == STOW_OK &&              \
    memcpy((to)->list.data, (from)->list.data, (from)->list.count * sizeof(*(from)->list.data)) != \
        NULL &&                                                                                    \
    ((to)->list.count = (from)->list.count) != 0))

static bool copy_lists(stow_effects* to, const stow_effects* from) {
  size_t words = stowi_bits_words(from->outputs.count);
  bool is_copied = COPY_LIST(to, from, scratch) && COPY_LIST(to, from, offers) &&
                   COPY_LIST(to, from, holds) && COPY_LIST(to, from, early_writes) &&
                   COPY_LIST(to, from, overwrites) && COPY_LIST(to, from, forbidden) &&
                   COPY_LIST(to, from, whole) && COPY_LIST(to, from, values) &&
                   stowi_bits_init(&to->outputs, from->outputs.count, to->allocator);
  if (is_copied && words != 0) {
    memcpy(to->outputs.words, from->outputs.words, words * sizeof(uint64_t));
  }
  if (is_copied && from->index != NULL) {
    to->index = STOWI_ARRAY(to->allocator, uint32_t, to->value_count);
    is_copied = to->index != NULL;
  }
  if (is_copied && from->index != NULL) {
    memcpy(to->index, from->index, to->value_count * sizeof(uint32_t));
  }
  return is_copied;
}

stow_status stowi_effects_copy(const stow_effects* effects, const stow_graph* graph,
                               stow_allocator allocator, stow_diag* diag,
                               stow_effects** out_effects) {
  *out_effects = NULL;
  stow_effects* copy = STOWI_NEW(allocator, stow_effects);
  STOW_TRY(stowi_need_memory(copy != NULL, diag));
  copy->allocator = allocator;
  copy->graph = graph;
  copy->node_count = effects->node_count;
  copy->value_count = effects->value_count;
  copy->kernels = effects->kernels;
  copy->is_verified = effects->is_verified;
  if (!copy_lists(copy, effects)) {
    stow_effects_destroy(copy);
    return stowi_fail_memory(diag);
  }
  *out_effects = copy;
  return STOW_OK;
}

void stow_effects_destroy(stow_effects* effects) {
  if (effects == NULL) {
    return;
  }
  stow_allocator allocator = effects->allocator;
  stowi_bits_free(&effects->outputs, allocator);
  STOWI_VEC_FREE(allocator, &effects->scratch);
  STOWI_VEC_FREE(allocator, &effects->offers);
  STOWI_VEC_FREE(allocator, &effects->holds);
  STOWI_VEC_FREE(allocator, &effects->early_writes);
  STOWI_VEC_FREE(allocator, &effects->overwrites);
  STOWI_VEC_FREE(allocator, &effects->forbidden);
  STOWI_VEC_FREE(allocator, &effects->whole);
  STOWI_VEC_FREE(allocator, &effects->values);
  STOWI_ARRAY_FREE(allocator, effects->index, effects->value_count);
  STOWI_DELETE(allocator, effects);
}

// ---------------------------------------------------------------------------------------------
// Shared checks

static stow_status fail_node(const stow_effects* effects, stow_node node, stow_diag* diag) {
  stowi_graph_blame_node(diag, effects->graph, node);
  return STOW_ERR_INVALID_ARGUMENT;
}

static stow_status fail_value(const stow_effects* effects, stow_value value, stow_diag* diag) {
  stowi_graph_blame_value(diag, effects->graph, value);
  return STOW_ERR_INVALID_ARGUMENT;
}

static stow_status check_node(const stow_effects* effects, stow_node node, stow_diag* diag) {
  if (node >= effects->node_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "node %u is out of range (%u nodes)",
                      (unsigned)node, (unsigned)effects->node_count);
  }
  return STOW_OK;
}

static stow_status check_value(const stow_effects* effects, stow_value value, stow_diag* diag) {
  if (value >= effects->value_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "value %%%u is out of range (%u values)",
                      (unsigned)value, (unsigned)effects->value_count);
  }
  return STOW_OK;
}

static stow_status check_result(const stow_effects* effects, stow_node node, size_t k,
                                stow_diag* diag) {
  STOW_TRY(check_node(effects, node, diag));
  size_t count = stow_graph_result_count(effects->graph, node);
  if (k >= count) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s: result %zu is out of range (%zu results)",
               stowi_graph_describe_node(effects->graph, node).text, k, count);
    return fail_node(effects, node, diag);
  }
  return STOW_OK;
}

static stow_status check_operand(const stow_effects* effects, stow_node node, size_t k,
                                 stow_diag* diag) {
  STOW_TRY(check_node(effects, node, diag));
  size_t count = stow_graph_operand_count(effects->graph, node);
  if (k >= count) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s: operand %zu is out of range (%zu operands)",
               stowi_graph_describe_node(effects->graph, node).text, k, count);
    return fail_node(effects, node, diag);
  }
  if (stow_graph_operands(effects->graph, node)[k] == STOW_VALUE_NONE) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s: operand %zu is missing",
               stowi_graph_describe_node(effects->graph, node).text, k);
    return fail_node(effects, node, diag);
  }
  return STOW_OK;
}

static stow_status check_alignment(const stow_effects* effects, stow_node node, uint64_t alignment,
                                   stow_diag* diag) {
  if (!stowi_is_power_of_two(alignment)) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s: alignment %llu is not a power of two",
               stowi_graph_describe_node(effects->graph, node).text, (unsigned long long)alignment);
    return fail_node(effects, node, diag);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Per node

// Where an entry of |node| goes: after all entries of nodes up to it. Every entry begins with its
// node.
static size_t position_for(const void* data, size_t count, size_t size, stow_node node) {
  const char* base = (const char*)data;
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    // Appending is the common case: check the last entry first.
    size_t middle = high == count ? count - 1 : low + (high - low) / 2;
    stow_node at;
    memcpy(&at, base + middle * size, sizeof(at));
    if (at <= node) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static size_t first_of(const void* data, size_t count, size_t size, stow_node node) {
  return node == 0 ? 0 : position_for(data, count, size, node - 1);
}

// The first entry of |node| or of a later one.
#define FIRST_OF(vec, node) first_of((vec)->data, (vec)->count, sizeof(*(vec)->data), node)

// Fails if out of memory.
#define INSERT(effects, list, entry, diag)                                               \
  do {                                                                                   \
    STOW_TRY(stowi_need_memory(                                                          \
        STOWI_VEC_RESERVE((effects)->allocator, &(effects)->list, 1) == STOW_OK, diag)); \
    size_t insert_at = position_for((effects)->list.data, (effects)->list.count,         \
                                    sizeof(*(effects)->list.data), (entry).node);        \
    memmove((effects)->list.data + insert_at + 1, (effects)->list.data + insert_at,      \
            ((effects)->list.count - insert_at) * sizeof(*(effects)->list.data));        \
    (effects)->list.data[insert_at] = (entry);                                           \
    ++(effects)->list.count;                                                             \
  } while (0)

stow_status stow_effects_add_scratch(stow_effects* effects, stow_node node, uint64_t bytes,
                                     uint64_t alignment, stow_diag* diag, size_t* out_index) {
  STOW_TRY(check_node(effects, node, diag));
  STOW_TRY(check_alignment(effects, node, alignment, diag));
  stowi_effects_scratch_entry scratch = {node, bytes, alignment};
  INSERT(effects, scratch, scratch, diag);
  if (out_index != NULL) {
    *out_index = FIRST_OF(&effects->scratch, node + 1) - FIRST_OF(&effects->scratch, node) - 1;
  }
  return STOW_OK;
}

void stowi_effects_change_scratch(stow_effects* effects, stow_node node, size_t index,
                                  uint64_t bytes, const uint64_t* offers, size_t count) {
  size_t at = FIRST_OF(&effects->offers, node);
  effects->scratch.data[FIRST_OF(&effects->scratch, node) + index].bytes = bytes;
  for (size_t i = 0; i < count; ++at) {
    if (effects->offers.data[at].index == index) {
      effects->offers.data[at].bytes = offers[i++];
    }
  }
}

stow_status stow_effects_offer_scratch(stow_effects* effects, stow_node node, size_t index,
                                       uint64_t bytes, stow_diag* diag) {
  STOW_TRY(check_node(effects, node, diag));
  size_t first = FIRST_OF(&effects->scratch, node);
  size_t count = FIRST_OF(&effects->scratch, node + 1) - first;
  if (index >= count) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s: scratch %zu is out of range (%zu pieces)",
               stowi_graph_describe_node(effects->graph, node).text, index, count);
    return fail_node(effects, node, diag);
  }
  uint64_t need = effects->scratch.data[first + index].bytes;
  if (bytes < need) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
               "%s: an offer of %" PRIu64 " bytes is less than its scratch needs, %" PRIu64,
               stowi_graph_describe_node(effects->graph, node).text, bytes, need);
    return fail_node(effects, node, diag);
  }
  stowi_effects_offer_entry offer = {node, (uint32_t)index, bytes};
  INSERT(effects, offers, offer, diag);
  return STOW_OK;
}

stow_status stow_effects_hold_operand(stow_effects* effects, stow_node node, size_t k,
                                      stow_node until, stow_diag* diag) {
  STOW_TRY(check_operand(effects, node, k, diag));
  if (until != STOW_STEP_END) {
    STOW_TRY(check_node(effects, until, diag));
    if (until <= node) {
      stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                 "%s holds operand %zu until %s, which is not a later node",
                 stowi_graph_describe_node(effects->graph, node).text, k,
                 stowi_graph_describe_node(effects->graph, until).text);
      return fail_node(effects, node, diag);
    }
  }
  stowi_effects_hold_entry hold = {node, k, until};
  INSERT(effects, holds, hold, diag);
  return STOW_OK;
}

stow_status stow_effects_write_early(stow_effects* effects, stow_node node, size_t k,
                                     stow_node from, stow_diag* diag) {
  STOW_TRY(check_result(effects, node, k, diag));
  STOW_TRY(check_node(effects, from, diag));
  if (from >= node) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
               "%s writes result %zu from %s on, which is not an earlier node",
               stowi_graph_describe_node(effects->graph, node).text, k,
               stowi_graph_describe_node(effects->graph, from).text);
    return fail_node(effects, node, diag);
  }
  stowi_effects_early_write_entry early = {node, k, from};
  INSERT(effects, early_writes, early, diag);
  return STOW_OK;
}

stow_status stow_effects_allow_in_place(stow_effects* effects, stow_node node, size_t k,
                                        size_t operand, stow_diag* diag) {
  STOW_TRY(check_result(effects, node, k, diag));
  STOW_TRY(check_operand(effects, node, operand, diag));
  stowi_effects_in_place_entry overwrite = {node, k, operand};
  INSERT(effects, overwrites, overwrite, diag);
  return STOW_OK;
}

stow_status stow_effects_forbid_in_place(stow_effects* effects, stow_node node, size_t k,
                                         size_t operand, stow_diag* diag) {
  STOW_TRY(check_result(effects, node, k, diag));
  STOW_TRY(check_operand(effects, node, operand, diag));
  stowi_effects_in_place_entry forbidden = {node, k, operand};
  INSERT(effects, forbidden, forbidden, diag);
  return STOW_OK;
}

stow_status stow_effects_forbid_rows(stow_effects* effects, stow_node node, stow_diag* diag) {
  STOW_TRY(check_node(effects, node, diag));
  stowi_effects_node_entry whole = {node};
  INSERT(effects, whole, whole, diag);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Per value

static const stowi_effects_value_effect no_effect = {
    STOW_BYTES_DEFAULT, STOW_OFFSET_NONE, 0, 0, 0, STOW_IO_DEFAULT, false, false, false};

static const stowi_effects_value_effect* effect_of(const stow_effects* effects, stow_value value) {
  if (effects == NULL || effects->index == NULL || value >= effects->value_count ||
      effects->index[value] == 0) {
    return &no_effect;
  }
  return &effects->values.data[effects->index[value] - 1];
}

// The entry of |value|, created if missing. NULL if out of memory.
static stowi_effects_value_effect* effect_for(stow_effects* effects, stow_value value) {
  if (effects->index == NULL) {
    effects->index = STOWI_ARRAY_ZERO(effects->allocator, uint32_t, effects->value_count);
    if (effects->index == NULL) {
      return NULL;
    }
  }
  if (effects->index[value] == 0) {
    if (STOWI_VEC_RESERVE(effects->allocator, &effects->values, 1) != STOW_OK) {
      return NULL;
    }
    effects->values.data[effects->values.count++] = no_effect;
    effects->index[value] = (uint32_t)effects->values.count;
  }
  return &effects->values.data[effects->index[value] - 1];
}

static stow_status fail_own_inside(const stow_effects* effects, stow_value value, stow_diag* diag) {
  stowi_fail(diag, STOW_ERR_CONFLICT, "%s cannot both have its own bytes and be inside an operand",
             stowi_graph_describe_value(effects->graph, value).text);
  stowi_graph_blame_value(diag, effects->graph, value);
  return STOW_ERR_CONFLICT;
}

stow_status stow_effects_place_inside(stow_effects* effects, stow_node node, size_t k,
                                      size_t operand, uint64_t offset, stow_diag* diag) {
  STOW_TRY(check_result(effects, node, k, diag));
  STOW_TRY(check_operand(effects, node, operand, diag));
  if (stow_graph_owned_region(effects->graph, node, 0) != STOW_REGION_ID_NONE) {
    // Its results are written while its regions run, before the node itself.
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
               "%s owns regions; its results cannot be inside an operand",
               stowi_graph_describe_node(effects->graph, node).text);
    return fail_node(effects, node, diag);
  }
  if (stow_graph_op_desc(effects->graph, node)->writes_view) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
               "%s writes into an operand; its results cannot be placed elsewhere",
               stowi_graph_describe_node(effects->graph, node).text);
    return fail_node(effects, node, diag);
  }
  stow_value value = stow_graph_first_result(effects->graph, node) + (stow_value)k;
  if (stowi_effects_own(effects, value)) {
    return fail_own_inside(effects, value, diag);
  }
  stowi_effects_value_effect* effect = effect_for(effects, value);
  STOW_TRY(stowi_need_memory(effect != NULL, diag));
  effect->inside = true;
  effect->inside_operand = (uint32_t)operand;
  effect->inside_offset = offset;
  return STOW_OK;
}

stow_status stow_effects_set_storage(stow_effects* effects, stow_value value, uint64_t bytes,
                                     stow_diag* diag) {
  STOW_TRY(check_value(effects, value, diag));
  stowi_effects_value_effect* effect = effect_for(effects, value);
  STOW_TRY(stowi_need_memory(effect != NULL, diag));
  effect->storage = bytes;
  return STOW_OK;
}

// A fixed offset must match the alignment, whichever is set first.
static stow_status check_offset(const stow_effects* effects, stow_value value, uint64_t offset,
                                uint64_t alignment, stow_diag* diag) {
  if (offset == STOW_OFFSET_NONE || alignment == 0 || offset % alignment == 0) {
    return STOW_OK;
  }
  stowi_fail(diag, STOW_ERR_CONFLICT, "%s: offset %llu is not a multiple of its alignment %llu",
             stowi_graph_describe_value(effects->graph, value).text, (unsigned long long)offset,
             (unsigned long long)alignment);
  stowi_graph_blame_value(diag, effects->graph, value);
  return STOW_ERR_CONFLICT;
}

stow_status stow_effects_set_alignment(stow_effects* effects, stow_value value, uint64_t alignment,
                                       stow_diag* diag) {
  STOW_TRY(check_value(effects, value, diag));
  STOW_TRY(check_alignment(effects, stow_graph_producer(effects->graph, value), alignment, diag));
  STOW_TRY(check_offset(effects, value, stowi_effects_offset(effects, value), alignment, diag));
  stowi_effects_value_effect* effect = effect_for(effects, value);
  STOW_TRY(stowi_need_memory(effect != NULL, diag));
  effect->alignment = alignment;
  return STOW_OK;
}

stow_status stow_effects_set_offset(stow_effects* effects, stow_value value, uint64_t offset,
                                    stow_diag* diag) {
  STOW_TRY(check_value(effects, value, diag));
  STOW_TRY(check_offset(effects, value, offset, stowi_effects_alignment(effects, value), diag));
  stowi_effects_value_effect* effect = effect_for(effects, value);
  STOW_TRY(stowi_need_memory(effect != NULL, diag));
  effect->offset = offset;
  return STOW_OK;
}

stow_status stow_effects_set_own(stow_effects* effects, stow_value value, stow_diag* diag) {
  STOW_TRY(check_value(effects, value, diag));
  if (effect_of(effects, value)->inside) {
    return fail_own_inside(effects, value, diag);
  }
  stowi_effects_value_effect* effect = effect_for(effects, value);
  STOW_TRY(stowi_need_memory(effect != NULL, diag));
  effect->own = true;
  return STOW_OK;
}

stow_status stow_effects_set_state(stow_effects* effects, stow_value value, stow_diag* diag) {
  STOW_TRY(check_value(effects, value, diag));
  stowi_effects_value_effect* effect = effect_for(effects, value);
  STOW_TRY(stowi_need_memory(effect != NULL, diag));
  effect->state = true;
  return STOW_OK;
}

stow_status stow_effects_set_io(stow_effects* effects, stow_value value, stow_io_policy policy,
                                stow_diag* diag) {
  STOW_TRY(check_value(effects, value, diag));
  const stow_graph* graph = effects->graph;
  bool boundary = stow_graph_is_boundary(graph, value);
  if ((unsigned)policy > (unsigned)STOW_IO_EXTERNAL) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%s: unknown policy %d",
               stowi_graph_describe_value(graph, value).text, (int)policy);
    return fail_value(effects, value, diag);
  }
  if (!boundary && !stowi_bits_has(&effects->outputs, value)) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
               "%s is neither a boundary value nor an output, so it has no policy",
               stowi_graph_describe_value(graph, value).text);
    return fail_value(effects, value, diag);
  }
  if (policy == STOW_IO_CONSUME && boundary && !stowi_effects_is_input(graph, value)) {
    stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
               "%s is a param or constant; only inputs can be consumed",
               stowi_graph_describe_value(graph, value).text);
    return fail_value(effects, value, diag);
  }
  stowi_effects_value_effect* effect = effect_for(effects, value);
  STOW_TRY(stowi_need_memory(effect != NULL, diag));
  effect->io = policy;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reading

size_t stowi_effects_scratch_count(const stow_effects* effects) {
  return effects == NULL ? 0 : effects->scratch.count;
}

bool stowi_effects_has_offers(const stow_effects* effects) {
  return effects != NULL && effects->offers.count != 0;
}

const stowi_effects_offer_entry* stowi_effects_offers(const stow_effects* effects, stow_node node,
                                                      size_t* out_count) {
  size_t first = FIRST_OF(&effects->offers, node);
  *out_count = FIRST_OF(&effects->offers, node + 1) - first;
  return effects->offers.data == NULL ? NULL : effects->offers.data + first;
}

stowi_effects_scratch_entry stowi_effects_scratch(const stow_effects* effects, size_t index) {
  return effects->scratch.data[index];
}

size_t stowi_effects_hold_count(const stow_effects* effects) {
  return effects == NULL ? 0 : effects->holds.count;
}

stowi_effects_hold_entry stowi_effects_hold(const stow_effects* effects, size_t index) {
  return effects->holds.data[index];
}

size_t stowi_effects_early_write_count(const stow_effects* effects) {
  return effects == NULL ? 0 : effects->early_writes.count;
}

stowi_effects_early_write_entry stowi_effects_early_write(const stow_effects* effects,
                                                          size_t index) {
  return effects->early_writes.data[index];
}

size_t stowi_effects_overwrite_count(const stow_effects* effects) {
  return effects == NULL ? 0 : effects->overwrites.count;
}

stowi_effects_in_place_entry stowi_effects_overwrite(const stow_effects* effects, size_t index) {
  return effects->overwrites.data[index];
}

bool stowi_effects_is_handed_on(const stow_effects* effects, stow_value value) {
  bool is = false;
  bool is_consumed = effects != NULL && stowi_effects_is_input(effects->graph, value) &&
                     stowi_effects_io(effects, value) == STOW_IO_CONSUME;
  for (size_t i = 0; is_consumed && !is && i < effects->overwrites.count; ++i) {
    stowi_effects_in_place_entry in_place = effects->overwrites.data[i];
    is = stow_graph_operands(effects->graph, in_place.node)[in_place.operand] == value;
  }
  return is;
}

size_t stowi_effects_forbidden_count(const stow_effects* effects) {
  return effects == NULL ? 0 : effects->forbidden.count;
}

stowi_effects_in_place_entry stowi_effects_forbidden(const stow_effects* effects, size_t index) {
  return effects->forbidden.data[index];
}

bool stowi_effects_inside(const stow_effects* effects, stow_value value, size_t* out_operand,
                          uint64_t* out_offset) {
  const stowi_effects_value_effect* effect = effect_of(effects, value);
  *out_operand = effect->inside_operand;
  *out_offset = effect->inside_offset;
  return effect->inside;
}

uint64_t stowi_effects_storage(const stow_effects* effects, stow_value value) {
  return effect_of(effects, value)->storage;
}

uint64_t stowi_effects_alignment(const stow_effects* effects, stow_value value) {
  return effect_of(effects, value)->alignment;
}

bool stowi_effects_own(const stow_effects* effects, stow_value value) {
  return effect_of(effects, value)->own;
}

bool stowi_effects_state(const stow_effects* effects, stow_value value) {
  return effect_of(effects, value)->state;
}

uint64_t stowi_effects_offset(const stow_effects* effects, stow_value value) {
  return effect_of(effects, value)->offset;
}

stow_io_policy stowi_effects_io(const stow_effects* effects, stow_value value) {
  return effect_of(effects, value)->io;
}

bool stowi_effects_is_held(const stow_effects* effects, stow_node node, size_t k) {
  size_t count = stowi_effects_hold_count(effects);
  for (size_t i = count == 0 ? 0 : FIRST_OF(&effects->holds, node); i < count; ++i) {
    const stowi_effects_hold_entry* hold = &effects->holds.data[i];
    if (hold->node != node || hold->operand == k) {
      return hold->node == node;
    }
  }
  return false;
}

bool stowi_effects_is_early(const stow_effects* effects, stow_node node, size_t k) {
  size_t count = stowi_effects_early_write_count(effects);
  for (size_t i = count == 0 ? 0 : FIRST_OF(&effects->early_writes, node); i < count; ++i) {
    const stowi_effects_early_write_entry* early = &effects->early_writes.data[i];
    if (early->node != node || early->result == k) {
      return early->node == node;
    }
  }
  return false;
}

// Whether one of |count| pairs, sorted by node, allows result |k| in place of |operand|.
static bool has_pair(const stowi_effects_in_place_entry* pairs, size_t count, stow_node node,
                     size_t k, size_t operand) {
  for (size_t i = first_of(pairs, count, sizeof(*pairs), node); i < count; ++i) {
    if (pairs[i].node != node || (pairs[i].result == k && pairs[i].operand == operand)) {
      return pairs[i].node == node;
    }
  }
  return false;
}

bool stowi_effects_is_allowed(const stow_effects* effects, stow_node node, size_t k,
                              size_t operand) {
  return effects != NULL &&
         has_pair(effects->overwrites.data, effects->overwrites.count, node, k, operand);
}

bool stowi_effects_is_forbidden(const stow_effects* effects, stow_node node, size_t k,
                                size_t operand) {
  return effects != NULL &&
         has_pair(effects->forbidden.data, effects->forbidden.count, node, k, operand);
}

// Whether a list has an entry of |node|.
#define HAS_NODE(list, at) \
  (FIRST_OF(list, at) < (list)->count && (list)->data[FIRST_OF(list, at)].node == (at))

bool stowi_effects_allows_rows(const stow_effects* effects, stow_node node) {
  return effects == NULL ||
         !(HAS_NODE(&effects->whole, node) || HAS_NODE(&effects->holds, node) ||
           HAS_NODE(&effects->early_writes, node) || HAS_NODE(&effects->overwrites, node));
}

bool stowi_effects_is_plain(const stow_effects* effects, stow_value value) {
  size_t operand;
  uint64_t offset;
  return !stowi_effects_is_fixed(effects, value) && !stowi_effects_own(effects, value) &&
         !stowi_effects_state(effects, value) && stowi_effects_alignment(effects, value) == 0 &&
         stowi_effects_storage(effects, value) == STOW_BYTES_DEFAULT &&
         !stowi_effects_inside(effects, value, &operand, &offset);
}

bool stowi_effects_is_fixed(const stow_effects* effects, stow_value value) {
  return stowi_effects_offset(effects, value) != STOW_OFFSET_NONE;
}

bool stowi_effects_touch_writes(const stow_effects* effects) {
  if (stowi_effects_hold_count(effects) != 0 || stowi_effects_early_write_count(effects) != 0) {
    return true;
  }
  for (size_t i = 0; effects != NULL && i < effects->values.count; ++i) {
    if (effects->values.data[i].inside) {
      return true;
    }
  }
  return false;
}

bool stowi_effects_is_input(const stow_graph* graph, stow_value value) {
  return stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_INPUT;
}

stow_io_policy stowi_effects_io_policy(const stow_graph* graph, const stow_effects* effects,
                                       stow_io_policy fallback, stow_value value, bool is_output) {
  bool boundary = stow_graph_is_boundary(graph, value);
  if (!boundary && !is_output) {
    return STOW_IO_KEEP;
  }
  stow_io_policy policy = stowi_effects_io(effects, value);
  if (policy == STOW_IO_DEFAULT) {
    policy = fallback;
  }
  if (policy == STOW_IO_EXTERNAL ||
      (policy == STOW_IO_CONSUME && stowi_effects_is_input(graph, value))) {
    return policy;
  }
  return STOW_IO_KEEP;
}

bool stowi_effects_are_of(const stow_effects* effects, const stow_graph* graph) {
  return effects == NULL ||
         (effects->graph == graph && effects->value_count == stow_graph_value_count(graph) &&
          effects->node_count == stow_graph_node_count(graph));
}

void stowi_effects_set_verified(stow_effects* effects) { effects->is_verified = true; }

void stowi_effects_set_kernels(stow_effects* effects, stowi_effects_kernels kernels) {
  effects->kernels = kernels;
}

stowi_effects_kernels stowi_effects_kernels_of(const stow_effects* effects) {
  return effects == NULL ? (stowi_effects_kernels){0} : effects->kernels;
}

stow_status stowi_effects_verify_graph(const stow_effects* effects, const stow_graph* graph,
                                       stow_diag* diag) {
  bool is_verified =
      effects != NULL && effects->is_verified && stowi_effects_are_of(effects, graph);
  return is_verified ? STOW_OK : stow_graph_verify(graph, diag);
}

stow_status stowi_effects_check_graph(const stow_effects* effects, const stow_graph* graph,
                                      stow_diag* diag) {
  if (!stowi_effects_are_of(effects, graph)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the effects were made for another graph, or the graph has grown since");
  }
  return STOW_OK;
}
