// Data of boundary values: borrowed, copied, or written inline as a list of up to 1024 numbers.
//
// Sub-byte integers are packed with the first element in the low bits, as ONNX does.
#include <stdalign.h>
#include <string.h>

#include "graph/api.h"
#include "graph/floats.h"
#include "graph/graph_internal.h"

#define POOLED_SIZE 512  // copies up to this size share blocks

// Memory for |size| bytes that the call owns; NULL when out of memory.
static void* take_bytes(stow_call* call, size_t size) {
  stow_graph* graph = call->graph;
  bool is_owned = size > POOLED_SIZE;
  void* bytes = is_owned
                    ? stowi_alloc(graph->allocator, size, 1)
                    : stowi_pool_alloc(&graph->pool, graph->allocator, size, alignof(max_align_t));
  if (bytes == NULL) {
    stowi_graph_call_fail(call, STOW_ERR_OUT_OF_MEMORY, "out of memory");
    return NULL;
  }
  call->has_data = true;
  call->data = (stowi_graph_data){STOW_VALUE_NONE, is_owned, bytes, size};
  return bytes;
}

void stow_call_data(stow_call* call, const void* data, size_t size, bool copy) {
  if (!stowi_graph_call_is_well(call)) {
    return;
  }
  if (!stowi_graph_is_boundary_op(call->op)) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "only inputs, params and constants have data");
  } else if (call->has_data) {
    stowi_graph_call_fail(call, STOW_ERR_DUPLICATE, "data is given twice");
  } else if (data == NULL && size != 0) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "data is NULL but has %zu bytes", size);
  } else if (copy && size != 0) {
    void* bytes = take_bytes(call, size);
    if (bytes != NULL) {
      memcpy(bytes, data, size);
    }
  } else {
    call->has_data = true;
    call->data = (stowi_graph_data){STOW_VALUE_NONE, false, data == NULL ? "" : data, size};
  }
}

void stowi_graph_call_unread(stow_call* call, size_t size) {
  if (stowi_graph_call_is_well(call)) {
    call->has_data = true;
    call->data = (stowi_graph_data){STOW_VALUE_NONE, false, NULL, size};
  }
}

// ---------------------------------------------------------------------------------------------
// Inline numbers

static void store(unsigned char* bytes, uint32_t width, size_t index, uint64_t bits) {
  switch (width) {
    case 8: bytes[index] = (unsigned char)bits; break;
    case 16: {
      uint16_t half = (uint16_t)bits;
      memcpy(bytes + index * 2, &half, 2);
      break;
    }
    case 32: {
      uint32_t word = (uint32_t)bits;
      memcpy(bytes + index * 4, &word, 4);
      break;
    }
    case 64: memcpy(bytes + index * 8, &bits, 8); break;
    default: {
      size_t position = index * width;
      uint64_t mask = (UINT64_C(1) << width) - 1;
      bytes[position / 8] |= (unsigned char)((bits & mask) << (position % 8));
    }
  }
}

static bool encode_int(stow_dtype_kind kind, uint32_t width, int64_t number, uint64_t* out) {
  *out = (uint64_t)number;
  if (kind == STOW_KIND_BOOL) {
    return number == 0 || number == 1;
  }
  if (kind == STOW_KIND_UNSIGNED) {
    return number >= 0 && (width >= 63 || number < INT64_C(1) << width);
  }
  int64_t limit = width == 64 ? INT64_MAX : (INT64_C(1) << (width - 1)) - 1;
  return number <= limit && number >= -limit - 1;
}

static bool encode(stow_dtype dtype, const stow_attr* list, size_t i, uint64_t* out) {
  stow_dtype_kind kind = stow_dtype_kind_of(dtype);
  if (kind == STOW_KIND_FLOAT) {
    return stowi_graph_float_encode(
        dtype, list->kind == STOW_ATTR_FLOATS ? list->floats[i] : (double)list->ints[i], out);
  }
  return encode_int(kind, stow_dtype_bits(dtype), list->ints[i], out);
}

// Whether |dtype| can be written inline as this kind of list.
static bool can_encode(stow_dtype dtype, stow_attr_kind kind) {
  if (stow_dtype_kind_of(dtype) == STOW_KIND_FLOAT) {
    return stowi_graph_float_has(dtype);
  }
  return kind == STOW_ATTR_INTS && stow_dtype_kind_of(dtype) != STOW_KIND_COMPLEX;
}

