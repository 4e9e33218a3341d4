// Unknown ops: kept as `custom`, with types from the request or the file, so that a plan
// can be made around them.
#include "onnx/import/importer.h"

// The type of result |k|: dims that were asked for, else as declared. False where neither gives
// all.
static bool type_of_result(stowi_onnx_lowering* l, size_t k, stow_type* out_type) {
  stowi_import_importer* imp = l->imp;
  stow_str text = l->node->outputs[k];
  const stowi_import_asked_shape* shape = stowi_onnx_lower_asked_shape(l, k, NULL);
  if (shape != NULL) {
    *out_type =
        stow_type_make(stowi_onnx_lower_guess_dtype(l, k), (uint32_t)shape->rank, shape->dims);
    return true;
  }
  const stowi_import_info* info = text.size == 0 ? NULL : stowi_import_declaration_of(imp, text);
  bool is_whole = stowi_import_declared_type(imp, info, out_type);
  for (uint32_t i = 0; is_whole && i < out_type->rank; ++i) {
    if (out_type->dims[i] == STOW_DIM_INVALID) {
      stow_str name = info->dims[i].name;
      // a symbol that an input has too, but that is not bound
      const stowi_import_symbol* symbol =
          name.size == 0 ? NULL : stowi_import_symbol_find(imp, name);
      is_whole = symbol != NULL && symbol->is_met;
      out_type->dims[i] =
          is_whole ? stow_dim_symbol(stow_graph_edit_dims(imp->graph), name) : STOW_DIM_INVALID;
    }
  }
  return is_whole;
}

// "DOMAIN.OP", or "onnx.OP"
static stow_status add_name(stowi_onnx_lowering* l, stow_call* call) {
  stow_string* name = &l->imp->text;
  stow_str domain = l->node->domain.size == 0 ? stow_str_of("onnx") : l->node->domain;
  name->size = 0;
  if (stow_string_append(name, domain.data, domain.size) != STOW_OK ||
      stow_string_append(name, ".", 1) != STOW_OK ||
      stow_string_append(name, l->node->op.data, l->node->op.size) != STOW_OK) {
    return stowi_import_memory(l->imp);
  }
  stow_call_attr_string(call, "name", (stow_str){name->data, name->size});
  return STOW_OK;
}

static void add_float_list(stow_call* call, const stowi_onnx_attr* attr, stow_attr* core) {
  double floats[64];
  if (attr->count > sizeof(floats) / sizeof(floats[0])) {
    return;
  }
  for (size_t i = 0; i < attr->count; ++i) {
    floats[i] = (double)attr->floats[i];
  }
  core->kind = STOW_ATTR_FLOATS;
  core->floats = floats;
  stow_call_attr(call, core);
}

// Numbers and strings, and short lists of them.
static void add_attr(stow_call* call, stow_str name, const stowi_onnx_attr* attr) {
  stow_attr core = {.name = name, .count = attr->count};
  switch (attr->type) {
    case STOWI_ONNX_ATTR_INT:
      core.kind = STOW_ATTR_INT;
      core.i = attr->i;
      break;
    case STOWI_ONNX_ATTR_FLOAT:
      core.kind = STOW_ATTR_FLOAT;
      core.f = (double)attr->f;
      break;
    case STOWI_ONNX_ATTR_STRING:
      core.kind = STOW_ATTR_STRING;
      core.s = attr->s;
      break;
    case STOWI_ONNX_ATTR_INTS:
      core.kind = STOW_ATTR_INTS;
      core.ints = attr->ints;
      break;
    case STOWI_ONNX_ATTR_STRINGS:
      core.kind = STOW_ATTR_STRINGS;
      core.strings = attr->strings;
      break;
    case STOWI_ONNX_ATTR_FLOATS: add_float_list(call, attr, &core); return;
    default: return;
  }
  stow_call_attr(call, &core);
}

static bool has_graphs(const stowi_onnx_node* node) {
  for (size_t i = 0; i < node->attr_count; ++i) {
    if (node->attrs[i].graph != NULL) {
      return true;
    }
  }
  return false;
}

// Why result |k| cannot be what the file declares; NULL where that is not the reason.
static const char* why_not(const stowi_onnx_lowering* l, size_t k) {
  const stowi_import_info* info = l->node->outputs[k].size == 0
                                      ? NULL
                                      : stowi_import_declaration_of(l->imp, l->node->outputs[k]);
  bool is_given =
      info != NULL && ((const stowi_onnx_value_info*)info->record)->kind != STOWI_ONNX_INFO_NONE;
  return is_given ? info->why_not : NULL;
}

stow_status stowi_onnx_lower_custom(stowi_onnx_lowering* l) {
  if (l->result_count == 0 || has_graphs(l->node)) {
    return stowi_onnx_lower_unsupported(l, "unknown op");
  }
  stow_type type;
  for (size_t k = 0; k < l->result_count; ++k) {
    if (!type_of_result(l, k, &type)) {
      const char* reason = why_not(l, k);
      if (reason != NULL) {
        return stowi_onnx_lower_unsupported(l, "%s", reason);
      }
      stow_str domain = l->node->domain;
      bool is_standard = domain.size == 0;
      return stowi_onnx_lower_unsupported(
          l, "unknown op%s%.*s%s, and no type is declared for result %zu",
          is_standard ? "" : " (domain ", STOWI_STR_ARG(domain), is_standard ? "" : ")", k);
    }
  }
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_CUSTOM);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(add_name(l, call));
  for (size_t i = 0; i < l->node->attr_count; ++i) {
    stow_str name = l->node->attrs[i].name;
    const stowi_onnx_attr* attr = stowi_onnx_lower_any_attr(l, name);
    bool is_ours = stow_str_equal(name, stow_str_of("name")) ||
                   stow_str_equal(name, stow_str_of("num_inputs"));
    if (attr != NULL && !is_ours) {
      add_attr(call, name, attr);
    }
  }
  for (size_t k = 0; k < l->result_count; ++k) {
    (void)type_of_result(l, k, &type);
    stow_call_result_type(call, &type);
  }
  STOW_TRY(stowi_onnx_lower_finish_declared(l, call, 0, l->result_count));
  return stowi_import_add_issue(l->imp, STOW_IMPORT_CUSTOM, l->node, l->node->outputs[0],
                                "unknown op; its types are as declared");
}
