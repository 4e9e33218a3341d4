// Models as C programs of their own. What was prepared and planned becomes a list of files: the
// arena, the program's tables and the function that runs them, the weights, and the kernels that
// the program needs. Nothing here touches a disk; whoever calls decides where files go.
//
//     stow_prepare, stow_plan_make ─▶ stowi_export_create ─▶ files by name, each to a writer
#ifndef STOWAGE_SRC_EXPORT_API_H_
#define STOWAGE_SRC_EXPORT_API_H_

#include <stowage/exec.h>
#include <stowage/formula.h>

#define STOWI_EXPORT_NAME_SIZE 64

typedef struct stowi_export stowi_export;

typedef struct stowi_export_options {
  const char* name;              // of the program: see stowi_export_is_name
  const stow_str* output_names;  // one for each output of the graph
  // As in stow_exec_options.
  const void* (*weight)(void* user, stow_value value, size_t* out_size);
  void* user;
} stowi_export_options;

// An input or output of the program.
typedef struct stowi_export_port {
  stow_value value;
  bool is_output;
  bool is_kept;      // an input that no run writes over
  bool is_external;  // the caller binds its memory
  stow_str name;     // in the model
  char identifier[STOWI_EXPORT_NAME_SIZE];
} stowi_export_port;

// Finds all that the program of |prepared| consists of. |plan| is proven for it. Both are borrowed,
// as are names and weights, until stowi_export_destroy. STOW_ERR_DATA_DEPENDENT or
// STOW_ERR_UNSUPPORTED, naming it, if there is something that no program can have.
stow_status stowi_export_create(const stow_prepared* prepared, const stow_plan* plan,
                                const stowi_export_options* options, stow_allocator allocator,
                                stow_diag* diag, stowi_export** out_program);
// The same for every shape of |formula|, a proven plan of a range, for which |prepared| is. Both
// are changed: they end at the last point.
stow_status stowi_export_create_range(stow_prepared* prepared, stow_formula* formula,
                                      const stowi_export_options* options, stow_allocator allocator,
                                      stow_diag* diag, stowi_export** out_program);
void stowi_export_destroy(stowi_export* program);

// Files, as paths relative to the program's folder.
size_t stowi_export_file_count(const stowi_export* program);
const char* stowi_export_file_name(const stowi_export* program, size_t index);
// Writes one of them. Returns what the writer did.
stow_status stowi_export_file_write(const stowi_export* program, size_t index, stow_writer writer);

const stowi_export_port* stowi_export_ports(const stowi_export* program, size_t* out_count);
// Of the arena: for the largest shape.
uint64_t stowi_export_arena_bytes(const stowi_export* program);
// How many shapes it has; 1 without a range.
size_t stowi_export_shape_count(const stowi_export* program);
uint64_t stowi_export_weight_bytes(const stowi_export* program);
// Of ports that the caller binds.
uint64_t stowi_export_external_bytes(const stowi_export* program);
// Calls of kernels.
size_t stowi_export_step_count(const stowi_export* program);

// An identifier: letters, digits and `_`, cut where it is too long; the rest becomes `_`. Of
// nothing: "x".
void stowi_export_identifier(stow_str text, char out[STOWI_EXPORT_NAME_SIZE]);
// Whether |text| is an identifier that a program may have as its name.
bool stowi_export_is_name(const char* text);

#endif  // STOWAGE_SRC_EXPORT_API_H_
