// Differences as rows of words and numbers, for the writers that people read: what is in which
// table, and how each cell reads.
#include <inttypes.h>
#include <stdio.h>

#include "report/diff/diff.h"

#define PEAK_ROWS 10
#define TENSOR_ROWS 10
#define MOVED_ROWS 5
#define RETIMED_ROWS 5

static void format_bytes(uint64_t bytes, bool present, char* out) {
  if (present) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64, bytes);
  } else {
    snprintf(out, STOWI_REPORT_NUMBER, "-");
  }
}

static uint64_t distance(uint64_t then, uint64_t now) {
  return now > then ? now - then : then - now;
}

// "+64", "-64", "0"
static void format_change(uint64_t then, uint64_t now, char* out) {
  const char* sign = now < then ? "-" : "+";
  snprintf(out, STOWI_REPORT_NUMBER, "%s%" PRIu64, now == then ? "" : sign, distance(then, now));
}

// ---------------------------------------------------------------------------------------------
// Facts

size_t stowi_report_diff_facts(const stow_diff* diff,
                               stowi_report_diff_fact facts[STOWI_REPORT_DIFF_FACTS]) {
  const stowi_report_picture_facts* then = &diff->then->facts;
  const stowi_report_picture_facts* now = &diff->now->facts;
  size_t count = 0;
  facts[count++] = (stowi_report_diff_fact){"arena", then->arena, now->arena};
  facts[count++] = (stowi_report_diff_fact){"lower bound", then->bound, now->bound};
  if (then->any_bound != STOWI_REPORT_PICTURE_NO_NUMBER ||
      now->any_bound != STOWI_REPORT_PICTURE_NO_NUMBER) {
    facts[count++] = (stowi_report_diff_fact){"any-order bound", then->any_bound, now->any_bound};
  }
  facts[count++] = (stowi_report_diff_fact){"peak load", then->peak_bytes, now->peak_bytes};
  return count;
}

void stowi_report_diff_fill_fact(const stowi_report_diff_fact* fact, stowi_report_diff_row* row) {
  bool was = fact->then != STOWI_REPORT_PICTURE_NO_NUMBER;
  bool is = fact->now != STOWI_REPORT_PICTURE_NO_NUMBER;
  char change[STOWI_REPORT_NUMBER];
  char percent[STOWI_REPORT_NUMBER];
  row->what = fact->what;
  row->cells[2][0] = '\0';
  format_bytes(fact->then, was, row->cells[0]);
  format_bytes(fact->now, is, row->cells[1]);
  if (!was || !is || fact->then == fact->now) {
    return;
  }
  format_change(fact->then, fact->now, change);
  stowi_report_gap(distance(fact->then, fact->now), fact->then, percent);
  if (fact->then != 0) {
    snprintf(row->cells[2], sizeof row->cells[2], "%s (%c%s)", change, change[0], percent);
  } else {
    snprintf(row->cells[2], sizeof row->cells[2], "%s", change);
  }
}

// ---------------------------------------------------------------------------------------------
// Tables

static bool is_changed_at_peak(const stowi_report_diff_tensor* t) {
  return stowi_report_diff_peak_of(t) != STOWI_REPORT_PEAK_SAME;
}

static bool is_resized(const stowi_report_diff_tensor* t) {
  return t->change != STOWI_REPORT_DIFF_MOVED && t->change != STOWI_REPORT_DIFF_RETIMED;
}

static bool is_moved(const stowi_report_diff_tensor* t) {
  return t->change == STOWI_REPORT_DIFF_MOVED;
}

static bool is_retimed(const stowi_report_diff_tensor* t) { return t->is_retimed; }

static void fill_peak(const stow_diff* diff, const stowi_report_diff_tensor* t,
                      stowi_report_diff_row* row) {
  (void)diff;
  row->what = stowi_report_diff_peak_text(stowi_report_diff_peak_of(t));
  format_bytes(t->then_peak, t->then_peak > 0, row->cells[0]);
  format_bytes(t->now_peak, t->now_peak > 0, row->cells[1]);
  format_change(t->then_peak, t->now_peak, row->cells[2]);
}

static void fill_sizes(const stow_diff* diff, const stowi_report_diff_tensor* t,
                       stowi_report_diff_row* row) {
  (void)diff;
  row->what = stowi_report_diff_change_text(t->change);
  format_bytes(t->then_bytes, t->then != STOWI_REPORT_PICTURE_NOWHERE, row->cells[0]);
  format_bytes(t->now_bytes, t->now != STOWI_REPORT_PICTURE_NOWHERE, row->cells[1]);
  format_change(t->then_bytes, t->now_bytes, row->cells[2]);
}

