// Traces in the Trace Event Format, for ui.perfetto.dev and chrome://tracing. A step takes a
// millisecond there. Load, bound and arena are counters, nodes one track of their own. Events of a
// track must not overlap, so buffers are dealt to lanes: the lowest that is free when a buffer is
// born, which takes as many lanes as buffers live at once, in O(n log n). Each kind of buffer has
// its lanes in a process of its own, since only processes can be folded away.
#include <inttypes.h>

#include "base/sort.h"
#include "report/picture/picture.h"

#define PLAN_PROCESS 1
#define KIND_PROCESS 2  // and up

typedef struct writer {
  const stow_picture* picture;
  stowi_report_out* out;
  uint64_t unit;  // microseconds in a step
  bool any;       // an event has been written
} writer;

// Begins an event and leaves its object open.
static void begin_event(writer* w, const char* phase, unsigned process, size_t lane) {
  stowi_report_out_print(w->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%zu", w->any ? ",\n" : "",
                         phase, process, lane);
  w->any = true;
}

static void print_time(const writer* w, uint64_t step) {
  stowi_report_out_print(w->out, ",\"ts\":%" PRIu64,
                         (step - w->picture->facts.first_step) * w->unit);
}

static void print_text(const writer* w, const char* key, stowi_report_picture_text text) {
  if (text != STOWI_REPORT_PICTURE_NONE) {
    stowi_report_out_print(w->out, ",\"%s\":", key);
    stowi_report_out_json(w->out, stowi_report_picture_str(w->picture, text));
  }
}

static void name_process(writer* w, unsigned process, const char* name) {
  begin_event(w, "M", process, 0);
  stowi_report_out_print(w->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", name);
  begin_event(w, "M", process, 0);
  stowi_report_out_print(w->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}",
                         process);
}

static void name_lane(writer* w, unsigned process, size_t lane, const char* name) {
  begin_event(w, "M", process, lane);
  stowi_report_out_print(w->out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s", name);
  if (process == PLAN_PROCESS) {
    stowi_report_out_print(w->out, "\"}}");
    return;
  }
  stowi_report_out_print(w->out, " %zu\"}}", lane);
  begin_event(w, "M", process, lane);
  stowi_report_out_print(w->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%zu}}",
                         lane);
}

// ---------------------------------------------------------------------------------------------
// Counters and steps

static void count_bytes(writer* w, const char* name, uint64_t step, uint64_t bytes) {
  begin_event(w, "C", PLAN_PROCESS, 0);
  print_time(w, step);
  stowi_report_out_print(w->out, ",\"name\":\"%s\",\"args\":{\"bytes\":%" PRIu64 "}}", name, bytes);
}

static void write_counters(writer* w) {
  const stowi_report_picture_facts* facts = &w->picture->facts;
  const stowi_report_picture_level* levels = w->picture->levels.data;
  for (size_t i = 0; i < w->picture->levels.count; ++i) {
    count_bytes(w, "load", levels[i].step, levels[i].bytes);
  }
  if (w->picture->levels.count == 0) {
    count_bytes(w, "load", facts->first_step, 0);
  }
  count_bytes(w, "arena", facts->first_step, facts->arena);
  count_bytes(w, "arena", facts->last_step, facts->arena);
  count_bytes(w, "bound", facts->first_step, facts->bound);
  count_bytes(w, "bound", facts->last_step, facts->bound);
  begin_event(w, "i", PLAN_PROCESS, 1);
  print_time(w, facts->peak_step);
  stowi_report_out_print(w->out,
                         ",\"s\":\"g\",\"name\":\"peak\",\"args\":{\"step\":%" PRIu64
                         ",\"bytes\":%" PRIu64 "}}",
                         facts->peak_step, facts->peak_bytes);
}

