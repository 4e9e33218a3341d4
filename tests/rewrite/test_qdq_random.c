// Random patterns of the rule `qdq`, run as they are and rewritten: integers differ by at most one.
//
// A pattern has one node that may differ; before and after it elements are moved, which must not
// change anything. (Of two in a row the second one has other operands.)
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/text.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "support/test.h"

#define PATTERNS 4000
#define PATTERNS_LONG 40000
#define MOST_CHANNELS 64

typedef struct maker {
  test_random* random;
  char text[32768];
  size_t size;
  int next;     // id of the next value
  int value;    // the last one that was made
  int dims[4];  // its dims
  int rank;
  float tie;  // a scale with which many results are halfway between two integers
} maker;

static int draw(maker* m, int bound) { return (int)test_random_below(m->random, (uint64_t)bound); }

__attribute__((format(printf, 2, 3))) static void put(maker* m, const char* format, ...) {
  va_list list;
  va_start(list, format);
  m->size += (size_t)vsnprintf(m->text + m->size, sizeof(m->text) - m->size, format, list);
  va_end(list);
  REQUIRE(m->size < sizeof(m->text));
}

static void put_dims(maker* m, const char* dtype, const int* dims, int rank) {
  put(m, " : %s[", dtype);
  for (int i = 0; i < rank; ++i) {
    put(m, "%s%d", i == 0 ? "" : ", ", dims[i]);
  }
  put(m, "]\n");
}

static void end_line(maker* m, const char* dtype) {
  put_dims(m, dtype, m->dims, m->rank);
  m->value = m->next++;
}

