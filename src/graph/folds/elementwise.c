// Known elements of elementwise ops. Integers are dims: numbers are computed as the op would,
// expressions as far as the dims table allows; comparisons are decided if they hold for all symbols
// of 0 or more. Floats are numbers, or dims with ranges that are exact in the dtype.
#include "base/root.h"
#include "graph/folds/fold.h"

typedef stowi_graph_element (*unary)(stow_shape_call* call, stowi_graph_element a);

// Whether a function of one operand may be applied to |a|, which may be a bound: the function is
// increasing, or increasing from 0 on.
static bool can_take(stowi_graph_rule rule, stowi_graph_element a) {
  return a.exactness == STOWI_GRAPH_EXACT || rule == STOWI_GRAPH_RULE_RISES ||
         (rule == STOWI_GRAPH_RULE_POSITIVE && a.exactness == STOWI_GRAPH_UPPER_BOUND);
}

static stow_status fold_unary(stow_shape_call* call, stowi_graph_rule rule, unary compute) {
  if (stowi_graph_fold_known(call, 0) != NULL) {
    uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
    for (uint64_t i = 0; i < count; ++i) {
      stowi_graph_element a = stowi_graph_fold_get(call, 0, i);
      if (a.kind != STOWI_GRAPH_ELEMENT_UNKNOWN && can_take(rule, a)) {
        stowi_graph_exactness exactness = a.exactness;
        a.exactness = STOWI_GRAPH_EXACT;
        stowi_graph_element result = compute(call, a);
        result.exactness = exactness;
        stowi_graph_fold_put(call, 0, i, result);
      }
    }
  }
  return stowi_graph_fold_end(call);
}

static stowi_graph_element broadcast_get(stow_shape_call* call, size_t k, uint64_t i) {
  const stow_type* type = stowi_graph_fold_operand(call, k);
  const stow_type* result = stow_shape_declared(call, 0);
  return type == NULL ? stowi_graph_unknown()
                      : stowi_graph_fold_get(call, k, stowi_graph_broadcast_index(type, result, i));
}

// From the first operand to the last, where there are more than two.
static stow_status fold_each(stow_shape_call* call, stowi_graph_rule rule,
                             stowi_graph_binary compute) {
  uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
  for (uint64_t i = 0; i < count; ++i) {
    stowi_graph_element sum = broadcast_get(call, 0, i);
    for (size_t k = 1; k < stow_shape_operand_count(call); ++k) {
      sum = stowi_graph_fold_apply(call, rule, compute, sum, broadcast_get(call, k, i));
    }
    stowi_graph_fold_put(call, 0, i, sum);
  }
  return stowi_graph_fold_end(call);
}

// The same, but a result is known only if all its operands are.
static stow_status fold_binary(stow_shape_call* call, stowi_graph_rule rule,
                               stowi_graph_binary compute) {
  for (size_t k = 0; k < stow_shape_operand_count(call); ++k) {
    if (stowi_graph_fold_known(call, k) == NULL) {
      return stowi_graph_fold_end(call);
    }
  }
  return fold_each(call, rule, compute);
}

static bool are_real(stowi_graph_element a, stowi_graph_element b) {
  return a.kind == STOWI_GRAPH_ELEMENT_REAL && b.kind == STOWI_GRAPH_ELEMENT_REAL;
}

// Whether the numbers are ordered: NaN compares with nothing.
static bool are_ordered(stowi_graph_element a, stowi_graph_element b) {
  return are_real(a, b) && a.real == a.real && b.real == b.real;
}

static bool are_whole(stowi_graph_element a, stowi_graph_element b) {
  return a.kind == STOWI_GRAPH_ELEMENT_WHOLE && b.kind == STOWI_GRAPH_ELEMENT_WHOLE;
}

#define ALL_WHOLE 4503599627370496.0  // 2^52: doubles of this size have no fraction

