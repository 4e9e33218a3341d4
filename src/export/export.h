// The inside of an exported program. The plan's offsets, the program's tables, the kernels that it
// uses and the weights become files; what runs them is a few files that are the same for every
// program (program/).
#ifndef STOWAGE_SRC_EXPORT_EXPORT_H_
#define STOWAGE_SRC_EXPORT_EXPORT_H_

#include "base/alloc.h"
#include "exec/api.h"
#include "export/api.h"
#include "export/range.h"
#include "export/sources.h"
#include "export/words.h"

// A param, constant or known input whose bytes are in the program.
typedef struct stowi_export_weight {
  stow_value value;
  const void* data;
  size_t size;
  size_t file;     // the number of the file that it is in
  bool is_packed;  // for the kernel that reads it
  bool is_preset;  // it lives in the arena, and is put there before every run
} stowi_export_weight;

// Where a value's tensor is: tensors that a bind changes are in a table of their own, so that the
// others stay constant.
typedef struct stowi_export_tensor {
  bool is_bound;
  uint32_t index;
} stowi_export_tensor;

// |index| is that of a weight file or a source.
typedef void (*stowi_export_print)(stowi_export_out* out, const stowi_export* program,
                                   size_t index);

// "digits_weights.c", "digits_weights_2.c"
#define STOWI_EXPORT_FILE_SIZE (STOWI_EXPORT_NAME_SIZE + 64)
typedef struct stowi_export_file {
  char name[STOWI_EXPORT_FILE_SIZE];
  stowi_export_print print;
  size_t index;
} stowi_export_file;

struct stowi_export {
  stow_allocator allocator;
  stowi_export_options options;
  char macro[STOWI_EXPORT_NAME_SIZE];  // the name in capitals
  const stow_graph* graph;
  const stow_plan* plan;
  const stow_prepared* prepared;
  const stowi_exec_program* tables;  // of what was prepared
  stowi_exec_code code;
  STOWI_VEC(stowi_export_port) ports;
  STOWI_VEC(stowi_export_weight) weights;
  STOWI_VEC(stowi_export_file) files;
  stowi_export_place* places;    // by value
  stowi_export_tensor* tensors;  // by value
  uint32_t bound_count;          // of those that a bind changes
  stow_node* attrs;              // by node: the first one that has the same attributes
  STOWI_VEC(const stowi_kernel_block_body*) bodies;  // functions of `blocks` nodes
  size_t step_count;
  size_t weight_files;
  uint64_t weight_bytes;
  bool has_regions;
  stowi_export_range* range;  // NULL: it is for one shape
  stowi_export_set library;   // sources that the model needs
  stowi_export_set tool;      // and those that its command line needs besides
};

// What the program consists of (layout.c, ports.c). All is freed by stowi_export_destroy.
stow_status stowi_export_lay_out(stowi_export* program, stow_diag* diag);
// The places of all values in |program->plan|, as dims are now.
stow_status stowi_export_place_values(stowi_export* program, stow_diag* diag);
// Adds what the calls of |code| need, and refuses what no program can do.
stow_status stowi_export_add_code(stowi_export* program, const stowi_exec_code* code,
                                  stow_diag* diag);
// Fails with |status|: "%7 "name" |why|".
stow_status stowi_export_refuse(const stowi_export* program, stow_value value, stow_status status,
                                const char* why, stow_diag* diag);
stow_status stowi_export_find_ports(stowi_export* program, stow_diag* diag);

// `tensors[7]` or `bound[2]`
void stowi_export_put_tensor(stowi_export_out* out, const stowi_export* program, stow_value value);

// `STOW_F32, 2, {3, 4}, {0}`: a tensor but for its data.
void stowi_export_put_dims(stowi_export_out* out, stow_dtype dtype, uint32_t rank,
                           const int64_t* dims, const int64_t* strides);
// attrs_ID and attr_ids_ID; nothing if there are none.
void stowi_export_print_attrs(stowi_export_out* out, const char* id, const stow_attr* attrs,
                              const uint16_t* ids, size_t count);
// Adds the sources of the kernel of |op|.
stow_status stowi_export_add_kernel(stowi_export* program, stow_op op, stow_diag* diag);

// `blocks` nodes (blocks.c). What |node| is run with; NULL: it is another op.
const stowi_kernel_blocks* stowi_export_blocks_of(const stowi_export* program, stow_node node);
// Adds what |node| needs; nothing if it is another op.
stow_status stowi_export_add_blocks(stowi_export* program, stow_node node, stow_diag* diag);
void stowi_export_print_blocks(stowi_export_out* out, const stowi_export* program);
// Adds |body|, and the kernels of its steps; its number.
stow_status stowi_export_add_body(stowi_export* program, const stowi_kernel_block_body* body,
                                  stow_diag* diag);
