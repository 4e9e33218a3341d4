// Reading without a mapping. The reader of messages wants bytes that lie one after the other; a
// source of gigabytes must not be read as a whole. So one pass over the source, guided by the
// reader's own tables, copies the structure and leaves out payloads that are large: tensor data,
// and unknown fields. Each length around a gap is written again in as many bytes as it
// had (a varint may be padded), so that a position in the image differs from that in the source by
// the gaps before it and by nothing else.
//
// What is malformed is copied up to the place where it is, where the reader finds it again and says
// so. Memory is O(structure), reads are O(structure + gaps), recursion is as deep as the reader's.
#include "onnx/reader/source.h"

#include <string.h>

#include "base/diag.h"
#include "onnx/reader/messages.h"

#define LEAST_HOLE 512        // bytes of a payload that is left out
#define WINDOW (1 << 14)      // bytes that are read at once
#define KEPT_OF_MALFORMED 64  // bytes behind the place: enough to recognise other files
#define LONGEST_VARINT 10

typedef struct scanner {
  const stow_source* source;
  stow_str name;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_onnx_image* image;
  uint64_t offset;  // of the next byte in the source
  uint8_t* window;
  uint64_t window_offset;
  size_t window_size;
} scanner;

stow_status stowi_onnx_source_read(const stow_source* source, stow_str name, uint64_t offset,
                                   void* bytes, size_t count, stow_diag* diag) {
  stow_status status = count == 0 ? STOW_OK : source->read(source->user, offset, bytes, count);
  if (status == STOW_OK) {
    return STOW_OK;
  }
  return stowi_fail(diag, status, "%.*s%scannot read %zu bytes at %llu: %s", STOWI_STR_ARG(name),
                    name.size == 0 ? "" : ": ", count, (unsigned long long)offset,
                    stow_status_text(status));
}

// ---------------------------------------------------------------------------------------------
// Bytes

// Appends the next |count| bytes, which the source has.
static stow_status copy(scanner* s, uint64_t count) {
  while (count != 0) {
    uint64_t skipped = s->offset - s->window_offset;
    if (s->offset < s->window_offset || skipped >= s->window_size) {
      uint64_t left = s->source->size - s->offset;
      s->window_size = 0;
      size_t size = left < WINDOW ? (size_t)left : WINDOW;
      STOW_TRY(stowi_onnx_source_read(s->source, s->name, s->offset, s->window, size, s->diag));
      s->window_offset = s->offset;
      s->window_size = size;
      skipped = 0;
    }
    size_t room = s->window_size - (size_t)skipped;
    size_t size = count < room ? (size_t)count : room;
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(s->allocator, &s->image->bytes, size) == STOW_OK,
                               s->diag));
    memcpy(s->image->bytes.data + s->image->bytes.count, s->window + skipped, size);
    s->image->bytes.count += size;
    s->offset += size;
    count -= size;
  }
  return STOW_OK;
}

static stow_status leave_out(scanner* s, uint64_t count) {
  stowi_onnx_image* image = s->image;
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(s->allocator, &image->holes, 1) == STOW_OK, s->diag));
  image->holes.data[image->holes.count++] = (stowi_onnx_hole){image->bytes.count, s->offset, count};
  s->offset += count;
  return STOW_OK;
}

// |*out_is_good| is false where there is no varint before |end|.
static stow_status copy_varint(scanner* s, uint64_t end, uint64_t* out_number, bool* out_is_good) {
  *out_number = 0;
  *out_is_good = false;
  for (int i = 0; i < LONGEST_VARINT && !*out_is_good && s->offset < end; ++i) {
    STOW_TRY(copy(s, 1));
    uint8_t byte = s->image->bytes.data[s->image->bytes.count - 1];
    *out_number |= (uint64_t)(byte & 0x7f) << (7 * i);
    *out_is_good = byte < 0x80;
  }
  return STOW_OK;
}

// Writes |number| over the varint from |at| up to |end| of the image.
static void patch(scanner* s, size_t at, size_t end, uint64_t number) {
  for (; at < end; ++at, number >>= 7) {
    s->image->bytes.data[at] = (uint8_t)((number & 0x7f) | (at + 1 < end ? 0x80 : 0));
  }
}

// Gives up the message that ends at |end|.
static stow_status stop(scanner* s, uint64_t end) {
  uint64_t left = end - s->offset;
  STOW_TRY(copy(s, left < KEPT_OF_MALFORMED ? left : KEPT_OF_MALFORMED));
  left = end - s->offset;
  if (left == 0) {
    return STOW_OK;
  }
  s->image->cut += end == s->source->size ? left : 0;
  return leave_out(s, left);
}

// ---------------------------------------------------------------------------------------------
// Messages

static const stowi_onnx_field* find_field(const stowi_onnx_message* message, uint64_t number) {
  for (size_t i = 0; message != NULL && i < message->field_count; ++i) {
    if (message->fields[i].number == number) {
      return &message->fields[i];
    }
  }
  return NULL;
}