// Where a float is a dim, the other one as a dim too, if it is a whole number.
static void match_kinds(stow_shape_call* call, stowi_graph_element* a, stowi_graph_element* b) {
  stowi_graph_element* real = a->kind == STOWI_GRAPH_ELEMENT_REAL ? a : b;
  const stowi_graph_element* whole = real == a ? b : a;
  bool is_mixed =
      real->kind == STOWI_GRAPH_ELEMENT_REAL && whole->kind == STOWI_GRAPH_ELEMENT_WHOLE;
  if (is_mixed && real->real < ALL_WHOLE && real->real > -ALL_WHOLE &&
      real->real == (double)(int64_t)real->real) {
    real->kind = STOWI_GRAPH_ELEMENT_WHOLE;
    real->whole = stow_dim_of_int(stow_shape_dims(call), (int64_t)real->real);
  }
}

// Both as numbers.
static bool are_numbers(stow_shape_call* call, stowi_graph_element a, stowi_graph_element b,
                        int64_t* out_a, int64_t* out_b) {
  return stowi_graph_element_number(call, a, out_a) && stowi_graph_element_number(call, b, out_b);
}

static stowi_graph_element number(stow_shape_call* call, int64_t value) {
  return stowi_graph_whole(stow_dim_of_int(stow_shape_dims(call), value));
}

static bool is_at_least(stow_shape_call* call, stowi_graph_element a, int64_t bound) {
  return stow_dim_at_least(stow_shape_dims(call), a.whole, bound, 0);
}

// ---------------------------------------------------------------------------------------------
// Arithmetic

#define ARITHMETIC(name, rule, dim_function, operator_)                                        \
  static stowi_graph_element name##_elements(stow_shape_call* call, stowi_graph_element a,     \
                                             stowi_graph_element b) {                          \
    match_kinds(call, &a, &b);                                                                 \
    if (are_whole(a, b)) {                                                                     \
      return stowi_graph_whole(dim_function(stow_shape_dims(call), a.whole, b.whole));         \
    }                                                                                          \
    return are_real(a, b) ? stowi_graph_real(a.real operator_ b.real) : stowi_graph_unknown(); \
  }                                                                                            \
  stow_status stowi_graph_fold_##name(stow_shape_call* call) {                                 \
    return fold_binary(call, rule, name##_elements);                                           \
  }

ARITHMETIC(add, STOWI_GRAPH_RULE_RISES, stow_dim_add, +)
ARITHMETIC(sub, STOWI_GRAPH_RULE_FIRST, stow_dim_sub, -)
ARITHMETIC(mul, STOWI_GRAPH_RULE_POSITIVE, stow_dim_mul, *)

// Whether floor division is what the op computes: nothing is negative, and the divisor is not zero.
static bool can_divide(stow_shape_call* call, stowi_graph_element a, stowi_graph_element b) {
  return are_whole(a, b) && is_at_least(call, a, 0) &&
         stow_dim_at_least(stow_shape_dims(call), b.whole, 1, 1);
}

// A quotient of dims that is a dim: whole at every point.
static stowi_graph_element divide_floats(stow_shape_call* call, stowi_graph_element a,
                                         stowi_graph_element b) {
  stow_dims* dims = stow_shape_dims(call);
  if (!can_divide(call, a, b)) {
    return stowi_graph_unknown();
  }
  stow_dim quotient = stow_dim_floor_div(dims, a.whole, b.whole);
  bool is_whole = stow_dim_same(dims, stow_dim_mul(dims, quotient, b.whole), a.whole);
  return is_whole ? stowi_graph_whole(quotient) : stowi_graph_unknown();
}

// Integer division truncates towards zero. The sign of a known zero is lost, and with it that of
// the infinity which dividing by it gives.
static stowi_graph_element div_elements(stow_shape_call* call, stowi_graph_element a,
                                        stowi_graph_element b) {
  int64_t x;
  int64_t y;
  match_kinds(call, &a, &b);
  if (are_whole(a, b) &&
      stow_dtype_kind_of(stow_shape_declared(call, 0)->dtype) == STOW_KIND_FLOAT) {
    return divide_floats(call, a, b);
  }
  if (are_numbers(call, a, b, &x, &y)) {
    bool is_possible = y != 0 && !(y == -1 && x == INT64_MIN);
    return is_possible ? number(call, x / y) : stowi_graph_unknown();
  }
  if (can_divide(call, a, b)) {
    return stowi_graph_whole(stow_dim_floor_div(stow_shape_dims(call), a.whole, b.whole));
  }
  return are_real(a, b) && b.real != 0 ? stowi_graph_real(a.real / b.real) : stowi_graph_unknown();
}

