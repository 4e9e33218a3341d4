// Weights and constants in the graph. Their bytes stay where the provider has them; a weight whose
// bytes are not at hand has a type and perhaps a place in a file, which is enough for a plan.
#include "graph/api.h"
#include "import/importer.h"

// What shapes may depend on is small; see STOW_IMPORT_READ_WEIGHTS.
#define MAX_READ_BYTES (UINT64_C(1) << 16)

bool stowi_import_reads(const stowi_import_importer* imp, uint64_t size) {
  bool reads_all = imp->request != NULL && (imp->request->flags & STOW_IMPORT_READ_WEIGHTS) != 0;
  return reads_all || size <= MAX_READ_BYTES;
}

stow_status stowi_import_note_weight(stowi_import_importer* imp, stow_str text) {
  uint32_t id;
  STOW_TRY(stowi_import_name_of(imp, text, &id));
  imp->names.data[id].is_weight = true;
  return STOW_OK;
}

void stowi_import_note_use(stowi_import_importer* imp, stow_str text) {
  uint32_t id = text.size == 0 ? STOWI_IMPORT_NONE : stowi_import_name_find(imp, text);
  if (id != STOWI_IMPORT_NONE) {
    imp->names.data[id].is_used = true;
  }
}

static stow_str without_folder(stow_str path) {
  for (size_t i = path.size; i > 0; --i) {
    if (path.data[i - 1] == '/') {
      return (stow_str){path.data + i, path.size - i};
    }
  }
  return path;
}

stow_status stowi_import_constant(stowi_import_importer* imp, stow_op op, stow_str name,
                                  const stow_type* type, const stowi_import_payload* data,
                                  stow_value* out_value) {
  stow_str fresh;
  STOW_TRY(stowi_import_fresh_name(imp, name, &fresh));
  stow_call* call = stow_graph_begin(imp->graph, op);
  stow_call_name(call, 0, fresh);
  stow_call_result_type(call, type);
  stow_str source = without_folder(data->source);
  if (source.size != 0 && data->at <= INT64_MAX) {
    stow_call_attr_string(call, "source", source);
    stow_call_attr_int(call, "at", (int64_t)data->at);
    stow_call_attr_int(call, "bytes", (int64_t)data->size);
  }
  if (data->bytes != NULL) {
    stow_call_data(call, data->bytes, data->size, false);
  } else if (data->is_unread) {
    stowi_graph_call_unread(call, data->size);
  }
  stow_node node;
  STOW_TRY(stow_call_finish(call, imp->diag, &node));
  *out_value = stow_graph_first_result(imp->graph, node);
  return STOW_OK;
}

stow_status stowi_import_asked_constant(stowi_import_importer* imp, stow_op op,
                                        const stowi_import_asked_value* value, stow_str name,
                                        const stow_type* type, stow_value* out_value) {
  void* bytes = NULL;
  stowi_import_payload data = {0};
  STOW_TRY(stowi_import_asked_bytes(imp, value, type, &bytes, &data.size));
  data.bytes = bytes;
  return stowi_import_constant(imp, op, name, type, &data, out_value);
}

// Weights of one file mostly follow each other.
stow_status stowi_import_report_missing(stowi_import_importer* imp, stow_str file,
                                        stow_str weight) {
  if (stow_str_equal(imp->missing, file)) {
    return STOW_OK;
  }
  imp->missing = file;
  return stowi_import_add_issue(imp, STOW_IMPORT_NO_DATA, NULL, weight, "%s", imp->diag->message);
}
