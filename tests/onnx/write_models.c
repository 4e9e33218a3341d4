// Writes small models for tests of the command: such in which weights, outputs and what depends on
// data are views, and networks of different kinds. write_models DIR
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/onnx_writer.h"

#define OPSET 17

static const char* folder;

static void write_file(const char* name, const void* bytes, size_t size) {
  char path[1000];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}

static void finish(onnx_writer* w, const char* name) {
  onnx_model_end(w);
  write_file(name, w->data, w->size);
  onnx_writer_free(w);
}

static void input(onnx_writer* w, const char* dims) {
  onnx_value(w, ONNX_GRAPH_INPUT, "x", ONNX_FLOAT, dims);
}

static void output(onnx_writer* w, const char* name, int32_t elem) {
  onnx_value(w, ONNX_GRAPH_OUTPUT, name, elem, NULL);
}

// 0, 1, 2, …, in a file of their own: there they are aligned, and used where they lie.
static void floats(onnx_writer* w, const char* name, int64_t rows, int64_t columns) {
  float numbers[256];
  char file[100];
  for (size_t i = 0; i < (size_t)(rows * columns); ++i) {
    numbers[i] = (float)i;
  }
  snprintf(file, sizeof(file), "%s.bin", name);
  write_file(file, numbers, (size_t)(rows * columns) * sizeof(float));
  onnx_tensor_begin(w, ONNX_GRAPH_INITIALIZER, name, ONNX_FLOAT, (int64_t[]){rows, columns}, 2);
  onnx_int(w, ONNX_TENSOR_LOCATION, 1);
  onnx_external(w, "location", file);
  onnx_tensor_end(w);
}

static void integers(onnx_writer* w, const char* name, const int64_t* numbers, int64_t count) {
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, name, ONNX_INT64, &count, 1, numbers,
                  (size_t)count * sizeof(int64_t));
}

static void split(onnx_writer* w, const char* from, const char* parts) {
  onnx_node_begin(w, "Split", from, parts);
  onnx_attr_int(w, "axis", 0);
  onnx_node_end(w);
}

// ---------------------------------------------------------------------------------------------
// Parts of weights

// Three matrices in one, as attention has them.
static void write_fused(void) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "3 8");
  floats(&w, "qkv", 24, 8);
  split(&w, "qkv", "q k v");
  onnx_node(&w, "MatMul", "x q", "a");
  onnx_node(&w, "MatMul", "x k", "b");
  onnx_node(&w, "MatMul", "x v", "c");
  onnx_node(&w, "Sum", "a b c", "y");
  output(&w, "y", ONNX_FLOAT);
  finish(&w, "fused.onnx");
}

// Adds parts of the weight in each round.
static void add_in_loop(onnx_writer* w) {
  onnx_node_begin(w, "Loop", "trip - x", "y");
  onnx_attr_begin(w, "body", 5);
  onnx_begin(w, ONNX_ATTR_G);
  onnx_value(w, ONNX_GRAPH_INPUT, "i", ONNX_INT64, "");
  onnx_value(w, ONNX_GRAPH_INPUT, "go", ONNX_BOOL, "");
  onnx_value(w, ONNX_GRAPH_INPUT, "sum", ONNX_FLOAT, "2 2");
  split(w, "w", "inner_p inner_q");
  onnx_node(w, "Add", "sum inner_p", "more");
  onnx_node(w, "Identity", "go", "on");
  output(w, "on", ONNX_BOOL);
  output(w, "more", ONNX_FLOAT);
  onnx_end(w);
  onnx_attr_end(w);
  onnx_node_end(w);
}

static void write_parts(void) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "2 2");
  floats(&w, "w", 4, 2);
  integers(&w, "all", (int64_t[]){4}, 1);
  integers(&w, "trip", (int64_t[]){3}, 1);
  onnx_node(&w, "Split", "w all", "whole");
  split(&w, "w", "p q");
  onnx_node(&w, "Add", "p q", "z");
  onnx_node(&w, "Neg", "whole", "n");
  onnx_node(&w, "Add", "whole w", "v");
  add_in_loop(&w);
  output(&w, "y", ONNX_FLOAT);
  output(&w, "z", ONNX_FLOAT);
  output(&w, "n", ONNX_FLOAT);
  output(&w, "v", ONNX_FLOAT);
  finish(&w, "parts.onnx");
}