stow_status stowi_graph_fold_div(stow_shape_call* call) {
  return fold_binary(call, STOWI_GRAPH_RULE_DIVIDE, div_elements);
}

// For integers it depends on how the sum is represented.
stow_status stowi_graph_fold_mean(stow_shape_call* call) {
  uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
  size_t operands = stow_shape_operand_count(call);
  for (uint64_t i = 0; i < count; ++i) {
    stowi_graph_element sum = broadcast_get(call, 0, i);
    for (size_t k = 1; k < operands; ++k) {
      sum = stowi_graph_fold_apply(call, STOWI_GRAPH_RULE_RISES, add_elements, sum,
                                   broadcast_get(call, k, i));
    }
    sum.real /= (double)operands;
    if (sum.kind == STOWI_GRAPH_ELEMENT_REAL) {
      stowi_graph_fold_put(call, 0, i, sum);
    }
  }
  return stowi_graph_fold_end(call);
}

static stowi_graph_element mod_elements(stow_shape_call* call, stowi_graph_element a,
                                        stowi_graph_element b) {
  int64_t x;
  int64_t y;
  if (are_numbers(call, a, b, &x, &y)) {
    if (y == 0 || y == -1) {
      return y == 0 ? stowi_graph_unknown() : number(call, 0);
    }
    int64_t rest = x % y;
    bool is_other_sign = rest != 0 && (rest < 0) != (y < 0);
    return number(call,
                  is_other_sign && !stow_shape_attr_bool(call, "fmod", false) ? rest + y : rest);
  }
  if (!can_divide(call, a, b)) {
    return stowi_graph_unknown();
  }
  stow_dims* dims = stow_shape_dims(call);
  stow_dim whole = stow_dim_mul(dims, stow_dim_floor_div(dims, a.whole, b.whole), b.whole);
  return stowi_graph_whole(stow_dim_sub(dims, a.whole, whole));
}

stow_status stowi_graph_fold_mod(stow_shape_call* call) {
  return fold_binary(call, STOWI_GRAPH_RULE_EXACT, mod_elements);
}

static stowi_graph_element max_elements(stow_shape_call* call, stowi_graph_element a,
                                        stowi_graph_element b) {
  match_kinds(call, &a, &b);
  if (are_whole(a, b)) {
    return stowi_graph_whole(stow_dim_max(stow_shape_dims(call), a.whole, b.whole));
  }
  return are_ordered(a, b) ? stowi_graph_real(a.real < b.real ? b.real : a.real)
                           : stowi_graph_unknown();
}

static stowi_graph_element min_elements(stow_shape_call* call, stowi_graph_element a,
                                        stowi_graph_element b) {
  match_kinds(call, &a, &b);
  if (are_whole(a, b)) {
    return stowi_graph_whole(stow_dim_min(stow_shape_dims(call), a.whole, b.whole));
  }
  return are_ordered(a, b) ? stowi_graph_real(b.real < a.real ? b.real : a.real)
                           : stowi_graph_unknown();
}

stow_status stowi_graph_fold_max(stow_shape_call* call) {
  return fold_binary(call, STOWI_GRAPH_RULE_MAX, max_elements);
}
stow_status stowi_graph_fold_min(stow_shape_call* call) {
  return fold_binary(call, STOWI_GRAPH_RULE_RISES, min_elements);
}

// ---------------------------------------------------------------------------------------------
// Powers and roots

