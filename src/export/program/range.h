// A program for every shape of a range: what a shape changes, and how a step is run then. Sizes and
// places follow from the symbols' values (numbers.h); they are evaluated when a shape is bound.
#ifndef STOWAGE_PROGRAM_RANGE_H_
#define STOWAGE_PROGRAM_RANGE_H_

#include "program/numbers.h"
#include "program/program.h"
#include "program/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

// Its values: |min|, |min| + |step|, …, |max|.
typedef struct stow_program_symbol {
  stow_str name;  // in the model; also followed by a NUL
  int64_t min;
  int64_t max;
  int64_t step;
} stow_program_symbol;

// A dim of a tensor that changes.
typedef struct stow_program_dim {
  uint32_t tensor;
  uint32_t axis;
  uint32_t number;
} stow_program_dim;

// Where a tensor is: so many bytes into a memory.
typedef struct stow_program_place {
  uint32_t tensor;
  uint32_t memory;  // 0: the arena
  uint32_t number;
} stow_program_place;

// A variant of a step's kernel, and the scratch that it needs.
typedef struct stow_program_price {
  uint32_t variant;
  uint32_t number;
} stow_program_price;

// The scratch of a step: what the plan gives it, or what is free above all that lives then.
typedef struct stow_program_room {
  uint32_t at;  // numbers
  uint32_t size;
  uint32_t above;
  uint32_t first_price;  // the fastest one
  uint32_t price_count;  // 0: no scratch
} stow_program_room;

// Shapes that have the same order of steps.
typedef struct stow_program_region {
  stow_program_formula formula;
  const stow_program_place* places;
} stow_program_region;

typedef struct stow_program_range stow_program_range;
struct stow_program_range {
  const stow_program* program;
  size_t symbol_count;
  const stow_program_symbol* symbols;
  stow_program_formula formula;  // of all regions, before the region's own
  const stow_program_region* regions;
  // Rows of: a region, then the first and the last value of each symbol.
  size_t box_count;
  const int64_t* boxes;
  size_t dim_count;
  const stow_program_dim* dims;
  size_t place_count;
  const stow_program_price* prices;
  // What a shape changes:
  stow_tensor* tensors;
  unsigned char** memories;
  int64_t* numbers;
  uint32_t* region;  // UINT32_MAX: no shape is bound
  stow_program_state* state;
  // What the kernel of `blocks` is run with, for the price that was chosen (program/blocks.h);
  // NULL: there are no such steps.
  const void* (*blocks)(const stow_program_range* range, const void* user, uint32_t price);
  void* blocks_room;
};

// STOW_ERR_NOT_FOUND, and nothing changes, if a value is not in its symbol's range.
stow_status stow_program_bind(const stow_program_range* range, const int64_t* values);
// Binds |memory| to |data|.
void stow_program_bind_memory(const stow_program_range* range, uint32_t memory, const void* data);
// False if no shape is bound, or a memory that has bytes of |tensor| is not.
bool stow_program_is_bound(const stow_program_range* range);
bool stow_program_has_memory(const stow_program_range* range, const stow_tensor* tensor,
                             const char* name);
// stow_program_run, with the scratch of each step.
bool stow_program_run_bound(const stow_program_range* range, const stow_program_step* steps,
                            const stow_program_room* rooms, size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_PROGRAM_RANGE_H_
