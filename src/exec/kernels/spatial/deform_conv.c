// deform_conv: a convolution whose taps read between elements, where offsets move them. For each
// position the samples of all channels and taps are taken once, then every channel of the result is
// their sum by its weights. Sums are in double. Cost: as a convolution without blocking, and for
// each sample the corners around it. Scratch: the samples of a position for each worker.
#include <math.h>

#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* w;
  const stow_tensor* offsets;
  const stow_tensor* bias;  // NULL: none
  const stow_tensor* mask;  // NULL: ones
  stow_tensor* y;
  stowi_kernel_slide slide;
  size_t offset_group;
  size_t in_channels, out_channels;  // of a group
} job;

static stow_status read_job(const stow_kernel_call* call, job* j) {
  *j = (job){.call = call,
             .x = stow_kernel_operand(call, 0),
             .w = stow_kernel_operand(call, 1),
             .offsets = stow_kernel_operand(call, 2),
             .bias = stow_kernel_operand(call, 3),
             .mask = stow_kernel_operand(call, 4),
             .y = stow_kernel_result(call, 0),
             .offset_group = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_OFFSET_GROUP, 1)};
  j->in_channels = (size_t)j->w->dims[1];
  j->out_channels =
      (size_t)j->w->dims[0] / (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUP, 1);
  return stowi_kernel_slide_read(call, j->x, j->y, j->w->dims + 2, &j->slide);
}

// Where tap |tap| reads for position |position|: how far from element 0, along each dim.
static void find_place(const job* j, size_t image, size_t group, size_t position, size_t tap,
                       double* place) {
  const stowi_kernel_slide* s = &j->slide;
  size_t rest = position;
  size_t element = tap;
  for (uint32_t i = s->rank; i-- > 0;) {
    int64_t at = (int64_t)(rest % (size_t)s->out[i]) * s->strides[i] - s->begins[i] +
                 (int64_t)(element % (size_t)s->kernel[i]) * s->dilations[i];
    rest /= (size_t)s->out[i];
    element /= (size_t)s->kernel[i];
    size_t channel = ((image * j->offset_group + group) * s->taps + tap) * s->rank + i;
    place[i] = (double)at + stowi_kernel_float_at(j->offsets, channel * s->out_count + position);
  }
}

// The channel that begins at |first| of x, between elements; 0 outside.
static double sample(const job* j, size_t first, const double* place) {
  const stowi_kernel_slide* s = &j->slide;
  double sum = 0;
  for (size_t corner = 0; corner < (size_t)1 << s->rank; ++corner) {
    double weight = 1;
    size_t at = 0;
    for (uint32_t i = 0; i < s->rank && weight != 0; ++i) {
      double below = floor(place[i]);
      bool is_upper = (corner >> i & 1) != 0;
      double index = is_upper ? below + 1 : below;
      bool is_inside = index >= 0 && index < (double)s->in[i];
      weight *= !is_inside ? 0 : is_upper ? place[i] - below : 1 - (place[i] - below);
      at = at * (size_t)s->in[i] + (is_inside ? (size_t)index : 0);
    }
    if (weight != 0) {
      sum += weight * stowi_kernel_float_at(j->x, first + at);
    }
  }
  return sum;
}

static void take_samples(const job* j, size_t image, size_t position, double* samples) {
  const stowi_kernel_slide* s = &j->slide;
  size_t channels = (size_t)s->channels;
  size_t each = channels / j->offset_group;
  for (size_t group = 0; group < j->offset_group; ++group) {
    for (size_t tap = 0; tap < s->taps && each != 0; ++tap) {
      double place[STOWI_KERNEL_SPATIAL];
      find_place(j, image, group, position, tap, place);
      size_t channel = (image * j->offset_group + group) * s->taps + tap;
      double mask =
          j->mask == NULL ? 1 : stowi_kernel_float_at(j->mask, channel * s->out_count + position);
      for (size_t c = group * each; c < (group + 1) * each; ++c) {
        samples[c * s->taps + tap] = mask * sample(j, (image * channels + c) * s->in_count, place);
      }
    }
  }
}

static void convolve_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  const stowi_kernel_slide* s = &j->slide;
  size_t channels = (size_t)j->w->dims[0];
  size_t depth = j->in_channels * s->taps;
  double* samples = (double*)j->call->scratch + worker * (size_t)s->channels * s->taps;
  for (size_t i = begin; i < end; ++i) {
    size_t image = i / s->out_count;
    size_t position = i % s->out_count;
    take_samples(j, image, position, samples);
    for (size_t m = 0; m < channels; ++m) {
      const double* from = samples + m / j->out_channels * depth;
      double sum = j->bias == NULL ? 0 : stowi_kernel_float_at(j->bias, m);
      for (size_t k = 0; k < depth; ++k) {
        sum += from[k] * stowi_kernel_float_at(j->w, m * depth + k);
      }
      size_t to = (image * channels + m) * s->out_count + position;
      stowi_kernel_store_f64(j->y->dtype, j->y->data, to, 1, &sum);
    }
  }
}

static stow_status scratch_deform_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  job j;
  stow_status status = read_job(call, &j);
  *out_bytes = (uint64_t)j.slide.channels * j.slide.taps * sizeof(double) * call->workers;
  return status;
}

static stow_status run_deform_conv(stow_kernel_call* call) {
  job j;
  STOWI_KERNEL_TRY(read_job(call, &j));
  if (stowi_kernel_kind(j.x->dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(j.x->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  }
  if (stow_tensor_elements(j.y) != 0) {
    stow_kernel_split(call, (size_t)j.slide.batch * j.slide.out_count, 1, convolve_task, &j);
  }
  return STOW_OK;
}

STOWI_KERNEL(DEFORM_CONV, scratch_deform_conv, run_deform_conv);
