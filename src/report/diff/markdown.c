// Differences for a comment on a change: the verdict, the sizes, the peak, and the other tensors
// folded away, as GitHub and GitLab render Markdown. Names are code: nothing in them is markup,
// a link or a mention.
#include <string.h>

#include "report/diff/diff.h"

#define LABEL_WIDTH 80

// In code, where backslashes are plain; what would end it, or a cell, is \xHH as in other escapes.
static void print_code(const char* text, stowi_report_out* out) {
  stowi_report_out_print(out, "`");
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at == '`' || *at == '|') {
      stowi_report_out_print(out, "\\x%02x", (unsigned)*at);
    } else {
      stowi_report_out_bytes(out, at, 1);
    }
  }
  stowi_report_out_print(out, "`");
}

static void print_source(const stow_picture* picture, stowi_report_out* out) {
  char source[512];
  stowi_report_escape(stowi_report_picture_str(picture, picture->source), source, sizeof source);
  print_code(source, out);
}

// ---------------------------------------------------------------------------------------------
// Tables

static void print_heads(const char* first, const char* const heads[3], const char* last,
                        stowi_report_out* out) {
  stowi_report_out_print(out, "\n| %s | %s | %s | %s |%s\n| --- | ---: | ---: | ---: |%s\n", first,
                         heads[0], heads[1], heads[2], last, last[0] != '\0' ? " --- |" : "");
}

static void print_row(const stowi_report_diff_row* row, stowi_report_out* out) {
  stowi_report_out_print(out, "| %s | %s | %s | %s |", row->what, row->cells[0], row->cells[1],
                         row->cells[2]);
}

static void print_facts(const stow_diff* diff, stowi_report_out* out) {
  static const char* const heads[] = {"then", "now", "change"};
  stowi_report_diff_fact facts[STOWI_REPORT_DIFF_FACTS];
  size_t count = stowi_report_diff_facts(diff, facts);
  print_heads("bytes", heads, "", out);
  for (size_t i = 0; i < count; ++i) {
    stowi_report_diff_row row;
    stowi_report_diff_fill_fact(&facts[i], &row);
    print_row(&row, out);
    stowi_report_out_print(out, "\n");
  }
}

static void print_tensor(const stow_diff* diff, const stowi_report_diff_table* table,
                         const stowi_report_diff_tensor* tensor, stowi_report_out* out) {
  char label[STOWI_REPORT_PICTURE_LABEL_SIZE];
  size_t buffer;
  stowi_report_diff_row row;
  const stow_picture* picture = stowi_report_diff_named(diff, tensor, &buffer);
  stowi_report_picture_label(picture, buffer, sizeof label, label);
  stowi_report_cut_inside(label, LABEL_WIDTH);
  table->fill(diff, tensor, &row);
  print_row(&row, out);
  stowi_report_out_print(out, " ");
  print_code(label, out);
  stowi_report_out_print(out, " |\n");
}

static void print_table(const stow_diff* diff, const stowi_report_diff_list* list,
                        const stowi_report_diff_table* table, stowi_report_out* out) {
  size_t rows = out->options.all ? SIZE_MAX : table->rows;
  size_t met = 0;
  for (size_t i = 0; i < list->count; ++i) {
    if (table->holds(&list->data[i])) {
      if (met == 0) {
        print_heads("", table->heads, " tensor |", out);
      }
      if (met++ < rows) {
        print_tensor(diff, table, &list->data[i], out);
      }
    }
  }
  if (met > rows) {
    stowi_report_out_print(out, "\n\xE2\x80\xA6 and %zu more\n", met - rows);
  }
}

// ---------------------------------------------------------------------------------------------

// Where the peak is, and where it was if that is another step.
static void print_peak_steps(const stow_diff* diff, stowi_report_out* out) {
  char then[STOWI_REPORT_DIFF_STEP];
  char now[STOWI_REPORT_DIFF_STEP];
  stowi_report_diff_format_step(diff->then, then);
  stowi_report_diff_format_step(diff->now, now);
  stowi_report_out_print(out, "\nPeak: ");
  print_code(now, out);
  if (strcmp(then, now) != 0) {
    stowi_report_out_print(out, ", before ");
    print_code(then, out);
  }
  stowi_report_out_print(out, ".");
}

static void print_peak(const stow_diff* diff, stowi_report_out* out) {
  print_peak_steps(diff, out);
  stowi_report_out_print(out, " Tensors there");
  stowi_report_diff_print_counts(diff->peak_changes, STOWI_REPORT_DIFF_PEAK_COUNT,
                                 stowi_report_diff_peak_text, out);
  stowi_report_out_print(out, "\n");
  print_table(diff, &diff->peak, &stowi_report_diff_peak_table, out);
}

static void print_tensors(const stow_diff* diff, stowi_report_out* out) {
  stowi_report_out_print(out, "\n<details><summary>Tensors");
  stowi_report_diff_print_counts(diff->changes, STOWI_REPORT_DIFF_CHANGE_COUNT,
                                 stowi_report_diff_change_text, out);
  stowi_report_out_print(out, "</summary>\n");
  for (size_t i = 0; i < STOWI_REPORT_DIFF_TABLES; ++i) {
    print_table(diff, &diff->tensors, &stowi_report_diff_tables[i], out);
  }
  if (stowi_report_diff_has_hosts(diff)) {
    stowi_report_out_print(out, "\n%s\n", STOWI_REPORT_DIFF_HOSTS);
  }
  stowi_report_out_print(out, "\n</details>\n");
}

void stowi_report_diff_write_markdown(const stow_diff* diff, stowi_report_out* out) {
  out->options.colours = false;
  stowi_report_out_print(out, "### %s", diff->too_large ? "Too large: " : "");
  print_source(diff->now, out);
  stowi_report_out_print(out, "\n\n");
  stowi_report_diff_print_verdict(diff, out);
  stowi_report_out_print(out, " Compared with ");
  print_source(diff->then, out);
  stowi_report_out_print(out, ".\n");
  print_facts(diff, out);
  if (diff->peak.count > 0) {
    print_peak(diff, out);
  }
  if (diff->tensors.count > 0) {
    print_tensors(diff, out);
  }
}
