// Known values: reading them, and running the fold functions that compute them.
//
// The store is two arrays: an entry per value with known elements, in order of values, and the
// elements, 8 bytes each. Most values of a graph are large or computed at run time and take no
// space. Reading is a binary search for the value, once per operand and run of a function, then
// O(1) per element. A fold function runs if its results have at most STOW_MAX_KNOWN elements each
// and, if nothing is known of any operand, only for results as small as those of ops that look at
// types alone (`shape`, `size`), so that graphs without known values pay nothing. The elements of a
// node and of a whole graph are limited too, so that a small file cannot exhaust memory.
#include "graph/known.h"

#include <string.h>

#include "base/diag.h"
#include "graph/dims/dims.h"
#include "graph/floats.h"
#include "graph/folds/fold.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

#define MAX_NODE_ELEMENTS (64 * (size_t)STOW_MAX_KNOWN)
#define MAX_STORE_ELEMENTS ((size_t)1 << 24)

// ---------------------------------------------------------------------------------------------
// Reading

static uint64_t load(const unsigned char* bytes, uint32_t width, size_t i) {
  uint16_t half;
  uint32_t word;
  uint64_t bits;
  switch (width) {
    case 8: return bytes[i];
    case 16: memcpy(&half, bytes + i * 2, 2); return half;
    case 32: memcpy(&word, bytes + i * 4, 4); return word;
    case 64: memcpy(&bits, bytes + i * 8, 8); return bits;
    default:  // packed, the first element in the low bits
      return (uint64_t)(bytes[i * width / 8] >> (i * width % 8)) & ((UINT64_C(1) << width) - 1);
  }
}

bool stowi_graph_known_int(const stowi_graph_known* known, size_t i, int64_t* out) {
  uint32_t width = stow_dtype_bits(known->dtype);
  uint64_t bits = load(known->bytes, width, i);
  stow_dtype_kind kind = stow_dtype_kind_of(known->dtype);
  if (kind == STOW_KIND_SIGNED) {
    uint64_t sign = UINT64_C(1) << (width - 1);
    bits = (bits ^ sign) - sign;
    memcpy(out, &bits, sizeof(*out));
    return true;
  }
  *out = kind == STOW_KIND_BOOL ? bits != 0 : (int64_t)(bits & INT64_MAX);
  return bits <= INT64_MAX;
}

static bool is_integer(stow_dtype dtype) {
  stow_dtype_kind kind = stow_dtype_kind_of(dtype);
  return kind == STOW_KIND_SIGNED || kind == STOW_KIND_UNSIGNED || kind == STOW_KIND_BOOL;
}

static bool is_readable(stow_dtype dtype) {
  return is_integer(dtype) || stowi_graph_float_has(dtype);
}

static bool is_data_whole(const stowi_graph_known* known) {
  int64_t number;
  for (size_t i = 0; known->dtype == STOW_U64 && i < known->count; ++i) {
    if (!stowi_graph_known_int(known, i, &number)) {
      return false;
    }
  }
  return true;
}

