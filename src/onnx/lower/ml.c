// Lowering classical machine learning (domain ai.onnx.ml). The model itself stays in attributes
// under ONNX's names, but for tensors among them, which become constants and operands; the
// attribute `tensors` names them in order. Strings and maps are not supported.
#include "base/diag.h"
#include "onnx/import/importer.h"
#include "onnx/lower/rows.h"

// ---------------------------------------------------------------------------------------------
// Attributes

#define KEEP_INT(name) \
  { name, NULL, STOWI_ONNX_MAP_INT }
#define KEEP_INTS(name) \
  { name, NULL, STOWI_ONNX_MAP_INTS }
#define KEEP_FLOAT(name) \
  { name, NULL, STOWI_ONNX_MAP_FLOAT }
#define KEEP_FLOATS(name) \
  { name, NULL, STOWI_ONNX_MAP_FLOATS }
#define KEEP_STRING(name) \
  { name, NULL, STOWI_ONNX_MAP_STRING }
#define KEEP_STRINGS(name) \
  { name, NULL, STOWI_ONNX_MAP_STRINGS }

static const stowi_onnx_attr_map linear_classifier_attrs[] = {
    KEEP_FLOATS("coefficients"), KEEP_FLOATS("intercepts"), KEEP_INT("multi_class"),
    KEEP_STRING("post_transform"), KEEP_INTS("classlabels_ints")};
static const stowi_onnx_attr_map linear_regressor_attrs[] = {
    KEEP_FLOATS("coefficients"), KEEP_FLOATS("intercepts"), KEEP_STRING("post_transform")};
static const stowi_onnx_attr_map svm_attrs[] = {
    KEEP_FLOATS("coefficients"),    KEEP_FLOATS("support_vectors"),
    KEEP_FLOATS("kernel_params"),   KEEP_FLOATS("rho"),
    KEEP_FLOATS("prob_a"),          KEEP_FLOATS("prob_b"),
    KEEP_STRING("kernel_type"),     KEEP_STRING("post_transform"),
    KEEP_INTS("vectors_per_class"), KEEP_INTS("classlabels_ints"),
    KEEP_INT("n_supports"),         KEEP_INT("one_class")};
static const stowi_onnx_attr_map trees_attrs[] = {KEEP_STRING("aggregate_function"),
                                                  KEEP_STRING("post_transform"),
                                                  KEEP_FLOATS("base_values"),
                                                  KEEP_FLOATS("nodes_values"),
                                                  KEEP_FLOATS("nodes_hitrates"),
                                                  KEEP_FLOATS("class_weights"),
                                                  KEEP_FLOATS("target_weights"),
                                                  KEEP_INTS("nodes_treeids"),
                                                  KEEP_INTS("nodes_nodeids"),
                                                  KEEP_INTS("nodes_featureids"),
                                                  KEEP_INTS("nodes_truenodeids"),
                                                  KEEP_INTS("nodes_falsenodeids"),
                                                  KEEP_INTS("nodes_missing_value_tracks_true"),
                                                  KEEP_STRINGS("nodes_modes"),
                                                  KEEP_INTS("class_treeids"),
                                                  KEEP_INTS("class_nodeids"),
                                                  KEEP_INTS("class_ids"),
                                                  KEEP_INTS("target_treeids"),
                                                  KEEP_INTS("target_nodeids"),
                                                  KEEP_INTS("target_ids"),
                                                  KEEP_INTS("classlabels_int64s")};
static const stowi_onnx_attr_map ensemble_attrs[] = {KEEP_INT("aggregate_function"),
                                                     KEEP_INT("post_transform"),
                                                     KEEP_INTS("tree_roots"),
                                                     KEEP_INTS("nodes_featureids"),
                                                     KEEP_INTS("nodes_truenodeids"),
                                                     KEEP_INTS("nodes_falsenodeids"),
                                                     KEEP_INTS("nodes_trueleafs"),
                                                     KEEP_INTS("nodes_falseleafs"),
                                                     KEEP_INTS("nodes_missing_value_tracks_true"),
                                                     KEEP_INTS("leaf_targetids")};
static const stowi_onnx_attr_map label_attrs[] = {
    KEEP_INTS("keys_int64s"),     KEEP_FLOATS("keys_floats"), KEEP_INTS("values_int64s"),
    KEEP_FLOATS("values_floats"), KEEP_INT("default_int64"),  KEEP_FLOAT("default_float")};