static stowi_graph_element sqrt_element(stow_shape_call* call, stowi_graph_element a) {
  (void)call;
  bool is_possible = a.kind == STOWI_GRAPH_ELEMENT_REAL && a.real >= 0 && a.real < 1e300;
  return is_possible ? stowi_graph_real(a.real == 0 ? 0 : stowi_square_root(a.real))
                     : stowi_graph_unknown();
}

stow_status stowi_graph_fold_sqrt(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_POSITIVE, sqrt_element);
}

#define MAX_POWER 64  // larger ones overflow, or have base 0, 1 or -1

static stowi_graph_element pow_element(stow_shape_call* call, stowi_graph_element base,
                                       int64_t power) {
  if (power < 0 || power > MAX_POWER || base.kind == STOWI_GRAPH_ELEMENT_UNKNOWN) {
    return stowi_graph_unknown();
  }
  stowi_graph_element product =
      base.kind == STOWI_GRAPH_ELEMENT_REAL ? stowi_graph_real(1) : stowi_graph_whole(1);
  for (int64_t i = 0; i < power; ++i) {
    product = mul_elements(call, product, base);
  }
  return product;
}

// The exponent may differ in type from the base.
static stowi_graph_element pow_elements(stow_shape_call* call, stowi_graph_element a,
                                        stowi_graph_element b) {
  int64_t power;
  if (stowi_graph_element_number(call, b, &power)) {
    return pow_element(call, a, power);
  }
  if (b.kind != STOWI_GRAPH_ELEMENT_REAL || !(b.real >= 0 && b.real <= MAX_POWER)) {
    return stowi_graph_unknown();
  }
  power = (int64_t)b.real;
  if (b.real == (double)power) {
    return pow_element(call, a, power);
  }
  return b.real == 0.5 ? sqrt_element(call, a) : stowi_graph_unknown();
}

stow_status stowi_graph_fold_pow(stow_shape_call* call) {
  return fold_binary(call, STOWI_GRAPH_RULE_EXACT, pow_elements);
}

// ---------------------------------------------------------------------------------------------
// One operand

static stowi_graph_element neg_element(stow_shape_call* call, stowi_graph_element a) {
  return a.kind == STOWI_GRAPH_ELEMENT_REAL
             ? stowi_graph_real(-a.real)
             : stowi_graph_whole(stow_dim_sub(stow_shape_dims(call), 0, a.whole));
}

stow_status stowi_graph_fold_neg(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_EXACT, neg_element);
}

static stowi_graph_element relu_element(stow_shape_call* call, stowi_graph_element a) {
  return max_elements(
      call, a, a.kind == STOWI_GRAPH_ELEMENT_REAL ? stowi_graph_real(0) : stowi_graph_whole(0));
}

stow_status stowi_graph_fold_relu(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_RISES, relu_element);
}

static stowi_graph_element abs_element(stow_shape_call* call, stowi_graph_element a) {
  if (a.kind == STOWI_GRAPH_ELEMENT_REAL) {
    return a.real < 0 ? stowi_graph_real(-a.real) : a;
  }
  if (is_at_least(call, a, 0)) {
    return a;
  }
  stowi_graph_element negated = neg_element(call, a);
  bool is_negative = negated.kind == STOWI_GRAPH_ELEMENT_WHOLE && is_at_least(call, negated, 0);
  return is_negative ? negated : stowi_graph_unknown();
}

stow_status stowi_graph_fold_abs(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_POSITIVE, abs_element);
}

static stowi_graph_element sign_element(stow_shape_call* call, stowi_graph_element a) {
  int64_t value;
  if (a.kind == STOWI_GRAPH_ELEMENT_REAL) {
    return a.real == a.real ? stowi_graph_real((a.real > 0) - (a.real < 0)) : stowi_graph_unknown();
  }
  if (stowi_graph_element_number(call, a, &value)) {
    return number(call, (value > 0) - (value < 0));
  }
  return is_at_least(call, a, 1) ? stowi_graph_whole(1) : stowi_graph_unknown();
}

stow_status stowi_graph_fold_sign(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_EXACT, sign_element);
}

