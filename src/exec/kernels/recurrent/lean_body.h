// The steps of a recurrent layer in little room, for one type of numbers: one sequence after the
// other, by one worker, with a row of gates and one of each state. Weights are read where they are,
// some columns and steps at a time. Included by steps_body.h; a file that includes that defines
// later
//
//     multiply_tiles   a row times columns of weights, in the order of sums of |multiply|
//     tiles_scratch    bytes for that

// Sums of columns [first, first + count) of the weights that operand |k| has, for one row: |a|, or
// the row of x that begins at element |x_first|. They are given to |take|, SUMS_AT_ONCE at most at
// a time, counted from |first|.
typedef struct row_product {
  const stowi_kernel_layer* l;
  const numbers* n;
  size_t k, inner;
  size_t first, count;
  const REAL* a;  // NULL: x
  size_t x_first;
  void (*take)(const struct row_product* p, size_t column, size_t count, const REAL* sums);
} row_product;

static void multiply_tiles(const row_product* p, void* scratch);
static uint64_t tiles_scratch(const stowi_kernel_layer* l, size_t k, size_t inner);

static void load_row_steps(const row_product* p, size_t step, size_t steps, REAL* out) {
  if (p->a != NULL) {
    memcpy(out, p->a + step, steps * sizeof(REAL));
  } else {
    load(p->l, STOWI_KERNEL_LAYER_X, p->x_first + step, steps, out);
  }
}