static const stowi_graph_known_entry* find_entry(const stowi_graph_known_store* store,
                                                 stow_value value) {
  size_t low = 0;
  size_t high = store->entries.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (store->entries.data[middle].value < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool is_found = low < store->entries.count && store->entries.data[low].value == value;
  return is_found ? &store->entries.data[low] : NULL;
}

// All elements of an empty value are known.
static bool is_empty(const stow_type* type) {
  uint64_t count;
  return stow_type_elements(type, &count) == STOW_OK && count == 0;
}

// Known elements in |bytes|, which may be NULL.
static stowi_graph_known known_bytes(const stow_type* type, const void* bytes) {
  stowi_graph_known known = {.dtype = type->dtype};
  uint64_t count;
  known.is_whole = is_empty(type);
  if (bytes != NULL && is_readable(type->dtype) && stow_type_elements(type, &count) == STOW_OK) {
    known.count = (size_t)count;  // the bytes are in memory
    known.bytes = (const unsigned char*)bytes;
    known.is_whole = is_data_whole(&known);
  }
  return known;
}

stowi_graph_known stowi_graph_known_of(const stow_graph* graph,
                                       const stowi_graph_known_store* store, const uint32_t* types,
                                       stow_value value) {
  const stow_type* type = stowi_graph_type_of(graph, types, value);
  if (graph->values.data[value].has_data) {
    return known_bytes(type, stow_graph_data(graph, value, NULL));
  }
  stowi_graph_known known = {.dtype = type->dtype};
  const stowi_graph_known_entry* entry = find_entry(store, value);
  known.is_whole = is_empty(type);
  if (entry != NULL) {
    known.count = entry->count;
    known.elements = store->elements.data + entry->first;
    known.exactness = store->exactness.data + entry->first;
    known.is_whole = entry->known_count == entry->count;
  }
  return known;
}

stowi_graph_exactness stowi_graph_known_exactness(const stowi_graph_known* known, size_t i) {
  return known->exactness != NULL && i < known->count ? (stowi_graph_exactness)known->exactness[i]
                                                      : STOWI_GRAPH_EXACT;
}

// The element, or its upper bound.
static stow_dim dim_or_bound(const stowi_graph_known* known, stow_dims* dims, size_t i) {
  int64_t number;
  if (i >= known->count || !is_integer(known->dtype)) {
    return STOW_DIM_INVALID;
  }
  if (known->elements != NULL) {
    return known->elements[i];
  }
  return known->bytes != NULL && stowi_graph_known_int(known, i, &number)
             ? stow_dim_of_int(dims, number)
             : STOW_DIM_INVALID;
}

stow_dim stowi_graph_known_dim(const stowi_graph_known* known, stow_dims* dims, size_t i) {
  return stowi_graph_known_exactness(known, i) == STOWI_GRAPH_EXACT ? dim_or_bound(known, dims, i)
                                                                    : STOW_DIM_INVALID;
}

// The element, or its upper bound.
static bool double_or_bound(const stowi_graph_known* known, size_t i, double* out) {
  if (i >= known->count || is_integer(known->dtype) ||
      stowi_graph_known_exactness(known, i) == STOWI_GRAPH_FLOAT_DIM) {
    return false;
  }
  if (known->elements != NULL) {
    memcpy(out, &known->elements[i], sizeof(*out));
    return known->elements[i] != STOWI_GRAPH_UNKNOWN;
  }
  if (known->bytes == NULL) {
    return false;
  }
  *out =
      stowi_graph_float_decode(known->dtype, load(known->bytes, stow_dtype_bits(known->dtype), i));
  return true;
}

bool stowi_graph_known_double(const stowi_graph_known* known, size_t i, double* out) {
  return stowi_graph_known_exactness(known, i) == STOWI_GRAPH_EXACT &&
         double_or_bound(known, i, out);
}

static stowi_graph_known known_in(const stow_graph* graph, stow_value value) {
  return stowi_graph_known_of(graph, &graph->known, graph->value_types.data, value);
}

bool stow_graph_is_known(const stow_graph* graph, stow_value value) {
  return known_in(graph, value).is_whole;
}

static bool is_number_of_data(const stowi_graph_known* known, size_t i) {
  return known->elements == NULL && known->bytes != NULL && i < known->count &&
         is_integer(known->dtype);
}

bool stow_graph_known_int(const stow_graph* graph, stow_value value, size_t i, int64_t* out) {
  stowi_graph_known known = known_in(graph, value);
  if (is_number_of_data(&known, i)) {
    return stowi_graph_known_int(&known, i, out);
  }
  return stow_dim_to_int(graph->dims, stow_graph_known(graph, value, i), out);
}

stow_dim stow_graph_known(const stow_graph* graph, stow_value value, size_t i) {
  stowi_graph_known known = known_in(graph, value);
  int64_t number;
  if (is_number_of_data(&known, i)) {
    return stowi_graph_known_int(&known, i, &number) && number >= 0 ? number : STOW_DIM_INVALID;
  }
  return stowi_graph_known_dim(&known, graph->dims, i);  // an entry of the table, or invalid
}

bool stow_graph_known_float(const stow_graph* graph, stow_value value, size_t i, double* out) {
  stowi_graph_known known = known_in(graph, value);
  return stowi_graph_known_double(&known, i, out);
}

// ---------------------------------------------------------------------------------------------
// Queries of shape functions

static stowi_graph_known look_up(const stow_shape_call* call, size_t k) {
  if (stow_shape_operand(call, k) == NULL) {
    return (stowi_graph_known){.dtype = STOW_BOOL};
  }
  if (call->actual != NULL) {
    return known_bytes(call->actual->types[k], call->actual->data[k]);
  }
  return stowi_graph_known_of(call->graph, call->known, call->types, call->operands[k]);
}

static uint64_t operand_bit(size_t k) { return UINT64_C(1) << (k < 63 ? k : 63); }

static stowi_graph_known known_operand(const stow_shape_call* call, size_t k) {
  stowi_graph_known_cache* cache = call->cache;
  if (cache != NULL) {
    cache->asked |= operand_bit(k);
  }
  if (cache == NULL || k >= STOWI_GRAPH_CACHED_OPERANDS) {
    return look_up(call, k);
  }
  if (!cache->has[k]) {
    cache->at[k] = look_up(call, k);
    cache->has[k] = true;
  }
  return cache->at[k];
}

void stowi_graph_shape_use_cache(stow_shape_call* call, stowi_graph_known_cache* cache) {
  memset(cache->has, 0, sizeof(cache->has));
  cache->asked = 0;
  call->cache = cache;
}

bool stow_shape_is_known(const stow_shape_call* call, size_t k) {
  return known_operand(call, k).is_whole;
}

bool stowi_graph_shape_has_known(const stow_shape_call* call, size_t k) {
  stowi_graph_known known = known_operand(call, k);
  return known.bytes != NULL || known.elements != NULL;
}

stow_dim stow_shape_known(stow_shape_call* call, size_t k, size_t i) {
  stowi_graph_known known = known_operand(call, k);
  return stowi_graph_known_dim(&known, call->dims, i);
}

stowi_graph_exactness stowi_graph_shape_exactness(const stow_shape_call* call, size_t k, size_t i) {
  stowi_graph_known known = known_operand(call, k);
  stowi_graph_exactness exactness = stowi_graph_known_exactness(&known, i);
  bool is_unknown = call->trial != NULL && exactness != STOWI_GRAPH_FLOAT_DIM;
  return is_unknown ? STOWI_GRAPH_EXACT : exactness;  // bounds are unknowns in a trial
}

static void note_bound(stow_shape_call* call, const stowi_graph_known* known, size_t i) {
  stowi_graph_exactness exactness = stowi_graph_known_exactness(known, i);
  call->reads_bound =
      call->reads_bound || (exactness != STOWI_GRAPH_EXACT && exactness != STOWI_GRAPH_FLOAT_DIM);
}

stow_dim stow_shape_bound(stow_shape_call* call, size_t k, size_t i) {
  stowi_graph_known known = known_operand(call, k);
  note_bound(call, &known, i);
  stow_dim bound = dim_or_bound(&known, call->dims, i);
  stowi_graph_exactness exactness = stowi_graph_known_exactness(&known, i);
  bool is_unknown =
      call->trial != NULL && exactness != STOWI_GRAPH_EXACT && bound != STOW_DIM_INVALID;
  return is_unknown ? stowi_graph_trial_element(call, bound, exactness) : bound;
}

bool stowi_graph_shape_bound_float(stow_shape_call* call, size_t k, size_t i, double* out) {
  stowi_graph_known known = known_operand(call, k);
  note_bound(call, &known, i);
  return call->trial != NULL ? stowi_graph_known_double(&known, i, out)
                             : double_or_bound(&known, i, out);
}

stow_dim stowi_graph_shape_float_dim(const stow_shape_call* call, size_t k, size_t i) {
  stowi_graph_known known = known_operand(call, k);
  bool is_dim = known.elements != NULL && i < known.count &&
                stowi_graph_known_exactness(&known, i) == STOWI_GRAPH_FLOAT_DIM;
  return is_dim ? known.elements[i] : STOW_DIM_INVALID;
}

bool stow_shape_known_float(const stow_shape_call* call, size_t k, size_t i, double* out) {
  stowi_graph_known known = known_operand(call, k);
  return stowi_graph_known_double(&known, i, out);
}

bool stowi_graph_shape_known_number(const stow_shape_call* call, size_t k, size_t i, int64_t* out) {
  stowi_graph_known known = known_operand(call, k);
  if (i >= known.count || !is_integer(known.dtype) ||
      stowi_graph_known_exactness(&known, i) != STOWI_GRAPH_EXACT) {
    return false;
  }
  if (known.elements != NULL) {
    return stow_dim_to_int(call->dims, known.elements[i], out);
  }
  return known.bytes != NULL && stowi_graph_known_int(&known, i, out);
}

static stow_status fail_room(stow_shape_call* call, size_t count, size_t room) {
  (void)stow_shape_fail(call, "a list has %zu elements, the maximum is %zu", count, room);
  return call->status = STOW_ERR_LIMIT;
}

stow_status stow_shape_list(stow_shape_call* call, const char* name, size_t k, stow_dim* out,
                            size_t room, size_t* out_count) {
  *out_count = SIZE_MAX;
  const stow_attr* attr = name == NULL ? NULL : stow_shape_attr(call, name);
  if (attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count != 0) {
    if (attr->count > room) {
      return fail_room(call, attr->count, room);
    }
    for (size_t i = 0; i < attr->count; ++i) {
      out[i] = stow_dim_of_int(call->dims, attr->ints[i]);
    }
    *out_count = attr->count;
    return stow_dims_status(call->dims);
  }
  const stow_type* type = stow_shape_operand(call, k);
  uint64_t count;
  if (type == NULL || stow_type_elements(type, &count) != STOW_OK) {
    return STOW_OK;
  }
  if (count > room) {
    return fail_room(call, (size_t)count, room);
  }
  stowi_graph_known known = known_operand(call, k);
  bool is_whole = is_integer(type->dtype);
  for (size_t i = 0; i < count; ++i) {
    out[i] = stowi_graph_known_dim(&known, call->dims, i);
    is_whole = is_whole && out[i] != STOW_DIM_INVALID;
  }
  *out_count = is_whole ? (size_t)count : SIZE_MAX;
  return stow_dims_status(call->dims);
}

// ---------------------------------------------------------------------------------------------
// Folding

// Whether |number| is in the dtype's range.
static bool can_hold(stow_dtype dtype, int64_t number) {
  uint32_t width = stow_dtype_bits(dtype);
  switch (stow_dtype_kind_of(dtype)) {
    case STOW_KIND_BOOL: return number == 0 || number == 1;
    case STOW_KIND_UNSIGNED: return number >= 0 && (width >= 63 || number < INT64_C(1) << width);
    default: {
      int64_t limit = width == 64 ? INT64_MAX : (INT64_C(1) << (width - 1)) - 1;
      return number <= limit && number >= -limit - 1;
    }
  }
}

// Where element |i| of result |k| is stored; NULL if nowhere.
static int64_t* fold_slot(stow_shape_call* call, size_t k, size_t i) {
  if (call->folded == NULL || k >= call->result_count) {
    return NULL;
  }
  if (k < call->fold_result) {
    call->fold_result = call->fold_first = 0;
  }
  uint64_t count = 0;
  for (;; ++call->fold_result) {
    (void)stow_type_elements(&call->results[call->fold_result], &count);
    if (call->fold_result == k) {
      break;
    }
    call->fold_first += (size_t)count;
  }
  return i < count ? call->folded + call->fold_first + i : NULL;
}

void stowi_graph_fold_set_exactness(stow_shape_call* call, size_t k, size_t i,
                                    stowi_graph_exactness exactness) {
  const int64_t* slot = fold_slot(call, k, i);
  if (slot != NULL) {
    call->exactness[slot - call->folded] = (uint8_t)exactness;
  }
}

void stow_fold_set(stow_shape_call* call, size_t k, size_t i, stow_dim value) {
  int64_t* slot = fold_slot(call, k, i);
  if (slot == NULL || !stowi_graph_dim_is_ours(call->dims, value)) {
    return;
  }
  stow_dtype dtype = call->results[k].dtype;
  int64_t number;
  bool is_number = stow_dim_to_int(call->dims, value, &number);
  if (is_integer(dtype) && (is_number ? can_hold(dtype, number) : dtype != STOW_BOOL)) {
    *slot = value;
  }
}

void stow_fold_set_float(stow_shape_call* call, size_t k, size_t i, double value) {
  int64_t* slot = fold_slot(call, k, i);
  if (slot == NULL) {
    return;
  }
  stow_dtype dtype = call->results[k].dtype;
  uint64_t bits;
  if (!stowi_graph_float_has(dtype) || !stowi_graph_float_encode(dtype, value, &bits)) {
    return;
  }
  value = stowi_graph_float_decode(dtype, bits);
  value = value == 0.0 ? 0.0 : value;  // -0.0 has the bits of an unknown element
  memcpy(slot, &value, sizeof(value));
}

// Integers up to this are exact.
static int64_t largest_exact(stow_dtype dtype) {
  switch (dtype) {
    case STOW_F64: return INT64_C(1) << 53;
    case STOW_F32: return INT64_C(1) << 24;
    case STOW_F16: return INT64_C(1) << 11;
    default: return INT64_C(1) << 8;  // bf16
  }
}

void stowi_graph_fold_set_float_dim(stow_shape_call* call, size_t k, size_t i, stow_dim value) {
  int64_t* slot = fold_slot(call, k, i);
  int64_t least;
  int64_t most;
  if (slot == NULL || !stowi_graph_float_has(call->results[k].dtype) ||
      !stow_dim_bounds(call->dims, value, &least, &most)) {
    return;
  }
  int64_t largest = largest_exact(call->results[k].dtype);
  if (least >= -largest && most <= largest) {
    *slot = value;
    call->exactness[slot - call->folded] = STOWI_GRAPH_FLOAT_DIM;
  }
}

static bool has_known_operand(const stow_shape_call* call) {
  size_t k = 0;
  while (k < call->operand_count && !stowi_graph_shape_has_known(call, k)) {
    ++k;
  }
  return k < call->operand_count;
}

bool stowi_graph_known_can_fold(const stow_op_desc* desc, const stow_type* results,
                                size_t result_count, size_t* out_total) {
  *out_total = 0;
  for (size_t k = 0; k < result_count && desc->fold != NULL; ++k) {
    uint64_t count;
    if (stow_type_elements(&results[k], &count) != STOW_OK || count > STOW_MAX_KNOWN ||
        *out_total > MAX_NODE_ELEMENTS) {
      return false;
    }
    *out_total += (size_t)count;
  }
  return desc->fold != NULL;
}

// Nothing is known of a result with upper-bounded dims: it may have fewer elements.
static bool is_bounded_result(const stow_shape_call* call, size_t k) {
  return call->marks != NULL && (call->marks[k].bounded | call->marks[k].data) != 0;
}

// Adds an entry for each result with known elements, compacting the elements.
static void keep_entries(const stow_shape_call* call, stowi_graph_known_store* store,
                         stow_value first) {
  size_t from = 0;
  for (size_t k = 0; k < call->result_count; ++k) {
    uint64_t count;
    bool is_kept = false;
    (void)stow_type_elements(&call->results[k], &count);
    stowi_graph_known_entry entry = {first + (stow_value)k, (uint32_t)count, 0,
                                     store->elements.count};
    for (size_t i = 0; i < count && !is_bounded_result(call, k); ++i) {
      bool is_known = call->folded[from + i] != STOWI_GRAPH_UNKNOWN;
      is_kept = is_kept || is_known;
      entry.known_count += is_known && call->exactness[from + i] == STOWI_GRAPH_EXACT;
    }
    if (is_kept) {
      memmove(store->elements.data + entry.first, call->folded + from,
              (size_t)count * sizeof(*call->folded));
      memmove(store->exactness.data + entry.first, call->exactness + from, (size_t)count);
      store->elements.count += (size_t)count;
      store->exactness.count += (size_t)count;
      store->entries.data[store->entries.count++] = entry;
    }
    from += (size_t)count;
  }
}

// A dim that cannot be computed only makes an element unknown; out of memory is an error.
static stow_status run_fold(stow_shape_call* call, stow_diag* diag) {
  stow_dims* dims = call->dims;
  stow_status status = call->desc->fold(call);
  stow_status dims_status = stow_dims_status(dims);
  if (dims_status != STOW_OK) {
    stow_dims_clear_status(dims);
  }
  if (status == STOW_ERR_OUT_OF_MEMORY || dims_status == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_fail_memory(diag);
  }
  if (call->status != STOW_OK) {
    return stowi_graph_shape_fail_as(call, call->status, call->reason, diag);
  }
  return status == dims_status || status == STOW_OK
             ? STOW_OK
             : stowi_graph_shape_fail_as(call, status, stow_status_text(status), diag);
}

stow_status stowi_graph_known_fold(stow_shape_call* call, stowi_graph_known_store* store,
                                   stow_value first, stow_diag* diag) {
  size_t total;
  if (!stowi_graph_known_can_fold(call->desc, call->results, call->result_count, &total) ||
      store->elements.count > MAX_STORE_ELEMENTS ||
      (total > STOW_MAX_RANK && !has_known_operand(call))) {
    return STOW_OK;
  }
  stow_allocator allocator = call->graph->allocator;
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(allocator, &store->elements, total) == STOW_OK &&
          STOWI_VEC_RESERVE(allocator, &store->exactness, total) == STOW_OK &&
          STOWI_VEC_RESERVE(allocator, &store->entries, call->result_count) == STOW_OK,
      diag));
  if (total != 0) {
    call->folded = store->elements.data + store->elements.count;
    call->exactness = store->exactness.data + store->exactness.count;
  }
  for (size_t i = 0; i < total; ++i) {
    call->folded[i] = STOWI_GRAPH_UNKNOWN;
    call->exactness[i] = STOWI_GRAPH_EXACT;
  }
  stowi_graph_known_cache cache;
  stowi_graph_shape_use_cache(call, &cache);  // only now: the store may have moved
  stow_status status = run_fold(call, diag);
  call->cache = NULL;
  STOW_TRY(status);
  keep_entries(call, store, first);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Which data matters

