// The plan as one JSON object (RFC 8259), keys in a fixed order, one value per line. Numbers are
// written exactly and may exceed 2^53: readers that store numbers as doubles must take care. Names
// are bytes here but text in JSON, so what is not UTF-8 becomes U+FFFD.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "plan/api.h"
#include "plan/plan_internal.h"

// ---------------------------------------------------------------------------------------------
// Parts of the object

static const char* json_bool(bool value) { return value ? "true" : "false"; }

// The id, or null if it is |none|.
static stow_status put_id(stow_writer writer, uint32_t id, uint32_t none) {
  return id == none ? stowi_put(writer, "null") : stowi_printf(writer, "%" PRIu32, id);
}

static stow_status write_header(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "{\n  \"stowage_plan\": 1,\n  \"graph\": "));
  STOW_TRY(stowi_put_json(writer, stowi_plan_graph_name(plan), false));
  STOW_TRY(stowi_printf(writer,
                        ",\n  \"fingerprint\": \"%016" PRIx64 "\",\n  \"strategy\": \"%s\",\n",
                        plan->fingerprint, stowi_plan_strategy_name(plan).data));
  STOW_TRY(stowi_printf(writer,
                        "  \"arena_size\": %" PRIu64 ",\n  \"arena_alignment\": %" PRIu64
                        ",\n  \"total_unshared\": %" PRIu64 ",\n  \"saved\": %" PRIu64
                        ",\n  \"lower_bound\": %" PRIu64 ",\n  \"steps\": %" PRIu32 ",\n",
                        plan->arena_size, plan->arena_alignment, plan->total_unshared,
                        stowi_plan_saved(plan), plan->lower_bound, plan->step_count));
  STOW_TRY(stowi_printf(writer,
                        "  \"search\": {\"outcome\": \"%s\", \"bound\": %" PRIu64
                        ", \"nodes\": %" PRIu64 ", \"stopped\": %s},\n",
                        stow_outcome_text(plan->search.outcome), plan->search.bound,
                        plan->search.nodes, json_bool(plan->search.stopped)));
  const stow_ordering* ordering = &plan->ordering;
  STOW_TRY(stowi_printf(writer,
                        "  \"ordering\": {\"searched\": %s, \"changed\": %s, \"given_arena\": "
                        "%" PRIu64 ", \"other_arena\": %" PRIu64 ", \"any_bound\": %" PRIu64
                        ", \"critical\": ",
                        json_bool(ordering->searched), json_bool(ordering->changed),
                        ordering->given_arena, ordering->other_arena, ordering->any_bound));
  STOW_TRY(put_id(writer, ordering->critical, STOW_NODE_NONE));
  STOW_TRY(stowi_printf(writer, ", \"nodes\": %" PRIu64 "},\n", ordering->nodes));
  if (plan->moves.started) {
    STOW_TRY(stowi_printf(
        writer, "  \"start\": {\"matched\": %zu, \"kept\": %zu, \"moved\": %zu, \"new\": %zu},\n",
        plan->moves.kept + plan->moves.moved, plan->moves.kept, plan->moves.moved,
        plan->moves.added));
  }
  if (plan->facts.capacity == STOW_NO_CAPACITY) {
    return stowi_put(writer, "  \"capacity\": null,\n");
  }
  return stowi_printf(writer, "  \"capacity\": %" PRIu64 ",\n", plan->facts.capacity);
}

// Digits, and a dot between them.
static bool is_number(stow_str text) {
  bool is_good = text.size != 0 && stowi_is_digit(text.data[0]) &&
                 stowi_is_digit(text.data[text.size - 1]) &&
                 (text.size < 2 || text.data[0] != '0' || text.data[1] == '.');
  size_t dots = 0;
  for (size_t i = 0; i < text.size; ++i) {
    dots += text.data[i] == '.';
    is_good = is_good && (stowi_is_digit(text.data[i]) || text.data[i] == '.');
  }
  return is_good && dots <= 1;
}

