// Arenas: creation, cloning, and typed access by value.
//
// One block holds everything: the handle, the tables that steps and guards need, and the bytes, so
// that an arena costs one allocation and leaves no trace when it is destroyed.
//
//     ┌────────┬───────┬──────┬──────┬─────┬───────────────────────┐
//     │ handle │ items │ born │ dead │ pad │ bytes of the plan     │
//     └────────┴───────┴──────┴──────┴─────┴───────────────────────┘
//                                          ▲ base, aligned as the plan needs
//
// Plans count in 64 bits and arenas in size_t: creation checks once that every slot lies inside an
// arena that this machine can address, and everything after relies on that. Creation is O(values);
// access is O(1).
#include "arena/arena.h"

#include <inttypes.h>
#include <stdalign.h>
#include <string.h>

#include "arena/poison.h"
#include "base/checked.h"
#include "base/diag.h"
#include "plan/api.h"

void stow_arena_options_defaults(stow_arena_options* options) {
  static const stow_arena_options defaults = {0};
  stowi_init_struct(options, &defaults, sizeof(defaults));
}

// ---------------------------------------------------------------------------------------------
// Checking the plan

static stow_status check_extent(uint64_t offset, uint64_t size, uint64_t guard, uint64_t limit,
                                const char* what, uint32_t number, stow_diag* diag) {
  uint64_t end;
  if (stowi_add_u64(offset, size, &end) && stowi_add_u64(end, guard, &end) && end <= limit) {
    return STOW_OK;
  }
  return stowi_fail(diag, STOW_ERR_VIOLATION,
                    "%s%" PRIu32 " is %" PRIu64 " bytes and %" PRIu64 " of guard at offset %" PRIu64
                    ", but the plan's arena has %" PRIu64 " bytes",
                    what, number, size, guard, offset, limit);
}

// A plan read from text has been checked only as text, so every field is checked here.
static stow_status check_plan(const stow_plan* plan, stow_diag* diag) {
  uint64_t size = stow_plan_arena_size(plan);
  uint64_t alignment = stowi_plan_alignment(plan);
  if (size > PTRDIFF_MAX || alignment > PTRDIFF_MAX) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW,
                      "the plan needs %" PRIu64 " bytes aligned to %" PRIu64
                      ", but this machine can address only %" PRIu64,
                      size, alignment, (uint64_t)PTRDIFF_MAX);
  }
  if (!stowi_is_power_of_two(alignment)) {
    return stowi_fail(diag, STOW_ERR_VIOLATION,
                      "the plan's alignment is %" PRIu64 ", which is not a power of two",
                      alignment);
  }
  uint32_t values = stow_plan_value_count(plan);
  for (stow_value value = 0; value < values; ++value) {
    stow_slot slot;
    if (stow_plan_value_slot(plan, value, &slot)) {
      STOW_TRY(check_extent(slot.offset, slot.size, stowi_plan_guard(plan, value), size, "%", value,
                            diag));
    }
  }
  size_t scratch = stow_plan_scratch_count(plan);
  for (size_t i = 0; i < scratch; ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t unused;
    stow_plan_scratch_slot(plan, i, &node, &slot, &unused);
    STOW_TRY(check_extent(slot.offset, slot.size, 0, size, "scratch of node ", node, diag));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The block

typedef struct layout {
  size_t items;  // offsets in the block
  size_t born;
  size_t dead;
  size_t bytes;
  size_t total;
  size_t alignment;
  size_t item_count;
} layout;

static bool extend(size_t* at, size_t count, size_t size) {
  size_t bytes;
  return stowi_mul_size(count, size, &bytes) && stowi_add_size(*at, bytes, at);
}

// |byte_count| bytes of the arena follow in the block; 0 for an arena in the caller's memory.
static stow_status make_layout(const stow_plan* plan, const stow_arena_options* options,
                               size_t byte_count, stow_diag* diag, layout* out) {
  size_t steps = stow_plan_step_count(plan);
  size_t natural = alignof(max_align_t);
  size_t wanted = (size_t)stowi_plan_alignment(plan);
  uint64_t aligned = 0;
  bool tables = options->fill_guards || options->track_steps;
  out->alignment = byte_count > 0 && wanted > natural ? wanted : natural;
  out->item_count = stowi_arena_count_items(plan, options);
  out->items = sizeof(stow_arena);
  out->born = out->items;
  bool fits = extend(&out->born, out->item_count, sizeof(stowi_arena_item));
  out->dead = out->born;
  fits = fits && extend(&out->dead, tables ? steps + 1 : 0, sizeof(uint32_t));
  size_t end = out->dead;
  fits = fits && extend(&end, tables ? steps + 2 : 0, sizeof(uint32_t));
  fits = fits && stowi_align_up(end, out->alignment, &aligned) && aligned <= SIZE_MAX;
  out->bytes = (size_t)aligned;
  fits = fits && stowi_add_size(out->bytes, byte_count, &end);
  fits = fits && stowi_align_up(end, STOWI_ARENA_GRANULE, &aligned) && aligned <= SIZE_MAX;
  out->total = (size_t)aligned;
  if (!fits) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "an arena of %zu bytes is too large", byte_count);
  }
  return STOW_OK;
}

