// What a model holds, without importing it. Providers note it when they open a file; weights are
// counted on request.
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"
#include "import/api.h"

void stow_model_close(stow_model* model) {
  if (model == NULL) {
    return;
  }
  STOWI_VEC_FREE(model->allocator, &model->op_kinds);
  stowi_index_free(&model->op_index, model->allocator);
  model->provider->close(model);
}

void stow_model_give_back(const stow_model* model, const void* data, size_t size) {
  model->provider->give_back(model, data, size);
}

// ---------------------------------------------------------------------------------------------
// Ops

static uint64_t op_hash(const stowi_import_op_kind* kind) {
  uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, kind->name.data, kind->name.size);
  return stowi_hash_bytes(hash, kind->domain.data, kind->domain.size);
}

static bool op_equal(const void* context, uint32_t id, const void* key) {
  const stowi_import_op_kind* kind = &((const stow_model*)context)->op_kinds.data[id];
  const stowi_import_op_kind* other = (const stowi_import_op_kind*)key;
  return stow_str_equal(kind->name, other->name) && stow_str_equal(kind->domain, other->domain);
}

stow_status stowi_import_count_op(stow_model* model, stow_str domain, stow_str name) {
  stowi_import_op_kind kind = {name, domain, 1};
  uint64_t hash = op_hash(&kind);
  uint32_t id = stowi_index_find(&model->op_index, hash, op_equal, model, &kind);
  if (id != STOWI_INDEX_NONE) {
    ++model->op_kinds.data[id].count;
    return STOW_OK;
  }
  if (model->op_kinds.count == STOWI_INDEX_NONE) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  STOW_TRY(STOWI_VEC_RESERVE(model->allocator, &model->op_kinds, 1));
  STOW_TRY(stowi_index_reserve(&model->op_index, model->allocator));
  stowi_index_insert(&model->op_index, hash, (uint32_t)model->op_kinds.count);
  model->op_kinds.data[model->op_kinds.count++] = kind;
  return STOW_OK;
}

static int compare_ops(const void* a, const void* b, const void* context) {
  (void)context;
  const stowi_import_op_kind* left = (const stowi_import_op_kind*)a;
  const stowi_import_op_kind* right = (const stowi_import_op_kind*)b;
  if (left->count != right->count) {
    return left->count > right->count ? -1 : 1;
  }
  int order = stow_str_compare(left->name, right->name);
  return order != 0 ? order : stow_str_compare(left->domain, right->domain);
}

stow_status stowi_import_sort_ops(stow_model* model) {
  stowi_index_free(&model->op_index, model->allocator);
  model->info.op_kind_count = model->op_kinds.count;
  return stowi_sort(model->op_kinds.data, model->op_kinds.count, sizeof(stowi_import_op_kind),
                    compare_ops, NULL, model->allocator);
}

// ---------------------------------------------------------------------------------------------
// Weights

struct stowi_import_tally {
  const stow_dtype* only;  // NULL: all
  stow_model_weights sums;
  uint64_t elements, bytes;  // of all, whatever is asked for
};

bool stowi_import_tally_weight(stowi_import_tally* tally, const stow_dtype* dtype,
                               uint64_t elements, uint64_t bytes, bool is_external) {
  if (!stowi_add_u64(tally->elements, elements, &tally->elements) ||
      !stowi_add_u64(tally->bytes, bytes, &tally->bytes)) {
    return false;
  }
  if (tally->only == NULL || (dtype != NULL && *dtype == *tally->only)) {
    ++tally->sums.tensors;
    tally->sums.elements += elements;
    tally->sums.bytes += bytes;
    tally->sums.external_bytes += is_external ? bytes : 0;
  }
  return true;
}

stow_status stow_model_count_weights(const stow_model* model, const stow_dtype* only,
                                     stow_diag* diag, stow_model_weights* out_weights) {
  stowi_import_tally tally = {.only = only};
  STOW_TRY(
      stowi_fill_struct(out_weights, &tally.sums, sizeof(tally.sums), "stow_model_weights", diag));
  if (!model->provider->count_weights(model, &tally)) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "the weights' bytes do not fit in 64 bits");
  }
  return stowi_fill_struct(out_weights, &tally.sums, sizeof(tally.sums), "stow_model_weights",
                           diag);
}

// ---------------------------------------------------------------------------------------------
// Getters

stow_status stow_model_describe(const stow_model* model, stow_model_info* out_info) {
  return stowi_fill_struct(out_info, &model->info, sizeof(*out_info), "stow_model_info", NULL);
}

stow_str stow_model_opset(const stow_model* model, size_t index, int64_t* out_version) {
  *out_version = model->opsets[index].version;
  return model->opsets[index].domain;
}

stow_str stow_model_op_kind(const stow_model* model, size_t index, stow_str* out_domain,
                            size_t* out_count) {
  const stowi_import_op_kind* kind = &model->op_kinds.data[index];
  if (out_domain != NULL) {
    *out_domain = kind->domain;
  }
  *out_count = kind->count;
  return kind->name;
}

// NULL where there is none.
static const stowi_import_info* find_port(const stow_model* model, stow_model_side side,
                                          size_t index) {
  bool is_input = side == STOW_MODEL_INPUTS;
  size_t count = is_input ? model->info.input_count : model->info.output_count;
  return index >= count ? NULL : is_input ? &model->inputs[index] : &model->outputs[index];
}

stow_status stow_model_describe_port(const stow_model* model, stow_model_side side, size_t index,
                                     stow_model_port* out_port) {
  const stowi_import_info* info = find_port(model, side, index);
  if (info == NULL) {
    return STOW_ERR_NOT_FOUND;
  }
  stow_model_port port = {.name = info->name,
                          .is_tensor = info->has_dtype,
                          .dtype = info->dtype,
                          .has_rank = info->has_shape,
                          .rank = info->has_shape ? info->rank : 0};
  return stowi_fill_struct(out_port, &port, sizeof(port), "stow_model_port", NULL);
}

stow_status stow_model_print_type(const stow_model* model, stow_model_side side, size_t index,
                                  stow_writer writer) {
  const stowi_import_info* info = find_port(model, side, index);
  return info == NULL ? STOW_ERR_INVALID_ARGUMENT : model->provider->print_type(info, writer);
}
