// A C header for programs without a planner: sizes and offsets as macros, usable in #if, in array
// bounds and as initialisers, in C11 and C++17. Names of values are arbitrary bytes; they are
// mangled to identifiers. Values without a name go by their number. Names that then collide get
// their id as a suffix, until each is unique; named values come first, so that they keep theirs. A
// hash index finds collisions: O(n) for n values and scratch.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/text.h"
#include "plan/api.h"
#include "plan/plan_internal.h"

// ---------------------------------------------------------------------------------------------
// Symbols

typedef struct symbol {
  stow_value value;  // STOW_VALUE_NONE: a scratch
  size_t scratch;
  size_t at;  // in |text|
  size_t size;
} symbol;

typedef struct symbols {
  stow_allocator allocator;
  STOWI_VEC(symbol) list;
  stow_string text;
  stowi_index index;
} symbols;

static stow_str symbol_name(const symbols* s, size_t i) {
  stow_str name = {s->text.data + s->list.data[i].at, s->list.data[i].size};
  return name;
}

static bool is_symbol(const void* context, uint32_t id, const void* key) {
  return stow_str_equal(symbol_name((const symbols*)context, id), *(const stow_str*)key);
}

static char mangle_byte(char c) {
  if (c >= 'a' && c <= 'z') {
    return (char)(c - 'a' + 'A');
  }
  return stowi_is_alnum(c) ? c : '_';
}

static stow_status append_mangled(stow_string* text, stow_str name) {
  size_t at = text->size;
  STOW_TRY(stow_string_append(text, name.data, name.size));
  for (; at < text->size; ++at) {
    text->data[at] = mangle_byte(text->data[at]);
  }
  return STOW_OK;
}

// A symbol without its text.
static symbol value_symbol(stow_value value) {
  symbol added = {value, SIZE_MAX, 0, 0};
  return added;
}

// The symbol's text is the end of |text|, from |at| on; adds it, with |id| as a suffix while it is
// taken.
static stow_status add_symbol(symbols* s, symbol added, uint32_t id, size_t at) {
  STOW_TRY(STOWI_VEC_RESERVE(s->allocator, &s->list, 1));
  STOW_TRY(stowi_index_reserve(&s->index, s->allocator));
  for (;;) {
    stow_str name = {s->text.data + at, s->text.size - at};
    uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size);
    if (stowi_index_find(&s->index, hash, is_symbol, s, &name) == STOWI_INDEX_NONE) {
      added.at = at;
      added.size = name.size;
      stowi_index_insert(&s->index, hash, (uint32_t)s->list.count);
      s->list.data[s->list.count++] = added;
      return STOW_OK;
    }
    STOW_TRY(stowi_printf(stow_string_writer(&s->text), "_%" PRIu32, id));
  }
}

static stow_status collect_named(const stow_plan* plan, symbols* s) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stow_str name = stowi_plan_value_name(plan, v);
    if (name.size != 0 && stowi_plan_has_slot(plan, v)) {
      size_t at = s->text.size;
      STOW_TRY(append_mangled(&s->text, name));
      STOW_TRY(add_symbol(s, value_symbol(v), v, at));
    }
  }
  return STOW_OK;
}

// Outputs without a name also by their position, which is what the caller knows.
static stow_status collect_unnamed(const stow_plan* plan, symbols* s) {
  for (size_t k = 0; k < plan->output_count; ++k) {
    stow_value v = plan->outputs[k];
    if (stowi_plan_value_name(plan, v).size == 0 && stowi_plan_has_slot(plan, v)) {
      size_t at = s->text.size;
      STOW_TRY(stowi_printf(stow_string_writer(&s->text), "OUTPUT_%zu", k));
      STOW_TRY(add_symbol(s, value_symbol(v), v, at));
    }
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (stowi_plan_value_name(plan, v).size == 0 && stowi_plan_has_slot(plan, v)) {
      size_t at = s->text.size;
      STOW_TRY(stowi_printf(stow_string_writer(&s->text), "V%" PRIu32, v));
      STOW_TRY(add_symbol(s, value_symbol(v), v, at));
    }
  }
  return STOW_OK;
}

static stow_status collect_scratch(const stow_plan* plan, symbols* s) {
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    symbol added = {STOW_VALUE_NONE, i, 0, 0};
    size_t at = s->text.size;
    STOW_TRY(stowi_printf(stow_string_writer(&s->text), "NODE%" PRIu32 "_SCRATCH%" PRIu32,
                          scratch->node, scratch->index));
    STOW_TRY(add_symbol(s, added, scratch->node, at));
  }
  return STOW_OK;
}

