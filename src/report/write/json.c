// The data of a picture as JSON: columns, so that tens of thousands of buffers stay small, and each
// string once. docs/view-format.md describes it. It is also what a page carries, so that nothing in
// it can end a script: <, >, & and the line separators of JavaScript are escaped everywhere.
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "report/picture/picture.h"
#include "report/picture/range.h"

// ---------------------------------------------------------------------------------------------
// Columns

static int64_t number_of(uint32_t id) { return id == STOWI_REPORT_PICTURE_NONE ? -1 : (int64_t)id; }

// A field of 4 bytes (an id, a kind, flags) or of 8.
typedef struct column {
  const char* name;
  size_t offset;
  size_t size;
} column;
#define COLUMN_AS(name, type, field) \
  { name, offsetof(type, field), sizeof(((type*)NULL)->field) }
#define COLUMN(type, field) COLUMN_AS(#field, type, field)

static int64_t read_field(const char* item, const column* c) {
  uint32_t id = 0;
  uint64_t number = 0;
  memcpy(c->size == sizeof id ? (void*)&id : &number, item + c->offset, c->size);
  return c->size == sizeof id ? number_of(id) : (int64_t)number;
}

static void print_all(stowi_report_out* out, const char* items, size_t count, size_t item_size,
                      const column* columns, size_t column_count) {
  for (size_t i = 0; i < column_count; ++i) {
    stowi_report_out_print(out, "%s\"%s\":[", i == 0 ? "" : ",\n ", columns[i].name);
    for (size_t k = 0; k < count; ++k) {
      stowi_report_out_print(out, k == 0 ? "%" PRId64 : ",%" PRId64,
                             read_field(items + k * item_size, &columns[i]));
    }
    stowi_report_out_print(out, "]");
  }
}

#define PRINT_COLUMNS(out, vec, columns)                                                   \
  print_all((out), (const char*)(vec)->data, (vec)->count, sizeof *(vec)->data, (columns), \
            sizeof(columns) / sizeof *(columns))

static void print_buffers(const stow_picture* picture, stowi_report_out* out) {
  typedef stowi_report_picture_buffer b;
  typedef stowi_report_picture_window w;
  static const column columns[] = {
      COLUMN(b, id),    COLUMN(b, name),   COLUMN(b, op),   COLUMN(b, type),
      COLUMN(b, kind),  COLUMN(b, offset), COLUMN(b, size), COLUMN(b, guard),
      COLUMN(b, begin), COLUMN(b, end),    COLUMN(b, made), COLUMN_AS("align", b, alignment),
      COLUMN(b, flags)};
  static const column windows[] = {COLUMN_AS("of", w, buffer), COLUMN(w, begin), COLUMN(w, end),
                                   COLUMN(w, low), COLUMN(w, high)};
  stowi_report_out_print(out, ",\n\"buffers\":{");
  PRINT_COLUMNS(out, &picture->buffers, columns);
  stowi_report_out_print(out, ",\n \"windows\":{");
  PRINT_COLUMNS(out, &picture->windows, windows);
  stowi_report_out_print(out, "}}");
}

static void print_values(const stow_picture* picture, stowi_report_out* out) {
  typedef stowi_report_picture_value v;
  static const column columns[] = {COLUMN(v, id),  COLUMN(v, of),   COLUMN(v, name),
                                   COLUMN(v, op),  COLUMN(v, type), COLUMN(v, buffer),
                                   COLUMN(v, low), COLUMN(v, size), COLUMN(v, begin),
                                   COLUMN(v, end), COLUMN(v, how)};
  stowi_report_out_print(out, ",\n\"values\":{");
  PRINT_COLUMNS(out, &picture->values, columns);
  stowi_report_out_print(out, "}");
}

static void print_rings(const stow_picture* picture, stowi_report_out* out) {
  typedef stowi_report_picture_ring r;
  static const column columns[] = {COLUMN(r, name), COLUMN(r, op),     COLUMN(r, type),
                                   COLUMN(r, rows), COLUMN(r, buffer), COLUMN(r, low),
                                   COLUMN(r, size), COLUMN(r, begin),  COLUMN(r, end)};
  if (picture->rings.count != 0) {
    stowi_report_out_print(out, ",\n\"rings\":{");
    PRINT_COLUMNS(out, &picture->rings, columns);
    stowi_report_out_print(out, "}");
  }
}

