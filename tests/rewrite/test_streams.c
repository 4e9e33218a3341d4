// The rule `stream`: what it makes, and that every bit stays. What it leaves: near_misses/.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "exec/run/stream.h"
#include "rewrite/rewrite_support.h"
#include "rewrite/rings.h"
#include "rewrite/run_text.h"
#include "support/test.h"

#define GRAPHS 300
#define GRAPHS_LONG 10000
#define MOST_VALUES 64

static stow_rewrite_options streams_alone(void) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = ~stow_rewrite_bit(STOW_REWRITE_STREAM);
  return options;
}

// ---------------------------------------------------------------------------------------------
// What it makes

#define LARGE                                                                               \
  "graph @g {\n"                                                                            \
  "  %0 = input \"x\" : f32[1, 2, 64, 64]\n"                                                \
  "  %1 = param \"w\" : f32[8, 2, 3, 3]\n"                                                  \
  "  %2 = param \"v\" : f32[2, 8, 3, 3]\n"                                                  \
  "  %3 \"a\" = conv(%0, %1) {pads = [1, 1, 1, 1]} : f32[1, 8, 64, 64]\n"                   \
  "  %4 = relu(%3) : f32[1, 8, 64, 64]\n"                                                   \
  "  %5 \"b\" = conv(%4, %2) {pads = [1, 1, 1, 1], strides = [4, 4]} : f32[1, 2, 16, 16]\n" \
  "  %6 \"y\" = reduce(%5) {axes = [1, 2, 3]} : f32[1, 1, 1, 1]\n"                          \
  "  return %6\n}\n"

TEST(WhatIsLargeStreams) {
  REWRITES(STOW_REWRITE_STREAM, LARGE,
           "graph @g {\n"
           "  function @conv_relu_conv {\n"
           "    %0 = input \"x0\" : f32[8, 2, 3, 3]\n"
           "    %1 = input \"x1\" : f32[2, 8, 3, 3]\n"
           "    %2 = input \"x2\" : f32[1, 2, 64, 64]\n"
           "    %3 = conv(%2, %0) {pads = [1, 1, 1, 1]} : f32[1, 8, 64, 64]\n"
           "    %4 = relu(%3) : f32[1, 8, 64, 64]\n"
           "    %5 = conv(%4, %1) {pads = [1, 1, 1, 1], strides = [4, 4]} : f32[1, 2, 16, 16]\n"
           "    return %5\n"
           "  }\n"
           "  %0 = input \"x\" : f32[1, 2, 64, 64]\n"
           "  %1 = param \"w\" : f32[8, 2, 3, 3]\n"
           "  %2 = param \"v\" : f32[2, 8, 3, 3]\n"
           "  %3 \"b\" = stream(%1, %2, %0) {function = \"conv_relu_conv\", of = [\"a\", \"b\"]} : "
           "f32[1, 2, 16, 16]\n"
           "  %4 \"y\" = reduce(%3) {axes = [1, 2, 3]} : f32[1, 1, 1, 1]\n"
           "  return %4\n"
           "}\n");
}