static bool is_any_known(const stowi_graph_known_store* store, stow_value first, size_t count) {
  size_t k = 0;
  while (k < count && find_entry(store, first + (stow_value)k) == NULL) {
    ++k;
  }
  return k < count;
}

// At most as many elements as a shape has dims.
static bool is_short(const stow_type* type) {
  uint64_t count;
  return stow_type_elements(type, &count) == STOW_OK && count <= STOW_MAX_RANK;
}

void stowi_graph_known_note_reads(const stow_shape_call* call, stowi_graph_known_store* store,
                                  stow_value first) {
  const stow_graph* graph = call->graph;
  bool can_fold = call->desc->fold != NULL;
  bool has_folded = can_fold && is_any_known(store, first, call->result_count);
  for (size_t k = 0; k < call->operand_count; ++k) {
    stow_value operand = call->operands[k];
    bool is_read = has_folded || (call->asked & operand_bit(k)) != 0;
    if (operand != STOW_VALUE_NONE && graph->values.data[operand].has_data &&
        (is_read || (can_fold && is_short(stow_shape_operand(call, k))))) {
      store->is_read.data[stowi_graph_data_index(graph, operand)] = true;
    }
  }
}

void stowi_graph_known_free(stowi_graph_known_store* store, stow_allocator allocator) {
  STOWI_VEC_FREE(allocator, &store->entries);
  STOWI_VEC_FREE(allocator, &store->elements);
  STOWI_VEC_FREE(allocator, &store->exactness);
  STOWI_VEC_FREE(allocator, &store->is_read);
}
