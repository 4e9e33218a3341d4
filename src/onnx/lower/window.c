// Lowering convolutions and pools. All versions of an op mean the same; newer ones only have more
// attributes. Files give pads beside an auto_pad, or beside an output_shape, that makes executors
// ignore them: they are dropped here, since the core refuses what contradicts itself.
#include "base/diag.h"
#include "onnx/lower/rows.h"

#define MAX_MAPS 16

// ---------------------------------------------------------------------------------------------
// Attributes

#define PADS_STRIDES \
  {"pads", NULL, STOWI_ONNX_MAP_INTS}, { "strides", NULL, STOWI_ONNX_MAP_INTS }
#define WINDOW                                                                                     \
  PADS_STRIDES, {"dilations", NULL, STOWI_ONNX_MAP_INTS}, {"auto_pad", NULL, STOWI_ONNX_MAP_WORD}, \
  {                                                                                                \
    "kernel_shape", "kernel", STOWI_ONNX_MAP_INTS                                                  \
  }
#define GROUP \
  { "group", NULL, STOWI_ONNX_MAP_INT }
#define CHANNELS_LAST \
  { "channels_last", NULL, STOWI_ONNX_MAP_BOOL }
#define AVERAGE \
  {"ceil_mode", NULL, STOWI_ONNX_MAP_BOOL}, { "count_include_pad", NULL, STOWI_ONNX_MAP_BOOL }

