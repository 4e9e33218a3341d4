#include "onnx/onnx_writer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* grow(void* block, size_t* capacity, size_t needed, size_t size) {
  if (needed <= *capacity) {
    return block;
  }
  *capacity = needed * 2;
  void* grown = realloc(block, *capacity * size);
  if (grown == NULL) {
    fputs("onnx_writer: out of memory\n", stderr);
    exit(2);
  }
  return grown;
}

void onnx_writer_free(onnx_writer* w) {
  free(w->data);
  free(w->open);
  memset(w, 0, sizeof(*w));
}

void onnx_put(onnx_writer* w, const void* bytes, size_t size) {
  w->data = (uint8_t*)grow(w->data, &w->capacity, w->size + size + 1, 1);
  if (size > 0) {
    memcpy(w->data + w->size, bytes, size);
  }
  w->size += size;
}

static size_t encode(uint64_t number, uint8_t bytes[10]) {
  size_t size = 0;
  while (number >= 0x80) {
    bytes[size++] = (uint8_t)(number | 0x80);
    number >>= 7;
  }
  bytes[size++] = (uint8_t)number;
  return size;
}

void onnx_put_varint(onnx_writer* w, uint64_t number) {
  uint8_t bytes[10];
  onnx_put(w, bytes, encode(number, bytes));
}

void onnx_put_tag(onnx_writer* w, uint32_t field, uint32_t type) {
  onnx_put_varint(w, (uint64_t)field << 3 | type);
}

void onnx_int(onnx_writer* w, uint32_t field, int64_t number) {
  onnx_put_tag(w, field, 0);
  onnx_put_varint(w, (uint64_t)number);
}

static void put_little(onnx_writer* w, uint64_t bits, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    uint8_t byte = (uint8_t)(bits >> (8 * i));
    onnx_put(w, &byte, 1);
  }
}

void onnx_float(onnx_writer* w, uint32_t field, float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof(bits));
  onnx_put_tag(w, field, 5);
  put_little(w, bits, 4);
}

void onnx_double(onnx_writer* w, uint32_t field, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof(bits));
  onnx_put_tag(w, field, 1);
  put_little(w, bits, 8);
}

void onnx_bytes(onnx_writer* w, uint32_t field, const void* bytes, size_t size) {
  onnx_put_tag(w, field, 2);
  onnx_put_varint(w, size);
  onnx_put(w, bytes, size);
}

void onnx_string(onnx_writer* w, uint32_t field, const char* text) {
  onnx_bytes(w, field, text, strlen(text));
}

void onnx_begin(onnx_writer* w, uint32_t field) {
  onnx_put_tag(w, field, 2);
  w->open = (size_t*)grow(w->open, &w->open_capacity, w->open_count + 1, sizeof(size_t));
  w->open[w->open_count++] = w->size;
}

void onnx_end(onnx_writer* w) {
  size_t start = w->open[--w->open_count];
  size_t size = w->size - start;
  uint8_t length[10];
  size_t length_size = encode(size, length);
  onnx_put(w, length, length_size);  // makes room
  memmove(w->data + start + length_size, w->data + start, size);
  memcpy(w->data + start, length, length_size);
}

void onnx_packed_ints(onnx_writer* w, uint32_t field, const int64_t* numbers, size_t count) {
  onnx_begin(w, field);
  for (size_t i = 0; i < count; ++i) {
    onnx_put_varint(w, (uint64_t)numbers[i]);
  }
  onnx_end(w);
}

// ---------------------------------------------------------------------------------------------
// Models

void onnx_opset(onnx_writer* w, const char* domain, int64_t version) {
  onnx_begin(w, ONNX_MODEL_OPSET);
  onnx_string(w, 1, domain);
  onnx_int(w, 2, version);
  onnx_end(w);
}

void onnx_model_begin(onnx_writer* w, int64_t ir_version, int64_t opset) {
  onnx_int(w, ONNX_MODEL_IR_VERSION, ir_version);
  onnx_opset(w, "", opset);
  onnx_begin(w, ONNX_MODEL_GRAPH);
  onnx_string(w, ONNX_GRAPH_NAME, "g");
}

void onnx_model_end(onnx_writer* w) { onnx_end(w); }

// The next word of |text| into |word|; false at the end.
static bool next_word(const char** text, char word[256]) {
  *text += strspn(*text, " ");
  size_t size = strcspn(*text, " ");
  if (size == 0) {
    return false;
  }
  snprintf(word, 256, "%.*s", (int)size, *text);
  *text += size;
  return true;
}