static stowi_graph_element reciprocal_element(stow_shape_call* call, stowi_graph_element a) {
  (void)call;
  return a.kind == STOWI_GRAPH_ELEMENT_REAL && a.real != 0 ? stowi_graph_real(1 / a.real)
                                                           : stowi_graph_unknown();
}

stow_status stowi_graph_fold_reciprocal(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_EXACT, reciprocal_element);
}

static double floor_of(double x) {
  if (!(x < ALL_WHOLE && x > -ALL_WHOLE)) {
    return x;
  }
  double cut = (double)(int64_t)x;
  return cut > x ? cut - 1 : cut;
}

static stowi_graph_element floor_element(stow_shape_call* call, stowi_graph_element a) {
  (void)call;
  return a.kind == STOWI_GRAPH_ELEMENT_REAL ? stowi_graph_real(floor_of(a.real)) : a;
}

static stowi_graph_element ceil_element(stow_shape_call* call, stowi_graph_element a) {
  (void)call;
  return a.kind == STOWI_GRAPH_ELEMENT_REAL ? stowi_graph_real(-floor_of(-a.real)) : a;
}

// Halves round to even.
static stowi_graph_element round_element(stow_shape_call* call, stowi_graph_element a) {
  (void)call;
  if (a.kind != STOWI_GRAPH_ELEMENT_REAL) {
    return a;
  }
  double low = floor_of(a.real);
  double above = a.real - low;
  bool is_up = above > 0.5 || (above == 0.5 && floor_of(low / 2) * 2 != low);
  return stowi_graph_real(is_up ? low + 1 : low);
}

stow_status stowi_graph_fold_floor(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_RISES, floor_element);
}
stow_status stowi_graph_fold_ceil(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_RISES, ceil_element);
}
stow_status stowi_graph_fold_round(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_RISES, round_element);
}

static stowi_graph_element not_element(stow_shape_call* call, stowi_graph_element a) {
  int64_t truth;
  return stowi_graph_element_number(call, a, &truth) ? stowi_graph_whole(truth == 0)
                                                     : stowi_graph_unknown();
}

stow_status stowi_graph_fold_not(stow_shape_call* call) {
  return fold_unary(call, STOWI_GRAPH_RULE_EXACT, not_element);
}

// ---------------------------------------------------------------------------------------------
// Casts

static stowi_graph_element cast_to_bool(stow_shape_call* call, stowi_graph_element a) {
  int64_t value;
  if (a.kind == STOWI_GRAPH_ELEMENT_REAL) {
    return stowi_graph_whole(!(a.real == 0));
  }
  if (stowi_graph_element_number(call, a, &value)) {
    return stowi_graph_whole(value != 0);
  }
  return is_at_least(call, a, 1) ? stowi_graph_whole(1) : stowi_graph_unknown();
}

static stowi_graph_element cast_element(stow_shape_call* call, stowi_graph_element a) {
  int64_t value;
  stow_dtype_kind kind = stow_dtype_kind_of(stow_shape_declared(call, 0)->dtype);
  if (kind == STOW_KIND_BOOL) {
    return cast_to_bool(call, a);
  }
  if (kind == STOW_KIND_FLOAT) {
    bool is_number = stowi_graph_element_number(call, a, &value);
    return is_number ? stowi_graph_real((double)value) : a;
  }
  if (a.kind == STOWI_GRAPH_ELEMENT_WHOLE) {
    return a;
  }
  bool is_possible = a.real < ALL_WHOLE && a.real > -ALL_WHOLE;
  return is_possible ? number(call, (int64_t)a.real) : stowi_graph_unknown();
}

// An upper bound of 1 does not decide whether a bool is true, and negative numbers become large
// when unsigned.
stow_status stowi_graph_fold_cast(stow_shape_call* call) {
  stow_dtype_kind kind = stow_dtype_kind_of(stow_shape_declared(call, 0)->dtype);
  stowi_graph_rule rule = kind == STOW_KIND_BOOL       ? STOWI_GRAPH_RULE_EXACT
                          : kind == STOW_KIND_UNSIGNED ? STOWI_GRAPH_RULE_POSITIVE
                                                       : STOWI_GRAPH_RULE_RISES;
  return fold_unary(call, rule, cast_element);
}

