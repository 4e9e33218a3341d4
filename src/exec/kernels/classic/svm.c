// Support vector machines. A classifier with support vectors decides between each pair of classes;
// each decision is a vote, and the class with most of them is the label. Scores are the decisions,
// or probabilities that fit them best all together (T.-F. Wu, C.-J. Lin, R. C. Weng: Probability
// Estimates for Multi-class Classification by Pairwise Coupling, 2004, second approach). Without
// support vectors classes have linear scores. O(vectors × features) for a row.
#include <math.h>
#include <string.h>

#include "exec/kernels/classic/lists.h"
#include "exec/kernels/classic/models.h"
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/kernel.h"

typedef enum kernel_kind { LINEAR, POLY, RBF, SIGMOID } kernel_kind;

typedef struct job {
  const stow_tensor* x;
  size_t features;
  stowi_kernel_list coefficients;
  stowi_kernel_list vectors;
  stowi_kernel_list rho;
  stowi_kernel_list prob_a;
  stowi_kernel_list prob_b;
  stowi_kernel_list labels;
  stowi_kernel_list per_class;
  kernel_kind kind;
  double gamma;
  double coef0;
  double degree;
  stowi_kernel_transform transform;
  size_t vector_count;
  size_t classes;
  size_t columns;
  bool is_one_class;
  bool is_positive;  // all coefficients are
  const stow_tensor* out;
  int64_t* out_labels;
  double* scratch;
  size_t scratch_count;  // numbers of a worker
} job;

// A worker's numbers.
typedef struct room {
  double* kernels;    // one for each support vector
  double* votes;      // one for each class
  double* decisions;  // one for each pair
  double* odds;       // class by class: of which of the two it is
  double* matrix;     // class by class
  double* products;   // one for each class
  double* scores;     // what is given
} room;

static size_t pairs_of(size_t classes) { return classes * (classes - 1) / 2; }

static size_t room_count(size_t vectors, size_t classes, size_t columns) {
  return vectors + 2 * classes + pairs_of(classes) + 2 * classes * classes + columns + classes + 2;
}

static room room_of(const job* j, uint32_t worker) {
  double* at = j->scratch + worker * j->scratch_count;
  room r;
  r.kernels = at;
  r.votes = r.kernels + j->vector_count;
  r.decisions = r.votes + j->classes;
  r.odds = r.decisions + pairs_of(j->classes);
  r.matrix = r.odds + j->classes * j->classes;
  r.products = r.matrix + j->classes * j->classes;
  r.scores = r.products + j->classes;
  return r;
}

// Of a classifier; a regressor has a number for it. Where sums overflow, the call is refused later.
static size_t count_vectors(const stow_kernel_call* call, const stowi_kernel_list* per_class) {
  if (per_class->count == 0) {
    int64_t supports = stowi_kernel_int(call, STOWI_KERNEL_ATTR_N_SUPPORTS, 0);
    return supports > 0 ? (size_t)supports : 0;
  }
  size_t sum = 0;
  for (size_t i = 0; i < per_class->count; ++i) {
    int64_t count = stowi_kernel_list_int(per_class, i);
    sum += count > 0 && count < INT32_MAX ? (size_t)count : 0;
  }
  return sum;
}

static void read_model(const stow_kernel_call* call, job* j) {
  const stow_tensor* scores = call->results[call->result_count - 1];
  j->x = call->operands[0];
  j->features = stowi_kernel_table_of(j->x).columns;
  j->coefficients = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_COEFFICIENTS);
  j->vectors = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_SUPPORT_VECTORS);
  j->rho = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_RHO);
  j->prob_a = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_PROB_A);
  j->prob_b = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_PROB_B);
  j->labels = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_CLASSLABELS_INTS);
  j->per_class = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_VECTORS_PER_CLASS);
  j->vector_count = count_vectors(call, &j->per_class);
  j->classes = j->labels.count == 0 ? 1 : j->labels.count;
  j->columns = stowi_kernel_table_of(scores).columns;
  j->is_one_class = stowi_kernel_int(call, STOWI_KERNEL_ATTR_ONE_CLASS, 0) != 0;
  j->out = scores;
  j->scratch_count = room_count(j->vector_count, j->classes, j->columns);
}

