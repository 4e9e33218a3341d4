// The data of a picture as JSON: columns, so that tens of thousands of buffers stay small, and each
// string once. docs/view-format.md describes it. It is also what a page carries, so that nothing in
// it can end a script: <, >, & and the line separators of JavaScript are escaped everywhere.
#include <inttypes.h>
#include <string.h>

#include "make.h"

// ---------------------------------------------------------------------------------------------
// Strings

static bool is_between(unsigned byte, unsigned low, unsigned high) {
  return byte >= low && byte <= high;
}

// Bytes of the well-formed UTF-8 sequence at |s|, by table 3-7 of the Unicode standard, and its
// code; 0 where there is none.
static size_t decode(const unsigned char* s, size_t size, unsigned* out_code) {
  size_t length = s[0] < 0x80                    ? 1
                  : is_between(s[0], 0xC2, 0xDF) ? 2
                  : is_between(s[0], 0xE0, 0xEF) ? 3
                  : is_between(s[0], 0xF0, 0xF4) ? 4
                                                 : 0;
  if (length == 0 || length > size) {
    return 0;
  }
  static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned code = length == 1 ? s[0] : s[0] & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((s[i] & 0xC0) != 0x80) {
      return 0;
    }
    code = code << 6 | (s[i] & 0x3Fu);
  }
  *out_code = code;
  return code < smallest[length] || code > 0x10FFFF || is_between(code, 0xD800, 0xDFFF) ? 0
                                                                                        : length;
}

static bool is_plain(unsigned code) {
  return code >= 0x20 && !is_between(code, 0x7F, 0x9F) && code != '"' && code != '\\' &&
         code != '<' && code != '>' && code != '&' && code != '\'' && code != 0x2028 &&
         code != 0x2029;
}

void cli_view_print_string(cli_output* output, stow_str text) {
  stow_writer writer = cli_output_writer(output);
  size_t from = 0;
  size_t at = 0;
  (void)writer.write(writer.user, "\"", 1);
  while (at < text.size) {
    unsigned code = 0xFFFD;
    size_t size = decode((const unsigned char*)text.data + at, text.size - at, &code);
    if (size > 0 && is_plain(code)) {
      at += size;
      continue;
    }
    (void)writer.write(writer.user, text.data + from, at - from);
    cli_print(output, "\\u%04x", size > 0 ? code : 0xFFFDu);
    at += size > 0 ? size : 1;
    from = at;
  }
  (void)writer.write(writer.user, text.data + from, text.size - from);
  (void)writer.write(writer.user, "\"", 1);
}

// ---------------------------------------------------------------------------------------------
// Columns

typedef int64_t (*getter)(const void* item);

static int64_t number_of(uint32_t id) { return id == CLI_VIEW_NONE ? -1 : (int64_t)id; }

static void print_column(cli_output* output, const char* name, const cli_list* list,
                         size_t item_size, getter get) {
  const char* items = list->items;
  cli_print(output, "\"%s\":[", name);
  for (size_t i = 0; i < list->count; ++i) {
    cli_print(output, i == 0 ? "%" PRId64 : ",%" PRId64, get(items + i * item_size));
  }
  cli_print(output, "]");
}

#define GETTER(function, type, expression)    \
  static int64_t function(const void* item) { \
    const type* x = item;                     \
    return (int64_t)(expression);             \
  }
GETTER(step_op, cli_view_step, number_of(x->op))
GETTER(step_label, cli_view_step, number_of(x->label))
GETTER(step_node, cli_view_step, x->node)
GETTER(buffer_id, cli_view_buffer, number_of(x->id))
GETTER(buffer_name, cli_view_buffer, number_of(x->name))
GETTER(buffer_op, cli_view_buffer, number_of(x->op))
GETTER(buffer_type, cli_view_buffer, number_of(x->type))
GETTER(buffer_kind, cli_view_buffer, x->kind)
GETTER(buffer_offset, cli_view_buffer, x->offset)
GETTER(buffer_size, cli_view_buffer, x->size)
GETTER(buffer_guard, cli_view_buffer, x->guard)
GETTER(buffer_begin, cli_view_buffer, x->begin)
GETTER(buffer_end, cli_view_buffer, x->end)
GETTER(buffer_made, cli_view_buffer, x->made)
GETTER(buffer_align, cli_view_buffer, x->alignment)
GETTER(buffer_flags, cli_view_buffer, x->flags)
GETTER(window_of, cli_view_window, x->buffer)
GETTER(window_begin, cli_view_window, x->begin)
GETTER(window_end, cli_view_window, x->end)
GETTER(window_low, cli_view_window, x->low)
GETTER(window_high, cli_view_window, x->high)
GETTER(value_id, cli_view_value, number_of(x->id))
GETTER(value_of, cli_view_value, number_of(x->of))
GETTER(value_name, cli_view_value, number_of(x->name))
GETTER(value_op, cli_view_value, number_of(x->op))
GETTER(value_type, cli_view_value, number_of(x->type))
GETTER(value_buffer, cli_view_value, x->buffer)
GETTER(value_low, cli_view_value, x->low)
GETTER(value_size, cli_view_value, x->size)
GETTER(value_begin, cli_view_value, x->begin)
GETTER(value_end, cli_view_value, x->end)
GETTER(value_how, cli_view_value, x->how)
GETTER(read_value, cli_view_read, x->value)
GETTER(read_step, cli_view_read, x->step)
GETTER(level_step, cli_view_level, x->step)
GETTER(level_bytes, cli_view_level, x->bytes)
#undef GETTER

