// Features and labels: ONNX's definitions, and onnxruntime where they leave something open.
#include <math.h>

#include "exec/numbers.h"

TEST(BinarizeComparesWithTheThreshold) {
  REALS_GIVE("T[4]", "binarize(%0) {threshold = 0.5}", "T[4]", 0, N(0, 1, 0, 0),
             N(0.5, 0.75, -1, NAN));
  GIVES("i64[3]", "binarize(%0) {threshold = 1.0}", "i64[3]", 0, 0, N(0, 1, 0), N(1, 2, -3));
}

TEST(ScaleFeaturesByColumn) {
  GIVES("f32[2, 2]", "scale_features(%0) {offset = [1.0, 2.0], scale = [0.5, 4.0]}", "f32[2, 2]", 0,
        1e-6, N(0, 0, 1, 8), N(1, 2, 3, 4));
  GIVES("i64[2, 2]", "scale_features(%0) {offset = [1.0], scale = [2.0]}", "f32[2, 2]", 0, 1e-6,
        N(0, 2, 4, 6), N(1, 2, 3, 4));
  FAILS("f32[1, 3]", "scale_features(%0) {scale = [1.0, 2.0]}", "f32[1, 3]",
        "scale has 2 elements, expected 1 or 3", N(1, 2, 3));
}

TEST(ImputeReplaces) {
  GIVES("f32[2, 2]", "impute(%0) {imputed_value_floats = [7.0, 8.0], replaced_value_float = nan}",
        "f32[2, 2]", 0, 0, N(1, 8, 7, 0), N(1, NAN, NAN, 0));
  GIVES("f32[2, 2]", "impute(%0) {imputed_value_floats = [7.0], replaced_value_float = -1.0}",
        "f32[2, 2]", 0, 0, N(1, 7, NAN, 0), N(1, -1, NAN, 0));
  GIVES("i64[2, 2]", "impute(%0) {imputed_value_int64s = [7, 8], replaced_value_int64 = 5}",
        "i64[2, 2]", 0, 0, N(7, 1, 2, 8), N(5, 1, 2, 5));
}

TEST(NormalizeRows) {
  numbers x = N(0, 0, -3, 4, 3, -4);
  GIVES("f32[3, 2]", "normalize_rows(%0) {norm = \"l2\"}", "f32[3, 2]", 0, 1e-6,
        N(0, 0, -0.6, 0.8, 0.6, -0.8), x);
  GIVES("f64[3, 2]", "normalize_rows(%0) {norm = \"l1\"}", "f32[3, 2]", 0, 1e-6,
        N(0, 0, -0.428571429, 0.571428571, 0.428571429, -0.571428571), x);
  GIVES("i32[3, 2]", "normalize_rows(%0)", "f32[3, 2]", 0, 1e-6, N(0, 0, -0.75, 1, 1, -1.333333333),
        x);
}

TEST(PickFeaturesByIndex) {
  GIVES("f32[2, 3]; i64[1, 2]", "pick_features(%0, %1)", "f32[2, 2]", 0, 0, N(3, 1, 6, 4),
        N(1, 2, 3, 4, 5, 6), N(2, 0));
  GIVES("i64[3]; i64[1]", "pick_features(%0, %1)", "i64[1, 1]", 0, 0, N(2), N(1, 2, 3), N(1));
  FAILS("f32[2, 3]; i64[1]", "pick_features(%0, %1)", "f32[2, 1]",
        "column 3 is out of range (3 columns)", N(1, 2, 3, 4, 5, 6), N(3));
}

TEST(JoinFeaturesSideBySide) {
  GIVES("f32[2, 2]; i64[2, 1]", "join_features(%0, %1)", "f32[2, 3]", 0, 0, N(1, 2, 5, 3, 4, 6),
        N(1, 2, 3, 4), N(5, 6));
  GIVES("f32[2, 2]; f64[2, 1]", "join_features(%0, %1) {sizes = [1, 3]}", "f32[2, 4]", 0, 0,
        N(1, 5, 0, 0, 3, 6, 0, 0), N(1, 2, 3, 4), N(5, 6));
}

