// Macros that op rows are written with. Rows are macros ROW_NAME in the files beside this one, one
// per kind of op; op_table.c expands them.
#ifndef STOWAGE_SRC_GRAPH_ROWS_ROWS_H_
#define STOWAGE_SRC_GRAPH_ROWS_ROWS_H_

#include "graph/folds/fold.h"
#include "graph/op_table.h"
#include "graph/shapes/in_place.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Attributes

#define NAMED(text, attr_kind) .name = {(text), sizeof(text) - 1}, .kind = (attr_kind)
#define INT(text, number)                                  \
  {                                                        \
    .value = { NAMED(text, STOW_ATTR_INT), .i = (number) } \
  }
#define FLOAT(text, number)                                  \
  {                                                          \
    .value = { NAMED(text, STOW_ATTR_FLOAT), .f = (number) } \
  }
#define BOOL(text, truth)                                  \
  {                                                        \
    .value = { NAMED(text, STOW_ATTR_BOOL), .b = (truth) } \
  }
#define STRING(text, string)                                                        \
  {                                                                                 \
    .value = { NAMED(text, STOW_ATTR_STRING), .s = {(string), sizeof(string) - 1} } \
  }
#define INTS(text)                           \
  {                                          \
    .value = { NAMED(text, STOW_ATTR_INTS) } \
  }  // the empty list
#define REQUIRED(text, attr_kind) \
  { .value = {NAMED(text, attr_kind)}, .required = true }
#define REQUIRED_INT(text) REQUIRED(text, STOW_ATTR_INT)
#define EPSILON FLOAT("epsilon", 1e-5)

typedef stowi_graph_attr_spec spec;

// ---------------------------------------------------------------------------------------------
// Parts of rows

#define ABOUT(text) .desc.summary = (text)
#define OPERANDS(least, most) .desc.min_operands = (least), .desc.max_operands = (most)
#define RESULTS(least, most) .desc.min_results = (least), .desc.max_results = (most)
#define INFERRED(function) .desc.typing = STOW_TYPING_INFERRED, .desc.shape = (function)
#define CHECKED(function) .desc.typing = STOW_TYPING_CHECKED, .desc.shape = (function)
#define DECLARED .desc.typing = STOW_TYPING_DECLARED, .desc.shape = NULL
#define VIEW(function) .desc.view = (function)
#define IN_PLACE(function) .desc.in_place = (function)
#define ATTRS(list) .attrs = (list), .attr_count = sizeof(list) / sizeof((list)[0])
#define ANY STOW_ANY_COUNT

// Rows of many ops that differ only in the text.
#define UNARY(text)                                                             \
  ABOUT(text), OPERANDS(1, 1), RESULTS(1, 1), INFERRED(stowi_graph_shape_same), \
      IN_PLACE(stowi_graph_in_place_index)
#define BINARY(text)                                                              \
  ABOUT(text), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_graph_shape_binary), \
      IN_PLACE(stowi_graph_in_place_index)
#define VARIADIC(text)                                                                \
  ABOUT(text), OPERANDS(1, ANY), RESULTS(1, 1), INFERRED(stowi_graph_shape_variadic), \
      IN_PLACE(stowi_graph_in_place_index)
#define LOGICAL(text)                                                              \
  ABOUT(text), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_graph_shape_logical), \
      IN_PLACE(stowi_graph_in_place_index)
#define COMPARE(text)                                                              \
  ABOUT(text), OPERANDS(2, 2), RESULTS(1, 1), INFERRED(stowi_graph_shape_compare), \
      IN_PLACE(stowi_graph_in_place_index)

#define FOLD(function) .desc.fold = (function)

#endif  // STOWAGE_SRC_GRAPH_ROWS_ROWS_H_