typedef struct column {
  const char* name;
  getter get;
} column;

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void print_columns(cli_output* output, const cli_list* list, size_t item_size,
                          const column* columns, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    cli_print(output, i == 0 ? "" : ",\n ");
    print_column(output, columns[i].name, list, item_size, columns[i].get);
  }
}

static void print_buffers(const cli_view* view, cli_output* output) {
  static const column columns[] = {
      {"id", buffer_id},      {"name", buffer_name},   {"op", buffer_op},
      {"type", buffer_type},  {"kind", buffer_kind},   {"offset", buffer_offset},
      {"size", buffer_size},  {"guard", buffer_guard}, {"begin", buffer_begin},
      {"end", buffer_end},    {"made", buffer_made},   {"align", buffer_align},
      {"flags", buffer_flags}};
  static const column windows[] = {{"of", window_of},
                                   {"begin", window_begin},
                                   {"end", window_end},
                                   {"low", window_low},
                                   {"high", window_high}};
  cli_print(output, ",\n\"buffers\":{");
  print_columns(output, &view->buffers, sizeof(cli_view_buffer), columns, COUNT_OF(columns));
  cli_print(output, ",\n \"windows\":{");
  print_columns(output, &view->windows, sizeof(cli_view_window), windows, COUNT_OF(windows));
  cli_print(output, "}}");
}

static void print_values(const cli_view* view, cli_output* output) {
  static const column columns[] = {
      {"id", value_id},       {"of", value_of},         {"name", value_name}, {"op", value_op},
      {"type", value_type},   {"buffer", value_buffer}, {"low", value_low},   {"size", value_size},
      {"begin", value_begin}, {"end", value_end},       {"how", value_how}};
  cli_print(output, ",\n\"values\":{");
  print_columns(output, &view->values, sizeof(cli_view_value), columns, COUNT_OF(columns));
  cli_print(output, "}");
}

static void print_rest(const cli_view* view, cli_output* output) {
  static const column steps[] = {{"op", step_op}, {"label", step_label}, {"node", step_node}};
  static const column reads[] = {{"value", read_value}, {"step", read_step}};
  static const column levels[] = {{"step", level_step}, {"bytes", level_bytes}};
  cli_print(output, ",\n\"steps\":{");
  print_columns(output, &view->steps, sizeof(cli_view_step), steps, COUNT_OF(steps));
  cli_print(output, "},\n\"reads\":{");
  print_columns(output, &view->reads, sizeof(cli_view_read), reads, COUNT_OF(reads));
  cli_print(output, "},\n\"load\":{");
  print_columns(output, &view->levels, sizeof(cli_view_level), levels, COUNT_OF(levels));
  cli_print(output, "}");
}

// ---------------------------------------------------------------------------------------------
// The rest

static void print_number(cli_output* output, const char* name, uint64_t number) {
  if (number == CLI_VIEW_NO_NUMBER) {
    cli_print(output, ",\"%s\":null", name);
  } else {
    cli_print(output, ",\"%s\":%" PRIu64, name, number);
  }
}

static void print_options(const cli_view* view, cli_output* output) {
  const cli_view_option* options = view->options.items;
  cli_print(output, ",\n \"options\":{");
  for (size_t i = 0; i < view->options.count; ++i) {
    cli_print(output, i == 0 ? "" : ",");
    cli_view_print_string(output, cli_view_str(view, options[i].name));
    cli_print(output, ":");
    cli_view_print_string(output, cli_view_str(view, options[i].value));
  }
  cli_print(output, "}");
}

