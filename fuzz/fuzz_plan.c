// Any bytes as a saved plan of one of three small graphs. Whatever is read must be written back to
// the same bytes, and the checker and all writers must live with it, however wrong the plan is.
//
// An input that does not begin with `# stowage_plan` stands for what follows the fingerprint, so
// that the corpus outlives changes of the graph's fingerprint. After a line `home` the rest is for
// the second graph, whose results lie in place and at home; after a line `rows` for the third,
// whose values may be pitched; after a line `range` it is a formula plan of the fourth, which has a
// range.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stowage/stowage.h>
#include <string.h>

static const char graph_text[] =
    "graph @fuzz {\n"
    "  %0 = input \"x\" : f32[4, 4]\n"
    "  %1 = param \"w\" : f32[4, 4]\n"
    "  %2 \"sum\" = add(%0, %1) : f32[4, 4] with {align = 256, scratch = [24, 1, 8, 16]}\n"
    "  %3 = reshape(%2) : f32[16]\n"
    "  %4 = narrow(%3) {axis = 0, start = 2, len = 4} : f32[4]\n"
    "  %5, %6 = split(%3) {axis = 0, sizes = [8, 8]} : f32[8], f32[8]\n"
    "  %7 = add(%5, %6) : f32[8]\n"
    "  %8 = constant \"none\" : f32[0]\n"
    "  return %4, %7\n"
    "}\n";

static const char home_text[] =
    "graph @home {\n"
    "  %0 = input \"x\" : f32[16]\n"
    "  %1 = relu(%0) : f32[16]\n"
    "  %2 = exp(%1) : f32[16]\n"
    "  %3 = relu(%2) : f32[16]\n"
    "  %4 = concat(%2, %3) {axis = 0} : f32[32]\n"
    "  %5 = relu(%4) : f32[32]\n"
    "  %6 = narrow(%5) {axis = 0, start = 16, len = 16} : f32[16]\n"
    "  return %6\n"
    "}\n";

static const char rows_text[] =
    "graph @rows {\n"
    "  %0 = input \"x\" : f32[2, 4, 4]\n"
    "  %1 = relu(%0) : f32[2, 4, 4]\n"
    "  %2, %3 = split(%1) {axis = 1, sizes = [1, 3]} : f32[2, 1, 4], f32[2, 3, 4]\n"
    "  %4 = exp(%3) : f32[2, 3, 4]\n"
    "  %5 = concat(%2, %3, %4) {axis = 1} : f32[2, 7, 4]\n"
    "  %6 = reshape(%4) : f32[2, 12]\n"
    "  %7 = relu(%6) : f32[2, 12]\n"
    "  return %5, %7\n"
    "}\n";

static const char range_text[] =
    "graph @range {\n"
    "  range ?s = 0..5\n"
    "  %0 = input \"x\" : f32[?s, 8]\n"
    "  %1 = relu(%0) : f32[?s, 8] with {scratch = [24, 16]}\n"
    "  %2 = exp(%1) : f32[?s, 8]\n"
    "  %3 = concat(%1, %2) {axis = 0} : f32[?(2*s), 8]\n"
    "  %4 = transpose(%3) {perm = [1, 0]} : f32[8, ?(2*s)]\n"
    "  %5 = input \"cache\" : f32[?s] with {state = true}\n"
    "  return %4, %5\n"
    "}\n";

static void require(int condition) {
  if (!condition) {
    __builtin_trap();
  }
}

static stow_status drop(void* user, const char* data, size_t size) {
  (void)data;
  *(size_t*)user += size;
  return STOW_OK;
}

// What a root occupies is part of its footprint; after the last step it is nothing.
static void ask(const stow_plan* plan) {
  uint32_t end = stow_plan_step_count(plan) + 1;
  for (stow_value v = 0; v <= stow_plan_value_count(plan); ++v) {
    stow_slot slot;
    stow_plan_value_slot(plan, v, &slot);
    stow_plan_value of = {.struct_size = sizeof(of)};
    stow_status status = stow_plan_describe_value(plan, v, &of);
    require(status == (v < stow_plan_value_count(plan) ? STOW_OK : STOW_ERR_NOT_FOUND));
    for (uint32_t step = 0; step < end; ++step) {
      stow_slot occupied = stow_plan_occupied_slot(plan, v, step);
      require(occupied.size <= slot.size + of.guard);
      require(occupied.size == 0 || occupied.offset >= slot.offset);
    }
    require(stow_plan_occupied_slot(plan, v, end).size == 0);
    for (size_t i = 0; i < stow_plan_window_count(plan, v); ++i) {
      require(stow_plan_window_at(plan, v, i).high <= slot.size);
    }
  }
}

static void use(const stow_plan* plan, const stow_graph* graph, const stow_effects* effects) {
  stow_allocator allocator = stow_allocator_default();
  size_t written = 0;
  stow_writer writer = {drop, &written};
  require(stow_plan_write(plan, STOW_PLAN_JSON, writer) == STOW_OK);
  require(stow_plan_write(plan, STOW_PLAN_CSV, writer) == STOW_OK);
  require(stow_plan_write_c(plan, NULL, writer, NULL) == STOW_OK);
  ask(plan);
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_plan_check(plan, graph, effects, allocator, &diag, &violation);
  require(status == STOW_OK || status == STOW_ERR_VIOLATION);
  require((status == STOW_OK) == (violation.fault == STOW_FAULT_NONE));
  stow_weight_layout* layout = NULL;
  require(stow_weight_layout_create(graph, plan, allocator, NULL, &layout) == STOW_OK);
  status = stow_plan_check_layout(plan, graph, layout, &diag, &violation);
  require(status == STOW_OK || status == STOW_ERR_VIOLATION);
  require((status == STOW_OK) == (violation.fault == STOW_FAULT_NONE));
  stow_weight_layout_destroy(layout);
}