static const stowi_onnx_attr_map one_hot_attrs[] = {
    {"cats_int64s", "categories", STOWI_ONNX_MAP_INTS}, {"zeros", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map binarizer_attrs[] = {KEEP_FLOAT("threshold")};
static const stowi_onnx_attr_map imputer_attrs[] = {
    KEEP_FLOATS("imputed_value_floats"), KEEP_INTS("imputed_value_int64s"),
    KEEP_FLOAT("replaced_value_float"), KEEP_INT("replaced_value_int64")};
static const stowi_onnx_attr_map normalizer_attrs[] = {{"norm", NULL, STOWI_ONNX_MAP_WORD}};
static const stowi_onnx_attr_map scaler_attrs[] = {KEEP_FLOATS("offset"), KEEP_FLOATS("scale")};
static const stowi_onnx_attr_map vectorizer_attrs[] = {
    {"inputdimensions", "sizes", STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map tfidf_attrs[] = {
    KEEP_STRING("mode"),         KEEP_INTS("ngram_counts"), KEEP_INTS("ngram_indexes"),
    KEEP_INTS("pool_int64s"),    KEEP_FLOATS("weights"),    KEEP_INT("max_gram_length"),
    KEEP_INT("min_gram_length"), KEEP_INT("max_skip_count")};

// ---------------------------------------------------------------------------------------------
// Tensors in attributes

enum { MAX_TENSORS = 8 };

typedef struct tensor_list {
  size_t count;
  stow_str names[MAX_TENSORS];
  stow_value values[MAX_TENSORS];
} tensor_list;

// Makes constants of those attributes |names| (at most MAX_TENSORS) that are there.
static stow_status take_tensors(stowi_onnx_lowering* l, const char* const* names, size_t count,
                                tensor_list* list) {
  list->count = 0;
  for (size_t i = 0; i < count; ++i) {
    const stowi_onnx_attr* attr = stowi_onnx_lower_attr(l, names[i]);
    if (attr == NULL || attr->type != STOWI_ONNX_ATTR_TENSOR) {
      continue;
    }
    stow_str name;
    STOW_TRY(
        stowi_import_fresh_name_with(l->imp, stowi_onnx_node_label(l->node), ".constant", &name));
    stow_value value;
    stow_status status =
        stowi_onnx_import_tensor(l->onnx, attr->tensor, STOW_OP_CONSTANT, name, &value);
    if (status == STOW_ERR_UNSUPPORTED) {
      return stowi_onnx_lower_unsupported(l, "strings are not supported (attribute \"%s\")",
                                          names[i]);
    }
    STOW_TRY(status);
    list->names[list->count] = stow_str_of(names[i]);
    list->values[list->count++] = value;
  }
  return STOW_OK;
}

static void add_tensors(stow_call* call, const tensor_list* list) {
  for (size_t i = 0; i < list->count; ++i) {
    stow_call_operand(call, list->values[i]);
  }
  if (list->count != 0) {
    stow_attr names = {.name = stow_str_of("tensors"),
                       .kind = STOW_ATTR_STRINGS,
                       .count = list->count,
                       .strings = list->names};
    stow_call_attr(call, &names);
  }
}

static stow_status refuse_strings(stowi_onnx_lowering* l, const char* const* names, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const stowi_onnx_attr* attr = stowi_onnx_lower_attr(l, names[i]);
    if (attr != NULL && attr->type == STOWI_ONNX_ATTR_STRINGS && attr->count != 0) {
      return stowi_onnx_lower_unsupported(l, "strings are not supported (attribute \"%s\")",
                                          names[i]);
    }
  }
  return STOW_OK;
}

// The largest number of a list plus one; 0 where it is empty or holds what is out of range.
static int64_t past_largest(const stowi_onnx_lowering* l, const char* name) {
  size_t count;
  const int64_t* numbers = stowi_onnx_lower_ints(l, name, &count);
  int64_t largest = -1;
  for (size_t i = 0; i < count; ++i) {
    largest = numbers[i] > largest ? numbers[i] : largest;
  }
  return largest == INT64_MAX ? 0 : largest + 1;
}

// ---------------------------------------------------------------------------------------------
// Models

static const char* const tree_tensors[] = {"base_values_as_tensor", "nodes_values_as_tensor",
                                           "nodes_hitrates_as_tensor", "class_weights_as_tensor",
                                           "target_weights_as_tensor"};
enum { TREE_TENSORS = sizeof(tree_tensors) / sizeof(tree_tensors[0]) };

// A core node of kind |kind| (NULL: it has none) whose int attribute |name| is |number|.
static stow_status lower_model(stowi_onnx_lowering* l, const tensor_list* tensors, const char* kind,
                               const char* name, int64_t number, size_t results) {
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  add_tensors(call, tensors);
  if (kind != NULL) {
    stow_call_attr_string(call, "kind", stow_str_of(kind));
  }
  stow_call_attr_int(call, name, number);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return stowi_onnx_lower_finish_results(l, call, 0, results);
}

static stow_status lower_classifier(stowi_onnx_lowering* l, const tensor_list* tensors,
                                    const char* kind, const char* labels, size_t columns) {
  static const char* const strings[] = {"classlabels_strings"};
  STOW_TRY(refuse_strings(l, strings, 1));
  if (columns == 0 || columns > INT32_MAX) {
    return stowi_onnx_lower_unsupported(l, "attribute \"%s\" has no labels", labels);
  }
  return lower_model(l, tensors, kind, "columns", (int64_t)columns, 2);
}

static stow_status lower_linear_classifier(stowi_onnx_lowering* l) {
  size_t count;
  stowi_onnx_lower_ints(l, "classlabels_ints", &count);
  return lower_classifier(l, &(tensor_list){0}, "linear", "classlabels_ints", count);
}

// Without probabilities there is a score for each pair of classes, but never less than two.
static stow_status lower_svm_classifier(stowi_onnx_lowering* l) {
  size_t classes;
  stowi_onnx_lower_ints(l, "classlabels_ints", &classes);
  size_t vectors;
  stowi_onnx_lower_ints(l, "vectors_per_class", &vectors);
  bool is_paired = vectors != 0 && stowi_onnx_lower_attr(l, "prob_a") == NULL;
  size_t columns = classes;
  if (is_paired && classes > 2 && classes < UINT16_MAX) {
    columns = classes * (classes - 1) / 2;
  }
  return lower_classifier(l, &(tensor_list){0}, "svm", "classlabels_ints", columns);
}

static stow_status lower_tree_classifier(stowi_onnx_lowering* l) {
  size_t count;
  stowi_onnx_lower_ints(l, "classlabels_int64s", &count);
  tensor_list tensors;
  STOW_TRY(take_tensors(l, tree_tensors, TREE_TENSORS, &tensors));
  return lower_classifier(l, &tensors, "trees", "classlabels_int64s", count);
}

static stow_status lower_linear_regressor(stowi_onnx_lowering* l) {
  return lower_model(l, &(tensor_list){0}, "linear", "targets",
                     stowi_onnx_lower_int(l, "targets", 1), 1);
}

static stow_status lower_svm_regressor(stowi_onnx_lowering* l) {
  return lower_model(l, &(tensor_list){0}, "svm", "targets", 1, 1);
}

static stow_status lower_tree_regressor(stowi_onnx_lowering* l) {
  tensor_list tensors;
  STOW_TRY(take_tensors(l, tree_tensors, TREE_TENSORS, &tensors));
  int64_t targets = stowi_onnx_lower_int(l, "n_targets", past_largest(l, "target_ids"));
  return lower_model(l, &tensors, "trees", "targets", targets, 1);
}

static stow_status lower_ensemble(stowi_onnx_lowering* l) {
  static const char* const names[] = {"nodes_modes", "nodes_splits", "nodes_hitrates",
                                      "leaf_weights", "membership_values"};
  tensor_list tensors;
  STOW_TRY(take_tensors(l, names, sizeof(names) / sizeof(names[0]), &tensors));
  int64_t targets = stowi_onnx_lower_int(l, "n_targets", past_largest(l, "leaf_targetids"));
  return lower_model(l, &tensors, NULL, "targets", targets, 1);
}

// ---------------------------------------------------------------------------------------------
// Features

// The dtype of what labels are replaced by; false where no attribute says so.
static bool encoded_dtype(const stowi_onnx_lowering* l, stow_dtype* out_dtype) {
  const stowi_onnx_attr* tensor = stowi_onnx_lower_attr(l, "values_tensor");
  if (tensor != NULL && tensor->type == STOWI_ONNX_ATTR_TENSOR) {
    return stowi_onnx_elem_dtype(tensor->tensor->elem, out_dtype);
  }
  *out_dtype = stowi_onnx_lower_attr(l, "values_int64s") != NULL ? STOW_I64 : STOW_F32;
  return *out_dtype == STOW_I64 || stowi_onnx_lower_attr(l, "values_floats") != NULL;
}

static stow_status lower_label_encoder(stowi_onnx_lowering* l) {
  static const char* const strings[] = {"keys_strings", "values_strings", "classes_strings"};
  static const char* const names[] = {"keys_tensor", "values_tensor", "default_tensor"};
  STOW_TRY(refuse_strings(l, strings, 3));
  stow_dtype dtype;
  if (!encoded_dtype(l, &dtype)) {
    return stowi_onnx_lower_unsupported(l, "no attribute has numeric values");
  }
  tensor_list tensors;
  STOW_TRY(take_tensors(l, names, 3, &tensors));
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  add_tensors(call, &tensors);
  stow_call_attr_string(call, "dtype", stow_str_of(stow_dtype_name(dtype)));
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_one_hot(stowi_onnx_lowering* l) {
  static const char* const strings[] = {"cats_strings"};
  STOW_TRY(refuse_strings(l, strings, 1));
  const stowi_onnx_lower_row* row = l->row;
  return stowi_onnx_lower_plain(l, row->op, row->attrs, row->attr_count);
}

static stow_status lower_tfidf(stowi_onnx_lowering* l) {
  static const char* const strings[] = {"pool_strings"};
  STOW_TRY(refuse_strings(l, strings, 1));
  return lower_model(l, &(tensor_list){0}, NULL, "columns", past_largest(l, "ngram_indexes"), 1);
}

// ---------------------------------------------------------------------------------------------
// Rows

static const stowi_onnx_lower_row rows[] = {
    {ML, "LinearClassifier", 1, STOW_OP_CLASSIFIER, LIST(linear_classifier_attrs),
     lower_linear_classifier},
    {ML, "SVMClassifier", 1, STOW_OP_CLASSIFIER, LIST(svm_attrs), lower_svm_classifier},
    {ML, "TreeEnsembleClassifier", 1, STOW_OP_CLASSIFIER, LIST(trees_attrs), lower_tree_classifier},
    {ML, "LinearRegressor", 1, STOW_OP_REGRESSOR, LIST(linear_regressor_attrs),
     lower_linear_regressor},
    {ML, "SVMRegressor", 1, STOW_OP_REGRESSOR, LIST(svm_attrs), lower_svm_regressor},
    {ML, "TreeEnsembleRegressor", 1, STOW_OP_REGRESSOR, LIST(trees_attrs), lower_tree_regressor},
    {ML, "TreeEnsemble", 5, STOW_OP_TREE_ENSEMBLE, LIST(ensemble_attrs), lower_ensemble},
    {ML, "LabelEncoder", 1, STOW_OP_LABEL_ENCODE, LIST(label_attrs), lower_label_encoder},
    {ML, "OneHotEncoder", 1, STOW_OP_ENCODE_CATEGORIES, LIST(one_hot_attrs), lower_one_hot},
    {ML, "Binarizer", 1, STOW_OP_BINARIZE, LIST(binarizer_attrs), NULL},
    {ML, "Imputer", 1, STOW_OP_IMPUTE, LIST(imputer_attrs), NULL},
    {ML, "Normalizer", 1, STOW_OP_NORMALIZE_ROWS, LIST(normalizer_attrs), NULL},
    {ML, "Scaler", 1, STOW_OP_SCALE_FEATURES, LIST(scaler_attrs), NULL},
    {ML, "ArrayFeatureExtractor", 1, STOW_OP_PICK_FEATURES, NULL, 0, NULL},
    {ML, "FeatureVectorizer", 1, STOW_OP_JOIN_FEATURES, LIST(vectorizer_attrs), NULL},
    {"", "TfIdfVectorizer", 9, STOW_OP_TFIDF, LIST(tfidf_attrs), lower_tfidf},
};

const stowi_onnx_lower_table stowi_onnx_lower_ml_table = {LIST(rows)};
