// Functions of the model: their nodes take the place of each call. The body sees its own inputs
// only; attributes that it refers to are looked up in the calls around it (lower.c). Functions that
// call themselves are refused; how deep calls go is limited, and so is how many nodes come of it.
#include "onnx/import/importer.h"

typedef struct function_key {
  stow_str domain, name, overload;
} function_key;

static uint64_t hash_key(const function_key* key) {
  uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, key->domain.data, key->domain.size);
  hash = stowi_hash_bytes(hash, key->name.data, key->name.size);
  return stowi_hash_bytes(hash, key->overload.data, key->overload.size);
}

static bool has_key(const void* context, uint32_t id, const void* key) {
  const stowi_onnx_function* function =
      &((const stowi_onnx_importer*)context)->model->proto.functions[id];
  const function_key* wanted = (const function_key*)key;
  return stow_str_equal(function->name, wanted->name) &&
         stow_str_equal(function->domain, wanted->domain) &&
         stow_str_equal(function->overload, wanted->overload);
}

stow_status stowi_onnx_index_functions(stowi_onnx_importer* onnx) {
  const stowi_onnx_proto* proto = &onnx->model->proto;
  stowi_import_importer* imp = &onnx->imp;
  for (size_t i = 0; i < proto->function_count; ++i) {
    const stowi_onnx_function* function = &proto->functions[i];
    function_key key = {function->domain, function->name, function->overload};
    uint64_t hash = hash_key(&key);
    if (stowi_index_find(&onnx->functions, hash, has_key, onnx, &key) != STOWI_INDEX_NONE) {
      return stowi_fail(imp->diag, STOW_ERR_DUPLICATE, "the function \"%.*s\" is given twice",
                        STOWI_STR_ARG(function->name));
    }
    if (stowi_index_reserve(&onnx->functions, imp->allocator) != STOW_OK) {
      return stowi_import_memory(imp);
    }
    stowi_index_insert(&onnx->functions, hash, (uint32_t)i);
  }
  return STOW_OK;
}

const stowi_onnx_function* stowi_onnx_function_of(const stowi_onnx_importer* onnx,
                                                  const stowi_onnx_node* node) {
  function_key key = {node->domain, node->op, node->overload};
  uint32_t id = stowi_index_find(&onnx->functions, hash_key(&key), has_key, onnx, &key);
  return id == STOWI_INDEX_NONE ? NULL : &onnx->model->proto.functions[id];
}

static stow_status check_call(stowi_onnx_lowering* l, const stowi_onnx_function* function) {
  stowi_import_importer* imp = l->imp;
  for (const stowi_onnx_inlining* i = l->onnx->inlining; i != NULL; i = i->outer) {
    if (i->function == function) {
      return stowi_fail(imp->diag, STOW_ERR_SYNTAX, "the function calls itself");
    }
  }
  if (imp->depth >= STOWI_IMPORT_MAX_DEPTH) {
    return stowi_fail(imp->diag, STOW_ERR_LIMIT, "calls are nested more than %d deep",
                      STOWI_IMPORT_MAX_DEPTH);
  }
  if (l->operand_count > function->input_count || l->result_count > function->output_count) {
    return stowi_fail(imp->diag, STOW_ERR_TYPE,
                      "the function has %zu inputs and %zu outputs, the call %zu and %zu",
                      function->input_count, function->output_count, l->operand_count,
                      l->result_count);
  }
  return STOW_OK;
}

static stow_status bind_inputs(stowi_onnx_lowering* l, const stowi_onnx_function* function) {
  for (size_t k = 0; k < function->input_count; ++k) {
    stow_value value = stowi_onnx_lower_operand(l, k);
    stowi_import_bound bound = value == STOW_VALUE_NONE ? STOWI_IMPORT_ABSENT : STOWI_IMPORT_VALUE;
    STOW_TRY(stowi_import_bind(l->imp, function->inputs[k], value, bound));
  }
  return STOW_OK;
}

static stow_status import_function(stowi_onnx_lowering* l, const stowi_onnx_function* function) {
  STOW_TRY(bind_inputs(l, function));
  STOW_TRY(stowi_onnx_import_nodes(l->onnx, function->nodes, function->node_count));
  for (size_t k = 0; k < l->result_count; ++k) {
    const stowi_import_binding* binding = stowi_import_resolve(l->imp, function->outputs[k]);
    if (binding == NULL ||
        (binding->bound == STOWI_IMPORT_ABSENT && stowi_onnx_lower_wants(l, k))) {
      return stowi_fail(l->imp->diag, STOW_ERR_SYNTAX,
                        "the function's output \"%.*s\" is not produced by any node",
                        STOWI_STR_ARG(function->outputs[k]));
    }
    stowi_onnx_lower_set_result(l, k, binding->value);
  }
  return STOW_OK;
}

// Results get the names of the call where the graph's outputs must not lose theirs.
static stow_status name_results(stowi_onnx_lowering* l) {
  for (size_t k = 0; k < l->result_count; ++k) {
    stow_value value = stowi_onnx_lower_result(l, k);
    if (value != STOW_VALUE_NONE) {
      STOW_TRY(stowi_onnx_lower_alias(l, k, value));
    }
  }
  return STOW_OK;
}

stow_status stowi_onnx_inline(stowi_onnx_lowering* l, const stowi_onnx_function* function) {
  stowi_import_importer* imp = l->imp;
  STOW_TRY(check_call(l, function));
  stowi_onnx_inlining inlining = {l->onnx->inlining, function, l->node};
  for (size_t k = 0; k < l->result_count; ++k) {
    STOW_TRY(stowi_onnx_lower_lend_shape(l, k, function->outputs[k], false));
  }
  stowi_import_scope scope = stowi_import_enter(imp, true);
  l->onnx->inlining = &inlining;
  ++imp->depth;
  stow_status status = import_function(l, function);
  --imp->depth;
  l->onnx->inlining = inlining.outer;
  stowi_import_leave(imp, scope);
  for (size_t k = 0; k < l->result_count; ++k) {
    stowi_import_return_shape(l->imp, function->outputs[k]);
  }
  return status == STOW_OK ? name_results(l) : status;
}
