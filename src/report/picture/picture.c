// The data of a picture: strings that are kept once, columns, and the load over time. All of it is
// O(n log n) in the number of buffers and windows.
#include "report/picture/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "report/api.h"
#include "report/picture/range.h"

const char* stowi_report_picture_kind_text(size_t kind) {
  static const char* const texts[] = {
#define KIND_TEXT(name, text) text,
      STOWI_REPORT_PICTURE_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
  };
  return texts[kind];
}

const char* stowi_report_picture_change_text(size_t change) {
  static const char* const texts[] = {
#define CHANGE_TEXT(name, text) text,
      STOWI_REPORT_PICTURE_CHANGE_LIST(CHANGE_TEXT)
#undef CHANGE_TEXT
  };
  return texts[change];
}

// ---------------------------------------------------------------------------------------------
// Life and death

void stow_picture_destroy(stow_picture* picture) {
  if (picture == NULL) {
    return;
  }
  stow_allocator allocator = picture->allocator;
  STOWI_VEC_FREE(allocator, &picture->options);
  STOWI_VEC_FREE(allocator, &picture->hints);
  STOWI_VEC_FREE(allocator, &picture->steps);
  STOWI_VEC_FREE(allocator, &picture->buffers);
  STOWI_VEC_FREE(allocator, &picture->windows);
  STOWI_VEC_FREE(allocator, &picture->values);
  STOWI_VEC_FREE(allocator, &picture->rings);
  STOWI_VEC_FREE(allocator, &picture->reads);
  STOWI_VEC_FREE(allocator, &picture->levels);
  STOWI_VEC_FREE(allocator, &picture->changes);
  stowi_report_range_destroy(picture->range);
  stowi_report_strings_free(&picture->strings);
  STOWI_DELETE(allocator, picture);
}

stow_status stowi_report_picture_create(stowi_report_picture_maker make, const void* from,
                                        stow_allocator allocator, stow_diag* diag,
                                        stow_picture** out_picture) {
  stow_picture* picture = STOWI_NEW(allocator, stow_picture);
  STOW_TRY(stowi_need_memory(picture != NULL, diag));
  picture->allocator = allocator;
  picture->title = STOWI_REPORT_PICTURE_NONE;
  picture->source = STOWI_REPORT_PICTURE_NONE;
  picture->at = STOWI_REPORT_PICTURE_NONE;
  picture->origin = "graph";
  stowi_report_strings_init(&picture->strings, allocator);
  picture->facts = (stowi_report_picture_facts){.any_bound = STOWI_REPORT_PICTURE_NO_NUMBER,
                                                .given_arena = STOWI_REPORT_PICTURE_NO_NUMBER,
                                                .capacity = STOWI_REPORT_PICTURE_NO_NUMBER,
                                                .outcome = "",
                                                .strategy = STOWI_REPORT_PICTURE_NONE,
                                                .reuse = true};
  stow_status status = make(picture, from, diag);
  if (status != STOW_OK) {
    stow_picture_destroy(picture);
    return status;
  }
  *out_picture = picture;
  return STOW_OK;
}

stowi_report_picture_text stowi_report_picture_intern(stow_picture* picture, stow_str text) {
  stowi_report_picture_text id = stowi_report_strings_intern(&picture->strings, text);
  picture->broken = picture->broken || picture->strings.broken;
  return id;
}

stowi_report_picture_text stowi_report_picture_intern_name(stow_picture* picture, stow_str text) {
  return text.size == 0 ? STOWI_REPORT_PICTURE_NONE : stowi_report_picture_intern(picture, text);
}

stow_str stowi_report_picture_str(const stow_picture* picture, stowi_report_picture_text text) {
  return stowi_report_strings_at(&picture->strings, text);
}

// ---------------------------------------------------------------------------------------------
// Reading

stowi_report_picture_cursor stowi_report_picture_pieces(const stow_picture* picture,
                                                        size_t buffer) {
  const stowi_report_picture_buffer* b = &picture->buffers.data[buffer];
  return (stowi_report_picture_cursor){b->first_window, b->begin};
}