// Allocates the block and initialises all but the bytes. |memory| is NULL if the bytes follow in
// the block.
static stow_status make_arena(const stow_plan* plan, void* memory, size_t size,
                              const stow_arena_options* options, stow_allocator allocator,
                              stow_diag* diag, stow_arena** out_arena) {
  layout at;
  STOW_TRY(make_layout(plan, options, memory == NULL ? size : 0, diag, &at));
  unsigned char* block =
      (unsigned char*)allocator.reallocate(allocator.user, NULL, 0, at.total, at.alignment);
  if (block == NULL) {
    return stowi_fail(diag, STOW_ERR_OUT_OF_MEMORY, "out of memory for an arena of %zu bytes",
                      at.total);
  }
  stow_arena* arena = (stow_arena*)(void*)block;
  *arena = (stow_arena){
      .plan = plan,
      .allocator = allocator,
      .block_size = at.total,
      .block_alignment = at.alignment,
      .base = memory == NULL ? block + at.bytes : (unsigned char*)memory,
      .size = size,
      .reach = memory == NULL ? at.total - at.bytes : size,
      .options = *options,
      .step_count = stow_plan_step_count(plan),
      .step = STOWI_ARENA_STEP_NONE,
      .item_count = at.item_count,
      .items = (stowi_arena_item*)(void*)(block + at.items),
      .born = (uint32_t*)(void*)(block + at.born),
      .dead = (uint32_t*)(void*)(block + at.dead),
  };
  *out_arena = arena;
  return STOW_OK;
}

static stow_status read_options(const stow_arena_options* options, stow_diag* diag,
                                stow_arena_options* out_options) {
  stow_arena_options_init(out_options);
  return stowi_load_options(out_options, options, sizeof(*out_options), "stow_arena_options", diag);
}

// ---------------------------------------------------------------------------------------------
// Creating and destroying

stow_status stow_arena_create(const stow_plan* plan, const stow_arena_options* options,
                              stow_allocator allocator, stow_diag* diag, stow_arena** out_arena) {
  stow_arena_options own;
  *out_arena = NULL;
  STOW_TRY(read_options(options, diag, &own));
  STOW_TRY(check_plan(plan, diag));
  stow_arena* arena = NULL;
  size_t size = (size_t)stow_plan_arena_size(plan);
  STOW_TRY(make_arena(plan, NULL, size, &own, allocator, diag, &arena));
  memset(arena->base, 0, size);
  stowi_arena_fill_tables(arena);
  *out_arena = arena;
  return STOW_OK;
}

static size_t alignment_of(const void* memory) {
  uintptr_t address = (uintptr_t)memory;
  return (size_t)(address & (~address + 1));
}

