// Traces in the Trace Event Format, for ui.perfetto.dev and chrome://tracing. A step takes a
// millisecond there. Load, bound and arena are counters, nodes one track of their own. Events of a
// track must not overlap, so buffers are dealt to lanes: the lowest that is free when a buffer is
// born, which takes as many lanes as buffers live at once, in O(n log n). Each kind of buffer has
// its lanes in a process of its own, since only processes can be folded away.
#include <inttypes.h>
#include <stdlib.h>

#include "make.h"

#define PLAN_PROCESS 1
#define KIND_PROCESS 2  // and up

typedef struct writer {
  const cli_view* view;
  cli_output* output;
  uint64_t unit;  // microseconds in a step
  bool any;       // an event has been written
} writer;

// Begins an event and leaves its object open.
static void begin_event(writer* w, const char* phase, unsigned process, size_t lane) {
  cli_print(w->output, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%zu", w->any ? ",\n" : "", phase,
            process, lane);
  w->any = true;
}

static void print_time(const writer* w, uint64_t step) {
  cli_print(w->output, ",\"ts\":%" PRIu64, (step - w->view->facts.first_step) * w->unit);
}

static void print_text(const writer* w, const char* key, cli_view_text text) {
  if (text != CLI_VIEW_NONE) {
    cli_print(w->output, ",\"%s\":", key);
    cli_view_print_string(w->output, cli_view_str(w->view, text));
  }
}

static void name_process(writer* w, unsigned process, const char* name) {
  begin_event(w, "M", process, 0);
  cli_print(w->output, ",\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", name);
  begin_event(w, "M", process, 0);
  cli_print(w->output, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}", process);
}

static void name_lane(writer* w, unsigned process, size_t lane, const char* name) {
  begin_event(w, "M", process, lane);
  cli_print(w->output, ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s", name);
  if (process == PLAN_PROCESS) {
    cli_print(w->output, "\"}}");
    return;
  }
  cli_print(w->output, " %zu\"}}", lane);
  begin_event(w, "M", process, lane);
  cli_print(w->output, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%zu}}", lane);
}

// ---------------------------------------------------------------------------------------------
// Counters and steps

static void count_bytes(writer* w, const char* name, uint64_t step, uint64_t bytes) {
  begin_event(w, "C", PLAN_PROCESS, 0);
  print_time(w, step);
  cli_print(w->output, ",\"name\":\"%s\",\"args\":{\"bytes\":%" PRIu64 "}}", name, bytes);
}

static void write_counters(writer* w) {
  const cli_view_facts* facts = &w->view->facts;
  const cli_view_level* levels = cli_view_levels(w->view);
  for (size_t i = 0; i < w->view->levels.count; ++i) {
    count_bytes(w, "load", levels[i].step, levels[i].bytes);
  }
  if (w->view->levels.count == 0) {
    count_bytes(w, "load", facts->first_step, 0);
  }
  count_bytes(w, "arena", facts->first_step, facts->arena);
  count_bytes(w, "arena", facts->last_step, facts->arena);
  count_bytes(w, "bound", facts->first_step, facts->bound);
  count_bytes(w, "bound", facts->last_step, facts->bound);
  begin_event(w, "i", PLAN_PROCESS, 1);
  print_time(w, facts->peak_step);
  cli_print(w->output,
            ",\"s\":\"g\",\"name\":\"peak\",\"args\":{\"step\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}",
            facts->peak_step, facts->peak_bytes);
}

static void write_steps(writer* w) {
  const cli_view_step* steps = cli_view_steps(w->view);
  for (size_t i = 0; i < w->view->steps.count; ++i) {
    begin_event(w, "X", PLAN_PROCESS, 1);
    print_time(w, i);
    cli_print(w->output, ",\"dur\":%" PRIu64 ",\"cat\":\"step\"", w->unit);
    print_text(w, "name", steps[i].op);
    cli_print(w->output, ",\"args\":{\"step\":%zu,\"node\":%" PRIu32, i, steps[i].node);
    print_text(w, "result", steps[i].label);
    cli_print(w->output, "}}");
  }
}

// ---------------------------------------------------------------------------------------------
// Lanes

typedef struct lane {
  uint64_t end;  // of the buffer in it; 0 for those that are free
  size_t number;
} lane;

static bool is_before(lane a, lane b) {
  return a.end != b.end ? a.end < b.end : a.number < b.number;
}

