// A formula plan as a C header, for programs without a planner: static functions in plain C11 and
// C++17 that compute sizes and offsets from the symbols, in the way walk.c does.
//
//     size_t PREFIX_arena(int64_t seq);                      // 0: out of range
//     size_t PREFIX_offsets(int64_t seq, size_t offsets[]);  // the same, and where each value lies
//
// Expressions are written as dims are printed, which is C but for the marks of symbols, whose names
// become s0, s1, … .
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "plan/formulas/formula.h"

typedef struct header {
  const stow_formula* formula;
  stow_string prefix;  // in capitals, for macros
  stow_string lower;   // for functions
  stow_writer writer;
  stow_allocator allocator;
} header;

// ---------------------------------------------------------------------------------------------
// Names and expressions

static bool is_identifier(stow_str name) {
  for (size_t i = 0; i < name.size; ++i) {
    if (!stowi_is_alnum(name.data[i])) {
      return false;
    }
  }
  return name.size > 0 && !stowi_is_digit(name.data[0]);
}

static stow_status append_mangled(stow_string* text, stow_str name, bool upper) {
  for (size_t i = 0; i < name.size; ++i) {
    char c = stowi_is_alnum(name.data[i]) ? name.data[i] : '_';
    c = upper && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    STOW_TRY(stow_string_append(text, &c, 1));
  }
  return STOW_OK;
}

static stow_status make_names(header* h, const char* prefix, stow_diag* diag) {
  stow_str name = prefix == NULL ? stow_graph_name(h->formula->graph) : stow_str_of(prefix);
  if (prefix != NULL && !is_identifier(name)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "\"%.200s\" is not a C identifier", prefix);
  }
  name = name.size == 0 ? stow_str_of("stowage") : name;
  if (stowi_is_digit(name.data[0])) {
    STOW_TRY(stow_string_append(&h->prefix, "_", 1));
    STOW_TRY(stow_string_append(&h->lower, "_", 1));
  }
  STOW_TRY(append_mangled(&h->prefix, name, true));
  return append_mangled(&h->lower, name, false);
}

// How the symbol is printed in a dim: `seq`, or `"p2o.Dim"`.
static stow_status symbol_text(const header* h, size_t symbol, stow_string* out) {
  stow_dims* dims = stow_graph_edit_dims(h->formula->graph);
  stow_dim dim = stow_dim_symbol(dims, stow_dims_symbol_name(dims, h->formula->symbols[symbol]));
  return stow_dim_print(dims, dim, stow_string_writer(out));
}

static bool is_word(char c) { return stowi_is_alnum(c); }

// The symbol that the text at |at| begins with, and its length; SIZE_MAX: none.
static stow_status find_symbol(const header* h, stow_str text, size_t at, size_t* out_symbol,
                               size_t* out_size) {
  *out_symbol = SIZE_MAX;
  for (size_t i = 0; i < h->formula->symbol_count && *out_symbol == SIZE_MAX; ++i) {
    stow_string name;
    stow_string_init(&name, h->allocator);
    stow_status status = symbol_text(h, i, &name);
    size_t size = status == STOW_OK ? name.size - 1 : 0;  // without the mark
    bool is_here = size != 0 && at + size <= text.size &&
                   memcmp(text.data + at, name.data + 1, size) == 0 &&
                   (at == 0 || !is_word(text.data[at - 1])) &&
                   (at + size == text.size || !is_word(text.data[at + size]));
    if (is_here) {
      *out_symbol = i;
      *out_size = size;
    }
    stow_string_free(&name);
    STOW_TRY(status);
  }
  return STOW_OK;
}

// Whether a word that begins at |at| is followed by a bracket: floor_div, ceil_div, min or max.
static bool is_function(stow_str text, size_t at) {
  size_t end = at;
  while (end < text.size && is_word(text.data[end])) {
    ++end;
  }
  return end > at && !stowi_is_digit(text.data[at]) && end < text.size && text.data[end] == '(' &&
         (at == 0 || !is_word(text.data[at - 1]));
}

