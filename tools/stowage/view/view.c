// The data of a picture: strings that are kept once, columns, and the load over time. All of it is
// O(n log n) in the number of buffers and windows.
#include "view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

const char* cli_view_kind_text(size_t kind) {
  static const char* const texts[] = {
#define KIND_TEXT(name, text) text,
      CLI_VIEW_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
  };
  return texts[kind];
}

const char* cli_view_change_text(size_t change) {
  static const char* const texts[] = {
#define CHANGE_TEXT(name, text) text,
      CLI_VIEW_CHANGE_LIST(CHANGE_TEXT)
#undef CHANGE_TEXT
  };
  return texts[change];
}

// ---------------------------------------------------------------------------------------------
// Life and death

void cli_view_init(cli_view* view) {
  *view = (cli_view){.title = CLI_VIEW_NONE, .source = CLI_VIEW_NONE, .origin = "graph"};
  stow_string_init(&view->bytes, stow_allocator_default());
  view->facts = (cli_view_facts){.any_bound = CLI_VIEW_NO_NUMBER,
                                 .given_arena = CLI_VIEW_NO_NUMBER,
                                 .capacity = CLI_VIEW_NO_NUMBER,
                                 .outcome = "",
                                 .strategy = CLI_VIEW_NONE,
                                 .reuse = true};
}

void cli_view_free(cli_view* view) {
  cli_list_free(&view->options, sizeof(cli_view_option));
  cli_list_free(&view->steps, sizeof(cli_view_step));
  cli_list_free(&view->buffers, sizeof(cli_view_buffer));
  cli_list_free(&view->windows, sizeof(cli_view_window));
  cli_list_free(&view->values, sizeof(cli_view_value));
  cli_list_free(&view->reads, sizeof(cli_view_read));
  cli_list_free(&view->levels, sizeof(cli_view_level));
  cli_list_free(&view->changes, sizeof(cli_view_change));
  cli_list_free(&view->ends, sizeof(size_t));
  cli_list_free(&view->table, sizeof(cli_view_text));
  stow_string_free(&view->bytes);
}

void cli_view_add(cli_view* view, cli_list* list, const void* item, size_t item_size) {
  view->broken = !cli_list_add(list, item, item_size) || view->broken;
}

// ---------------------------------------------------------------------------------------------
// Strings

static uint64_t hash_of(stow_str text) {
  uint64_t hash = UINT64_C(14695981039346656037);  // FNV-1a
  for (size_t i = 0; i < text.size; ++i) {
    hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(1099511628211);
  }
  return hash ^ (hash >> 32);
}

stow_str cli_view_str(const cli_view* view, cli_view_text text) {
  if (text == CLI_VIEW_NONE) {
    return (stow_str){"", 0};
  }
  const size_t* ends = view->ends.items;
  size_t begin = text == 0 ? 0 : ends[text - 1];
  return (stow_str){view->bytes.data + begin, ends[text] - begin};
}

// Where |text| is, or belongs.
static cli_view_text* find_string(const cli_view* view, stow_str text) {
  cli_view_text* table = view->table.items;
  size_t mask = view->table.count - 1;
  size_t at = hash_of(text) & mask;
  while (table[at] != CLI_VIEW_NONE && !stow_str_equal(cli_view_str(view, table[at]), text)) {
    at = (at + 1) & mask;
  }
  return &table[at];
}

// At least twice as many places as strings.
static bool make_room(cli_view* view) {
  if (view->table.count > 2 * view->ends.count) {
    return true;
  }
  size_t count = view->table.count == 0 ? 64 : 2 * view->table.count;
  cli_list larger = {0};
  cli_view_text none = CLI_VIEW_NONE;
  for (size_t i = 0; i < count; ++i) {
    if (!cli_list_add(&larger, &none, sizeof none)) {
      cli_list_free(&larger, sizeof none);
      return false;
    }
  }
  cli_list_free(&view->table, sizeof none);
  view->table = larger;
  for (size_t i = 0; i < view->ends.count; ++i) {
    *find_string(view, cli_view_str(view, (cli_view_text)i)) = (cli_view_text)i;
  }
  return true;
}