static void read_plan(const char* text, size_t size, const stow_graph* graph,
                      const stow_effects* effects) {
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_allocator allocator = stow_allocator_default();
  stow_status status = stow_plan_read(text, size, "fuzz", graph, allocator, &diag, &plan);
  if (status != STOW_OK) {
    require(status == STOW_ERR_SYNTAX || status == STOW_ERR_STALE_PLAN);
    require(plan == NULL && diag.status == status && diag.line != 0 && diag.column != 0);
    require(strncmp(diag.message, "fuzz:", 5) == 0);
    return;
  }
  stow_string again;
  stow_string_init(&again, allocator);
  require(stow_plan_write(plan, STOW_PLAN_SAVED, stow_string_writer(&again)) == STOW_OK);
  require(again.size == size && memcmp(again.data, text, size) == 0);
  stow_string_free(&again);
  use(plan, graph, effects);
  stow_plan_destroy(plan);
}

// ---------------------------------------------------------------------------------------------
// Formula plans

static void use_formula(const stow_formula* formula) {
  stow_allocator allocator = stow_allocator_default();
  size_t written = 0;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_formula_check(formula, NULL, allocator, &diag);
  require(status == STOW_OK || (status == STOW_ERR_VIOLATION && diag.message[0] != '\0'));
  require(stow_formula_write(formula, STOW_PLAN_JSON, (stow_writer){drop, &written}) == STOW_OK);
  require(stow_formula_write_c(formula, NULL, (stow_writer){drop, &written}, NULL) == STOW_OK);
  stow_formula_walk* walk = NULL;
  require(stow_formula_walk_create(formula, allocator, NULL, &walk) == STOW_OK);
  for (size_t point = 0; point < stow_formula_point_count(formula); ++point) {
    stow_formula_walk_to(walk, point);
    for (stow_value v = 0; v < 8; ++v) {
      stow_slot slot;
      (void)stow_formula_walk_slot(walk, v, &slot);
    }
  }
  stow_formula_walk_destroy(walk);
}

static void read_formula(const char* text, size_t size, const stow_graph* graph,
                         const stow_effects* effects) {
  (void)effects;
  stow_formula* formula = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_allocator allocator = stow_allocator_default();
  stow_status status = stow_formula_read(text, size, "fuzz", graph, allocator, &diag, &formula);
  if (status != STOW_OK) {
    require(status == STOW_ERR_SYNTAX || status == STOW_ERR_STALE_PLAN);
    require(formula == NULL && diag.status == status && diag.line != 0 && diag.column != 0);
    return;
  }
  stow_string again;
  stow_string_init(&again, allocator);
  require(stow_formula_write(formula, STOW_PLAN_SAVED, stow_string_writer(&again)) == STOW_OK);
  require(again.size == size && memcmp(again.data, text, size) == 0);
  stow_string_free(&again);
  use_formula(formula);
  stow_formula_destroy(formula);
}

// ---------------------------------------------------------------------------------------------

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

typedef void (*text_reader)(const char* text, size_t size, const stow_graph* graph,
                            const stow_effects* effects);

static void read_input(const char* data, size_t size, const stow_graph* graph,
                       const stow_effects* effects, bool is_formula) {
  const char* start = is_formula ? "# stowage_formula" : "# stowage_plan";
  text_reader read = is_formula ? read_formula : read_plan;
  if (size >= strlen(start) && memcmp(data, start, strlen(start)) == 0) {
    read(data, size, graph, effects);
    return;
  }
  stow_str name = stow_graph_name(graph);
  char header[128];
  int header_size =
      snprintf(header, sizeof(header), "%s=1\n# graph=\"%.*s\"\n# fingerprint=%016" PRIx64 "\n",
               start, (int)name.size, name.data, stow_graph_fingerprint(graph));
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  require(stow_string_append(&text, header, (size_t)header_size) == STOW_OK);
  require(stow_string_append(&text, data, size) == STOW_OK);
  read(text.data, text.size, graph, effects);
  stow_string_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stow_allocator allocator = stow_allocator_default();
  bool is_inside = size >= 5 && memcmp(data, "home\n", 5) == 0;
  bool has_rows = size >= 5 && memcmp(data, "rows\n", 5) == 0;
  bool is_range = size >= 6 && memcmp(data, "range\n", 6) == 0;
  size_t skipped = is_inside || has_rows ? 5 : is_range ? 6 : 0;
  const char* source = is_inside  ? home_text
                       : has_rows ? rows_text
                       : is_range ? range_text
                                  : graph_text;
  stow_module* module = NULL;
  require(stow_module_parse(source, strlen(source), NULL, NULL, allocator, NULL, &module) ==
          STOW_OK);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_effects* effects = NULL;
  require(stow_effects_create(graph, allocator, NULL, &effects) == STOW_OK);
  read_input((const char*)data + skipped, size - skipped, graph, effects, is_range);
  stow_effects_destroy(effects);
  stow_module_destroy(module);
  return 0;
}
