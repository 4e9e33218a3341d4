// Two passes over the fields of each message: the first counts, the second fills arrays of exactly
// that size. So a list costs what its records cost and nothing else, and no list grows by copying.
// Both passes step over the messages within, so that each byte of structure is looked at twice and
// payloads not at all. Messages within messages are read by recursion, whose depth is bounded; a
// level takes well under 1 kB of stack.
#include "onnx/reader/read.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

#define PATH_PARTS 12  // of a place that a message shows

// ---------------------------------------------------------------------------------------------
// Errors

static void append_place(stow_diag* diag, const stowi_onnx_place* place) {
  const stowi_onnx_place* parts[PATH_PARTS];
  size_t count = 0;
  for (; place != NULL && place->name != NULL && count < PATH_PARTS; place = place->parent) {
    parts[count++] = place;
  }
  const char* separator = place != NULL && place->name != NULL ? "…" : "";
  bool is_empty = count == 0;
  while (count-- > 0) {
    stowi_diag_append(diag, "%s%s", separator, parts[count]->name);
    if (parts[count]->index != SIZE_MAX) {
      stowi_diag_append(diag, "[%zu]", parts[count]->index);
    }
    separator = ".";
  }
  stowi_diag_append(diag, is_empty ? "" : ": ");
}

stow_status stowi_onnx_fail_at(const stowi_onnx_reader* reader, const stowi_onnx_place* place,
                               const uint8_t* at, stow_status status, const char* format, ...) {
  stow_diag reason;
  stow_diag_init(&reason);
  va_list arguments;
  va_start(arguments, format);
  stowi_vfail(&reason, status, format, arguments);
  va_end(arguments);
  stowi_fail(reader->diag, status, "%.*s%s", STOWI_STR_ARG(reader->file),
             reader->file.size == 0 ? "" : ": ");
  size_t position = (size_t)(at - reader->whole.data);
  uint64_t byte =
      reader->image == NULL ? position : stowi_onnx_image_offset(reader->image, position);
  stowi_diag_append(reader->diag, "byte %" PRIu64 ": ", byte);
  append_place(reader->diag, place);
  stowi_diag_append(reader->diag, "%s", reason.message);
  return status;
}

stow_status stowi_onnx_expect(const stowi_onnx_reader* reader, const stowi_onnx_place* place,
                              const stowi_onnx_wire_field* field, stowi_onnx_wire_type type) {
  if (field->type == type) {
    return STOW_OK;
  }
  return stowi_onnx_fail_at(reader, place, field->start, STOW_ERR_SYNTAX, "expected %s, found %s",
                            stowi_onnx_wire_type_name(type),
                            stowi_onnx_wire_type_name(field->type));
}

stow_status stowi_onnx_wire_status(const stowi_onnx_reader* reader, const stowi_onnx_place* place,
                                   const stowi_onnx_wire* wire) {
  if (wire->error == NULL) {
    return STOW_OK;
  }
  uint64_t size = reader->image == NULL ? reader->whole.size : reader->image->size;
  uint64_t missing = wire->missing - (reader->image == NULL ? 0 : reader->image->cut);
  if (wire->missing > 0 && place->name == NULL && missing <= UINT64_MAX - size) {
    return stowi_onnx_fail_at(reader, place, wire->at, STOW_ERR_SYNTAX,
                              "the file is incomplete: it needs at least %" PRIu64
                              " bytes and has %" PRIu64,
                              size + missing, size);
  }
  return stowi_onnx_fail_at(reader, place, wire->at, STOW_ERR_SYNTAX, "%s", wire->error);
}

// ---------------------------------------------------------------------------------------------
// What the rows say

typedef struct passage {
  stowi_onnx_reader* reader;
  const stowi_onnx_place* place;
  const stowi_onnx_message* message;
  char* record;
  size_t counts[STOWI_ONNX_MAX_FIELDS];  // what the first pass finds
  size_t filled[STOWI_ONNX_MAX_FIELDS];  // what the second has read of it
  char* items[STOWI_ONNX_MAX_FIELDS];    // of lists
} passage;

static bool is_list(stowi_onnx_kind kind) {
  return kind >= STOWI_ONNX_READ_I64S && kind <= STOWI_ONNX_READ_RECORDS;
}

static bool is_record(stowi_onnx_kind kind) {
  return kind == STOWI_ONNX_READ_INLINE || kind == STOWI_ONNX_READ_POINTER;
}

static size_t item_size(const stowi_onnx_field* row) {
  switch (row->kind) {
    case STOWI_ONNX_READ_I64S: return sizeof(int64_t);
    case STOWI_ONNX_READ_F32S: return sizeof(float);
    case STOWI_ONNX_READ_STRS: return sizeof(stow_str);
    default: return row->message->record_size;
  }
}

