// Lowering the experimental ops that models of opsets before 10 may hold, and an op that ONNX
// Runtime writes into models of any opset.
#include "onnx/lower/rows.h"

static const stowi_onnx_attr_map scaled_attrs[] = {{"alpha", NULL, STOWI_ONNX_MAP_FLOAT},
                                                   {"beta", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map image_scaler_attrs[] = {{"scale", NULL, STOWI_ONNX_MAP_FLOAT},
                                                         {"bias", NULL, STOWI_ONNX_MAP_FLOATS}};
static const stowi_onnx_attr_map crop_attrs[] = {{"border", NULL, STOWI_ONNX_MAP_INTS},
                                                 {"scale", "size", STOWI_ONNX_MAP_INTS}};

static const stowi_onnx_attr_map norm_attrs[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                                 {"epsilon", NULL, STOWI_ONNX_MAP_FLOAT},
                                                 {"stash_type", "stash", STOWI_ONNX_MAP_DTYPE}};

static const stowi_onnx_lower_row rows[] = {
    {"", "Affine", 1, STOW_OP_AFFINE, LIST(scaled_attrs), NULL},
    {"", "ScaledTanh", 1, STOW_OP_SCALED_TANH, LIST(scaled_attrs), NULL},
    {"", "ParametricSoftplus", 1, STOW_OP_PARAMETRIC_SOFTPLUS, LIST(scaled_attrs), NULL},
    {"", "ImageScaler", 1, STOW_OP_SCALE_IMAGE, LIST(image_scaler_attrs), NULL},
    {"", "Crop", 1, STOW_OP_CROP, LIST(crop_attrs), NULL},
    {"", "LayerNormalization", 1, STOW_OP_LAYER_NORM, LIST(norm_attrs), NULL},
};

const stowi_onnx_lower_table stowi_onnx_lower_experimental_table = {LIST(rows)};
