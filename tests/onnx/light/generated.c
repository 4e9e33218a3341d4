// Builds networks whose memory is hard in different ways: long lives across short ones (U-Net),
// lives that grow with depth (dense block), many at once (inception), chains with residuals.
#include "generated.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
  stow_graph* graph;
  stow_diag diag;
} builder;

static void require(const builder* b, stow_status status) {
  if (status != STOW_OK) {
    fprintf(stderr, "generated graphs: %s\n", b->diag.message);
    exit(EXIT_FAILURE);
  }
}

static stow_value boundary(builder* b, bool is_param, uint32_t rank, const stow_dim* dims) {
  stow_type type = stow_type_make(STOW_F32, rank, dims);
  stow_value value = STOW_VALUE_NONE;
  char name[32];
  snprintf(name, sizeof(name), "%s%" PRIu32, is_param ? "w" : "x",
           stow_graph_value_count(b->graph));
  require(b, is_param ? stow_graph_param(b->graph, name, &type, &b->diag, &value)
                      : stow_graph_input(b->graph, name, &type, &b->diag, &value));
  return value;
}

static stow_value finish(builder* b, stow_call* call) {
  stow_node node = STOW_NODE_NONE;
  require(b, stow_call_finish(call, &b->diag, &node));
  return stow_graph_first_result(b->graph, node);
}

static stow_value apply(builder* b, stow_op op, stow_value first, stow_value second) {
  stow_value operands[] = {first, second};
  stow_value value = STOW_VALUE_NONE;
  require(b, stow_graph_add(b->graph, op, operands, second == STOW_VALUE_NONE ? 1 : 2, &b->diag,
                            &value));
  return value;
}

static stow_dim dim_of(const builder* b, stow_value value, uint32_t axis) {
  return stow_graph_type(b->graph, value)->dims[axis];
}

// A square convolution that keeps the size (over |stride|), and a relu.
static stow_value conv(builder* b, stow_value x, stow_dim channels, int64_t kernel,
                       int64_t stride) {
  int64_t pad = kernel / 2;
  stow_value weight = boundary(b, true, 4, (stow_dim[]){channels, dim_of(b, x, 1), kernel, kernel});
  stow_call* call = stow_graph_begin(b->graph, STOW_OP_CONV);
  stow_call_operand(call, x);
  stow_call_operand(call, weight);
  stow_call_attr_ints(call, "pads", (int64_t[]){pad, pad, pad, pad}, 4);
  stow_call_attr_ints(call, "strides", (int64_t[]){stride, stride}, 2);
  return apply(b, STOW_OP_RELU, finish(b, call), STOW_VALUE_NONE);
}

// Twice the size, half the channels.
static stow_value upsample(builder* b, stow_value x) {
  stow_dim channels = dim_of(b, x, 1);
  stow_value weight = boundary(b, true, 4, (stow_dim[]){channels, channels / 2, 2, 2});
  stow_call* call = stow_graph_begin(b->graph, STOW_OP_CONV_TRANSPOSE);
  stow_call_operand(call, x);
  stow_call_operand(call, weight);
  stow_call_attr_ints(call, "strides", (int64_t[]){2, 2}, 2);
  return finish(b, call);
}

static stow_value concat(builder* b, const stow_value* parts, size_t count) {
  stow_call* call = stow_graph_begin(b->graph, STOW_OP_CONCAT);
  for (size_t i = 0; i < count; ++i) {
    stow_call_operand(call, parts[i]);
  }
  stow_call_attr_int(call, "axis", 1);
  return finish(b, call);
}

static stow_value image(builder* b, stow_dim size) {
  return boundary(b, false, 4, (stow_dim[]){1, 3, size, size});
}

