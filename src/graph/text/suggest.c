// "Did you mean": first the names that other frameworks use, then the op whose name has the
// smallest edit distance. O(length²) per op, and only on an error. Element types have only
// alternative names: their own are too short for edit distances.
#include "base/text.h"
#include "graph/api.h"
#include "graph/text/parser.h"

// The op known by another name elsewhere, or NULL. No name here is that of an op.
static const char* other_name(const stow_ops* ops, stow_str name) {
  static const struct {
    const char* other;
    const char* op;
  } names[] = {{"linear", "matmul"},      {"dense", "matmul"},        {"identity", "reshape"},
               {"concatenate", "concat"}, {"cat", "concat"},          {"avg_pool", "pool"},
               {"max_pool", "pool"},      {"layernorm", "layer_norm"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (stow_str_equal(name, stow_str_of(names[i].other)) &&
        stow_ops_find(ops, stow_str_of(names[i].op)) != STOW_OP_NONE) {
      return names[i].op;
    }
  }
  return NULL;
}

const char* stowi_graph_suggest_op(const stow_ops* ops, stow_str name) {
  const char* best = other_name(ops, name);
  size_t best_distance = name.size / 3 + 2;  // a larger distance means another word
  if (best != NULL || name.size > STOWI_LONGEST_WORD) {
    return best;
  }
  size_t count = stowi_graph_ops_count(ops);
  for (size_t op = 0; op < count; ++op) {
    const char* candidate = stow_ops_get(ops, (stow_op)op)->name;
    stow_str text = stow_str_of(candidate);
    size_t distance =
        text.size > STOWI_LONGEST_WORD ? best_distance : stowi_edit_distance(name, text);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

const char* stowi_graph_suggest_dtype(stow_str name) {
  static const struct {
    const char* other;
    const char* dtype;
  } names[] = {{"float", "f32"},     {"float32", "f32"},    {"float16", "f16"}, {"half", "f16"},
               {"bfloat16", "bf16"}, {"float64", "f64"},    {"double", "f64"},  {"int8", "i8"},
               {"int16", "i16"},     {"int32", "i32"},      {"int64", "i64"},   {"uint8", "u8"},
               {"uint16", "u16"},    {"uint32", "u32"},     {"uint64", "u64"},  {"boolean", "bool"},
               {"complex64", "c64"}, {"complex128", "c128"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (stow_str_equal(name, stow_str_of(names[i].other))) {
      return names[i].dtype;
    }
  }
  return NULL;
}