static const column level_columns[] = {COLUMN(stowi_report_picture_level, step),
                                       COLUMN(stowi_report_picture_level, bytes)};

static void print_rest(const stow_picture* picture, stowi_report_out* out) {
  static const column steps[] = {COLUMN(stowi_report_picture_step, op),
                                 COLUMN(stowi_report_picture_step, label),
                                 COLUMN(stowi_report_picture_step, node)};
  static const column reads[] = {COLUMN(stowi_report_picture_read, value),
                                 COLUMN(stowi_report_picture_read, step)};
  stowi_report_out_print(out, ",\n\"steps\":{");
  PRINT_COLUMNS(out, &picture->steps, steps);
  stowi_report_out_print(out, "},\n\"reads\":{");
  PRINT_COLUMNS(out, &picture->reads, reads);
  stowi_report_out_print(out, "},\n\"load\":{");
  PRINT_COLUMNS(out, &picture->levels, level_columns);
  stowi_report_out_print(out, "}");
}

// ---------------------------------------------------------------------------------------------
// The rest

static void print_number(stowi_report_out* out, const char* name, uint64_t number) {
  if (number == STOWI_REPORT_PICTURE_NO_NUMBER) {
    stowi_report_out_print(out, ",\"%s\":null", name);
  } else {
    stowi_report_out_print(out, ",\"%s\":%" PRIu64, name, number);
  }
}

static void print_options(const stow_picture* picture, stowi_report_out* out) {
  const stowi_report_picture_option* options = picture->options.data;
  stowi_report_out_print(out, ",\n \"options\":{");
  for (size_t i = 0; i < picture->options.count; ++i) {
    stowi_report_out_print(out, i == 0 ? "" : ",");
    stowi_report_out_json(out, stowi_report_picture_str(picture, options[i].name));
    stowi_report_out_print(out, ":");
    stowi_report_out_json(out, stowi_report_picture_str(picture, options[i].value));
  }
  stowi_report_out_print(out, "}");
}

static void print_facts(const stow_picture* picture, stowi_report_out* out) {
  const stowi_report_picture_facts* facts = &picture->facts;
  stowi_report_out_print(out, "\"facts\":{\"arena\":%" PRIu64, facts->arena);
  print_number(out, "alignment", facts->alignment);
  print_number(out, "bound", facts->bound);
  print_number(out, "any_bound", facts->any_bound);
  print_number(out, "given_arena", facts->given_arena);
  print_number(out, "unshared", facts->unshared);
  print_number(out, "saved", facts->saved);
  print_number(out, "capacity", facts->capacity);
  print_number(out, "steps", facts->steps);
  print_number(out, "first_step", facts->first_step);
  print_number(out, "last_step", facts->last_step);
  print_number(out, "busy_step", facts->busy_step);
  print_number(out, "peak_step", facts->peak_step);
  print_number(out, "peak_bytes", facts->peak_bytes);
  stowi_report_out_print(out, ",\"fits\":%s",
                         facts->capacity == STOWI_REPORT_PICTURE_NO_NUMBER ? "null"
                         : facts->arena <= facts->capacity                 ? "true"
                                                                           : "false");
  stowi_report_out_print(out, ",\"reuse\":%s,\"outcome\":\"%s\",\"strategy\":",
                         facts->reuse ? "true" : "false", facts->outcome);
  if (facts->strategy == STOWI_REPORT_PICTURE_NONE) {
    stowi_report_out_print(out, "null");
  } else {
    stowi_report_out_json(out, stowi_report_picture_str(picture, facts->strategy));
  }
  if (facts->has_fingerprint) {
    stowi_report_out_print(out, ",\"fingerprint\":\"%016" PRIx64 "\"", facts->fingerprint);
  }
  print_options(picture, out);
  stowi_report_out_print(out, "}");
}

static void print_hints(const stow_picture* picture, stowi_report_out* out) {
  stowi_report_out_print(out, ",\n\"hints\":[");
  for (size_t i = 0; i < picture->hints.count; ++i) {
    const stowi_report_picture_hint* hint = &picture->hints.data[i];
    stowi_report_out_print(out, "%s{\"change\":", i == 0 ? "" : ",");
    stowi_report_out_json(out, stowi_report_picture_str(picture, hint->change));
    stowi_report_out_print(out, ",\"arena\":%" PRIu64 "}", hint->arena);
  }
  stowi_report_out_print(out, "]");
}

