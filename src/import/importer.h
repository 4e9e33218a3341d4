// What the files of this room share and providers need not know.
#ifndef STOWAGE_SRC_IMPORT_IMPORTER_H_
#define STOWAGE_SRC_IMPORT_IMPORTER_H_

#include "import/api.h"

// ---------------------------------------------------------------------------------------------
// Requests and imports

typedef struct stowi_import_asked_bind {
  stow_str symbol;
  int64_t value;         // negative: |range|
  stow_dim_range range;  // step 0: none
} stowi_import_asked_bind;

struct stowi_import_asked_value {
  stow_str input;
  bool has_type;   // false: numbers, int64_t
  stow_type type;  // of the bytes
  void* data;
  size_t count;
  size_t element_size;
};

struct stow_import_request {
  stow_allocator allocator;
  STOWI_VEC(stowi_import_asked_bind) binds;
  STOWI_VEC(stowi_import_asked_shape) shapes;
  STOWI_VEC(stowi_import_asked_value) values;
  bool has_rest;
  int64_t rest;
  uint32_t flags;
};

typedef struct stowi_import_block {
  void* bytes;
  size_t size;
} stowi_import_block;

struct stow_import {
  stow_allocator allocator;
  stow_graph* full;             // as imported
  stow_graph* simple;           // without unused nodes; NULL: not asked for
  bool is_whole;                // all outputs could be imported
  STOWI_VEC(stow_str) symbols;  // of inputs, without a value
  STOWI_VEC(stow_import_issue) issues;
  STOWI_VEC(stowi_import_block) blocks;  // bytes that the graph borrows, and the issues' texts
};

// ---------------------------------------------------------------------------------------------
// What was asked for and what there is: asked.c

// Notes names with what was asked for them.
stow_status stowi_import_note_asked(stowi_import_importer* imp);
// Fails where a value is given for something other than an input or weight.
stow_status stowi_import_check_asked_values(stowi_import_importer* imp);
// Fails where a shape is given for an unknown tensor; when all are made.
stow_status stowi_import_check_asked_shapes(stowi_import_importer* imp);
// Fails because no dim is named |text|, unless the request allows that.
stow_status stowi_import_check_symbol(stowi_import_importer* imp, stow_str text);
// Fails because nothing makes the output |text|.
stow_status stowi_import_fail_output(stowi_import_importer* imp, stow_str text);

// ---------------------------------------------------------------------------------------------
// Symbols and inputs: symbols.c, inputs.c

// The dim that a symbol stands for: its number, else what its name says as an expression of other
// inputs' symbols (exporters write `past + seq`), else the symbol itself.
stow_status stowi_import_symbol_dim(stowi_import_importer* imp, stow_str text, stow_dim* out_dim);
// Name of dim |axis| of an input: the file's, or INPUT.AXIS. Valid until the next call.
stow_status stowi_import_dim_name(stowi_import_importer* imp, const stowi_import_info* info,
                                  size_t axis, stow_str* out_name);
// Gives every symbol the number that was asked for, by name, by a value's or a shape's dims, or as
// the rest.
stow_status stowi_import_settle_symbols(stowi_import_importer* imp);
// Inputs of the graph, after that.
stow_status stowi_import_inputs(stowi_import_importer* imp);
// The value that was asked for, as bytes of |type|, whose dims are numbers.
stow_status stowi_import_asked_bytes(stowi_import_importer* imp,
                                     const stowi_import_asked_value* value, const stow_type* type,
                                     void** out_bytes, size_t* out_size);

// Adds an issue with the number of tensors with other declared types that were left out:
// declared.c.
stow_status stowi_import_report_declared(stowi_import_importer* imp);

#endif  // STOWAGE_SRC_IMPORT_IMPORTER_H_
