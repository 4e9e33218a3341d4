// Certificates. A height cannot be below what is occupied at one step, the *section*. There all
// occupied ranges begin at multiples of a unit, so each but the topmost is followed by padding up
// to the next multiple; which one is topmost is not known, so the largest padding does not count.
//
//     offset                     the section at this step: a, b and c, each padded to the unit,
//       ▲  ┌──┐ ◀─ topmost       less the padding of one
//       │  ├──┤
//       │  ├──┤  ┐ padding
//       │  └──┘  ┘
//       └────────▶ step
//
// The candidates are the step with the highest load and the one with the highest padded load, so
// that the section proves at least what stow_problem_load does. It may prove a little more: its
// unit and its padding are those of the buffers that are live there, not of the whole problem.
// Beside it, the end of the highest fixed buffer and the largest buffer are bounds. What a search
// proved beyond all of these has no proof that is shorter than the search.
#include "solve/certificate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "arguments/list.h"
#include "graphs/info.h"

// ---------------------------------------------------------------------------------------------
// What is occupied

// Bytes [low, high) of a buffer, counted from its offset, at steps [begin, end).
typedef struct piece {
  uint64_t begin;
  uint64_t end;
  uint64_t low;
  uint64_t high;
} piece;

typedef struct walk {
  const stow_problem* problem;
  size_t buffer;
  stow_buffer desc;
  size_t window;
  uint64_t at;
} walk;

static stow_buffer buffer_at(const stow_problem* problem, size_t buffer) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(problem, buffer, &desc);
  return desc;
}

static walk walk_start(const stow_problem* problem, size_t buffer) {
  walk w = {.problem = problem, .buffer = buffer, .desc = buffer_at(problem, buffer)};
  w.at = w.desc.begin;
  return w;
}

// The next piece that is not empty, in order of time.
static bool walk_next(walk* w, piece* out) {
  while (w->at < w->desc.end) {
    stow_window_desc window = {.struct_size = sizeof(window), .begin = w->desc.end};
    bool has_window = w->window < stow_problem_window_count(w->problem, w->buffer);
    if (has_window) {
      stow_problem_describe_window(w->problem, w->buffer, w->window, &window);
    }
    if (has_window && window.begin == w->at) {
      *out = (piece){window.begin, window.end, window.low, window.high};
      w->window += 1;
    } else {
      *out = (piece){w->at, window.begin, 0, w->desc.size + w->desc.guard};
    }
    w->at = out->end;
    if (out->low < out->high) {
      return true;
    }
  }
  return false;
}

static bool find_live(const stow_problem* problem, size_t buffer, uint64_t step, piece* out) {
  walk w = walk_start(problem, buffer);
  while (walk_next(&w, out)) {
    if (out->begin <= step && step < out->end) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Sections

typedef struct section {
  uint64_t step;
  uint64_t unit;     // a power of two; every range begins at a multiple
  uint64_t load;     // bytes
  uint64_t padded;   // with every range padded to the unit
  uint64_t padding;  // the largest of one of them
} section;

static uint64_t bound_of(const section* s) { return s->padded - s->padding; }

static uint64_t lowest_bit(uint64_t bits) { return bits == 0 ? 1 : bits & (~bits + 1); }

static uint64_t round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

static section measure(const stow_problem* problem, uint64_t step) {
  section s = {.step = step};
  uint64_t starts = 0;
  piece p;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    if (find_live(problem, i, step, &p)) {
      starts |= buffer_at(problem, i).alignment | p.low;
    }
  }
  s.unit = lowest_bit(starts);
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    if (find_live(problem, i, step, &p)) {
      uint64_t bytes = p.high - p.low;
      uint64_t padding = round_up(bytes, s.unit) - bytes;
      s.load += bytes;
      s.padded += bytes + padding;
      s.padding = padding > s.padding ? padding : s.padding;
    }
  }
  return s;
}

typedef struct change {
  uint64_t step;
  bool is_birth;
  uint64_t bytes;
} change;

// Deaths first: lifetimes are half-open.
static int compare_changes(const void* a, const void* b) {
  const change* x = a;
  const change* y = b;
  if (x->step != y->step) {
    return x->step < y->step ? -1 : 1;
  }
  if (x->is_birth != y->is_birth) {
    return x->is_birth ? 1 : -1;
  }
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool add_changes(const stow_problem* problem, uint64_t unit, cli_list* changes) {
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    walk w = walk_start(problem, i);
    piece p;
    while (walk_next(&w, &p)) {
      change birth = {p.begin, true, round_up(p.high - p.low, unit)};
      change death = {p.end, false, birth.bytes};
      if (!cli_list_add(changes, &birth, sizeof birth) ||
          !cli_list_add(changes, &death, sizeof death)) {
        return false;
      }
    }
  }
  return true;
}

static uint64_t unit_of(const stow_problem* problem) {
  uint64_t starts = 0;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    walk w = walk_start(problem, i);
    piece p;
    starts |= w.desc.alignment;
    while (walk_next(&w, &p)) {
      starts |= p.low;
    }
  }
  return lowest_bit(starts);
}

// The first step with the highest load of padded ranges. False if memory is out.
static bool find_padded_peak(const stow_problem* problem, uint64_t* out_step) {
  cli_list changes = {0};
  bool added = add_changes(problem, unit_of(problem), &changes);
  uint64_t load = 0;
  uint64_t most = 0;
  *out_step = 0;
  if (added && changes.count > 0) {
    qsort(changes.items, changes.count, sizeof(change), compare_changes);
  }
  for (size_t i = 0; added && i < changes.count; ++i) {
    const change* c = (const change*)changes.items + i;
    load = c->is_birth ? load + c->bytes : load - c->bytes;
    if (load > most) {
      most = load;
      *out_step = c->step;
    }
  }
  cli_list_free(&changes, sizeof(change));
  return added;
}