// The words `name=value` as members; a value that is not a number becomes null.
static stow_status write_rewrite_word(stow_str word, stow_writer writer) {
  size_t name = 0;
  while (name < word.size && word.data[name] != '=') {
    ++name;
  }
  stow_str value = {word.data + name + 1, name < word.size ? word.size - name - 1 : 0};
  STOW_TRY(stowi_put(writer, ", "));
  STOW_TRY(stowi_put_json(writer, (stow_str){word.data, name}, false));
  STOW_TRY(stowi_put(writer, ": "));
  return is_number(value) ? stowi_put_str(writer, value) : stowi_put(writer, "null");
}

// The stamp of the rules as an object: `v1 cse=3 fold=off`.
static stow_status write_rewrite(const char* text, stow_writer writer) {
  if (text[0] == '\0') {
    return stowi_put(writer, "null},\n");
  }
  STOW_TRY(stowi_put(writer, "{\"stamp\": "));
  STOW_TRY(stowi_put_json(writer, stow_str_of(text), false));
  for (const char* at = strchr(text, ' '); at != NULL; at = strchr(at + 1, ' ')) {
    const char* end = strchr(at + 1, ' ');
    stow_str word = {at + 1, end == NULL ? strlen(at + 1) : (size_t)(end - at - 1)};
    STOW_TRY(write_rewrite_word(word, writer));
  }
  return stowi_put(writer, "}},\n");
}

static stow_status write_options(const stow_plan* plan, stow_writer writer) {
  const stowi_plan_facts* facts = &plan->facts;
  STOW_TRY(stowi_printf(writer,
                        "  \"options\": {\"alignment\": %" PRIu64 ", \"tail_guard\": %" PRIu64
                        ", \"params\": \"%s\", \"inputs\": %s, \"constants\": %s, ",
                        facts->alignment, facts->tail_guard, stowi_plan_params_text(facts->params),
                        json_bool(facts->inputs), json_bool(facts->constants)));
  STOW_TRY(stowi_printf(writer,
                        "\"zero_size_slots\": %s, \"f32_uniform\": %s, \"classic_views\": %s, "
                        "\"reuse\": %s, \"in_place\": %s, \"elide_copies\": %s, "
                        "\"io\": \"%s\", \"threads\": %" PRIu32
                        ", \"fastest\": %s, \"pack\": \"%s\", "
                        "\"packed_bytes\": %" PRIu64 ", ",
                        json_bool(facts->zero_size_slots), json_bool(facts->f32_uniform),
                        json_bool(facts->classic_views), json_bool(facts->reuse),
                        json_bool(facts->in_place), json_bool(facts->elide_copies),
                        stowi_plan_io_text(facts->io), facts->kernels.threads,
                        json_bool(facts->kernels.fastest),
                        stowi_plan_pack_text(facts->kernels.pack), facts->kernels.packed_bytes));
  if (stowi_plan_is_pitched(plan)) {
    STOW_TRY(stowi_printf(writer, "\"least_row\": %" PRIu64 ", ", facts->least_row));
  }
  STOW_TRY(stowi_put(writer, "\"rewrite\": "));
  return write_rewrite(facts->rewrite, writer);
}

static stow_status write_fit(const stow_plan* plan, stow_writer writer) {
  const stow_fit* fit = &plan->fit;
  STOW_TRY(stowi_printf(
      writer, "  \"fit\": {\"fits\": %s, \"possible\": %s, \"excess\": %" PRIu64 ", \"value\": ",
      json_bool(fit->fits), json_bool(fit->possible), fit->excess));
  STOW_TRY(put_id(writer, fit->value, STOW_VALUE_NONE));
  return stowi_printf(writer,
                      ", \"value_bytes\": %" PRIu64 ", \"step\": %" PRIu32
                      ", \"largest_hole\": %" PRIu64 "},\n",
                      fit->value_bytes, fit->step, fit->largest_hole);
}

static stow_status write_ids(const uint32_t* ids, size_t count, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "["));
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(stowi_printf(writer, "%s%" PRIu32, i == 0 ? "" : ", ", ids[i]));
  }
  return stowi_put(writer, "]");
}

