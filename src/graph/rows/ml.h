// Rows of classical machine learning.
#ifndef STOWAGE_SRC_GRAPH_ROWS_ML_H_
#define STOWAGE_SRC_GRAPH_ROWS_ML_H_

#include "graph/rows/rows.h"
#include "graph/shapes/shapes.h"

static const spec classifier_attrs[] = {REQUIRED("kind", STOW_ATTR_STRING),
                                        REQUIRED_INT("columns")};
static const spec regressor_attrs[] = {REQUIRED("kind", STOW_ATTR_STRING), REQUIRED_INT("targets")};
static const spec tree_ensemble_attrs[] = {REQUIRED_INT("targets")};
static const spec label_encode_attrs[] = {STRING("dtype", "")};
static const spec encode_categories_attrs[] = {REQUIRED("categories", STOW_ATTR_INTS),
                                               BOOL("zeros", true)};
static const spec binarize_attrs[] = {FLOAT("threshold", 0.0)};
static const spec normalize_rows_attrs[] = {STRING("norm", "max")};
static const spec join_features_attrs[] = {INTS("sizes")};
static const spec tfidf_attrs[] = {REQUIRED_INT("columns")};

// ---------------------------------------------------------------------------------------------
// Classical machine learning. Attributes beyond the schema hold the model, under ONNX's names;
// tensors among them are operands.

#define ROW_CLASSIFIER                                                               \
  ABOUT("label and scores of each row by a linear model, support vectors or trees"), \
      OPERANDS(1, ANY), RESULTS(2, 2), INFERRED(stowi_graph_shape_classifier),       \
      ATTRS(classifier_attrs), .desc.any_attrs = true
#define ROW_REGRESSOR                                                                         \
  ABOUT("targets of each row by a linear model, support vectors or trees"), OPERANDS(1, ANY), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_regressor), ATTRS(regressor_attrs),           \
      .desc.any_attrs = true
#define ROW_TREE_ENSEMBLE                                                    \
  ABOUT("targets of each row by trees"), OPERANDS(1, ANY), RESULTS(1, 1),    \
      INFERRED(stowi_graph_shape_tree_ensemble), ATTRS(tree_ensemble_attrs), \
      .desc.any_attrs = true
#define ROW_LABEL_ENCODE                                                                    \
  ABOUT("replaces each element by a table"), OPERANDS(1, ANY), RESULTS(1, 1),               \
      INFERRED(stowi_graph_shape_label_encode), IN_PLACE(stowi_graph_in_place_index_first), \
      ATTRS(label_encode_attrs), .desc.any_attrs = true
#define ROW_ENCODE_CATEGORIES                                                  \
  ABOUT("a 1 at the category of each element"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_encode_categories), ATTRS(encode_categories_attrs)
#define ROW_BINARIZE UNARY("1 above the threshold, else 0"), ATTRS(binarize_attrs)
#define ROW_IMPUTE UNARY("replaces missing values"), .desc.any_attrs = true
#define ROW_NORMALIZE_ROWS                                                                 \
  ABOUT("each row divided by its norm"), OPERANDS(1, 1), RESULTS(1, 1),                    \
      INFERRED(stowi_graph_shape_as_float), IN_PLACE(stowi_graph_in_place_ascending_rows), \
      ATTRS(normalize_rows_attrs)
#define ROW_SCALE_FEATURES                                                              \
  ABOUT("(x - offset) scale, by column"), OPERANDS(1, 1), RESULTS(1, 1),                \
      INFERRED(stowi_graph_shape_as_float), IN_PLACE(stowi_graph_in_place_index_first), \
      .desc.any_attrs = true
#define ROW_PICK_FEATURES                                   \
  ABOUT("columns by index"), OPERANDS(2, 2), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_pick_features)
#define ROW_JOIN_FEATURES                                                   \
  ABOUT("tables side by side, as floats"), OPERANDS(1, ANY), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_join_features), ATTRS(join_features_attrs)
#define ROW_TFIDF                                                             \
  ABOUT("weights of the n-grams in each row"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_tfidf), ATTRS(tfidf_attrs), .desc.any_attrs = true

#endif  // STOWAGE_SRC_GRAPH_ROWS_ML_H_
