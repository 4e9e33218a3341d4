// Differences for people: how large the arena was and is; then why, at the peak; then every tensor
// that changed. Lists are cut, the largest effect first; every line fits in 80 columns.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/api.h"
#include "report/diff/diff.h"

#define PEAK_ROWS 10
#define TENSOR_ROWS 10
#define MOVED_ROWS 5
#define RETIMED_ROWS 5
#define LABEL_COLUMN 50  // where the numbers of a row have ended

static const char* paint(const stowi_report_out* out, const char* code) {
  return out->options.colours ? code : "";
}

// "+64", "-64", "0"
static void format_change(uint64_t then, uint64_t now, char out[STOWI_REPORT_NUMBER]) {
  snprintf(out, STOWI_REPORT_NUMBER, "%s%" PRIu64,
           now > then   ? "+"
           : now < then ? "-"
                        : "",
           now > then ? now - then : then - now);
}

static void format_bytes(uint64_t bytes, char out[STOWI_REPORT_NUMBER]) {
  snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64, bytes);
}

// ---------------------------------------------------------------------------------------------
// Header

static void print_side(const stow_picture* picture, const char* when, stowi_report_out* out) {
  char name[256];
  char source[512];
  stowi_report_escape(stowi_report_picture_str(picture, picture->title), name, sizeof name);
  stowi_report_escape(stowi_report_picture_str(picture, picture->source), source, sizeof source);
  bool graph = strcmp(picture->origin, "graph") == 0;  // others go by their file
  stowi_report_out_print(out, "%-4s  %s%s%s%s%s%s\n", when, paint(out, "\x1B[1m"), graph ? "@" : "",
                         graph ? name : source, paint(out, "\x1B[0m"), graph ? " in " : "",
                         graph ? source : "");
}

// A line of sizes; STOWI_REPORT_PICTURE_NO_NUMBER is not known.
static void print_fact(const char* what, uint64_t then, uint64_t now, stowi_report_out* out) {
  char before[STOWI_REPORT_NUMBER] = "-";
  char after[STOWI_REPORT_NUMBER] = "-";
  char change[STOWI_REPORT_NUMBER];
  bool known = then != STOWI_REPORT_PICTURE_NO_NUMBER && now != STOWI_REPORT_PICTURE_NO_NUMBER;
  if (then != STOWI_REPORT_PICTURE_NO_NUMBER) {
    format_bytes(then, before);
  }
  if (now != STOWI_REPORT_PICTURE_NO_NUMBER) {
    format_bytes(now, after);
  }
  stowi_report_out_print(out, "  %-15s %15s %15s", what, before, after);
  if (known && then != now) {
    char percent[STOWI_REPORT_NUMBER];
    format_change(then, now, change);
    stowi_report_gap(now > then ? now - then : then - now, then, percent);
    stowi_report_out_print(out, "   %s", change);
    if (then != 0) {
      stowi_report_out_print(out, " (%c%s)", now > then ? '+' : '-', percent);
    }
  }
  stowi_report_out_print(out, "\n");
}

static void print_peak_step(const stow_picture* picture, const char* what, stowi_report_out* out) {
  uint64_t step = picture->facts.peak_step;
  stowi_report_out_print(out, "  %-15s step %" PRIu64, what, step);
  if (step < picture->steps.count) {
    char op[64];
    char label[STOWI_REPORT_PICTURE_LABEL_SIZE];
    stowi_report_escape(stowi_report_picture_str(picture, picture->steps.data[step].op), op,
                        sizeof op);
    stowi_report_picture_text_label(picture, picture->steps.data[step].label, 24, label);
    stowi_report_out_print(out, ", %s", op);
    if (label[0] != '\0') {
      stowi_report_out_print(out, " %s", label);
    }
  }
  stowi_report_out_print(out, "\n");
}

static void print_facts(const stow_diff* diff, stowi_report_out* out) {
  const stowi_report_picture_facts* then = &diff->then->facts;
  const stowi_report_picture_facts* now = &diff->now->facts;
  stowi_report_out_print(out, "\n  %-15s %15s %15s   change\n", "bytes", "then", "now");
  print_fact("arena", then->arena, now->arena, out);
  print_fact("lower bound", then->bound, now->bound, out);
  if (then->any_bound != STOWI_REPORT_PICTURE_NO_NUMBER ||
      now->any_bound != STOWI_REPORT_PICTURE_NO_NUMBER) {
    print_fact("any-order bound", then->any_bound, now->any_bound, out);
  }
  print_fact("peak load", then->peak_bytes, now->peak_bytes, out);
  print_peak_step(diff->then, "peak then", out);
  print_peak_step(diff->now, "peak now", out);
}

