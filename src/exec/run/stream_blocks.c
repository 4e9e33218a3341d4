// How many rows a stream makes at a time. In the first variant all steps make many. From there on
// one of the rings that are in use when most is gets smaller, again and again: what is in it, and
// what reads it, is made with fewer rows at a time. It is the one that takes away most of what is
// beyond a budget, at any step, for the time that it costs. So narrow images, of which many rows
// need little, keep their blocks, one block often, and wide ones, of which one row has positions
// enough, lose them.
//
// Variants are as small as they can be for some time, which is estimated. Where the node says for
// how many rows at a time there is room, the last one needs as much as if all steps made that many,
// and the others some times that.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/run/stream_inside.h"

#define LAST (STOWI_KERNEL_STREAM_VARIANTS - 1)

// Time in 256ths of that of the first variant.
static const uint64_t times[STOWI_KERNEL_STREAM_VARIANTS] = {256, 257, 259, 262, 265, 268};
// Budgets in sixteenths of what is needed with the rows that there is room for.
static const uint64_t budgets[STOWI_KERNEL_STREAM_VARIANTS] = {0, 32, 24, 20, 18, 16};

#define MOST_TRIED 6  // rings
#define MOST_CHANNELS ((uint64_t)1 << 20)
#define MOST_WORK ((uint64_t)1 << 32)
#define MOST_BEYOND ((uint64_t)1 << 12)

typedef stowi_exec_stream stream;
typedef stowi_exec_stream_tables tables;

static bool is_in_use(const stream* s, uint32_t step, stow_value ring) {
  return s->order.meets[((size_t)s->value_count + step) * s->value_count + ring] != 0;
}

static uint64_t bytes_beside(const stream* s, const tables* t, uint32_t step) {
  uint64_t bytes = t->steps[step].copy_bytes;
  for (stow_value ring = 0; ring < s->value_count; ++ring) {
    if (is_in_use(s, step, ring) && stowi_exec_stream_is_ring(t, ring)) {
      bytes += stowi_exec_stream_ring_bytes(t, ring);
    }
  }
  return bytes;
}

// What is known of the levels that steps have.
typedef struct state {
  uint32_t peak;    // the step beside which most is needed,
  uint64_t bytes;   // and how much
  uint64_t excess;  // sum of what_is_beyond, of all steps
  uint64_t cost;
} state;

// About how long a step takes for blocks of |block| rows, in 16ths of products, up to a limit.
// Calls for few positions are slow: for n of them as if there were n + 32 * 32 * 32 / (n * n). The
// last block counts as the others.
static uint64_t cost_of(const stream* s, uint32_t step, uint64_t block) {
  const stow_type* result =
      stow_graph_type(s->function, stow_graph_first_result(s->function, s->nodes[step]));
  uint64_t rows = (uint64_t)result->dims[2];
  uint64_t positions = block * (uint64_t)result->dims[3];
  uint64_t channels = (uint64_t)result->dims[1];
  for (size_t k = 0; k < stow_graph_operand_count(s->function, s->nodes[step]); ++k) {
    stow_value value = stow_graph_operands(s->function, s->nodes[step])[k];
    uint64_t whole = 0;
    if (value != STOW_VALUE_NONE && !stowi_exec_stream_reads_rows(s, step, k) &&
        stow_type_bytes(stow_graph_type(s->function, value), &whole) == STOW_OK) {
      channels += whole / 4;
    }
  }
  uint64_t call = 16 * positions + (positions < 1024 ? 524288 / (positions * positions) : 0);
  uint64_t all = (rows + block - 1) / block * call;
  return (channels < MOST_CHANNELS ? channels : MOST_CHANNELS) *
         (all < MOST_WORK ? all : MOST_WORK);
}

// In 64ths of the budget, to the fourth power, since what is beyond it most counts most; 0 if
// nothing is.
static uint64_t what_is_beyond(uint64_t bytes, uint64_t budget) {
  uint64_t unit = budget / 64 + 1;
  uint64_t beyond = bytes > budget ? (bytes - budget + unit - 1) / unit : 0;
  beyond = beyond < MOST_BEYOND ? beyond : MOST_BEYOND;
  return beyond * beyond * beyond * beyond;
}

static state look(stream* s, uint32_t variant, uint64_t budget) {
  const tables* t = &s->tables[variant];
  state now = {.excess = 0};
  stowi_exec_stream_list(s, variant);
  stowi_exec_stream_follow(s, variant);
  for (uint32_t step = 0; step < s->step_count; ++step) {
    uint64_t bytes = bytes_beside(s, t, step);
    uint64_t block = t->values[t->calls[step].first_result].block;
    now.excess += what_is_beyond(bytes, budget);
    now.cost += cost_of(s, step, block);
    if (bytes > now.bytes) {
      now.bytes = bytes;
      now.peak = step;
    }
  }
  return now;
}