cli_view_text cli_view_intern(cli_view* view, stow_str text) {
  if (!make_room(view)) {
    view->broken = true;
    return CLI_VIEW_NONE;
  }
  cli_view_text* place = find_string(view, text);
  if (*place != CLI_VIEW_NONE) {
    return *place;
  }
  size_t end = view->bytes.size + text.size;
  if (view->ends.count >= CLI_VIEW_NONE ||
      stow_string_append(&view->bytes, text.data, text.size) != STOW_OK ||
      !cli_list_add(&view->ends, &end, sizeof end)) {
    view->broken = true;
    return CLI_VIEW_NONE;
  }
  *place = (cli_view_text)(view->ends.count - 1);
  return *place;
}

cli_view_text cli_view_intern_name(cli_view* view, stow_str text) {
  return text.size == 0 ? CLI_VIEW_NONE : cli_view_intern(view, text);
}

// ---------------------------------------------------------------------------------------------
// Reading

const cli_view_buffer* cli_view_buffers(const cli_view* view) { return view->buffers.items; }
const cli_view_window* cli_view_windows(const cli_view* view) { return view->windows.items; }
const cli_view_value* cli_view_values(const cli_view* view) { return view->values.items; }
const cli_view_step* cli_view_steps(const cli_view* view) { return view->steps.items; }
const cli_view_level* cli_view_levels(const cli_view* view) { return view->levels.items; }
const cli_view_change* cli_view_changes(const cli_view* view) { return view->changes.items; }

cli_view_cursor cli_view_pieces(const cli_view* view, size_t buffer) {
  const cli_view_buffer* b = &cli_view_buffers(view)[buffer];
  return (cli_view_cursor){b->first_window, b->begin};
}

bool cli_view_next_piece(const cli_view* view, size_t buffer, cli_view_cursor* cursor,
                         cli_view_piece* out_piece) {
  const cli_view_buffer* b = &cli_view_buffers(view)[buffer];
  const cli_view_window* windows = cli_view_windows(view);
  while (cursor->step < b->end) {
    bool more = cursor->next_window < b->first_window + b->window_count;
    const cli_view_window* window = more ? &windows[cursor->next_window] : NULL;
    cli_view_piece piece = {cursor->step, b->end, b->offset, b->offset + b->size + b->guard};
    if (window != NULL && window->begin <= cursor->step) {
      piece.end = window->end;
      piece.low = b->offset + window->low;
      piece.high = b->offset + window->high;
      ++cursor->next_window;
    } else if (window != NULL) {
      piece.end = window->begin;
    }
    cursor->step = piece.end;
    if (piece.low < piece.high) {
      *out_piece = piece;
      return true;
    }
  }
  return false;
}

uint64_t cli_view_first_shown(const cli_view* view) {
  const cli_view_facts* facts = &view->facts;
  bool early = facts->busy_step <= facts->first_step || facts->peak_step < facts->busy_step;
  return early ? facts->first_step : facts->busy_step - 1;
}

uint64_t cli_view_occupied(const cli_view* view, size_t buffer, uint64_t step) {
  const cli_view_buffer* b = &cli_view_buffers(view)[buffer];
  if (step < b->begin || step >= b->end) {
    return 0;
  }
  const cli_view_window* windows = cli_view_windows(view);
  for (size_t i = b->first_window; i < b->first_window + b->window_count; ++i) {
    if (step >= windows[i].begin && step < windows[i].end) {
      return windows[i].high - windows[i].low;
    }
  }
  return b->size + b->guard;
}

size_t cli_view_largest(const cli_view* view, uint64_t step, size_t* out_buffers, size_t most) {
  size_t count = 0;
  size_t used = 0;
  for (size_t i = 0; i < view->buffers.count; ++i) {
    uint64_t bytes = cli_view_occupied(view, i, step);
    if (bytes == 0) {
      continue;
    }
    ++count;
    size_t at = used < most ? used++ : most;
    while (at > 0 && cli_view_occupied(view, out_buffers[at - 1], step) < bytes) {
      if (at < most) {
        out_buffers[at] = out_buffers[at - 1];
      }
      --at;
    }
    if (at < most) {
      out_buffers[at] = i;
    }
  }
  return count;
}

void cli_view_text_label(const cli_view* view, cli_view_text text, size_t width,
                         char out[CLI_VIEW_LABEL_SIZE]) {
  // an ellipsis may be longer than what it stands for
  cli_escape(cli_view_str(view, text), out, CLI_VIEW_LABEL_SIZE - 8);
  cli_cut_inside(out, width);
}