// ---------------------------------------------------------------------------------------------
// Lists

static void print_label(const stow_diff* diff, const stowi_report_diff_tensor* tensor,
                        stowi_report_out* out) {
  char label[STOWI_REPORT_PICTURE_LABEL_SIZE];
  size_t buffer;
  const stow_picture* picture = stowi_report_diff_named(diff, tensor, &buffer);
  size_t width = out->options.width > LABEL_COLUMN + 12 ? out->options.width - LABEL_COLUMN : 12;
  stowi_report_picture_label(picture, buffer, sizeof label, label);
  stowi_report_cut_inside(label, width);
  stowi_report_out_print(out, "%s\n", label);
}

static void print_bytes(uint64_t bytes, bool present, stowi_report_out* out) {
  char text[STOWI_REPORT_NUMBER] = "-";
  if (present) {
    format_bytes(bytes, text);
  }
  stowi_report_out_print(out, " %12s", text);
}

static void print_change(uint64_t then, uint64_t now, stowi_report_out* out) {
  char change[STOWI_REPORT_NUMBER];
  format_change(then, now, change);
  stowi_report_out_print(out, " %12s  ", change);
}

static void print_rest(size_t count, stowi_report_out* out) {
  if (count > 0) {
    stowi_report_out_print(out, "  \xE2\x80\xA6 and %zu more (--all shows them)\n", count);
  }
}

// `: 1 entered, 2 grew`
static void print_counts(const size_t* counts, size_t kinds, const char* (*text)(size_t),
                         stowi_report_out* out) {
  bool first = true;
  for (size_t i = 0; i < kinds; ++i) {
    if (counts[i] > 0) {
      stowi_report_out_print(out, "%s%zu %s", first ? ": " : ", ", counts[i], text(i));
      first = false;
    }
  }
  stowi_report_out_print(out, "\n");
}

static void print_peak(const stow_diff* diff, bool all, stowi_report_out* out) {
  const stowi_report_diff_tensor* tensors = diff->peak.data;
  size_t changed = diff->peak.count - diff->peak_changes[STOWI_REPORT_PEAK_SAME];
  size_t shown = all || changed < PEAK_ROWS ? changed : PEAK_ROWS;
  stowi_report_out_print(out, "\nAt the peak");
  print_counts(diff->peak_changes, STOWI_REPORT_DIFF_PEAK_COUNT, stowi_report_diff_peak_text, out);
  if (changed > 0) {
    stowi_report_out_print(out, "  %-7s %12s %12s %12s  tensor\n", "", "then", "now", "change");
  }
  for (size_t i = 0; i < shown; ++i) {
    const stowi_report_diff_tensor* t = &tensors[i];
    stowi_report_out_print(out, "  %-7s",
                           stowi_report_diff_peak_text(stowi_report_diff_peak_of(t)));
    print_bytes(t->then_peak, t->then_peak > 0, out);
    print_bytes(t->now_peak, t->now_peak > 0, out);
    print_change(t->then_peak, t->now_peak, out);
    print_label(diff, t, out);
  }
  print_rest(changed - shown, out);
}

static void print_tensor(const stow_diff* diff, const stowi_report_diff_tensor* t,
                         stowi_report_out* out) {
  stowi_report_out_print(out, "  %-7s", stowi_report_diff_change_text(t->change));
  print_bytes(t->then_bytes, t->then != STOWI_REPORT_PICTURE_NOWHERE, out);
  print_bytes(t->now_bytes, t->now != STOWI_REPORT_PICTURE_NOWHERE, out);
  print_change(t->then_bytes, t->now_bytes, out);
  print_label(diff, t, out);
}

// Here bytes are what they were; the columns are offsets.
static void print_move(const stow_diff* diff, const stowi_report_diff_tensor* t,
                       stowi_report_out* out) {
  uint64_t then = diff->then->buffers.data[t->then].offset;
  uint64_t now = diff->now->buffers.data[t->now].offset;
  stowi_report_out_print(out, "  %-7s", stowi_report_diff_change_text(STOWI_REPORT_DIFF_MOVED));
  print_bytes(then, true, out);
  print_bytes(now, true, out);
  print_bytes(t->now_bytes, true, out);
  stowi_report_out_print(out, "  ");
  print_label(diff, t, out);
}

static void print_steps(const stowi_report_picture_buffer* buffer, stowi_report_out* out) {
  char text[2 * STOWI_REPORT_NUMBER];
  snprintf(text, sizeof text, "%" PRIu64 "-%" PRIu64, buffer->begin, buffer->end - 1);
  stowi_report_out_print(out, " %12s", text);
}