TEST(NumbersOfOperandsBecomeAttributes) {
  REWRITES(STOW_REWRITE_STREAM,
           "graph @g {\n"
           "  %0 = input \"x\" : f32[1, 4, 16, 16]\n"
           "  %1 = constant \"scales\" {data = [0x1p+0, 0x1p+0, 0x1p+2, 0x1p+2]} : f32[4]\n"
           "  %2 = constant \"pads\" {data = [0, 0, 1, 1, 0, 0, 1, 1]} : i64[8]\n"
           "  %3 = constant \"sizes\" {data = [3, 1]} : i64[2]\n"
           "  %4 = resize(%0, _, %1) {coordinates = \"asymmetric\", nearest_mode = \"floor\"} : "
           "f32[1, 4, 64, 64]\n"
           "  %5 = pad(%4, _, %2) : f32[1, 4, 66, 66]\n"
           "  %6, %7 = split(%5, %3) {axis = 1} : f32[1, 3, 66, 66], f32[1, 1, 66, 66]\n"
           "  %8 = add(%6, %7) : f32[1, 3, 66, 66]\n"
           "  %9 = pool(%8) {kernel = [3, 3], strides = [3, 3]} : f32[1, 3, 22, 22]\n"
           "  %10 \"y\" = reduce(%9) {axes = [1, 2, 3]} : f32[1, 1, 1, 1]\n"
           "  return %10\n}\n",
           "graph @g {\n"
           "  function @resize_pad_split_add_pool {\n"
           "    %0 = input \"x0\" : f32[1, 4, 16, 16]\n"
           "    %1 = resize(%0) {coordinates = \"asymmetric\", nearest_mode = \"floor\"} : "
           "f32[1, 4, 64, 64]\n"
           "    %2 = pad(%1) {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : f32[1, 4, 66, 66]\n"
           "    %3, %4 = split(%2) {axis = 1, sizes = [3, 1]} : f32[1, 3, 66, 66], f32[1, 1, 66, "
           "66]\n"
           "    %5 = add(%3, %4) : f32[1, 3, 66, 66]\n"
           "    %6 = pool(%5) {kernel = [3, 3], strides = [3, 3]} : f32[1, 3, 22, 22]\n"
           "    return %6\n"
           "  }\n"
           "  %0 = input \"x\" : f32[1, 4, 16, 16]\n"
           "  %1 = constant \"scales\" {data = [0x1p+0, 0x1p+0, 0x1p+2, 0x1p+2]} : f32[4]\n"
           "  %2 = constant \"pads\" {data = [0, 0, 1, 1, 0, 0, 1, 1]} : i64[8]\n"
           "  %3 = constant \"sizes\" {data = [3, 1]} : i64[2]\n"
           "  %4 = stream(%0) {function = \"resize_pad_split_add_pool\"} : f32[1, 3, 22, 22]\n"
           "  %5 \"y\" = reduce(%4) {axes = [1, 2, 3]} : f32[1, 1, 1, 1]\n"
           "  return %5\n"
           "}\n");
}

static size_t count_fired(const char* text) {
  stow_module* module = parse_graph(text);
  stow_rewrite_options options = streams_alone();
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), &options);
  size_t fired = stow_rewritten_count(r, STOW_REWRITE_STREAM);
  stow_rewritten_info info = {.struct_size = sizeof(info)};
  CHECK(stow_rewritten_describe(r, &info) == STOW_OK);
  CHECK((info.streamed_nodes != 0) == (fired != 0) && (info.streamed_work != 0) == (fired != 0));
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
  return fired;
}

TEST(NothingStreamsUnlessAsked) {
  stow_module* module = parse_graph(LARGE);
  stow_rewritten* r = rewrite_graph(stow_module_graph(module, 0), NULL);
  CHECK_U64(stow_rewritten_count(r, STOW_REWRITE_STREAM), 0);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
  CHECK_U64(count_fired(LARGE), 1);
}

TEST(FailedAllocationsAreReported) {
  stow_rewrite_options options = streams_alone();
  options.off &= ~stow_rewrite_bit(STOW_REWRITE_BLOCKS);
  CHECK(rewrite_with_faults(LARGE, &options) > 50);
}

// ---------------------------------------------------------------------------------------------
// Random graphs

typedef struct image {
  unsigned id;
  unsigned channels, rows, columns;
} image;

typedef struct maker {
  test_random random;
  char text[65536];
  size_t size;
  unsigned next;  // id
  image images[MOST_VALUES];
  size_t count;
} maker;

static unsigned below(maker* m, unsigned bound) {
  return (unsigned)test_random_below(&m->random, bound);
}

static void put(maker* m, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  m->size += (size_t)vsnprintf(m->text + m->size, sizeof(m->text) - m->size, format, arguments);
  va_end(arguments);
}

static unsigned add_param(maker* m, unsigned a, unsigned b, unsigned c, unsigned d) {
  put(m, "  %%%u = param \"p%u\" : f32[%u, %u, %u, %u]\n", m->next, m->next, a, b, c, d);
  return m->next++;
}

static void end_image(maker* m, unsigned channels, unsigned rows, unsigned columns) {
  put(m, " : f32[1, %u, %u, %u]\n", channels, rows, columns);
  m->images[m->count++] = (image){m->next++, channels, rows, columns};
}

