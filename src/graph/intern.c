// Hash-consing. A graph of a million nodes has a few hundred distinct types (136 bytes each) and
// attributes (96 bytes plus their lists); values and nodes hold 4-byte numbers instead. What a
// failed call has interned stays: it is invisible, and the next attempt finds it.
#include "graph/intern.h"

#include <stdalign.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/api.h"

// ---------------------------------------------------------------------------------------------
// Types

static uint64_t hash_type(const stow_type* type) {
  uint64_t hash = stowi_hash_u64(STOWI_HASH_SEED, (uint64_t)type->dtype);
  hash = stowi_hash_u64(hash, type->rank);
  for (uint32_t i = 0; i < type->rank; ++i) {
    hash = stowi_hash_u64(hash, (uint64_t)type->dims[i]);
  }
  return hash;
}

static bool is_type(const void* context, uint32_t id, const void* key) {
  const stowi_graph_type_table* table = (const stowi_graph_type_table*)context;
  return stow_type_equal(table->list.data[id], (const stow_type*)key);
}

stow_status stowi_graph_intern_type(stowi_graph_type_table* table, stowi_pool* pool,
                                    stow_allocator allocator, const stow_type* type,
                                    uint32_t* out_id) {
  uint64_t hash = hash_type(type);
  *out_id = stowi_index_find(&table->index, hash, is_type, table, type);
  if (*out_id != STOWI_INDEX_NONE) {
    return STOW_OK;
  }
  if (table->list.count >= STOWI_INDEX_NONE - 1) {
    return STOW_ERR_LIMIT;
  }
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &table->list, 1));
  STOW_TRY(stowi_index_reserve(&table->index, allocator));
  stow_type* copy =
      (stow_type*)stowi_pool_alloc(pool, allocator, sizeof(stow_type), alignof(stow_type));
  if (copy == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  *copy = stow_type_make(type->dtype, type->rank, type->dims);
  *out_id = (uint32_t)table->list.count;
  table->list.data[table->list.count++] = copy;
  stowi_index_insert(&table->index, hash, *out_id);
  return STOW_OK;
}

void stowi_graph_type_table_free(stowi_graph_type_table* table, stow_allocator allocator) {
  STOWI_VEC_FREE(allocator, &table->list);
  stowi_index_free(&table->index, allocator);
}

// ---------------------------------------------------------------------------------------------
// Attributes

bool stowi_graph_attr_is_list(stow_attr_kind kind) {
  return kind == STOW_ATTR_INTS || kind == STOW_ATTR_FLOATS || kind == STOW_ATTR_STRINGS;
}

static uint64_t float_bits(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof(bits));
  return bits;
}

static uint64_t hash_list(uint64_t hash, const stow_attr* attr) {
  hash = stowi_hash_u64(hash, attr->count);
  for (size_t i = 0; i < attr->count; ++i) {
    if (attr->kind == STOW_ATTR_INTS) {
      hash = stowi_hash_u64(hash, (uint64_t)attr->ints[i]);
    } else if (attr->kind == STOW_ATTR_FLOATS) {
      hash = stowi_hash_u64(hash, float_bits(attr->floats[i]));
    } else {
      hash = stowi_hash_bytes(hash, attr->strings[i].data, attr->strings[i].size);
    }
  }
  return hash;
}

uint64_t stowi_graph_attr_hash(uint64_t hash, const stow_attr* attr) {
  hash = stowi_hash_bytes(hash, attr->name.data, attr->name.size);
  hash = stowi_hash_u64(hash, (uint64_t)attr->kind);
  switch (attr->kind) {
    case STOW_ATTR_INT: return stowi_hash_u64(hash, (uint64_t)attr->i);
    case STOW_ATTR_FLOAT: return stowi_hash_u64(hash, float_bits(attr->f));
    case STOW_ATTR_BOOL: return stowi_hash_u64(hash, attr->b);
    case STOW_ATTR_STRING: return stowi_hash_bytes(hash, attr->s.data, attr->s.size);
    default: return hash_list(hash, attr);
  }
}

static bool list_equal(const stow_attr* a, const stow_attr* b) {
  if (a->count != b->count) {
    return false;
  }
  for (size_t i = 0; i < a->count; ++i) {
    bool same = a->kind == STOW_ATTR_INTS     ? a->ints[i] == b->ints[i]
                : a->kind == STOW_ATTR_FLOATS ? float_bits(a->floats[i]) == float_bits(b->floats[i])
                                              : stow_str_equal(a->strings[i], b->strings[i]);
    if (!same) {
      return false;
    }
  }
  return true;
}

