// Classical models: numbers of onnxruntime.
#include <math.h>

#include "exec/numbers.h"

#define X N(1, 2, -1, 0.5, 0.2, -0.3)

// ---------------------------------------------------------------------------------------------
// Linear models

TEST(LinearClassifierOfThreeClasses) {
#define LINEAR(transform)                                                                      \
  "classifier(%0) {kind = \"linear\", columns = 3, coefficients = [0.3, -0.2, 0.1, 0.2, 0.0, " \
  "0.4], intercepts = [0.1, 0.0, -0.1], classlabels_ints = [4, 7, 9], post_transform = "       \
  "\"" transform "\"}"
  const char* results = "i64[3]; f32[3, 3]";
  GIVES("f32[3, 2]", LINEAR("NONE"), results, 0, 0, N(9, 9, 4), X);
  GIVES("f32[3, 2]", LINEAR("NONE"), results, 1, 1e-6,
        N(0, 0.5, 0.7, -0.3, 0, 0.1, 0.22, -0.04, -0.22), X);
  GIVES("f64[3, 2]", LINEAR("LOGISTIC"), results, 1, 1e-6,
        N(0.5, 0.6224593, 0.6681878, 0.4255575, 0.5, 0.5249792, 0.5547792, 0.4900013, 0.4452208),
        X);
  GIVES("f32[3, 2]", LINEAR("SOFTMAX"), results, 1, 1e-6,
        N(0.2144784, 0.3536152, 0.4319064, 0.2603025, 0.3513717, 0.3883257, 0.4140636, 0.3192644,
          0.266672),
        X);
  GIVES("f64[3, 2]", LINEAR("SOFTMAX_ZERO"), results, 1, 1e-6,
        N(0, 0.450166, 0.549834, 0.4013123, 0, 0.5986877, 0.4140636, 0.3192644, 0.266672), X);
  GIVES("f32[3, 1]",
        "regressor(%0) {kind = \"linear\", targets = 1, coefficients = [1.0], post_transform = "
        "\"PROBIT\"}",
        "f32[3, 1]", 0, 2e-6, N(-0.7723071, 0, 0.5244458), N(0.22, 0.5, 0.7));
}

TEST(OneLinearScoreForTwoClasses) {
#define PAIR(transform)                                                                       \
  "classifier(%0) {kind = \"linear\", columns = 2, coefficients = [0.3, -0.2], intercepts = " \
  "[0.1], classlabels_ints = [4, 7], post_transform = \"" transform "\"}"
  const char* results = "i64[2]; f32[2, 2]";
  numbers x = N(-1, 0.5, 0.2, -0.3);
  GIVES("f32[2, 2]", PAIR("NONE"), results, 0, 0, N(4, 7), x);
  GIVES("f32[2, 2]", PAIR("NONE"), results, 1, 1e-6, N(1.3, -0.3, 0.78, 0.22), x);
  GIVES("f32[2, 2]", PAIR("LOGISTIC"), results, 1, 1e-6,
        N(0.5744425, 0.4255575, 0.4452208, 0.5547792), x);
}

TEST(LinearRegressor) {
#define REGRESSOR \
  "kind = \"linear\", targets = 2, coefficients = [0.3, -0.2, 0.1, 0.2], intercepts = [0.1, 0.0]"
  GIVES("f32[3, 2]", "regressor(%0) {" REGRESSOR "}", "f32[3, 2]", 0, 1e-6,
        N(0, 0.5, -0.3, 0, 0.22, -0.04), X);
  GIVES("i64[1, 2]", "regressor(%0) {" REGRESSOR ", post_transform = \"SOFTMAX\"}", "f32[1, 2]", 0,
        1e-6, N(0.3775407, 0.6224593), N(1, 2));
  FAILS("f32[1, 3]", "regressor(%0) {" REGRESSOR "}", "f32[1, 2]", "4 coefficients", N(1, 2, 3));
  FAILS("f32[1, 2]", "regressor(%0) {" REGRESSOR ", post_transform = \"CUBE\"}", "f32[1, 2]",
        "post_transform", N(1, 2));
}

// ---------------------------------------------------------------------------------------------
// Support vectors

#define VECTORS "support_vectors = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0], "

