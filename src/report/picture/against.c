// Comparison. Which buffer is which is told by pairs.h. O(n log n).
#include "base/diag.h"
#include "base/sort.h"
#include "report/picture/picture.h"

// Reserved stretches and scratch never are the same as a value of that name.
static int group_of(const stowi_report_picture_buffer* buffer) {
  return buffer->kind == STOWI_REPORT_PICTURE_RESERVED  ? 2
         : buffer->kind == STOWI_REPORT_PICTURE_SCRATCH ? 1
                                                        : 0;
}

static stowi_report_pair_key buffer_key(const stow_picture* picture, size_t buffer) {
  const stowi_report_picture_buffer* b = &picture->buffers.data[buffer];
  return (stowi_report_pair_key){.group = group_of(b),
                                 .name = stowi_report_picture_str(picture, b->name),
                                 .op = stowi_report_picture_str(picture, b->op),
                                 .id = b->key};
}

static stowi_report_pair_key value_key(const stow_picture* picture, size_t value) {
  const stowi_report_picture_value* v = &picture->values.data[value];
  return (stowi_report_pair_key){.name = stowi_report_picture_str(picture, v->name),
                                 .op = stowi_report_picture_str(picture, v->op),
                                 .id = v->id};
}

uint64_t stowi_report_picture_last_end(const stow_picture* picture) {
  uint64_t last = 0;
  for (size_t i = 0; i < picture->buffers.count; ++i) {
    uint64_t end = picture->buffers.data[i].end;
    last = end > last ? end : last;
  }
  return last;
}

stowi_report_picture_life stowi_report_picture_life_of(const stow_picture* picture, size_t buffer,
                                                       uint64_t last_end) {
  const stowi_report_picture_buffer* b = &picture->buffers.data[buffer];
  return (stowi_report_picture_life){b->begin, b->end, last_end};
}

bool stowi_report_picture_is_retimed(stowi_report_picture_life then,
                                     stowi_report_picture_life now) {
  if (then.last_end == now.last_end) {
    return then.begin != now.begin || then.end != now.end;
  }
  bool both_last = then.end == then.last_end && now.end == now.last_end;
  return !both_last && then.end - then.begin != now.end - now.begin;
}

typedef struct last_ends {
  uint64_t now;
  uint64_t then;
} last_ends;

// Appends the change, unless there is none.
static void add_change(stow_picture* picture, size_t now, size_t then, const last_ends* last) {
  const stowi_report_picture_buffer* a =
      now == STOWI_REPORT_PICTURE_NOWHERE ? NULL : &picture->buffers.data[now];
  const stowi_report_picture_buffer* b =
      then == STOWI_REPORT_PICTURE_NOWHERE ? NULL : &picture->against->buffers.data[then];
  stowi_report_picture_change change = {.now = now, .then = then};
  bool unmoved = a != NULL && b != NULL && a->size == b->size && a->offset == b->offset;
  if (unmoved && !stowi_report_picture_is_retimed(
                     stowi_report_picture_life_of(picture->against, then, last->then),
                     stowi_report_picture_life_of(picture, now, last->now))) {
    return;
  }
  change.change = b == NULL           ? STOWI_REPORT_PICTURE_NEW
                  : a == NULL         ? STOWI_REPORT_PICTURE_GONE
                  : a->size > b->size ? STOWI_REPORT_PICTURE_GREW
                  : a->size < b->size ? STOWI_REPORT_PICTURE_SHRANK
                  : unmoved           ? STOWI_REPORT_PICTURE_RETIMED
                                      : STOWI_REPORT_PICTURE_MOVED;
  change.name = a != NULL ? a->name
                          : stowi_report_picture_intern_name(
                                picture, stowi_report_picture_str(picture->against, b->name));
  STOWI_REPORT_PICTURE_ADD(picture, &picture->changes, change);
}

static uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static uint64_t weight_of(const stow_picture* picture, const stowi_report_picture_change* change) {
  uint64_t now =
      change->now == STOWI_REPORT_PICTURE_NOWHERE ? 0 : picture->buffers.data[change->now].size;
  uint64_t then = change->then == STOWI_REPORT_PICTURE_NOWHERE
                      ? 0
                      : picture->against->buffers.data[change->then].size;
  return difference(now, then);
}