// ---------------------------------------------------------------------------------------------
// Comparisons and logic

typedef enum answer { NO, YES, PERHAPS } answer;

// Whether a - b is at least |by|, which is 0 or 1, if both are exact.
static answer exceeds_exactly(stow_shape_call* call, stowi_graph_element a, stowi_graph_element b,
                              int64_t by) {
  int64_t x;
  int64_t y;
  match_kinds(call, &a, &b);
  if (are_real(a, b)) {
    return (by == 1 ? a.real > b.real : a.real >= b.real) ? YES : NO;
  }
  if (are_numbers(call, a, b, &x, &y)) {
    return (by == 1 ? x > y : x >= y) ? YES : NO;
  }
  if (!are_whole(a, b)) {
    return PERHAPS;
  }
  stow_dims* dims = stow_shape_dims(call);
  stow_dim over = stow_dim_sub(dims, a.whole, b.whole);
  if (over != STOW_DIM_INVALID && stow_dim_at_least(dims, over, by, 0)) {
    return YES;
  }
  stow_dim under = stow_dim_sub(dims, b.whole, a.whole);
  return under != STOW_DIM_INVALID && stow_dim_at_least(dims, under, 1 - by, 0) ? NO : PERHAPS;
}

// The least value of |a|: unknown if a bound may be negative.
static stowi_graph_element least(stowi_graph_element a) {
  if (a.exactness == STOWI_GRAPH_EXACT || a.kind == STOWI_GRAPH_ELEMENT_UNKNOWN) {
    return a;
  }
  return a.exactness == STOWI_GRAPH_UPPER_BOUND_SIGNED ? stowi_graph_unknown()
         : a.kind == STOWI_GRAPH_ELEMENT_REAL          ? stowi_graph_real(0)
                                                       : stowi_graph_whole(0);
}

// The same if either may be an upper bound: decided if it holds for all values.
static answer exceeds(stow_shape_call* call, stowi_graph_element a, stowi_graph_element b,
                      int64_t by) {
  if (exceeds_exactly(call, least(a), b, by) == YES) {
    return YES;
  }
  return exceeds_exactly(call, a, least(b), by) == NO ? NO : PERHAPS;
}

static answer equals(stow_shape_call* call, stowi_graph_element a, stowi_graph_element b) {
  answer not_below = exceeds(call, a, b, 0);
  answer not_above = exceeds(call, b, a, 0);
  bool are_exact = a.exactness == STOWI_GRAPH_EXACT && b.exactness == STOWI_GRAPH_EXACT;
  if (are_exact && are_whole(a, b) && a.whole == b.whole) {
    return YES;
  }
  return not_below == NO || not_above == NO     ? NO
         : not_below == YES && not_above == YES ? YES
                                                : PERHAPS;
}

static stowi_graph_element truth_of(answer given, bool is_negated) {
  return given == PERHAPS ? stowi_graph_unknown() : stowi_graph_whole((given == YES) != is_negated);
}

#define COMPARISON(name, given, is_negated)                                                \
  static stowi_graph_element name##_elements(stow_shape_call* call, stowi_graph_element a, \
                                             stowi_graph_element b) {                      \
    return truth_of((given), (is_negated));                                                \
  }                                                                                        \
  stow_status stowi_graph_fold_##name(stow_shape_call* call) {                             \
    return fold_binary(call, STOWI_GRAPH_RULE_ITSELF, name##_elements);                    \
  }

COMPARISON(eq, equals(call, a, b), false)
COMPARISON(ne, equals(call, a, b), true)
COMPARISON(lt, exceeds(call, b, a, 1), false)
COMPARISON(le, exceeds(call, b, a, 0), false)
COMPARISON(gt, exceeds(call, a, b, 1), false)
COMPARISON(ge, exceeds(call, a, b, 0), false)

