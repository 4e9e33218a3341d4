// "Did you mean": first what other frameworks call an op, then the op whose name needs the fewest
// edits (insertion, deletion, change of a letter) to become what was written. Levenshtein's
// distance by rows, O(length²) per op with names cut off at a length that no op has, and only on an
// error. Element types have other names only: theirs are too short for edits to tell them apart.
#include <string.h>

#include "graph/text_parser.h"

#define LONGEST 48

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t edit_distance(stow_str a, stow_str b) {
  size_t row[LONGEST + 1];
  for (size_t j = 0; j <= b.size; ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size; ++j) {
      size_t changed = diagonal + (a.data[i - 1] != b.data[j - 1]);
      diagonal = row[j];
      row[j] = smaller(changed, smaller(row[j], row[j - 1]) + 1);
    }
  }
  return row[b.size];
}

// The op that goes by another name elsewhere, or NULL. No name here is that of an op.
static const char* other_name(const stow_ops* ops, stow_str name) {
  static const struct {
    const char* other;
    const char* op;
  } names[] = {{"linear", "matmul"},      {"dense", "matmul"},      {"flatten", "reshape"},
               {"squeeze", "reshape"},    {"unsqueeze", "reshape"}, {"identity", "reshape"},
               {"concatenate", "concat"}, {"cat", "concat"},        {"slice", "narrow"},
               {"avg_pool", "pool"},      {"max_pool", "pool"},     {"layernorm", "layer_norm"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (stow_str_equal(name, stow_str_of(names[i].other)) &&
        stow_ops_find(ops, stow_str_of(names[i].op)) != STOW_OP_NONE) {
      return names[i].op;
    }
  }
  return NULL;
}

const char* stowi_suggest_op(const stow_ops* ops, stow_str name) {
  const char* best = other_name(ops, name);
  size_t best_distance = name.size / 3 + 2;  // what is not nearer than that is another word
  if (best != NULL || name.size > LONGEST) {
    return best;
  }
  size_t count = stow_ops_count(ops);
  for (size_t op = 0; op < count; ++op) {
    const char* candidate = stow_ops_get(ops, (stow_op)op)->name;
    stow_str text = stow_str_of(candidate);
    size_t distance = text.size > LONGEST ? best_distance : edit_distance(name, text);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

const char* stowi_suggest_dtype(stow_str name) {
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