stow_status stowi_kernel_svm_scratch(const stow_kernel_call* call, uint64_t* out_bytes) {
  job j;
  memset(&j, 0, sizeof(j));
  read_model(call, &j);
  *out_bytes =
      stowi_kernel_times(call->workers, stowi_kernel_times(j.scratch_count, sizeof(double)));
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Decisions

static double distance(const job* j, size_t vector, size_t row) {
  double a[STOWI_KERNEL_BLOCK];
  double b[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t i = 0; i < j->features; i += STOWI_KERNEL_BLOCK) {
    size_t part = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->features - i);
    stowi_kernel_list_load(&j->vectors, vector * j->features + i, part, a);
    stowi_kernel_load_f64(j->x->dtype, j->x->data, row * j->features + i, part, b);
    for (size_t k = 0; k < part; ++k) {
      a[k] -= b[k];
    }
    sum += stowi_kernel_squares_f64(a, part, 0);
  }
  return sum;
}

static double kernel_of(const job* j, size_t vector, size_t row) {
  if (j->kind == RBF) {
    return exp(-j->gamma * distance(j, vector, row));
  }
  double dot = stowi_kernel_list_dot(&j->vectors, vector * j->features, j->x, row * j->features,
                                     j->features);
  switch (j->kind) {
    case POLY: return pow(j->gamma * dot + j->coef0, j->degree);
    case SIGMOID: return tanh(j->gamma * dot + j->coef0);
    default: return dot;
  }
}

// The part of class |of| in its decision against |other|: coefficients of row other - 1, or other.
static double side(const job* j, const room* r, size_t of, size_t other) {
  size_t first = 0;
  for (size_t c = 0; c < of; ++c) {
    first += (size_t)stowi_kernel_list_int(&j->per_class, c);
  }
  size_t line = other > of ? other - 1 : other;
  double sum = 0;
  for (size_t k = 0; k < (size_t)stowi_kernel_list_int(&j->per_class, of); ++k) {
    sum += stowi_kernel_list_real(&j->coefficients, line * j->vector_count + first + k) *
           r->kernels[first + k];
  }
  return sum;
}

