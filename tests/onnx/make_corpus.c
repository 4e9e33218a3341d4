// Writes the seeds of fuzz/corpus/onnx: small right models and small wrong ones.
// Usage: onnx_corpus FOLDER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/onnx_writer.h"

static const int64_t two_three[] = {2, 3};

static void small(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "N 3");
  onnx_node(w, "Relu", "x", "y");
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, "N 3");
  onnx_model_end(w);
}

static void weights(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "? 2");
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "r", ONNX_UINT8, two_three, 2, "abcdef", 6);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "i", ONNX_INT64, two_three, 2);
  onnx_packed_ints(w, ONNX_TENSOR_INT64_DATA, (const int64_t[]){1, -2, 300, 4, 5, 6}, 6);
  onnx_tensor_end(w);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "f", ONNX_FLOAT, two_three, 1);
  onnx_float(w, ONNX_TENSOR_FLOAT_DATA, 1.5F);
  onnx_float(w, ONNX_TENSOR_FLOAT_DATA, 2.5F);
  onnx_tensor_end(w);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "q", ONNX_INT4, two_three + 1, 1);
  onnx_packed_ints(w, ONNX_TENSOR_INT32_DATA, (const int64_t[]){0x21, 3}, 2);
  onnx_tensor_end(w);
  onnx_node(w, "Mul", "x f", "y");
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, NULL);
  onnx_model_end(w);
}

static void attributes(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "1 3 8 8");
  onnx_node_begin(w, "Conv", "x w -", "y");
  onnx_attr_int(w, "group", 1);
  onnx_attr_ints(w, "pads", (const int64_t[]){1, 1, 1, 1}, 4);
  onnx_attr_string(w, "auto_pad", "NOTSET");
  onnx_attr_float(w, "alpha", 0.5F);
  onnx_node_end(w);
  onnx_node_begin(w, "Constant", "", "w");
  onnx_attr_begin(w, "value", 4);
  onnx_tensor_raw(w, ONNX_ATTR_T, "", ONNX_UINT8, two_three, 2, "abcdef", 6);
  onnx_attr_end(w);
  onnx_node_end(w);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, "1 ? 8 8");
  onnx_model_end(w);
}

static void branch(onnx_writer* w, const char* name, const char* op) {
  onnx_attr_begin(w, name, 5);
  onnx_begin(w, ONNX_ATTR_G);
  onnx_string(w, ONNX_GRAPH_NAME, name);
  onnx_node(w, op, "x", name);
  onnx_value(w, ONNX_GRAPH_OUTPUT, name, ONNX_FLOAT, "N");
  onnx_end(w);
  onnx_attr_end(w);
}

static void subgraphs(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "c", ONNX_BOOL, "");
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "N");
  onnx_node_begin(w, "If", "c", "y");
  branch(w, "then_branch", "Relu");
  branch(w, "else_branch", "Neg");
  onnx_node_end(w);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, "N");
  onnx_model_end(w);
}

static void function(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, "N");
  onnx_node_begin(w, "twice", "x", "y");
  onnx_string(w, ONNX_NODE_DOMAIN, "local");
  onnx_node_end(w);
  onnx_value(w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT, "N");
  onnx_model_end(w);
  onnx_opset(w, "local", 1);
  onnx_begin(w, ONNX_MODEL_FUNCTION);
  onnx_string(w, 1, "twice");
  onnx_string(w, 4, "a");
  onnx_string(w, 5, "b");
  onnx_begin(w, 7);
  onnx_string(w, ONNX_NODE_INPUT, "a");
  onnx_string(w, ONNX_NODE_INPUT, "a");
  onnx_string(w, ONNX_NODE_OUTPUT, "b");
  onnx_string(w, ONNX_NODE_OP, "Add");
  onnx_end(w);
  onnx_string(w, 10, "local");
  onnx_end(w);
}

static void types(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_begin(w, ONNX_GRAPH_INPUT);
  onnx_string(w, 1, "x");
  onnx_begin(w, 2);
  onnx_begin(w, 9);
  onnx_begin(w, 1);
  onnx_begin(w, 4);
  onnx_tensor_type(w, 1, ONNX_FLOAT, "2 N ?");
  for (int i = 0; i < 5; ++i) {
    onnx_end(w);
  }
  onnx_model_end(w);
}

static void external(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "t", ONNX_FLOAT, two_three, 2);
  onnx_external(w, "location", "../data");
  onnx_external(w, "offset", "4096");
  onnx_external(w, "length", "24");
  onnx_int(w, ONNX_TENSOR_LOCATION, 1);
  onnx_tensor_end(w);
  onnx_model_end(w);
}

static void deep(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  for (int i = 0; i < 40; ++i) {
    onnx_node_begin(w, "If", "", "");
    onnx_attr_begin(w, "b", 5);
    onnx_begin(w, ONNX_ATTR_G);
  }
  for (int i = 0; i < 120; ++i) {
    onnx_end(w);
  }
  onnx_model_end(w);
}

static void huge_dims(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "t", ONNX_FLOAT,
                    (const int64_t[]){INT64_MAX, INT64_MAX, 0}, 3);
  onnx_tensor_end(w);
  onnx_model_end(w);
}

static void negative_dim(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, "t", ONNX_FLOAT, (const int64_t[]){-1}, 1);
  onnx_tensor_end(w);
  onnx_model_end(w);
}

static void groups(onnx_writer* w) {
  small(w);
  onnx_put_tag(w, 900, 3);
  onnx_put_tag(w, 901, 3);
  onnx_int(w, 1, 7);
  onnx_put_tag(w, 901, 4);
  onnx_put_tag(w, 900, 4);
}

static void cut(onnx_writer* w) {
  weights(w);
  w->size -= 9;
}

static void several_values(onnx_writer* w) {
  onnx_model_begin(w, 8, 17);
  onnx_node_begin(w, "Op", "", "");
  onnx_attr_begin(w, "a", 9);
  for (int i = 0; i < 4; ++i) {
    onnx_tensor_begin(w, i == 2 ? ONNX_ATTR_T : ONNX_ATTR_TENSORS, "t", ONNX_FLOAT, NULL, 0);
    onnx_tensor_end(w);
  }
  onnx_attr_end(w);
  onnx_node_end(w);
  onnx_model_end(w);
}

static const struct {
  const char* name;
  void (*write)(onnx_writer* w);
} seeds[] = {
    {"ok_small", small},
    {"ok_weights", weights},
    {"ok_attributes", attributes},
    {"ok_subgraphs", subgraphs},
    {"ok_function", function},
    {"ok_types", types},
    {"ok_external", external},
    {"ok_groups", groups},
    {"ok_huge_dims", huge_dims},
    {"bad_deep", deep},
    {"bad_negative_dim", negative_dim},
    {"bad_cut", cut},
    {"bad_several_values", several_values},
};

int main(int argc, char** argv) {
  for (size_t i = 0; argc == 2 && i < sizeof(seeds) / sizeof(seeds[0]); ++i) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.onnx", argv[1], seeds[i].name);
    onnx_writer w = {0};
    seeds[i].write(&w);
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(w.data, 1, w.size, file) != w.size || fclose(file) != 0) {
      fprintf(stderr, "%s: cannot be written\n", path);
      return 1;
    }
    onnx_writer_free(&w);
  }
  return argc == 2 ? 0 : 2;
}