static void print_facts(const cli_view* view, cli_output* output) {
  const cli_view_facts* facts = &view->facts;
  cli_print(output, "\"facts\":{\"arena\":%" PRIu64, facts->arena);
  print_number(output, "alignment", facts->alignment);
  print_number(output, "bound", facts->bound);
  print_number(output, "any_bound", facts->any_bound);
  print_number(output, "given_arena", facts->given_arena);
  print_number(output, "unshared", facts->unshared);
  print_number(output, "saved", facts->saved);
  print_number(output, "capacity", facts->capacity);
  print_number(output, "steps", facts->steps);
  print_number(output, "first_step", facts->first_step);
  print_number(output, "last_step", facts->last_step);
  print_number(output, "busy_step", facts->busy_step);
  print_number(output, "peak_step", facts->peak_step);
  print_number(output, "peak_bytes", facts->peak_bytes);
  cli_print(output, ",\"fits\":%s",
            facts->capacity == CLI_VIEW_NO_NUMBER ? "null"
            : facts->arena <= facts->capacity     ? "true"
                                                  : "false");
  cli_print(output,
            ",\"reuse\":%s,\"outcome\":\"%s\",\"strategy\":", facts->reuse ? "true" : "false",
            facts->outcome);
  if (facts->strategy == CLI_VIEW_NONE) {
    cli_print(output, "null");
  } else {
    cli_view_print_string(output, cli_view_str(view, facts->strategy));
  }
  if (facts->has_fingerprint) {
    cli_print(output, ",\"fingerprint\":\"%016" PRIx64 "\"", facts->fingerprint);
  }
  print_options(view, output);
  cli_print(output, "}");
}

static void print_head(const cli_view* view, cli_output* output) {
  cli_print(output, "\"title\":");
  cli_view_print_string(output, cli_view_str(view, view->title));
  cli_print(output, ",\"source\":");
  cli_view_print_string(output, cli_view_str(view, view->source));
  cli_print(output, ",\"kind\":\"%s\",\n", view->origin);
  print_facts(view, output);
}

static void print_change(const cli_view* view, const cli_view_change* change, cli_output* output) {
  cli_print(output, "{\"name\":%" PRId64 ",\"change\":\"%s\",\"now\":", number_of(change->name),
            cli_view_change_text(change->change));
  if (change->now == CLI_VIEW_NOWHERE) {
    cli_print(output, "-1");
  } else {
    cli_print(output, "%zu", change->now);
  }
  if (change->then == CLI_VIEW_NOWHERE) {
    cli_print(output, ",\"then\":null}");
    return;
  }
  const cli_view_buffer* then = &cli_view_buffers(view->against)[change->then];
  cli_print(output,
            ",\"then\":{\"id\":%" PRId64 ",\"kind\":%d,\"offset\":%" PRIu64 ",\"size\":%" PRIu64
            ",\"guard\":%" PRIu64 ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64 "}}",
            number_of(then->id), (int)then->kind, then->offset, then->size, then->guard,
            then->begin, then->end);
}

static void print_against(const cli_view* view, cli_output* output) {
  if (view->against == NULL) {
    cli_print(output, ",\n\"against\":null");
    return;
  }
  static const column levels[] = {{"step", level_step}, {"bytes", level_bytes}};
  cli_print(output, ",\n\"against\":{");
  print_head(view->against, output);
  cli_print(output, ",\n \"load\":{");
  print_columns(output, &view->against->levels, sizeof(cli_view_level), levels, COUNT_OF(levels));
  cli_print(output, "},\n \"changes\":[");
  for (size_t i = 0; i < view->changes.count; ++i) {
    cli_print(output, i == 0 ? "" : ",\n ");
    print_change(view, &cli_view_changes(view)[i], output);
  }
  cli_print(output, "]}");
}

static void print_words(const cli_view* view, cli_output* output) {
  cli_print(output, ",\n\"kinds\":[");
  for (size_t i = 0; i < CLI_VIEW_KIND_COUNT; ++i) {
    cli_print(output, "%s\"%s\"", i == 0 ? "" : ",", cli_view_kind_text(i));
  }
  cli_print(output, "],\n\"strings\":[");
  for (size_t i = 0; i < view->ends.count; ++i) {
    cli_print(output, i == 0 ? "" : ",\n");
    cli_view_print_string(output, cli_view_str(view, (cli_view_text)i));
  }
  cli_print(output, "]");
}

void cli_view_write_json(const cli_view* view, cli_output* output) {
  cli_print(output, "{\"stowage_view\":1,\n");
  print_head(view, output);
  print_words(view, output);
  print_rest(view, output);
  print_buffers(view, output);
  print_values(view, output);
  print_against(view, output);
  cli_print(output, "}\n");
}