static void decide(const job* j, const room* r, size_t row) {
  size_t pair = 0;
  for (size_t v = 0; v < j->vector_count; ++v) {
    r->kernels[v] = kernel_of(j, v, row);
  }
  for (size_t c = 0; c < j->classes; ++c) {
    r->votes[c] = 0;
  }
  for (size_t a = 0; a < j->classes; ++a) {
    for (size_t b = a + 1; b < j->classes; ++b, ++pair) {
      double s = stowi_kernel_list_real(&j->rho, pair) + side(j, r, a, b) + side(j, r, b, a);
      r->decisions[pair] = s;
      r->votes[s > 0 ? a : b] += 1;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Probabilities

static void find_odds(const job* j, const room* r) {
  size_t n = j->classes;
  size_t pair = 0;
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = a + 1; b < n; ++b, ++pair) {
      double z = r->decisions[pair] * stowi_kernel_list_real(&j->prob_a, pair) +
                 stowi_kernel_list_real(&j->prob_b, pair);
      double odds = 1 / (1 + exp(z));
      odds = odds < 1e-7 ? 1e-7 : odds;
      odds = odds > 1 - 1e-7 ? 1 - 1e-7 : odds;
      r->odds[a * n + b] = odds;
      r->odds[b * n + a] = 1 - odds;
    }
  }
}

static void fill_matrix(const job* j, const room* r) {
  size_t n = j->classes;
  for (size_t t = 0; t < n; ++t) {
    r->matrix[t * n + t] = 0;
    for (size_t k = 0; k < n; ++k) {
      if (k != t) {
        r->matrix[t * n + t] += r->odds[k * n + t] * r->odds[k * n + t];
        r->matrix[t * n + k] = -r->odds[k * n + t] * r->odds[t * n + k];
      }
    }
  }
}

// Products of the matrix with the scores; returns scores times these.
static double multiply(const job* j, const room* r) {
  size_t n = j->classes;
  double whole = 0;
  for (size_t t = 0; t < n; ++t) {
    r->products[t] = 0;
    for (size_t k = 0; k < n; ++k) {
      r->products[t] += r->matrix[t * n + k] * r->scores[k];
    }
    whole += r->scores[t] * r->products[t];
  }
  return whole;
}

static double worst_error(const job* j, const room* r, double whole) {
  double worst = 0;
  for (size_t t = 0; t < j->classes; ++t) {
    double error = fabs(r->products[t] - whole);
    worst = error > worst ? error : worst;
  }
  return worst;
}

static double improve(const job* j, const room* r, size_t t, double whole) {
  size_t n = j->classes;
  double own = r->matrix[t * n + t];
  double diff = (whole - r->products[t]) / own;
  r->scores[t] += diff;
  whole = (whole + diff * (diff * own + 2 * r->products[t])) / (1 + diff) / (1 + diff);
  for (size_t k = 0; k < n; ++k) {
    r->products[k] = (r->products[k] + diff * r->matrix[t * n + k]) / (1 + diff);
    r->scores[k] /= 1 + diff;
  }
  return whole;
}

static void find_probabilities(const job* j, const room* r) {
  size_t n = j->classes;
  size_t rounds = n > 100 ? n : 100;
  find_odds(j, r);
  fill_matrix(j, r);
  for (size_t t = 0; t < n; ++t) {
    r->scores[t] = 1 / (double)n;
  }
  for (size_t i = 0; i < rounds; ++i) {
    double whole = multiply(j, r);
    if (worst_error(j, r, whole) < 0.005 / (double)n) {
      break;
    }
    for (size_t t = 0; t < n; ++t) {
      whole = improve(j, r, t, whole);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Rows

static void classify_vectors(const job* j, const room* r, size_t row) {
  decide(j, r, row);
  j->out_labels[row] =
      stowi_kernel_list_int(&j->labels, stowi_kernel_best_score(r->votes, j->classes));
  if (j->prob_a.count != 0) {
    find_probabilities(j, r);
    stowi_kernel_transform_scores(j->transform, r->scores, j->columns);
  } else if (j->classes == 2) {
    bool is_opposite = j->transform == STOWI_KERNEL_TRANSFORM_NONE;
    stowi_kernel_transform_pair(j->transform, is_opposite, r->decisions[0], r->scores);
  } else {
    memcpy(r->scores, r->decisions, j->columns * sizeof(double));
    stowi_kernel_transform_scores(j->transform, r->scores, j->columns);
  }
}

// Two classes: whatever says yes to one of them speaks for the second, as onnxruntime has it.
static void classify_linear(const job* j, const room* r, size_t row) {
  for (size_t c = 0; c < j->classes; ++c) {
    r->scores[c] = stowi_kernel_list_real(&j->rho, 0) +
                   stowi_kernel_list_dot(&j->coefficients, c * j->features, j->x, row * j->features,
                                         j->features);
  }
  size_t best = stowi_kernel_best_score(r->scores, j->classes);
  bool is_second =
      j->classes == 2 && (j->is_positive ? r->scores[best] >= 0.5 : r->scores[best] > 0);
  j->out_labels[row] = stowi_kernel_list_int(&j->labels, is_second ? 1 : best);
  stowi_kernel_transform_scores(j->transform, r->scores, j->columns);
}

static void classify_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  room r = room_of(j, worker);
  for (size_t row = begin; row < end; ++row) {
    if (j->vector_count != 0) {
      classify_vectors(j, &r, row);
    } else {
      classify_linear(j, &r, row);
    }
    stowi_kernel_store_f64(j->out->dtype, j->out->data, row * j->columns, j->columns, r.scores);
  }
}

static void regress_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t row = begin; row < end; ++row) {
    double score = 0;
    for (size_t v = 0; v < j->vector_count; ++v) {
      score += stowi_kernel_list_real(&j->coefficients, v) * kernel_of(j, v, row);
    }
    if (j->vector_count == 0) {
      score = stowi_kernel_list_dot(&j->coefficients, 0, j->x, row * j->features, j->features);
    }
    score += stowi_kernel_list_real(&j->rho, 0);
    if (j->is_one_class) {
      score = score > 0 ? 1 : -1;
    }
    stowi_kernel_transform_scores(j->transform, &score, 1);
    stowi_kernel_store_f64(j->out->dtype, j->out->data, row, 1, &score);
  }
}

// ---------------------------------------------------------------------------------------------
// Models

static stow_status read_kernel(const stow_kernel_call* call, job* j) {
  static const char* const names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  stowi_kernel_list params = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_KERNEL_PARAMS);
  const stow_attr* attr = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_KERNEL_TYPE);
  if (params.count >= 3) {
    j->gamma = stowi_kernel_list_real(&params, 0);
    j->coef0 = stowi_kernel_list_real(&params, 1);
    j->degree = stowi_kernel_list_real(&params, 2);
  }
  for (int i = LINEAR; i <= SIGMOID; ++i) {
    if (attr == NULL || stowi_kernel_is(call, STOWI_KERNEL_ATTR_KERNEL_TYPE, names[i])) {
      j->kind = (kernel_kind)i;
      return STOW_OK;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "unknown kernel_type");
}