// ---------------------------------------------------------------------------------------------
// Certificates

// A buffer and the bound that it makes alone. STOW_BUFFER_NONE: there is none.
typedef struct single {
  size_t buffer;
  uint64_t bound;
} single;

typedef struct certificate {
  section section;
  single fixed_end;
  single largest;
  uint64_t certified;        // the highest of the three
  const char* certified_by;  // which one that is, by its key
  uint64_t bound;            // this, or more that the search proved
} certificate;

static void keep_highest(single* best, size_t buffer, uint64_t bound) {
  if (bound > best->bound) {
    *best = (single){buffer, bound};
  }
}

static void certify(const cli_solution* solution, uint64_t padded_peak, certificate* c) {
  section loaded = measure(solution->problem, solution->load.step);
  section padded = measure(solution->problem, padded_peak);
  uint64_t proven = cli_placement_info(solution->placement).bound;
  *c = (certificate){.section = bound_of(&padded) > bound_of(&loaded) ? padded : loaded,
                     .fixed_end = {STOW_BUFFER_NONE, 0},
                     .largest = {STOW_BUFFER_NONE, 0}};
  for (size_t i = 0; i < stow_problem_count(solution->problem); ++i) {
    stow_buffer desc = buffer_at(solution->problem, i);
    keep_highest(&c->largest, i, desc.size + desc.guard);
    if (desc.fixed_offset != STOW_PLACE_ANYWHERE) {
      keep_highest(&c->fixed_end, i, desc.fixed_offset + desc.size + desc.guard);
    }
  }
  c->certified = bound_of(&c->section);
  c->certified_by = "section";
  if (c->fixed_end.bound > c->certified) {
    c->certified = c->fixed_end.bound;
    c->certified_by = "fixed_end";
  }
  if (c->largest.bound > c->certified) {
    c->certified = c->largest.bound;
    c->certified_by = "largest";
  }
  c->bound = proven > c->certified ? proven : c->certified;
}

// ---------------------------------------------------------------------------------------------
// Writing

static void print_buffer(const cli_solution* solution, size_t buffer, cli_output* output) {
  cli_print(output, "{\"row\": %zu, \"id\": ", buffer + 1);
  cli_print_json(output, stow_csv_id(solution->csv, buffer));
}

static void print_section(const cli_solution* solution, const section* s, cli_output* output) {
  const char* separator = "";
  cli_print(output,
            "  \"section\": {\"step\": %" PRIu64 ", \"unit\": %" PRIu64 ", \"load\": %" PRIu64
            ", \"padded\": %" PRIu64 ", \"padding\": %" PRIu64 ", \"bound\": %" PRIu64
            ", \"live\": [",
            s->step, s->unit, s->load, s->padded, s->padding, bound_of(s));
  for (size_t i = 0; i < stow_problem_count(solution->problem); ++i) {
    piece p;
    if (find_live(solution->problem, i, s->step, &p)) {
      cli_print(output, "%s\n    ", separator);
      print_buffer(solution, i, output);
      cli_print(output, ", \"low\": %" PRIu64 ", \"high\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
                p.low, p.high, p.high - p.low);
      separator = ",";
    }
  }
  cli_print(output, "%s]},\n", separator[0] == '\0' ? "" : "\n  ");
}

static void print_single(const cli_solution* solution, const char* key, const single* s,
                         const char* end, cli_output* output) {
  cli_print(output, "  \"%s\": ", key);
  if (s->buffer == STOW_BUFFER_NONE) {
    cli_print(output, "null%s\n", end);
    return;
  }
  print_buffer(solution, s->buffer, output);
  cli_print(output, ", \"bound\": %" PRIu64 "}%s\n", s->bound, end);
}

static void print_certificate(const cli_solution* solution, bool ignores_offsets,
                              const certificate* c, cli_output* output) {
  uint64_t height = stow_placement_height(solution->placement);
  cli_print(output, "{\n  \"stowage_certificate\": 1,\n  \"file\": ");
  cli_print_json(output, stow_str_of(solution->label));
  cli_print(output, ",\n  \"buffers\": %zu,\n  \"ignore_offsets\": %s,\n",
            stow_problem_count(solution->problem), ignores_offsets ? "true" : "false");
  cli_print(output, "  \"height\": %" PRIu64 ",\n  \"bound\": %" PRIu64 ",\n", height, c->bound);
  cli_print(output, "  \"bound_by\": \"%s\",\n",
            c->bound > c->certified ? "search" : c->certified_by);
  cli_print(output, "  \"certified_bound\": %" PRIu64 ",\n  \"certified_by\": \"%s\",\n",
            c->certified, c->certified_by);
  cli_print(output, "  \"optimal\": %s,\n", height == c->bound ? "true" : "false");
  print_section(solution, &c->section, output);
  print_single(solution, "fixed_end", &c->fixed_end, ",", output);
  print_single(solution, "largest", &c->largest, "", output);
  cli_print(output, "}\n");
}

cli_exit cli_certificate_write(const cli_solution* solution, bool ignores_offsets,
                               const char* path) {
  uint64_t padded_peak;
  if (!find_padded_peak(solution->problem, &padded_peak)) {
    return cli_fail_memory();
  }
  certificate c;
  cli_output output;
  certify(solution, padded_peak, &c);
  cli_exit code = cli_output_open(&output, path);
  if (code == CLI_YES) {
    print_certificate(solution, ignores_offsets, &c, &output);
  }
  return cli_output_end(&output, code);
}