static stow_status put_dim(const header* h, stow_str text) {
  for (size_t at = 0; at < text.size;) {
    size_t symbol = SIZE_MAX;
    size_t size = 1;
    if (is_function(text, at)) {
      STOW_TRY(stowi_printf(h->writer, "%s_", h->lower.data));
    } else {
      STOW_TRY(find_symbol(h, text, at, &symbol, &size));
    }
    if (symbol != SIZE_MAX) {
      STOW_TRY(stowi_printf(h->writer, "s%zu", symbol));
    } else if (text.data[at] != '?') {
      bool is_number = stowi_is_digit(text.data[at]) && (at == 0 || !is_word(text.data[at - 1]));
      while (is_number && at + size < text.size && stowi_is_digit(text.data[at + size])) {
        ++size;
      }
      STOW_TRY(
          stowi_printf(h->writer, is_number ? "INT64_C(%.*s)" : "%.*s", (int)size, text.data + at));
    }
    at += size;
  }
  return STOW_OK;
}

static stow_status put_expr(const header* h, uint32_t number) {
  const stowi_plan_formula_expr* expr = &h->formula->exprs.data[number];
  if (expr->table != NULL) {
    return stowi_printf(h->writer, "%s_table(t%" PRIu32 ", point)", h->lower.data, number);
  }
  stow_string text;
  stow_string_init(&text, h->allocator);
  stow_status status =
      stow_dim_print(stow_graph_dims(h->formula->graph), expr->dim, stow_string_writer(&text));
  status = status == STOW_OK ? put_dim(h, (stow_str){text.data, text.size}) : status;
  stow_string_free(&text);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Parts of the header

static stow_status write_top(const header* h) {
  const stow_formula* formula = h->formula;
  stow_formula_info info = {.struct_size = sizeof(info)};
  STOW_TRY(stow_formula_describe(formula, &info));
  STOW_TRY(stowi_printf(h->writer,
                        "// Memory plan made by Stowage for the graph with fingerprint %016" PRIx64
                        ".\n"
                        "// Symbols, in the order of arguments:\n",
                        formula->fingerprint));
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    const stow_dim_range* range = &formula->ranges[i];
    STOW_TRY(stowi_printf(h->writer,
                          "//   s%zu: %" PRId64 "..%" PRId64 ", multiples of %" PRId64 ": ", i,
                          range->min, range->max, range->step));
    STOW_TRY(stowi_put_quoted(
        h->writer, stow_dims_symbol_name(stow_graph_dims(formula->graph), formula->symbols[i])));
    STOW_TRY(stowi_put(h->writer, "\n"));
  }
  return stowi_printf(
      h->writer,
      "#ifndef %s_FORMULA_H_\n#define %s_FORMULA_H_\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "#define %s_VALUES %" PRIu32 "u\n#define %s_LARGEST_ARENA %" PRIu64
      "u\n#define %s_ALIGNMENT %" PRIu64 "u\n#define %s_NONE SIZE_MAX\n\n",
      h->prefix.data, h->prefix.data, h->prefix.data, formula->value_count, h->prefix.data,
      info.arena_bound, h->prefix.data, info.alignment, h->prefix.data);
}

static stow_status write_helpers(const header* h) {
  const char* p = h->lower.data;
  STOW_TRY(stowi_printf(
      h->writer,
      "static inline int64_t %s_floor_div(int64_t a, int64_t b) {\n"
      "  return a / b - (a %% b != 0 && (a < 0) != (b < 0));\n}\n"
      "static inline int64_t %s_ceil_div(int64_t a, int64_t b) { return -%s_floor_div(-a, b); }\n"
      "static inline int64_t %s_min(int64_t a, int64_t b) { return a < b ? a : b; }\n"
      "static inline int64_t %s_max(int64_t a, int64_t b) { return a > b ? a : b; }\n",
      p, p, p, p, p));
  return stowi_printf(h->writer,
                      "// Runs of a size and the first point after it.\n"
                      "static inline int64_t %s_table(const int64_t (*t)[2], size_t point) {\n"
                      "  while ((size_t)t[0][1] <= point) ++t;\n  return t[0][0];\n}\n\n",
                      p);
}