bool stowi_report_picture_next_piece(const stow_picture* picture, size_t buffer,
                                     stowi_report_picture_cursor* cursor,
                                     stowi_report_picture_piece* out_piece) {
  const stowi_report_picture_buffer* b = &picture->buffers.data[buffer];
  const stowi_report_picture_window* windows = picture->windows.data;
  while (cursor->step < b->end) {
    bool more = cursor->next_window < b->first_window + b->window_count;
    const stowi_report_picture_window* window = more ? &windows[cursor->next_window] : NULL;
    stowi_report_picture_piece piece = {cursor->step, b->end, b->offset,
                                        b->offset + b->size + b->guard};
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

uint64_t stowi_report_picture_first_shown(const stow_picture* picture) {
  const stowi_report_picture_facts* facts = &picture->facts;
  bool early = facts->busy_step <= facts->first_step || facts->peak_step < facts->busy_step;
  return early ? facts->first_step : facts->busy_step - 1;
}

uint64_t stowi_report_picture_occupied(const stow_picture* picture, size_t buffer, uint64_t step) {
  const stowi_report_picture_buffer* b = &picture->buffers.data[buffer];
  if (step < b->begin || step >= b->end) {
    return 0;
  }
  const stowi_report_picture_window* windows = picture->windows.data;
  for (size_t i = b->first_window; i < b->first_window + b->window_count; ++i) {
    if (step >= windows[i].begin && step < windows[i].end) {
      return windows[i].high - windows[i].low;
    }
  }
  return b->size + b->guard;
}

size_t stowi_report_picture_largest(const stow_picture* picture, uint64_t step, size_t* out_buffers,
                                    size_t most) {
  size_t count = 0;
  size_t used = 0;
  for (size_t i = 0; i < picture->buffers.count; ++i) {
    uint64_t bytes = stowi_report_picture_occupied(picture, i, step);
    if (bytes == 0) {
      continue;
    }
    ++count;
    size_t at = used < most ? used++ : most;
    while (at > 0 && stowi_report_picture_occupied(picture, out_buffers[at - 1], step) < bytes) {
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

void stowi_report_picture_text_label(const stow_picture* picture, stowi_report_picture_text text,
                                     size_t width, char out[STOWI_REPORT_PICTURE_LABEL_SIZE]) {
  // an ellipsis may be longer than what it stands for
  stowi_report_escape(stowi_report_picture_str(picture, text), out,
                      STOWI_REPORT_PICTURE_LABEL_SIZE - 8);
  stowi_report_cut_inside(out, width);
}

void stowi_report_picture_title(const stow_picture* picture, size_t width,
                                char out[STOWI_REPORT_PICTURE_LABEL_SIZE]) {
  char at[STOWI_REPORT_PICTURE_LABEL_SIZE];
  stowi_report_picture_text_label(picture, picture->at, width / 2, at);
  size_t taken = at[0] == '\0' ? 0 : stowi_report_width(at) + 2;
  stowi_report_picture_text_label(picture, picture->title, width - taken, out);
  size_t used = strlen(out);
  if (taken > 0) {
    snprintf(out + used, STOWI_REPORT_PICTURE_LABEL_SIZE - used, ", %s", at);
  }
}

void stowi_report_picture_label(const stow_picture* picture, size_t buffer, size_t width,
                                char out[STOWI_REPORT_PICTURE_LABEL_SIZE]) {
  const stowi_report_picture_buffer* b = &picture->buffers.data[buffer];
  stowi_report_picture_text_label(picture, b->name, width, out);
  if (b->name != STOWI_REPORT_PICTURE_NONE && b->kind != STOWI_REPORT_PICTURE_SCRATCH) {
    return;
  }
  if (b->kind == STOWI_REPORT_PICTURE_SCRATCH) {
    char op[64];
    stowi_report_escape(stowi_report_picture_str(picture, b->op), op, sizeof op);
    snprintf(out, STOWI_REPORT_PICTURE_LABEL_SIZE, "scratch%s%s at step %" PRIu64,
             op[0] == '\0' ? "" : " of ", op, b->begin);
    if (strlen(out) > width) {  // cut, those of nodes of one kind would be the same
      snprintf(out, STOWI_REPORT_PICTURE_LABEL_SIZE, "scratch at step %" PRIu64, b->begin);
    }
    if (strlen(out) > width) {
      snprintf(out, STOWI_REPORT_PICTURE_LABEL_SIZE, "scratch");
    }
  } else if (b->kind == STOWI_REPORT_PICTURE_RESERVED) {
    snprintf(out, STOWI_REPORT_PICTURE_LABEL_SIZE, "reserved at %" PRIu64, b->offset);
  } else {
    snprintf(out, STOWI_REPORT_PICTURE_LABEL_SIZE, "%%%" PRIu32, b->key);
  }
  stowi_report_cut(out, width);
}

// ---------------------------------------------------------------------------------------------
// Finishing

typedef struct event {
  uint64_t step;
  uint64_t bytes;
  bool leaves;
} event;

static int compare_reads(const void* a, const void* b, const void* context) {
  (void)context;
  const stowi_report_picture_read* x = a;
  const stowi_report_picture_read* y = b;
  if (x->value != y->value) {
    return x->value < y->value ? -1 : 1;
  }
  return (x->step > y->step) - (x->step < y->step);
}

// Additions first within a step would overstate nothing: only the sum at the end of it counts.
static void make_levels(stow_picture* picture, const event* events, size_t count) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    bytes = events[i].leaves ? bytes - events[i].bytes : bytes + events[i].bytes;
    bool last = i + 1 == count || events[i + 1].step != events[i].step;
    if (last) {
      stowi_report_picture_level level = {events[i].step, bytes};
      STOWI_REPORT_PICTURE_ADD(picture, &picture->levels, level);
    }
  }
}

static void make_load(stow_picture* picture) {
  STOWI_VEC(event) events = {0};
  for (size_t i = 0; i < picture->buffers.count; ++i) {
    stowi_report_picture_cursor cursor = stowi_report_picture_pieces(picture, i);
    stowi_report_picture_piece piece;
    while (stowi_report_picture_next_piece(picture, i, &cursor, &piece)) {
      event enter = {piece.begin, piece.high - piece.low, false};
      event leave = {piece.end, piece.high - piece.low, true};
      STOWI_REPORT_PICTURE_ADD(picture, &events, enter);
      STOWI_REPORT_PICTURE_ADD(picture, &events, leave);
    }
  }
  picture->broken = picture->broken || stowi_sort_by_key(events.data, events.count, sizeof(event),
                                                         picture->allocator) != STOW_OK;
  if (!picture->broken) {
    make_levels(picture, events.data, events.count);
  }
  STOWI_VEC_FREE(picture->allocator, &events);
}

static bool is_small(uint64_t number) {
  return number < STOWI_REPORT_PICTURE_LIMIT || number == STOWI_REPORT_PICTURE_NO_NUMBER;
}

// Every offset and size lies within the arena, every step within the axis.
static bool is_exact(const stow_picture* picture) {
  const stowi_report_picture_facts* facts = &picture->facts;
  return facts->arena < STOWI_REPORT_PICTURE_LIMIT &&
         facts->last_step < STOWI_REPORT_PICTURE_LIMIT &&
         facts->bound < STOWI_REPORT_PICTURE_LIMIT &&
         facts->unshared < STOWI_REPORT_PICTURE_LIMIT &&
         facts->alignment < STOWI_REPORT_PICTURE_LIMIT && is_small(facts->capacity) &&
         is_small(facts->given_arena) && is_small(facts->any_bound);
}

stow_status stowi_report_picture_finish(stow_picture* picture, stow_diag* diag) {
  if (!picture->broken && !is_exact(picture)) {
    return stowi_fail(diag, STOW_ERR_LIMIT,
                      "too large for a picture: sizes and steps must be below 2^53");
  }
  if (!picture->broken) {
    make_load(picture);
    const stowi_report_picture_level* levels = picture->levels.data;
    picture->facts.peak_bytes = 0;
    picture->facts.peak_step = picture->facts.first_step;
    for (size_t i = 0; i < picture->levels.count; ++i) {
      if (levels[i].bytes > picture->facts.peak_bytes) {
        picture->facts.peak_bytes = levels[i].bytes;
        picture->facts.peak_step = levels[i].step;
      }
    }
  }
  picture->broken = picture->broken || stowi_sort(picture->reads.data, picture->reads.count,
                                                  sizeof(stowi_report_picture_read), compare_reads,
                                                  NULL, picture->allocator) != STOW_OK;
  return picture->broken ? stowi_fail_memory(diag) : STOW_OK;
}
