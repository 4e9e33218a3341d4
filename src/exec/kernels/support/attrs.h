// Attributes that the library's kernels read, by number: a program finds out once which attribute
// of a step has which number, so that runs compare no names.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_ATTRS_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_ATTRS_H_

#include <stowage/kernel.h>

// Sorted by name.
// clang-format off
#define STOWI_KERNEL_ATTR_LIST(X) \
  X(ACTIVATION, activation) X(ACTIVATION_ALPHA, activation_alpha) \
  X(ACTIVATION_BETA, activation_beta) X(ACTIVATION_GAMMA, activation_gamma) \
  X(ACTIVATION_PARAMS, activation_params) X(ACTIVATION_TYPE, activation_type) \
  X(ACTIVATIONS, activations) X(AGGREGATE_FUNCTION, aggregate_function) \
  X(ALIGN_CORNERS, align_corners) X(ALPHA, alpha) X(ANTIALIAS, antialias) \
  X(APPROXIMATE, approximate) X(AUTO_PAD, auto_pad) X(AXES, axes) X(AXIS, axis) \
  X(BASE_VALUES, base_values) X(BATCH_AXIS, batch_axis) X(BATCH_DIMS, batch_dims) \
  X(BATCH_FIRST, batch_first) X(BETA, beta) X(BIAS, bias) X(BIDIRECTIONAL, bidirectional) \
  X(BITS, bits) X(BLOCK, block) X(BLOCK_SIZE, block_size) X(BLOCKSIZE, blocksize) \
  X(BORDER, border) X(CATEGORIES, categories) X(CAUSAL, causal) \
  X(CENTER_POINT_BOX, center_point_box) X(CHANNELS_LAST, channels_last) X(CLASS_IDS, class_ids) \
  X(CLASS_NODEIDS, class_nodeids) X(CLASS_TREEIDS, class_treeids) X(CLASS_WEIGHTS, class_weights) \
  X(CLASSLABELS_INT64S, classlabels_int64s) X(CLASSLABELS_INTS, classlabels_ints) X(CLIP, clip) \
  X(COEFFICIENTS, coefficients) X(COLUMN_MAJOR, column_major) X(COLUMNS, columns) \
  X(COORDINATES, coordinates) X(COUNT_INCLUDE_PAD, count_include_pad) \
  X(CUBIC_COEFF_A, cubic_coeff_a) X(DECAY_FACTOR, decay_factor) X(DEFAULT_FLOAT, default_float) \
  X(DEFAULT_INT64, default_int64) X(DEFAULT_TENSOR, default_tensor) \
  X(DETECT_NEGATIVE, detect_negative) X(DETECT_POSITIVE, detect_positive) X(DILATIONS, dilations) \
  X(DIRECTION, direction) X(END, end) X(ENDS, ends) X(EPSILON, epsilon) X(EQUATION, equation) \
  X(EXCLUDE_OUTSIDE, exclude_outside) X(EXCLUSIVE, exclusive) \
  X(EXPERT_WEIGHT_BITS, expert_weight_bits) X(EXTRAPOLATION_VALUE, extrapolation_value) \
  X(FC1_EXPERT_WEIGHT_BITS, fc1_expert_weight_bits) \
  X(FC2_EXPERT_WEIGHT_BITS, fc2_expert_weight_bits) \
  X(FC3_EXPERT_WEIGHT_BITS, fc3_expert_weight_bits) X(FLATTEN, flatten) X(FMOD, fmod) \
  X(FORMAT, format) X(GAMMA, gamma) X(GLOBAL, global) X(GROUP, group) X(GROUPS, groups) \
  X(HEADS, heads) X(HIGH, high) X(IGNORE_INDEX, ignore_index) \
  X(IMPUTED_VALUE_FLOATS, imputed_value_floats) X(IMPUTED_VALUE_INT64S, imputed_value_int64s) \
  X(INPUT_FORGET, input_forget) X(INTERCEPTS, intercepts) X(INTERLEAVED, interleaved) \
  X(INVERSE, inverse) X(K, k) X(K_QUANT, k_quant) \
  X(KEEP_ASPECT_RATIO_POLICY, keep_aspect_ratio_policy) X(KEEPDIMS, keepdims) X(KERNEL, kernel) \
  X(KERNEL_PARAMS, kernel_params) X(KERNEL_TYPE, kernel_type) X(KEYS_FLOATS, keys_floats) \
  X(KEYS_INT64S, keys_int64s) X(KEYS_TENSOR, keys_tensor) X(KIND, kind) X(KV_HEADS, kv_heads) \
  X(LAMBD, lambd) X(LARGEST, largest) X(LAYOUT, layout) X(LEAF_TARGETIDS, leaf_targetids) \
  X(LEAF_WEIGHTS, leaf_weights) X(LINEAR_BEFORE_RESET, linear_before_reset) X(LOW, low) \
  X(MASK_VALUE, mask_value) X(MAX, max) X(MAX_DISTANCE, max_distance) \
  X(MAX_GRAM_LENGTH, max_gram_length) X(MAX_SKIP_COUNT, max_skip_count) X(MEAN, mean) \
  X(MEMBERSHIP_VALUES, membership_values) X(METRIC, metric) X(MIN, min) \
  X(MIN_GRAM_LENGTH, min_gram_length) X(MODE, mode) X(MOMENTUM, momentum) \
  X(N_SUPPORTS, n_supports) X(NEAREST_MODE, nearest_mode) X(NGRAM_COUNTS, ngram_counts) \
  X(NGRAM_INDEXES, ngram_indexes) X(NODES_FALSELEAFS, nodes_falseleafs) \
  X(NODES_FALSENODEIDS, nodes_falsenodeids) X(NODES_FEATUREIDS, nodes_featureids) \
  X(NODES_MISSING_VALUE_TRACKS_TRUE, nodes_missing_value_tracks_true) X(NODES_MODES, nodes_modes) \
  X(NODES_NODEIDS, nodes_nodeids) X(NODES_SPLITS, nodes_splits) X(NODES_TREEIDS, nodes_treeids) \
  X(NODES_TRUELEAFS, nodes_trueleafs) X(NODES_TRUENODEIDS, nodes_truenodeids) \
  X(NODES_VALUES, nodes_values) X(NOOP_WITH_EMPTY_AXES, noop_with_empty_axes) X(NORM, norm) \
  X(NORM_COEFFICIENT, norm_coefficient) X(NORM_COEFFICIENT_POST, norm_coefficient_post) \
  X(NORM_EPSILON, norm_epsilon) X(NORMALIZE_ROUTING_WEIGHTS, normalize_routing_weights) \
  X(NORMALIZED, normalized) X(OFFSET, offset) X(OFFSET_GROUP, offset_group) \
  X(ONE_CLASS, one_class) X(ONESIDED, onesided) X(OP, op) X(OPSET, opset) \
  X(OUTPUT_PADDING, output_padding) X(OUTPUT_SHAPE, output_shape) X(OUTSIDE, outside) X(P, p) \
  X(PAD_MASK, pad_mask) X(PADDING_MODE, padding_mode) X(PADS, pads) X(PERIODIC, periodic) \
  X(PERM, perm) X(POOL_INT64S, pool_int64s) X(POST_TRANSFORM, post_transform) \
  X(PRECISION, precision) X(PROB_A, prob_a) X(PROB_B, prob_b) X(QUANT_TYPE, quant_type) \
  X(QUANTIZE_AXIS, quantize_axis) X(RATIO, ratio) X(REDUCTION, reduction) \
  X(REPLACED_VALUE_FLOAT, replaced_value_float) X(REPLACED_VALUE_INT64, replaced_value_int64) \
  X(REVERSE, reverse) X(RHO, rho) X(ROTARY, rotary) X(ROTARY_DIM, rotary_dim) \
  X(ROUND_MODE, round_mode) X(ROWS, rows) X(RULE, rule) X(SAMPLING_RATIO, sampling_ratio) \
  X(SATURATE, saturate) X(SCALE, scale) X(SCORES, scores) X(SEED, seed) \
  X(SELECT_LAST_INDEX, select_last_index) X(SHARE_PAST, share_past) X(SIGNAL_DIMS, signal_dims) \
  X(SIZE, size) X(SIZES, sizes) X(SMOOTH_SOFTMAX, smooth_softmax) X(SOFTCAP, softcap) \
  X(SOFTMAX_DTYPE, softmax_dtype) X(SORTED, sorted) X(SPATIAL, spatial) \
  X(SPATIAL_SCALE, spatial_scale) X(START, start) X(STARTS, starts) X(STEPS, steps) \
  X(STRIDES, strides) X(SUPPORT_VECTORS, support_vectors) X(SWIGLU_FUSION, swiglu_fusion) \
  X(SWIGLU_LIMIT, swiglu_limit) X(TARGET_IDS, target_ids) X(TARGET_NODEIDS, target_nodeids) \
  X(TARGET_TREEIDS, target_treeids) X(TARGET_WEIGHTS, target_weights) X(TENSORS, tensors) \
  X(THRESHOLD, threshold) X(TIME_AXIS, time_axis) X(TRAINING, training) X(TRANS_A, trans_a) \
  X(TRANS_B, trans_b) X(TRANS_BATCH_A, trans_batch_a) X(TRANS_BATCH_B, trans_batch_b) \
  X(TREE_ROOTS, tree_roots) X(UPPER, upper) X(USE_SPARSE_MIXER, use_sparse_mixer) \
  X(V_QUANT, v_quant) X(VALUE, value) X(VALUES_FLOATS, values_floats) \
  X(VALUES_INT64S, values_int64s) X(VALUES_TENSOR, values_tensor) \
  X(VECTORS_PER_CLASS, vectors_per_class) X(WEIGHT_PREPACKED, weight_prepacked) \
  X(WEIGHTS, weights) X(WINDOW, window) X(WINDOW_LEFT, window_left) X(WINDOW_RIGHT, window_right) \
  X(ZEROS, zeros)
