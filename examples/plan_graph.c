// From graph to bytes: builds a small model with the C API, plans it, proves the plan, and runs the
// model inside one arena.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/stowage.h>

// An example may stop at the first error; the diagnostic describes it.
static void require(stow_status status, const stow_diag* diag) {
  if (status != STOW_OK) {
    fprintf(stderr, "plan_graph: %s\n", diag->message);
    exit(1);
  }
}

// y = relu(x · w) + x
static stow_graph* build(stow_diag* diag) {
  stow_graph* graph = NULL;
  stow_value x, w, product, positive, y;
  stow_type square = stow_type_make(STOW_F32, 2, (stow_dim[]){8, 8});
  require(stow_graph_create(stow_str_of("residual"), NULL, stow_allocator_default(), diag, &graph),
          diag);
  require(stow_graph_input(graph, "x", &square, diag, &x), diag);
  require(stow_graph_param(graph, "w", &square, diag, &w), diag);
  require(stow_graph_add(graph, STOW_OP_MATMUL, (stow_value[]){x, w}, 2, diag, &product), diag);
  require(stow_graph_add(graph, STOW_OP_RELU, &product, 1, diag, &positive), diag);
  require(stow_graph_add(graph, STOW_OP_ADD, (stow_value[]){positive, x}, 2, diag, &y), diag);
  require(stow_graph_add_output(graph, y, diag), diag);
  return graph;
}

// Declares that relu may work in place: if its operand is not read afterwards, both become one
// buffer.
static stow_effects* describe(const stow_graph* graph, stow_diag* diag) {
  stow_effects* effects = NULL;
  require(stow_effects_create(graph, stow_allocator_default(), diag, &effects), diag);
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_RELU) {
      require(stow_effects_allow_in_place(effects, node, 0, 0, diag), diag);
    }
  }
  return effects;
}

static float* data(stow_arena* arena, stow_value value, stow_diag* diag, size_t* out_count) {
  float* elements = NULL;
  require(stow_arena_f32(arena, value, diag, &elements, out_count), diag);
  return elements;
}

// Runs one step of the plan. A real executor has a kernel per op; this model needs three.
static void run_node(const stow_graph* graph, stow_node node, stow_arena* arena, stow_diag* diag) {
  size_t count;
  const stow_value* operands = stow_graph_operands(graph, node);
  if (stow_graph_operand_count(graph, node) == 0) {
    return;  // the caller has loaded boundary values
  }
  float* out = data(arena, stow_graph_first_result(graph, node), diag, &count);
  const float* a = data(arena, operands[0], diag, &count);
  const float* b =
      stow_graph_operand_count(graph, node) > 1 ? data(arena, operands[1], diag, &count) : NULL;
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_MATMUL:
      for (size_t i = 0; i < 64; ++i) {
        out[i] = 0.0f;
        for (size_t k = 0; k < 8; ++k) {
          out[i] += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
        }
      }
      break;
    case STOW_OP_RELU:
      for (size_t i = 0; i < count; ++i) {
        out[i] = a[i] > 0.0f ? a[i] : 0.0f;
      }
      break;
    default:
      for (size_t i = 0; i < count; ++i) {
        out[i] = a[i] + b[i];
      }
  }
}

static void load(const stow_graph* graph, const char* name, stow_arena* arena, stow_diag* diag) {
  size_t count;
  float* elements = data(arena, stow_graph_find(graph, stow_str_of(name)), diag, &count);
  for (size_t i = 0; i < count; ++i) {
    elements[i] = (float)(i % 5) - 2.0f;
  }
}

// The same without a plan, for comparison.
static float expected(size_t i) {
  float sum = 0.0f;
  for (size_t k = 0; k < 8; ++k) {
    sum += ((float)((i / 8 * 8 + k) % 5) - 2.0f) * ((float)((k * 8 + i % 8) % 5) - 2.0f);
  }
  return (sum > 0.0f ? sum : 0.0f) + ((float)(i % 5) - 2.0f);
}

static int run(const stow_graph* graph, const stow_plan* plan, stow_diag* diag) {
  stow_arena* arena = NULL;
  require(stow_arena_create(plan, NULL, stow_allocator_default(), diag, &arena), diag);
  load(graph, "x", arena, diag);
  load(graph, "w", arena, diag);
  for (uint32_t step = 0; step < stow_plan_step_count(plan); ++step) {
    run_node(graph, stow_plan_order(plan)[step], arena, diag);
  }
  size_t count;
  int wrong = 0;
  const float* y = data(arena, stow_graph_outputs(graph)[0], diag, &count);
  for (size_t i = 0; i < count; ++i) {
    wrong += y[i] < expected(i) || y[i] > expected(i);
  }
  stow_arena_destroy(arena);
  return wrong;
}

int main(void) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_graph* graph = build(&diag);
  stow_effects* effects = describe(graph, &diag);

  stow_plan* plan = NULL;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  stow_allocator allocator = stow_allocator_default();
  require(stow_plan_make(graph, effects, &options, allocator, &diag, &plan), &diag);
  require(stow_plan_check(plan, graph, effects, allocator, &diag, NULL), &diag);

  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    stow_slot slot;
    stow_plan_value of = {.struct_size = sizeof(of)};
    stow_plan_value_slot(plan, value, &slot);
    require(stow_plan_describe_value(plan, value, &of), &diag);
    printf("%%%" PRIu32 ": %" PRIu64 " bytes at %" PRIu64 ", steps %" PRIu32 " to %" PRIu32 "\n",
           value, slot.size, slot.offset, of.begin, of.end - 1);
  }
  stow_plan_info info = {.struct_size = sizeof(info)};
  require(stow_plan_describe(plan, &info), &diag);
  printf("arena %" PRIu64 " bytes, %" PRIu64 " saved\n", info.arena_size, info.saved);

  int wrong = run(graph, plan, &diag);
  printf("%s\n", wrong == 0 ? "the result is right" : "the result is wrong");
  stow_plan_destroy(plan);
  stow_effects_destroy(effects);
  stow_graph_destroy(graph);
  return wrong == 0 ? 0 : 1;
}
