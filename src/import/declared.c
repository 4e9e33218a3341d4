// Types that the file declares (value_info, outputs) against those that are inferred. Exporters
// often write types that hold for one binding only, so a difference is an issue, not an error.
#include "import/importer.h"

#define MAX_DECLARED_ISSUES 100

bool stowi_import_declared_type(stowi_import_importer* imp, const stowi_import_info* info,
                                stow_type* out_type) {
  *out_type = (stow_type){.dtype = STOW_F32};
  if (info == NULL || !info->has_dtype || !info->has_shape) {
    return false;
  }
  out_type->dtype = info->dtype;
  out_type->rank = info->rank;
  for (size_t i = 0; i < info->rank; ++i) {
    const stowi_import_dim* dim = &info->dims[i];
    const stowi_import_symbol* symbol =
        dim->name.size != 0 ? stowi_import_symbol_find(imp, dim->name) : NULL;
    out_type->dims[i] = dim->number >= 0                       ? dim->number
                        : symbol != NULL && symbol->value >= 0 ? symbol->value
                                                               : STOW_DIM_INVALID;
  }
  return true;
}

bool stowi_import_types_differ(const stow_type* a, const stow_type* b) {
  bool differ = a->dtype != b->dtype || a->rank != b->rank;
  for (uint32_t i = 0; !differ && i < a->rank; ++i) {
    bool are_numbers = stow_dim_is_const(a->dims[i]) && stow_dim_is_const(b->dims[i]);
    differ = are_numbers && a->dims[i] != b->dims[i];
  }
  return differ;
}

stow_status stowi_import_compare_declared(stowi_import_importer* imp, const void* node) {
  const stowi_import_binding* bound = &imp->bindings.data[imp->bindings.count - 1];
  stow_type declared;
  const stow_type* inferred = stow_graph_type(imp->graph, bound->value);
  if (!stowi_import_declared_type(imp, stowi_import_declaration_at(imp, bound->name), &declared) ||
      !stowi_import_types_differ(&declared, inferred) ||
      imp->declared_issues++ >= MAX_DECLARED_ISSUES) {
    return STOW_OK;
  }
  stow_str text = imp->names.data[bound->name].text;
  stowi_import_type_text has = stowi_import_type_text_of(imp->graph, inferred);
  stowi_import_type_text says = stowi_import_type_text_of(imp->graph, &declared);
  return stowi_import_add_issue(imp, STOW_IMPORT_DECLARED_OTHER, node, text,
                                "the file declares %s, but it is %s", says.text, has.text);
}

stow_status stowi_import_report_declared(stowi_import_importer* imp) {
  if (imp->declared_issues <= MAX_DECLARED_ISSUES) {
    return STOW_OK;
  }
  return stowi_import_add_issue(imp, STOW_IMPORT_DECLARED_OTHER, NULL, stow_str_of(""),
                                "%zu more tensors are declared with other types",
                                imp->declared_issues - MAX_DECLARED_ISSUES);
}
