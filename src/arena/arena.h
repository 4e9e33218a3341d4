// Internals shared by the files of the arena.
#ifndef STOWAGE_SRC_ARENA_ARENA_H_
#define STOWAGE_SRC_ARENA_ARENA_H_

#include <stowage/arena.h>

#define STOWI_ARENA_ITEM_NONE UINT32_MAX
#define STOWI_ARENA_STEP_NONE UINT32_MAX

// The part of a root or of scratch that steps and guards need. In two lists: by the step it begins
// at, and by the step it ends at.
typedef struct stowi_arena_item {
  size_t offset;
  size_t size;
  size_t guard;
  uint64_t armed;  // the generation in which the guard was filled, plus one; 0: never
  uint32_t begin;  // live over steps [begin, end)
  uint32_t end;
  stow_value value;  // STOW_VALUE_NONE: scratch
  uint32_t next_born;
  uint32_t next_dead;
} stowi_arena_item;

// At the start of its block; tables and bytes follow.
struct stow_arena {
  const stow_plan* plan;
  stow_allocator allocator;
  size_t block_size;
  size_t block_alignment;
  unsigned char* base;
  size_t size;
  size_t reach;  // bytes from |base| that may be poisoned: in our own memory, to the end of
                 // the last granule
  uint64_t generation;
  stow_arena_options options;
  uint32_t step_count;  // n
  uint32_t step;        // the current step; STOWI_ARENA_STEP_NONE: none
  size_t item_count;
  stowi_arena_item* items;
  uint32_t* born;  // by step, 0 … n: the first item
  uint32_t* dead;  // by step, 0 … n + 1
};

// The number of items that the options need for |plan|.
size_t stowi_arena_count_items(const stow_plan* plan, const stow_arena_options* options);
// Fills the tables of |arena|, and the guards of everything that is live from the start.
void stowi_arena_fill_tables(stow_arena* arena);

#endif  // STOWAGE_SRC_ARENA_ARENA_H_