size_t stowi_export_find_body(const stowi_export* program, const stowi_kernel_block_body* body);
// cuts_NODE
void stowi_export_print_cuts(stowi_export_out* out, const stowi_export* program, stow_node node);

// `stream` nodes (stream.c), likewise. STOW_ERR_UNSUPPORTED in a program of a range.
const stowi_kernel_stream* stowi_export_stream_of(const stowi_export* program, stow_node node);
bool stowi_export_has_streams(const stowi_export* program);
stow_status stowi_export_add_stream(stowi_export* program, stow_node node, stow_diag* diag);
void stowi_export_print_streams(stowi_export_out* out, const stowi_export* program);

// `blocks` along a range (range_blocks.c). Lists such nodes; notes their bodies at a point, and
// then which nodes have the same; notes all about them; finds numbers, and whether they are right.
stow_status stowi_export_list_blocks(stowi_export* program, stow_diag* diag);
stow_status stowi_export_survey_blocks(stowi_export* program, size_t point, bool is_first,
                                       stow_diag* diag);
void stowi_export_group_blocks(stowi_export* program);
stow_status stowi_export_fit_blocks(stowi_export* program);
stow_status stowi_export_check_blocks(const stowi_export* program, size_t point, stow_diag* diag);
void stowi_export_free_blocks(stowi_export* program);
// Adds the bodies of the last point, and prints all.
stow_status stowi_export_add_shaped(stowi_export* program, stow_diag* diag);
void stowi_export_print_shaped(stowi_export_out* out, const stowi_export* program);

// Ranges (range.c, numbers.c, fit.c). Surveys all points and finds the code of each region, with
// the plan of the last one as the program's; then, when values have places, the numbers that these
// follow from, which are proven at every point. Freed also after a failure.
stow_status stowi_export_range_begin(stowi_export* program, stow_diag* diag);
stow_status stowi_export_range_finish(stowi_export* program, stow_diag* diag);
void stowi_export_range_destroy(stowi_export* program);
// Moves prepared and plan to |point|.
stow_status stowi_export_range_move(stowi_export* program, size_t point, stow_diag* diag);
// The numbers of |region|, and those of all.
stow_status stowi_export_make_numbers(stowi_export* program, stow_diag* diag);
// The number that is |series| at every point that is known, below 2^32; NULL: all are. Added to
// those of all regions if there is none. STOW_ERR_LIMIT, STOW_ERR_OUT_OF_MEMORY.
stow_status stowi_export_fit(stowi_export* program, const int64_t* series, const uint8_t* known,
                             uint32_t* out_number);
// The region of |point|.
size_t stowi_export_region_of(const stowi_export* program, size_t point);
// The memory of |place|, added if it is new.
stow_status stowi_export_find_memory(stowi_export* program, const stowi_export_place* place,
                                     uint32_t* out_memory);
// The memory that |port| is bound to; 0: none, as it is in the arena.
uint32_t stowi_export_port_memory(const stowi_export* program, stow_value port);
// Bytes of |value|: the most that it has.
uint64_t stowi_export_bytes(const stowi_export* program, stow_value value);

// STOW_OP_… without its prefix: CONV.
const char* stowi_export_op(stow_op op);

// The files of the program.
void stowi_export_print_header(stowi_export_out* out, const stowi_export* program, size_t unused);
void stowi_export_print_tables(stowi_export_out* out, const stowi_export* program, size_t unused);
void stowi_export_print_main(stowi_export_out* out, const stowi_export* program, size_t unused);
void stowi_export_print_makefile(stowi_export_out* out, const stowi_export* program, size_t unused);
void stowi_export_print_readme(stowi_export_out* out, const stowi_export* program, size_t unused);
void stowi_export_print_weights_header(stowi_export_out* out, const stowi_export* program,
                                       size_t unused);
void stowi_export_print_weights(stowi_export_out* out, const stowi_export* program, size_t number);
// Parts of the tables: what runs the steps (flow.c), and what shapes change (range_tables.c).
void stowi_export_print_flow(stowi_export_out* out, const stowi_export* program);
void stowi_export_print_memories(stowi_export_out* out, const stowi_export* program);
void stowi_export_print_rooms(stowi_export_out* out, const stowi_export* program,
                              const stowi_exec_code* code, size_t region);
void stowi_export_print_range(stowi_export_out* out, const stowi_export* program);
void stowi_export_print_bind(stowi_export_out* out, const stowi_export* program, bool defines);
// The node of the next call of |code| at or after |*at|, which moves behind it; STOW_NODE_NONE:
// none.
stow_node stowi_export_next_call(const stowi_exec_code* code, size_t* at);
void stowi_export_weights_name(const stowi_export* program, size_t number,
                               char out[STOWI_EXPORT_FILE_SIZE]);

#endif  // STOWAGE_SRC_EXPORT_EXPORT_H_