static unsigned window(unsigned in, unsigned pads, unsigned extent, unsigned stride) {
  return (in + pads - extent) / stride + 1;
}

// Padding of the four sides, less than the extent of a window.
typedef struct sides {
  unsigned top, left, bottom, right;
} sides;

static sides draw_sides(maker* m, unsigned extent) {
  unsigned same = extent / 2;
  bool is_same = below(m, 3) != 0;
  return is_same ? (sides){same, same, same, same}
                 : (sides){below(m, extent), below(m, extent), below(m, extent), below(m, extent)};
}

static void add_conv(maker* m, image x) {
  unsigned kernel = below(m, 3) == 0 ? 1 : 3;
  unsigned dilation = 1 + (below(m, 4) == 0);
  unsigned stride = 1 + (below(m, 3) == 0);
  unsigned extent = (kernel - 1) * dilation + 1;
  sides s = draw_sides(m, extent);
  bool is_depthwise = below(m, 3) == 0;
  unsigned channels = is_depthwise ? x.channels : 1 + below(m, 24);
  if (x.rows + s.top + s.bottom < extent || x.columns + s.left + s.right < extent) {
    return;
  }
  unsigned w = add_param(m, channels, is_depthwise ? 1 : x.channels, kernel, kernel);
  put(m,
      "  %%%u = conv(%%%u, %%%u) {pads = [%u, %u, %u, %u], strides = [%u, %u], dilations = [%u, "
      "%u], group = %u}",
      m->next, x.id, w, s.top, s.left, s.bottom, s.right, stride, stride, dilation, dilation,
      is_depthwise ? channels : 1);
  end_image(m, channels, window(x.rows, s.top + s.bottom, extent, stride),
            window(x.columns, s.left + s.right, extent, stride));
}

static void add_pool(maker* m, image x) {
  unsigned extent = 2 + below(m, 2), stride = 1 + below(m, 2);
  sides s = draw_sides(m, extent);
  if (x.rows + s.top + s.bottom < extent || x.columns + s.left + s.right < extent) {
    return;
  }
  put(m,
      "  %%%u = pool(%%%u) {op = \"%s\", kernel = [%u, %u], strides = [%u, %u], pads = [%u, %u, "
      "%u, %u]}",
      m->next, x.id, below(m, 2) == 0 ? "max" : "avg", extent, extent, stride, stride, s.top,
      s.left, s.bottom, s.right);
  end_image(m, x.channels, window(x.rows, s.top + s.bottom, extent, stride),
            window(x.columns, s.left + s.right, extent, stride));
}

static void add_activation(maker* m, image x) {
  static const char* const ops[] = {"relu", "sigmoid", "tanh", "neg"};
  put(m, "  %%%u = %s(%%%u)", m->next, ops[below(m, 4)], x.id);
  end_image(m, x.channels, x.rows, x.columns);
}

// With another image that has the same rows and columns.
static void add_pair(maker* m, image x) {
  for (size_t tries = 0; tries < 8; ++tries) {
    image y = m->images[below(m, (unsigned)m->count)];
    if (y.rows != x.rows || y.columns != x.columns) {
      continue;
    }
    if (y.channels == x.channels && below(m, 2) == 0) {
      put(m, "  %%%u = %s(%%%u, %%%u)", m->next, below(m, 2) == 0 ? "add" : "mul", x.id, y.id);
      end_image(m, x.channels, x.rows, x.columns);
    } else if (x.channels + y.channels <= 48) {
      put(m, "  %%%u = concat(%%%u, %%%u) {axis = 1}", m->next, x.id, y.id);
      end_image(m, x.channels + y.channels, x.rows, x.columns);
    }
    return;
  }
}

static void add_split(maker* m, image x) {
  unsigned first = x.channels / 2;
  if (first == 0 || m->count + 2 > MOST_VALUES) {
    return;
  }
  put(m, "  %%%u, %%%u = split(%%%u) {axis = 1, sizes = [%u, %u]} : f32[1, %u, %u, %u]", m->next,
      m->next + 1, x.id, first, x.channels - first, first, x.rows, x.columns);
  put(m, ", f32[1, %u, %u, %u]\n", x.channels - first, x.rows, x.columns);
  m->images[m->count++] = (image){m->next++, first, x.rows, x.columns};
  m->images[m->count++] = (image){m->next++, x.channels - first, x.rows, x.columns};
}

