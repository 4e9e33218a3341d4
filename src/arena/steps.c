// Arenas: guards and steps.
//
// A guard is filled with a pattern that depends on its offset, so that a kernel that copies its
// neighbour's guard, or writes zeros, is also detected. Guards of values that are live from the
// start are filled at creation, others when their value is born. Where another value uses a guard's
// bytes later in the run, the pattern is valid only in the generation it was filled in.
//
// Entering the step after the current one touches only what dies and what is born; any other step
// is set up from scratch, in O(items + bytes / 8).
#include <inttypes.h>
#include <string.h>

#include "arena/arena.h"
#include "arena/poison.h"
#include "base/diag.h"
#include "plan/api.h"

// ---------------------------------------------------------------------------------------------
// Tables

static bool needs_item(const stow_plan* plan, const stow_arena_options* options, stow_value value) {
  stow_slot slot;
  if (stow_plan_root(plan, value) != value || !stow_plan_value_slot(plan, value, &slot)) {
    return false;
  }
  return options->track_steps || (options->fill_guards && stowi_plan_guard(plan, value) > 0);
}

// The next part of a root's lifetime, from |*at| on, in which it occupies the same bytes; false at
// the end. |*index| is the next window; outside of windows it occupies |size| bytes.
static bool next_stretch(const stow_plan* plan, stow_value root, uint64_t size, size_t* index,
                         uint32_t* at, stow_window* out) {
  uint32_t end = stowi_plan_end(plan, root);
  bool has_window = *index < stow_plan_window_count(plan, root);
  *out = has_window ? stow_plan_window_at(plan, root, *index) : (stow_window){end, end, 0, 0};
  if (has_window && out->begin <= *at) {
    ++*index;
  } else {
    *out = (stow_window){*at, out->begin, 0, size};
  }
  bool more = *at < out->end;
  *at = out->end;
  return more;
}

// Writes one item per part of the lifetime to |out|; NULL: only counts them.
static size_t list_root(const stow_plan* plan, stow_value root, stowi_arena_item* out) {
  size_t count = 0;
  size_t index = 0;
  uint32_t at = stowi_plan_begin(plan, root);
  stow_slot slot;
  stow_plan_value_slot(plan, root, &slot);
  stow_window stretch;
  while (next_stretch(plan, root, slot.size, &index, &at, &stretch)) {
    if (out != NULL) {
      out[count] = (stowi_arena_item){
          .offset = (size_t)(slot.offset + stretch.low),
          .size = (size_t)(stretch.high - stretch.low),
          .guard = (size_t)stowi_plan_guard(plan, root),
          .begin = stretch.begin,
          .end = stretch.end,
          .value = root,
      };
    }
    ++count;
  }
  return count;
}

size_t stowi_arena_count_items(const stow_plan* plan, const stow_arena_options* options) {
  size_t count = options->track_steps ? stow_plan_scratch_count(plan) : 0;
  uint32_t values = stow_plan_value_count(plan);
  for (stow_value value = 0; value < values; ++value) {
    count += needs_item(plan, options, value) ? list_root(plan, value, NULL) : 0;
  }
  return count;
}

static size_t list_values(stow_arena* arena) {
  size_t count = 0;
  uint32_t values = stow_plan_value_count(arena->plan);
  for (stow_value value = 0; value < values; ++value) {
    if (needs_item(arena->plan, &arena->options, value)) {
      count += list_root(arena->plan, value, &arena->items[count]);
    }
  }
  return count;
}

// Scratch is live during its node's step. The list of births is not in use yet, so it serves to
// look up steps.
static void list_scratch(stow_arena* arena, size_t first) {
  const stow_node* order = stow_plan_order(arena->plan);
  uint32_t* step_of = arena->born;
  for (uint32_t step = 0; step < arena->step_count; ++step) {
    if (order[step] < arena->step_count) {
      step_of[order[step]] = step;
    }
  }
  for (size_t i = first; i < arena->item_count; ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(arena->plan, i - first, &node, &slot, &alignment);
    uint32_t step = node < arena->step_count ? step_of[node] : STOWI_ARENA_STEP_NONE;
    arena->items[i] = (stowi_arena_item){
        .offset = (size_t)slot.offset,
        .size = (size_t)slot.size,
        .begin = step,
        .end = step == STOWI_ARENA_STEP_NONE ? step : step + 1,
        .value = STOW_VALUE_NONE,
    };
  }
}

// An unchecked plan may claim any lifetime: items outside the run go into no list.
static void link_items(stow_arena* arena) {
  uint32_t last = arena->step_count + 1;
  memset(arena->born, 0xff, ((size_t)arena->step_count + 1) * sizeof(uint32_t));
  memset(arena->dead, 0xff, ((size_t)arena->step_count + 2) * sizeof(uint32_t));
  for (size_t i = arena->item_count; i-- > 0;) {
    stowi_arena_item* item = &arena->items[i];
    item->end = item->end > last ? last : item->end;
    if (item->begin >= item->end) {
      continue;
    }
    item->next_born = arena->born[item->begin];
    item->next_dead = arena->dead[item->end];
    arena->born[item->begin] = (uint32_t)i;
    arena->dead[item->end] = (uint32_t)i;
  }
}

// ---------------------------------------------------------------------------------------------
// Guards