static stow_value build_residual(builder* b) {
  stow_value x = conv(b, image(b, 224), 64, 7, 4);
  for (int stage = 0; stage < 4; ++stage) {
    x = stage == 0 ? x : conv(b, x, INT64_C(64) << stage, 3, 2);
    for (int block = 0; block < 3; ++block) {
      stow_dim channels = dim_of(b, x, 1);
      x = apply(b, STOW_OP_ADD, x, conv(b, conv(b, x, channels / 4, 1, 1), channels, 3, 1));
    }
  }
  return x;
}

static stow_value build_dense(builder* b) {
  stow_value parts[17];
  parts[0] = conv(b, image(b, 56), 64, 3, 1);
  for (size_t i = 1; i < 17; ++i) {
    stow_value joined = i == 1 ? parts[0] : concat(b, parts, i);
    parts[i] = conv(b, conv(b, joined, 128, 1, 1), 32, 3, 1);
  }
  return concat(b, parts, 17);
}

static stow_value build_unet(builder* b) {
  stow_value skips[5];
  stow_value x = image(b, 256);
  for (int level = 0; level < 5; ++level) {
    x = conv(b, conv(b, x, INT64_C(16) << level, 3, 1), INT64_C(16) << level, 3, 1);
    skips[level] = x;
    x = conv(b, x, INT64_C(32) << level, 3, 2);
  }
  for (int level = 4; level >= 0; --level) {
    stow_value parts[] = {upsample(b, x), skips[level]};
    x = conv(b, concat(b, parts, 2), INT64_C(16) << level, 3, 1);
  }
  return conv(b, x, 1, 1, 1);
}

static stow_value build_inception(builder* b) {
  stow_value x = conv(b, image(b, 224), 64, 7, 8);
  for (int cell = 0; cell < 9; ++cell) {
    stow_dim wide = 32 + 16 * (cell % 4);
    stow_value parts[] = {conv(b, x, wide, 1, 1), conv(b, conv(b, x, 96, 1, 1), 2 * wide, 3, 1),
                          conv(b, conv(b, x, 16, 1, 1), 32, 5, 1), conv(b, x, 24, 3, 1)};
    x = concat(b, parts, 4);
  }
  return x;
}

static stow_value linear(builder* b, stow_value x, stow_dim width) {
  return apply(b, STOW_OP_MATMUL, x, boundary(b, true, 2, (stow_dim[]){dim_of(b, x, 1), width}));
}

static stow_value build_attention(builder* b) {
  stow_value x = boundary(b, false, 2, (stow_dim[]){128, 256});
  for (int block = 0; block < 6; ++block) {
    stow_value normal = apply(b, STOW_OP_LAYER_NORM, x, STOW_VALUE_NONE);
    stow_value q = linear(b, normal, 256);
    stow_value k = linear(b, normal, 256);
    stow_value v = linear(b, normal, 256);
    stow_value scores = apply(b, STOW_OP_SOFTMAX, apply(b, STOW_OP_MUL, q, k), STOW_VALUE_NONE);
    x = apply(b, STOW_OP_ADD, x, linear(b, apply(b, STOW_OP_MUL, scores, v), 256));
    normal = apply(b, STOW_OP_LAYER_NORM, x, STOW_VALUE_NONE);
    stow_value hidden = apply(b, STOW_OP_GELU, linear(b, normal, 1024), STOW_VALUE_NONE);
    x = apply(b, STOW_OP_ADD, x, linear(b, hidden, 256));
  }
  return x;
}

stow_graph* generate_graph(const char* name) {
  static const struct {
    const char* name;
    stow_value (*build)(builder* b);
  } forms[] = {{"residual", build_residual},
               {"dense", build_dense},
               {"unet", build_unet},
               {"inception", build_inception},
               {"attention", build_attention}};
  builder b = {0};
  stow_diag_init(&b.diag);
  for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); ++i) {
    if (strcmp(forms[i].name, name) == 0) {
      require(&b, stow_graph_create(stow_str_of(name), NULL, stow_allocator_default(), &b.diag,
                                    &b.graph));
      require(&b, stow_graph_add_output(b.graph, forms[i].build(&b), &b.diag));
      return b.graph;
    }
  }
  return NULL;
}
