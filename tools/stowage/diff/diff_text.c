// Differences for people: how large the arena was and is; then why, at the peak; then every tensor
// that changed. Lists are cut, the largest effect first; every line fits in 80 columns.
#include <inttypes.h>
#include <string.h>

#include "diff.h"
#include "lines.h"
#include "number.h"
#include "text.h"

#define PEAK_ROWS 10
#define TENSOR_ROWS 10
#define MOVED_ROWS 5
#define RETIMED_ROWS 5
#define LABEL_COLUMN 50  // where the numbers of a row have ended

// "+64", "-64", "0"
static void format_change(uint64_t then, uint64_t now, char out[CLI_NUMBER_SIZE]) {
  snprintf(out, CLI_NUMBER_SIZE, "%s%" PRIu64,
           now > then   ? "+"
           : now < then ? "-"
                        : "",
           now > then ? now - then : then - now);
}

static void format_bytes(uint64_t bytes, char out[CLI_NUMBER_SIZE]) {
  snprintf(out, CLI_NUMBER_SIZE, "%" PRIu64, bytes);
}

// ---------------------------------------------------------------------------------------------
// Header

static void print_side(const cli_view* view, const char* when, cli_output* output) {
  char name[256];
  char source[512];
  cli_escape(cli_view_str(view, view->title), name, sizeof name);
  cli_escape(cli_view_str(view, view->source), source, sizeof source);
  bool graph = strcmp(view->origin, "graph") == 0;  // others go by their file
  cli_print(output, "%-4s  %s%s%s%s%s%s\n", when, cli_paint_start(output, CLI_BOLD),
            graph ? "@" : "", graph ? name : source, cli_paint_stop(output), graph ? " in " : "",
            graph ? source : "");
}

// A line of sizes; CLI_VIEW_NO_NUMBER is not known.
static void print_fact(const char* what, uint64_t then, uint64_t now, cli_output* output) {
  char before[CLI_NUMBER_SIZE] = "-";
  char after[CLI_NUMBER_SIZE] = "-";
  char change[CLI_NUMBER_SIZE];
  bool known = then != CLI_VIEW_NO_NUMBER && now != CLI_VIEW_NO_NUMBER;
  if (then != CLI_VIEW_NO_NUMBER) {
    format_bytes(then, before);
  }
  if (now != CLI_VIEW_NO_NUMBER) {
    format_bytes(now, after);
  }
  cli_print(output, "  %-15s %15s %15s", what, before, after);
  if (known && then != now) {
    char percent[CLI_NUMBER_SIZE];
    format_change(then, now, change);
    cli_format_gap(now > then ? now - then : then - now, then, percent);
    cli_print(output, "   %s", change);
    if (then != 0) {
      cli_print(output, " (%c%s)", now > then ? '+' : '-', percent);
    }
  }
  cli_print(output, "\n");
}

static void print_peak_step(const cli_view* view, const char* what, cli_output* output) {
  uint64_t step = view->facts.peak_step;
  cli_print(output, "  %-15s step %" PRIu64, what, step);
  if (step < view->steps.count) {
    char op[64];
    char label[CLI_VIEW_LABEL_SIZE];
    cli_escape(cli_view_str(view, cli_view_steps(view)[step].op), op, sizeof op);
    cli_view_text_label(view, cli_view_steps(view)[step].label, 24, label);
    cli_print(output, ", %s", op);
    if (label[0] != '\0') {
      cli_print(output, " %s", label);
    }
  }
  cli_print(output, "\n");
}

static void print_facts(const cli_diff* diff, cli_output* output) {
  const cli_view_facts* then = &diff->then->facts;
  const cli_view_facts* now = &diff->now->facts;
  cli_print(output, "\n  %-15s %15s %15s   change\n", "bytes", "then", "now");
  print_fact("arena", then->arena, now->arena, output);
  print_fact("lower bound", then->bound, now->bound, output);
  if (then->any_bound != CLI_VIEW_NO_NUMBER || now->any_bound != CLI_VIEW_NO_NUMBER) {
    print_fact("any-order bound", then->any_bound, now->any_bound, output);
  }
  print_fact("peak load", then->peak_bytes, now->peak_bytes, output);
  print_peak_step(diff->then, "peak then", output);
  print_peak_step(diff->now, "peak now", output);
}

