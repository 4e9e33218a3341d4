// Types of values. A TypeProto nests (a sequence of optionals of tensors); it is walked by a loop,
// once to read it and again to print it, so that the record keeps only what planning asks for.
#include "base/diag.h"
#include "base/text.h"
#include "onnx/reader/messages.h"

#define DEEPEST 32

// ---------------------------------------------------------------------------------------------
// Shapes

static const stowi_onnx_field dim_fields[] = {
    STOWI_ONNX_ROW(1, I64, "dim_value", stowi_import_dim, number),
    STOWI_ONNX_ROW(2, STR, "dim_param", stowi_import_dim, name),
};

// Numbers below 0, empty names and `?` are how some writers say that they know nothing: dims called
// `?` need not be equal.
static stow_status finish_dim(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                              stowi_onnx_span message, void* record, const size_t* counts) {
  stowi_import_dim* dim = (stowi_import_dim*)record;
  if (counts[0] > 0 && counts[1] > 0) {
    return stowi_onnx_malformed(reader, place, message, "a dim has both a value and a name");
  }
  if (counts[0] == 0 || dim->number < 0) {
    dim->number = -1;
  }
  if (stow_str_equal(dim->name, stow_str_of("?"))) {
    dim->name.size = 0;
  }
  return STOW_OK;
}

static const stowi_onnx_message dim_message =
    STOWI_ONNX_MESSAGE("a dim", dim_fields, stowi_import_dim, 0, finish_dim);

typedef struct shape {
  size_t rank;
  const stowi_import_dim* dims;
} shape;

static const stowi_onnx_field shape_fields[] = {
    STOWI_ONNX_RECORDS(1, "dim", shape, dims, rank, &dim_message),
};
static const stowi_onnx_message shape_message =
    STOWI_ONNX_MESSAGE("a shape", shape_fields, shape, 0, NULL);

typedef struct tensor_type {
  int32_t elem;
  bool has_shape;
  shape shape;
} tensor_type;

static const stowi_onnx_field tensor_type_fields[] = {
    STOWI_ONNX_ROW(1, I32, "elem_type", tensor_type, elem),
    STOWI_ONNX_RECORD(2, INLINE, "shape", tensor_type, shape, &shape_message),
};

static stow_status finish_tensor_type(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                      stowi_onnx_span message, void* record, const size_t* counts) {
  (void)reader, (void)place, (void)message;
  ((tensor_type*)record)->has_shape = counts[1] > 0;
  return STOW_OK;
}

static const stowi_onnx_message tensor_type_message =
    STOWI_ONNX_MESSAGE("a tensor's type", tensor_type_fields, tensor_type, 0, finish_tensor_type);

// ---------------------------------------------------------------------------------------------
// One level of a TypeProto

typedef struct type_level {
  stowi_onnx_info_kind kind;  // STOWI_ONNX_INFO_*
  stowi_onnx_span body;       // of the tensor's type, or the type within
  int32_t key;                // of a map
  bool has_element;           // the type within is given
} type_level;

typedef struct choice {
  uint32_t number;  // of the field in TypeProto
  stowi_onnx_info_kind kind;
  const char* name;
  uint32_t element;  // number of the field that holds the type within; 0: none
} choice;

static const choice choices[] = {
    {1, STOWI_ONNX_INFO_TENSOR, "tensor_type", 0},
    {4, STOWI_ONNX_INFO_SEQUENCE, "sequence_type", 1},
    {5, STOWI_ONNX_INFO_MAP, "map_type", 2},
    {7, STOWI_ONNX_INFO_OTHER, "opaque_type", 0},
    {8, STOWI_ONNX_INFO_SPARSE, "sparse_tensor_type", 0},
    {9, STOWI_ONNX_INFO_OPTIONAL, "optional_type", 1},
};

static const choice* find_choice(uint32_t number) {
  for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); ++i) {
    if (choices[i].number == number) {
      return &choices[i];
    }
  }
  return NULL;
}

// The body of a sequence, optional or map: its key and the type within.
static stow_status open_container(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                  const choice* chosen, type_level* level) {
  stowi_onnx_wire wire = stowi_onnx_wire_begin(level->body);
  stowi_onnx_wire_field field;
  stowi_onnx_span element = {NULL, 0};
  while (stowi_onnx_wire_next(&wire, &field)) {
    if (field.number == chosen->element) {
      STOW_TRY(stowi_onnx_expect(reader, place, &field, STOWI_ONNX_WIRE_BYTES));
      if (level->has_element) {
        return stowi_onnx_malformed(reader, place, field.bytes, "the type within is given twice");
      }
      element = field.bytes;
      level->has_element = true;
    } else if (field.number == 1 && chosen->kind == STOWI_ONNX_INFO_MAP) {
      STOW_TRY(stowi_onnx_expect(reader, place, &field, STOWI_ONNX_WIRE_VARINT));
      level->key = (int32_t)(uint32_t)field.scalar;
    }
  }
  level->body = element;
  return stowi_onnx_wire_status(reader, place, &wire);
}

static stow_status open_level(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                              stowi_onnx_span type, type_level* out) {
  *out = (type_level){.kind = STOWI_ONNX_INFO_NONE};
  const choice* chosen = NULL;
  stowi_onnx_wire wire = stowi_onnx_wire_begin(type);
  stowi_onnx_wire_field field;
  while (stowi_onnx_wire_next(&wire, &field)) {
    const choice* found = find_choice(field.number);
    if (found == NULL) {
      continue;
    }
    stowi_onnx_place within = {place, found->name, SIZE_MAX, place->depth + 1};
    STOW_TRY(stowi_onnx_expect(reader, &within, &field, STOWI_ONNX_WIRE_BYTES));
    if (chosen != NULL) {
      return stowi_onnx_malformed(reader, &within, field.bytes, "more than one type is given");
    }
    chosen = found;
    out->kind = found->kind;
    out->body = field.bytes;
  }
  STOW_TRY(stowi_onnx_wire_status(reader, place, &wire));
  return chosen == NULL || chosen->element == 0 ? STOW_OK
                                                : open_container(reader, place, chosen, out);
}