typedef struct weighed {
  uint64_t key;  // falls with the weight
  stowi_report_picture_change change;
} weighed;

// What changed the most comes first.
static stow_status sort_changes(stow_picture* picture) {
  size_t count = picture->changes.count;
  weighed* sorted = STOWI_ARRAY(picture->allocator, weighed, count);
  if (sorted == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    const stowi_report_picture_change* change = &picture->changes.data[i];
    sorted[i] = (weighed){UINT64_MAX - weight_of(picture, change), *change};
  }
  stow_status status = stowi_sort_by_key(sorted, count, sizeof *sorted, picture->allocator);
  for (size_t i = 0; i < count && status == STOW_OK; ++i) {
    picture->changes.data[i] = sorted[i].change;
  }
  STOWI_ARRAY_FREE(picture->allocator, sorted, count);
  return status;
}

stow_status stowi_report_picture_pair(const stow_picture* then, const stow_picture* now,
                                      bool with_values, stow_allocator allocator,
                                      stowi_report_picture_pairs* out) {
  const stow_picture* sides[] = {then, now};
  stowi_report_pair_key* keys[2];
  size_t counts[2];
  for (size_t side = 0; side < 2; ++side) {
    const stow_picture* picture = sides[side];
    size_t buffers = picture->buffers.count;
    counts[side] = buffers + (with_values ? picture->values.count : 0);
    keys[side] = STOWI_ARRAY(allocator, stowi_report_pair_key, counts[side]);
    for (size_t i = 0; i < counts[side] && keys[side] != NULL; ++i) {
      keys[side][i] = i < buffers ? buffer_key(picture, i) : value_key(picture, i - buffers);
    }
  }
  *out = (stowi_report_picture_pairs){.then_count = counts[0], .now_count = counts[1]};
  out->of_now = STOWI_ARRAY(allocator, size_t, counts[1]);
  out->met = STOWI_ARRAY_ZERO(allocator, bool, counts[0]);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (keys[0] != NULL && keys[1] != NULL && out->of_now != NULL && out->met != NULL) {
    status = stowi_report_pair(keys[0], counts[0], keys[1], counts[1], allocator, out->of_now);
  }
  for (size_t i = 0; i < counts[1] && status == STOW_OK; ++i) {
    if (out->of_now[i] != STOWI_REPORT_UNPAIRED) {
      out->met[out->of_now[i]] = true;
    }
  }
  STOWI_ARRAY_FREE(allocator, keys[0], counts[0]);
  STOWI_ARRAY_FREE(allocator, keys[1], counts[1]);
  return status;
}

void stowi_report_picture_pairs_free(stowi_report_picture_pairs* pairs, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, pairs->of_now, pairs->now_count);
  STOWI_ARRAY_FREE(allocator, pairs->met, pairs->then_count);
}

static stow_status add_changes(stow_picture* picture, const stowi_report_picture_pairs* pairs) {
  last_ends last = {stowi_report_picture_last_end(picture),
                    stowi_report_picture_last_end(picture->against)};
  for (size_t i = 0; i < pairs->now_count; ++i) {
    add_change(picture, i, pairs->of_now[i], &last);
  }
  for (size_t i = 0; i < pairs->then_count; ++i) {
    if (!pairs->met[i]) {
      add_change(picture, STOWI_REPORT_PICTURE_NOWHERE, i, &last);
    }
  }
  return picture->broken ? STOW_ERR_OUT_OF_MEMORY : sort_changes(picture);
}

stow_status stow_picture_compare(stow_picture* picture, const stow_picture* then, stow_diag* diag) {
  stowi_report_picture_pairs pairs;
  if (picture->range != NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "a picture of a range cannot be compared; draw one point");
  }
  picture->against = then;
  stow_status status = stowi_report_picture_pair(then, picture, false, picture->allocator, &pairs);
  status = status == STOW_OK ? add_changes(picture, &pairs) : status;
  stowi_report_picture_pairs_free(&pairs, picture->allocator);
  if (status != STOW_OK) {
    picture->against = NULL;
    picture->broken = false;
    picture->changes.count = 0;
    return stowi_fail_memory(diag);
  }
  return STOW_OK;
}