// ---------------------------------------------------------------------------------------------
// Lists

static void print_label(const cli_diff* diff, const cli_diff_tensor* tensor, cli_output* output) {
  char label[CLI_VIEW_LABEL_SIZE];
  size_t buffer;
  const cli_view* view = cli_diff_named(diff, tensor, &buffer);
  size_t width = output->width > LABEL_COLUMN + 12 ? output->width - LABEL_COLUMN : 12;
  cli_view_label(view, buffer, sizeof label, label);
  cli_cut_inside(label, width);
  cli_print(output, "%s\n", label);
}

static void print_bytes(uint64_t bytes, bool present, cli_output* output) {
  char text[CLI_NUMBER_SIZE] = "-";
  if (present) {
    format_bytes(bytes, text);
  }
  cli_print(output, " %12s", text);
}

static void print_change(uint64_t then, uint64_t now, cli_output* output) {
  char change[CLI_NUMBER_SIZE];
  format_change(then, now, change);
  cli_print(output, " %12s  ", change);
}

static void print_rest(size_t count, cli_output* output) {
  if (count > 0) {
    cli_print(output, "  \xE2\x80\xA6 and %zu more (--all shows them)\n", count);
  }
}

// `: 1 entered, 2 grew`
static void print_counts(const size_t* counts, size_t kinds, const char* (*text)(size_t),
                         cli_output* output) {
  bool first = true;
  for (size_t i = 0; i < kinds; ++i) {
    if (counts[i] > 0) {
      cli_print(output, "%s%zu %s", first ? ": " : ", ", counts[i], text(i));
      first = false;
    }
  }
  cli_print(output, "\n");
}

static void print_peak(const cli_diff* diff, bool all, cli_output* output) {
  const cli_diff_tensor* tensors = diff->peak.items;
  size_t changed = diff->peak.count - diff->peak_changes[CLI_PEAK_SAME];
  size_t shown = all || changed < PEAK_ROWS ? changed : PEAK_ROWS;
  cli_print(output, "\nAt the peak");
  print_counts(diff->peak_changes, CLI_DIFF_PEAK_COUNT, cli_diff_peak_text, output);
  if (changed > 0) {
    cli_print(output, "  %-7s %12s %12s %12s  tensor\n", "", "then", "now", "change");
  }
  for (size_t i = 0; i < shown; ++i) {
    const cli_diff_tensor* t = &tensors[i];
    cli_print(output, "  %-7s", cli_diff_peak_text(cli_diff_peak_of(t)));
    print_bytes(t->then_peak, t->then_peak > 0, output);
    print_bytes(t->now_peak, t->now_peak > 0, output);
    print_change(t->then_peak, t->now_peak, output);
    print_label(diff, t, output);
  }
  print_rest(changed - shown, output);
}

static void print_tensor(const cli_diff* diff, const cli_diff_tensor* t, cli_output* output) {
  cli_print(output, "  %-7s", cli_diff_change_text(t->change));
  print_bytes(t->then_bytes, t->then != CLI_VIEW_NOWHERE, output);
  print_bytes(t->now_bytes, t->now != CLI_VIEW_NOWHERE, output);
  print_change(t->then_bytes, t->now_bytes, output);
  print_label(diff, t, output);
}

// Here bytes are what they were; the columns are offsets.
static void print_move(const cli_diff* diff, const cli_diff_tensor* t, cli_output* output) {
  uint64_t then = cli_view_buffers(diff->then)[t->then].offset;
  uint64_t now = cli_view_buffers(diff->now)[t->now].offset;
  cli_print(output, "  %-7s", cli_diff_change_text(CLI_DIFF_MOVED));
  print_bytes(then, true, output);
  print_bytes(now, true, output);
  print_bytes(t->now_bytes, true, output);
  cli_print(output, "  ");
  print_label(diff, t, output);
}

static void print_steps(const cli_view_buffer* buffer, cli_output* output) {
  char text[2 * CLI_NUMBER_SIZE];
  snprintf(text, sizeof text, "%" PRIu64 "-%" PRIu64, buffer->begin, buffer->end - 1);
  cli_print(output, " %12s", text);
}

