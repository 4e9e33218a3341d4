// Lowering of ops that pick and place elements by index or by value.
#include "onnx/import/importer.h"
#include "onnx/lower/rows.h"

static const stowi_onnx_attr_map axis_map[] = {{"axis", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map gather_nd_map[] = {{"batch_dims", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map scatter_map[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                                  {"reduction", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map scatter_nd_map[] = {{"reduction", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map tensor_scatter_map[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                                         {"mode", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map unique_map[] = {{"sorted", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map cumulate_map[] = {{"exclusive", NULL, STOWI_ONNX_MAP_BOOL},
                                                   {"reverse", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map topk_map[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                               {"k", NULL, STOWI_ONNX_MAP_INT},
                                               {"largest", NULL, STOWI_ONNX_MAP_BOOL},
                                               {"sorted", NULL, STOWI_ONNX_MAP_BOOL}};

// An axis that may be left off, for the flat tensor, is a list in the core.
static stow_status lower_flat(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  const stowi_onnx_attr* axis = stowi_onnx_lower_attr(l, "axis");
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  if (axis != NULL && axis->type == STOWI_ONNX_ATTR_INT) {
    stow_call_attr_ints(call, "axes", &axis->i, 1);
  }
  size_t results = l->result_count;
  return stowi_onnx_lower_finish_results(l, call, 0, results == 0 ? 1 : results);
}

static const stowi_onnx_lower_row rows[] = {
    WITH("Gather", 1, GATHER, axis_map),
    WITH("GatherElements", 11, GATHER_ELEMENTS, axis_map),
    WITH("GatherND", 11, GATHER_ND, gather_nd_map),
    WITH("Scatter", 9, SCATTER_ELEMENTS, axis_map),
    WITH("ScatterElements", 11, SCATTER_ELEMENTS, scatter_map),
    WITH("ScatterND", 11, SCATTER_ND, scatter_nd_map),
    WITH("TensorScatter", 24, TENSOR_SCATTER, tensor_scatter_map),
    PLAIN("NonZero", 9, NONZERO),
    BY("Unique", 11, UNIQUE, unique_map, lower_flat),
    ONLY_BY("Compress", 9, COMPRESS, lower_flat),
    WITH("OneHot", 9, ONE_HOT, axis_map),
    WITH("CumSum", 11, CUMSUM, cumulate_map),
    WITH("CumProd", 1, CUMPROD, cumulate_map),
    WITH("TopK", 1, TOPK, topk_map),
    PLAIN("Where", 9, WHERE),
};

const stowi_onnx_lower_table stowi_onnx_lower_index_table = {LIST(rows)};