static void put_names(onnx_writer* w, uint32_t field, const char* names) {
  char name[256];
  while (next_word(&names, name)) {
    onnx_string(w, field, strcmp(name, "-") == 0 ? "" : name);
  }
}

void onnx_node_begin(onnx_writer* w, const char* op, const char* inputs, const char* outputs) {
  onnx_begin(w, ONNX_GRAPH_NODE);
  put_names(w, ONNX_NODE_INPUT, inputs);
  put_names(w, ONNX_NODE_OUTPUT, outputs);
  onnx_string(w, ONNX_NODE_OP, op);
}

void onnx_node_end(onnx_writer* w) { onnx_end(w); }

void onnx_node(onnx_writer* w, const char* op, const char* inputs, const char* outputs) {
  onnx_node_begin(w, op, inputs, outputs);
  onnx_node_end(w);
}

void onnx_attr_begin(onnx_writer* w, const char* name, int type) {
  onnx_begin(w, ONNX_NODE_ATTRIBUTE);
  onnx_string(w, ONNX_ATTR_NAME, name);
  onnx_int(w, ONNX_ATTR_TYPE, type);
}

void onnx_attr_end(onnx_writer* w) { onnx_end(w); }

void onnx_attr_int(onnx_writer* w, const char* name, int64_t number) {
  onnx_attr_begin(w, name, 2);
  onnx_int(w, ONNX_ATTR_I, number);
  onnx_attr_end(w);
}

void onnx_attr_float(onnx_writer* w, const char* name, float number) {
  onnx_attr_begin(w, name, 1);
  onnx_float(w, ONNX_ATTR_F, number);
  onnx_attr_end(w);
}

void onnx_attr_string(onnx_writer* w, const char* name, const char* text) {
  onnx_attr_begin(w, name, 3);
  onnx_string(w, ONNX_ATTR_S, text);
  onnx_attr_end(w);
}

void onnx_attr_ints(onnx_writer* w, const char* name, const int64_t* numbers, size_t count) {
  onnx_attr_begin(w, name, 7);
  for (size_t i = 0; i < count; ++i) {
    onnx_int(w, ONNX_ATTR_INTS, numbers[i]);
  }
  onnx_attr_end(w);
}

static void put_dim(onnx_writer* w, const char* word) {
  onnx_begin(w, 1);
  if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9')) {
    onnx_int(w, 1, strtoll(word, NULL, 10));
  } else if (strcmp(word, "?") != 0) {
    onnx_string(w, 2, strcmp(word, "??") == 0 ? "?" : word);
  }
  onnx_end(w);
}

void onnx_tensor_type(onnx_writer* w, uint32_t field, int32_t elem, const char* dims) {
  onnx_begin(w, field);
  onnx_begin(w, 1);
  onnx_int(w, 1, elem);
  if (dims != NULL) {
    onnx_begin(w, 2);
    char word[256];
    while (next_word(&dims, word)) {
      put_dim(w, word);
    }
    onnx_end(w);
  }
  onnx_end(w);
  onnx_end(w);
}

void onnx_value(onnx_writer* w, uint32_t field, const char* name, int32_t elem, const char* dims) {
  onnx_begin(w, field);
  onnx_string(w, ONNX_VALUE_NAME, name);
  onnx_tensor_type(w, ONNX_VALUE_TYPE, elem, dims);
  onnx_end(w);
}

void onnx_tensor_begin(onnx_writer* w, uint32_t field, const char* name, int32_t elem,
                       const int64_t* dims, size_t rank) {
  onnx_begin(w, field);
  for (size_t d = 0; d < rank; ++d) {
    onnx_int(w, ONNX_TENSOR_DIMS, dims[d]);
  }
  onnx_int(w, ONNX_TENSOR_DATA_TYPE, elem);
  onnx_string(w, ONNX_TENSOR_NAME, name);
}

void onnx_tensor_end(onnx_writer* w) { onnx_end(w); }

void onnx_tensor_raw(onnx_writer* w, uint32_t field, const char* name, int32_t elem,
                     const int64_t* dims, size_t rank, const void* bytes, size_t size) {
  onnx_tensor_begin(w, field, name, elem, dims, rank);
  onnx_bytes(w, ONNX_TENSOR_RAW, bytes, size);
  onnx_tensor_end(w);
}

void onnx_external(onnx_writer* w, const char* key, const char* value) {
  onnx_begin(w, ONNX_TENSOR_EXTERNAL);
  onnx_string(w, 1, key);
  onnx_string(w, 2, value);
  onnx_end(w);
}
