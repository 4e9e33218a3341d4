// The rows of all ops that can be imported, and finding one. The tables are constant; an import
// builds an index over them once (O(rows)), after which a node's row is one hash away.
#include "onnx/import/importer.h"
#include "onnx/lower/rows.h"

static const stowi_onnx_lower_table* const tables[] = {
    &stowi_onnx_lower_attention_table,    &stowi_onnx_lower_control_table,
    &stowi_onnx_lower_experimental_table, &stowi_onnx_lower_geometry_table,
    &stowi_onnx_lower_index_table,        &stowi_onnx_lower_math_table,
    &stowi_onnx_lower_matrix_table,       &stowi_onnx_lower_microsoft_table,
    &stowi_onnx_lower_ml_table,           &stowi_onnx_lower_norm_table,
    &stowi_onnx_lower_quant_table,        &stowi_onnx_lower_refused_table,
    &stowi_onnx_lower_shape_table,        &stowi_onnx_lower_signal_table,
    &stowi_onnx_lower_window_table,
};
enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

typedef struct op_key {
  stow_str domain, name;
} op_key;

static bool is_row_of(const stowi_onnx_lower_row* row, const op_key* key) {
  return stow_str_equal(stow_str_of(row->name), key->name) &&
         stow_str_equal(stow_str_of(row->domain), key->domain);
}

static uint64_t hash_key(const op_key* key) {
  uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, key->domain.data, key->domain.size);
  return stowi_hash_bytes(hash, key->name.data, key->name.size);
}

// The later of two rows, as far as |version| allows it; either may be NULL.
static const stowi_onnx_lower_row* later(const stowi_onnx_lower_row* best,
                                         const stowi_onnx_lower_row* row, int64_t version) {
  bool is_better = row->since <= version && (best == NULL || row->since > best->since);
  return is_better ? row : best;
}

static bool has_key(const void* context, uint32_t id, const void* key) {
  const stowi_onnx_lower_index* index = (const stowi_onnx_lower_index*)context;
  return is_row_of(index->entries.data[id].row, (const op_key*)key);
}

static stow_status add_row(stowi_onnx_lower_index* index, stow_allocator allocator,
                           const stowi_onnx_lower_row* row) {
  op_key key = {stow_str_of(row->domain), stow_str_of(row->name)};
  uint64_t hash = hash_key(&key);
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &index->entries, 1));
  STOW_TRY(stowi_index_reserve(&index->by_name, allocator));
  uint32_t head = stowi_index_find(&index->by_name, hash, has_key, index, &key);
  uint32_t id = (uint32_t)index->entries.count++;
  index->entries.data[id] = (stowi_onnx_lower_entry){row, STOWI_IMPORT_NONE};
  if (head == STOWI_INDEX_NONE) {
    stowi_index_insert(&index->by_name, hash, id);
    return STOW_OK;
  }
  index->entries.data[id].next = index->entries.data[head].next;
  index->entries.data[head].next = id;
  return STOW_OK;
}

stow_status stowi_onnx_lower_index_build(stowi_onnx_lower_index* index, stow_allocator allocator) {
  for (size_t t = 0; t < TABLE_COUNT; ++t) {
    for (size_t i = 0; i < tables[t]->count; ++i) {
      STOW_TRY(add_row(index, allocator, &tables[t]->rows[i]));
    }
  }
  return STOW_OK;
}

void stowi_onnx_lower_index_free(stowi_onnx_lower_index* index, stow_allocator allocator) {
  STOWI_VEC_FREE(allocator, &index->entries);
  stowi_index_free(&index->by_name, allocator);
}

const stowi_onnx_lower_row* stowi_onnx_lower_index_find(const stowi_onnx_lower_index* index,
                                                        stow_str domain, stow_str name,
                                                        int64_t version) {
  op_key key = {domain, name};
  const stowi_onnx_lower_row* best = NULL;
  uint32_t id = stowi_index_find(&index->by_name, hash_key(&key), has_key, index, &key);
  for (; id != STOWI_IMPORT_NONE; id = index->entries.data[id].next) {
    best = later(best, index->entries.data[id].row, version);
  }
  return best;
}
