#include "exec/plain_conv.h"

#include <stdlib.h>

#include "exec/kernels/support/convert.h"

static int64_t list_at(kernel_case* c, const char* name, size_t i, int64_t fallback) {
  const stow_attr* attr = stow_graph_attr(kernel_case_graph(c), kernel_case_node(c), name);
  return attr != NULL && i < attr->count ? attr->ints[i] : fallback;
}

static const stow_type* operand_type(kernel_case* c, size_t k) {
  const stow_graph* graph = kernel_case_graph(c);
  return stow_graph_type(graph, stow_graph_operands(graph, kernel_case_node(c))[k]);
}

plain_conv plain_conv_of(kernel_case* c, size_t x, size_t w) {
  const stow_graph* graph = kernel_case_graph(c);
  const stow_type* in = operand_type(c, x);
  const stow_type* weights = operand_type(c, w);
  const stow_type* out =
      stow_graph_type(graph, stow_graph_first_result(graph, kernel_case_node(c)));
  const stow_attr* group = stow_graph_attr(graph, kernel_case_node(c), "group");
  plain_conv p = {.rank = in->rank - 2,
                  .batch = in->dims[0],
                  .channels = in->dims[1],
                  .group = group == NULL ? 1 : group->i,
                  .out_channels = out->dims[1]};
  for (uint32_t i = 0; i < p.rank; ++i) {
    p.in[i] = in->dims[2 + i];
    p.out[i] = out->dims[2 + i];
    p.kernel[i] = weights->dims[2 + i];
    p.strides[i] = list_at(c, "strides", i, 1);
    p.dilations[i] = list_at(c, "dilations", i, 1);
    p.begins[i] = list_at(c, "pads", i, 0);
  }
  return p;
}

static int64_t product(const int64_t* dims, uint32_t rank) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    count *= dims[i];
  }
  return count;
}

size_t plain_conv_outputs(const plain_conv* p) {
  return (size_t)(p->batch * p->out_channels * product(p->out, p->rank));
}

// Which element of x meets tap |tap| at position |position| of the result; -1 where none does.
static int64_t source(const plain_conv* p, int64_t position, int64_t tap, bool is_transposed) {
  int64_t offset = 0;
  int64_t stride = 1;
  for (uint32_t i = p->rank; i-- > 0;) {
    int64_t o = position % p->out[i];
    int64_t k = tap % p->kernel[i] * p->dilations[i];
    int64_t at = is_transposed ? o + p->begins[i] - k : o * p->strides[i] + k - p->begins[i];
    if (is_transposed && (at < 0 || at % p->strides[i] != 0)) {
      return -1;
    }
    at = is_transposed ? at / p->strides[i] : at;
    if (at < 0 || at >= p->in[i]) {
      return -1;
    }
    offset += at * stride;
    stride *= p->in[i];
    position /= p->out[i];
    tap /= p->kernel[i];
  }
  return offset;
}

static double convolve(const plain_conv* p, const double* x, const double* w, size_t i,
                       bool is_transposed) {
  int64_t positions = product(p->out, p->rank);
  int64_t taps = product(p->kernel, p->rank);
  int64_t position = (int64_t)i % positions;
  int64_t m = (int64_t)i / positions % p->out_channels;
  int64_t image = (int64_t)i / positions / p->out_channels;
  int64_t each = p->channels / p->group;
  int64_t out_each = p->out_channels / p->group;
  double sum = 0;
  for (int64_t c = 0; c < each; ++c) {
    int64_t channel = m / out_each * each + c;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t at = source(p, position, tap, is_transposed);
      int64_t weight = is_transposed ? channel * out_each + m % out_each : m * each + c;
      if (at >= 0) {
        sum += x[(image * p->channels + channel) * product(p->in, p->rank) + at] *
               w[weight * taps + tap];
      }
    }
  }
  return sum;
}

double plain_conv_at(const plain_conv* p, const double* x, const double* w, size_t i) {
  return convolve(p, x, w, i, false);
}

double plain_conv_transpose_at(const plain_conv* p, const double* x, const double* w, size_t i) {
  return convolve(p, x, w, i, true);
}

double* plain_numbers(kernel_case* c, size_t k) {
  const stow_type* type = operand_type(c, k);
  uint64_t count = 0;
  if (stow_type_elements(type, &count) != STOW_OK) {
    return NULL;
  }
  double* numbers = malloc((size_t)(count + 1) * sizeof(double));
  if (numbers != NULL) {
    stowi_kernel_load_f64(type->dtype, kernel_case_operand(c, k), 0, (size_t)count, numbers);
  }
  return numbers;
}