static int elements(const int* dims, int rank) {
  int count = 1;
  for (int i = 0; i < rank; ++i) {
    count *= dims[i];
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Scales

typedef struct quant {
  const char* dtype;
  float scale;
  int scale_id;
  int zero_id;  // -1: none
} quant;

// Of some thousand scales between |about| / 4 and |about| × 4, a few of them powers of two.
static float draw_scale(maker* m, float about) {
  float factor = (float)(draw(m, 4096) + 1024) / 1024.0F;
  float scale = about * factor / (draw(m, 2) == 0 ? 4.0F : 1.0F);
  int exponent = 0;
  if (draw(m, 4) == 0) {
    while (scale < 0.5F) {
      scale *= 2;
      ++exponent;
    }
    scale = 1.0F / (float)(1U << (exponent < 30 ? exponent : 30));
  }
  return scale;
}

static quant put_scale(maker* m, float scale, const char* dtype) {
  quant q = {dtype, scale, m->next, -1};
  bool is_signed = dtype[0] == 'i';
  put(m, "  %%%d = param \"s%d\" {data = [%a]} : f32[]\n", m->next, m->next, (double)q.scale);
  ++m->next;
  int zero = draw(m, 3) == 0 ? (is_signed ? -128 : 0) : draw(m, 256) - (is_signed ? 128 : 0);
  if (!(draw(m, 4) == 0 && !is_signed)) {
    q.zero_id = m->next;
    put(m, "  %%%d = param \"z%d\" {data = [%d]} : %s[]\n", m->next, m->next, zero, dtype);
    ++m->next;
  }
  return q;
}

static quant put_quant(maker* m, float about, const char* dtype) {
  return put_scale(m, draw_scale(m, about), dtype);
}

static void put_scaled(maker* m, const char* op, int value, quant q, const char* dtype) {
  put(m, "  %%%d = %s(%%%d, %%%d", m->next, op, value, q.scale_id);
  put(m, q.zero_id < 0 ? ")" : ", %%%d)", q.zero_id);
  end_line(m, dtype);
}

static void quantize(maker* m, quant q) { put_scaled(m, "quantize_linear", m->value, q, q.dtype); }

static void dequantize(maker* m, quant q) {
  put_scaled(m, "dequantize_linear", m->value, q, "f32");
}

static void put_input(maker* m, const char* name, const char* dtype) {
  put(m, "  %%%d = input \"%s\"", m->next, name);
  end_line(m, dtype);
}

// ---------------------------------------------------------------------------------------------
// What is computed

static void put_ints(maker* m, const char* name, const char* dtype, const int* dims, int rank,
                     int low, int count) {
  put(m, "  %%%d = param \"%s\" {data = [", m->next++, name);
  for (int i = 0; i < elements(dims, rank); ++i) {
    put(m, "%s%d", i == 0 ? "" : ", ", low + draw(m, count));
  }
  put(m, "]}");
  put_dims(m, dtype, dims, rank);
}

// Weights with one scale, or one for each index of |axis|; returns the id, and scales.
static int put_weights(maker* m, const int* dims, int rank, int axis, float* scales) {
  bool is_signed = draw(m, 2) == 0;
  bool has_one = draw(m, 2) == 0;
  CHECK(dims[axis] <= MOST_CHANNELS);
  const char* dtype = is_signed ? "i8" : "u8";
  int w = m->next;
  put_ints(m, "w", dtype, dims, rank, is_signed ? -128 : 0, 256);
  int s = m->next;
  put(m, "  %%%d = param \"sw\" {data = [", m->next++);
  for (int i = 0; i < dims[axis]; ++i) {
    scales[i] = i > 0 && has_one ? scales[0] : draw_scale(m, 0.01F);
    if (i == 0 || !has_one) {
      put(m, "%s%a", i == 0 ? "" : ", ", (double)scales[i]);
    }
  }
  put(m, "]} : f32[%d]\n", has_one ? 1 : dims[axis]);
  int zero = is_signed && draw(m, 2) == 0 ? -1 : m->next;
  if (zero >= 0) {
    put_ints(m, "zw", dtype, (int[]){has_one ? 1 : dims[axis]}, 1, is_signed ? -20 : 100, 40);
  }
  put(m, "  %%%d = dequantize_linear(%%%d, %%%d", m->next, w, s);
  put(m, zero < 0 ? ")" : ", %%%d)", zero);
  put(m, " {axis = %d}", axis);
  put_dims(m, "f32", dims, rank);
  return m->next++;
}

// Integers, or floats that are multiples; -1: none.
static int put_bias(maker* m, int count, float x_scale, const float* scales) {
  int kind = draw(m, 3);
  if (kind == 0) {
    return -1;
  }
  put(m, "  %%%d = param \"b\" {data = [", m->next++);
  for (int i = 0; i < count; ++i) {
    int number = draw(m, 4001) - 2000;
    put(m, kind == 1 ? "%s%.0f" : "%s%a", i == 0 ? "" : ", ",
        kind == 1 ? (double)number : (double)((float)number * (x_scale * scales[i])));
  }
  put(m, "]} : %s[%d]\n", kind == 1 ? "i32" : "f32", count);
  if (kind == 2) {
    return m->next - 1;
  }
  put(m, "  %%%d = param \"sb\" {data = [", m->next++);
  for (int i = 0; i < count; ++i) {
    put(m, "%s%a", i == 0 ? "" : ", ", (double)(x_scale * scales[i]));
  }
  put(m, "]} : f32[%d]\n  %%%d = dequantize_linear(%%%d, %%%d) {axis = 0} : f32[%d]\n", count,
      m->next, m->next - 2, m->next - 1, count);
  return m->next++;
}

static void put_product(maker* m, const char* op, int x, int w, int bias, const char* attrs) {
  put(m, "  %%%d = %s(%%%d, %%%d", m->next, op, x, w);
  put(m, bias < 0 ? ")" : ", %%%d)", bias);
  put(m, " {%s}", attrs);
  end_line(m, "f32");
}

static float convolve(maker* m, quant x) {
  float scales[MOST_CHANNELS];
  int group = draw(m, 3) == 0 ? m->dims[1] : 1;
  int size = draw(m, 2) == 0 || m->dims[2] < 3 || m->dims[3] < 3 ? 1 : 3;
  int channels = group == 1 ? 1 + draw(m, 6) : group;
  int from = m->value;
  int w[] = {channels, m->dims[1] / group, size, size};
  int weights = put_weights(m, w, 4, 0, scales);
  int bias = put_bias(m, channels, x.scale, scales);
  char attrs[64];
  bool is_padded = draw(m, 2) == 0;
  snprintf(attrs, sizeof(attrs), "pads = [%d, %d, %d, %d], group = %d", is_padded, is_padded,
           is_padded, is_padded, group);
  m->dims[1] = channels;
  m->dims[2] += 2 * is_padded - size + 1;
  m->dims[3] += 2 * is_padded - size + 1;
  put_product(m, "conv", from, weights, bias, attrs);
  m->tie = x.scale * scales[0] * 64.0F;
  return m->tie;
}

static float multiply(maker* m, quant x) {
  float scales[MOST_CHANNELS];
  bool is_gemm = draw(m, 2) == 0;
  bool is_turned = is_gemm && draw(m, 2) == 0;
  int from = m->value;
  int rows = m->dims[m->rank - 1];
  int columns = 1 + draw(m, 8);
  int dims[] = {is_turned ? columns : rows, is_turned ? rows : columns};
  if (is_gemm && m->rank != 2) {
    m->dims[0] = elements(m->dims, m->rank - 1);
    m->dims[1] = rows;
    m->rank = 2;
    put(m, "  %%%d = reshape(%%%d)", m->next, from);
    end_line(m, "f32");
    from = m->value;
  }
  int weights = put_weights(m, dims, 2, is_turned ? 0 : 1, scales);
  int bias = is_gemm ? put_bias(m, columns, x.scale, scales) : -1;
  m->dims[m->rank - 1] = columns;
  put_product(m, is_gemm ? "gemm" : "matmul", from, weights, bias,
              is_turned ? "trans_b = true" : "");
  m->tie = x.scale * scales[0] * 64.0F;
  return m->tie;
}

// With a second tensor of another scale, or the same.
static float combine(maker* m, quant x, int other, quant y) {
  static const char* const ops[] = {"add", "mul", "concat"};
  int which = draw(m, 3);
  int a = m->value;
  m->value = other;
  dequantize(m, y);
  put(m, "  %%%d = %s(%%%d, %%%d)%s", m->next, ops[which], a, m->value,
      which == 2 ? " {axis = 1}" : "");
  m->dims[1] *= which == 2 ? 2 : 1;
  end_line(m, "f32");
  m->tie = which == 1 ? x.scale * y.scale * 64.0F : x.scale;
  return m->tie;
}

static float apply_unary(maker* m, quant x) {
  static const char* const ops[] = {"sigmoid", "leaky_relu", "relu", "softmax"};
  int which = draw(m, 4);
  put(m, "  %%%d = %s(%%%d)", m->next, ops[which], m->value);
  if (which == 3) {
    put(m, " {axis = %d, flatten = %s}", draw(m, m->rank), draw(m, 2) == 0 ? "true" : "false");
  }
  end_line(m, "f32");
  return which == 0 || which == 3 ? 0.004F : x.scale;
}

static float average(maker* m, quant x) {
  bool is_global = draw(m, 2) == 0 || m->dims[2] < 2 || m->dims[3] < 2;
  put(m, "  %%%d = pool(%%%d) {op = \"avg\", ", m->next, m->value);
  if (is_global) {
    put(m, "global = true}");
    m->dims[2] = m->dims[3] = 1;
  } else {
    put(m, "kernel = [2, 2], pads = [1, 1, 0, 0], count_include_pad = %s}",
        draw(m, 2) == 0 ? "true" : "false");
  }
  end_line(m, "f32");
  return x.scale;
}

// ---------------------------------------------------------------------------------------------
// What is moved

static void move(maker* m) {
  int kind = draw(m, m->rank == 4 ? 5 : 1);
  put(m, "  %%%d = ", m->next);
  if (kind == 0) {
    int last = m->dims[m->rank - 1];
    put(m, "transpose(%%%d) {perm = [%s]}", m->value,
        m->rank == 2   ? "1, 0"
        : m->rank == 3 ? "0, 2, 1"
                       : "0, 1, 3, 2");
    m->dims[m->rank - 1] = m->dims[m->rank - 2];
    m->dims[m->rank - 2] = last;
  } else if (kind == 1) {
    put(m, "pool(%%%d) {kernel = [2, 2], pads = [0, 0, 1, 1]}", m->value);
  } else if (kind == 2) {
    put(m, "pad(%%%d) {pads = [0, 0, 1, 0, 0, 0, 0, 1]}", m->value);
    ++m->dims[2];
    ++m->dims[3];
  } else if (kind == 3) {
    put(m, "narrow(%%%d) {axis = 1, start = 0, len = %d}", m->value, m->dims[1]);
  } else {
    put(m, "reshape(%%%d)", m->value);
    m->dims[1] *= m->dims[2];
    m->dims[2] = 1;
  }
  end_line(m, "f32");
}

static void activate(maker* m) {
  int kind = draw(m, 4);
  if (kind < 2) {
    put(m, kind == 0 ? "  %%%d = relu(%%%d)" : "  %%%d = clip(%%%d) {min = 0.0, max = 6.0}",
        m->next, m->value);
    end_line(m, "f32");
  }
}

static const char* draw_dtype(maker* m) { return draw(m, 2) == 0 ? "u8" : "i8"; }

static float compute(maker* m, quant x, int other, quant y) {
  switch (draw(m, m->rank == 4 ? 7 : 4)) {
    case 0: return apply_unary(m, x);
    case 1: return combine(m, x, other, y);
    case 2: return multiply(m, x);
    case 3: return x.scale;
    case 4: return average(m, x);
    default: return convolve(m, x);
  }
}

static void make_pattern(maker* m, test_random* random) {
  *m = (maker){.random = random, .rank = 2 + draw(&(maker){.random = random}, 3)};
  for (int i = 0; i < m->rank; ++i) {
    m->dims[i] = 1 + draw(m, i == 0 ? 2 : 5);
  }
  put(m, "graph @g {\n");
  const char* dtype = draw_dtype(m);
  put_input(m, "x", dtype);
  quant x = put_quant(m, 0.02F, dtype);
  m->value = 0;
  dequantize(m, x);
  if (draw(m, 2) == 0) {
    move(m);
    if (draw(m, 2) == 0) {
      quantize(m, x);
      dequantize(m, x);
    }
  }
  int first = m->value;
  put_input(m, "y", dtype);
  int other = m->value;
  quant y = draw(m, 2) == 0 ? x : put_quant(m, 0.02F, dtype);
  m->value = first;
  m->tie = x.scale;
  float about = compute(m, x, other, y);
  activate(m);
  float scale = draw(m, 2) == 0 ? m->tie : draw_scale(m, about);
  quant out = put_scale(m, scale, draw(m, 4) == 0 ? draw_dtype(m) : dtype);
  quantize(m, out);
  if (draw(m, 2) == 0) {
    dequantize(m, out);
    move(m);
    quantize(m, out);
  }
  put(m, "  return %%%d\n}\n", m->value);
}

// Long sums, of two inputs.
static void make_deep(maker* m, test_random* random) {
  *m = (maker){.random = random, .rank = 2};
  int depth = 256 + draw(m, 768);
  put(m, "graph @g {\n");
  m->dims[0] = 3;
  m->dims[1] = depth;
  const char* dtype = draw_dtype(m);
  put_input(m, "x", dtype);
  quant x = put_quant(m, 0.02F, dtype);
  m->value = 0;
  dequantize(m, x);
  int left = m->value;
  m->dims[0] = depth;
  m->dims[1] = 4;
  dtype = draw_dtype(m);
  put_input(m, "y", dtype);
  int right = m->value;
  quant y = put_quant(m, 0.02F, dtype);
  m->value = right;
  dequantize(m, y);
  m->dims[0] = 3;
  put_product(m, "matmul", left, m->value, -1, "");
  quantize(m, put_scale(m, x.scale * y.scale * 1024.0F, draw_dtype(m)));
  put(m, "  return %%%d\n}\n", m->value);
}

// ---------------------------------------------------------------------------------------------

typedef struct tally {
  uint64_t patterns;
  uint64_t fired;  // times
  uint64_t whole;  // patterns of which no float is left
  uint64_t same;   // elements
  uint64_t off;    // by one
  uint64_t exact;  // patterns without one that is off
} tally;

static int number_at(const run_output* out, size_t i) {
  return out->dtype == STOW_I8 ? ((const int8_t*)out->data)[i] : out->data[i];
}

static void compare(tally* t, const run_output* a, const run_output* b, const char* text) {
  uint64_t off = 0;
  bool is_good = a->dtype == b->dtype && a->count == b->count;
  for (size_t i = 0; is_good && i < a->count; ++i) {
    int difference = abs(number_at(a, i) - number_at(b, i));
    is_good = difference <= 1;
    off += difference != 0;
  }
  test_check(is_good, __FILE__, __LINE__, "differs by more than one:\n%s", text);
  t->same += a->count - off;
  t->off += off;
  t->exact += off == 0;
}

static bool has_floats(const stow_graph* graph) {
  bool has = false;
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    has = has || (stow_graph_type(graph, value)->dtype == STOW_F32 &&
                  !stow_graph_is_boundary(graph, value));
  }
  return has;
}

static stow_rewritten* rewrite_without(const stow_graph* graph, uint32_t off) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = off;
  stow_rewritten* r = rewrite_graph(graph, &options);
  CHECK(stow_graph_verify(stow_rewritten_graph(r), NULL) == STOW_OK);
  return r;
}

