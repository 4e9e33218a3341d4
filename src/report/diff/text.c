// Differences for people: how large the arena was and is; then why, at the peak; then every tensor
// that changed. Lists are cut, the largest effect first; every line fits in 80 columns.
#include <string.h>

#include "report/diff/diff.h"

#define LABEL_COLUMN 50  // where the numbers of a row have ended

static const char* paint(const stowi_report_out* out, const char* code) {
  return out->options.colours ? code : "";
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

static void print_fact(const stowi_report_diff_fact* fact, stowi_report_out* out) {
  stowi_report_diff_row row;
  stowi_report_diff_fill_fact(fact, &row);
  stowi_report_out_print(out, "  %-15s %15s %15s%s%s\n", row.what, row.cells[0], row.cells[1],
                         row.cells[2][0] != '\0' ? "   " : "", row.cells[2]);
}

static void print_peak_step(const stow_picture* picture, const char* what, stowi_report_out* out) {
  char step[STOWI_REPORT_DIFF_STEP];
  stowi_report_diff_format_step(picture, step);
  stowi_report_out_print(out, "  %-15s %s\n", what, step);
}

static void print_facts(const stow_diff* diff, stowi_report_out* out) {
  stowi_report_diff_fact facts[STOWI_REPORT_DIFF_FACTS];
  size_t count = stowi_report_diff_facts(diff, facts);
  stowi_report_out_print(out, "\n  %-15s %15s %15s   change\n", "bytes", "then", "now");
  for (size_t i = 0; i < count; ++i) {
    print_fact(&facts[i], out);
  }
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

static void print_cells(const char* what, const char* a, const char* b, const char* c,
                        stowi_report_out* out) {
  stowi_report_out_print(out, "  %-7s %12s %12s %12s  ", what, a, b, c);
}

static void print_table(const stow_diff* diff, const stowi_report_diff_list* list,
                        const stowi_report_diff_table* table, stowi_report_out* out) {
  size_t rows = out->options.all ? SIZE_MAX : table->rows;
  size_t met = 0;
  for (size_t i = 0; i < list->count; ++i) {
    stowi_report_diff_row row;
    if (!table->holds(&list->data[i])) {
      continue;
    }
    if (met == 0) {
      print_cells("", table->heads[0], table->heads[1], table->heads[2], out);
      stowi_report_out_print(out, "tensor\n");
    }
    if (met++ < rows) {
      table->fill(diff, &list->data[i], &row);
      print_cells(row.what, row.cells[0], row.cells[1], row.cells[2], out);
      print_label(diff, &list->data[i], out);
    }
  }
  if (met > rows) {
    stowi_report_out_print(out, "  \xE2\x80\xA6 and %zu more (--all shows them)\n", met - rows);
  }
}

static void print_peak(const stow_diff* diff, stowi_report_out* out) {
  stowi_report_out_print(out, "\nAt the peak");
  stowi_report_diff_print_counts(diff->peak_changes, STOWI_REPORT_DIFF_PEAK_COUNT,
                                 stowi_report_diff_peak_text, out);
  stowi_report_out_print(out, "\n");
  print_table(diff, &diff->peak, &stowi_report_diff_peak_table, out);
}

static void print_tensors(const stow_diff* diff, stowi_report_out* out) {
  stowi_report_out_print(out, "\nTensors");
  stowi_report_diff_print_counts(diff->changes, STOWI_REPORT_DIFF_CHANGE_COUNT,
                                 stowi_report_diff_change_text, out);
  stowi_report_out_print(out, "\n");
  for (size_t i = 0; i < STOWI_REPORT_DIFF_TABLES; ++i) {
    print_table(diff, &diff->tensors, &stowi_report_diff_tables[i], out);
  }
  if (stowi_report_diff_has_hosts(diff)) {
    stowi_report_out_print(out, "  %s\n", STOWI_REPORT_DIFF_HOSTS);
  }
}

void stowi_report_diff_write_text(const stow_diff* diff, stowi_report_out* out) {
  print_side(diff->then, "then", out);
  print_side(diff->now, "now", out);
  print_facts(diff, out);
  if (diff->peak.count > 0) {
    print_peak(diff, out);
  }
  if (diff->tensors.count > 0) {
    print_tensors(diff, out);
  }
  stowi_report_out_print(out, "\n");
  stowi_report_diff_print_verdict(diff, out);
  stowi_report_out_print(out, "\n");
}