// clang-format on

typedef enum stowi_kernel_attr_id {
  STOWI_KERNEL_ATTR_NONE,
#define X(id, name) STOWI_KERNEL_ATTR_##id,
  STOWI_KERNEL_ATTR_LIST(X)
#undef X
      STOWI_KERNEL_ATTR_COUNT
} stowi_kernel_attr_id;

extern const char* const stowi_kernel_attr_names[STOWI_KERNEL_ATTR_COUNT];

// STOWI_KERNEL_ATTR_NONE if no kernel of the library reads it. O(log names).
stowi_kernel_attr_id stowi_kernel_attr_find(stow_str name);

// As stow_kernel_attr and those after it. A call without numbers looks names up.
const stow_attr* stowi_kernel_attr(const stow_kernel_call* call, stowi_kernel_attr_id id);
int64_t stowi_kernel_int(const stow_kernel_call* call, stowi_kernel_attr_id id, int64_t fallback);
double stowi_kernel_float(const stow_kernel_call* call, stowi_kernel_attr_id id, double fallback);
bool stowi_kernel_bool(const stow_kernel_call* call, stowi_kernel_attr_id id, bool fallback);
bool stowi_kernel_is(const stow_kernel_call* call, stowi_kernel_attr_id id, const char* text);

// Values of attributes, which may be NULL.
int64_t stowi_kernel_int_of(const stow_attr* attr, int64_t fallback);
double stowi_kernel_float_of(const stow_attr* attr, double fallback);
bool stowi_kernel_bool_of(const stow_attr* attr, bool fallback);
bool stowi_kernel_is_of(const stow_attr* attr, const char* text);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_ATTRS_H_
