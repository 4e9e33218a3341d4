// Programs for every shape of a range: what a shape changes, as numbers that the program evaluates
// itself (program/numbers.h), and the code of each region.
#ifndef STOWAGE_SRC_EXPORT_RANGE_H_
#define STOWAGE_SRC_EXPORT_RANGE_H_

#include "base/alloc.h"
#include "exec/api.h"
#include "export/program/fields.h"
#include "export/program/numbers.h"
#include "plan/api.h"

#define STOWI_EXPORT_NO_NUMBER UINT32_MAX
#define STOWI_EXPORT_ALIGNMENT 64  // of scratch that the plan has no place for
#define STOWI_EXPORT_MOST_PRICES STOWI_EXEC_MOST_PRICES

// Instructions, and how many numbers they have on the stack.
typedef struct stowi_export_instructions {
  STOWI_VEC(uint32_t) code;
  size_t depth;
} stowi_export_instructions;

// A dim that has a number.
typedef struct stowi_export_dim {
  stow_dim dim;
  uint32_t number;
} stowi_export_dim;

// Bytes that places are in: the arena, what the caller binds, a weight.
typedef struct stowi_export_memory {
  size_t weight;  // SIZE_MAX: none
  stow_value port;
} stowi_export_memory;

// Where a value's bytes are: in the arena, in a weight, in memory that the caller binds, or
// nowhere.
typedef struct stowi_export_place {
  bool is_there;
  bool is_external;
  size_t weight;    // its index; SIZE_MAX: in none
  stow_value port;  // whose memory it is, where |is_external|
  uint64_t offset;
} stowi_export_place;

// Where a value is, in a region: so many bytes into a memory.
typedef struct stowi_export_spot {
  uint32_t memory;
  uint32_t number;
} stowi_export_spot;

// What a number is at every point.
typedef struct stowi_export_basis {
  uint32_t number;
  int64_t* values;
} stowi_export_basis;

// Something about blocks that may depend on the shape (program/blocks.h).
typedef struct stowi_export_field {
  stow_program_field field;
  uint32_t index;
  uint32_t axis;
  uint32_t number;  // STOWI_EXPORT_NO_NUMBER: it is the same everywhere
} stowi_export_field;

// What is patched: cuts, or a body.
typedef struct stowi_export_patched {
  size_t field_count;  // 0: there is none at any point
  stowi_export_field* fields;
  int64_t* series;  // by field, then point
  uint8_t* known;   // by point: whether it is there
} stowi_export_patched;

// Sizes of blocks: those that are not the smallest one, by number, then the smallest.
#define STOWI_EXPORT_SIZES STOWI_EXPORT_MOST_PRICES
typedef struct stowi_export_size {
  bool is_there;                  // at the last point
  uint32_t tail_rows;             // a number
  stowi_export_patched parts[2];  // body and tail
} stowi_export_size;

// A `blocks` node.
typedef struct stowi_export_blocks {
  stow_node node;
  uint64_t hash;    // of the bodies that it has at all points
  size_t same;      // the first node with the same ones
  int64_t* prices;  // by size, then point
  stowi_export_patched cuts;
  stowi_export_size sizes[STOWI_EXPORT_SIZES];
} stowi_export_blocks;

// By node; no prices: it has no scratch.
typedef struct stowi_export_prices {
  size_t first;  // among all
  uint32_t count;
  uint32_t variants[STOWI_EXPORT_MOST_PRICES];
  // Expressions of the formula plan; STOWI_EXPORT_NO_NUMBER: a number of the program.
  uint32_t exprs[STOWI_EXPORT_MOST_PRICES];
  uint32_t numbers[STOWI_EXPORT_MOST_PRICES];
} stowi_export_prices;

// Scratch of a node, in a region; all are numbers.
typedef struct stowi_export_room {
  uint32_t at;
  uint32_t size;
  uint32_t above;
} stowi_export_room;

// Points with the same order and code.
typedef struct stowi_export_region {
  size_t last;  // its last point
  const stow_plan* plan;
  stowi_exec_code code;
  stowi_export_instructions words;
  uint32_t* offsets;           // by buffer: its number
  uint32_t* ends;              // by part; STOWI_EXPORT_NO_NUMBER: not needed
  stowi_export_place* places;  // by value, at the last point
  stowi_export_spot* spots;    // by value, of tensors that change
  stowi_export_room* rooms;    // by node
} stowi_export_region;

typedef struct stowi_export_range {
  stow_prepared* prepared;
  stow_formula* formula;
  stowi_plan_mover* mover;
  size_t symbol_count;
  size_t all_symbols;  // of the graph
  size_t* symbols;     // their indices in the graph
  int64_t* values;     // at a point
  int64_t* all_values;
  size_t region_count;
  stowi_export_region* regions;
  stowi_exec_code now;              // at a point
  stowi_export_instructions words;  // of all regions
  STOWI_VEC(int64_t) longs;
  STOWI_VEC(uint32_t) cells;
  STOWI_VEC(stowi_export_dim) dims;
  STOWI_VEC(stowi_export_basis) bases;
  STOWI_VEC(stowi_export_blocks) blocks;  // by node
  size_t table_count;
  uint32_t* tables;  // by expression: the number of a table
  uint32_t common_count;
  uint32_t number_count;
  STOWI_VEC(stowi_export_memory) memories;
  stowi_export_prices* prices;  // by node
  size_t price_count;
  uint64_t* most_bytes;  // by value: at any point
  int64_t* numbers;      // for checking
} stowi_export_range;

// The number of price |i| of |node|.
uint32_t stowi_export_price_number(const stowi_export_range* range, stow_node node, uint32_t i);
// The number of an expression of the formula plan that has one.
uint32_t stowi_export_number_of(const stowi_export_range* range, uint32_t expr);

#endif  // STOWAGE_SRC_EXPORT_RANGE_H_
