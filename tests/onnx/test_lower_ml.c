// Which core ops the trees, machines and encoders of ai.onnx.ml become.
#include "onnx/lowering_case.h"
#include "support/test.h"

TEST(ModelsKeepTheirTables) {
  static const lowering_case cases[] = {
      {17, "ml:TreeEnsembleClassifier", "f32 5 4", "classlabels_int64s=0,1,2", "l y",
       "{kind = \"trees\", columns = 3, classlabels_int64s = [0, 1, 2]} : i64[5], f32[5, 3]"},
      {17, "ml:TreeEnsembleClassifier", "f32 5 4", "classlabels_strings=a,b", "l y",
       "strings are not supported (attribute \"classlabels_strings\")"},
      {17, "ml:TreeEnsembleClassifier", "f32 5 4",
       "classlabels_int64s=0,1 base_values_as_tensor=@f32", "l y",
       "classifier(%0, %1) {tensors = [\"base_values_as_tensor\"], kind = \"trees\""},
      {17, "ml:TreeEnsembleClassifier", "f32 5 4",
       "classlabels_int64s=0,1 base_values_as_tensor=@string", "l y",
       "strings are not supported (attribute \"base_values_as_tensor\")"},
      {17, "ml:TreeEnsembleRegressor", "f32 5 4", "target_ids=0,2,1", "y", ": f32[5, 3]"},
      {17, "ml:TreeEnsembleRegressor", "f32 5 4", "n_targets=2", "y", ": f32[5, 2]"},
      {17, "ml:TreeEnsemble", "f32 5 4", "leaf_targetids=0,1 leaf_weights=@f32", "y",
       "tree_ensemble(%0, %1)"},
      {17, "ml:SVMClassifier", "f32 5 4", "classlabels_ints=0,1,2,3 vectors_per_class=1,1,1,1",
       "l y", "columns = 6"},
      {17, "ml:SVMClassifier", "f32 5 4",
       "classlabels_ints=0,1,2,3 vectors_per_class=1,1,1,1 prob_a=0.5,0.5", "l y", "columns = 4"},
      {17, "ml:SVMRegressor", "f32 5 4", "", "y", ": f32[5, 1]"},
      {17, "ml:LinearClassifier", "f32 5 4", "", "l y", "has no labels"},
      {17, "ml:LinearRegressor", "f32 5 4", "targets=2 coefficients=1.0,0.5,", "y", ": f32[5, 2]"}};
  CHECK_CASES(cases);
}

TEST(FeaturesAreLowered) {
  static const lowering_case cases[] = {
      {17, "ml:OneHotEncoder", "i32 5", "cats_int64s=0,1,2", "y", "f32[5, 3]"},
      {17, "ml:LabelEncoder", "i32 5", "values_int64s=0,1,2", "y", "dtype = \"i64\""},
      {17, "ml:LabelEncoder", "i32 5", "values_tensor=@f32", "y", "dtype = \"f32\""},
      {17, "ml:LabelEncoder", "i32 5", "", "y", "no attribute has numeric values"},
      {9, "TfIdfVectorizer", "i32 5", "ngram_indexes=0,1,2", "y", "columns = 3"}};
  CHECK_CASES(cases);
}