static stow_status check_counts(const stow_kernel_call* call, const job* j, size_t coefficients,
                                size_t rho) {
  bool fits = j->coefficients.count == coefficients && j->rho.count >= rho &&
              j->vectors.count >= j->vector_count * j->features;
  bool has_odds = j->prob_a.count != 0 && j->vector_count != 0;
  fits = fits && (!has_odds || (j->prob_a.count >= rho && j->prob_b.count >= rho));
  if (!fits) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "inconsistent tables: %zu coefficients, expected %zu; %zu support "
                            "vectors of %zu features in %zu numbers; %zu of rho, expected %zu",
                            j->coefficients.count, coefficients, j->vector_count, j->features,
                            j->vectors.count, j->rho.count, rho);
  }
  return STOW_OK;
}

static stow_status check_classes(const stow_kernel_call* call, const job* j) {
  size_t pairs = pairs_of(j->classes);
  if (j->vector_count == 0) {
    return j->columns == j->classes
               ? check_counts(call, j, j->classes * j->features, 1)
               : stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                                  "%zu columns do not fit %zu classes", j->columns, j->classes);
  }
  size_t columns = j->prob_a.count != 0 || j->classes == 2 ? j->classes : pairs;
  if (j->classes < 2 || j->per_class.count != j->classes || j->columns != columns) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu classes do not fit %zu columns and vectors of %zu classes",
                            j->classes, j->columns, j->per_class.count);
  }
  for (size_t i = 0; i < j->classes; ++i) {
    int64_t count = stowi_kernel_list_int(&j->per_class, i);
    if (count < 0 || count >= INT32_MAX) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "vectors_per_class is out of range");
    }
  }
  return check_counts(call, j, (j->classes - 1) * j->vector_count, pairs);
}

static stow_status begin(stow_kernel_call* call, job* j) {
  memset(j, 0, sizeof(*j));
  read_model(call, j);
  j->scratch = call->scratch;
  j->is_positive = true;
  for (size_t i = 0; i < j->coefficients.count; ++i) {
    j->is_positive = j->is_positive && stowi_kernel_list_real(&j->coefficients, i) >= 0;
  }
  STOWI_KERNEL_TRY(stowi_kernel_transform_of(call, &j->transform));
  return read_kernel(call, j);
}

stow_status stowi_kernel_svm_classify(stow_kernel_call* call) {
  job j;
  STOWI_KERNEL_TRY(begin(call, &j));
  if (j.labels.count == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "class labels are missing");
  }
  STOWI_KERNEL_TRY(check_classes(call, &j));
  j.out_labels = call->results[0]->data;
  size_t work = (j.vector_count + j.classes) * (j.features + 1) * 2;
  stow_kernel_split(call, stowi_kernel_table_of(j.x).rows, stowi_kernel_grain_of(work),
                    classify_task, &j);
  return STOW_OK;
}

stow_status stowi_kernel_svm_regress(stow_kernel_call* call) {
  job j;
  STOWI_KERNEL_TRY(begin(call, &j));
  STOWI_KERNEL_TRY(check_counts(call, &j, j.vector_count == 0 ? j.features : j.vector_count, 1));
  if (j.columns != 1) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "a regressor must have one target");
  }
  size_t work = (j.vector_count + 1) * j.features * 2;
  stow_kernel_split(call, stowi_kernel_table_of(j.x).rows, stowi_kernel_grain_of(work),
                    regress_task, &j);
  return STOW_OK;
}