// Gives steps whose results are in ring |home| the next smaller blocks; false: there are none.
static bool lower(stream* s, const tables* t, stow_value home) {
  bool has_changed = false;
  for (uint32_t level = 0; level + 1 < STOWI_EXEC_STREAM_LEVELS && !has_changed; ++level) {
    for (uint32_t step = 0; step < s->step_count; ++step) {
      if (t->home_of[t->calls[step].first_result] == home && s->levels[step] == level) {
        int64_t before = stowi_exec_stream_block(s, step, level);
        s->levels[step] = level + 1;
        has_changed = has_changed || stowi_exec_stream_block(s, step, level + 1) != before;
      }
    }
  }
  return has_changed;
}

// The same for |ring|, and for those of all steps that read what is in it.
static bool shrink(stream* s, const tables* t, stow_value ring) {
  bool has_changed = lower(s, t, ring);
  for (stow_value value = 0; value < s->value_count; ++value) {
    for (size_t i = s->order.first[value];
         t->home_of[value] == ring && i < s->order.first[value + 1]; ++i) {
      stow_value home = t->home_of[t->calls[s->order.readers[i]].first_result];
      has_changed = (home != ring && lower(s, t, home)) || has_changed;
    }
  }
  return has_changed;
}

// The largest of the rings beside |step| that are smaller than |before|, or as large and behind it.
static stow_value next_ring(const stream* s, const tables* t, uint32_t step, stow_value before) {
  stow_value best = STOW_VALUE_NONE;
  uint64_t limit = before == STOW_VALUE_NONE ? UINT64_MAX : stowi_exec_stream_ring_bytes(t, before);
  for (stow_value ring = 0; ring < s->value_count; ++ring) {
    if (!is_in_use(s, step, ring) || !stowi_exec_stream_is_ring(t, ring)) {
      continue;
    }
    uint64_t bytes = stowi_exec_stream_ring_bytes(t, ring);
    bool is_left = bytes < limit || (bytes == limit && ring > before);
    if (is_left && (best == STOW_VALUE_NONE || bytes > stowi_exec_stream_ring_bytes(t, best))) {
      best = ring;
    }
  }
  return best;
}

// Whether |a| takes away more than |b| for its cost, both from |from|; if none takes anything away,
// the one that adds less.
static bool is_better(const state* a, const state* b, const state* from) {
  double a_gain = (double)from->excess - (double)a->excess;
  double b_gain = (double)from->excess - (double)b->excess;
  if (a_gain <= 0 || b_gain <= 0) {
    return a_gain > b_gain;
  }
  double a_cost = a->cost > from->cost ? (double)(a->cost - from->cost) : 1;
  double b_cost = b->cost > from->cost ? (double)(b->cost - from->cost) : 1;
  return a_gain * b_cost > b_gain * a_cost;
}

// Rings that may get smaller, the largest of those beside |peak|.
static uint32_t list_rings(const stream* s, const tables* t, uint32_t peak,
                           stow_value rings[MOST_TRIED]) {
  uint32_t count = 0;
  stow_value ring = STOW_VALUE_NONE;
  while (count < MOST_TRIED && (ring = next_ring(s, t, peak, ring)) != STOW_VALUE_NONE) {
    rings[count++] = ring;
  }
  return count;
}

// Makes the best of some rings smaller, so that not more than |time| is taken; false: none can be.
// |room| is for levels.
static bool shrink_best(stream* s, uint32_t variant, uint64_t budget, uint64_t time, uint32_t* room,
                        state* now) {
  const tables* t = &s->tables[variant];
  uint32_t* best_levels = room + s->step_count;
  size_t size = s->step_count * sizeof(room[0]);
  stow_value rings[MOST_TRIED];
  uint32_t count = list_rings(s, t, now->peak, rings);
  state best = *now;
  bool has_best = false;
  memcpy(room, s->levels, size);
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) {
      memcpy(s->levels, room, size);
      (void)look(s, variant, budget);
    }
    if (!shrink(s, t, rings[i])) {
      continue;
    }
    state tried = look(s, variant, budget);
    if (tried.cost <= time && (!has_best || is_better(&tried, &best, now))) {
      best = tried;
      memcpy(best_levels, s->levels, size);
      has_best = true;
    }
  }
  memcpy(s->levels, has_best ? best_levels : room, size);
  *now = look(s, variant, budget);
  return has_best;
}

static void set_levels(stream* s, uint32_t level) {
  for (uint32_t step = 0; step < s->step_count; ++step) {
    s->levels[step] = level;
  }
}

