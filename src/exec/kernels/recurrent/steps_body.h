// The steps of a recurrent layer, for one type of numbers. A file that includes this defines first
//
//     REAL            float or double, and REAL_DTYPE
//     LOAD, STORE     how elements of a tensor become REAL and back
//     ACTIVATE        an activation function over REAL
//     factor          a matrix: element (i, j) is data[i * row + j * column]
//     multiply        c[m × n] = a[m × k] · b[k × n], where rows of a follow each other
//     multiply_scratch
//     reads_bytes     whether quantised weights can be multiplied where they are
//
// and what lean_body.h needs; and later
//
//     multiply_bytes  the same with columns of quantised weights
//
// x · w is one product over all steps; each step then adds h · r. Weights are taken from where they
// are if they can be; but in the fastest way r is transposed once if there are several steps, so
// that each step reads its rows one after the other.

#include <string.h>

// Numbers of one direction, in scratch.
typedef struct numbers {
  REAL* x;       // [rows of x, input]; unused where x can be read in place
  REAL* w;       // [input, gates × hidden]; unused where w can be read in place
  REAL* r;       // [hidden, gates × hidden]; the same
  REAL* w_bias;  // [gates × hidden]
  REAL* r_bias;
  REAL* peeps;   // [3 × hidden]: of input, output and forget gate
  REAL* inputs;  // x · w, [rows of x, gates × hidden]
  REAL* gates;   // of this step, [batch, gates × hidden]
  REAL* reset;   // gru: what the third gate is multiplied with, [batch, hidden]
  REAL* h;       // [batch, hidden]
  REAL* c;
  void* scratch;  // for products
} numbers;

#define FEW_STEPS 4         // with fewer r is not worth transposing
#define STEPS_AT_ONCE 8     // of k, that are read of a column
#define COLUMNS_AT_ONCE 64  // that are dequantised
#define SUMS_AT_ONCE 32     // of a row in little room

// Whether elements of operand |k| are REAL already.
static bool is_real(const stowi_kernel_layer* l, size_t k) {
  return stow_kernel_operand(l->call, k)->dtype == REAL_DTYPE;
}

// Whether the weights that operand |k| has are copied to scratch.
static bool copies(const stowi_kernel_layer* l, size_t k) {
  if (is_real(l, k)) {
    return k == STOWI_KERNEL_LAYER_R && l->sequence >= FEW_STEPS && !l->spares_copies &&
           !stowi_kernel_operand_is_packed(l->call, k);
  }
  return !reads_bytes(l);
}

static numbers take_numbers(const stowi_kernel_layer* l, stowi_kernel_carve* carve) {
  uint64_t stacked = stowi_kernel_times(l->gates, l->hidden);
  uint64_t rows = stowi_kernel_times(l->sequence, l->batch);
  uint64_t states = stowi_kernel_times(l->batch, l->hidden);
  numbers n;
  n.x = stowi_kernel_carve_take(
      carve, is_real(l, STOWI_KERNEL_LAYER_X) ? 0 : stowi_kernel_times(rows, l->input),
      sizeof(REAL));
  n.w = stowi_kernel_carve_take(
      carve, copies(l, STOWI_KERNEL_LAYER_W) ? stowi_kernel_times(stacked, l->input) : 0,
      sizeof(REAL));
  n.r = stowi_kernel_carve_take(
      carve, copies(l, STOWI_KERNEL_LAYER_R) ? stowi_kernel_times(stacked, l->hidden) : 0,
      sizeof(REAL));
  n.w_bias = stowi_kernel_carve_take(carve, stacked, sizeof(REAL));
  n.r_bias = stowi_kernel_carve_take(carve, stacked, sizeof(REAL));
  n.peeps = stowi_kernel_carve_take(carve, stowi_kernel_times(3, l->hidden), sizeof(REAL));
  n.inputs = stowi_kernel_carve_take(carve, stowi_kernel_times(rows, stacked), sizeof(REAL));
  n.gates = stowi_kernel_carve_take(carve, stowi_kernel_times(l->batch, stacked), sizeof(REAL));
  n.reset = stowi_kernel_carve_take(carve, states, sizeof(REAL));
  n.h = stowi_kernel_carve_take(carve, states, sizeof(REAL));
  n.c = stowi_kernel_carve_take(carve, states, sizeof(REAL));
  n.scratch = stowi_kernel_carve_take(carve, multiply_scratch(l), 1);
  return n;
}

// ---------------------------------------------------------------------------------------------
// Operands

