#include "exec/exec_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Kernels

static double element(const stow_tensor* tensor, size_t i) {
  i = stow_tensor_elements(tensor) == 1 ? 0 : i;
  switch (tensor->dtype) {
    case STOW_F32: return ((const float*)tensor->data)[i];
    case STOW_I64: return (double)((const int64_t*)tensor->data)[i];
    default: return ((const unsigned char*)tensor->data)[i];
  }
}

static void store(stow_tensor* tensor, size_t i, double number) {
  switch (tensor->dtype) {
    case STOW_F32: ((float*)tensor->data)[i] = (float)number; return;
    case STOW_I64: ((int64_t*)tensor->data)[i] = (int64_t)number; return;
    default: ((unsigned char*)tensor->data)[i] = (unsigned char)number;
  }
}

static void run_range(void* user, size_t begin, size_t end, uint32_t worker) {
  stow_kernel_call* call = (stow_kernel_call*)user;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    double a = element(call->operands[0], i);
    double b = call->operand_count > 1 ? element(call->operands[1], i) : 0;
    switch (call->op) {
      case STOW_OP_ADD: store(call->results[0], i, a + b); break;
      case STOW_OP_MUL: store(call->results[0], i, a * b); break;
      case STOW_OP_NEG: store(call->results[0], i, -a); break;
      case STOW_OP_RELU: store(call->results[0], i, a > 0 ? a : 0); break;
      default: store(call->results[0], i, a < b ? 1 : 0);
    }
  }
}

static stow_status run_elements(stow_kernel_call* call) {
  stow_kernel_split(call, stow_tensor_elements(call->results[0]), 1, run_range, call);
  return STOW_OK;
}

// Of one dim.
static stow_status run_nonzero(stow_kernel_call* call) {
  int64_t count = 0;
  for (size_t i = 0; i < stow_tensor_elements(call->operands[0]); ++i) {
    if (element(call->operands[0], i) != 0) {
      ((int64_t*)call->results[0]->data)[count++] = (int64_t)i;
    }
  }
  call->results[0]->dims[1] = count;
  return STOW_OK;
}

static void set_kernels(exec_case* c) {
  static const stow_op ops[] = {STOW_OP_ADD, STOW_OP_MUL, STOW_OP_NEG, STOW_OP_RELU, STOW_OP_LT};
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = run_elements, .in_place = true};
  for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
    CHECK(stow_kernels_set(c->kernels, ops[i], &kernel, &c->diag) == STOW_OK);
  }
  kernel.run = run_nonzero;
  CHECK(stow_kernels_set(c->kernels, STOW_OP_NONZERO, &kernel, &c->diag) == STOW_OK);
}

// ---------------------------------------------------------------------------------------------
// Cases

void exec_case_begin(exec_case* c, const char* text) {
  static char whole[16384];
  memset(c, 0, sizeof(*c));
  c->allocator = stow_allocator_default();
  stow_diag_init(&c->diag);
  int size = snprintf(whole, sizeof(whole), "graph @g {\n%s\n}\n", text);
  if (stow_module_parse(whole, (size_t)size, NULL, NULL, test_frozen_allocator(&c->frozen),
                        &c->diag, &c->module) != STOW_OK) {
    fprintf(stderr, "%s\n%s\n", c->diag.message, whole);
    abort();
  }
  c->graph = stow_module_graph(c->module, 0);
  if (stow_kernels_create(c->allocator, &c->diag, &c->kernels) != STOW_OK) {
    abort();
  }
  set_kernels(c);
  stow_prepare_options_init(&c->prepare_options);
  c->prepare_options.kernels = c->kernels;
  stow_plan_options_init(&c->plan_options, STOW_PRESET_DEFAULT);
  stow_exec_options_init(&c->options);
}

static void unmake(exec_case* c) {
  stow_exec_destroy(c->exec);
  stow_plan_destroy(c->plan);
  stow_prepared_destroy(c->prepared);
  c->exec = NULL;
  c->plan = NULL;
  c->prepared = NULL;
}

stow_status exec_case_make(exec_case* c) {
  unmake(c);
  test_freeze(&c->frozen, false);
  stow_status status =
      stow_prepare(c->graph, &c->prepare_options, c->allocator, &c->diag, &c->prepared);
  if (status == STOW_OK) {
    status = stow_plan_make(c->graph, stow_prepared_effects(c->prepared), &c->plan_options,
                            c->allocator, &c->diag, &c->plan);
  }
  if (status == STOW_OK) {
    status = stow_exec_create(c->prepared, c->plan, &c->options, c->allocator, &c->diag, &c->exec);
  }
  if (status == STOW_OK) {
    exec_case_bind_outputs(c);
    test_freeze(&c->frozen, true);
  }
  return status;
}

