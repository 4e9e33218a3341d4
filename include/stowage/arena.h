// Arenas: the bytes of a plan at run time.
//
// An arena gives each value of a plan a pointer: the base plus the offset of its slot. All memory
// is allocated when the arena is created, or provided by the caller; nothing is allocated later.
// The plan is borrowed and must outlive the arena, and pointers are valid until it is destroyed.
// Use an arena with an executor of your own; stow_exec (exec.h) has one inside.
//
// The planner gives one range of bytes to different values at different steps. So the bytes of a
// value hold it only while it is live, and in the order of the plan (stow_plan_order). Two options
// help to find kernels that break this: guards with a pattern after boundary values, and poisoning
// of dead bytes under AddressSanitizer.
//
// Threads may work on the bytes of different live values at the same time. Two runs at the same
// time need an arena each: stow_arena_clone.
//
//     #include <stdio.h>
//     #include <stowage/arena.h>
//
//     // Sets |x| to ones and prints the first element of |y|, which |run| computes.
//     stow_status try_plan(const stow_plan* plan, stow_value x, stow_value y,
//                          void (*run)(stow_arena* arena), stow_diag* diag) {
//       stow_arena* arena = NULL;
//       float* data = NULL;
//       size_t count = 0;  // in elements
//       stow_status status =
//           stow_arena_create(plan, NULL, stow_allocator_default(), diag, &arena);
//       if (status == STOW_OK) status = stow_arena_f32(arena, x, diag, &data, &count);
//       for (size_t i = 0; i < count; ++i) data[i] = 1;
//       if (status == STOW_OK) run(arena);
//       if (status == STOW_OK) status = stow_arena_f32(arena, y, diag, &data, &count);
//       if (status == STOW_OK && count > 0) printf("%g\n", (double)data[0]);
//       stow_arena_destroy(arena);
//       return status;
//     }
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
  bool fill_guards;    // fills guards with a pattern, which stow_arena_check_guards checks
  bool track_steps;    // stow_arena_enter_step poisons dead bytes and guards; only under ASan
} stow_arena_options;

// Both off.
STOW_API void stow_arena_options_defaults(stow_arena_options* options);
static inline void stow_arena_options_init(stow_arena_options* options) {
  options->struct_size = sizeof(*options);
  stow_arena_options_defaults(options);
}

// Allocates handle and bytes in one block; the bytes are zero, except filled guards, and aligned to
// the plan's alignment. |plan| is borrowed and must outlive the arena. STOW_ERR_OVERFLOW if the
// plan needs more than this machine can address.
STOW_API stow_status stow_arena_create(const stow_plan* plan, const stow_arena_options* options,
                                       stow_allocator allocator, stow_diag* diag,
                                       stow_arena** out_arena);
// An arena over |size| bytes of the caller's memory, which is neither cleared (except guards, which
// are filled) nor freed, and must outlive the arena. |allocator| provides the handle only.
// STOW_ERR_INVALID_ARGUMENT if |memory| is too small or misaligned; the message has both numbers.
STOW_API stow_status stow_arena_create_over(const stow_plan* plan, void* memory, size_t size,
                                            const stow_arena_options* options,
                                            stow_allocator allocator, stow_diag* diag,
                                            stow_arena** out_arena);
// An independent copy of bytes and generation, for a second run at the same time; one allocation.
// It borrows the same plan.
STOW_API stow_status stow_arena_clone(const stow_arena* arena, stow_allocator allocator,
                                      stow_diag* diag, stow_arena** out_arena);
// Frees the bytes too, unless they are the caller's.
STOW_API void stow_arena_destroy(stow_arena* arena);

// The first byte, and how many there are.
STOW_API void* stow_arena_base(stow_arena* arena);
STOW_API size_t stow_arena_size(const stow_arena* arena);

// Whether |value| has a slot.
STOW_API bool stow_arena_has_buffer(const stow_arena* arena, stow_value value);
// Bytes from the base; SIZE_MAX if |value| has no slot.
STOW_API size_t stow_arena_byte_offset(const stow_arena* arena, stow_value value);
// The value's bytes; |out_size| is in bytes. STOW_ERR_NOT_FOUND if it has no slot,
// STOW_ERR_UNSUPPORTED if it is pitched (stow_plan_value): its rows are from the byte offset on.
STOW_API stow_status stow_arena_bytes(stow_arena* arena, stow_value value, stow_diag* diag,
                                      void** out_data, size_t* out_size);
// The value's elements, as |dtype|; |out_count| is in elements. STOW_ERR_TYPE if the value's dtype
// has another width, if its elements are smaller than a byte, or if its bytes are not aligned for
// |dtype|.
STOW_API stow_status stow_arena_elements(stow_arena* arena, stow_value value, stow_dtype dtype,
                                         stow_diag* diag, void** out_data, size_t* out_count);
// The same for STOW_F32.
STOW_API stow_status stow_arena_f32(stow_arena* arena, stow_value value, stow_diag* diag,
                                    float** out_data, size_t* out_count);
// Scratch |index| of the plan's list (stow_plan_scratch_slot). STOW_ERR_NOT_FOUND past the end.
STOW_API stow_status stow_arena_scratch(stow_arena* arena, size_t index, stow_diag* diag,
                                        void** out_data, size_t* out_size);

// Call it between runs: increments the generation and leaves the bytes unchanged.
STOW_API void stow_arena_reset(stow_arena* arena);
STOW_API uint64_t stow_arena_generation(const stow_arena* arena);

// Checks the guards of the values that are live at |step|. STOW_ERR_VIOLATION if one was written
// to: |out_value| (may be NULL) is the value, and the message gives the byte. STOW_OK if guards are
// not filled.
STOW_API stow_status stow_arena_check_guards(const stow_arena* arena, uint32_t step,
                                             stow_diag* diag, stow_value* out_value);
// Call it before each step: fills the guards of values whose lifetime begins at |step|; under ASan
// with track_steps, also makes exactly the bytes of values live at |step| accessible. Steps may be
// entered in any order. STOW_ERR_INVALID_ARGUMENT if |step| is above the number of steps.
STOW_API stow_status stow_arena_enter_step(stow_arena* arena, uint32_t step, stow_diag* diag);
// Call it after the last step: makes all bytes accessible again.
STOW_API void stow_arena_leave_steps(stow_arena* arena);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_ARENA_H_