// Never 0, and not the same everywhere.
static unsigned char pattern(size_t offset) { return (unsigned char)(0xa5 ^ (offset & 0x5a)); }

static STOWI_ARENA_UNWATCHED void fill_guard(stow_arena* arena, stowi_arena_item* item) {
  size_t begin = item->offset + item->size;
  for (size_t at = begin; at < begin + item->guard; ++at) {
    arena->base[at] = pattern(at);
  }
  item->armed = arena->generation + 1;
}

// The first guard byte that was overwritten; SIZE_MAX if none was.
static STOWI_ARENA_UNWATCHED size_t find_damage(const stow_arena* arena,
                                                const stowi_arena_item* item) {
  size_t begin = item->offset + item->size;
  for (size_t at = begin; at < begin + item->guard; ++at) {
    if (arena->base[at] != pattern(at)) {
      return at;
    }
  }
  return SIZE_MAX;
}

static void fill_guards_born(stow_arena* arena, uint32_t step) {
  if (!arena->options.fill_guards) {
    return;
  }
  for (uint32_t i = arena->born[step]; i != STOWI_ARENA_ITEM_NONE; i = arena->items[i].next_born) {
    // A guard that is always live is filled once: filling it again would hide what the last run did
    // to it.
    bool always = step == 0 && arena->items[i].end > arena->step_count;
    if (!always || arena->items[i].armed == 0) {
      fill_guard(arena, &arena->items[i]);
    }
  }
}

void stowi_arena_fill_tables(stow_arena* arena) {
  if (!arena->options.fill_guards && !arena->options.track_steps) {
    return;
  }
  size_t values = list_values(arena);
  if (arena->options.track_steps) {
    list_scratch(arena, values);
  }
  link_items(arena);
  fill_guards_born(arena, 0);
}

static bool is_armed(const stow_arena* arena, const stowi_arena_item* item, uint32_t step) {
  bool alive = item->begin <= step && step < item->end;
  bool always = item->begin == 0 && item->end > arena->step_count;
  return alive && item->armed != 0 && (always || item->armed == arena->generation + 1);
}

static stow_status guard_fault(const stow_arena* arena, const stowi_arena_item* item, size_t at,
                               stow_diag* diag) {
  stow_str name = stowi_plan_value_name(arena->plan, item->value);
  size_t behind = at - item->offset - item->size;
  stow_status status = stowi_fail(diag, STOW_ERR_VIOLATION, "the guard of %%%" PRIu32, item->value);
  if (name.size > 0) {
    stowi_diag_append(diag, " \"%.*s\"", STOWI_STR_ARG(name));
  }
  stowi_diag_append(
      diag, " was overwritten: byte %zu of %zu after its %zu bytes, at offset %zu of the arena",
      behind, item->guard, item->size, at);
  stowi_diag_value(diag, item->value);
  return status;
}

stow_status stow_arena_check_guards(const stow_arena* arena, uint32_t step, stow_diag* diag,
                                    stow_value* out_value) {
  if (out_value != NULL) {
    *out_value = STOW_VALUE_NONE;
  }
  for (size_t i = 0; arena->options.fill_guards && i < arena->item_count; ++i) {
    const stowi_arena_item* item = &arena->items[i];
    size_t at = is_armed(arena, item, step) ? find_damage(arena, item) : SIZE_MAX;
    if (at != SIZE_MAX) {
      if (out_value != NULL) {
        *out_value = item->value;
      }
      return guard_fault(arena, item, at, diag);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Steps

static void enter_next(stow_arena* arena, uint32_t step) {
  for (uint32_t i = arena->dead[step]; i != STOWI_ARENA_ITEM_NONE; i = arena->items[i].next_dead) {
    stowi_arena_poison(arena->base + arena->items[i].offset, arena->items[i].size);
  }
  for (uint32_t i = arena->born[step]; i != STOWI_ARENA_ITEM_NONE; i = arena->items[i].next_born) {
    stowi_arena_unpoison(arena->base + arena->items[i].offset, arena->items[i].size);
  }
}

static void enter_anew(stow_arena* arena, uint32_t step) {
  stowi_arena_poison(arena->base, arena->reach);
  for (size_t i = 0; i < arena->item_count; ++i) {
    const stowi_arena_item* item = &arena->items[i];
    if (item->begin <= step && step < item->end) {
      stowi_arena_unpoison(arena->base + item->offset, item->size);
    }
  }
}

stow_status stow_arena_enter_step(stow_arena* arena, uint32_t step, stow_diag* diag) {
  if (step > arena->step_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "step %" PRIu32 " is out of range (0 to %" PRIu32 ")", step,
                      arena->step_count);
  }
  if (arena->options.fill_guards) {
    fill_guards_born(arena, step);
  }
  if (!STOWI_ARENA_ASAN || !arena->options.track_steps) {
    return STOW_OK;
  }
  if (arena->step != STOWI_ARENA_STEP_NONE && step == arena->step + 1) {
    enter_next(arena, step);
  } else {
    enter_anew(arena, step);
  }
  arena->step = step;
  return STOW_OK;
}

void stow_arena_leave_steps(stow_arena* arena) {
  if (arena->step != STOWI_ARENA_STEP_NONE) {
    stowi_arena_unpoison(arena->base, arena->reach);
    arena->step = STOWI_ARENA_STEP_NONE;
  }
}