// Whether the list has the right length and kind of numbers; returns its size in bytes.
static bool check_inline(stow_call* call, const stow_attr* list, const stow_type* type,
                         size_t* out_size) {
  uint64_t elements;
  uint64_t bytes;
  stowi_graph_text text = stowi_graph_describe_type(call->graph, type);
  if (list->count > STOWI_GRAPH_MAX_INLINE) {
    stowi_graph_call_fail(call, STOW_ERR_LIMIT, "inline data has %zu elements, the maximum is %d",
                          list->count, STOWI_GRAPH_MAX_INLINE);
  } else if (stow_type_elements(type, &elements) != STOW_OK || elements != list->count ||
             stow_type_bytes(type, &bytes) != STOW_OK) {
    stowi_graph_call_fail(call, STOW_ERR_TYPE,
                          "inline data has %zu elements, which does not match %s", list->count,
                          text.text);
  } else if (!can_encode(type->dtype, list->kind)) {
    stowi_graph_call_fail(call, STOW_ERR_TYPE, "%s cannot be written as inline data for %s",
                          list->kind == STOW_ATTR_INTS ? "integers" : "floats", text.text);
  } else {
    *out_size = (size_t)bytes;
    return true;
  }
  return false;
}

static void take_inline(stow_call* call, const stow_attr* list, const stow_type* type) {
  size_t size;
  if (!check_inline(call, list, type, &size)) {
    return;
  }
  unsigned char* bytes = (unsigned char*)take_bytes(call, size);
  if (bytes == NULL) {
    return;
  }
  memset(bytes, 0, size);
  for (size_t i = 0; i < list->count; ++i) {
    uint64_t bits;
    if (!encode(type->dtype, list, i, &bits)) {
      stowi_graph_call_fail(call, STOW_ERR_TYPE,
                            "element %zu of the inline data is out of range for %s", i,
                            stow_dtype_name(type->dtype));
      return;
    }
    store(bytes, stow_dtype_bits(type->dtype), i, bits);
  }
}

// ---------------------------------------------------------------------------------------------
// Data of boundary values

static const stow_attr* given(const stow_call* call, const char* name) {
  return stowi_graph_find_attr(call->graph, call->attrs.data, call->attrs.count, stow_str_of(name));
}

bool stowi_graph_source_fits(int64_t bytes, const stow_type* type) {
  uint64_t size;
  stow_status status = stow_type_bytes(type, &size);
  return status == STOW_ERR_UNBOUND_DIM || (status == STOW_OK && (uint64_t)bytes == size);
}

// The int attribute as given, else the schema's default.
static int64_t effective(const stow_call* call, const char* name) {
  const stow_attr* attr = given(call, name);
  if (attr == NULL) {
    attr = stowi_graph_find_schema(call->graph->ops, call->op, stow_str_of(name), NULL);
  }
  return attr == NULL ? -1 : attr->i;
}

static void check_source(stow_call* call, const stow_type* type) {
  if (given(call, "source") == NULL) {
    if (given(call, "at") != NULL || given(call, "bytes") != NULL) {
      stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "\"at\" and \"bytes\" need a \"source\"");
    }
    return;
  }
  int64_t bytes = effective(call, "bytes");
  if (effective(call, "at") < 0 || bytes < 0) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "\"source\" needs \"at\" and \"bytes\", both 0 or more");
  } else if (!stowi_graph_source_fits(bytes, type)) {
    stowi_graph_call_fail(call, STOW_ERR_TYPE, "the source has %lld bytes, which does not match %s",
                          (long long)bytes, stowi_graph_describe_type(call->graph, type).text);
  }
}

void stowi_graph_call_take_data(stow_call* call, const stow_type* type) {
  const stow_attr* list = given(call, "data");
  if (list != NULL && call->has_data) {
    stowi_graph_call_fail(call, STOW_ERR_CONFLICT, "data is given in more than one way");
    return;
  }
  check_source(call, type);
  if (call->has_data) {
    // Whether the caller's data has the size of the type.
    uint64_t bytes;
    if (stow_type_bytes(type, &bytes) != STOW_OK || bytes != call->data.size) {
      stowi_graph_call_fail(call, STOW_ERR_TYPE, "data has %zu bytes, which does not match %s",
                            call->data.size, stowi_graph_describe_type(call->graph, type).text);
    }
  } else if (list != NULL && stowi_graph_call_is_well(call)) {
    take_inline(call, list, type);
  }
}

size_t stowi_graph_data_index(const stow_graph* graph, stow_value value) {
  size_t low = 0;
  size_t high = graph->data.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (graph->data.data[middle].value < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool is_found = low < graph->data.count && graph->data.data[low].value == value;
  return is_found ? low : graph->data.count;
}

const void* stow_graph_data(const stow_graph* graph, stow_value value, size_t* out_size) {
  size_t index = stowi_graph_data_index(graph, value);
  bool is_read = index < graph->data.count && graph->data.data[index].bytes != NULL;
  if (out_size != NULL) {
    *out_size = is_read ? graph->data.data[index].size : 0;
  }
  return is_read ? graph->data.data[index].bytes : NULL;
}

bool stowi_graph_has_data(const stow_graph* graph, stow_value value) {
  return stowi_graph_data_index(graph, value) < graph->data.count;
}