static stow_status write_table(const header* h, uint32_t number, const uint64_t* table) {
  STOW_TRY(stowi_printf(h->writer, "  static const int64_t t%" PRIu32 "[][2] = {", number));
  for (size_t i = 0; i < h->formula->point_count;) {
    size_t end = i + 1;
    while (end < h->formula->point_count && table[end] == table[i]) {
      ++end;
    }
    STOW_TRY(stowi_printf(h->writer, "%s{%" PRIu64 ", %zu}", i == 0 ? "" : ", ", table[i], end));
    i = end;
  }
  return stowi_put(h->writer, "};\n");
}

// Which expressions the region has, in |used|.
static void find_used(const stow_formula* formula, const stowi_plan_formula_region* region,
                      bool* used) {
  for (size_t i = 0; i < formula->exprs.count; ++i) {
    used[i] = false;
  }
  for (size_t i = 0; i < region->term_count; ++i) {
    used[region->terms[i]] = true;
  }
  for (size_t i = 0; i < region->buffer_count; ++i) {
    used[region->buffers[i].size] = true;
  }
  for (stow_value v = 0; v < formula->value_count; ++v) {
    if (region->values[v].has_slot) {
      used[region->values[v].inner] = true;
    }
  }
}

static stow_status put_symbols(const header* h, const char* before) {
  for (size_t i = 0; i < h->formula->symbol_count; ++i) {
    STOW_TRY(stowi_printf(h->writer, "%s%ss%zu", i == 0 ? "" : ", ", before, i));
  }
  return STOW_OK;
}

static stow_status write_exprs(const header* h, const stowi_plan_formula_region* region,
                               bool* used) {
  const stow_formula* formula = h->formula;
  find_used(formula, region, used);
  for (uint32_t i = 0; i < formula->exprs.count; ++i) {
    if (!used[i]) {
      continue;
    }
    if (formula->exprs.data[i].table != NULL) {
      STOW_TRY(write_table(h, i, formula->exprs.data[i].table));
    }
    STOW_TRY(stowi_printf(h->writer, "  const int64_t e%" PRIu32 " = ", i));
    STOW_TRY(put_expr(h, i));
    STOW_TRY(stowi_put(h->writer, ";\n"));
  }
  return STOW_OK;
}

// `max(max(e1, e2), e3)`
static stow_status put_limit(const header* h, const uint32_t* terms, size_t count,
                             const char* function) {
  for (size_t i = 1; i < count; ++i) {
    STOW_TRY(stowi_printf(h->writer, "%s_%s(", h->lower.data, function));
  }
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(stowi_printf(h->writer, i == 0 ? "e%" PRIu32 : ", e%" PRIu32 ")", terms[i]));
  }
  return STOW_OK;
}

static stow_status put_high(const header* h, const stowi_plan_formula_region* region,
                            uint32_t number) {
  const stowi_plan_formula_part* part = &region->parts[number];
  const stowi_plan_formula_buffer* buffer = &region->buffers[part->buffer];
  STOW_TRY(stowi_printf(h->writer, "%s_bytes(", h->lower.data));
  STOW_TRY(
      put_limit(h, &region->terms[part->first_high], part[1].first_low - part->first_high, "max"));
  return stowi_printf(h->writer, ", %" PRIu64 ", %" PRIu64 ") + %" PRIu64, buffer->empty_size,
                      buffer->most, buffer->guard);
}