// out[i * row + j] is the weight of step |step| + i in column |column| + j.
static void load_weight_steps(const row_product* p, size_t step, size_t steps, size_t column,
                              size_t columns, REAL* out, size_t row) {
  const stowi_kernel_layer* l = p->l;
  const stow_tensor* t = stow_kernel_operand(l->call, p->k);
  size_t stacked = l->gates * l->hidden;
  size_t first = l->direction * stacked * p->inner;
  for (size_t i = 0; l->is_quantized && i < steps; ++i) {
    LOAD(t->dtype, t->data, first + (step + i) * stacked + column, columns, out + i * row);
  }
  if (l->is_quantized) {
    bool is_w = p->k == STOWI_KERNEL_LAYER_W;
    size_t scale = is_w ? STOWI_KERNEL_LAYER_W_SCALE : STOWI_KERNEL_LAYER_R_SCALE;
    dequantize(l, scale, steps, column, columns, out, row);
    return;
  }
  for (size_t j = 0; j < columns; ++j) {
    REAL few[STEPS_AT_ONCE];
    LOAD(t->dtype, t->data, first + (column + j) * p->inner + step, steps, few);
    for (size_t i = 0; i < steps; ++i) {
      out[i * row + j] = few[i];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// What becomes of sums

static void take_gates(const row_product* p, size_t column, size_t count, const REAL* sums) {
  memcpy(p->n->gates + p->first + column, sums, count * sizeof(REAL));
}

// Biases of columns [column, column + count): of w, or of r.
static void load_biases(const stowi_kernel_layer* l, size_t which, size_t column, size_t count,
                        REAL* out) {
  size_t stacked = l->gates * l->hidden;
  load(l, STOWI_KERNEL_LAYER_BIAS, (l->direction * 2 + which) * stacked + column, count, out);
}

static void take_inputs(const row_product* p, size_t column, size_t count, const REAL* sums) {
  REAL w_bias[SUMS_AT_ONCE];
  REAL r_bias[SUMS_AT_ONCE];
  REAL* gates = p->n->gates + p->first + column;
  load_biases(p->l, 0, p->first + column, count, w_bias);
  load_biases(p->l, 1, p->first + column, count, r_bias);
  for (size_t j = 0; j < count; ++j) {
    gates[j] += sums[j] + (w_bias[j] + r_bias[j]);
  }
}

// Of gru's third gate.
static void take_fresh(const row_product* p, size_t column, size_t count, const REAL* sums) {
  REAL w_bias[SUMS_AT_ONCE];
  REAL r_bias[SUMS_AT_ONCE];
  const REAL* reset = p->n->gates + p->l->hidden + column;
  REAL* gates = p->n->gates + p->first + column;
  load_biases(p->l, 0, p->first + column, count, w_bias);
  load_biases(p->l, 1, p->first + column, count, r_bias);
  for (size_t j = 0; j < count; ++j) {
    REAL recurrent = gates[j] + r_bias[j];
    gates[j] = sums[j] + w_bias[j] + (p->l->linear_before_reset ? reset[j] : 1) * recurrent;
  }
}

// ---------------------------------------------------------------------------------------------
// Sequences

static numbers take_row_numbers(const stowi_kernel_layer* l, stowi_kernel_carve* carve) {
  bool is_lstm = l->cell == STOWI_KERNEL_CELL_LSTM;
  uint64_t stacked = stowi_kernel_times(l->gates, l->hidden);
  uint64_t more = tiles_scratch(l, STOWI_KERNEL_LAYER_W, l->input);
  uint64_t step = tiles_scratch(l, STOWI_KERNEL_LAYER_R, l->hidden);
  numbers n = {0};
  n.gates = stowi_kernel_carve_take(carve, stacked, sizeof(REAL));
  n.reset = stowi_kernel_carve_take(carve, l->cell == STOWI_KERNEL_CELL_GRU ? l->hidden : 0,
                                    sizeof(REAL));
  n.h = stowi_kernel_carve_take(carve, l->hidden, sizeof(REAL));
  n.c = stowi_kernel_carve_take(carve, is_lstm ? l->hidden : 0, sizeof(REAL));
  n.scratch = stowi_kernel_carve_take(carve, more > step ? more : step, 1);
  return n;
}

// Of gru: the third gate, as step_reset has it.
static void reset_row(const stowi_kernel_layer* l, const numbers* n, row_product inputs) {
  activate(l, 0, n->gates);
  activate(l, 0, n->gates + l->hidden);
  for (size_t i = 0; i < l->hidden; ++i) {
    n->reset[i] = n->gates[l->hidden + i] * n->h[i];
  }
  if (!l->linear_before_reset) {
    row_product recurrent = {.l = l,
                             .n = n,
                             .k = STOWI_KERNEL_LAYER_R,
                             .inner = l->hidden,
                             .first = 2 * l->hidden,
                             .count = l->hidden,
                             .a = n->reset,
                             .take = take_gates};
    multiply_tiles(&recurrent, n->scratch);
  }
  inputs.first = 2 * l->hidden;
  inputs.count = l->hidden;
  inputs.take = take_fresh;
  multiply_tiles(&inputs, n->scratch);
}

static void step_row(const stowi_kernel_layer* l, const numbers* n, size_t x_row) {
  size_t stacked = l->gates * l->hidden;
  bool is_gru = l->cell == STOWI_KERNEL_CELL_GRU;
  row_product recurrent = {.l = l,
                           .n = n,
                           .k = STOWI_KERNEL_LAYER_R,
                           .inner = l->hidden,
                           .count = stacked,
                           .a = n->h,
                           .take = take_gates};
  row_product inputs = {.l = l,
                        .n = n,
                        .k = STOWI_KERNEL_LAYER_W,
                        .inner = l->input,
                        .count = is_gru ? 2 * l->hidden : stacked,
                        .x_first = x_row * l->input,
                        .take = take_inputs};
  multiply_tiles(&recurrent, n->scratch);
  multiply_tiles(&inputs, n->scratch);
  if (is_gru) {
    reset_row(l, n, inputs);
  }
  step_cell(l, n, 0);
}

static void store_row(const stowi_kernel_layer* l, size_t k, size_t b, const REAL* state) {
  stow_tensor* result = stow_kernel_result(l->call, k);
  if (result != NULL) {
    STORE(result->dtype, result->data, stowi_kernel_layer_state_row(l, b), l->hidden, state);
  }
}

static void run_sequence(const stowi_kernel_layer* l, const numbers* n, size_t b) {
  stow_tensor* y = stow_kernel_result(l->call, 0);
  bool is_lstm = l->cell == STOWI_KERNEL_CELL_LSTM;
  size_t length = stowi_kernel_layer_length(l, b);
  size_t state = stowi_kernel_layer_state_row(l, b);
  load(l, length == 0 ? SIZE_MAX : STOWI_KERNEL_LAYER_H, state, l->hidden, n->h);
  if (is_lstm) {
    load(l, length == 0 ? SIZE_MAX : STOWI_KERNEL_LAYER_C, state, l->hidden, n->c);
  }
  for (size_t s = 0; s < length; ++s) {
    size_t step = step_of(l, s, b);
    step_row(l, n, stowi_kernel_layer_x_row(l, step, b));
    STORE(y->dtype, y->data, stowi_kernel_layer_y_row(l, step, b), l->hidden, n->h);
  }
  store_row(l, 1, b, n->h);
  if (is_lstm) {
    store_row(l, 2, b, n->c);
  }
  memset(n->h, 0, l->hidden * sizeof(REAL));
  for (size_t s = length; s < l->sequence; ++s) {
    STORE(y->dtype, y->data, stowi_kernel_layer_y_row(l, s, b), l->hidden, n->h);
  }
}

// Whether any result has elements, of all those sequences that there may be.
static bool has_results(const stowi_kernel_layer* l) {
  return l->sequence != 0 || stow_kernel_result(l->call, 1) != NULL ||
         stow_kernel_result(l->call, 2) != NULL;
}

static void run_rows(stowi_kernel_layer* l) {
  stowi_kernel_carve carve = {l->call->scratch, 0};
  numbers n = take_row_numbers(l, &carve);
  for (size_t d = 0; d < l->directions && has_results(l); ++d) {
    stowi_kernel_layer_choose(l, d);
    for (size_t b = 0; b < l->batch; ++b) {
      run_sequence(l, &n, b);
    }
  }
}

static uint64_t rows_size(const stowi_kernel_layer* l) {
  stowi_kernel_carve carve = {NULL, 0};
  (void)take_row_numbers(l, &carve);
  return carve.used;
}