static const stowi_onnx_attr_map conv_maps[] = {WINDOW, GROUP};
static const stowi_onnx_attr_map qlinear_conv_maps[] = {WINDOW, GROUP, CHANNELS_LAST};
static const stowi_onnx_attr_map deform_conv_maps[] = {
    WINDOW, GROUP, {"offset_group", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map fused_conv_maps[] = {
    WINDOW,
    GROUP,
    {"activation", NULL, STOWI_ONNX_MAP_STRING},
    {"activation_params", NULL, STOWI_ONNX_MAP_FLOATS}};
static const stowi_onnx_attr_map conv_transpose_maps[] = {
    WINDOW,
    GROUP,
    {"output_padding", NULL, STOWI_ONNX_MAP_INTS},
    {"output_shape", NULL, STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map average_maps[] = {WINDOW, AVERAGE};
static const stowi_onnx_attr_map max_maps[] = {
    WINDOW,
    {"ceil_mode", NULL, STOWI_ONNX_MAP_BOOL},
    {"storage_order", "column_major", STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map lp_maps_1[] = {WINDOW, {"p", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map lp_maps_2[] = {
    WINDOW, {"ceil_mode", NULL, STOWI_ONNX_MAP_BOOL}, {"p", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map qlinear_pool_maps[] = {WINDOW, AVERAGE, CHANNELS_LAST};
static const stowi_onnx_attr_map unpool_maps[] = {PADS_STRIDES,
                                                  {"kernel_shape", "kernel", STOWI_ONNX_MAP_INTS}};

// ---------------------------------------------------------------------------------------------
// Functions

static stow_status check_known(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  const stowi_onnx_node* node = l->node;
  for (size_t i = 0; i < node->attr_count; ++i) {
    bool is_known = false;
    for (size_t k = 0; k < row->attr_count && !is_known; ++k) {
      is_known = stow_str_equal(node->attrs[i].name, stow_str_of(row->attrs[k].onnx));
    }
    if (!is_known) {
      return stowi_onnx_lower_unsupported(l, "attribute \"%.*s\" is not known",
                                          STOWI_STR_ARG(node->attrs[i].name));
    }
  }
  return STOW_OK;
}

// Whether something else than `pads` says what the padding is.
static bool pads_itself(const stowi_onnx_lowering* l) {
  stow_str auto_pad = stowi_onnx_lower_string(l, "auto_pad", "NOTSET");
  size_t count;
  return !stow_str_equal(auto_pad, stow_str_of("NOTSET")) ||
         stowi_onnx_lower_ints(l, "output_shape", &count) != NULL;
}

// The row's core node with all operands and the mapped attributes, to be finished.
static stow_status begin_window(stowi_onnx_lowering* l, stow_call** out_call) {
  const stowi_onnx_lower_row* row = l->row;
  STOW_TRY(check_known(l));
  stowi_onnx_attr_map maps[MAX_MAPS];
  size_t count = 0;
  for (size_t i = 0; i < row->attr_count && i < MAX_MAPS; ++i) {
    bool is_pads = stow_str_equal(stow_str_of(row->attrs[i].onnx), stow_str_of("pads"));
    if (!is_pads || !pads_itself(l)) {
      maps[count++] = row->attrs[i];
    }
  }
  *out_call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, *out_call, 0);
  return stowi_onnx_lower_add_attrs(l, *out_call, maps, count);
}

static stow_status finish_window(stowi_onnx_lowering* l, stow_call* call) {
  size_t count = l->result_count;
  return stowi_onnx_lower_finish_results(l, call, 0, count == 0 ? 1 : count);
}

static stow_status lower_window(stowi_onnx_lowering* l) {
  stow_call* call;
  STOW_TRY(begin_window(l, &call));
  return finish_window(l, call);
}

// What a pool's name says.
static const struct {
  const char* name;
  const char* op;  // NULL: the core op has no choice
  bool is_global, is_channels_last;
} pools[] = {
    {"AveragePool", "avg", false, false},  {"MaxPool", "max", false, false},
    {"LpPool", "lp", false, false},        {"GlobalAveragePool", "avg", true, false},
    {"GlobalMaxPool", "max", true, false}, {"GlobalLpPool", "lp", true, false},
    {"NhwcMaxPool", "max", false, true},   {"QLinearGlobalAveragePool", NULL, true, false},
};

static stow_status lower_pool(stowi_onnx_lowering* l) {
  stow_call* call;
  STOW_TRY(begin_window(l, &call));
  stow_str name = stow_str_of(l->row->name);
  for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); ++i) {
    if (!stow_str_equal(name, stow_str_of(pools[i].name))) {
      continue;
    }
    if (pools[i].op != NULL) {
      stow_call_attr_string(call, "op", stow_str_of(pools[i].op));
    }
    if (pools[i].is_global) {
      stow_call_attr_bool(call, "global", true);
    }
    if (pools[i].is_channels_last) {
      stow_call_attr_bool(call, "channels_last", true);
    }
  }
  return finish_window(l, call);
}

// ---------------------------------------------------------------------------------------------

// The first of |list|, from |first| on: pools without a window have the attributes after it.
#define MAPS_FROM(list, first) (list) + (first), sizeof(list) / sizeof((list)[0]) - (first)
#define WINDOW_MAPS 5

static const stowi_onnx_lower_row rows[] = {
    {"", "Conv", 1, STOW_OP_CONV, LIST(conv_maps), lower_window},
    {"", "ConvTranspose", 1, STOW_OP_CONV_TRANSPOSE, LIST(conv_transpose_maps), lower_window},
    {"", "ConvInteger", 10, STOW_OP_CONV_INTEGER, LIST(conv_maps), lower_window},
    {"", "QLinearConv", 10, STOW_OP_QLINEAR_CONV, LIST(conv_maps), lower_window},
    {"", "DeformConv", 19, STOW_OP_DEFORM_CONV, LIST(deform_conv_maps), lower_window},
    {"", "AveragePool", 1, STOW_OP_POOL, LIST(average_maps), lower_pool},
    {"", "MaxPool", 1, STOW_OP_POOL, LIST(max_maps), lower_pool},
    {"", "LpPool", 1, STOW_OP_POOL, LIST(lp_maps_1), lower_pool},
    {"", "LpPool", 2, STOW_OP_POOL, LIST(lp_maps_2), lower_pool},
    {"", "GlobalAveragePool", 1, STOW_OP_POOL, NULL, 0, lower_pool},
    {"", "GlobalMaxPool", 1, STOW_OP_POOL, NULL, 0, lower_pool},
    {"", "GlobalLpPool", 1, STOW_OP_POOL, MAPS_FROM(lp_maps_1, WINDOW_MAPS), lower_pool},
    {"", "GlobalLpPool", 2, STOW_OP_POOL, MAPS_FROM(lp_maps_2, WINDOW_MAPS + 1), lower_pool},
    {"", "MaxUnpool", 9, STOW_OP_MAX_UNPOOL, LIST(unpool_maps), NULL},
    {MICROSOFT, "QLinearConv", 1, STOW_OP_QLINEAR_CONV, LIST(qlinear_conv_maps), lower_window},
    {MICROSOFT, "FusedConv", 1, STOW_OP_FUSED_CONV, LIST(fused_conv_maps), lower_window},
    {MICROSOFT, "NhwcMaxPool", 1, STOW_OP_POOL, LIST(max_maps), lower_pool},
    {MICROSOFT, "QLinearAveragePool", 1, STOW_OP_QLINEAR_POOL, LIST(qlinear_pool_maps), lower_pool},
    {MICROSOFT, "QLinearGlobalAveragePool", 1, STOW_OP_QLINEAR_POOL,
     MAPS_FROM(qlinear_pool_maps, WINDOW_MAPS + 2), lower_pool},
};

const stowi_onnx_lower_table stowi_onnx_lower_window_table = {LIST(rows)};