static stow_status write_offset(const header* h, const stowi_plan_formula_region* region,
                                size_t place) {
  const stowi_place_orientation* o = region->orientation;
  uint32_t buffer = o->order[place];
  const stowi_place_constraint* constraint = &region->constraints[buffer];
  STOW_TRY(stowi_printf(h->writer, "  int64_t o%" PRIu32 " = ", buffer));
  if (constraint->fixed_offset != STOW_PLACE_ANYWHERE) {
    return stowi_printf(h->writer, "%" PRIu64 ";\n", constraint->fixed_offset);
  }
  STOW_TRY(stowi_put(h->writer, "0;\n"));
  for (size_t e = o->first_edge[place]; e < o->first_edge[place + 1]; ++e) {
    const stowi_plan_formula_part* above = &region->parts[o->edges[e].above];
    STOW_TRY(stowi_printf(h->writer, "  o%" PRIu32 " = %s_max(o%" PRIu32 ", o%" PRIu32 " + ",
                          buffer, h->lower.data, buffer, o->buffer_of[o->edges[e].below]));
    STOW_TRY(put_high(h, region, o->edges[e].below));
    if (!above->at_bottom) {
      STOW_TRY(stowi_put(h->writer, " - "));
      STOW_TRY(put_limit(h, &region->terms[above->first_low], above->first_high - above->first_low,
                         "min"));
    }
    STOW_TRY(stowi_put(h->writer, ");\n"));
  }
  return constraint->alignment == 1
             ? STOW_OK
             : stowi_printf(h->writer,
                            "  o%" PRIu32 " = (o%" PRIu32 " + %" PRIu64 ") & ~INT64_C(%" PRIu64
                            ");\n",
                            buffer, buffer, constraint->alignment - 1, constraint->alignment - 1);
}

static stow_status write_ends(const header* h, const stowi_plan_formula_region* region) {
  STOW_TRY(stowi_put(h->writer, "  int64_t arena = 0;\n  int64_t size;\n"));
  for (uint32_t i = 0; i < region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &region->buffers[i];
    STOW_TRY(stowi_printf(h->writer,
                          "  size = %s_bytes(e%" PRIu32 ", %" PRIu64 ", %" PRIu64 ");\n"
                          "  if (size != 0) arena = %s_max(arena, o%" PRIu32 " + size + %" PRIu64
                          ");\n",
                          h->lower.data, buffer->size, buffer->empty_size, buffer->most,
                          h->lower.data, i, buffer->guard));
  }
  return STOW_OK;
}

static stow_status write_slots(const header* h, const stowi_plan_formula_region* region) {
  const stow_formula* formula = h->formula;
  STOW_TRY(stowi_put(h->writer, "  if (offsets != NULL) {\n"));
  for (stow_value v = 0; v < formula->value_count; ++v) {
    const stowi_plan_formula_value* value = &region->values[v];
    uint32_t buffer = 0;
    while (buffer < region->buffer_count &&
           (region->buffers[buffer].kind != STOWI_PLAN_FORMULA_ROOT ||
            region->buffers[buffer].id != value->root)) {
      ++buffer;
    }
    if (!value->has_slot || buffer == region->buffer_count) {
      STOW_TRY(stowi_printf(h->writer, "    offsets[%" PRIu32 "] = %s_NONE;\n", v, h->prefix.data));
      continue;
    }
    STOW_TRY(stowi_printf(h->writer,
                          "    offsets[%" PRIu32 "] = %s_bytes(e%" PRIu32 ", %" PRIu64
                          ", 0) == 0 ? %s_NONE : (size_t)(o%" PRIu32 " + e%" PRIu32 ");\n",
                          v, h->lower.data, region->buffers[buffer].size,
                          region->buffers[buffer].empty_size, h->prefix.data, buffer,
                          value->inner));
  }
  return stowi_put(h->writer, "  }\n  return (size_t)arena;\n}\n\n");
}

static stow_status write_region(const header* h, size_t number, bool* used) {
  const stowi_plan_formula_region* region = h->formula->regions.data[number];
  STOW_TRY(stowi_printf(h->writer, "static inline size_t %s_region%zu(", h->lower.data, number));
  STOW_TRY(put_symbols(h, "int64_t "));
  STOW_TRY(stowi_put(h->writer, ", size_t point, size_t* offsets) {\n  (void)point;\n"));
  STOW_TRY(write_exprs(h, region, used));
  for (size_t place = 0; place < region->buffer_count; ++place) {
    STOW_TRY(write_offset(h, region, place));
  }
  STOW_TRY(write_ends(h, region));
  return write_slots(h, region);
}