TEST(SvmOfTwoClasses) {
#define TWO(transform)                                                                          \
  "classifier(%0) {kind = \"svm\", columns = 2, coefficients = [0.5, -0.3, -0.2], " VECTORS     \
  "vectors_per_class = [1, 2], rho = [0.1], kernel_type = \"RBF\", kernel_params = [0.5, 0.0, " \
  "3.0], classlabels_ints = [4, 7], post_transform = \"" transform "\"}"
  const char* results = "i64[3]; f32[3, 2]";
  GIVES("f32[3, 2]", TWO("NONE"), results, 0, 0, N(7, 7, 4), X);
  GIVES("f32[3, 2]", TWO("NONE"), results, 1, 1e-6,
        N(0.0640024, -0.0640024, 0.0247486, -0.0247486, -0.2583982, 0.2583982), X);
  GIVES("f32[3, 2]", TWO("LOGISTIC"), results, 1, 1e-6,
        N(0.5159951, 0.4840049, 0.5061868, 0.4938132, 0.4357575, 0.5642425), X);
  GIVES("f32[3, 2]", TWO("SOFTMAX"), results, 1, 1e-6,
        N(1.0640023, -0.0640024, 1.0247486, -0.0247486, 0.7416018, 0.2583982), X);
}

TEST(SvmOfThreeClasses) {
#define THREE(columns, more)                                                                  \
  "classifier(%0) {kind = \"svm\", columns = " columns                                        \
  ", coefficients = [0.5, -0.3, -0.2, 0.4, 0.1, -0.6], " VECTORS                              \
  "vectors_per_class = [1, 1, 1], rho = [0.1, -0.2, 0.05], kernel_params = [0.5, 0.1, 3.0], " \
  "classlabels_ints = [4, 7, 9], " more "}"
  const char* results = "i64[3]; f32[3, 3]";
  GIVES("f32[3, 2]", THREE("3", "kernel_type = \"SIGMOID\""), results, 0, 0, N(9, 7, 4), X);
  GIVES("f32[3, 2]", THREE("3", "kernel_type = \"SIGMOID\""), results, 1, 1e-6,
        N(0.1283751, -0.1695139, -0.4229513, -0.1908872, -0.3222027, 0.1729685, 0.2136752,
          -0.1310416, 0.0150291),
        X);
  GIVES(
      "f32[3, 2]",
      THREE("3", "kernel_type = \"LINEAR\", prob_a = [-1.0, -0.5, -2.0], prob_b = [0.2, 0.1, 0.0]"),
      results, 1, 1e-5,
      N(0.309065, 0.1125793, 0.5783557, 0.2197171, 0.523236, 0.2570469, 0.3258771, 0.3425623,
        0.3315606),
      X);
  GIVES(
      "f32[3, 2]",
      THREE("3", "kernel_type = \"LINEAR\", prob_a = [-1.0, -0.5, -2.0], prob_b = [0.2, 0.1, 0.0]"),
      results, 0, 0, N(9, 7, 4), X);
}

TEST(SvmWithoutVectors) {
#define FLAT(columns, coefficients, labels)                                             \
  "classifier(%0) {kind = \"svm\", columns = " columns ", coefficients = " coefficients \
  ", rho = [0.1], kernel_type = \"LINEAR\", classlabels_ints = " labels "}"
  GIVES("f32[3, 2]", FLAT("3", "[0.5, -0.3, -0.2, 0.4, 0.1, -0.6]", "[4, 7, 9]"),
        "i64[3]; f32[3, 3]", 1, 1e-6, N(0, 0.7, -1, -0.55, 0.5, -0.3, 0.29, -0.06, 0.3), X);
  GIVES("f32[3, 2]", FLAT("3", "[0.5, -0.3, -0.2, 0.4, 0.1, -0.6]", "[4, 7, 9]"),
        "i64[3]; f32[3, 3]", 0, 0, N(7, 7, 9), X);
  GIVES("f32[3, 2]", FLAT("2", "[0.5, -0.3, -0.2, 0.4]", "[4, 7]"), "i64[3]; f32[3, 2]", 0, 0,
        N(7, 7, 7), X);
}

