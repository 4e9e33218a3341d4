// Differences for programs: one JSON object, with everything in it. docs/diff.md describes it.
#include <inttypes.h>
#include <string.h>

#include "diff.h"
#include "json.h"

static void print_text(cli_output* output, const cli_view* view, cli_view_text text) {
  if (text == CLI_VIEW_NONE) {
    cli_print(output, "null");
  } else {
    cli_print_json(output, cli_view_str(view, text));
  }
}

static void print_number(cli_output* output, uint64_t number) {
  cli_print(output, number == CLI_VIEW_NO_NUMBER ? "null" : "%" PRIu64, number);
}

static void print_signed(cli_output* output, uint64_t then, uint64_t now) {
  cli_print(output, "%s%" PRIu64, now < then ? "-" : "", now > then ? now - then : then - now);
}

static void print_side(const cli_view* view, const char* key, cli_output* output) {
  const cli_view_facts* facts = &view->facts;
  bool rows = strcmp(view->origin, "csv") == 0;
  cli_print(output, "  \"%s\": {\"source\": ", key);
  print_text(output, view, view->source);
  cli_print(output, ", \"kind\": \"%s\", \"graph\": ", view->origin);
  print_text(output, view, rows ? CLI_VIEW_NONE : view->title);
  cli_print(output,
            ",\n    \"arena\": %" PRIu64 ", \"bound\": %" PRIu64 ", \"any_bound\": ", facts->arena,
            facts->bound);
  print_number(output, facts->any_bound);
  cli_print(output,
            ", \"steps\": %" PRIu64 ",\n    \"peak\": {\"step\": %" PRIu64 ", \"bytes\": %" PRIu64
            ", \"op\": ",
            facts->steps, facts->peak_step, facts->peak_bytes);
  bool runs = facts->peak_step < view->steps.count;
  const cli_view_step* step = runs ? &cli_view_steps(view)[facts->peak_step] : NULL;
  print_text(output, view, runs ? step->op : CLI_VIEW_NONE);
  cli_print(output, ", \"name\": ");
  print_text(output, view, runs ? step->label : CLI_VIEW_NONE);
  cli_print(output, "}},\n");
}

static void print_name(const cli_diff* diff, const cli_diff_tensor* t, cli_output* output) {
  size_t index;
  const cli_view* view = cli_diff_named(diff, t, &index);
  const cli_view_buffer* buffer = &cli_view_buffers(view)[index];
  cli_print(output, "\"name\": ");
  print_text(output, view, buffer->name);
  cli_print(output, ", \"kind\": \"%s\", \"op\": ", cli_view_kind_text(buffer->kind));
  print_text(output, view, buffer->op);
}

static void print_buffer(const cli_view* view, const char* key, size_t index, cli_output* output) {
  cli_print(output, ", \"%s\": ", key);
  if (index == CLI_VIEW_NOWHERE) {
    cli_print(output, "null");
    return;
  }
  const cli_view_buffer* buffer = &cli_view_buffers(view)[index];
  cli_print(output,
            "{\"id\": %" PRIu32 ", \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64
            ", \"begin\": %" PRIu64 ", \"end\": %" PRIu64 "}",
            buffer->key, buffer->offset, buffer->size + buffer->guard, buffer->begin, buffer->end);
}

static void print_tensor(const cli_diff* diff, const cli_diff_tensor* t, cli_output* output) {
  const cli_view* host = t->change == CLI_DIFF_PARTED ? diff->then : diff->now;
  cli_print(output, "{\"change\": \"%s\", ", cli_diff_change_text(t->change));
  print_name(diff, t, output);
  cli_print(output, ", \"bytes\": ");
  print_signed(output, t->then_bytes, t->now_bytes);
  print_buffer(diff->then, "then", t->then, output);
  print_buffer(diff->now, "now", t->now, output);
  print_buffer(host, "host", t->host, output);
  cli_print(output, "}");
}

static void print_at_peak(const cli_diff* diff, const cli_diff_tensor* t, cli_output* output) {
  cli_print(output, "{\"change\": \"%s\", ", cli_diff_peak_text(cli_diff_peak_of(t)));
  print_name(diff, t, output);
  cli_print(output, ", \"bytes\": ");
  print_signed(output, t->then_peak, t->now_peak);
  cli_print(output, ", \"then\": %" PRIu64 ", \"now\": %" PRIu64 "}", t->then_peak, t->now_peak);
}

static void print_list(const cli_diff* diff, const char* key, const cli_list* list,
                       void (*print)(const cli_diff*, const cli_diff_tensor*, cli_output*),
                       cli_output* output) {
  const cli_diff_tensor* tensors = list->items;
  cli_print(output, "  \"%s\": [", key);
  for (size_t i = 0; i < list->count; ++i) {
    cli_print(output, i == 0 ? "\n    " : ",\n    ");
    print(diff, &tensors[i], output);
  }
  cli_print(output, list->count == 0 ? "]" : "\n  ]");
}

void cli_diff_write_json(const cli_diff* diff, cli_output* output) {
  cli_print(output, "{\n  \"stowage_diff\": 1,\n");
  print_side(diff->then, "then", output);
  print_side(diff->now, "now", output);
  cli_print(output, "  \"growth\": ");
  print_signed(output, diff->then->facts.arena, diff->now->facts.arena);
  cli_print(output, ",\n  \"allowed\": ");
  cli_print(output, "%" PRIu64 ",\n  \"too_large\": %s,\n", diff->allowed,
            diff->too_large ? "true" : "false");
  print_list(diff, "peak", &diff->peak, print_at_peak, output);
  cli_print(output, ",\n");
  print_list(diff, "tensors", &diff->tensors, print_tensor, output);
  cli_print(output, "\n}\n");
}
