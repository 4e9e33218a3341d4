// The bytes that roots occupy over time. For each root that contains other values, sweeps over the
// steps at which one of them is born or dies; the lowest and the highest byte in use come from two
// sets, of the values ranked by first and by last byte. O(n log n); roots without other values cost
// nothing.
#include "analysis/lives/lifetimes.h"
#include "analysis/sharing/sharing.h"
#include "analysis/views.h"
#include "base/diag.h"
#include "base/rank_set.h"
#include "base/sort.h"

struct stowi_analysis_windows {
  stow_allocator allocator;
  uint32_t value_count;
  size_t* first;  // by value: index of its first window; one more entry ends the last
  STOWI_VEC(stow_window) list;
};

// A value's birth or death. Both toggle it, so the two need not be distinguished.
typedef struct event {
  uint64_t key;  // root, then step
  stow_value value;
} event;

typedef struct ranked {
  uint64_t key;
  stow_value value;
} ranked;

// Live values, ordered by a byte. Rank 0 is unused.
typedef struct order {
  ranked* by_rank;
  size_t* rank;  // by value
  stowi_rank_set live;
} order;

typedef struct sweeper {
  const stowi_analysis_views* views;
  const stowi_analysis_lifetimes* lifetimes;
  stow_allocator allocator;
  event* events;
  size_t event_count;
  stowi_bits live;
  order lows;
  order highs;
  stowi_analysis_windows* windows;
} sweeper;

// ---------------------------------------------------------------------------------------------
// Orders

