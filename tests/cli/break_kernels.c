// Puts a wrong kernel of relu in the place of the right one, before anything is prepared: one that
// tells whether it runs in place, or one that writes beside its result. So the command's proofs can
// be seen to find what they are for. INTERRUPT_AT=N sends a signal from its call N.
#include <signal.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <string.h>

static void interrupt(void) {
  static long calls;
  const char* at = getenv("INTERRUPT_AT");
  ++calls;
  if (at != NULL && strtol(at, NULL, 10) == calls) {
    (void)raise(SIGINT);
  }
}

static stow_status run_relu(stow_kernel_call* call) {
  interrupt();
  const float* from = call->operands[0]->data;
  float* to = call->results[0]->data;
  size_t count = stow_tensor_elements(call->results[0]);
  float more = from == to ? 1.0F : 0.0F;
  for (size_t i = 0; i < count; ++i) {
    to[i] = (from[i] > 0.0F ? from[i] : 0.0F) + more;
  }
  return STOW_OK;
}

// The byte before a tensor is another's, where the tensor is not the arena's first.
static stow_status run_beside(stow_kernel_call* call) {
  unsigned char* to = call->results[0]->data;
  memset(to, 0, stow_tensor_bytes(call->results[0]));
  to[-1] = (unsigned char)(to[-1] ^ 0x55);
  return STOW_OK;
}

stow_status __real_stow_prepare(const stow_graph* graph, const stow_prepare_options* options,
                                stow_allocator allocator, stow_diag* diag,
                                stow_prepared** out_prepared);
stow_status __wrap_stow_prepare(const stow_graph* graph, const stow_prepare_options* options,
                                stow_allocator allocator, stow_diag* diag,
                                stow_prepared** out_prepared);

// Kept as long as the program runs: what is prepared borrows it.
static stow_kernels* kernels;

static void destroy_kernels(void) { stow_kernels_destroy(kernels); }

stow_status __wrap_stow_prepare(const stow_graph* graph, const stow_prepare_options* options,
                                stow_allocator allocator, stow_diag* diag,
                                stow_prepared** out_prepared) {
  const char* beside = getenv("WRITE_BESIDE");
  stow_kernel relu = {
      .struct_size = sizeof relu, .run = beside != NULL ? run_beside : run_relu, .in_place = true};
  stow_status status = STOW_OK;
  if (kernels == NULL) {
    status = stow_kernels_create(allocator, diag, &kernels);
    atexit(destroy_kernels);
  }
  if (status == STOW_OK) {
    status = stow_kernels_set(kernels, STOW_OP_RELU, &relu, diag);
  }
  stow_prepare_options changed = *options;
  changed.kernels = kernels;
  return status == STOW_OK ? __real_stow_prepare(graph, &changed, allocator, diag, out_prepared)
                           : status;
}