static stow_status write_peak(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_printf(
      writer, "  \"peak\": {\"step\": %" PRIu32 ", \"scratch\": %" PRIu64 ", \"values\": ",
      plan->peak_step, plan->peak_scratch));
  STOW_TRY(write_ids(plan->peak, plan->peak_count, writer));
  return stowi_put(writer, "},\n");
}

static stow_status write_lists(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"outputs\": "));
  STOW_TRY(write_ids(plan->outputs, plan->output_count, writer));
  STOW_TRY(stowi_put(writer, ",\n  \"order\": "));
  STOW_TRY(write_ids(plan->order, plan->step_count, writer));
  return stowi_put(writer, ",\n");
}

static stow_status write_value(const stow_plan* plan, stow_value v, stow_writer writer) {
  const stowi_plan_value* value = &plan->values[v];
  stow_str name = stowi_plan_value_name(plan, v);
  STOW_TRY(stowi_printf(writer, "    {\"id\": %" PRIu32 ", \"name\": ", v));
  if (name.size == 0) {
    STOW_TRY(stowi_put(writer, "null"));
  } else {
    STOW_TRY(stowi_put_json(writer, name, false));
  }
  STOW_TRY(stowi_printf(writer, ", \"kind\": \"%s\", \"dtype\": \"%s\", ",
                        stowi_plan_kind_text((stowi_plan_kind)value->kind),
                        stow_dtype_name((stow_dtype)value->dtype)));
  if (stowi_plan_has_slot(plan, v)) {
    STOW_TRY(stowi_printf(writer, "\"offset\": %" PRIu64 ", \"size\": %" PRIu64, value->offset,
                          value->size));
    if (value->rows > 1) {
      STOW_TRY(stowi_printf(writer, ", \"rows\": %" PRIu64 ", \"pitch\": %" PRIu64, value->rows,
                            value->pitch));
    }
  } else {
    STOW_TRY(stowi_put(writer, "\"offset\": null, \"size\": null"));
  }
  STOW_TRY(stowi_printf(writer,
                        ", \"root\": %" PRIu32 ", \"begin\": %" PRIu32 ", \"end\": %" PRIu32
                        ", \"guard\": %" PRIu64 ", \"alignment\": %" PRIu64,
                        value->root, value->begin, value->end, value->guard,
                        stowi_plan_value_alignment(plan, v)));
  size_t count;
  const stowi_plan_window* windows = stowi_plan_windows_of(plan, v, &count);
  STOW_TRY(stowi_put(writer, ", \"windows\": ["));
  for (size_t i = 0; i < count; ++i) {
    const stow_window* window = &windows[i].window;
    STOW_TRY(stowi_printf(writer, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu64 ", %" PRIu64 "]",
                          i == 0 ? "" : ", ", window->begin, window->end, window->low,
                          window->high));
  }
  return stowi_put(writer, "]}");
}

// An array with one element per line.
static stow_status begin_element(size_t index, stow_writer writer) {
  return stowi_put(writer, index == 0 ? "\n" : ",\n");
}

static stow_status end_array(size_t count, stow_writer writer, const char* then) {
  STOW_TRY(stowi_put(writer, count == 0 ? "]" : "\n  ]"));
  return stowi_put(writer, then);
}

static stow_status write_values(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"values\": ["));
  for (stow_value v = 0; v < plan->value_count; ++v) {
    STOW_TRY(begin_element(v, writer));
    STOW_TRY(write_value(plan, v, writer));
  }
  return end_array(plan->value_count, writer, ",\n");
}

static stow_status write_scratch(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"scratch\": ["));
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    STOW_TRY(begin_element(i, writer));
    STOW_TRY(stowi_printf(writer,
                          "    {\"node\": %" PRIu32 ", \"index\": %" PRIu32 ", \"step\": %" PRIu32
                          ", \"offset\": %" PRIu64 ", \"size\": %" PRIu64
                          ", \"alignment\": %" PRIu64 ", \"need\": %" PRIu64 "}",
                          scratch->node, scratch->index, scratch->step, scratch->offset,
                          scratch->size, scratch->alignment, scratch->need));
  }
  return end_array(plan->scratch_count, writer, ",\n");
}