// ---------------------------------------------------------------------------------------------
// Outputs

// Views of the weight that are outputs, and are viewed again.
static void write_viewed(void) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "2 4");
  floats(&w, "v", 2, 4);
  integers(&w, "square", (int64_t[]){4, 2}, 2);
  integers(&w, "back", (int64_t[]){2, 4}, 2);
  onnx_node(&w, "Identity", "v", "y");
  onnx_node(&w, "Reshape", "y back", "b");
  onnx_node(&w, "Add", "b x", "z");
  onnx_node(&w, "Reshape", "v square", "s");
  onnx_node(&w, "Reshape", "s back", "r");
  onnx_node(&w, "Mul", "r x", "u");
  output(&w, "y", ONNX_FLOAT);
  output(&w, "s", ONNX_FLOAT);
  output(&w, "z", ONNX_FLOAT);
  output(&w, "u", ONNX_FLOAT);
  finish(&w, "viewed.onnx");
}

// |op| hands an output on whose dims depend on data.
static void write_of_data(const char* op, const char* name) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "4");
  onnx_node(&w, "NonZero", "x", "n");
  onnx_node_begin(&w, "Cast", "n", "f");
  onnx_attr_int(&w, "to", ONNX_FLOAT);
  onnx_node_end(&w);
  onnx_node(&w, op, "f", "y");
  output(&w, "y", ONNX_FLOAT);
  finish(&w, name);
}

static void write_negated(void) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "4");
  onnx_node(&w, "Neg", "x", "y");
  output(&w, "y", ONNX_FLOAT);
  finish(&w, "negated.onnx");
}

// Adds one in each round. The body's condition is false from the second round on.
static void write_loop(const char* inputs, const char* name) {
  static const float one = 1.0F;
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "1");
  integers(&w, "five", (int64_t[]){5}, 1);
  onnx_tensor_raw(&w, ONNX_GRAPH_INITIALIZER, "one", ONNX_FLOAT, (int64_t[]){1}, 1, &one,
                  sizeof one);
  integers(&w, "first", (int64_t[]){1}, 1);
  onnx_node_begin(&w, "Loop", inputs, "y");
  onnx_attr_begin(&w, "body", 5);
  onnx_begin(&w, ONNX_ATTR_G);
  onnx_value(&w, ONNX_GRAPH_INPUT, "i", ONNX_INT64, "");
  onnx_value(&w, ONNX_GRAPH_INPUT, "go", ONNX_BOOL, "");
  onnx_value(&w, ONNX_GRAPH_INPUT, "sum", ONNX_FLOAT, "1");
  onnx_node(&w, "Less", "i first", "on");
  onnx_node(&w, "Add", "sum one", "more");
  output(&w, "on", ONNX_BOOL);
  output(&w, "more", ONNX_FLOAT);
  onnx_end(&w);
  onnx_attr_end(&w);
  onnx_node_end(&w);
  output(&w, "y", ONNX_FLOAT);
  finish(&w, name);
}

// ---------------------------------------------------------------------------------------------
// Networks

#define MOST_WEIGHTS 4096

// A tensor of |elem| with small numbers, about as many negative ones.
static void weights(onnx_writer* w, const char* name, int32_t elem, const int64_t* dims,
                    size_t rank) {
  float floats_of[MOST_WEIGHTS];
  int32_t words[MOST_WEIGHTS];
  int8_t bytes[MOST_WEIGHTS];
  size_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    count *= (size_t)dims[i];
  }
  for (size_t i = 0; i < count; ++i) {
    int number = (int)(i * 7 % 23) - 11;
    floats_of[i] = (float)number / 32.0F;
    words[i] = number;
    bytes[i] = (int8_t)number;
  }
  const void* data = bytes;
  if (elem != ONNX_INT8) {
    data = elem == ONNX_FLOAT ? (const void*)floats_of : words;
  }
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, name, elem, dims, rank, data,
                  count * (elem == ONNX_INT8 ? 1 : 4));
}