static void print_head(const stow_picture* picture, stowi_report_out* out) {
  stowi_report_out_print(out, "\"title\":");
  stowi_report_out_json(out, stowi_report_picture_str(picture, picture->title));
  stowi_report_out_print(out, ",\"source\":");
  stowi_report_out_json(out, stowi_report_picture_str(picture, picture->source));
  stowi_report_out_print(out, ",\"kind\":\"%s\",\n", picture->origin);
  if (picture->at != STOWI_REPORT_PICTURE_NONE) {
    stowi_report_out_print(out, "\"at\":");
    stowi_report_out_json(out, stowi_report_picture_str(picture, picture->at));
    stowi_report_out_print(out, ",\n");
  }
  print_facts(picture, out);
}

static void print_change(const stow_picture* picture, const stowi_report_picture_change* change,
                         stowi_report_out* out) {
  stowi_report_out_print(out, "{\"name\":%" PRId64 ",\"change\":\"%s\",\"now\":",
                         number_of(change->name), stowi_report_picture_change_text(change->change));
  if (change->now == STOWI_REPORT_PICTURE_NOWHERE) {
    stowi_report_out_print(out, "-1");
  } else {
    stowi_report_out_print(out, "%zu", change->now);
  }
  if (change->then == STOWI_REPORT_PICTURE_NOWHERE) {
    stowi_report_out_print(out, ",\"then\":null}");
    return;
  }
  const stowi_report_picture_buffer* then = &picture->against->buffers.data[change->then];
  stowi_report_out_print(out,
                         ",\"then\":{\"id\":%" PRId64 ",\"kind\":%d,\"offset\":%" PRIu64
                         ",\"size\":%" PRIu64 ",\"guard\":%" PRIu64 ",\"begin\":%" PRIu64
                         ",\"end\":%" PRIu64 "}}",
                         number_of(then->id), (int)then->kind, then->offset, then->size,
                         then->guard, then->begin, then->end);
}

static void print_against(const stow_picture* picture, stowi_report_out* out) {
  if (picture->against == NULL) {
    stowi_report_out_print(out, ",\n\"against\":null");
    return;
  }
  stowi_report_out_print(out, ",\n\"against\":{");
  print_head(picture->against, out);
  stowi_report_out_print(out, ",\n \"load\":{");
  PRINT_COLUMNS(out, &picture->against->levels, level_columns);
  stowi_report_out_print(out, "},\n \"changes\":[");
  for (size_t i = 0; i < picture->changes.count; ++i) {
    stowi_report_out_print(out, i == 0 ? "" : ",\n ");
    print_change(picture, &picture->changes.data[i], out);
  }
  stowi_report_out_print(out, "]}");
}

static void print_words(const stow_picture* picture, stowi_report_out* out) {
  stowi_report_out_print(out, ",\n\"kinds\":[");
  for (size_t i = 0; i < STOWI_REPORT_PICTURE_KIND_COUNT; ++i) {
    stowi_report_out_print(out, "%s\"%s\"", i == 0 ? "" : ",", stowi_report_picture_kind_text(i));
  }
  stowi_report_out_print(out, "],\n\"strings\":[");
  for (size_t i = 0; i < picture->strings.ends.count; ++i) {
    stowi_report_out_print(out, i == 0 ? "" : ",\n");
    stowi_report_out_json(out, stowi_report_picture_str(picture, (stowi_report_picture_text)i));
  }
  stowi_report_out_print(out, "]");
}

void stowi_report_picture_write_json(const stow_picture* picture, stowi_report_out* out) {
  stowi_report_out_print(out, "{\"stowage_view\":1,\n");
  print_head(picture, out);
  print_hints(picture, out);
  print_words(picture, out);
  print_rest(picture, out);
  print_buffers(picture, out);
  print_values(picture, out);
  print_rings(picture, out);
  print_against(picture, out);
  if (picture->range != NULL) {
    stowi_report_range_write(picture->range, out);
  }
  stowi_report_out_print(out, "}\n");
}