// Bitwise; decided by one number alone where that suffices.
static stowi_graph_element and_elements(stow_shape_call* call, stowi_graph_element a,
                                        stowi_graph_element b) {
  int64_t x = -1;
  int64_t y = -1;
  bool is_a = stowi_graph_element_number(call, a, &x);
  bool is_b = stowi_graph_element_number(call, b, &y);
  bool is_known = (is_a && is_b) || x == 0 || y == 0;
  return is_known ? number(call, x & y) : stowi_graph_unknown();
}

static stowi_graph_element or_elements(stow_shape_call* call, stowi_graph_element a,
                                       stowi_graph_element b) {
  int64_t x = 0;
  int64_t y = 0;
  bool is_a = stowi_graph_element_number(call, a, &x);
  bool is_b = stowi_graph_element_number(call, b, &y);
  bool is_bool = stow_shape_operand(call, 0)->dtype == STOW_BOOL;
  bool is_known = (is_a && is_b) || (is_bool && (x == 1 || y == 1));
  return is_known ? number(call, x | y) : stowi_graph_unknown();
}

static stowi_graph_element xor_elements(stow_shape_call* call, stowi_graph_element a,
                                        stowi_graph_element b) {
  int64_t x;
  int64_t y;
  return are_numbers(call, a, b, &x, &y) ? number(call, x ^ y) : stowi_graph_unknown();
}

stow_status stowi_graph_fold_and(stow_shape_call* call) {
  return fold_each(call, STOWI_GRAPH_RULE_EXACT, and_elements);
}
stow_status stowi_graph_fold_or(stow_shape_call* call) {
  return fold_each(call, STOWI_GRAPH_RULE_EXACT, or_elements);
}
stow_status stowi_graph_fold_xor(stow_shape_call* call) {
  return fold_binary(call, STOWI_GRAPH_RULE_EXACT, xor_elements);
}

// ---------------------------------------------------------------------------------------------
// where, clip

stow_status stowi_graph_fold_where(stow_shape_call* call) {
  uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
  for (uint64_t i = 0; i < count; ++i) {
    stowi_graph_element a = broadcast_get(call, 1, i);
    stowi_graph_element b = broadcast_get(call, 2, i);
    int64_t truth;
    if (stowi_graph_element_number(call, broadcast_get(call, 0, i), &truth)) {
      stowi_graph_fold_put(call, 0, i, truth != 0 ? a : b);
    } else if (are_whole(a, b) && a.whole == b.whole) {
      a.exactness = a.exactness < b.exactness ? b.exactness : a.exactness;
      stowi_graph_fold_put(call, 0, i, a);
    }
  }
  return stowi_graph_fold_end(call);
}

// The bound for |x| from operand |k| or else the attribute |name|; |x| itself without either.
static stowi_graph_element clip_bound(stow_shape_call* call, size_t k, const char* name,
                                      stowi_graph_element x) {
  if (stow_shape_operand(call, k) != NULL) {
    return stowi_graph_fold_get(call, k, 0);
  }
  const stow_attr* bound = stow_shape_attr(call, name);
  bool is_open = bound == NULL || bound->f - bound->f != 0;  // infinite
  return is_open                              ? x
         : x.kind == STOWI_GRAPH_ELEMENT_REAL ? stowi_graph_real(bound->f)
                                              : stowi_graph_unknown();
}

stow_status stowi_graph_fold_clip(stow_shape_call* call) {
  uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
  for (uint64_t i = 0; i < count; ++i) {
    stowi_graph_element x = broadcast_get(call, 0, i);
    x = stowi_graph_fold_apply(call, STOWI_GRAPH_RULE_MAX, max_elements, x,
                               clip_bound(call, 1, "min", x));
    x = stowi_graph_fold_apply(call, STOWI_GRAPH_RULE_RISES, min_elements, x,
                               clip_bound(call, 2, "max", x));
    stowi_graph_fold_put(call, 0, i, x);
  }
  return stowi_graph_fold_end(call);
}