// |count| elements of operand |k| from |first| on; zeros where it is absent.
static void load(const stowi_kernel_layer* l, size_t k, size_t first, size_t count, REAL* out) {
  const stow_tensor* t = stow_kernel_operand(l->call, k);
  if (t == NULL) {
    memset(out, 0, count * sizeof(REAL));
  } else if (count != 0) {
    LOAD(t->dtype, t->data, first, count, out);
  }
}

// Rows of |t| from |first| on, TILE at a time, so that what is written together is contiguous.
static void load_transposed(const stow_tensor* t, size_t first, size_t rows, size_t columns,
                            REAL* out) {
  enum { TILE = 16 };
  REAL tile[TILE][TILE];
  for (size_t i = 0; i < rows; i += TILE) {
    size_t height = rows - i < TILE ? rows - i : TILE;
    for (size_t j = 0; j < columns; j += TILE) {
      size_t width = columns - j < TILE ? columns - j : TILE;
      for (size_t y = 0; y < height; ++y) {
        LOAD(t->dtype, t->data, first + (i + y) * columns + j, width, tile[y]);
      }
      for (size_t x = 0; x < width; ++x) {
        for (size_t y = 0; y < height; ++y) {
          out[(j + x) * rows + i + y] = tile[y][x];
        }
      }
    }
  }
}

// Weights [gates × hidden, |inner|] of this direction, transposed. Quantised ones stand that way
// already.
static void load_weights(const stowi_kernel_layer* l, size_t k, size_t inner, REAL* out) {
  size_t stacked = l->gates * l->hidden;
  size_t first = l->direction * stacked * inner;
  if (l->is_quantized) {
    load(l, k, first, stacked * inner, out);
  } else {
    load_transposed(stow_kernel_operand(l->call, k), first, stacked, inner, out);
  }
}

// Columns [first, first + columns) of the weights that operand |k| has.
typedef struct weights {
  size_t k, inner;
  size_t first, columns;
  const REAL* loaded;  // all of them, [inner, gates × hidden], if they are copied
} weights;

static weights weights_of(const stowi_kernel_layer* l, const numbers* n, size_t k) {
  bool is_w = k == STOWI_KERNEL_LAYER_W;
  return (weights){k, is_w ? l->input : l->hidden, 0, l->gates * l->hidden, is_w ? n->w : n->r};
}

static void multiply_bytes(const stowi_kernel_layer* l, size_t rows, const REAL* a,
                           const weights* w, REAL* c, void* scratch);

// c[rows × columns] = a[rows × inner] · w.
static void multiply_weights(const stowi_kernel_layer* l, const numbers* n, size_t rows,
                             const REAL* a, const weights* w, REAL* c) {
  size_t stacked = l->gates * l->hidden;
  if (!copies(l, w->k) && !is_real(l, w->k)) {
    multiply_bytes(l, rows, a, w, c, n->scratch);
    return;
  }
  factor f = {w->loaded, stacked, 1};
  if (!copies(l, w->k)) {
    const REAL* data = stow_kernel_operand(l->call, w->k)->data;
    f = (factor){data + l->direction * stacked * w->inner, 1, w->inner};
  }
  f.data += w->first * f.column;  // of packed weights too
  bool is_packed = stowi_kernel_operand_is_packed(l->call, w->k);
  multiply(l, rows, w->columns, w->inner, a, f, is_packed, c, stacked, n->scratch);
}

// Quantised weights become numbers by a scale and a zero point of the direction, or of each column:
// those of columns [first, first + count), of which operand |k| has one kind.
static void load_parameters(const stowi_kernel_layer* l, size_t k, size_t first, size_t count,
                            REAL* out) {
  const stow_tensor* t = stow_kernel_operand(l->call, k);
  size_t each = t == NULL ? 0 : stow_tensor_elements(t) / l->directions;
  if (each > 1) {
    load(l, k, l->direction * each + first, count, out);
    return;
  }
  REAL only = 0;
  load(l, each == 0 ? SIZE_MAX : k, l->direction, 1, &only);
  for (size_t i = 0; i < count; ++i) {
    out[i] = only;
  }
}

// |rows| rows of |columns| columns of the weights, from column |first| on; some columns at a time,
// whose parameters are at hand then for all rows.
static void dequantize(const stowi_kernel_layer* l, size_t scale, size_t rows, size_t first,
                       size_t columns, REAL* numbers_of, size_t row) {
  for (size_t done = 0; done < columns; done += COLUMNS_AT_ONCE) {
    REAL step[COLUMNS_AT_ONCE];
    REAL zero[COLUMNS_AT_ONCE];
    size_t count = columns - done < COLUMNS_AT_ONCE ? columns - done : COLUMNS_AT_ONCE;
    load_parameters(l, scale, first + done, count, step);
    load_parameters(l, scale + 1, first + done, count, zero);
    for (size_t i = 0; i < rows; ++i) {
      REAL* to = numbers_of + i * row + done;
      for (size_t j = 0; j < count; ++j) {
        to[j] = (to[j] - zero[j]) * step[j];
      }
    }
  }
}