bool stowi_graph_attr_equal(const stow_attr* a, const stow_attr* b) {
  if (a->kind != b->kind || !stow_str_equal(a->name, b->name)) {
    return false;
  }
  switch (a->kind) {
    case STOW_ATTR_INT: return a->i == b->i;
    case STOW_ATTR_FLOAT: return float_bits(a->f) == float_bits(b->f);
    case STOW_ATTR_BOOL: return a->b == b->b;
    case STOW_ATTR_STRING: return stow_str_equal(a->s, b->s);
    default: return list_equal(a, b);
  }
}

// A copy of |count| elements of |size| bytes; NULL when out of memory.
static void* copy_list(stowi_pool* pool, stow_allocator allocator, const void* list, size_t count,
                       size_t size, size_t alignment) {
  size_t bytes;
  if (!stowi_mul_size(count, size, &bytes)) {
    return NULL;
  }
  void* copy = stowi_pool_alloc(pool, allocator, bytes, alignment);
  if (copy != NULL && bytes != 0) {
    memcpy(copy, list, bytes);
  }
  return copy;
}

static stow_status copy_strings(stowi_pool* pool, stow_allocator allocator, const stow_attr* attr,
                                stow_attr* out) {
  stow_str* strings = (stow_str*)copy_list(pool, allocator, attr->strings, attr->count,
                                           sizeof(stow_str), alignof(stow_str));
  if (strings == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < attr->count; ++i) {
    STOW_TRY(stowi_pool_copy_str(pool, allocator, attr->strings[i], &strings[i]));
  }
  out->strings = strings;
  return STOW_OK;
}

// Copies the fields that |attr|'s kind uses into the zeroed |out|.
static stow_status copy_value(stowi_pool* pool, stow_allocator allocator, const stow_attr* attr,
                              stow_attr* out) {
  switch (attr->kind) {
    case STOW_ATTR_INT: out->i = attr->i; return STOW_OK;
    case STOW_ATTR_FLOAT: out->f = attr->f; return STOW_OK;
    case STOW_ATTR_BOOL: out->b = attr->b; return STOW_OK;
    case STOW_ATTR_STRING: return stowi_pool_copy_str(pool, allocator, attr->s, &out->s);
    default: break;
  }
  out->count = attr->count;
  if (attr->kind == STOW_ATTR_STRINGS) {
    return copy_strings(pool, allocator, attr, out);
  }
  if (attr->kind == STOW_ATTR_INTS) {
    out->ints = (const int64_t*)copy_list(pool, allocator, attr->ints, attr->count, sizeof(int64_t),
                                          alignof(int64_t));
    return out->ints == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
  }
  out->floats = (const double*)copy_list(pool, allocator, attr->floats, attr->count, sizeof(double),
                                         alignof(double));
  return out->floats == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
}

static bool is_attr(const void* context, uint32_t id, const void* key) {
  const stowi_graph_attr_table* table = (const stowi_graph_attr_table*)context;
  return stowi_graph_attr_equal(table->list.data[id], (const stow_attr*)key);
}

stow_status stowi_graph_intern_attr(stowi_graph_attr_table* table, stowi_pool* pool,
                                    stow_allocator allocator, const stow_attr* attr,
                                    uint32_t* out_id) {
  uint64_t hash = stowi_graph_attr_hash(STOWI_HASH_SEED, attr);
  *out_id = stowi_index_find(&table->index, hash, is_attr, table, attr);
  if (*out_id != STOWI_INDEX_NONE) {
    return STOW_OK;
  }
  if (table->list.count >= STOWI_INDEX_NONE - 1) {
    return STOW_ERR_LIMIT;
  }
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &table->list, 1));
  STOW_TRY(stowi_index_reserve(&table->index, allocator));
  stow_attr* copy =
      (stow_attr*)stowi_pool_alloc(pool, allocator, sizeof(stow_attr), alignof(stow_attr));
  if (copy == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  memset(copy, 0, sizeof(*copy));
  copy->kind = attr->kind;
  STOW_TRY(stowi_pool_copy_str(pool, allocator, attr->name, &copy->name));
  STOW_TRY(copy_value(pool, allocator, attr, copy));
  *out_id = (uint32_t)table->list.count;
  table->list.data[table->list.count++] = copy;
  stowi_index_insert(&table->index, hash, *out_id);
  return STOW_OK;
}

void stowi_graph_attr_table_free(stowi_graph_attr_table* table, stow_allocator allocator) {
  STOWI_VEC_FREE(allocator, &table->list);
  stowi_index_free(&table->index, allocator);
}