static stow_status make_tables(stream* s, uint32_t variant, uint64_t budget, stow_diag* diag) {
  stowi_exec_stream_list(s, variant);
  stowi_exec_stream_follow(s, variant);
  return stowi_exec_stream_place(s, variant, budget, diag);
}

// Makes blocks smaller until |budget| is enough, from the levels that steps have; false if it never
// is. Rings have less than the budget if that cannot be filled.
static stow_status fit(stream* s, uint32_t variant, uint64_t budget, uint32_t* room,
                       stow_diag* diag, bool* out_fits) {
  uint64_t target = budget;
  state now = look(s, variant, target);
  *out_fits = false;
  do {
    if (now.excess == 0) {
      STOW_TRY(stowi_exec_stream_place(s, variant, budget, diag));
      if (s->tables[variant].body.bytes <= budget) {
        *out_fits = true;
        return STOW_OK;
      }
      target -= target / 32;
      now = look(s, variant, target);
    }
  } while (now.excess == 0 ? target > budget / 2
                           : shrink_best(s, variant, target, UINT64_MAX, room, &now));
  return STOW_OK;
}

// A variant that needs as much as the one before is that.
static void drop_larger(stream* s, uint32_t variant) {
  if (s->data[variant].body->bytes >= s->data[variant - 1].body->bytes) {
    s->data[variant] = s->data[variant - 1];
  }
}

// With room for some rows at a time.
static stow_status choose_by_budget(stream* s, uint32_t* room, stow_diag* diag) {
  set_levels(s, STOWI_EXEC_STREAM_LEVELS - 1);
  STOW_TRY(make_tables(s, LAST, 0, diag));
  uint64_t least = s->tables[LAST].body.bytes;
  set_levels(s, 0);
  STOW_TRY(make_tables(s, 0, UINT64_MAX, diag));
  for (uint32_t variant = 1; variant <= LAST; ++variant) {
    uint64_t budget = least / 16 * budgets[variant] + least % 16 * budgets[variant] / 16;
    bool fits;
    STOW_TRY(fit(s, variant, budget, room, diag, &fits));
    if (!fits) {
      set_levels(s, STOWI_EXEC_STREAM_LEVELS - 1);
      STOW_TRY(make_tables(s, variant, budget, diag));
    }
    drop_larger(s, variant);
  }
  return STOW_OK;
}

// Makes blocks smaller, so that a sixteenth less is needed, as often as not more than |time| is
// taken then.
static void shrink_all(stream* s, uint32_t variant, uint64_t time, uint32_t* room) {
  uint32_t* best_levels = room + 2 * (size_t)s->step_count;
  size_t size = s->step_count * sizeof(room[0]);
  bool is_smaller = true;
  while (is_smaller) {
    uint64_t bytes = look(s, variant, 0).bytes;
    uint64_t target = bytes - bytes / 16;
    target -= target != 0;
    memcpy(best_levels, s->levels, size);
    state now = look(s, variant, target);
    while (now.excess != 0 && shrink_best(s, variant, target, time, room, &now)) {
    }
    is_smaller = now.excess == 0 && now.bytes < bytes;
  }
  memcpy(s->levels, best_levels, size);
  (void)look(s, variant, 0);
}

// Kernels may have a sixteenth more than rings and copies.
static stow_status choose_by_time(stream* s, uint32_t* room, stow_diag* diag) {
  set_levels(s, 0);
  uint64_t cost = look(s, 0, 0).cost;
  STOW_TRY(make_tables(s, 0, UINT64_MAX, diag));
  for (uint32_t variant = 1; variant <= LAST; ++variant) {
    uint64_t time = cost / 256 * times[variant] + cost % 256 * times[variant] / 256;
    shrink_all(s, variant, time, room);
    STOW_TRY(stowi_exec_stream_place(s, variant, 0, diag));
    uint64_t bytes = s->tables[variant].body.bytes;
    STOW_TRY(stowi_exec_stream_place(s, variant, bytes + bytes / 16, diag));
    drop_larger(s, variant);
  }
  return STOW_OK;
}

stow_status stowi_exec_stream_choose(stowi_exec_stream* s, stow_diag* diag) {
  size_t count = 3 * (size_t)s->step_count;
  uint32_t* room = STOWI_ARRAY(s->allocator, uint32_t, count);
  STOW_TRY(stowi_need_memory(room != NULL, diag));
  stow_status status =
      s->rows == 0 ? choose_by_time(s, room, diag) : choose_by_budget(s, room, diag);
  STOWI_ARRAY_FREE(s->allocator, room, count);
  return status;
}