void cli_view_label(const cli_view* view, size_t buffer, size_t width,
                    char out[CLI_VIEW_LABEL_SIZE]) {
  const cli_view_buffer* b = &cli_view_buffers(view)[buffer];
  cli_view_text_label(view, b->name, width, out);
  if (b->name != CLI_VIEW_NONE && b->kind != CLI_VIEW_SCRATCH) {
    return;
  }
  if (b->kind == CLI_VIEW_SCRATCH) {
    char op[64];
    cli_escape(cli_view_str(view, b->op), op, sizeof op);
    snprintf(out, CLI_VIEW_LABEL_SIZE, "scratch of %s at step %" PRIu64, op, b->begin);
  } else if (b->kind == CLI_VIEW_RESERVED) {
    snprintf(out, CLI_VIEW_LABEL_SIZE, "reserved at %" PRIu64, b->offset);
  } else {
    snprintf(out, CLI_VIEW_LABEL_SIZE, "%%%" PRIu32, b->key);
  }
  cli_cut(out, width);
}

// ---------------------------------------------------------------------------------------------
// Finishing

typedef struct event {
  uint64_t step;
  uint64_t bytes;
  bool leaves;
} event;

static int compare_events(const void* a, const void* b) {
  const event* x = a;
  const event* y = b;
  return (x->step > y->step) - (x->step < y->step);
}

static int compare_reads(const void* a, const void* b) {
  const cli_view_read* x = a;
  const cli_view_read* y = b;
  if (x->value != y->value) {
    return x->value < y->value ? -1 : 1;
  }
  return (x->step > y->step) - (x->step < y->step);
}

// Additions first within a step would overstate nothing: only the sum at the end of it counts.
static void make_levels(cli_view* view, const event* events, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    bytes = events[i].leaves ? bytes - events[i].bytes : bytes + events[i].bytes;
    bool last = i + 1 == count || events[i + 1].step != events[i].step;
    if (last) {
      cli_view_level level = {events[i].step, bytes};
      cli_view_add(view, &view->levels, &level, sizeof level);
    }
  }
}

static void make_load(cli_view* view) {
  cli_list events = {0};
  for (size_t i = 0; i < view->buffers.count; ++i) {
    cli_view_cursor cursor = cli_view_pieces(view, i);
    cli_view_piece piece;
    while (cli_view_next_piece(view, i, &cursor, &piece)) {
      event enter = {piece.begin, piece.high - piece.low, false};
      event leave = {piece.end, piece.high - piece.low, true};
      cli_view_add(view, &events, &enter, sizeof enter);
      cli_view_add(view, &events, &leave, sizeof leave);
    }
  }
  if (events.count > 0 && !view->broken) {
    qsort(events.items, events.count, sizeof(event), compare_events);
    make_levels(view, events.items, events.count);
  }
  cli_list_free(&events, sizeof(event));
}

static void find_peak(cli_view* view) {
  const cli_view_level* levels = cli_view_levels(view);
  view->facts.peak_bytes = 0;
  view->facts.peak_step = view->facts.first_step;
  for (size_t i = 0; i < view->levels.count; ++i) {
    if (levels[i].bytes > view->facts.peak_bytes) {
      view->facts.peak_bytes = levels[i].bytes;
      view->facts.peak_step = levels[i].step;
    }
  }
}

static bool is_small(uint64_t number) {
  return number < CLI_VIEW_LIMIT || number == CLI_VIEW_NO_NUMBER;
}

// Every offset and size lies within the arena, every step within the axis.
static bool is_exact(const cli_view* view) {
  const cli_view_facts* facts = &view->facts;
  return facts->arena < CLI_VIEW_LIMIT && facts->last_step < CLI_VIEW_LIMIT &&
         facts->bound < CLI_VIEW_LIMIT && facts->unshared < CLI_VIEW_LIMIT &&
         facts->alignment < CLI_VIEW_LIMIT && is_small(facts->capacity) &&
         is_small(facts->given_arena) && is_small(facts->any_bound);
}

cli_exit cli_view_finish(cli_view* view, const char* label) {
  if (!view->broken && !is_exact(view)) {
    return cli_fail(CLI_BAD_INPUT,
                    "%s: too large for a picture: sizes and steps must be below 2^53", label);
  }
  if (!view->broken) {
    make_load(view);
    find_peak(view);
  }
  if (!view->broken && view->reads.count > 0) {
    qsort(view->reads.items, view->reads.count, sizeof(cli_view_read), compare_reads);
  }
  return view->broken ? cli_fail_memory() : CLI_YES;
}
