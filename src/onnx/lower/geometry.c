// Lowering what samples, selects or rearranges positions. Resize has changed most: before opset 11
// scales were the second operand, or attributes of Upsample, and positions were scaled without an
// offset.
#include "base/diag.h"
#include "onnx/lower/rows.h"

// ---------------------------------------------------------------------------------------------
// Attributes

#define ALIGN_CORNERS \
  { "align_corners", NULL, STOWI_ONNX_MAP_BOOL }

static const stowi_onnx_attr_map resize_maps[] = {
    {"mode", NULL, STOWI_ONNX_MAP_STRING},
    {"coordinate_transformation_mode", "coordinates", STOWI_ONNX_MAP_STRING},
    {"nearest_mode", NULL, STOWI_ONNX_MAP_STRING},
    {"axes", NULL, STOWI_ONNX_MAP_INTS},
    {"keep_aspect_ratio_policy", NULL, STOWI_ONNX_MAP_STRING},
    {"antialias", NULL, STOWI_ONNX_MAP_BOOL},
    {"cubic_coeff_a", NULL, STOWI_ONNX_MAP_FLOAT},
    {"exclude_outside", NULL, STOWI_ONNX_MAP_BOOL},
    {"extrapolation_value", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map grid_sample_maps[] = {
    ALIGN_CORNERS,
    {"mode", NULL, STOWI_ONNX_MAP_IGNORE},
    {"padding_mode", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map affine_grid_maps[] = {ALIGN_CORNERS};
static const stowi_onnx_attr_map col2im_maps[] = {{"dilations", NULL, STOWI_ONNX_MAP_INTS},
                                                  {"pads", NULL, STOWI_ONNX_MAP_INTS},
                                                  {"strides", NULL, STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map max_roi_pool_maps[] = {
    {"pooled_shape", NULL, STOWI_ONNX_MAP_INTS}, {"spatial_scale", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map roi_align_maps[] = {
    {"mode", NULL, STOWI_ONNX_MAP_STRING},
    {"output_height", NULL, STOWI_ONNX_MAP_INT},
    {"output_width", NULL, STOWI_ONNX_MAP_INT},
    {"sampling_ratio", NULL, STOWI_ONNX_MAP_INT},
    {"spatial_scale", NULL, STOWI_ONNX_MAP_FLOAT},
    {"coordinate_transformation_mode", "coordinates", STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map nms_maps[] = {{"center_point_box", NULL, STOWI_ONNX_MAP_BOOL}};

// ---------------------------------------------------------------------------------------------
// Functions

// The attribute `mode` by its name in the newest opset.
static void add_mode(const stowi_onnx_lowering* l, stow_call* call, const char* fallback) {
  stow_str mode = stowi_onnx_lower_string(l, "mode", fallback);
  if (stow_str_equal(mode, stow_str_of("bilinear"))) {
    mode = stow_str_of("linear");
  } else if (stow_str_equal(mode, stow_str_of("bicubic"))) {
    mode = stow_str_of("cubic");
  }
  stow_call_attr_string(call, "mode", mode);
}

// Operand 0 resized by |scales| as it was before opset 11. How nearest elements were found was not
// written down; this is what executors do.
static stow_status resize_by(stowi_onnx_lowering* l, stow_value scales) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_RESIZE);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  stow_call_operand(call, STOW_VALUE_NONE);
  stow_call_operand(call, scales);
  add_mode(l, call, "nearest");
  stow_call_attr_string(call, "coordinates", stow_str_of("asymmetric"));
  stow_call_attr_string(call, "nearest_mode", stow_str_of("ceil_if_smaller"));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// Upsample 9 and Resize 10: scales are an operand.
static stow_status lower_scales_operand(stowi_onnx_lowering* l) {
  return resize_by(l, stowi_onnx_lower_operand(l, 1));
}

// Upsample 7: scales are a list.
static stow_status lower_scales_list(stowi_onnx_lowering* l) {
  const stowi_onnx_attr* scales = stowi_onnx_lower_attr(l, "scales");
  if (scales == NULL || scales->type != STOWI_ONNX_ATTR_FLOATS) {
    return stowi_onnx_lower_unsupported(l, "attribute \"scales\" must be a list of floats");
  }
  stow_value constant;
  STOW_TRY(stowi_onnx_lower_constant_f32(l, scales->floats, scales->count, false, &constant));
  return resize_by(l, constant);
}

// Upsample 1: scales of the last two of four dims.
static stow_status lower_scales_pair(stowi_onnx_lowering* l) {
  float scales[4] = {1, 1, (float)stowi_onnx_lower_float(l, "height_scale", 1),
                     (float)stowi_onnx_lower_float(l, "width_scale", 1)};
  stow_value constant;
  STOW_TRY(stowi_onnx_lower_constant_f32(l, scales, 4, false, &constant));
  return resize_by(l, constant);
}

static stow_status lower_grid_sample(stowi_onnx_lowering* l) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_GRID_SAMPLE);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, grid_sample_maps,
                                      sizeof(grid_sample_maps) / sizeof(grid_sample_maps[0])));
  add_mode(l, call, "linear");
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// Before opset 16 positions were not moved by half a pixel.
static stow_status lower_roi_align_10(stowi_onnx_lowering* l) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_ROI_ALIGN);
  stowi_onnx_lower_add_operands(l, call, 0);
  const stowi_onnx_lower_row* row = l->row;
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  stow_call_attr_string(call, "coordinates", stow_str_of("output_half_pixel"));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// ---------------------------------------------------------------------------------------------

static const stowi_onnx_lower_row rows[] = {
    {"", "Upsample", 1, STOW_OP_RESIZE, NULL, 0, lower_scales_pair},
    {"", "Upsample", 7, STOW_OP_RESIZE, NULL, 0, lower_scales_list},
    {"", "Upsample", 9, STOW_OP_RESIZE, NULL, 0, lower_scales_operand},
    {"", "Resize", 10, STOW_OP_RESIZE, NULL, 0, lower_scales_operand},
    {"", "Resize", 11, STOW_OP_RESIZE, LIST(resize_maps), NULL},
    {"", "GridSample", 16, STOW_OP_GRID_SAMPLE, LIST(grid_sample_maps), lower_grid_sample},
    {MICROSOFT, "GridSample", 1, STOW_OP_GRID_SAMPLE, LIST(grid_sample_maps), lower_grid_sample},
    {"", "AffineGrid", 20, STOW_OP_AFFINE_GRID, LIST(affine_grid_maps), NULL},
    {"", "Col2Im", 18, STOW_OP_COL2IM, LIST(col2im_maps), NULL},
    {"", "MaxRoiPool", 1, STOW_OP_MAX_ROI_POOL, LIST(max_roi_pool_maps), NULL},
    {"", "RoiAlign", 10, STOW_OP_ROI_ALIGN, (roi_align_maps), 5, lower_roi_align_10},
    {"", "RoiAlign", 16, STOW_OP_ROI_ALIGN, LIST(roi_align_maps), NULL},
    {"", "NonMaxSuppression", 10, STOW_OP_NON_MAX_SUPPRESSION, LIST(nms_maps), NULL},
};

const stowi_onnx_lower_table stowi_onnx_lower_geometry_table = {LIST(rows)};
