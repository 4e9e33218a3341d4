// Arenas: the bytes of a plan at run time. One allocation at creation, none afterwards.
#ifndef STOWAGE_ARENA_H_
#define STOWAGE_ARENA_H_

#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/plan.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_arena stow_arena;

typedef struct stow_arena_options {
  size_t struct_size;  // written by stow_arena_options_init
  bool fill_guards;    // guards hold a pattern that stow_arena_check_guards looks for
  bool track_steps;    // stow_arena_enter_step poisons dead bytes and guards (under ASan; elsewhere
                       // it does nothing)
} stow_arena_options;

// Neither.
STOW_API void stow_arena_options_defaults(stow_arena_options* options);
static inline void stow_arena_options_init(stow_arena_options* options) {
  options->struct_size = sizeof(*options);
  stow_arena_options_defaults(options);
}

// One allocation holds the handle and the bytes, which are zero-filled (but for guards) and aligned
// to the plan's alignment. |plan| is borrowed and must outlive the arena. |options| may be NULL.
// STOW_ERR_OVERFLOW where the plan needs more than this machine can address.
STOW_API stow_status stow_arena_create(const stow_plan* plan, const stow_arena_options* options,
                                       stow_allocator allocator, stow_diag* diag,
                                       stow_arena** out_arena);
// Over the caller's memory, which is not cleared (but for guards) and not freed. The handle alone
// comes from |allocator|. STOW_ERR_INVALID_ARGUMENT where |memory| is too small or not aligned: the
// message says what was needed and what was there.
STOW_API stow_status stow_arena_create_over(const stow_plan* plan, void* memory, size_t size,
                                            const stow_arena_options* options,
                                            stow_allocator allocator, stow_diag* diag,
                                            stow_arena** out_arena);
// An independent copy of bytes and generation, for a second thread; one allocation.
STOW_API stow_status stow_arena_clone(const stow_arena* arena, stow_allocator allocator,
                                      stow_diag* diag, stow_arena** out_arena);
STOW_API void stow_arena_destroy(stow_arena* arena);

STOW_API void* stow_arena_base(stow_arena* arena);
STOW_API size_t stow_arena_size(const stow_arena* arena);

STOW_API bool stow_arena_has_buffer(const stow_arena* arena, stow_value value);
// SIZE_MAX where there is none.
STOW_API size_t stow_arena_byte_offset(const stow_arena* arena, stow_value value);
// The value's bytes. STOW_ERR_NOT_FOUND where it has no slot.
STOW_API stow_status stow_arena_bytes(stow_arena* arena, stow_value value, stow_diag* diag,
                                      void** out_data, size_t* out_size);
// Elements of |dtype|. STOW_ERR_TYPE where the value's dtype has another width: the message says
// which. |out_count| is in elements. Sub-byte types have no element access.
STOW_API stow_status stow_arena_elements(stow_arena* arena, stow_value value, stow_dtype dtype,
                                         stow_diag* diag, void** out_data, size_t* out_count);
STOW_API stow_status stow_arena_f32(stow_arena* arena, stow_value value, stow_diag* diag,
                                    float** out_data, size_t* out_count);
// Scratch |index| of the plan's list.
STOW_API stow_status stow_arena_scratch(stow_arena* arena, size_t index, stow_diag* diag,
                                        void** out_data, size_t* out_size);

// Between runs: increments the generation, nothing else.
STOW_API void stow_arena_reset(stow_arena* arena);
STOW_API uint64_t stow_arena_generation(const stow_arena* arena);

// STOW_ERR_VIOLATION naming the value whose guard was written, and at which byte. STOW_OK where
// guards are not filled. A guard that another live value never covers at this time is checked:
// guards of values not alive at |step| are skipped.
STOW_API stow_status stow_arena_check_guards(const stow_arena* arena, uint32_t step,
                                             stow_diag* diag, stow_value* out_value);
// Fills the guards of values born at |step|; under ASan with track_steps, also makes exactly the
// bytes of what is alive at |step| accessible. Steps may be entered in any order.
// STOW_ERR_INVALID_ARGUMENT above the number of steps.
STOW_API stow_status stow_arena_enter_step(stow_arena* arena, uint32_t step, stow_diag* diag);
// Makes all bytes accessible again.
STOW_API void stow_arena_leave_steps(stow_arena* arena);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_ARENA_H_