static stowi_onnx_wire_type type_of(stowi_onnx_kind kind) {
  switch (kind) {
    case STOWI_ONNX_READ_I64:
    case STOWI_ONNX_READ_I32:
    case STOWI_ONNX_READ_I64S: return STOWI_ONNX_WIRE_VARINT;
    case STOWI_ONNX_READ_F32:
    case STOWI_ONNX_READ_F32S: return STOWI_ONNX_WIRE_FIXED32;
    default: return STOWI_ONNX_WIRE_BYTES;
  }
}

static bool is_packed(const stowi_onnx_field* row, const stowi_onnx_wire_field* field) {
  return (row->kind == STOWI_ONNX_READ_I64S || row->kind == STOWI_ONNX_READ_F32S) &&
         field->type == STOWI_ONNX_WIRE_BYTES;
}

// The row of field |number|; field_count where there is none.
static size_t find_row(const stowi_onnx_message* message, uint32_t number) {
  size_t r = 0;
  while (r < message->field_count && message->fields[r].number != number) {
    ++r;
  }
  return r;
}

static stowi_onnx_place place_of(const passage* p, const stowi_onnx_field* row, size_t index) {
  return (stowi_onnx_place){p->place, row->name, is_list(row->kind) ? index : SIZE_MAX,
                            p->place->depth + 1};
}

// ---------------------------------------------------------------------------------------------
// First pass

static stow_status count_packed(const passage* p, const stowi_onnx_field* row,
                                const stowi_onnx_wire_field* field, size_t* out_count) {
  stowi_onnx_place place = place_of(p, row, SIZE_MAX);
  if (row->kind == STOWI_ONNX_READ_I64S) {
    *out_count = stowi_onnx_wire_count_varints(field->bytes);
  } else if (field->bytes.size % sizeof(float) != 0) {
    return stowi_onnx_fail_at(p->reader, &place, field->start, STOW_ERR_SYNTAX,
                              "%zu bytes are not a multiple of 4, the size of a float",
                              field->bytes.size);
  } else {
    *out_count = field->bytes.size / sizeof(float);
  }
  return STOW_OK;
}

