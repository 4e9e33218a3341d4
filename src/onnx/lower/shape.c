// Lowering of ops of layout and shape arithmetic. Most keep their operands and attributes; older
// versions have as attributes what newer ones have as operands, of which core ops take either.
#include "onnx/import/importer.h"
#include "onnx/lower/rows.h"

static const stowi_onnx_attr_map reshape_map[] = {{"allowzero", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map slice_map[] = {{"starts", NULL, STOWI_ONNX_MAP_INTS},
                                                {"ends", NULL, STOWI_ONNX_MAP_INTS},
                                                {"axes", NULL, STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map axes_map[] = {{"axes", NULL, STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map axis_map[] = {{"axis", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map shape_map[] = {{"start", NULL, STOWI_ONNX_MAP_INT},
                                                {"end", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map cast_map[] = {{"to", NULL, STOWI_ONNX_MAP_DTYPE},
                                               {"saturate", NULL, STOWI_ONNX_MAP_BOOL},
                                               {"round_mode", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map cast_like_map[] = {{"saturate", NULL, STOWI_ONNX_MAP_BOOL},
                                                    {"round_mode", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map bitcast_map[] = {{"to", NULL, STOWI_ONNX_MAP_DTYPE}};
static const stowi_onnx_attr_map split_map[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                                {"split", "sizes", STOWI_ONNX_MAP_INTS},
                                                {"num_outputs", "parts", STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map transpose_map[] = {{"perm", NULL, STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map pad_map[] = {{"mode", NULL, STOWI_ONNX_MAP_STRING},
                                              {"pads", NULL, STOWI_ONNX_MAP_INTS},
                                              {"paddings", "pads", STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map depth_map[] = {{"blocksize", NULL, STOWI_ONNX_MAP_INT},
                                                {"mode", NULL, STOWI_ONNX_MAP_WORD}};
static const stowi_onnx_attr_map reverse_sequence_map[] = {{"batch_axis", NULL, STOWI_ONNX_MAP_INT},
                                                           {"time_axis", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map eye_like_map[] = {{"dtype", NULL, STOWI_ONNX_MAP_DTYPE},
                                                   {"k", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map range_map[] = {{"stash_type", NULL, STOWI_ONNX_MAP_IGNORE}};
static const stowi_onnx_attr_map trilu_map[] = {{"upper", NULL, STOWI_ONNX_MAP_BOOL}};

static stow_status lower_identity(stowi_onnx_lowering* l) {
  stow_value value = stowi_onnx_lower_operand(l, 0);
  return value == STOW_VALUE_NONE ? stowi_fail(l->imp->diag, STOW_ERR_TYPE, "input 0 is absent")
                                  : stowi_onnx_lower_alias(l, 0, value);
}

// Before opset 5 the shape is an attribute.
static stow_status lower_reshape_1(stowi_onnx_lowering* l) {
  size_t count;
  const int64_t* dims = stowi_onnx_lower_ints(l, "shape", &count);
  stow_value shape;
  STOW_TRY(stowi_onnx_lower_constant_i64(l, dims, count, false, &shape));
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_RESHAPE);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  stow_call_operand(call, shape);
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// Before opset 4 the axis is 1 where it is not given.
static stow_status lower_concat_1(stowi_onnx_lowering* l) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_CONCAT);
  stowi_onnx_lower_add_operands(l, call, 0);
  stow_call_attr_int(call, "axis", stowi_onnx_lower_int(l, "axis", 1));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_tile_1(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "Tile of opsets before 6 is not supported");
}

static stow_status lower_constant_of_shape(stowi_onnx_lowering* l) {
  const stowi_onnx_attr* attr = stowi_onnx_lower_attr(l, "value");
  stow_value value = STOW_VALUE_NONE;
  if (attr != NULL && attr->tensor != NULL) {
    stow_str name;
    STOW_TRY(stowi_import_fresh_name_with(l->imp, stowi_onnx_node_label(l->node), ".value", &name));
    STOW_TRY(stowi_onnx_import_tensor(l->onnx, attr->tensor, STOW_OP_CONSTANT, name, &value));
  }
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_FILL);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  if (value != STOW_VALUE_NONE) {
    stow_call_operand(call, value);
  }
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// Since opset 27 a file may say in what precision numbers of 16 bits are computed: only in f32,
// which is the default, and what the core's op does.
static stow_status lower_range(stowi_onnx_lowering* l) {
  const stow_type* type = stowi_onnx_lower_type(l, 0);
  bool is_short = type != NULL && (type->dtype == STOW_F16 || type->dtype == STOW_BF16);
  int64_t elem = stowi_onnx_lower_int(l, "stash_type", 0);
  stow_dtype stash = STOW_F32;
  bool is_known = elem == 0 || (elem > 0 && elem <= STOWI_ONNX_ELEM_LAST &&
                                stowi_onnx_elem_dtype((int32_t)elem, &stash));
  if (is_short && (!is_known || stash != STOW_F32)) {
    return stowi_onnx_lower_unsupported(l, "16-bit numbers are computed in f32 only");
  }
  return stowi_onnx_lower_plain(l, STOW_OP_RANGE, range_map,
                                sizeof(range_map) / sizeof(range_map[0]));
}

// ---------------------------------------------------------------------------------------------
// Pad: the core has the value before the pads

static bool is_constant_pad(const stowi_onnx_lowering* l) {
  return stow_str_equal(stowi_onnx_lower_string(l, "mode", "constant"), stow_str_of("constant"));
}

static stow_status finish_pad(stowi_onnx_lowering* l, stow_value value) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_PAD);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  stow_call_operand(call, value);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 1));
  stow_call_operand(call, stowi_onnx_lower_operand(l, 3));
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, pad_map, sizeof(pad_map) / sizeof(pad_map[0])));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// Before opset 11 pads (in opset 1 under another name) and value are attributes; the value is of
// x's type.
static stow_status lower_pad_2(stowi_onnx_lowering* l) {
  float number = (float)stowi_onnx_lower_float(l, "value", 0);
  const stow_type* type = stowi_onnx_lower_type(l, 0);
  stow_value value = STOW_VALUE_NONE;
  if (number != 0 && type != NULL && is_constant_pad(l)) {
    stow_dtype dtype = type->dtype;
    STOW_TRY(stowi_onnx_lower_constant_f32(l, &number, 1, true, &value));
    if (dtype != STOW_F32) {
      stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_CAST);
      stow_call_operand(call, value);
      stow_call_attr_string(call, "to", stow_str_of(stow_dtype_name(dtype)));
      STOW_TRY(stowi_onnx_lower_finish(l, call, &value));
    }
  }
  return finish_pad(l, value);
}

// Files have the value as a list of one, too.
static stow_status lower_pad_11(stowi_onnx_lowering* l) {
  const stow_type* type = stowi_onnx_lower_type(l, 2);
  stow_value value = is_constant_pad(l) ? stowi_onnx_lower_operand(l, 2) : STOW_VALUE_NONE;
  if (value != STOW_VALUE_NONE && type != NULL && type->rank != 0) {
    stow_type scalar = stow_type_make(type->dtype, 0, NULL);
    stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_RESHAPE);
    stow_call_operand(call, value);
    stow_call_result_type(call, &scalar);
    STOW_TRY(stowi_onnx_lower_finish(l, call, &value));
  }
  return finish_pad(l, value);
}

// ---------------------------------------------------------------------------------------------

static const stowi_onnx_lower_row rows[] = {
    ONLY_BY("Reshape", 1, RESHAPE, lower_reshape_1),
    WITH("Reshape", 5, RESHAPE, reshape_map),
    PLAIN("Expand", 8, EXPAND),
    WITH("Slice", 1, SLICE, slice_map),
    WITH("Squeeze", 1, SQUEEZE, axes_map),
    WITH("Unsqueeze", 1, UNSQUEEZE, axes_map),
    WITH("Flatten", 1, FLATTEN, axis_map),
    WITH("Shape", 1, SHAPE, shape_map),
    PLAIN("Size", 1, SIZE),
    BY("Range", 11, RANGE, range_map, lower_range),
    ONLY_BY("ConstantOfShape", 9, FILL, lower_constant_of_shape),
    ONLY_BY("Tile", 1, TILE, lower_tile_1),
    PLAIN("Tile", 6, TILE),
    WITH("Cast", 1, CAST, cast_map),
    WITH("CastLike", 15, CAST_LIKE, cast_like_map),
    WITH("BitCast", 1, BITCAST, bitcast_map),
    ONLY_BY("Identity", 1, RESHAPE, lower_identity),
    ONLY_BY("Pad", 1, PAD, lower_pad_2),
    ONLY_BY("Pad", 11, PAD, lower_pad_11),
    WITH("Split", 1, SPLIT, split_map),
    ONLY_BY("Concat", 1, CONCAT, lower_concat_1),
    WITH("Concat", 4, CONCAT, axis_map),
    WITH("Transpose", 1, TRANSPOSE, transpose_map),
    WITH("CenterCropPad", 18, CENTER_CROP_PAD, axes_map),
    WITH("DepthToSpace", 1, DEPTH_TO_SPACE, depth_map),
    WITH("SpaceToDepth", 1, SPACE_TO_DEPTH, depth_map),
    WITH("ReverseSequence", 10, REVERSE_SEQUENCE, reverse_sequence_map),
    WITH("EyeLike", 9, EYE_LIKE, eye_like_map),
    WITH("Trilu", 14, TRILU, trilu_map),
};

const stowi_onnx_lower_table stowi_onnx_lower_shape_table = {LIST(rows)};
