// Custom kernels: one for a `custom` node, which the library has no kernel for, and one that
// replaces the library's relu.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/text.h>

static const char text[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[6]\n"
    "  %1 = neg(%0) : f32[6]\n"
    "  %2 = custom(%1) {name = \"acme.cube\"} : f32[6]\n"
    "  %3 = relu(%2) : f32[6]\n"
    "  return %3\n"
    "}\n";

static stow_diag diag;

static void require(stow_status status) {
  if (status != STOW_OK) {
    fprintf(stderr, "custom_kernel: %s\n", diag.message);
    exit(1);
  }
}

// ---------------------------------------------------------------------------------------------
// A kernel for a `custom` node. It works element by element, so the work can be divided, and the
// result may be in place of the operand.

static void cube_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const stow_kernel_call* call = (const stow_kernel_call*)user;
  const float* in = (const float*)call->operands[0]->data;
  float* out = (float*)call->results[0]->data;
  (void)worker;  // would select this worker's part of the scratch
  for (size_t i = begin; i < end; ++i) {
    out[i] = in[i] * in[i] * in[i];
  }
}

static stow_status run_cube(stow_kernel_call* call) {
  if (call->operands[0]->dtype != STOW_F32 || call->results[0]->dtype != STOW_F32 ||
      stow_tensor_elements(call->operands[0]) != stow_tensor_elements(call->results[0])) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "cube: expected f32 of the shape of its operand");
  }
  stow_kernel_split(call, stow_tensor_elements(call->results[0]), 8192, cube_range, call);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Replaces a kernel of the library: counts its calls, and calls the original.

typedef struct counted {
  const stow_kernel* kernel;
  int calls;
} counted;

static stow_status run_counted(stow_kernel_call* call) {
  counted* c = (counted*)call->user;
  ++c->calls;
  return c->kernel->run(call);
}

static void set_kernels(stow_kernels* kernels, counted* relu) {
  stow_kernel cube = {.struct_size = sizeof(cube), .run = run_cube, .in_place = true};
  require(stow_kernels_set_custom(kernels, stow_str_of("acme.cube"), &cube, &diag));
  // All else stays as it is, since the calls are handed on to the library's kernel.
  stow_kernel wrapped = *stow_kernels_get(NULL, STOW_OP_RELU);
  wrapped.run = run_counted;
  wrapped.user = relu;
  require(stow_kernels_set(kernels, STOW_OP_RELU, &wrapped, &diag));
}

// ---------------------------------------------------------------------------------------------

static void run(stow_exec* exec) {
  stow_tensor x = {
      .data = (float[]){-3, -2, -1, 1, 2, 3}, .dtype = STOW_F32, .rank = 1, .dims = {6}};
  stow_tensor y;
  require(stow_exec_input(exec, 0, &x, &diag));
  require(stow_exec_run(exec, &diag));
  require(stow_exec_value(exec, 3, &diag, &y));
  for (size_t i = 0; i < stow_tensor_elements(&y); ++i) {
    printf(" %g", (double)((const float*)y.data)[i]);
  }
  printf("\n");
}

int main(void) {
  stow_allocator heap = stow_allocator_default();
  stow_module* module;
  stow_kernels* kernels;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
  counted relu = {stow_kernels_get(NULL, STOW_OP_RELU), 0};
  stow_diag_init(&diag);
  require(stow_module_parse(text, sizeof(text) - 1, "g.stow", NULL, heap, &diag, &module));
  require(stow_kernels_create(heap, &diag, &kernels));
  set_kernels(kernels, &relu);

  stow_prepare_options prepare;
  stow_prepare_options_init(&prepare);
  prepare.kernels = kernels;
  prepare.threads = 2;
  const stow_graph* graph = stow_module_graph(module, 0);
  require(stow_prepare(graph, &prepare, heap, &diag, &prepared));
  // The planner assumes that custom ops cannot work in place; this kernel can.
  stow_effects* effects = stow_prepared_effects(prepared);
  require(stow_effects_allow_in_place(effects, 2, 0, 0, &diag));

  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  require(stow_plan_make(graph, effects, &options, heap, &diag, &plan));
  require(stow_exec_create(prepared, plan, NULL, heap, &diag, &exec));
  run(exec);
  printf("relu ran %d time in an arena of %llu bytes\n", relu.calls,
         (unsigned long long)stow_plan_arena_size(plan));

  stow_exec_destroy(exec);
  stow_plan_destroy(plan);
  stow_prepared_destroy(prepared);
  stow_kernels_destroy(kernels);
  stow_module_destroy(module);
  return 0;
}