static stow_status order_make(order* o, const sweeper* s, bool high) {
  size_t count = s->views->value_count;
  o->by_rank = STOWI_ARRAY(s->allocator, ranked, count);
  o->rank = STOWI_ARRAY(s->allocator, size_t, count);
  if (o->by_rank == NULL || o->rank == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (stow_value value = 0; value < count; ++value) {
    uint64_t bytes = high ? stowi_analysis_views_span(s->views, value) : 0;
    o->by_rank[value] = (ranked){s->views->offset[value] + bytes, value};
  }
  STOW_TRY(stowi_sort_by_key(o->by_rank, count, sizeof(*o->by_rank), s->allocator));
  for (size_t i = 0; i < count; ++i) {
    o->rank[o->by_rank[i].value] = i + 1;
  }
  return stowi_rank_set_init(&o->live, count + 2, s->allocator);
}

static void order_free(order* o, const sweeper* s) {
  STOWI_ARRAY_FREE(s->allocator, o->by_rank, s->views->value_count);
  STOWI_ARRAY_FREE(s->allocator, o->rank, s->views->value_count);
  stowi_rank_set_free(&o->live, s->allocator);
}

static void order_turn(order* o, stow_value value, bool live) {
  if (live) {
    stowi_rank_set_insert(&o->live, o->rank[value]);
  } else {
    stowi_rank_set_remove(&o->live, o->rank[value]);
  }
}

// ---------------------------------------------------------------------------------------------
// Events

static bool is_root(const sweeper* s, stow_value value) { return s->views->root[value] == value; }

static stow_status make_events(sweeper* s) {
  uint32_t count = s->views->value_count;
  stowi_bits shared;
  if (!stowi_bits_init(&shared, count, s->allocator)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (stow_value value = 0; value < count; ++value) {
    if (!is_root(s, value)) {
      stowi_bits_add(&shared, s->views->root[value]);
    }
  }
  for (stow_value value = 0; value < count; ++value) {
    uint64_t root = s->views->root[value];
    if (s->views->bytes[value] == 0 || !stowi_bits_has(&shared, (stow_value)root)) {
      continue;
    }
    s->events[s->event_count++] =
        (event){root << 32 | stowi_analysis_lifetimes_own_begin(s->lifetimes, value), value};
    s->events[s->event_count++] =
        (event){root << 32 | stowi_analysis_lifetimes_own_end(s->lifetimes, value), value};
  }
  stowi_bits_free(&shared, s->allocator);
  return stowi_sort_by_key(s->events, s->event_count, sizeof(event), s->allocator);
}

// ---------------------------------------------------------------------------------------------
// The sweep

static stow_window window_now(const sweeper* s, uint32_t begin, uint32_t end) {
  stow_window window = {begin, end, 0, 0};
  size_t lowest = stowi_rank_set_next(&s->lows.live, 0);
  if (lowest != STOWI_NO_RANK) {
    size_t highest = stowi_rank_set_previous(&s->highs.live, (size_t)s->views->value_count + 1);
    window.low = s->lows.by_rank[lowest - 1].key;
    window.high = s->highs.by_rank[highest - 1].key;
  }
  return window;
}

// Adds a window for the live values over [begin, end) of |root|'s lifetime. None is needed if they
// cover all of the root.
static stow_status add_window(sweeper* s, stow_value root, uint32_t begin, uint32_t end) {
  stowi_analysis_windows* windows = s->windows;
  stow_window window = window_now(s, begin, end);
  if (begin == end || (window.low == 0 && window.high == s->views->bytes[root])) {
    return STOW_OK;
  }
  if (windows->list.count > windows->first[root]) {
    stow_window* last = &windows->list.data[windows->list.count - 1];
    if (last->end == begin && last->low == window.low && last->high == window.high) {
      last->end = end;
      return STOW_OK;
    }
  }
  STOW_TRY(STOWI_VEC_RESERVE(s->allocator, &windows->list, 1));
  windows->list.data[windows->list.count++] = window;
  return STOW_OK;
}

// The events of one root from |at| on; returns the index after them.
static stow_status sweep_root(sweeper* s, stow_value root, size_t* at) {
  uint32_t now = stowi_analysis_lifetimes_begin(s->lifetimes, root);
  while (*at < s->event_count && s->events[*at].key >> 32 == root) {
    uint32_t step = (uint32_t)s->events[*at].key;
    STOW_TRY(add_window(s, root, now, step));
    now = step;
    while (*at < s->event_count && s->events[*at].key == ((uint64_t)root << 32 | step)) {
      stow_value value = s->events[(*at)++].value;
      bool live = !stowi_bits_has(&s->live, value);
      s->live.words[value / 64] ^= UINT64_C(1) << (value % 64);
      order_turn(&s->lows, value, live);
      order_turn(&s->highs, value, live);
    }
  }
  return add_window(s, root, now, stowi_analysis_lifetimes_end(s->lifetimes, root));
}

static stow_status sweep(sweeper* s) {
  size_t at = 0;
  for (stow_value value = 0; value < s->views->value_count; ++value) {
    s->windows->first[value] = s->windows->list.count;
    if (at < s->event_count && s->events[at].key >> 32 == value) {
      STOW_TRY(sweep_root(s, value, &at));
    }
  }
  s->windows->first[s->views->value_count] = s->windows->list.count;
  return STOW_OK;
}

static stow_status run(sweeper* s) {
  uint32_t count = s->views->value_count;
  s->windows = STOWI_NEW(s->allocator, stowi_analysis_windows);
  if (s->windows == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  s->windows->allocator = s->allocator;
  s->windows->value_count = count;
  s->windows->first = STOWI_ARRAY_ZERO(s->allocator, size_t, (size_t)count + 1);
  s->events = STOWI_ARRAY(s->allocator, event, 2 * (size_t)count);
  if (s->windows->first == NULL || s->events == NULL ||
      !stowi_bits_init(&s->live, count, s->allocator)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  STOW_TRY(make_events(s));
  if (s->event_count == 0) {
    return STOW_OK;
  }
  STOW_TRY(order_make(&s->lows, s, false));
  STOW_TRY(order_make(&s->highs, s, true));
  return sweep(s);
}

stow_status stowi_analysis_windows_create(const stowi_analysis_views* views,
                                          const stowi_analysis_lifetimes* lifetimes,
                                          stow_allocator allocator, stow_diag* diag,
                                          stowi_analysis_windows** out_windows) {
  *out_windows = NULL;
  if (lifetimes->value_count != views->value_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "the lifetimes were made for another graph");
  }
  sweeper s = {.views = views, .lifetimes = lifetimes, .allocator = allocator};
  stow_status status = run(&s);
  STOWI_ARRAY_FREE(allocator, s.events, 2 * (size_t)views->value_count);
  stowi_bits_free(&s.live, allocator);
  order_free(&s.lows, &s);
  order_free(&s.highs, &s);
  if (status != STOW_OK) {
    stowi_analysis_windows_destroy(s.windows);
    return stowi_fail_memory(diag);
  }
  *out_windows = s.windows;
  return STOW_OK;
}

void stowi_analysis_windows_destroy(stowi_analysis_windows* windows) {
  if (windows == NULL) {
    return;
  }
  stow_allocator allocator = windows->allocator;
  STOWI_ARRAY_FREE(allocator, windows->first, (size_t)windows->value_count + 1);
  STOWI_VEC_FREE(allocator, &windows->list);
  STOWI_DELETE(allocator, windows);
}

size_t stowi_analysis_windows_count(const stowi_analysis_windows* windows, stow_value root) {
  return windows->first[root + 1] - windows->first[root];
}

stow_window stowi_analysis_windows_at(const stowi_analysis_windows* windows, stow_value root,
                                      size_t index) {
  return windows->list.data[windows->first[root] + index];
}