// Scales and zero points of everything, and the weights of two convolutions.
static void quantized_weights(onnx_writer* w) {
  static const float scale = 0.0625F;
  static const uint8_t zero = 128;
  static const int8_t zero_weight = 0;
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "s", ONNX_FLOAT, NULL, 0, &scale, sizeof scale);
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "z", ONNX_UINT8, NULL, 0, &zero, 1);
  onnx_tensor_raw(w, ONNX_GRAPH_INITIALIZER, "zw", ONNX_INT8, NULL, 0, &zero_weight, 1);
  weights(w, "w1", ONNX_INT8, (int64_t[]){8, 3, 3, 3}, 4);
  weights(w, "w2", ONNX_INT8, (int64_t[]){4, 8, 3, 3}, 4);
}

static void conv(onnx_writer* w, const char* op, const char* inputs, const char* result) {
  onnx_node_begin(w, op, inputs, result);
  onnx_attr_ints(w, "pads", (int64_t[]){1, 1, 1, 1}, 4);
  onnx_node_end(w);
}

static void write_qdq(void) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "1 3 12 12");
  quantized_weights(&w);
  onnx_node(&w, "QuantizeLinear", "x s z", "xq");
  onnx_node(&w, "DequantizeLinear", "xq s z", "xd");
  onnx_node(&w, "DequantizeLinear", "w1 s zw", "w1d");
  conv(&w, "Conv", "xd w1d", "a");
  onnx_node(&w, "Relu", "a", "r");
  onnx_node(&w, "QuantizeLinear", "r s z", "rq");
  onnx_node(&w, "DequantizeLinear", "rq s z", "rd");
  onnx_node(&w, "DequantizeLinear", "w2 s zw", "w2d");
  conv(&w, "Conv", "rd w2d", "y");
  output(&w, "y", ONNX_FLOAT);
  finish(&w, "qdq.onnx");
}

static void write_qoperator(void) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "1 3 12 12");
  quantized_weights(&w);
  weights(&w, "b1", ONNX_INT32, (int64_t[]){8}, 1);
  onnx_node(&w, "QuantizeLinear", "x s z", "xq");
  conv(&w, "QLinearConv", "xq s z w1 s zw s z b1", "a");
  conv(&w, "QLinearConv", "a s z w2 s zw s z", "b");
  onnx_node(&w, "DequantizeLinear", "b s z", "y");
  output(&w, "y", ONNX_FLOAT);
  finish(&w, "qoperator.onnx");
}

static void write_lstm(void) {
  onnx_writer w = {0};
  onnx_model_begin(&w, 8, OPSET);
  input(&w, "12 1 8");
  weights(&w, "w", ONNX_FLOAT, (int64_t[]){1, 64, 8}, 3);
  weights(&w, "r", ONNX_FLOAT, (int64_t[]){1, 64, 16}, 3);
  weights(&w, "b", ONNX_FLOAT, (int64_t[]){1, 128}, 2);
  onnx_node_begin(&w, "LSTM", "x w r b", "all y");
  onnx_attr_int(&w, "hidden_size", 16);
  onnx_node_end(&w);
  onnx_node(&w, "Tanh", "all", "t");
  output(&w, "y", ONNX_FLOAT);
  output(&w, "t", ONNX_FLOAT);
  finish(&w, "lstm.onnx");
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: write_models DIR\n");
    return 2;
  }
  folder = argv[1];
  write_fused();
  write_qdq();
  write_qoperator();
  write_lstm();
  write_parts();
  write_viewed();
  write_of_data("Identity", "identity_of_data.onnx");
  write_of_data("Dropout", "dropout_of_data.onnx");
  write_negated();
  write_loop("five - x", "counted.onnx");
  write_loop("- - x", "endless.onnx");
  return 0;
}