static void add_resize(maker* m, image x) {
  unsigned by = 2 + below(m, 2);
  bool has_scales = below(m, 2) == 0;
  if (x.rows * by > 80 || x.columns * by > 80) {
    return;
  }
  if (has_scales) {
    put(m, "  %%%u = constant \"s%u\" {data = [1, 1, %u, %u]} : f32[4]\n", m->next, m->next, by,
        by);
    ++m->next;
  }
  put(m, "  %%%u = resize(%%%u", m->next, x.id);
  put(m, has_scales ? ", _, %%%u" : "", m->next - 1);
  put(m, ") {coordinates = \"asymmetric\", nearest_mode = \"floor\"}");
  end_image(m, x.channels, x.rows * by, x.columns * by);
}

static void add_pad(maker* m, image x) {
  unsigned top = below(m, 3), left = below(m, 3), bottom = below(m, 3), right = below(m, 3);
  bool is_operand = below(m, 2) == 0;
  if (is_operand) {
    put(m, "  %%%u = constant \"q%u\" {data = [0, 0, %u, %u, 0, 0, %u, %u]} : i64[8]\n", m->next,
        m->next, top, left, bottom, right);
    ++m->next;
    put(m, "  %%%u = pad(%%%u, _, %%%u)", m->next, x.id, m->next - 1);
  } else {
    put(m, "  %%%u = pad(%%%u) {pads = [0, 0, %u, %u, 0, 0, %u, %u]}", m->next, x.id, top, left,
        bottom, right);
  }
  end_image(m, x.channels, x.rows + top + bottom, x.columns + left + right);
}

// Rows that depend on all others.
static void add_barrier(maker* m, image x) {
  if (below(m, 2) == 0) {
    put(m, "  %%%u = cumsum(%%%u) {axis = 2}", m->next, x.id);
  } else {
    put(m, "  %%%u = pool(%%%u) {op = \"avg\", global = true} : f32[1, %u, 1, 1]\n", m->next, x.id,
        x.channels);
    ++m->next;
    put(m, "  %%%u = mul(%%%u, %%%u)", m->next, x.id, m->next - 1);
  }
  end_image(m, x.channels, x.rows, x.columns);
}

// The newest values are read most.
static image draw_image(maker* m) {
  unsigned count = (unsigned)m->count;
  unsigned back = below(m, 3) != 0 ? 0 : below(m, count);
  return m->images[count - 1 - back];
}

static void add_node(maker* m) {
  image x = draw_image(m);
  switch (below(m, 12)) {
    case 0:
    case 1:
    case 2:
    case 3: add_conv(m, x); break;
    case 4: add_pool(m, x); break;
    case 5:
    case 6: add_activation(m, x); break;
    case 7:
    case 8: add_pair(m, x); break;
    case 9: add_split(m, x); break;
    case 10: below(m, 2) == 0 ? add_resize(m, x) : add_pad(m, x); break;
    default: below(m, 3) == 0 ? add_barrier(m, x) : add_conv(m, x); break;
  }
}

static void make_graph(maker* m, uint64_t seed) {
  m->random = (test_random){seed};
  m->size = m->next = 0;
  m->count = 0;
  unsigned nodes = 3 + below(m, 14);
  put(m, "graph @g {\n");
  put(m, "  %%%u = input \"x\"", m->next);
  end_image(m, 1 + below(m, 6), 8 + below(m, 40), 8 + below(m, 40));
  for (unsigned i = 0; i < nodes && m->count + 2 < MOST_VALUES; ++i) {
    add_node(m);
  }
  put(m, "  return %%%u", m->images[m->count - 1].id);
  unsigned other = m->images[below(m, (unsigned)m->count)].id;
  bool has_other = below(m, 3) == 0 && other != m->images[m->count - 1].id && other != 0;
  put(m, has_other ? ", %%%u\n}\n" : "\n}\n", other);
}