stow_status stow_arena_create_over(const stow_plan* plan, void* memory, size_t size,
                                   const stow_arena_options* options, stow_allocator allocator,
                                   stow_diag* diag, stow_arena** out_arena) {
  stow_arena_options own;
  *out_arena = NULL;
  STOW_TRY(read_options(options, diag, &own));
  STOW_TRY(check_plan(plan, diag));
  size_t needed = (size_t)stow_plan_arena_size(plan);
  size_t alignment = (size_t)stowi_plan_alignment(plan);
  if (memory == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the plan needs %zu bytes, but the memory is NULL", needed);
  }
  if (size < needed) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the plan needs %zu bytes, but the memory has %zu", needed, size);
  }
  if ((uintptr_t)memory % alignment != 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the plan needs memory aligned to %zu bytes, but this is aligned to %zu",
                      alignment, alignment_of(memory));
  }
  stow_arena* arena = NULL;
  STOW_TRY(make_arena(plan, memory, needed, &own, allocator, diag, &arena));
  stowi_arena_fill_tables(arena);
  *out_arena = arena;
  return STOW_OK;
}

static STOWI_ARENA_UNWATCHED void copy_bytes(unsigned char* to, const unsigned char* from,
                                             size_t size) {
#if STOWI_ARENA_ASAN
  for (size_t i = 0; i < size; ++i) {
    to[i] = from[i];
  }
#else
  memcpy(to, from, size);
#endif
}

stow_status stow_arena_clone(const stow_arena* arena, stow_allocator allocator, stow_diag* diag,
                             stow_arena** out_arena) {
  *out_arena = NULL;
  stow_arena* clone = NULL;
  STOW_TRY(make_arena(arena->plan, NULL, arena->size, &arena->options, allocator, diag, &clone));
  clone->generation = arena->generation;
  stowi_arena_fill_tables(clone);
  copy_bytes(clone->base, arena->base, arena->size);
  for (size_t i = 0; i < clone->item_count; ++i) {
    clone->items[i].armed = arena->items[i].armed;
  }
  *out_arena = clone;
  return STOW_OK;
}

void stow_arena_destroy(stow_arena* arena) {
  if (arena != NULL) {
    stow_arena_leave_steps(arena);
    stow_allocator allocator = arena->allocator;
    allocator.reallocate(allocator.user, arena, arena->block_size, 0, arena->block_alignment);
  }
}

// ---------------------------------------------------------------------------------------------
// Access

void* stow_arena_base(stow_arena* arena) { return arena->base; }

size_t stow_arena_size(const stow_arena* arena) { return arena->size; }

void stow_arena_reset(stow_arena* arena) { arena->generation += 1; }

uint64_t stow_arena_generation(const stow_arena* arena) { return arena->generation; }

bool stow_arena_has_buffer(const stow_arena* arena, stow_value value) {
  stow_slot slot;
  return stow_plan_value_slot(arena->plan, value, &slot);
}

size_t stow_arena_byte_offset(const stow_arena* arena, stow_value value) {
  stow_slot slot;
  return stow_plan_value_slot(arena->plan, value, &slot) ? (size_t)slot.offset : SIZE_MAX;
}

// Fails with `%7 "name" why`, or `%7 why`.
static stow_status value_fault(const stow_arena* arena, stow_value value, stow_status status,
                               const char* why, stow_diag* diag) {
  stow_str name = stowi_plan_value_name(arena->plan, value);
  if (name.size == 0) {
    stowi_fail(diag, status, "%%%" PRIu32 " %s", value, why);
  } else {
    stowi_fail(diag, status, "%%%" PRIu32 " \"%.*s\" %s", value, STOWI_STR_ARG(name), why);
  }
  stowi_diag_value(diag, value);
  return status;
}