static void load_direction(const stowi_kernel_layer* l, const numbers* n) {
  size_t stacked = l->gates * l->hidden;
  if (copies(l, STOWI_KERNEL_LAYER_W)) {
    load_weights(l, STOWI_KERNEL_LAYER_W, l->input, n->w);
  }
  if (copies(l, STOWI_KERNEL_LAYER_R)) {
    load_weights(l, STOWI_KERNEL_LAYER_R, l->hidden, n->r);
  }
  if (l->is_quantized && copies(l, STOWI_KERNEL_LAYER_W)) {
    dequantize(l, STOWI_KERNEL_LAYER_W_SCALE, l->input, 0, stacked, n->w, stacked);
    dequantize(l, STOWI_KERNEL_LAYER_R_SCALE, l->hidden, 0, stacked, n->r, stacked);
  }
  load(l, STOWI_KERNEL_LAYER_BIAS, l->direction * 2 * stacked, stacked, n->w_bias);
  load(l, STOWI_KERNEL_LAYER_BIAS, l->direction * 2 * stacked + stacked, stacked, n->r_bias);
  memset(n->peeps, 0, 3 * l->hidden * sizeof(REAL));
  memset(n->c, 0, l->batch * l->hidden * sizeof(REAL));
  if (l->cell == STOWI_KERNEL_CELL_LSTM) {
    load(l, STOWI_KERNEL_LAYER_PEEPHOLES, l->direction * 3 * l->hidden, 3 * l->hidden, n->peeps);
  }
  for (size_t b = 0; b < l->batch; ++b) {
    size_t first = stowi_kernel_layer_state_row(l, b);
    load(l, STOWI_KERNEL_LAYER_H, first, l->hidden, n->h + b * l->hidden);
    if (l->cell == STOWI_KERNEL_CELL_LSTM) {
      load(l, STOWI_KERNEL_LAYER_C, first, l->hidden, n->c + b * l->hidden);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Cells

static void activate(const stowi_kernel_layer* l, size_t which, REAL* x) {
  REAL limit = (REAL)l->clip;
  for (size_t i = 0; i < l->hidden && limit > 0; ++i) {
    x[i] = x[i] > limit ? limit : x[i] < -limit ? -limit : x[i];
  }
  ACTIVATE(&l->activations[which], l->hidden, x);
}

static void step_rnn(const stowi_kernel_layer* l, const numbers* n, size_t b) {
  REAL* gate = n->gates + b * l->hidden;
  activate(l, 0, gate);
  memcpy(n->h + b * l->hidden, gate, l->hidden * sizeof(REAL));
}

// Gates: update, reset, hidden. The last is complete here.
static void step_gru(const stowi_kernel_layer* l, const numbers* n, size_t b) {
  REAL* update = n->gates + b * 3 * l->hidden;
  REAL* fresh = update + 2 * l->hidden;
  REAL* h = n->h + b * l->hidden;
  activate(l, 1, fresh);
  for (size_t i = 0; i < l->hidden; ++i) {
    h[i] = (1 - update[i]) * fresh[i] + update[i] * h[i];
  }
}

// Peepholes |which|, of input, output or forget gate; some at a time where they are not at hand.
static void peep(const stowi_kernel_layer* l, const numbers* n, size_t which, const REAL* c,
                 REAL* gate) {
  REAL some[SUMS_AT_ONCE];
  for (size_t first = 0; first < l->hidden; first += SUMS_AT_ONCE) {
    size_t at = which * l->hidden + first;
    size_t count = l->hidden - first < SUMS_AT_ONCE ? l->hidden - first : SUMS_AT_ONCE;
    if (n->peeps == NULL) {
      load(l, STOWI_KERNEL_LAYER_PEEPHOLES, l->direction * 3 * l->hidden + at, count, some);
    }
    const REAL* peeps = n->peeps == NULL ? some : n->peeps + at;
    for (size_t i = 0; i < count; ++i) {
      gate[first + i] += peeps[i] * c[first + i];
    }
  }
}

// Gates: input, output, forget, cell.
static void step_lstm(const stowi_kernel_layer* l, const numbers* n, size_t b) {
  REAL* in = n->gates + b * 4 * l->hidden;
  REAL* out = in + l->hidden;
  REAL* forget = out + l->hidden;
  REAL* cell = forget + l->hidden;
  REAL* c = n->c + b * l->hidden;
  REAL* h = n->h + b * l->hidden;
  peep(l, n, 0, c, in);
  peep(l, n, 2, c, forget);
  activate(l, 0, in);
  activate(l, 0, forget);
  activate(l, 1, cell);
  for (size_t i = 0; i < l->hidden; ++i) {
    REAL kept = l->input_forget ? 1 - in[i] : forget[i];
    c[i] = kept * c[i] + in[i] * cell[i];
    h[i] = c[i];
  }
  peep(l, n, 1, c, out);
  activate(l, 0, out);
  ACTIVATE(&l->activations[2], l->hidden, h);
  for (size_t i = 0; i < l->hidden; ++i) {
    h[i] *= out[i];
  }
}

// All gates are summed; b is the row of them.
static void step_cell(const stowi_kernel_layer* l, const numbers* n, size_t b) {
  if (l->cell == STOWI_KERNEL_CELL_RNN) {
    step_rnn(l, n, b);
  } else if (l->cell == STOWI_KERNEL_CELL_GRU) {
    step_gru(l, n, b);
  } else {
    step_lstm(l, n, b);
  }
}

// ---------------------------------------------------------------------------------------------
// Steps

static size_t step_of(const stowi_kernel_layer* l, size_t s, size_t b) {
  return l->is_reverse ? stowi_kernel_layer_length(l, b) - 1 - s : s;
}

// gates = x · w + h · r and both biases, but for gru's third, which step_reset makes.
static void sum_gates(const stowi_kernel_layer* l, const numbers* n, size_t s, size_t b) {
  size_t stacked = l->gates * l->hidden;
  size_t summed = l->cell == STOWI_KERNEL_CELL_GRU ? 2 * l->hidden : stacked;
  const REAL* inputs = n->inputs + stowi_kernel_layer_x_row(l, step_of(l, s, b), b) * stacked;
  REAL* gates = n->gates + b * stacked;
  for (size_t i = 0; i < summed; ++i) {
    gates[i] += inputs[i] + (n->w_bias[i] + n->r_bias[i]);
  }
}

// Of gru: the first two gates are done; the third is x · w + reset · (h · r + bias), or the reset
// before the product.
static void step_reset(const stowi_kernel_layer* l, const numbers* n, size_t s) {
  size_t stacked = 3 * l->hidden;
  for (size_t b = 0; b < l->batch; ++b) {
    REAL* gates = n->gates + b * stacked;
    if (s >= stowi_kernel_layer_length(l, b)) {
      memset(n->reset + b * l->hidden, 0, l->hidden * sizeof(REAL));
      continue;
    }
    activate(l, 0, gates);
    activate(l, 0, gates + l->hidden);
    for (size_t i = 0; i < l->hidden; ++i) {
      n->reset[b * l->hidden + i] = gates[l->hidden + i] * n->h[b * l->hidden + i];
    }
  }
  if (!l->linear_before_reset) {
    weights r = weights_of(l, n, STOWI_KERNEL_LAYER_R);
    r.first = 2 * l->hidden;
    r.columns = l->hidden;
    multiply_weights(l, n, l->batch, n->reset, &r, n->gates + 2 * l->hidden);
  }
  const REAL* w_bias = n->w_bias + 2 * l->hidden;
  const REAL* r_bias = n->r_bias + 2 * l->hidden;
  for (size_t b = 0; b < l->batch; ++b) {
    if (s >= stowi_kernel_layer_length(l, b)) {
      continue;
    }
    size_t row = stowi_kernel_layer_x_row(l, step_of(l, s, b), b);
    const REAL* inputs = n->inputs + row * stacked + 2 * l->hidden;
    const REAL* reset = n->gates + b * stacked + l->hidden;
    REAL* fresh = n->gates + b * stacked + 2 * l->hidden;
    for (size_t i = 0; i < l->hidden; ++i) {
      REAL recurrent = fresh[i] + r_bias[i];
      fresh[i] = inputs[i] + w_bias[i] + (l->linear_before_reset ? reset[i] : 1) * recurrent;
    }
  }
}

static void step_all(const stowi_kernel_layer* l, const numbers* n, size_t s) {
  stow_tensor* y = stow_kernel_result(l->call, 0);
  weights r = weights_of(l, n, STOWI_KERNEL_LAYER_R);
  multiply_weights(l, n, l->batch, n->h, &r, n->gates);
  for (size_t b = 0; b < l->batch; ++b) {
    if (s < stowi_kernel_layer_length(l, b)) {
      sum_gates(l, n, s, b);
    }
  }
  if (l->cell == STOWI_KERNEL_CELL_GRU) {
    step_reset(l, n, s);
  }
  for (size_t b = 0; b < l->batch; ++b) {
    if (s >= stowi_kernel_layer_length(l, b)) {
      continue;
    }
    step_cell(l, n, b);
    STORE(y->dtype, y->data, stowi_kernel_layer_y_row(l, step_of(l, s, b), b), l->hidden,
          n->h + b * l->hidden);
  }
}

// ---------------------------------------------------------------------------------------------
// The layer

// What is after the end of a sequence is 0; a sequence of no steps leaves zeros too.
static void clear_rest(const stowi_kernel_layer* l, const numbers* n) {
  stow_tensor* y = stow_kernel_result(l->call, 0);
  memset(n->reset, 0, l->hidden * sizeof(REAL));
  for (size_t b = 0; b < l->batch; ++b) {
    size_t length = stowi_kernel_layer_length(l, b);
    for (size_t s = length; s < l->sequence; ++s) {
      STORE(y->dtype, y->data, stowi_kernel_layer_y_row(l, s, b), l->hidden, n->reset);
    }
    if (length == 0) {
      memset(n->h + b * l->hidden, 0, l->hidden * sizeof(REAL));
      memset(n->c + b * l->hidden, 0, l->hidden * sizeof(REAL));
    }
  }
}

static void store_states(const stowi_kernel_layer* l, size_t k, const REAL* states) {
  stow_tensor* result = stow_kernel_result(l->call, k);
  for (size_t b = 0; result != NULL && b < l->batch; ++b) {
    STORE(result->dtype, result->data, stowi_kernel_layer_state_row(l, b), l->hidden,
          states + b * l->hidden);
  }
}

static void run_direction(const stowi_kernel_layer* l, const numbers* n) {
  load_direction(l, n);
  const stow_tensor* x = stow_kernel_operand(l->call, STOWI_KERNEL_LAYER_X);
  const REAL* rows = is_real(l, STOWI_KERNEL_LAYER_X) ? x->data : n->x;
  weights w = weights_of(l, n, STOWI_KERNEL_LAYER_W);
  multiply_weights(l, n, l->sequence * l->batch, rows, &w, n->inputs);
  for (size_t s = 0; s < l->sequence; ++s) {
    step_all(l, n, s);
  }
  clear_rest(l, n);
  store_states(l, 1, n->h);
  if (l->cell == STOWI_KERNEL_CELL_LSTM) {
    store_states(l, 2, n->c);
  }
}

static void run_all(stowi_kernel_layer* l) {
  stowi_kernel_carve carve = {l->call->scratch, 0};
  numbers n = take_numbers(l, &carve);
  if (!is_real(l, STOWI_KERNEL_LAYER_X)) {
    load(l, STOWI_KERNEL_LAYER_X, 0, l->sequence * l->batch * l->input, n.x);
  }
  for (size_t d = 0; d < l->directions; ++d) {
    stowi_kernel_layer_choose(l, d);
    run_direction(l, &n);
  }
}

static uint64_t all_size(const stowi_kernel_layer* l) {
  stowi_kernel_carve carve = {NULL, 0};
  (void)take_numbers(l, &carve);
  return carve.used;
}

// ---------------------------------------------------------------------------------------------
// The way for the call's variant

#include "exec/kernels/recurrent/lean_body.h"

typedef enum way { COPIES, IN_PLACE, ROWS } way;

// Of the ways up to the call's variant the one that needs least, and how much.
static way way_of(const stowi_kernel_layer* l, uint64_t* out_size) {
  uint32_t variant = stowi_kernel_variant(l->call);
  stowi_kernel_layer sparing = *l;
  sparing.spares_copies = true;
  way best = COPIES;
  *out_size = all_size(l);
  if (variant >= 1 && all_size(&sparing) < *out_size) {
    best = IN_PLACE;
    *out_size = all_size(&sparing);
  }
  if (variant >= 2 && rows_size(l) < *out_size) {
    best = ROWS;
    *out_size = rows_size(l);
  }
  return best;
}

static uint64_t layer_scratch(const stowi_kernel_layer* l) {
  uint64_t size;
  (void)way_of(l, &size);
  return size;
}

static void run_layer(stowi_kernel_layer* l) {
  uint64_t size;
  way w = way_of(l, &size);
  l->spares_copies = w != COPIES;
  if (w == ROWS) {
    run_rows(l);
  } else {
    run_all(l);
  }
}