// Whether an executor makes single rows everywhere.
static bool is_single(const stow_graph* function, const stowi_kernel_stream* stream) {
  bool is = true;
  for (stow_value value = 0; value < stow_graph_value_count(function); ++value) {
    const stowi_kernel_stream_value* v = &stream->values[value];
    is = is && (v->maker == UINT32_MAX || v->block == 1);
  }
  return is;
}

// Then the rule finds as many rows for each ring.
static void compare_rings(const stow_graph* function, const stowi_kernel_stream* stream) {
  stowi_rewrite_facts facts;
  stowi_rewrite_rings rows;
  uint64_t bytes;
  REQUIRE(stowi_rewrite_facts_init(&facts, function, stow_allocator_default(), NULL) == STOW_OK);
  REQUIRE(stowi_rewrite_rings_init(&rows, function, &facts, stow_allocator_default(), NULL) ==
          STOW_OK);
  CHECK(stowi_rewrite_rings_can_stream(&rows, 0, rows.step_count));
  CHECK(stowi_rewrite_rings_need(&rows, 0, rows.step_count, UINT64_MAX, NULL, &bytes) == STOW_OK);
  for (stow_value value = 0; value < rows.value_count; ++value) {
    bool is_ring = rows.values[value].maker != STOWI_REWRITE_NO_STEP &&
                   rows.homes[value] == value && rows.capacities[value] != 0;
    test_check(!is_ring || rows.capacities[value] == stream->values[value].capacity, __FILE__,
               __LINE__, "value %u: %" PRIu64 " rows, not %" PRIu64, (unsigned)value,
               rows.capacities[value], stream->values[value].capacity);
  }
  stowi_rewrite_rings_free(&rows);
  stowi_rewrite_facts_free(&facts);
}

// Counts those that could be compared.
static void compare_streams(const stow_graph* graph, uint64_t* compared) {
  stowi_exec_streams* streams = NULL;
  REQUIRE(stowi_exec_streams_create(graph, NULL, 1, stow_allocator_default(), NULL, &streams) ==
          STOW_OK);
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_STREAM) {
      const stowi_kernel_stream* data;
      CHECK(stowi_exec_streams_of(streams, node, 0, NULL, &data) == STOW_OK);
      const stow_graph* function =
          stowi_graph_find_function(graph, stow_graph_attr(graph, node, "function")->s);
      const stowi_kernel_stream* last = &data[STOWI_KERNEL_STREAM_VARIANTS - 1];
      if (is_single(function, last)) {
        compare_rings(function, last);
        ++*compared;
      }
    }
  }
  stowi_exec_streams_destroy(streams);
}

// Returns how many segments stream.
static size_t try_seed(uint64_t seed, uint64_t* compared) {
  static maker m;
  make_graph(&m, seed);
  stow_module* module = parse_graph(m.text);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = seed % 2 == 0
                    ? ~stow_rewrite_bit(STOW_REWRITE_STREAM)
                    : stow_rewrite_bit(STOW_REWRITE_NORMS) | stow_rewrite_bit(STOW_REWRITE_QDQ);
  options.stream_rows = (uint32_t)(seed % 4);
  stow_rewritten* r = rewrite_graph(graph, &options);
  size_t fired = stow_rewritten_count(r, STOW_REWRITE_STREAM);
  if (fired != 0) {
    test_check(run_outputs(graph, r, seed) == run_outputs(graph, NULL, seed), __FILE__, __LINE__,
               "seed %" PRIu64 ": other bits\n%s", seed, m.text);
    compare_streams(stow_rewritten_graph(r), compared);
  }
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
  return fired;
}

TEST(StreamedGraphsGiveTheSameBits) {
  uint64_t graphs = test_is_long() ? GRAPHS_LONG : GRAPHS;
  uint64_t streamed = 0, segments = 0, compared = 0;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    size_t fired = try_seed(seed, &compared);
    streamed += fired != 0;
    segments += fired;
  }
  printf("%" PRIu64 " graphs, %" PRIu64 " streamed, %" PRIu64 " segments, %" PRIu64
         " in single rows\n",
         graphs, streamed, segments, compared);
  CHECK(streamed * 4 > graphs && compared * 8 > segments);
}