stow_status stow_arena_bytes(stow_arena* arena, stow_value value, stow_diag* diag, void** out_data,
                             size_t* out_size) {
  stow_slot slot;
  *out_data = NULL;
  *out_size = 0;
  if (value >= stow_plan_value_count(arena->plan)) {
    return stowi_fail(diag, STOW_ERR_NOT_FOUND,
                      "value %%%" PRIu32 " is out of range (%" PRIu32 " values)", value,
                      stow_plan_value_count(arena->plan));
  }
  if (!stow_plan_value_slot(arena->plan, value, &slot)) {
    return value_fault(arena, value, STOW_ERR_NOT_FOUND, "has no slot in the plan", diag);
  }
  uint64_t pitch;
  if (stowi_plan_rows(arena->plan, value, &pitch) > 1) {
    return value_fault(arena, value, STOW_ERR_UNSUPPORTED, "is pitched: its rows are apart", diag);
  }
  *out_data = arena->base + (size_t)slot.offset;
  *out_size = (size_t)slot.size;
  return STOW_OK;
}

// The alignment of a pointer to elements of |dtype|; a complex number is aligned as its parts are.
static size_t element_alignment(stow_dtype dtype) {
  size_t width = stow_dtype_bits(dtype) / 8;
  return stow_dtype_kind_of(dtype) == STOW_KIND_COMPLEX ? width / 2 : width;
}

stow_status stow_arena_elements(stow_arena* arena, stow_value value, stow_dtype dtype,
                                stow_diag* diag, void** out_data, size_t* out_count) {
  void* data;
  size_t size;
  *out_data = NULL;
  *out_count = 0;
  STOW_TRY(stow_arena_bytes(arena, value, diag, &data, &size));
  stow_dtype own = stowi_plan_dtype(arena->plan, value);
  uint32_t wanted = stow_dtype_bits(dtype);
  uint32_t bits = stow_dtype_bits(own);
  if (wanted == 0 || wanted % 8 != 0) {
    value_fault(arena, value, STOW_ERR_TYPE, "has no element access:", diag);
    stowi_diag_append(diag, " %s is not a whole number of bytes", stow_dtype_name(dtype));
    return STOW_ERR_TYPE;
  }
  if (wanted != bits) {
    value_fault(arena, value, STOW_ERR_TYPE, "holds", diag);
    stowi_diag_append(diag, " %s of %" PRIu32 " bits each, not %s of %" PRIu32 " bits",
                      stow_dtype_name(own), bits, stow_dtype_name(dtype), wanted);
    return STOW_ERR_TYPE;
  }
  if ((uintptr_t)data % element_alignment(dtype) != 0) {
    value_fault(arena, value, STOW_ERR_TYPE, "is at offset", diag);
    stowi_diag_append(diag, " %zu, which is not aligned for %s",
                      stow_arena_byte_offset(arena, value), stow_dtype_name(dtype));
    return STOW_ERR_TYPE;
  }
  *out_data = data;
  *out_count = size / (stow_dtype_bits(dtype) / 8);
  return STOW_OK;
}

stow_status stow_arena_f32(stow_arena* arena, stow_value value, stow_diag* diag, float** out_data,
                           size_t* out_count) {
  void* data;
  stow_status status = stow_arena_elements(arena, value, STOW_F32, diag, &data, out_count);
  *out_data = (float*)data;
  return status;
}

stow_status stow_arena_scratch(stow_arena* arena, size_t index, stow_diag* diag, void** out_data,
                               size_t* out_size) {
  stow_node node;
  stow_slot slot;
  uint64_t alignment;
  *out_data = NULL;
  *out_size = 0;
  if (index >= stow_plan_scratch_count(arena->plan)) {
    return stowi_fail(diag, STOW_ERR_NOT_FOUND, "scratch %zu is out of range (%zu in the plan)",
                      index, stow_plan_scratch_count(arena->plan));
  }
  stow_plan_scratch_slot(arena->plan, index, &node, &slot, &alignment);
  *out_data = arena->base + (size_t)slot.offset;
  *out_size = (size_t)slot.size;
  return STOW_OK;
}