static void write_steps(writer* w) {
  const stowi_report_picture_step* steps = w->picture->steps.data;
  for (size_t i = 0; i < w->picture->steps.count; ++i) {
    begin_event(w, "X", PLAN_PROCESS, 1);
    print_time(w, i);
    stowi_report_out_print(w->out, ",\"dur\":%" PRIu64 ",\"cat\":\"step\"", w->unit);
    print_text(w, "name", steps[i].op);
    stowi_report_out_print(w->out, ",\"args\":{\"step\":%zu,\"node\":%" PRIu32, i, steps[i].node);
    print_text(w, "result", steps[i].label);
    stowi_report_out_print(w->out, "}}");
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

// Binary heaps, the first in front, with room for all buffers.
typedef struct heap {
  lane* lanes;
  size_t count;
} heap;

static void push(heap* h, lane item) {
  lane* lanes = h->lanes;
  size_t at = h->count++;
  while (at > 0 && is_before(item, lanes[(at - 1) / 2])) {
    lanes[at] = lanes[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  lanes[at] = item;
}

static lane pop(heap* h) {
  lane* lanes = h->lanes;
  lane first = lanes[0];
  lane last = lanes[--h->count];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    child += child + 1 < h->count && is_before(lanes[child + 1], lanes[child]);
    if (child >= h->count || !is_before(lanes[child], last)) {
      break;
    }
    lanes[at] = lanes[child];
    at = child;
  }
  if (h->count > 0) {
    lanes[at] = last;
  }
  return first;
}

typedef struct birth {
  stowi_report_picture_kind kind;
  uint64_t begin;
  uint64_t offset;
  size_t buffer;
} birth;

static int compare_births(const void* a, const void* b, const void* context) {
  (void)context;
  const birth* x = a;
  const birth* y = b;
  if (x->kind != y->kind) {
    return x->kind < y->kind ? -1 : 1;
  }
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  return (x->offset > y->offset) - (x->offset < y->offset);
}

// ---------------------------------------------------------------------------------------------
// Buffers

static void write_buffer(writer* w, size_t buffer, size_t number) {
  const stowi_report_picture_buffer* b = &w->picture->buffers.data[buffer];
  begin_event(w, "X", KIND_PROCESS + (unsigned)b->kind, number);
  print_time(w, b->begin);
  stowi_report_out_print(w->out, ",\"dur\":%" PRIu64 ",\"cat\":\"%s\",\"name\":",
                         (b->end - b->begin) * w->unit, stowi_report_picture_kind_text(b->kind));
  if (b->name != STOWI_REPORT_PICTURE_NONE && b->kind != STOWI_REPORT_PICTURE_SCRATCH) {
    stowi_report_out_json(w->out, stowi_report_picture_str(w->picture, b->name));
  } else {
    char label[STOWI_REPORT_PICTURE_LABEL_SIZE];
    stowi_report_picture_label(w->picture, buffer, 100, label);
    stowi_report_out_json(w->out, stow_str_of(label));
  }
  stowi_report_out_print(w->out,
                         ",\"args\":{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 ",\"guard\":%" PRIu64
                         ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64,
                         b->offset, b->size, b->guard, b->begin, b->end);
  if (b->id != STOWI_REPORT_PICTURE_NONE) {
    stowi_report_out_print(w->out, ",\"id\":%" PRIu32, b->id);
  }
  print_text(w, "op", b->op);
  print_text(w, "type", b->type);
  stowi_report_out_print(w->out, "}}");
}

// Deals the births of one kind. |room| has room for two heaps.
static void write_kind(writer* w, const birth* births, size_t count, lane* room) {
  heap busy = {room, 0};
  heap idle = {room + count, 0};
  size_t lanes = 0;
  unsigned process = KIND_PROCESS + (unsigned)births[0].kind;
  const char* kind = stowi_report_picture_kind_text(births[0].kind);
  name_process(w, process, kind);
  for (size_t i = 0; i < count; ++i) {
    const stowi_report_picture_buffer* b = &w->picture->buffers.data[births[i].buffer];
    while (busy.count > 0 && busy.lanes[0].end <= b->begin) {
      push(&idle, (lane){0, pop(&busy).number});
    }
    bool fresh = idle.count == 0;
    size_t number = fresh ? ++lanes : pop(&idle).number;
    if (fresh) {
      name_lane(w, process, number, kind);
    }
    write_buffer(w, births[i].buffer, number);
    push(&busy, (lane){b->end, number});
  }
}

static stow_status deal(writer* w, birth* births, size_t count, lane* room) {
  for (size_t i = 0; i < count; ++i) {
    const stowi_report_picture_buffer* b = &w->picture->buffers.data[i];
    births[i] = (birth){b->kind, b->begin, b->offset, i};
  }
  stow_status status =
      stowi_sort(births, count, sizeof *births, compare_births, NULL, w->picture->allocator);
  for (size_t from = 0; from < count && status == STOW_OK;) {
    size_t to = from + 1;
    while (to < count && births[to].kind == births[from].kind) {
      ++to;
    }
    write_kind(w, births + from, to - from, room);
    from = to;
  }
  return status;
}

static void write_buffers(writer* w) {
  size_t count = w->picture->buffers.count;
  stow_allocator allocator = w->picture->allocator;
  birth* births = STOWI_ARRAY(allocator, birth, count);
  lane* room = STOWI_ARRAY(allocator, lane, 2 * count);
  stow_status status =
      births == NULL || room == NULL ? STOW_ERR_OUT_OF_MEMORY : deal(w, births, count, room);
  w->out->status = w->out->status == STOW_OK ? status : w->out->status;
  STOWI_ARRAY_FREE(allocator, births, count);
  STOWI_ARRAY_FREE(allocator, room, 2 * count);
}

void stowi_report_picture_write_trace(const stow_picture* picture, stowi_report_out* out) {
  bool is_long = picture->facts.last_step >= STOWI_REPORT_PICTURE_LIMIT / 1000;
  writer w = {.picture = picture, .out = out, .unit = is_long ? 1 : 1000};
  stowi_report_out_print(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":");
  stowi_report_out_json(out, stowi_report_picture_str(picture, picture->title));
  if (picture->at != STOWI_REPORT_PICTURE_NONE) {
    stowi_report_out_print(out, ",\"at\":");
    stowi_report_out_json(out, stowi_report_picture_str(picture, picture->at));
  }
  stowi_report_out_print(
      out, ",\"arena\":\"%" PRIu64 "\",\"bound\":\"%" PRIu64 "\"},\n\"traceEvents\":[",
      picture->facts.arena, picture->facts.bound);
  name_process(&w, PLAN_PROCESS, "plan");
  name_lane(&w, PLAN_PROCESS, 1, "steps");
  write_counters(&w);
  write_steps(&w);
  write_buffers(&w);
  stowi_report_out_print(out, "]}\n");
}