static stow_status read_type(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                             const stowi_onnx_wire_field* field, void* record) {
  stowi_onnx_value_info* info = (stowi_onnx_value_info*)record;
  STOW_TRY(stowi_onnx_expect(reader, place, field, STOWI_ONNX_WIRE_BYTES));
  if (info->type.data != NULL) {
    return stowi_onnx_malformed(reader, place, field->bytes, "given twice");
  }
  info->type = field->bytes;
  type_level level = {.body = field->bytes, .has_element = true};
  for (int depth = 0; level.has_element; ++depth) {
    if (depth == DEEPEST) {
      return stowi_onnx_fail_at(reader, place, level.body.data, STOW_ERR_LIMIT,
                                "types are nested more than %d deep", DEEPEST);
    }
    STOW_TRY(open_level(reader, place, level.body, &level));
    if (depth == 0) {
      info->kind = level.kind;
    }
  }
  if (level.kind == STOWI_ONNX_INFO_TENSOR || level.kind == STOWI_ONNX_INFO_SPARSE) {
    tensor_type type;
    STOW_TRY(stowi_onnx_read(reader, place, &tensor_type_message, level.body, &type));
    info->elem = type.elem;
    info->has_shape = type.has_shape;
    info->rank = type.shape.rank;
    info->dims = type.shape.dims;
  }
  return STOW_OK;
}

static const stowi_onnx_field value_info_fields[] = {
    STOWI_ONNX_ROW(1, STR, "name", stowi_onnx_value_info, name),
    STOWI_ONNX_CALL(2, "type", read_type),
};

const stowi_onnx_message stowi_onnx_value_info_message =
    STOWI_ONNX_MESSAGE("a value", value_info_fields, stowi_onnx_value_info, 3, NULL);

// ---------------------------------------------------------------------------------------------
// Printing

static stow_status print_elem(int32_t elem, stow_writer writer) {
  stow_dtype dtype;
  if (stowi_onnx_elem_dtype(elem, &dtype)) {
    return stowi_put(writer, stow_dtype_name(dtype));
  }
  if (elem == STOWI_ONNX_ELEM_STRING) {
    return stowi_put(writer, "string");
  }
  return stowi_put(writer, "?");
}

static stow_status print_dim(const stowi_import_dim* dim, stow_writer writer) {
  if (dim->number >= 0) {
    return stowi_printf(writer, "%lld", (long long)dim->number);
  }
  if (dim->name.size == 0) {
    return stowi_put(writer, "?");
  }
  return stowi_is_plain_name(dim->name) ? stowi_put_str(writer, dim->name)
                                        : stowi_put_quoted(writer, dim->name);
}

static stow_status print_tensor(const stowi_onnx_value_info* info, stow_writer writer) {
  STOW_TRY(print_elem(info->elem, writer));
  if (!info->has_shape) {
    return stowi_put(writer, "[...]");
  }
  STOW_TRY(stowi_put(writer, "["));
  for (size_t d = 0; d < info->rank; ++d) {
    STOW_TRY(stowi_put(writer, d == 0 ? "" : ", "));
    STOW_TRY(print_dim(&info->dims[d], writer));
  }
  return stowi_put(writer, "]");
}

static bool is_container(stowi_onnx_info_kind kind) {
  return kind == STOWI_ONNX_INFO_SEQUENCE || kind == STOWI_ONNX_INFO_OPTIONAL ||
         kind == STOWI_ONNX_INFO_MAP;
}

// What stands before the type within.
static stow_status print_opening(const type_level* level, stow_writer writer) {
  switch (level->kind) {
    case STOWI_ONNX_INFO_SEQUENCE: return stowi_put(writer, "seq(");
    case STOWI_ONNX_INFO_OPTIONAL: return stowi_put(writer, "optional(");
    case STOWI_ONNX_INFO_MAP:
      STOW_TRY(stowi_put(writer, "map("));
      STOW_TRY(print_elem(level->key, writer));
      return stowi_put(writer, ", ");
    default: return STOW_OK;
  }
}

static stow_status print_innermost(const stowi_onnx_value_info* info, stowi_onnx_info_kind kind,
                                   stow_writer writer) {
  if (kind == STOWI_ONNX_INFO_TENSOR) {
    return print_tensor(info, writer);
  }
  if (kind != STOWI_ONNX_INFO_SPARSE) {
    return stowi_put(writer, kind == STOWI_ONNX_INFO_OTHER ? "opaque" : "?");
  }
  STOW_TRY(stowi_put(writer, "sparse("));
  STOW_TRY(print_tensor(info, writer));
  return stowi_put(writer, ")");
}

stow_status stowi_onnx_print_type(const stowi_onnx_value_info* info, stow_writer writer) {
  stowi_onnx_reader reader = {.whole = info->type};
  stowi_onnx_place place = {.index = SIZE_MAX};
  type_level level = {.body = info->type, .has_element = info->type.data != NULL};
  size_t open = 0;
  while (level.has_element) {
    STOW_TRY(open_level(&reader, &place, level.body, &level));
    STOW_TRY(print_opening(&level, writer));
    open += is_container(level.kind);
  }
  STOW_TRY(print_innermost(info, level.kind, writer));
  for (; open > 0; --open) {
    STOW_TRY(stowi_put(writer, ")"));
  }
  return STOW_OK;
}
