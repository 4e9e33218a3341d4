// Reading `.npy` files, versions 1 to 3: a magic word, the size of a header, the header as the text
// of a Python dictionary with three known keys, then the elements. Only what numpy itself writes is
// understood; a reader of Python would be larger than the rest of the command.
#include "npy.h"

#include <string.h>

typedef struct header {
  const char* data;
  size_t size;
  size_t at;
} header;

static void skip_spaces(header* h) {
  while (h->at < h->size && (h->data[h->at] == ' ' || h->data[h->at] == '\n')) {
    ++h->at;
  }
}

static bool take(header* h, const char* word) {
  skip_spaces(h);
  size_t size = strlen(word);
  if (h->size - h->at < size || memcmp(h->data + h->at, word, size) != 0) {
    return false;
  }
  h->at += size;
  return true;
}

static bool take_number(header* h, int64_t* out) {
  skip_spaces(h);
  size_t start = h->at;
  int64_t number = 0;
  while (h->at < h->size && h->data[h->at] >= '0' && h->data[h->at] <= '9') {
    int64_t digit = h->data[h->at++] - '0';
    if (number > (INT64_MAX - digit) / 10) {
      return false;
    }
    number = number * 10 + digit;
  }
  *out = number;
  return h->at > start;
}

// `'<i8'`
static bool take_dtype(header* h, stow_dtype* out) {
  static const struct {
    const char* text;
    stow_dtype dtype;
  } known[] = {{"'<f4'", STOW_F32}, {"'<f2'", STOW_F16},  {"'<f8'", STOW_F64}, {"'|i1'", STOW_I8},
               {"'<i2'", STOW_I16}, {"'<i4'", STOW_I32},  {"'<i8'", STOW_I64}, {"'|u1'", STOW_U8},
               {"'<u2'", STOW_U16}, {"'<u4'", STOW_U32},  {"'<u8'", STOW_U64}, {"'|b1'", STOW_BOOL},
               {"'<c8'", STOW_C64}, {"'<c16'", STOW_C128}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (take(h, known[i].text)) {
      *out = known[i].dtype;
      return true;
    }
  }
  return false;
}

// `(2, 3)`, `(5,)`, `()`
static const char* take_shape(header* h, stow_type* type) {
  if (!take(h, "(")) {
    return "its header has no shape";
  }
  type->rank = 0;
  while (!take(h, ")")) {
    if (type->rank == STOW_MAX_RANK) {
      return "it has too many dims";
    }
    if (!take_number(h, &type->dims[type->rank++])) {
      return "a dim in its header is no number";
    }
    (void)take(h, ",");
  }
  return NULL;
}

static const char* take_entry(header* h, stow_type* type, unsigned* seen) {
  if (take(h, "'descr':")) {
    *seen |= 1;
    return take_dtype(h, &type->dtype) ? NULL : "its element type is not supported";
  }
  if (take(h, "'fortran_order':")) {
    *seen |= 2;
    return take(h, "False") ? NULL : "it is in Fortran's order; save it in C's";
  }
  if (take(h, "'shape':")) {
    *seen |= 4;
    return take_shape(h, type);
  }
  return "its header has an unknown key";
}

static const char* read_header(header* h, stow_type* type) {
  unsigned seen = 0;
  if (!take(h, "{")) {
    return "its header is no dictionary";
  }
  while (!take(h, "}")) {
    const char* wrong = take_entry(h, type, &seen);
    if (wrong != NULL) {
      return wrong;
    }
    (void)take(h, ",");
  }
  return seen == 7 ? NULL : "its header lacks a key";
}

const char* cli_npy_read(const void* bytes, size_t size, cli_npy* out_array) {
  const unsigned char* b = bytes;
  *out_array = (cli_npy){0};
  if (size < 12 || memcmp(b, "\x93NUMPY", 6) != 0 || b[6] < 1 || b[6] > 3) {
    return "it is no .npy file";
  }
  size_t start = b[6] == 1 ? 10 : 12;
  size_t length = (size_t)b[8] | (size_t)b[9] << 8;
  if (b[6] > 1) {
    length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
  }
  if (length > size - start) {
    return "its header is cut off";
  }
  header h = {(const char*)b + start, length, 0};
  const char* wrong = read_header(&h, &out_array->type);
  uint64_t needed;
  if (wrong == NULL && stow_type_bytes(&out_array->type, &needed) != STOW_OK) {
    wrong = "its dims are too large";
  }
  if (wrong == NULL && needed != size - start - length) {
    wrong = "it holds more or fewer bytes than its shape says";
  }
  out_array->data = b + start + length;
  out_array->size = size - start - length;
  return wrong;
}
