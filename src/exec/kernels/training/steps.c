// Steps of training: adagrad, adam and momentum. A tensor, its gradient and its states are changed
// element by element in doubles, in one pass. Of a block everything is read before any result is
// written, in ascending order, so that results may be in place of what belongs to the same tensor.
#include <math.h>

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum { RATE, STEP, FIRST_TENSOR, MOST_STATES = 2 };

// One element: what it was, and becomes.
typedef struct element {
  double x;
  double gradient;
  double states[MOST_STATES];
} element;

// What is the same for all elements; fields that an op does not use are 0.
typedef struct formula {
  double rate;
  double alpha;
  double beta;
  double epsilon;
  double norm;       // of x, added to the gradient
  double norm_post;  // of x, taken off the result
  bool is_nesterov;
  void (*update)(const struct formula* f, element* e);
} formula;

typedef struct job {
  const stow_kernel_call* call;
  formula formula;
  size_t tensors;
  size_t states;  // of each tensor
  size_t tensor;  // the one in question
} job;

// ---------------------------------------------------------------------------------------------
// Formulas

static void update_adagrad(const formula* f, element* e) {
  double gradient = f->norm * e->x + e->gradient;
  e->states[0] += gradient * gradient;
  e->x -= f->rate * gradient / (sqrt(e->states[0]) + f->epsilon);
}

static void update_adam(const formula* f, element* e) {
  double gradient = f->norm * e->x + e->gradient;
  e->states[0] = f->alpha * e->states[0] + (1 - f->alpha) * gradient;
  e->states[1] = f->beta * e->states[1] + (1 - f->beta) * gradient * gradient;
  e->x -= f->rate * e->states[0] / (sqrt(e->states[1]) + f->epsilon);
  e->x *= 1 - f->norm_post;
}

static void update_momentum(const formula* f, element* e) {
  double gradient = f->norm * e->x + e->gradient;
  e->states[0] = f->alpha * e->states[0] + f->beta * gradient;
  e->x -= f->rate * (f->is_nesterov ? gradient + f->alpha * e->states[0] : e->states[0]);
}

// ---------------------------------------------------------------------------------------------
// Walk

// The operand or result of group |group| that belongs to the tensor in question.
static const stow_tensor* operand_of(const job* j, size_t group) {
  return j->call->operands[FIRST_TENSOR + group * j->tensors + j->tensor];
}

static const stow_tensor* result_of(const job* j, size_t group) {
  return j->call->results[group * j->tensors + j->tensor];
}

static void update_block(const job* j, size_t first, size_t count) {
  double rooms[2 + MOST_STATES][STOWI_KERNEL_BLOCK];
  for (size_t g = 0; g < 2 + j->states; ++g) {
    const stow_tensor* operand = operand_of(j, g);
    stowi_kernel_load_f64(operand->dtype, operand->data, first, count, rooms[g]);
  }
  for (size_t i = 0; i < count; ++i) {
    element e = {rooms[0][i], rooms[1][i], {0}};
    for (size_t s = 0; s < j->states; ++s) {
      e.states[s] = rooms[2 + s][i];
    }
    j->formula.update(&j->formula, &e);
    rooms[0][i] = e.x;
    for (size_t s = 0; s < j->states; ++s) {
      rooms[2 + s][i] = e.states[s];
    }
  }
  for (size_t g = 0; g < 1 + j->states; ++g) {
    const stow_tensor* result = result_of(j, g);
    stowi_kernel_store_f64(result->dtype, result->data, first, count, rooms[g == 0 ? 0 : 1 + g]);
  }
}

static void update_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    update_block(j, i, end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK);
  }
}

static stow_status run(stow_kernel_call* call, formula f, size_t states) {
  job j = {.call = call, .formula = f, .states = states};
  j.tensors = (call->operand_count - FIRST_TENSOR) / (2 + states);
  stow_status rate = stowi_kernel_need_real(call, call->operands[0], "the rate");
  if (rate != STOW_OK) {
    return rate;
  }
  for (size_t k = FIRST_TENSOR; k < call->operand_count; ++k) {
    stow_status status =
        stowi_kernel_need_real(call, call->operands[k], "a tensor, gradient or state");
    if (status != STOW_OK) {
      return status;
    }
  }
  bool is_divisible = stowi_kernel_is_divisible(call);
  for (j.tensor = 0; j.tensor < j.tensors; ++j.tensor) {
    size_t count = stow_tensor_elements(operand_of(&j, 0));
    if (is_divisible) {
      stow_kernel_split(call, count, STOWI_KERNEL_GRAIN / 4, update_task, &j);
    } else {
      update_task(&j, 0, count, 0);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Kernels

static formula formula_of(const stow_kernel_call* call) {
  return (formula){
      .rate = stowi_kernel_float_at(call->operands[RATE], 0),
      .alpha = stowi_kernel_float(call, STOWI_KERNEL_ATTR_ALPHA, 0.9),
      .beta = stowi_kernel_float(call, STOWI_KERNEL_ATTR_BETA, 0.999),
      .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-6),
      .norm = stowi_kernel_float(call, STOWI_KERNEL_ATTR_NORM_COEFFICIENT, 0),
      .norm_post = stowi_kernel_float(call, STOWI_KERNEL_ATTR_NORM_COEFFICIENT_POST, 0)};
}

static stow_status run_adagrad(stow_kernel_call* call) {
  formula f = formula_of(call);
  double step = stowi_kernel_float_at(call->operands[STEP], 0);
  f.rate /= 1 + step * stowi_kernel_float(call, STOWI_KERNEL_ATTR_DECAY_FACTOR, 0);
  f.update = update_adagrad;
  return run(call, f, 1);
}

static stow_status run_adam(stow_kernel_call* call) {
  formula f = formula_of(call);
  double step = stowi_kernel_float_at(call->operands[STEP], 0);
  if (step > 0) {
    f.rate *= sqrt(1 - pow(f.beta, step)) / (1 - pow(f.alpha, step));
  }
  f.update = update_adam;
  return run(call, f, 2);
}

static stow_status run_momentum(stow_kernel_call* call) {
  formula f = formula_of(call);
  if (!(stowi_kernel_float_at(call->operands[STEP], 0) > 0)) {
    f.beta = 1;
  }
  f.is_nesterov = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "nesterov");
  f.update = update_momentum;
  return run(call, f, 1);
}

STOWI_KERNEL(ADAGRAD, NULL, run_adagrad);
STOWI_KERNEL(ADAM, NULL, run_adam);
STOWI_KERNEL(MOMENTUM, NULL, run_momentum);