// And here they are the steps of its life, the first and the last.
static void print_life(const cli_diff* diff, const cli_diff_tensor* t, cli_output* output) {
  cli_print(output, "  %-7s", cli_diff_change_text(CLI_DIFF_RETIMED));
  print_steps(&cli_view_buffers(diff->then)[t->then], output);
  print_steps(&cli_view_buffers(diff->now)[t->now], output);
  print_bytes(t->now_bytes, true, output);
  cli_print(output, "  ");
  print_label(diff, t, output);
}

static bool is_resized(const cli_diff_tensor* t) {
  return t->change != CLI_DIFF_MOVED && t->change != CLI_DIFF_RETIMED;
}

static bool is_moved(const cli_diff_tensor* t) { return t->change == CLI_DIFF_MOVED; }

static bool is_retimed(const cli_diff_tensor* t) { return t->is_retimed; }

// Lists of tensors: which, under which heads, and how each is printed.
typedef struct row_kind {
  bool (*holds)(const cli_diff_tensor* tensor);
  const char* heads[3];
  void (*print)(const cli_diff* diff, const cli_diff_tensor* tensor, cli_output* output);
  size_t rows;
} row_kind;

static const row_kind row_kinds[] = {
    {is_resized, {"then", "now", "change"}, print_tensor, TENSOR_ROWS},
    {is_moved, {"from", "to", "bytes"}, print_move, MOVED_ROWS},
    {is_retimed, {"from steps", "to steps", "bytes"}, print_life, RETIMED_ROWS},
};

static void print_list(const cli_diff* diff, const row_kind* kind, size_t rows,
                       cli_output* output) {
  const cli_diff_tensor* tensors = diff->tensors.items;
  size_t met = 0;
  for (size_t i = 0; i < diff->tensors.count; ++i) {
    if (!kind->holds(&tensors[i])) {
      continue;
    }
    if (met == 0) {
      cli_print(output, "  %-7s %12s %12s %12s  tensor\n", "", kind->heads[0], kind->heads[1],
                kind->heads[2]);
    }
    if (met++ < rows) {
      kind->print(diff, &tensors[i], output);
    }
  }
  print_rest(met > rows ? met - rows : 0, output);
}

static void print_tensors(const cli_diff* diff, bool all, cli_output* output) {
  cli_print(output, "\nTensors");
  print_counts(diff->changes, CLI_DIFF_CHANGE_COUNT, cli_diff_change_text, output);
  for (size_t i = 0; i < sizeof row_kinds / sizeof row_kinds[0]; ++i) {
    print_list(diff, &row_kinds[i], all ? SIZE_MAX : row_kinds[i].rows, output);
  }
  if (diff->changes[CLI_DIFF_PARTED] + diff->changes[CLI_DIFF_JOINED] > 0) {
    cli_print(output, "  parted, joined: no longer, and now, in the bytes of another tensor\n");
  }
}

// ---------------------------------------------------------------------------------------------

static void print_verdict(const cli_diff* diff, cli_output* output) {
  uint64_t then = diff->then->facts.arena;
  uint64_t now = diff->now->facts.arena;
  char percent[CLI_NUMBER_SIZE];
  cli_print(output, "\n%s", cli_paint_start(output, diff->too_large ? CLI_BAD : CLI_GOOD));
  cli_print(output, "The arena %s%s",
            now == then  ? "is as large as it was"
            : now > then ? "grew"
                         : "shrank",
            cli_paint_stop(output));
  if (now != then) {
    cli_format_gap(now > then ? now - then : then - now, then, percent);
    cli_print(output, " by %" PRIu64 " bytes", now > then ? now - then : then - now);
    if (then != 0) {
      cli_print(output, " (%s)", percent);
    }
  }
  if (now > then && diff->allowed > 0) {
    cli_print(output, "; %" PRIu64 " are allowed", diff->allowed);
  }
  cli_print(output, ".\n");
}

void cli_diff_print(const cli_diff* diff, bool all, cli_output* output) {
  print_side(diff->then, "then", output);
  print_side(diff->now, "now", output);
  print_facts(diff, output);
  if (diff->peak.count > 0) {
    print_peak(diff, all, output);
  }
  if (diff->tensors.count > 0) {
    print_tensors(diff, all, output);
  }
  print_verdict(diff, output);
}
