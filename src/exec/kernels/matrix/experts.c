// Outputs are computed 64 at a time. Weights that are not f32 become so in scratch, for these
// outputs only.
#include "exec/kernels/matrix/experts.h"

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/size.h"

enum { OUTPUTS = 64 };

typedef struct layer_run {
  const stowi_expert_layer* layer;
  stowi_nbits nbits;
  size_t expert;
  size_t rows;
  const float* x;
  float* out;
  char* scratch;
  uint64_t scratch_size;  // of a worker
} layer_run;

static uint64_t bytes_of_weights(size_t inputs, size_t outputs) {
  return stowi_align64((uint64_t)inputs * stowi_smaller(outputs, OUTPUTS) * sizeof(float));
}

uint64_t stowi_expert_scratch(size_t rows, size_t inputs, size_t outputs, uint32_t workers) {
  uint64_t gemm = stowi_gemm_scratch(rows, stowi_smaller(outputs, OUTPUTS), inputs, 1);
  return (bytes_of_weights(inputs, outputs) + gemm) * workers;
}

static const float* load_weights(const layer_run* r, size_t first, size_t count, float* to) {
  const stowi_expert_layer* layer = r->layer;
  size_t at = (r->expert * layer->outputs + first) * layer->inputs;
  if (layer->weights->dtype == STOW_F32) {
    return (const float*)layer->weights->data + at;
  }
  for (size_t j = 0; j < count; ++j) {
    float* row = to + j * layer->inputs;
    if (layer->is_packed) {
      stowi_nbits_load(&r->nbits, first + j, 0, layer->inputs, row);
    } else {
      stowi_load_f32(layer->weights->dtype, layer->weights->data, at + j * layer->inputs,
                     layer->inputs, row);
    }
  }
  return to;
}

static void begin_rows(const layer_run* r, size_t first, size_t count) {
  const stow_tensor* bias = r->layer->bias;
  size_t outputs = r->layer->outputs;
  for (size_t i = 0; i < r->rows; ++i) {
    float* row = r->out + i * outputs + first;
    for (size_t j = 0; j < count; ++j) {
      row[j] = 0;
    }
    if (bias != NULL) {
      stowi_load_f32(bias->dtype, bias->data, r->expert * outputs + first, count, row);
    }
  }
}

static void run_outputs(void* user, size_t begin, size_t end, uint32_t worker) {
  const layer_run* r = user;
  const stowi_expert_layer* layer = r->layer;
  char* scratch = r->scratch + worker * r->scratch_size;
  for (size_t i = begin; i < end; ++i) {
    size_t first = i * OUTPUTS;
    size_t count = stowi_smaller(layer->outputs - first, OUTPUTS);
    begin_rows(r, first, count);
    stowi_gemm g = {.m = r->rows, .n = count, .k = layer->inputs, .alpha = 1, .accumulate = true};
    g.a = (stowi_matrix){r->x, layer->inputs, 1};
    g.b = (stowi_matrix){load_weights(r, first, count, (float*)scratch), 1, layer->inputs};
    g.c = r->out + first;
    g.c_row = layer->outputs;
    stowi_gemm_alone(&g, scratch + bytes_of_weights(layer->inputs, layer->outputs));
  }
}

void stowi_expert_run(const stow_kernel_call* call, const stowi_expert_layer* layer, size_t expert,
                      size_t rows, const float* x, float* out, void* scratch) {
  layer_run r = {layer, layer->nbits, expert, rows, x, out, scratch, 0};
  r.scratch_size = stowi_expert_scratch(rows, layer->inputs, layer->outputs, 1);
  if (layer->is_packed) {
    size_t blocks = expert * layer->outputs * r.nbits.blocks;
    r.nbits.packed += blocks * r.nbits.blob;
    r.nbits.first_scale = blocks;
    r.nbits.first_zero = expert * stowi_nbits_zero_bytes(&r.nbits, layer->outputs);
  }
  stow_kernel_split(call, (layer->outputs + OUTPUTS - 1) / OUTPUTS, 1, run_outputs, &r);
}
