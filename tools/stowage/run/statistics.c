// Statistics in double precision, two passes for the deviation, in the order of the elements: the
// same numbers on every machine.
#include "run/statistics.h"

#include <math.h>
#include <string.h>

#include "tensors/array.h"
#include "tensors/element.h"

static void count_element(cli_statistics* s, double number, size_t* finite) {
  if (isnan(number)) {
    ++s->nans;
  } else if (isinf(number)) {
    ++s->infinities;
  } else {
    s->min = *finite == 0 || number < s->min ? number : s->min;
    s->max = *finite == 0 || number > s->max ? number : s->max;
    s->mean += number;
    ++*finite;
  }
}

cli_statistics cli_statistics_of(const stow_tensor* tensor) {
  cli_statistics s = {.elements = stow_tensor_elements(tensor)};
  unsigned parts = cli_element_parts(tensor->dtype);
  size_t finite = 0;
  for (size_t i = 0; i < s.elements; ++i) {
    for (unsigned p = 0; p < parts; ++p) {
      count_element(&s, cli_element(tensor, i, p), &finite);
    }
  }
  if (finite == 0) {
    return s;
  }
  s.mean /= (double)finite;
  double squares = 0.0;
  for (size_t i = 0; i < s.elements; ++i) {
    for (unsigned p = 0; p < parts; ++p) {
      double number = cli_element(tensor, i, p);
      squares += isfinite(number) ? (number - s.mean) * (number - s.mean) : 0.0;
    }
  }
  s.deviation = sqrt(squares / (double)finite);
  return s;
}

bool cli_is_row(const stow_tensor* tensor) {
  stow_dtype_kind kind = stow_dtype_kind_of(tensor->dtype);
  size_t elements = stow_tensor_elements(tensor);
  return tensor->rank > 0 && elements > 1 && kind != STOW_KIND_BOOL && kind != STOW_KIND_COMPLEX &&
         (size_t)tensor->dims[tensor->rank - 1] == elements;
}

size_t cli_find_largest(const stow_tensor* tensor, size_t most, size_t out[CLI_MOST_LARGEST]) {
  size_t elements = stow_tensor_elements(tensor);
  size_t count = 0;
  for (size_t i = 0; i < elements; ++i) {
    double number = cli_element(tensor, i, 0);
    if (isnan(number)) {
      continue;
    }
    size_t at = count;
    while (at > 0 && cli_element(tensor, out[at - 1], 0) < number) {
      --at;
    }
    if (at == most) {
      continue;
    }
    count += count < most;
    memmove(&out[at + 1], &out[at], (count - at - 1) * sizeof out[0]);
    out[at] = i;
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Comparing

static void compare_element(cli_comparison* c, size_t index, double actual, double expected,
                            double rtol, double atol) {
  if ((isnan(actual) && isnan(expected)) || actual == expected) {
    return;
  }
  double error = fabs(actual - expected);
  if (!isfinite(actual) || !isfinite(expected)) {
    ++c->wrong;
    c->worst = c->worst == SIZE_MAX ? index : c->worst;
    return;
  }
  c->wrong += !(error <= atol + rtol * fabs(expected));
  if (error > c->max_absolute) {
    c->max_absolute = error;
    c->worst = index;
  }
  double relative = expected == 0.0 ? 0.0 : error / fabs(expected);
  c->max_relative = relative > c->max_relative ? relative : c->max_relative;
}

cli_comparison cli_compare(const stow_tensor* actual, const stow_tensor* expected, double rtol,
                           double atol) {
  cli_comparison c = {.worst = SIZE_MAX};
  stow_type a = cli_tensor_type(actual);
  stow_type b = cli_tensor_type(expected);
  c.is_type_same = stow_type_equal(&a, &b);
  size_t elements = c.is_type_same ? stow_tensor_elements(actual) : 0;
  for (size_t i = 0; i < elements; ++i) {
    for (unsigned p = 0; p < cli_element_parts(actual->dtype); ++p) {
      compare_element(&c, i, cli_element(actual, i, p), cli_element(expected, i, p), rtol, atol);
    }
  }
  return c;
}