TEST(SvmRegressorWithEveryKernel) {
#define SVR(kernel, more)                                                                  \
  "regressor(%0) {kind = \"svm\", targets = 1, coefficients = [0.5, -0.3, -0.2], " VECTORS \
  "n_supports = 3, rho = [0.1], kernel_params = [0.5, 0.1, 3.0], kernel_type = \"" kernel  \
  "\"" more "}"
  GIVES("f32[3, 2]", SVR("LINEAR", ""), "f32[3, 1]", 0, 1e-6, N(-0.6, -0.45, 0.31), X);
  GIVES("f32[3, 2]", SVR("POLY", ""), "f32[3, 1]", 0, 1e-6, N(-1.0105, 0.0558125, 0.1040125), X);
  GIVES("f32[3, 2]", SVR("RBF", ""), "f32[3, 1]", 0, 1e-6, N(-0.0640024, -0.0247486, 0.2583982), X);
  GIVES("f32[3, 2]", SVR("SIGMOID", ""), "f32[3, 1]", 0, 1e-6, N(-0.0559587, -0.1611102, 0.2036835),
        X);
  GIVES("f32[3, 2]", SVR("POLY", ", one_class = 1"), "f32[3, 1]", 0, 0, N(-1, 1, 1), X);
  GIVES("f32[3, 2]",
        "regressor(%0) {kind = \"svm\", targets = 1, coefficients = [0.5, -0.3], rho = [0.1]}",
        "f32[3, 1]", 0, 1e-6, N(0, -0.55, 0.29), X);
  FAILS("f32[3, 2]", SVR("CUBIC", ""), "f32[3, 1]", "kernel_type", X);
  FAILS("f32[1, 3]", SVR("RBF", ""), "f32[1, 1]", "inconsistent tables", N(1, 2, 3));
}

// ---------------------------------------------------------------------------------------------
// Trees

// x0 <= 0.5 ? node 1 : node 2, and x1 > 0.1 ? node 1 : node 2. The second tree's table is not in
// order.
#define TREES                                                                                   \
  "nodes_treeids = [0, 0, 0, 1, 1, 1], nodes_nodeids = [0, 1, 2, 0, 2, 1], nodes_featureids = " \
  "[0, 0, 0, 1, 0, 0], nodes_values = [0.5, 0.0, 0.0, 0.1, 0.0, 0.0], nodes_truenodeids = [1, " \
  "0, 0, 1, 0, 0], nodes_falsenodeids = [2, 0, 0, 2, 0, 0], nodes_modes = [\"BRANCH_LEQ\", "    \
  "\"LEAF\", \"LEAF\", \"BRANCH_GT\", \"LEAF\", \"LEAF\"]"
#define CLASSES(columns, ids, weights, labels, more)                            \
  "classifier(%0) {kind = \"trees\", columns = " columns                        \
  ", class_treeids = [0, 0, 1, 1], "                                            \
  "class_nodeids = [1, 2, 1, 2], class_ids = " ids ", class_weights = " weights \
  ", classlabels_int64s = " labels ", " TREES more "}"
#define MIXED "[0.1, 0.7, -0.3, 0.2]"

TEST(TreesOfThreeClasses) {
  const char* results = "i64[3]; f32[3, 3]";
  const char* node = CLASSES("3", "[0, 1, 2, 1]", MIXED, "[4, 7, 9]", "");
  GIVES("f32[3, 2]", node, results, 0, 0, N(7, 4, 7), X);
  GIVES("f32[3, 2]", node, results, 1, 1e-6, N(0, 0.7, -0.3, 0.1, 0, -0.3, 0.1, 0.2, 0), X);
  GIVES("f32[3, 2]",
        CLASSES("3", "[0, 1, 2, 1]", MIXED, "[4, 7, 9]",
                ", base_values = [0.5, 0.1, 0.2], post_transform = \"SOFTMAX\""),
        results, 1, 1e-6,
        N(0.3449857, 0.4656821, 0.1893322, 0.4754849, 0.2883962, 0.2361188, 0.4147418, 0.3072484,
          0.2780098),
        X);
}