static stow_status count_field(passage* p, size_t r, const stowi_onnx_wire_field* field) {
  const stowi_onnx_field* row = &p->message->fields[r];
  stowi_onnx_place place = place_of(p, row, p->counts[r]);
  size_t count = 1;
  if (is_packed(row, field)) {
    STOW_TRY(count_packed(p, row, field, &count));
  } else if (row->kind != STOWI_ONNX_READ_CALL && row->kind != STOWI_ONNX_READ_NOTHING) {
    STOW_TRY(stowi_onnx_expect(p->reader, &place, field, type_of(row->kind)));
  }
  if (is_record(row->kind) && p->counts[r] > 0) {
    return stowi_onnx_fail_at(p->reader, &place, field->start, STOW_ERR_SYNTAX, "given twice");
  }
  if (row->kind == STOWI_ONNX_READ_RECORDS && field->bytes.size < row->message->least_size) {
    return stowi_onnx_fail_at(p->reader, &place, field->start, STOW_ERR_SYNTAX,
                              "%zu bytes are too few for %s", field->bytes.size,
                              row->message->name);
  }
  p->counts[r] += count;  // at most the bytes of the message
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Second pass

static stow_status allocate(passage* p, const stowi_onnx_field* row, size_t count, void** out) {
  size_t size;
  void* items = NULL;
  if (stowi_mul_size(count, item_size(row), &size)) {
    items = stowi_pool_alloc(p->reader->pool, p->reader->allocator, size, alignof(max_align_t));
  }
  STOW_TRY(stowi_need_memory(items != NULL, p->reader->diag));
  memcpy(p->record + row->at, &items, sizeof(items));
  *out = items;
  return STOW_OK;
}

static stow_status allocate_lists(passage* p) {
  for (size_t r = 0; r < p->message->field_count; ++r) {
    const stowi_onnx_field* row = &p->message->fields[r];
    if (!is_list(row->kind) || p->counts[r] == 0) {
      continue;
    }
    void* items = NULL;
    STOW_TRY(allocate(p, row, p->counts[r], &items));
    p->items[r] = (char*)items;
    memcpy(p->record + row->count_at, &p->counts[r], sizeof(size_t));
  }
  return STOW_OK;
}

// Where the next item of a list goes. A mapped file can change between the passes: that must not
// make us write behind the list.
static stow_status take_item(passage* p, size_t r, void** out) {
  const stowi_onnx_field* row = &p->message->fields[r];
  if (p->filled[r] == p->counts[r]) {
    stowi_onnx_place place = place_of(p, row, p->filled[r]);
    return stowi_onnx_fail_at(p->reader, &place, p->reader->whole.data, STOW_ERR_IO,
                              "the file changed while it was read");
  }
  *out = p->items[r] + p->filled[r]++ * item_size(row);
  return STOW_OK;
}

static stow_status put_item(passage* p, size_t r, const void* item) {
  void* to = NULL;
  STOW_TRY(take_item(p, r, &to));
  memcpy(to, item, item_size(&p->message->fields[r]));
  return STOW_OK;
}

static stow_status fill_packed(passage* p, size_t r, stowi_onnx_span run) {
  if (p->message->fields[r].kind == STOWI_ONNX_READ_F32S) {
    for (size_t i = 0; i < run.size; i += sizeof(float)) {
      uint32_t bits = stowi_onnx_wire_u32(run.data + i);
      STOW_TRY(put_item(p, r, &bits));
    }
    return STOW_OK;
  }
  stowi_onnx_wire wire = stowi_onnx_wire_begin(run);
  uint64_t number;
  while (stowi_onnx_wire_varint(&wire, &number)) {
    STOW_TRY(put_item(p, r, &number));
  }
  stowi_onnx_place place = place_of(p, &p->message->fields[r], p->filled[r]);
  return stowi_onnx_wire_status(p->reader, &place, &wire);
}

static stow_status fill_record(passage* p, size_t r, const stowi_onnx_wire_field* field) {
  const stowi_onnx_field* row = &p->message->fields[r];
  stowi_onnx_place place = place_of(p, row, p->filled[r]);
  void* record = p->record + row->at;
  if (row->kind == STOWI_ONNX_READ_POINTER) {
    STOW_TRY(allocate(p, row, 1, &record));
  } else if (row->kind == STOWI_ONNX_READ_RECORDS) {
    STOW_TRY(take_item(p, r, &record));
  }
  return stowi_onnx_read(p->reader, &place, row->message, field->bytes, record);
}

static stow_status fill_field(passage* p, size_t r, const stowi_onnx_wire_field* field) {
  const stowi_onnx_field* row = &p->message->fields[r];
  void* to = p->record + row->at;
  uint32_t narrow = (uint32_t)field->scalar;
  stow_str string = {(const char*)field->bytes.data, field->bytes.size};
  stowi_onnx_place place = place_of(p, row, p->filled[r]);
  switch (row->kind) {
    case STOWI_ONNX_READ_I64: memcpy(to, &field->scalar, sizeof(field->scalar)); return STOW_OK;
    case STOWI_ONNX_READ_I32:
    case STOWI_ONNX_READ_F32: memcpy(to, &narrow, sizeof(narrow)); return STOW_OK;
    case STOWI_ONNX_READ_STR: memcpy(to, &string, sizeof(string)); return STOW_OK;
    case STOWI_ONNX_READ_BYTES: memcpy(to, &field->bytes, sizeof(field->bytes)); return STOW_OK;
    case STOWI_ONNX_READ_I64S: return put_item(p, r, &field->scalar);
    case STOWI_ONNX_READ_F32S: return put_item(p, r, &narrow);
    case STOWI_ONNX_READ_STRS: return put_item(p, r, &string);
    case STOWI_ONNX_READ_CALL: return row->call(p->reader, &place, field, p->record);
    case STOWI_ONNX_READ_NOTHING: return STOW_OK;
    default: return fill_record(p, r, field);
  }
}

static stow_status fill_fields(passage* p, stowi_onnx_span span) {
  stowi_onnx_wire wire = stowi_onnx_wire_begin(span);
  stowi_onnx_wire_field field;
  while (stowi_onnx_wire_next(&wire, &field)) {
    size_t r = find_row(p->message, field.number);
    if (r == p->message->field_count) {
      continue;
    }
    if (is_packed(&p->message->fields[r], &field)) {
      STOW_TRY(fill_packed(p, r, field.bytes));
    } else {
      STOW_TRY(fill_field(p, r, &field));
    }
  }
  return STOW_OK;
}

stow_status stowi_onnx_read(stowi_onnx_reader* reader, const stowi_onnx_place* place,
                            const stowi_onnx_message* message, stowi_onnx_span span, void* record) {
  if (place->depth > STOWI_ONNX_DEEPEST) {
    return stowi_onnx_fail_at(reader, place, span.data, STOW_ERR_LIMIT,
                              "messages are nested more than %d deep", STOWI_ONNX_DEEPEST);
  }
  passage p = {.reader = reader, .place = place, .message = message, .record = (char*)record};
  memset(record, 0, message->record_size);
  stowi_onnx_wire wire = stowi_onnx_wire_begin(span);
  stowi_onnx_wire_field field;
  while (stowi_onnx_wire_next(&wire, &field)) {
    size_t r = find_row(p.message, field.number);
    if (r < p.message->field_count) {
      STOW_TRY(count_field(&p, r, &field));
    }
  }
  STOW_TRY(stowi_onnx_wire_status(p.reader, p.place, &wire));
  STOW_TRY(allocate_lists(&p));
  STOW_TRY(fill_fields(&p, span));
  return message->finish == NULL ? STOW_OK : message->finish(reader, place, span, record, p.counts);
}