// Binary heaps, the first in front.
static bool push(cli_list* heap, lane item) {
  if (!cli_list_add(heap, &item, sizeof item)) {
    return false;
  }
  lane* lanes = heap->items;
  size_t at = heap->count - 1;
  while (at > 0 && is_before(item, lanes[(at - 1) / 2])) {
    lanes[at] = lanes[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  lanes[at] = item;
  return true;
}

static lane pop(cli_list* heap) {
  lane* lanes = heap->items;
  lane first = lanes[0];
  lane last = lanes[--heap->count];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    child += child + 1 < heap->count && is_before(lanes[child + 1], lanes[child]);
    if (child >= heap->count || !is_before(lanes[child], last)) {
      break;
    }
    lanes[at] = lanes[child];
    at = child;
  }
  if (heap->count > 0) {
    lanes[at] = last;
  }
  return first;
}

typedef struct birth {
  cli_view_kind kind;
  uint64_t begin;
  uint64_t offset;
  size_t buffer;
} birth;

static int compare_births(const void* a, const void* b) {
  const birth* x = a;
  const birth* y = b;
  if (x->kind != y->kind) {
    return x->kind < y->kind ? -1 : 1;
  }
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  if (x->offset != y->offset) {
    return x->offset < y->offset ? -1 : 1;
  }
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

// ---------------------------------------------------------------------------------------------
// Buffers

static void write_buffer(writer* w, size_t buffer, size_t number) {
  const cli_view_buffer* b = &cli_view_buffers(w->view)[buffer];
  begin_event(w, "X", KIND_PROCESS + (unsigned)b->kind, number);
  print_time(w, b->begin);
  cli_print(w->output,
            ",\"dur\":%" PRIu64 ",\"cat\":\"%s\",\"name\":", (b->end - b->begin) * w->unit,
            cli_view_kind_text(b->kind));
  if (b->name != CLI_VIEW_NONE && b->kind != CLI_VIEW_SCRATCH) {
    cli_view_print_string(w->output, cli_view_str(w->view, b->name));
  } else {
    char label[CLI_VIEW_LABEL_SIZE];
    cli_view_label(w->view, buffer, 100, label);
    cli_view_print_string(w->output, stow_str_of(label));
  }
  cli_print(w->output,
            ",\"args\":{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 ",\"guard\":%" PRIu64
            ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64,
            b->offset, b->size, b->guard, b->begin, b->end);
  if (b->id != CLI_VIEW_NONE) {
    cli_print(w->output, ",\"id\":%" PRIu32, b->id);
  }
  print_text(w, "op", b->op);
  print_text(w, "type", b->type);
  cli_print(w->output, "}}");
}

// Deals the births of one kind.
static bool write_kind(writer* w, const birth* births, size_t count) {
  cli_list busy = {0};
  cli_list idle = {0};
  size_t lanes = 0;
  unsigned process = KIND_PROCESS + (unsigned)births[0].kind;
  const char* kind = cli_view_kind_text(births[0].kind);
  bool good = true;
  name_process(w, process, kind);
  for (size_t i = 0; i < count && good; ++i) {
    const cli_view_buffer* b = &cli_view_buffers(w->view)[births[i].buffer];
    while (good && busy.count > 0 && ((const lane*)busy.items)[0].end <= b->begin) {
      good = push(&idle, (lane){0, pop(&busy).number});
    }
    bool fresh = idle.count == 0;
    size_t number = fresh ? ++lanes : pop(&idle).number;
    if (fresh) {
      name_lane(w, process, number, kind);
    }
    write_buffer(w, births[i].buffer, number);
    good = good && push(&busy, (lane){b->end, number});
  }
  cli_list_free(&busy, sizeof(lane));
  cli_list_free(&idle, sizeof(lane));
  return good;
}

static cli_exit write_buffers(writer* w) {
  cli_list list = {0};
  bool good = true;
  for (size_t i = 0; i < w->view->buffers.count && good; ++i) {
    const cli_view_buffer* b = &cli_view_buffers(w->view)[i];
    birth item = {b->kind, b->begin, b->offset, i};
    good = cli_list_add(&list, &item, sizeof item);
  }
  const birth* births = list.items;
  if (good && list.count > 0) {
    qsort(list.items, list.count, sizeof(birth), compare_births);
  }
  for (size_t from = 0; from < list.count && good;) {
    size_t to = from + 1;
    while (to < list.count && births[to].kind == births[from].kind) {
      ++to;
    }
    good = write_kind(w, births + from, to - from);
    from = to;
  }
  cli_list_free(&list, sizeof(birth));
  return good ? CLI_YES : cli_fail_memory();
}

cli_exit cli_view_write_trace(const cli_view* view, cli_output* output) {
  bool is_long = view->facts.last_step >= CLI_VIEW_LIMIT / 1000;
  writer w = {.view = view, .output = output, .unit = is_long ? 1 : 1000};
  cli_print(output, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":");
  cli_view_print_string(output, cli_view_str(view, view->title));
  cli_print(output, ",\"arena\":\"%" PRIu64 "\",\"bound\":\"%" PRIu64 "\"},\n\"traceEvents\":[",
            view->facts.arena, view->facts.bound);
  name_process(&w, PLAN_PROCESS, "plan");
  name_lane(&w, PLAN_PROCESS, 1, "steps");
  write_counters(&w);
  write_steps(&w);
  cli_exit code = write_buffers(&w);
  cli_print(output, "]}\n");
  return code;
}