TEST(EncodeCategories) {
  GIVES("i64[3]", "encode_categories(%0) {categories = [4, 7]}", "f32[3, 2]", 0, 0,
        N(0, 1, 1, 0, 0, 0), N(7, 4, 5));
  FAILS("i64[2]", "encode_categories(%0) {categories = [4, 7], zeros = false}", "f32[2, 2]",
        "element 1 is an unknown category", N(7, 5));
}

TEST(LabelEncodeByLists) {
  GIVES("i64[4]",
        "label_encode(%0) {dtype = \"i64\", keys_int64s = [5, 1, 3], values_int64s = [50, 10, 30], "
        "default_int64 = -7}",
        "i64[4]", 0, 0, N(10, 30, 50, -7), N(1, 3, 5, 2));
  GIVES("f32[4]",
        "label_encode(%0) {dtype = \"f32\", keys_floats = [0.5, nan], values_floats = [2.0, 3.0], "
        "default_float = -1.0}",
        "f32[4]", 0, 0, N(2, 3, -1, -1), N(0.5, NAN, 0, INFINITY));
  GIVES("i64[2]", "label_encode(%0) {dtype = \"f32\", keys_int64s = [1], values_floats = [0.25]}",
        "f32[2]", 0, 0, N(0.25, 0), N(1, 2));
  FAILS("i64[1]",
        "label_encode(%0) {dtype = \"f32\", keys_int64s = [1, 2], values_floats = [0.25]}",
        "f32[1]", "keys (2) and of values (1) differ", N(1));
}

TEST(LabelEncodeByTensors) {
  GIVES("i64[3]; i64[2]; i16[2]; i16[1]",
        "label_encode(%0, %1, %2, %3) {dtype = \"i16\", tensors = [\"keys_tensor\", "
        "\"values_tensor\", \"default_tensor\"]}",
        "i16[3]", 0, 0, N(-4, 7, 9), N(8, 2, 5), N(2, 8), N(7, -4), N(9));
}

// ONNX's example: bigrams up to five apart, and single words.
TEST(TfidfCountsNgrams) {
#define POOL                                                                     \
  "ngram_counts = [0, 4], ngram_indexes = [0, 1, 2, 3, 4, 5, 6], pool_int64s = " \
  "[2, 3, 5, 4, 5, 6, 7, 8, 6, 7]"
  numbers x = N(1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8);
  GIVES("i32[12]",
        "tfidf(%0) {columns = 7, mode = \"TF\", min_gram_length = 2, max_gram_length = 2, "
        "max_skip_count = 0, " POOL "}",
        "f32[7]", 0, 0, N(0, 0, 0, 0, 1, 1, 1), x);
  GIVES("i64[2, 6]",
        "tfidf(%0) {columns = 7, mode = \"TF\", min_gram_length = 1, max_gram_length = 2, "
        "max_skip_count = 5, " POOL "}",
        "f32[2, 7]", 0, 0, N(0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1), x);
  GIVES("i32[12]",
        "tfidf(%0) {columns = 7, mode = \"TFIDF\", min_gram_length = 1, max_gram_length = 1, "
        "max_skip_count = 0, weights = [1.0, 0.5, 2.0, 1.0, 1.0, 1.0, 1.0], " POOL "}",
        "f32[7]", 0, 0, N(0, 1.5, 2, 0, 0, 0, 0), x);
  GIVES("i32[12]",
        "tfidf(%0) {columns = 7, mode = \"IDF\", min_gram_length = 1, max_gram_length = 1, "
        "max_skip_count = 0, weights = [1.0, 0.5, 2.0, 1.0, 1.0, 1.0, 1.0], " POOL "}",
        "f32[7]", 0, 0, N(0, 0.5, 2, 0, 0, 0, 0), x);
  FAILS("i32[1]",
        "tfidf(%0) {columns = 1, mode = \"TF\", ngram_counts = [0], ngram_indexes = [1], "
        "pool_int64s = [2]}",
        "f32[1]", "column 1 of ngram_indexes is out of range (1 columns)", N(1));
}
