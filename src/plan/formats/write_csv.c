// Buffers as CSV (RFC 4180, but with LF), in the columns that placement research uses: a plan's
// problem and solution can be passed to other placers, and theirs compared with ours. |upper| is
// exclusive, |size| is the footprint. Windows get a column only if there are any; stow_csv_read
// accepts all of it.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "plan/api.h"
#include "plan/plan_internal.h"

// Characters that spreadsheets treat as the start of a formula.
static bool starts_formula(char c) { return c == '=' || c == '+' || c == '-' || c == '@'; }

// How a byte of a name is written; NULL: unchanged. |room| has 8 bytes.
static const char* escape_of(stow_str name, size_t index, char* room) {
  unsigned char byte = (unsigned char)name.data[index];
  switch (byte) {
    case '"': return "\"\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    default: break;
  }
  if (byte >= ' ' && byte != 0x7f && (index > 0 || !starts_formula((char)byte))) {
    return NULL;
  }
  snprintf(room, 8, "\\x%02x", (unsigned)byte);
  return room;
}

static bool needs_quotes(stow_str name) {
  return name.size != 0 &&
         (memchr(name.data, ',', name.size) != NULL || memchr(name.data, '"', name.size) != NULL ||
          name.data[0] == ' ' || name.data[name.size - 1] == ' ');
}

// Control characters are escaped: a cell is one line, and the name can be recovered from it.
static stow_status put_name(stow_writer writer, stow_str name) {
  const char* quote = needs_quotes(name) ? "\"" : "";
  STOW_TRY(stowi_put(writer, quote));
  size_t from = 0;
  for (size_t i = 0; i < name.size; ++i) {
    char room[8];
    const char* escape = escape_of(name, i, room);
    if (escape != NULL) {
      stow_str piece = {name.data + from, i - from};
      STOW_TRY(stowi_put_str(writer, piece));
      STOW_TRY(stowi_put(writer, escape));
      from = i + 1;
    }
  }
  stow_str rest = {name.data + from, name.size - from};
  STOW_TRY(stowi_put_str(writer, rest));
  return stowi_put(writer, quote);
}

static const char* end_of_row(const stow_plan* plan) {
  return plan->window_count == 0 ? "\n" : ",\n";
}

static stow_status write_value(const stow_plan* plan, stow_value v, stow_writer writer) {
  const stowi_plan_value* value = &plan->values[v];
  STOW_TRY(stowi_printf(
      writer,
      "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,", v,
      value->begin, value->end, value->size + value->guard, stowi_plan_value_alignment(plan, v),
      value->offset, value->guard, stowi_plan_kind_text((stowi_plan_kind)value->kind)));
  STOW_TRY(put_name(writer, stowi_plan_value_name(plan, v)));
  if (plan->window_count != 0) {
    STOW_TRY(stowi_put(writer, ","));
    // The last cell of a row: windows in order of time, a gap without its bytes.
    size_t count;
    const stowi_plan_window* windows = stowi_plan_windows_of(plan, v, &count);
    for (size_t i = 0; i < count; ++i) {
      const stow_window* window = &windows[i].window;
      STOW_TRY(stowi_printf(writer, "%s%" PRIu32 "-%" PRIu32, i == 0 ? "" : " ", window->begin,
                            window->end));
      if (window->low < window->high) {
        STOW_TRY(stowi_printf(writer, "@%" PRIu64 ":%" PRIu64, window->low, window->high));
      }
    }
  }
  return stowi_put(writer, "\n");
}

static stow_status write_scratch(const stow_plan* plan, stow_writer writer) {
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    if (scratch->need == 0) {
      continue;  // no buffer
    }
    STOW_TRY(stowi_printf(writer,
                          "scratch.%" PRIu32 ".%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64
                          ",%" PRIu64 ",%" PRIu64 ",0,scratch,%s",
                          scratch->node, scratch->index, scratch->step, scratch->step + 1,
                          scratch->need, scratch->alignment, scratch->offset, end_of_row(plan)));
  }
  return STOW_OK;
}

static stow_status write_reserved(const stow_plan* plan, stow_writer writer) {
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    const stowi_plan_span* span = &plan->reserved[i];
    STOW_TRY(stowi_printf(
        writer, "reserved.%zu,0,%" PRIu64 ",%" PRIu64 ",1,%" PRIu64 ",0,reserved,%s", i,
        (uint64_t)plan->step_count + 1, span->end - span->offset, span->offset, end_of_row(plan)));
  }
  return STOW_OK;
}

stow_status stowi_plan_write_csv(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_printf(writer, "id,lower,upper,size,alignment,offset,guard,kind,name%s\n",
                        plan->window_count == 0 ? "" : ",gaps"));
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (!stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v)) {
      STOW_TRY(write_value(plan, v, writer));
    }
  }
  STOW_TRY(write_scratch(plan, writer));
  return write_reserved(plan, writer);
}