static stow_status write_choice(const header* h) {
  const stow_formula* formula = h->formula;
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    const stowi_plan_formula_box* box = &formula->boxes.data[i];
    STOW_TRY(stowi_put(h->writer, "  if ("));
    for (size_t k = 0; k < formula->symbol_count; ++k) {
      int64_t first = stowi_plan_formula_value_at(
          formula, k, stowi_plan_formula_step(formula, k, box->first[k]));
      int64_t last = stowi_plan_formula_value_at(
          formula, k, stowi_plan_formula_last_step(formula, k, box->last[k]));
      STOW_TRY(stowi_printf(h->writer, "%ss%zu >= %" PRId64 " && s%zu <= %" PRId64,
                            k == 0 ? "" : " && ", k, first, k, last));
    }
    STOW_TRY(stowi_printf(h->writer, ") return %s_region%" PRIu32 "(", h->lower.data, box->region));
    STOW_TRY(put_symbols(h, ""));
    STOW_TRY(stowi_put(h->writer, ", point, offsets);\n"));
  }
  return stowi_put(h->writer, "  return 0;\n}\n\n");
}

static stow_status write_functions(const header* h) {
  const stow_formula* formula = h->formula;
  STOW_TRY(
      stowi_printf(h->writer,
                   "// The arena's size; 0 if a symbol is not in its range. |offsets|, one per "
                   "value, are filled:\n// %s_NONE where a value has no bytes in the arena.\n"
                   "static inline size_t %s_offsets(",
                   h->prefix.data, h->lower.data));
  STOW_TRY(put_symbols(h, "int64_t "));
  STOW_TRY(stowi_put(h->writer, ", size_t* offsets) {\n  size_t point = 0;\n"));
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    const stow_dim_range* range = &formula->ranges[i];
    STOW_TRY(stowi_printf(h->writer,
                          "  if (s%zu < %" PRId64 " || s%zu > %" PRId64 " || (s%zu - %" PRId64
                          ") %% %" PRId64 " != 0) return 0;\n  point = point * %" PRIu64
                          "u + (size_t)((s%zu - %" PRId64 ") / %" PRId64 ");\n",
                          i, range->min, i, range->max, i, range->min, range->step,
                          stow_dim_range_count(range), i, range->min, range->step));
  }
  STOW_TRY(write_choice(h));
  STOW_TRY(stowi_printf(h->writer, "static inline size_t %s_arena(", h->lower.data));
  STOW_TRY(put_symbols(h, "int64_t "));
  STOW_TRY(stowi_printf(h->writer, ") { return %s_offsets(", h->lower.data));
  STOW_TRY(put_symbols(h, ""));
  return stowi_printf(h->writer, ", NULL); }\n\n#endif  // %s_FORMULA_H_\n", h->prefix.data);
}

static stow_status write_header(const header* h, bool* used) {
  const char* p = h->lower.data;
  STOW_TRY(write_top(h));
  STOW_TRY(write_helpers(h));
  STOW_TRY(stowi_printf(h->writer,
                        "static inline int64_t %s_bytes(int64_t size, int64_t empty, int64_t most) "
                        "{\n  return %s_max(size <= 0 ? empty : size, most);\n}\n\n",
                        p, p));
  for (size_t i = 0; i < h->formula->regions.count; ++i) {
    STOW_TRY(write_region(h, i, used));
  }
  return write_functions(h);
}

stow_status stow_formula_write_c(const stow_formula* formula, const char* prefix,
                                 stow_writer writer, stow_diag* diag) {
  header h = {.formula = formula, .writer = writer, .allocator = formula->allocator};
  stow_string_init(&h.prefix, h.allocator);
  stow_string_init(&h.lower, h.allocator);
  bool* used = STOWI_ARRAY(h.allocator, bool, formula->exprs.count);
  stow_status status = used == NULL ? STOW_ERR_OUT_OF_MEMORY : make_names(&h, prefix, diag);
  status = status == STOW_OK ? write_header(&h, used) : status;
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    stowi_fail_memory(diag);
  }
  STOWI_ARRAY_FREE(h.allocator, used, formula->exprs.count);
  stow_string_free(&h.prefix);
  stow_string_free(&h.lower);
  return status;
}