// What the rule does does not depend on others, and exact rules change no bit of it.
static void check_others(const stow_graph* graph, const stow_rewritten* r, uint64_t seed,
                         const run_output* expected) {
  static run_output after;
  stow_rewritten* all = rewrite_without(graph, 0);
  CHECK_U64(stow_rewritten_count(all, STOW_REWRITE_QDQ), stow_rewritten_count(r, STOW_REWRITE_QDQ));
  run_first_output(graph, all, seed, &after);
  test_check(after.count == expected->count && memcmp(after.data, expected->data, after.count) == 0,
             __FILE__, __LINE__, "seed %" PRIu64, seed);
  stow_rewritten_destroy(all);
}

static void try_seed(tally* t, uint64_t seed) {
  static maker m;
  static run_output before, after;
  test_random random = {seed};
  if (seed % 16 == 0) {
    make_deep(&m, &random);
  } else {
    make_pattern(&m, &random);
  }
  stow_module* module = parse_graph(m.text);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_rewritten* r = rewrite_without(graph, ~stow_rewrite_bit(STOW_REWRITE_QDQ));
  run_first_output(graph, NULL, seed, &before);
  run_first_output(graph, r, seed, &after);
  compare(t, &before, &after, m.text);
  check_others(graph, r, seed, &after);
  t->fired += stow_rewritten_count(r, STOW_REWRITE_QDQ);
  t->whole += !has_floats(stow_rewritten_graph(r));
  ++t->patterns;
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
}

TEST(IntegersDifferByAtMostOne) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= (test_is_long() ? PATTERNS_LONG : PATTERNS); ++seed) {
    try_seed(&t, seed);
  }
  printf("%" PRIu64 " patterns, fired %" PRIu64 " times, %" PRIu64 " without floats, %" PRIu64
         " exact; elements: %" PRIu64 " the same, %" PRIu64 " off by one\n",
         t.patterns, t.fired, t.whole, t.exact, t.same, t.off);
  CHECK(t.fired > t.patterns);
  CHECK(t.whole * 2 > t.patterns);
  CHECK(t.off * 100 < t.same && t.off > 0);
}
