// Reading messages into records, driven by tables: one row per field that we know.
#ifndef STOWAGE_SRC_ONNX_READER_READ_H_
#define STOWAGE_SRC_ONNX_READER_READ_H_

#include "base/pool.h"
#include "onnx/reader/proto.h"
#include "onnx/reader/source.h"
#include "onnx/reader/wire.h"

typedef struct stowi_onnx_reader {
  stow_str file;  // named in messages; may be empty
  stowi_onnx_span whole;
  const stowi_onnx_image* image;  // that |whole| is of; NULL: it is the file itself
  stow_allocator allocator;
  stowi_pool* pool;
  stow_diag* diag;
} stowi_onnx_reader;

// Where in the file one is: `graph.node[7].attribute[2]`.
typedef struct stowi_onnx_place {
  const struct stowi_onnx_place* parent;
  const char* name;
  size_t index;  // SIZE_MAX: not one of several
  size_t depth;
} stowi_onnx_place;

typedef enum stowi_onnx_kind {
  STOWI_ONNX_READ_I64,      // int64_t
  STOWI_ONNX_READ_I32,      // int32_t or an enum
  STOWI_ONNX_READ_F32,      // float
  STOWI_ONNX_READ_STR,      // stow_str
  STOWI_ONNX_READ_BYTES,    // stowi_onnx_span
  STOWI_ONNX_READ_INLINE,   // a record within the record
  STOWI_ONNX_READ_POINTER,  // a pointer to one record
  STOWI_ONNX_READ_I64S,     // pointer and count
  STOWI_ONNX_READ_F32S,
  STOWI_ONNX_READ_STRS,
  STOWI_ONNX_READ_RECORDS,
  STOWI_ONNX_READ_CALL,    // a function reads it
  STOWI_ONNX_READ_NOTHING  // only counted
} stowi_onnx_kind;

typedef struct stowi_onnx_message stowi_onnx_message;
typedef stow_status (*stowi_onnx_read_field)(stowi_onnx_reader* reader,
                                             const stowi_onnx_place* place,
                                             const stowi_onnx_wire_field* field, void* record);
// |counts|: for each row, how many there were.
typedef stow_status (*stowi_onnx_finish)(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                         stowi_onnx_span message, void* record,
                                         const size_t* counts);

typedef struct stowi_onnx_field {
  uint32_t number;
  stowi_onnx_kind kind;
  const char* name;
  size_t at;                          // offset in the record
  size_t count_at;                    // of lists
  const stowi_onnx_message* message;  // of records
  stowi_onnx_read_field call;
} stowi_onnx_field;

#define STOWI_ONNX_MAX_FIELDS 20
// Messages in messages: the limit of protocol buffers' own readers. A subgraph takes three levels:
// node, attribute, graph.
#define STOWI_ONNX_DEEPEST 100

struct stowi_onnx_message {
  const char* name;
  const stowi_onnx_field* fields;
  size_t field_count;
  size_t record_size;
  // A shorter one in a list lacks what it needs. That bounds the memory of a list of empty
  // messages, which take 2 bytes each.
  size_t least_size;
  stowi_onnx_finish finish;  // may be NULL
};

// Fills |record|, which need not be cleared. Unknown fields are skipped. What is allocated stays in
// the reader's pool, also on failure.
stow_status stowi_onnx_read(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                            const stowi_onnx_message* message, stowi_onnx_span span, void* record);

// "FILE: byte 12: graph.node[7]: …"
stow_status stowi_onnx_fail_at(const stowi_onnx_reader* reader, const stowi_onnx_place* place,
                               const uint8_t* at, stow_status status, const char* format, ...)
    STOW_PRINTF_LIKE(5, 6);
// Where |field| has another type than |type|.
stow_status stowi_onnx_expect(const stowi_onnx_reader* reader, const stowi_onnx_place* place,
                              const stowi_onnx_wire_field* field, stowi_onnx_wire_type type);
// The error of a cursor as a status; STOW_OK where it has none.
stow_status stowi_onnx_wire_status(const stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                   const stowi_onnx_wire* wire);

#endif  // STOWAGE_SRC_ONNX_READER_READ_H_