// Memory until the case ends.
struct exec_kept {
  struct exec_kept* next;
};

static void* keep(exec_case* c, size_t size) {
  size_t rounded = (size + 63) / 64 * 64;
  struct exec_kept* block = (struct exec_kept*)aligned_alloc(64, rounded + 64);
  if (block == NULL) {
    abort();
  }
  block->next = c->kept;
  c->kept = block;
  return (unsigned char*)block + 64;
}

static void free_kept(exec_case* c) {
  while (c->kept != NULL) {
    struct exec_kept* block = c->kept;
    c->kept = block->next;
    free(block);
  }
}

void exec_case_end(exec_case* c) {
  unmake(c);
  stow_kernels_destroy(c->kernels);
  test_freeze(&c->frozen, false);
  stow_module_destroy(c->module);
  test_frozen_free(&c->frozen);
  free_kept(c);
}

void exec_case_way(exec_case* c, int way) {
  c->plan_options.reuse = way != 1;
  c->plan_options.in_place = way != 1;
  c->plan_options.tail_guard = way == EXEC_WAY_PARANOID ? 64 : 0;
  c->options.paranoid = way == EXEC_WAY_PARANOID;
  c->options.poison = way == 3;
  c->prepare_options.threads = way == 4 ? 2 : 1;
  c->plan_options.params = way != EXEC_WAY_WEIGHTS;
  c->plan_options.constants = way != EXEC_WAY_WEIGHTS;
  c->plan_options.io = way == EXEC_WAY_EXTERNAL ? STOW_IO_EXTERNAL : STOW_IO_KEEP;
}

// ---------------------------------------------------------------------------------------------
// Values

stow_value exec_case_value(const exec_case* c, const char* name) {
  return stow_graph_find(c->graph, stow_str_of(name));
}

static bool has_slot(const exec_case* c, stow_value value) {
  stow_slot slot;
  return stow_plan_value_slot(c->plan, value, &slot);
}

static size_t bytes_of(const exec_case* c, stow_value value) {
  uint64_t bytes = 0;
  stow_type_bytes(stow_graph_type(c->graph, value), &bytes);
  return (size_t)bytes;
}

stow_status exec_case_set_dims(exec_case* c, const char* name, const void* data,
                               const int64_t* dims) {
  stow_value value = exec_case_value(c, name);
  const stow_type* type = stow_graph_type(c->graph, value);
  stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, dims, type->rank * sizeof(*dims));
  memcpy(&tensor.data, &data, sizeof(data));
  if (!has_slot(c, value)) {
    size_t size = bytes_of(c, value);
    stow_status status = stow_exec_bind(c->exec, value, keep(c, size), size, &c->diag);
    if (status != STOW_OK) {
      return status;
    }
  }
  return stow_exec_input(c->exec, value, &tensor, &c->diag);
}

stow_status exec_case_set(exec_case* c, const char* name, const void* data, size_t size) {
  stow_value value = exec_case_value(c, name);
  CHECK_U64(size, bytes_of(c, value));
  return exec_case_set_dims(c, name, data, stow_graph_type(c->graph, value)->dims);
}

void exec_case_bind_outputs(exec_case* c) {
  for (size_t k = 0; k < stow_graph_output_count(c->graph); ++k) {
    stow_value value = stow_graph_outputs(c->graph)[k];
    if (!has_slot(c, value) && !stow_graph_is_boundary(c->graph, value)) {
      size_t size = bytes_of(c, value);
      CHECK(stow_exec_bind(c->exec, value, keep(c, size), size, &c->diag) == STOW_OK);
    }
  }
}

void exec_case_gives(exec_case* c, size_t k, const void* expected, size_t size, const char* file,
                     int line) {
  stow_tensor tensor;
  stow_status status = stow_exec_value(c->exec, stow_graph_outputs(c->graph)[k], &c->diag, &tensor);
  if (!test_check(status == STOW_OK, file, line, "%s", c->diag.message) ||
      !test_check(stow_tensor_bytes(&tensor) == size, file, line,
                  "output %zu has %zu bytes, not %zu", k, stow_tensor_bytes(&tensor), size)) {
    return;
  }
  test_check(size == 0 || memcmp(tensor.data, expected, size) == 0, file, line,
             "output %zu has other elements", k);
}