// Here bytes are what they were; the columns are offsets.
static void fill_offsets(const stow_diff* diff, const stowi_report_diff_tensor* t,
                         stowi_report_diff_row* row) {
  row->what = stowi_report_diff_change_text(STOWI_REPORT_DIFF_MOVED);
  format_bytes(diff->then->buffers.data[t->then].offset, true, row->cells[0]);
  format_bytes(diff->now->buffers.data[t->now].offset, true, row->cells[1]);
  format_bytes(t->now_bytes, true, row->cells[2]);
}

static void format_steps(const stowi_report_picture_buffer* buffer, char* out) {
  snprintf(out, STOWI_REPORT_DIFF_CELL, "%" PRIu64 "-%" PRIu64, buffer->begin, buffer->end - 1);
}

// And here they are the steps of its life, the first and the last.
static void fill_steps(const stow_diff* diff, const stowi_report_diff_tensor* t,
                       stowi_report_diff_row* row) {
  row->what = stowi_report_diff_change_text(STOWI_REPORT_DIFF_RETIMED);
  format_steps(&diff->then->buffers.data[t->then], row->cells[0]);
  format_steps(&diff->now->buffers.data[t->now], row->cells[1]);
  format_bytes(t->now_bytes, true, row->cells[2]);
}

const stowi_report_diff_table stowi_report_diff_peak_table = {
    {"then", "now", "change"}, is_changed_at_peak, fill_peak, PEAK_ROWS};
const stowi_report_diff_table stowi_report_diff_tables[STOWI_REPORT_DIFF_TABLES] = {
    {{"then", "now", "change"}, is_resized, fill_sizes, TENSOR_ROWS},
    {{"from", "to", "bytes"}, is_moved, fill_offsets, MOVED_ROWS},
    {{"from steps", "to steps", "bytes"}, is_retimed, fill_steps, RETIMED_ROWS},
};

// ---------------------------------------------------------------------------------------------
// Words

void stowi_report_diff_print_counts(const size_t* counts, size_t kinds, const char* (*text)(size_t),
                                    stowi_report_out* out) {
  bool first = true;
  for (size_t i = 0; i < kinds; ++i) {
    if (counts[i] > 0) {
      stowi_report_out_print(out, "%s%zu %s", first ? ": " : ", ", counts[i], text(i));
      first = false;
    }
  }
}

void stowi_report_diff_format_step(const stow_picture* picture, char out[STOWI_REPORT_DIFF_STEP]) {
  uint64_t step = picture->facts.peak_step;
  char op[64] = "";
  char label[STOWI_REPORT_PICTURE_LABEL_SIZE] = "";
  if (step < picture->steps.count) {
    stowi_report_escape(stowi_report_picture_str(picture, picture->steps.data[step].op), op,
                        sizeof op);
    stowi_report_picture_text_label(picture, picture->steps.data[step].label, 24, label);
  }
  snprintf(out, STOWI_REPORT_DIFF_STEP, "step %" PRIu64 "%s%s%s%.150s", step,
           op[0] != '\0' ? ", " : "", op, label[0] != '\0' ? " " : "", label);
}

bool stowi_report_diff_has_hosts(const stow_diff* diff) {
  return diff->changes[STOWI_REPORT_DIFF_PARTED] + diff->changes[STOWI_REPORT_DIFF_JOINED] > 0;
}

void stowi_report_diff_print_verdict(const stow_diff* diff, stowi_report_out* out) {
  uint64_t then = diff->then->facts.arena;
  uint64_t now = diff->now->facts.arena;
  bool colours = out->options.colours;
  char percent[STOWI_REPORT_NUMBER];
  stowi_report_out_print(out, "%s", !colours ? "" : diff->too_large ? "\x1B[31m" : "\x1B[32m");
  stowi_report_out_print(out, "The arena %s%s",
                         now == then  ? "is as large as it was"
                         : now > then ? "grew"
                                      : "shrank",
                         colours ? "\x1B[0m" : "");
  if (now != then) {
    stowi_report_gap(distance(then, now), then, percent);
    stowi_report_out_print(out, " by %" PRIu64 " bytes", distance(then, now));
    if (then != 0) {
      stowi_report_out_print(out, " (%s)", percent);
    }
  }
  if (now > then && diff->allowed > 0) {
    stowi_report_out_print(out, "; %" PRIu64 " are allowed", diff->allowed);
  }
  stowi_report_out_print(out, ".");
}