static stow_status collect(const stow_plan* plan, symbols* s) {
  // PREFIX_ARENA_SIZE is reserved. This symbol stands for nothing and is not written.
  STOW_TRY(stowi_put(stow_string_writer(&s->text), "ARENA"));
  STOW_TRY(add_symbol(s, value_symbol(STOW_VALUE_NONE), 0, 0));
  STOW_TRY(collect_named(plan, s));
  STOW_TRY(collect_unnamed(plan, s));
  return collect_scratch(plan, s);
}

// ---------------------------------------------------------------------------------------------
// Writing

typedef struct header {
  const stow_plan* plan;
  stow_str prefix;
  stow_writer writer;
} header;

// `PREFIX_NAME` and then |tail|.
static stow_status put_macro(const header* h, stow_str name, const char* tail) {
  STOW_TRY(stowi_put_str(h->writer, h->prefix));
  STOW_TRY(stowi_put(h->writer, "_"));
  STOW_TRY(stowi_put_str(h->writer, name));
  return stowi_put(h->writer, tail);
}

static stow_status put_define(const header* h, stow_str name, const char* tail, uint64_t number) {
  STOW_TRY(stowi_put(h->writer, "#define "));
  STOW_TRY(put_macro(h, name, tail));
  return stowi_printf(h->writer, " %" PRIu64 "u\n", number);
}

// Offsets are valid only in the plan's order. Nothing if that is the graph's own.
static stow_status write_order(const header* h) {
  const stow_plan* plan = h->plan;
  uint32_t same = 0;
  while (same < plan->step_count && plan->order[same] == same) {
    ++same;
  }
  if (same == plan->step_count) {
    return STOW_OK;
  }
  STOW_TRY(
      stowi_put(h->writer, "// The nodes must run in this order, which is not the graph's own:"));
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    const char* before = i % 16 == 0 ? "\n//   " : " ";
    STOW_TRY(stowi_printf(h->writer, "%s%" PRIu32, before, plan->order[i]));
  }
  return stowi_put(h->writer, "\n");
}

static stow_status write_top(const header* h) {
  const stow_plan* plan = h->plan;
  stow_str arena = stow_str_of("ARENA");
  STOW_TRY(stowi_printf(h->writer,
                        "// Memory plan made by Stowage for the graph with fingerprint %016" PRIx64
                        ".\n"
                        "// Offsets are from the arena's base, a multiple of ARENA_ALIGNMENT."
                        " ARENA_SIZE need not be one.\n"
                        "// Lifetimes are steps [begin, end).\n",
                        plan->fingerprint));
  STOW_TRY(write_order(h));
  STOW_TRY(stowi_put(h->writer, "#ifndef "));
  STOW_TRY(put_macro(h, stow_str_of("PLAN_H_"), "\n#define "));
  STOW_TRY(put_macro(h, stow_str_of("PLAN_H_"), "\n\n"));
  STOW_TRY(put_define(h, arena, "_SIZE", plan->arena_size));
  STOW_TRY(put_define(h, arena, "_ALIGNMENT", plan->arena_alignment));
  STOW_TRY(stowi_put(h->writer, "\n#ifdef __cplusplus\n#define "));
  STOW_TRY(
      put_macro(h, stow_str_of("ASSERT"), "(condition, text) static_assert(condition, text)\n"));
  STOW_TRY(stowi_put(h->writer, "#else\n#define "));
  STOW_TRY(
      put_macro(h, stow_str_of("ASSERT"), "(condition, text) _Static_assert(condition, text)\n"));
  return stowi_put(h->writer, "#endif\n");
}

// Subtracts instead of adding, so that no sum can wrap.
static stow_status write_asserts(const header* h, stow_str name, uint64_t alignment) {
  stow_str check = stow_str_of("ASSERT");
  STOW_TRY(put_macro(h, check, "("));
  STOW_TRY(put_macro(h, name, "_OFFSET <= "));
  STOW_TRY(put_macro(h, stow_str_of("ARENA_SIZE"), " &&\n    "));
  STOW_TRY(put_macro(h, name, "_SIZE <= "));
  STOW_TRY(put_macro(h, stow_str_of("ARENA_SIZE"), " - "));
  STOW_TRY(put_macro(h, name, "_OFFSET,\n    \"outside the arena\");\n"));
  STOW_TRY(put_macro(h, check, "("));
  STOW_TRY(put_macro(h, name, ""));
  return stowi_printf(h->writer, "_OFFSET %% %" PRIu64 "u == 0, \"misaligned\");\n", alignment);
}

