// The graphs of a set, what they keep between runs, and which of it is the same.
#ifndef STOWAGE_SRC_PLAN_SET_SET_H_
#define STOWAGE_SRC_PLAN_SET_SET_H_

#include <stowage/set.h>

#include "plan/make/make.h"

typedef struct stowi_plan_member {
  const stow_graph* graph;
  const stow_effects* effects;
  const stow_schedule* schedule;
  stow_plan* plan;  // of the graph alone, then in the set
  uint64_t alone;   // the arena of the first
  // While the set is placed:
  bool prepared;           // the rest is in
  stowi_plan_maker maker;  // of the plan in the set
  bool* kept;              // by value: roots that are kept between runs
  bool* state;             // those of them that the graph may change
} stowi_plan_member;

#define STOWI_PLAN_ENTRY_NONE SIZE_MAX

// A root that is kept between runs, in one graph or in several.
typedef struct stowi_plan_resident {
  uint64_t size;
  uint64_t guard;
  uint64_t alignment;
  uint64_t fixed;  // STOW_PLACE_ANYWHERE
  size_t members;  // number of members that have it
  // The first of its entries; the first that is fixed, is state, has data, and has none.
  // STOWI_PLAN_ENTRY_NONE: there is none.
  size_t first_entry;
  size_t fixed_entry;
  size_t state_entry;
  size_t data_entry;
  size_t open_entry;
} stowi_plan_resident;

// A kept root of one member.
typedef struct stowi_plan_entry {
  stow_str name;
  uint32_t member;
  stow_value value;
  size_t resident;
} stowi_plan_entry;

typedef struct stowi_plan_residents {
  const stowi_plan_member* members;
  size_t member_count;
  size_t entry_count;
  stowi_plan_entry* entries;  // by name, member, value
  size_t count;
  stowi_plan_resident* list;  // room for one per entry
  stow_allocator allocator;
} stowi_plan_residents;

// kept.c

// For prepared members, which |out_residents| refers to. STOW_ERR_TYPE for state of one name and
// two sizes, STOW_ERR_CONFLICT for a kept root fixed at two offsets, and for one that could be
// either of two. Free it even after a failure.
stow_status stowi_plan_residents_create(const stowi_plan_member* members, size_t count,
                                        stow_allocator allocator, stow_diag* diag,
                                        stowi_plan_residents* out_residents);
void stowi_plan_residents_free(stowi_plan_residents* residents);
// Reserves in the plan of member |index| what others have there: kept roots that it does not have,
// and guards beyond its own. Kept root i is buffer i of |placement|.
stow_status stowi_plan_residents_reserve(const stowi_plan_residents* residents,
                                         const stow_placement* placement, size_t index,
                                         stow_diag* diag);
void stowi_plan_residents_count_shared(const stowi_plan_residents* residents, size_t* out_count,
                                       uint64_t* out_bytes);

// fixed.c

// Checks that everything fixed, in any member, is aligned and disjoint. STOW_ERR_CONFLICT, naming
// both graphs.
stow_status stowi_plan_residents_check_fixed(const stowi_plan_residents* residents,
                                             stow_diag* diag);

// A value of a member in diagnostics: `%7 "name" of @graph`.
typedef struct stowi_plan_member_text {
  char text[384];
} stowi_plan_member_text;
stowi_plan_member_text stowi_plan_name_in_member(const stowi_plan_member* member, stow_value value);

#endif  // STOWAGE_SRC_PLAN_SET_SET_H_
