// What changes from shape to shape of a range, kept for each of them: moving to a shape then copies
// numbers and computes none.
#ifndef STOWAGE_SRC_EXEC_RUN_CHANGES_H_
#define STOWAGE_SRC_EXEC_RUN_CHANGES_H_

#include <stowage/base.h>

// Numbers, each in memory of its own that stays where it is. They are named first, then noted at
// every point where they were computed, and can then be set to those of any of these.
typedef struct stowi_exec_changes stowi_exec_changes;

stow_status stowi_exec_changes_create(size_t point_count, stow_allocator allocator, stow_diag* diag,
                                      stowi_exec_changes** out_changes);
void stowi_exec_changes_destroy(stowi_exec_changes* changes);

// Names |size| bytes at |at|: numbers of 8 or 4 bytes, or one of a byte. |to| is a
// stowi_exec_changes. Where memory runs out, the next call of stowi_exec_changes_note fails.
void stowi_exec_changes_name(void* to, void* at, size_t size);
// Notes the numbers as those of |point|. |*out_is_worth| is false if there are too many: |changes|
// can only be destroyed then.
stow_status stowi_exec_changes_note(stowi_exec_changes* changes, size_t point, stow_diag* diag,
                                    bool* out_is_worth);
// All points are noted. Forgets numbers that are the same at each.
stow_status stowi_exec_changes_finish(stowi_exec_changes* changes, stow_diag* diag);

// Sets all numbers to those of |point|, which was noted. O(numbers that change).
void stowi_exec_changes_set(const stowi_exec_changes* changes, size_t point);

#endif  // STOWAGE_SRC_EXEC_RUN_CHANGES_H_
