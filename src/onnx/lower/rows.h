// The tables of this folder, and how their rows are written. Rows of ONNX's own domain have macros,
// the others stand as they are.
#ifndef STOWAGE_SRC_ONNX_LOWER_ROWS_H_
#define STOWAGE_SRC_ONNX_LOWER_ROWS_H_

#include "onnx/lower/lower.h"

#define MICROSOFT "com.microsoft"
#define ML "ai.onnx.ml"
#define TRAINING "ai.onnx.preview.training"

// The two members of a row, or of a table, that are a list.
#define LIST(list) (list), sizeof(list) / sizeof((list)[0])

// One core node without attributes.
#define PLAIN(text, version, core) \
  { "", (text), (version), STOW_OP_##core, NULL, 0, NULL }
// One core node with attributes.
#define WITH(text, version, core, maps) \
  { "", (text), (version), STOW_OP_##core, LIST(maps), NULL }
// What a function makes of it; BY has a map of attributes, ONLY_BY reads them itself.
#define BY(text, version, core, maps, function) \
  { "", (text), (version), STOW_OP_##core, LIST(maps), (function) }
#define ONLY_BY(text, version, core, function) \
  { "", (text), (version), STOW_OP_##core, NULL, 0, (function) }

// The tables, one per file; table.c searches them.
extern const stowi_onnx_lower_table stowi_onnx_lower_attention_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_control_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_experimental_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_geometry_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_index_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_math_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_matrix_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_microsoft_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_ml_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_norm_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_quant_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_refused_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_shape_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_signal_table;
extern const stowi_onnx_lower_table stowi_onnx_lower_window_table;

#endif  // STOWAGE_SRC_ONNX_LOWER_ROWS_H_