TEST(TreesOfTwoClasses) {
  const char* results = "i64[3]; f32[3, 2]";
  GIVES("f32[3, 2]", CLASSES("2", "[0, 0, 0, 0]", MIXED, "[4, 7]", ""), results, 0, 0, N(7, 4, 7),
        X);
  GIVES("f32[3, 2]", CLASSES("2", "[0, 0, 0, 0]", MIXED, "[4, 7]", ""), results, 1, 1e-6,
        N(-0.4, 0.4, 0.2, -0.2, -0.3, 0.3), X);
  GIVES("f32[3, 2]", CLASSES("2", "[0, 0, 0, 0]", "[0.1, 0.7, 0.3, 0.2]", "[4, 7]", ""), results, 0,
        0, N(7, 4, 4), X);
  GIVES("f32[3, 2]", CLASSES("2", "[0, 0, 0, 0]", "[0.1, 0.7, 0.3, 0.2]", "[4, 7]", ""), results, 1,
        1e-6, N(0, 1, 0.6, 0.4, 0.7, 0.3), X);
  GIVES("f32[3, 2]",
        CLASSES("2", "[0, 0, 0, 0]", MIXED, "[4, 7]", ", post_transform = \"LOGISTIC\""), results,
        1, 1e-6, N(0.4013123, 0.5986877, 0.549834, 0.450166, 0.4255575, 0.5744425), X);
  GIVES("f32[3, 2]", CLASSES("2", "[1, 1, 1, 1]", MIXED, "[4, 7]", ""), results, 1, 1e-6,
        N(0, 0.4, 0, -0.2, 0, 0.3), X);
  GIVES("f32[3, 2]", CLASSES("1", "[0, 0, 0, 0]", MIXED, "[1]", ""), "i64[3]; f32[3, 1]", 0, 0,
        N(1, 0, 1), X);
}

#define TARGETS(more)                                                                           \
  "regressor(%0) {kind = \"trees\", targets = 2, base_values = [0.25, -0.5], target_treeids = " \
  "[0, 0, 1, 1], target_nodeids = [1, 2, 1, 2], target_ids = [0, 1, 0, 1], target_weights "     \
  "= " MIXED ", " TREES more "}"

TEST(TreesOfTargets) {
  GIVES("f32[3, 2]", TARGETS(""), "f32[3, 2]", 0, 1e-6, N(-0.05, 0.2, 0.05, -0.5, 0.35, -0.3), X);
  GIVES("f32[3, 2]", TARGETS(", aggregate_function = \"AVERAGE\""), "f32[3, 2]", 0, 1e-6,
        N(0.1, -0.15, 0.15, -0.5, 0.3, -0.4), X);
  GIVES("f32[3, 2]", TARGETS(", aggregate_function = \"MIN\""), "f32[3, 2]", 0, 1e-6,
        N(-0.05, 0.2, -0.05, -0.5, 0.35, -0.3), X);
  GIVES("f32[3, 2]", TARGETS(", aggregate_function = \"MAX\""), "f32[3, 2]", 0, 1e-6,
        N(-0.05, 0.2, 0.35, -0.5, 0.35, -0.3), X);
  GIVES("f64[1, 2]", TARGETS(", post_transform = \"LOGISTIC\""), "f32[1, 2]", 0, 1e-6,
        N(0.4875026, 0.549834), N(1, 2));
}

TEST(MissingFeaturesFollowTheTable) {
  GIVES("f32[1, 2]", TARGETS(", nodes_missing_value_tracks_true = [1, 0, 0, 0, 0, 0]"), "f32[1, 2]",
        0, 1e-6, N(0.35, -0.3), N(NAN, NAN));
  GIVES("f32[1, 2]", TARGETS(""), "f32[1, 2]", 0, 1e-6, N(0.25, 0.4), N(NAN, NAN));
}

// One node; its two answers lead to leaves of 1 and 2.
#define ASKS(mode)                                                                                \
  "regressor(%0) {kind = \"trees\", targets = 1, nodes_treeids = [0, 0, 0], nodes_nodeids = [0, " \
  "1, 2], nodes_featureids = [0, 0, 0], nodes_values = [3.0, 0.0, 0.0], nodes_truenodeids = [1, " \
  "0, 0], nodes_falsenodeids = [2, 0, 0], nodes_modes = [\"" mode                                 \
  "\", \"LEAF\", \"LEAF\"], "                                                                     \
  "target_treeids = [0, 0], target_nodeids = [1, 2], target_ids = [0, 0], target_weights = "      \
  "[1.0, 2.0]}"