static stow_status write_reserved(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"reserved\": ["));
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    const stowi_plan_span* span = &plan->reserved[i];
    STOW_TRY(begin_element(i, writer));
    STOW_TRY(stowi_printf(writer, "    {\"offset\": %" PRIu64 ", \"size\": %" PRIu64 "}",
                          span->offset, span->end - span->offset));
  }
  return end_array(plan->reserved_count, writer, ",\n");
}

// Names of shares and reasons are those of the enums, in lower case: texts are for people and may
// change.
static const char* const share_names[] = {
#define SHARE_NAME(name, text) #name,
    STOW_SHARE_LIST(SHARE_NAME)
#undef SHARE_NAME
};

static const char* const reason_names[] = {
#define REASON_NAME(name, text) #name,
    STOW_REASON_LIST(REASON_NAME)
#undef REASON_NAME
};

static stow_status put_lower(stow_writer writer, const char* name) {
  char lower[32];
  size_t size = 0;
  for (; name[size] != '\0' && size < sizeof(lower); ++size) {
    bool is_upper = name[size] >= 'A' && name[size] <= 'Z';
    lower[size] = is_upper ? (char)(name[size] - 'A' + 'a') : name[size];
  }
  stow_str text = {lower, size};
  return stowi_put_str(writer, text);
}

static stow_status put_other(const stow_decision* decision, stow_writer writer) {
  if (decision->other_value != STOW_VALUE_NONE) {
    return stowi_printf(writer, "{\"value\": %" PRIu32 "}", decision->other_value);
  }
  if (decision->other_node != STOW_NODE_NONE) {
    return stowi_printf(writer, "{\"node\": %" PRIu32 "}", decision->other_node);
  }
  return stowi_put(writer, "null");
}

static stow_status write_decision(const stow_decision* decision, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "    {\"share\": \""));
  STOW_TRY(put_lower(writer, share_names[decision->share]));
  STOW_TRY(stowi_printf(writer,
                        "\", \"node\": %" PRIu32 ", \"result\": %" PRIu32 ", \"operand\": %" PRIu32
                        ", \"bytes\": %" PRIu64 ", \"taken\": %s, \"reason\": \"",
                        decision->node, decision->result, decision->operand, decision->bytes,
                        json_bool(decision->reason == STOW_REASON_TAKEN)));
  STOW_TRY(put_lower(writer, reason_names[decision->reason]));
  STOW_TRY(stowi_put(writer, "\", \"other\": "));
  STOW_TRY(put_other(decision, writer));
  return stowi_put(writer, "}");
}

static stow_status write_decisions(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"decisions\": ["));
  for (size_t i = 0; i < plan->decision_count; ++i) {
    STOW_TRY(begin_element(i, writer));
    STOW_TRY(write_decision(&plan->decisions[i], writer));
  }
  return end_array(plan->decision_count, writer, ",\n");
}

static stow_status write_hints(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"hints\": ["));
  for (size_t i = 0; i < plan->hints.count; ++i) {
    const stowi_plan_hint* hint = &plan->hints.data[i];
    STOW_TRY(begin_element(i, writer));
    STOW_TRY(stowi_put(writer, "    {\"change\": "));
    STOW_TRY(stowi_put_json(writer, (stow_str){hint->change, hint->size}, false));
    STOW_TRY(stowi_printf(writer, ", \"arena_size\": %" PRIu64 "}", hint->arena_size));
  }
  return end_array(plan->hints.count, writer, "\n}\n");
}

stow_status stowi_plan_write_json(const stow_plan* plan, stow_writer writer) {
  STOW_TRY(write_header(plan, writer));
  STOW_TRY(write_options(plan, writer));
  STOW_TRY(write_fit(plan, writer));
  STOW_TRY(write_peak(plan, writer));
  STOW_TRY(write_lists(plan, writer));
  STOW_TRY(write_values(plan, writer));
  STOW_TRY(write_scratch(plan, writer));
  STOW_TRY(write_reserved(plan, writer));
  STOW_TRY(write_decisions(plan, writer));
  return write_hints(plan, writer);
}
