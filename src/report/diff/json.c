// Differences for programs: one JSON object, with everything in it. docs/diff.md describes it.
#include <inttypes.h>
#include <string.h>

#include "report/diff/diff.h"

static void print_text(stowi_report_out* out, const stow_picture* picture,
                       stowi_report_picture_text text) {
  if (text == STOWI_REPORT_PICTURE_NONE) {
    stowi_report_out_print(out, "null");
  } else {
    stowi_report_out_json(out, stowi_report_picture_str(picture, text));
  }
}

static void print_number(stowi_report_out* out, uint64_t number) {
  stowi_report_out_print(out, number == STOWI_REPORT_PICTURE_NO_NUMBER ? "null" : "%" PRIu64,
                         number);
}

static void print_signed(stowi_report_out* out, uint64_t then, uint64_t now) {
  stowi_report_out_print(out, "%s%" PRIu64, now < then ? "-" : "",
                         now > then ? now - then : then - now);
}

static void print_side(const stow_picture* picture, const char* key, stowi_report_out* out) {
  const stowi_report_picture_facts* facts = &picture->facts;
  bool rows = strcmp(picture->origin, "csv") == 0;
  stowi_report_out_print(out, "  \"%s\": {\"source\": ", key);
  print_text(out, picture, picture->source);
  stowi_report_out_print(out, ", \"kind\": \"%s\", \"graph\": ", picture->origin);
  print_text(out, picture, rows ? STOWI_REPORT_PICTURE_NONE : picture->title);
  stowi_report_out_print(
      out, ",\n    \"arena\": %" PRIu64 ", \"bound\": %" PRIu64 ", \"any_bound\": ", facts->arena,
      facts->bound);
  print_number(out, facts->any_bound);
  stowi_report_out_print(out,
                         ", \"steps\": %" PRIu64 ",\n    \"peak\": {\"step\": %" PRIu64
                         ", \"bytes\": %" PRIu64 ", \"op\": ",
                         facts->steps, facts->peak_step, facts->peak_bytes);
  bool runs = facts->peak_step < picture->steps.count;
  const stowi_report_picture_step* step = runs ? &picture->steps.data[facts->peak_step] : NULL;
  print_text(out, picture, runs ? step->op : STOWI_REPORT_PICTURE_NONE);
  stowi_report_out_print(out, ", \"name\": ");
  print_text(out, picture, runs ? step->label : STOWI_REPORT_PICTURE_NONE);
  stowi_report_out_print(out, "}},\n");
}

static void print_name(const stow_diff* diff, const stowi_report_diff_tensor* t,
                       stowi_report_out* out) {
  size_t index;
  const stow_picture* picture = stowi_report_diff_named(diff, t, &index);
  const stowi_report_picture_buffer* buffer = &picture->buffers.data[index];
  stowi_report_out_print(out, "\"name\": ");
  print_text(out, picture, buffer->name);
  stowi_report_out_print(
      out, ", \"kind\": \"%s\", \"op\": ", stowi_report_picture_kind_text(buffer->kind));
  print_text(out, picture, buffer->op);
}

static void print_buffer(const stow_picture* picture, const char* key, size_t index,
                         stowi_report_out* out) {
  stowi_report_out_print(out, ", \"%s\": ", key);
  if (index == STOWI_REPORT_PICTURE_NOWHERE) {
    stowi_report_out_print(out, "null");
    return;
  }
  const stowi_report_picture_buffer* buffer = &picture->buffers.data[index];
  stowi_report_out_print(out,
                         "{\"id\": %" PRIu32 ", \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64
                         ", \"begin\": %" PRIu64 ", \"end\": %" PRIu64 "}",
                         buffer->key, buffer->offset, buffer->size + buffer->guard, buffer->begin,
                         buffer->end);
}

static void print_tensor(const stow_diff* diff, const stowi_report_diff_tensor* t,
                         stowi_report_out* out) {
  const stow_picture* host = t->change == STOWI_REPORT_DIFF_PARTED ? diff->then : diff->now;
  stowi_report_out_print(out, "{\"change\": \"%s\", ", stowi_report_diff_change_text(t->change));
  print_name(diff, t, out);
  stowi_report_out_print(out, ", \"bytes\": ");
  print_signed(out, t->then_bytes, t->now_bytes);
  print_buffer(diff->then, "then", t->then, out);
  print_buffer(diff->now, "now", t->now, out);
  print_buffer(host, "host", t->host, out);
  stowi_report_out_print(out, "}");
}

static void print_at_peak(const stow_diff* diff, const stowi_report_diff_tensor* t,
                          stowi_report_out* out) {
  stowi_report_out_print(out, "{\"change\": \"%s\", ",
                         stowi_report_diff_peak_text(stowi_report_diff_peak_of(t)));
  print_name(diff, t, out);
  stowi_report_out_print(out, ", \"bytes\": ");
  print_signed(out, t->then_peak, t->now_peak);
  stowi_report_out_print(out, ", \"then\": %" PRIu64 ", \"now\": %" PRIu64 "}", t->then_peak,
                         t->now_peak);
}

static void print_list(const stow_diff* diff, const char* key, const stowi_report_diff_list* list,
                       void (*print)(const stow_diff*, const stowi_report_diff_tensor*,
                                     stowi_report_out*),
                       stowi_report_out* out) {
  const stowi_report_diff_tensor* tensors = list->data;
  stowi_report_out_print(out, "  \"%s\": [", key);
  for (size_t i = 0; i < list->count; ++i) {
    stowi_report_out_print(out, i == 0 ? "\n    " : ",\n    ");
    print(diff, &tensors[i], out);
  }
  stowi_report_out_print(out, list->count == 0 ? "]" : "\n  ]");
}

void stowi_report_diff_write_json(const stow_diff* diff, stowi_report_out* out) {
  stowi_report_out_print(out, "{\n  \"stowage_diff\": 1,\n");
  print_side(diff->then, "then", out);
  print_side(diff->now, "now", out);
  stowi_report_out_print(out, "  \"growth\": ");
  print_signed(out, diff->then->facts.arena, diff->now->facts.arena);
  stowi_report_out_print(out, ",\n  \"allowed\": ");
  stowi_report_out_print(out, "%" PRIu64 ",\n  \"too_large\": %s,\n", diff->allowed,
                         diff->too_large ? "true" : "false");
  print_list(diff, "peak", &diff->peak, print_at_peak, out);
  stowi_report_out_print(out, ",\n");
  print_list(diff, "tensors", &diff->tensors, print_tensor, out);
  stowi_report_out_print(out, "\n}\n");
}