TEST(EveryModeOfNodes) {
  numbers x = N(2, 3, 4);
  GIVES("f32[3, 1]", ASKS("BRANCH_LEQ"), "f32[3, 1]", 0, 0, N(1, 1, 2), x);
  GIVES("f32[3, 1]", ASKS("BRANCH_LT"), "f32[3, 1]", 0, 0, N(1, 2, 2), x);
  GIVES("i64[3, 1]", ASKS("BRANCH_GTE"), "f32[3, 1]", 0, 0, N(2, 1, 1), x);
  GIVES("f32[3, 1]", ASKS("BRANCH_GT"), "f32[3, 1]", 0, 0, N(2, 2, 1), x);
  GIVES("f32[3, 1]", ASKS("BRANCH_EQ"), "f32[3, 1]", 0, 0, N(2, 1, 2), x);
  GIVES("f32[3, 1]", ASKS("BRANCH_NEQ"), "f32[3, 1]", 0, 0, N(1, 2, 1), x);
  FAILS("f32[3, 1]", ASKS("BRANCH_XOR"), "f32[3, 1]", "unknown node mode", x);
}

TEST(BadTreesAreRefused) {
#define BROKEN(feature, yes)                                                                       \
  "regressor(%0) {kind = \"trees\", targets = 1, nodes_treeids = [0, 0], nodes_nodeids = [0, 1], " \
  "nodes_featureids = [" feature ", 0], nodes_values = [3.0, 0.0], nodes_truenodeids = [" yes      \
  ", 0], nodes_falsenodeids = [1, 0], nodes_modes = [\"BRANCH_LT\", \"LEAF\"], target_treeids = "  \
  "[0], target_nodeids = [1], target_ids = [0], target_weights = [1.0]}"
  GIVES("f32[1, 1]", BROKEN("0", "1"), "f32[1, 1]", 0, 0, N(1), N(1));
  FAILS("f32[1, 1]", BROKEN("1", "1"), "f32[1, 1]", "feature or child of a node is out of range",
        N(1));
  FAILS("f32[1, 1]", BROKEN("0", "2"), "f32[1, 1]", "feature or child of a node is out of range",
        N(1));
  FAILS("f32[1, 1]", BROKEN("0", "0"), "f32[1, 1]", "a tree has a cycle", N(1));
}

// Node 0 asks for 2 or 4 (yes: leaf 0), else whether x1 >= 1.5 (leaf 1 of target 1, or leaf 2).
TEST(TreeEnsemblesByIndex) {
#define ENSEMBLE(more)                                                                   \
  "tree_ensemble(%0, %1, %2, %3, %4) {targets = 2, tensors = [\"nodes_modes\", "         \
  "\"nodes_splits\", \"leaf_weights\", \"membership_values\"], tree_roots = [0], "       \
  "nodes_featureids = [0, 1], nodes_truenodeids = [0, 1], nodes_falsenodeids = [1, 2], " \
  "nodes_trueleafs = [1, 1], nodes_falseleafs = [0, 1], leaf_targetids = [0, 1, 0]" more "}"
#define TENSORS N(6, 2), N(0, 1.5), N(5, 6, 7), N(2, 4, NAN)
  const char* operands = "f32[4, 2]; u8[2]; f32[2]; f32[3]; f32[3]";
  numbers x = N(4, 0, 3, 2, 3, 1, 2, 9);
  GIVES(operands, ENSEMBLE(""), "f32[4, 2]", 0, 0, N(5, 0, 0, 6, 7, 0, 5, 0), x, TENSORS);
  GIVES("f64[4, 2]; u8[2]; f64[2]; f64[3]; f64[3]",
        ENSEMBLE(", post_transform = 2, aggregate_function = 1"), "f64[4, 2]", 0, 1e-6,
        N(0.993307149, 0.5, 0.5, 0.997527377, 0.999088949, 0.5, 0.993307149, 0.5), x, TENSORS);
}
