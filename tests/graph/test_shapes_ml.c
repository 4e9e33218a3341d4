// Tests of the shapes of classical machine learning.
#include "graph/shape_cases.h"
#include "support/test.h"

TEST(ModelsGiveRowsOfResults) {
  GIVES("f32[?s, 4]", "classifier(%0) {kind = \"trees\", columns = 3, nodes_modes = [\"LEAF\"]}",
        "i64[?s]; f32[?s, 3]");
  GIVES("i64[4]", "classifier(%0) {kind = \"svm\", columns = 2}", "i64[1]; f32[1, 2]");
  GIVES("f64[7, 4]", "regressor(%0) {kind = \"linear\", targets = 2}", "f32[7, 2]");
  GIVES("f64[7, 4]", "tree_ensemble(%0) {targets = 2}", "f64[7, 2]");
  REFUSES("f64[7, 4]", "regressor(%0) {kind = \"forest\", targets = 2}", "f32[7, 2]",
          "\"linear\", \"svm\" or \"trees\"");
  REFUSES("f64[7, 4, 1]", "tree_ensemble(%0) {targets = 2}", "f64[7, 2]",
          "operand 0 has rank 3, expected 1 or 2");
  REFUSES("f64[7, 4]", "tree_ensemble(%0) {targets = 0}", "f64[7, 2]", "targets is 0");
}

TEST(FeaturesAreEncoded) {
  GIVES("i64[?s]", "label_encode(%0) {dtype = \"f32\", keys_int64s = [1, 2]}", "f32[?s]");
  GIVES("i64[5, 2]", "encode_categories(%0) {categories = [1, 2, 3]}", "f32[5, 2, 3]");
  REFUSES("i64[5, 2]", "encode_categories(%0) {categories = []}", "f32[5, 2, 3]",
          "categories are missing");
  GIVES("i64[5, 2]", "binarize(%0)", "i64[5, 2]");
  GIVES("i64[5, 2]", "impute(%0) {replaced_value_int64 = 3}", "i64[5, 2]");
  GIVES("i64[5, 2]", "normalize_rows(%0) {norm = \"l2\"}", "f32[5, 2]");
  GIVES("i64[5, 2]", "scale_features(%0) {scale = [1.0, 2.0]}", "f32[5, 2]");
  GIVES("f32[3, 4]; i64[2]", "pick_features(%0, %1)", "f32[3, 2]");
  GIVES("f32[4]; i64[1, 2]", "pick_features(%0, %1)", "f32[1, 2]");
  REFUSES("f32[4]; f32[2]", "pick_features(%0, %1)", "f32[1, 2]", "must be integers");
  GIVES("i64[?s, 2]; f32[?s, 3]", "join_features(%0, %1)", "f32[?s, 5]");
  GIVES("i64[2]; f32[3]", "join_features(%0, %1) {sizes = [1, 3]}", "f32[1, 4]");
  REFUSES("i64[2, 2]; f32[3, 2]", "join_features(%0, %1)", "f32[2, 4]", "rows of the operands");
  REFUSES("i64[2, 2]; f32[2, 2]", "join_features(%0, %1) {sizes = [1]}", "f32[2, 4]",
          "there are 1 sizes for 2 operands");
  GIVES("i32[2, 6]", "tfidf(%0) {columns = 7, mode = \"TF\"}", "f32[2, 7]");
  GIVES("i32[12]", "tfidf(%0) {columns = 7}", "f32[7]");
  REFUSES("f32[12]", "tfidf(%0) {columns = 7}", "f32[7]", "must be integers");
}