// Whether the reader does not look into |field|: it is unknown, or a tensor's data.
static bool is_opaque(const stowi_onnx_message* message, const stowi_onnx_field* field) {
  if (field == NULL) {
    return true;
  }
  bool is_typed = stowi_onnx_is_data_field(field->number);
  return message == &stowi_onnx_tensor_message &&
         (is_typed || field->kind == STOWI_ONNX_READ_BYTES);
}

static stow_status scan(scanner* s, const stowi_onnx_message* message, uint64_t end, size_t depth,
                        uint64_t group);

static stow_status scan_bytes(scanner* s, const stowi_onnx_message* message, uint64_t number,
                              uint64_t end, size_t depth) {
  size_t length_at = s->image->bytes.count;
  uint64_t length;
  bool is_good;
  STOW_TRY(copy_varint(s, end, &length, &is_good));
  if (!is_good || length > end - s->offset) {
    return stop(s, end);
  }
  const stowi_onnx_field* field = find_field(message, number);
  size_t start = s->image->bytes.count;
  if (field != NULL && field->message != NULL) {
    STOW_TRY(scan(s, field->message, s->offset + length, depth + 1, 0));
  } else if (length >= LEAST_HOLE && is_opaque(message, field)) {
    STOW_TRY(leave_out(s, length));
  } else {
    return copy(s, length);
  }
  patch(s, length_at, start, s->image->bytes.count - start);
  return STOW_OK;
}

// The fields of a message, up to |end|; where |group| is not 0, of a group of that number, up to
// its end.
static stow_status scan(scanner* s, const stowi_onnx_message* message, uint64_t end, size_t depth,
                        uint64_t group) {
  if (depth > STOWI_ONNX_DEEPEST) {
    return stop(s, end);
  }
  while (s->offset < end) {
    uint64_t tag, number;
    bool is_good;
    STOW_TRY(copy_varint(s, end, &tag, &is_good));
    uint64_t left = end - s->offset;
    switch (is_good && tag >> 3 != 0 ? (stowi_onnx_wire_type)(tag & 7) : (stowi_onnx_wire_type)7) {
      case STOWI_ONNX_WIRE_VARINT:
        STOW_TRY(copy_varint(s, end, &number, &is_good));
        if (!is_good) {
          return stop(s, end);
        }
        break;
      case STOWI_ONNX_WIRE_FIXED64: STOW_TRY(copy(s, left < 8 ? left : 8)); break;
      case STOWI_ONNX_WIRE_FIXED32: STOW_TRY(copy(s, left < 4 ? left : 4)); break;
      case STOWI_ONNX_WIRE_BYTES: STOW_TRY(scan_bytes(s, message, tag >> 3, end, depth)); break;
      case STOWI_ONNX_WIRE_GROUP: STOW_TRY(scan(s, NULL, end, depth + 1, tag >> 3)); break;
      case STOWI_ONNX_WIRE_GROUP_END: return group == tag >> 3 ? STOW_OK : stop(s, end);
      default: return stop(s, end);
    }
  }
  return STOW_OK;
}

stow_status stowi_onnx_image_read(const stow_source* source, stow_str name,
                                  stow_allocator allocator, stow_diag* diag,
                                  stowi_onnx_image* out_image) {
  *out_image = (stowi_onnx_image){.size = source->size};
  scanner s = {.source = source,
               .name = name,
               .allocator = allocator,
               .diag = diag,
               .image = out_image,
               .window = STOWI_ARRAY(allocator, uint8_t, WINDOW)};
  stow_status status = s.window == NULL ? stowi_fail_memory(diag)
                                        : scan(&s, &stowi_onnx_model_message, source->size, 0, 0);
  STOWI_ARRAY_FREE(allocator, s.window, WINDOW);
  if (status != STOW_OK) {
    stowi_onnx_image_free(out_image, allocator);
  }
  return status;
}

void stowi_onnx_image_free(stowi_onnx_image* image, stow_allocator allocator) {
  STOWI_VEC_FREE(allocator, &image->bytes);
  STOWI_VEC_FREE(allocator, &image->holes);
}

// ---------------------------------------------------------------------------------------------
// Positions

// The last hole at or before |at|; NULL where there is none.
static const stowi_onnx_hole* last_hole(const stowi_onnx_image* image, size_t at) {
  size_t low = 0;
  size_t high = image->holes.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (image->holes.data[middle].at <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? NULL : &image->holes.data[low - 1];
}

uint64_t stowi_onnx_image_offset(const stowi_onnx_image* image, size_t at) {
  const stowi_onnx_hole* hole = last_hole(image, at);
  return hole == NULL ? at : hole->offset + hole->size + (at - hole->at);
}

const stowi_onnx_hole* stowi_onnx_image_hole(const stowi_onnx_image* image, size_t at) {
  const stowi_onnx_hole* hole = last_hole(image, at);
  return hole != NULL && hole->at == at ? hole : NULL;
}