static stow_status write_value(const header* h, stow_str name, stow_value v) {
  const stowi_plan_value* value = &h->plan->values[v];
  STOW_TRY(stowi_printf(h->writer, "\n// %%%" PRIu32 ": %s, %s, [%" PRIu32 ", %" PRIu32 ")\n", v,
                        stowi_plan_kind_text((stowi_plan_kind)value->kind),
                        stow_dtype_name((stow_dtype)value->dtype), value->begin, value->end));
  STOW_TRY(put_define(h, name, "_OFFSET", value->offset));
  STOW_TRY(put_define(h, name, "_SIZE", value->size));
  if (value->rows > 1) {
    STOW_TRY(put_define(h, name, "_ROWS", value->rows));
    STOW_TRY(put_define(h, name, "_PITCH", value->pitch));
  }
  return write_asserts(h, name, stowi_plan_value_alignment(h->plan, v));
}

static stow_status write_scratch(const header* h, stow_str name,
                                 const stowi_plan_scratch* scratch) {
  STOW_TRY(stowi_printf(
      h->writer, "\n// scratch %" PRIu32 " of node %" PRIu32 ", [%" PRIu32 ", %" PRIu32 ")\n",
      scratch->index, scratch->node, scratch->step, scratch->step + 1));
  STOW_TRY(put_define(h, name, "_OFFSET", scratch->offset));
  STOW_TRY(put_define(h, name, "_SIZE", scratch->size));
  return write_asserts(h, name, scratch->alignment);
}

static stow_status write_header(const header* h, const symbols* s) {
  STOW_TRY(write_top(h));
  for (size_t i = 1; i < s->list.count; ++i) {
    const symbol* written = &s->list.data[i];
    stow_str name = symbol_name(s, i);
    STOW_TRY(written->value != STOW_VALUE_NONE
                 ? write_value(h, name, written->value)
                 : write_scratch(h, name, &h->plan->scratch[written->scratch]));
  }
  STOW_TRY(stowi_put(h->writer, "\n#undef "));
  STOW_TRY(put_macro(h, stow_str_of("ASSERT"), "\n\n#endif  // "));
  return put_macro(h, stow_str_of("PLAN_H_"), "\n");
}

// ---------------------------------------------------------------------------------------------

static bool is_identifier(stow_str name) {
  for (size_t i = 0; i < name.size; ++i) {
    if (!stowi_is_alnum(name.data[i])) {
      return false;
    }
  }
  return name.size > 0 && !stowi_is_digit(name.data[0]);
}

// The caller's prefix, or one made from the graph's name.
static stow_status make_prefix(const stow_plan* plan, const char* prefix, stow_diag* diag,
                               stow_string* out) {
  if (prefix != NULL) {
    if (!is_identifier(stow_str_of(prefix))) {
      return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "\"%.200s\" is not a C identifier",
                        prefix);
    }
    return stow_string_append(out, prefix, strlen(prefix));
  }
  stow_str name = stowi_plan_graph_name(plan);
  if (name.size == 0) {
    name = stow_str_of("STOWAGE");
  }
  if (stowi_is_digit(name.data[0])) {
    STOW_TRY(stow_string_append(out, "_", 1));
  }
  return append_mangled(out, name);
}

stow_status stow_plan_write_c(const stow_plan* plan, const char* prefix, stow_writer writer,
                              stow_diag* diag) {
  symbols s;
  memset(&s, 0, sizeof(s));
  s.allocator = plan->allocator;
  stow_string_init(&s.text, plan->allocator);
  stow_string prefix_text;
  stow_string_init(&prefix_text, plan->allocator);
  stow_status status = make_prefix(plan, prefix, diag, &prefix_text);
  if (status == STOW_OK) {
    status = collect(plan, &s);
  }
  if (status == STOW_OK) {
    header h = {plan, {prefix_text.data, prefix_text.size}, writer};
    status = write_header(&h, &s);
  }
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    stowi_fail_memory(diag);
  }
  stow_string_free(&prefix_text);
  stow_string_free(&s.text);
  stowi_index_free(&s.index, plan->allocator);
  STOWI_VEC_FREE(plan->allocator, &s.list);
  return status;
}