// And here they are the steps of its life, the first and the last.
static void print_life(const stow_diff* diff, const stowi_report_diff_tensor* t,
                       stowi_report_out* out) {
  stowi_report_out_print(out, "  %-7s", stowi_report_diff_change_text(STOWI_REPORT_DIFF_RETIMED));
  print_steps(&diff->then->buffers.data[t->then], out);
  print_steps(&diff->now->buffers.data[t->now], out);
  print_bytes(t->now_bytes, true, out);
  stowi_report_out_print(out, "  ");
  print_label(diff, t, out);
}

static bool is_resized(const stowi_report_diff_tensor* t) {
  return t->change != STOWI_REPORT_DIFF_MOVED && t->change != STOWI_REPORT_DIFF_RETIMED;
}

static bool is_moved(const stowi_report_diff_tensor* t) {
  return t->change == STOWI_REPORT_DIFF_MOVED;
}

static bool is_retimed(const stowi_report_diff_tensor* t) { return t->is_retimed; }

// Lists of tensors: which, under which heads, and how each is printed.
typedef struct row_kind {
  bool (*holds)(const stowi_report_diff_tensor* tensor);
  const char* heads[3];
  void (*print)(const stow_diff* diff, const stowi_report_diff_tensor* tensor,
                stowi_report_out* out);
  size_t rows;
} row_kind;

static const row_kind row_kinds[] = {
    {is_resized, {"then", "now", "change"}, print_tensor, TENSOR_ROWS},
    {is_moved, {"from", "to", "bytes"}, print_move, MOVED_ROWS},
    {is_retimed, {"from steps", "to steps", "bytes"}, print_life, RETIMED_ROWS},
};

static void print_list(const stow_diff* diff, const row_kind* kind, size_t rows,
                       stowi_report_out* out) {
  const stowi_report_diff_tensor* tensors = diff->tensors.data;
  size_t met = 0;
  for (size_t i = 0; i < diff->tensors.count; ++i) {
    if (!kind->holds(&tensors[i])) {
      continue;
    }
    if (met == 0) {
      stowi_report_out_print(out, "  %-7s %12s %12s %12s  tensor\n", "", kind->heads[0],
                             kind->heads[1], kind->heads[2]);
    }
    if (met++ < rows) {
      kind->print(diff, &tensors[i], out);
    }
  }
  print_rest(met > rows ? met - rows : 0, out);
}

static void print_tensors(const stow_diff* diff, bool all, stowi_report_out* out) {
  stowi_report_out_print(out, "\nTensors");
  print_counts(diff->changes, STOWI_REPORT_DIFF_CHANGE_COUNT, stowi_report_diff_change_text, out);
  for (size_t i = 0; i < sizeof row_kinds / sizeof row_kinds[0]; ++i) {
    print_list(diff, &row_kinds[i], all ? SIZE_MAX : row_kinds[i].rows, out);
  }
  if (diff->changes[STOWI_REPORT_DIFF_PARTED] + diff->changes[STOWI_REPORT_DIFF_JOINED] > 0) {
    stowi_report_out_print(
        out, "  parted, joined: no longer, and now, in the bytes of another tensor\n");
  }
}

// ---------------------------------------------------------------------------------------------

static void print_verdict(const stow_diff* diff, stowi_report_out* out) {
  uint64_t then = diff->then->facts.arena;
  uint64_t now = diff->now->facts.arena;
  char percent[STOWI_REPORT_NUMBER];
  stowi_report_out_print(out, "\n%s", paint(out, diff->too_large ? "\x1B[31m" : "\x1B[32m"));
  stowi_report_out_print(out, "The arena %s%s",
                         now == then  ? "is as large as it was"
                         : now > then ? "grew"
                                      : "shrank",
                         paint(out, "\x1B[0m"));
  if (now != then) {
    stowi_report_gap(now > then ? now - then : then - now, then, percent);
    stowi_report_out_print(out, " by %" PRIu64 " bytes", now > then ? now - then : then - now);
    if (then != 0) {
      stowi_report_out_print(out, " (%s)", percent);
    }
  }
  if (now > then && diff->allowed > 0) {
    stowi_report_out_print(out, "; %" PRIu64 " are allowed", diff->allowed);
  }
  stowi_report_out_print(out, ".\n");
}

void stowi_report_diff_write_text(const stow_diff* diff, stowi_report_out* out) {
  bool all = out->options.all;
  print_side(diff->then, "then", out);
  print_side(diff->now, "now", out);
  print_facts(diff, out);
  if (diff->peak.count > 0) {
    print_peak(diff, all, out);
  }
  if (diff->tensors.count > 0) {
    print_tensors(diff, all, out);
  }
  print_verdict(diff, out);
}
