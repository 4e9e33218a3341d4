// ONNX as a provider of models, and what it adds to an import: rows of ops, functions, and a second
// try where an If turns out to have one branch that fits the shapes (lower/control.c).
#include "onnx/import/importer.h"
#include "onnx/reader/messages.h"

#define MAX_CHOICES 32  // Ifs of which only one branch fits

// ---------------------------------------------------------------------------------------------
// Types

static const char* why_not(const stowi_onnx_value_info* info, bool has_dtype) {
  static const char* const reasons[] = {
      [STOWI_ONNX_INFO_NONE] = "no type is declared",
      [STOWI_ONNX_INFO_TENSOR] = NULL,
      [STOWI_ONNX_INFO_SPARSE] = "sparse inputs are not supported",
      [STOWI_ONNX_INFO_SEQUENCE] = "sequences are not supported",
      [STOWI_ONNX_INFO_MAP] = "maps are not supported",
      [STOWI_ONNX_INFO_OPTIONAL] = "optionals are not supported",
      [STOWI_ONNX_INFO_OTHER] = "this kind of type is not supported",
  };
  if (info->kind != STOWI_ONNX_INFO_TENSOR) {
    return reasons[info->kind];
  }
  if (!has_dtype) {
    return info->elem == STOWI_ONNX_ELEM_STRING ? "strings are not supported"
                                                : "unknown element type";
  }
  return info->has_shape && info->rank > STOW_MAX_RANK ? "too many dims" : NULL;
}

stowi_import_info stowi_onnx_info(const stowi_onnx_value_info* info) {
  bool is_tensor = info->kind == STOWI_ONNX_INFO_TENSOR;
  stowi_import_info out = {.name = info->name,
                           .dtype = STOW_F32,
                           .has_shape = is_tensor && info->has_shape && info->rank <= STOW_MAX_RANK,
                           .rank = (uint32_t)info->rank,
                           .dims = info->dims,
                           .record = info};
  out.has_dtype = is_tensor && stowi_onnx_elem_dtype(info->elem, &out.dtype);
  out.why_not = why_not(info, out.has_dtype);
  return out;
}

static stow_status print_type(const stowi_import_info* info, stow_writer writer) {
  return stowi_onnx_print_type((const stowi_onnx_value_info*)info->record, writer);
}

static stowi_import_place place_of(const void* node) {
  const stowi_onnx_node* n = (const stowi_onnx_node*)node;
  return (stowi_import_place){n->domain, n->op, stowi_onnx_node_label(n)};
}

// ---------------------------------------------------------------------------------------------
// Imports

static stow_status add_weights(stowi_import_importer* imp) {
  stowi_onnx_importer* onnx = (stowi_onnx_importer*)imp;
  return stowi_onnx_import_initializers(onnx, &onnx->model->proto.graph, STOW_OP_PARAM);
}

static stow_status add_nodes(stowi_import_importer* imp) {
  stowi_onnx_importer* onnx = (stowi_onnx_importer*)imp;
  return stowi_onnx_import_graph(onnx, &onnx->model->proto.graph);
}

static stow_status import_once(stow_model* model, const stow_import_request* request,
                               stow_allocator allocator, stowi_onnx_choices* choices,
                               stow_diag* diag, stow_import** out_import) {
  stowi_onnx_importer onnx = {
      .imp = {.model = model, .request = request, .allocator = allocator, .diag = diag},
      .model = (stowi_onnx_model*)model,
      .choices = choices};
  stow_status status = stowi_onnx_lower_index_build(&onnx.rows, allocator);
  status = status == STOW_OK ? stowi_onnx_index_functions(&onnx) : stowi_fail_memory(diag);
  status = status == STOW_OK ? stowi_import_run(&onnx.imp, out_import) : status;
  STOWI_VEC_FREE(allocator, &onnx.stack);
  stowi_index_free(&onnx.functions, allocator);
  stowi_onnx_lower_index_free(&onnx.rows, allocator);
  return status;
}

// Takes the branch that a failed import found, and tries again.
static stow_status import_model(stow_model* model, const stow_import_request* request,
                                stow_allocator allocator, stow_diag* diag,
                                stow_import** out_import) {
  stowi_onnx_choices choices = {0};
  stow_status status = import_once(model, request, allocator, &choices, diag, out_import);
  while (status == STOW_ERR_TYPE && choices.has_next && choices.list.count < MAX_CHOICES) {
    if (STOWI_VEC_RESERVE(allocator, &choices.list, 1) != STOW_OK) {
      status = stowi_fail_memory(diag);
      break;
    }
    choices.list.data[choices.list.count++] = choices.next;
    choices.has_next = false;
    status = import_once(model, request, allocator, &choices, diag, out_import);
  }
  STOWI_VEC_FREE(allocator, &choices.list);
  return status;
}

const stowi_import_provider stowi_onnx_provider = {.close = stowi_onnx_close,
                                                   .give_back = stowi_onnx_give_back,
                                                   .print_type = print_type,
                                                   .count_weights = stowi_onnx_count_weights,
                                                   .place_of = place_of,
                                                   .import = import_model,
                                                   .note_names = stowi_onnx_note_names,
                                                   .add_weights = add_weights,
                                                   .add_nodes = add_nodes};
