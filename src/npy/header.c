// `.npy` files: a magic word, the size of a header, the header as the text of a Python dictionary
// with three known keys, then the elements. Only what numpy itself writes is understood; a reader
// of Python would be larger than the rest. The header is read without what follows,
// so that its type can be refused before anything is unpacked or allocated. O(bytes).
#include "npy/header.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

static const struct {
  char kind;
  unsigned bytes;
  stow_dtype dtype;
} known[] = {{'f', 4, STOW_F32}, {'f', 2, STOW_F16},  {'f', 8, STOW_F64}, {'i', 1, STOW_I8},
             {'i', 2, STOW_I16}, {'i', 4, STOW_I32},  {'i', 8, STOW_I64}, {'u', 1, STOW_U8},
             {'u', 2, STOW_U16}, {'u', 4, STOW_U32},  {'u', 8, STOW_U64}, {'b', 1, STOW_BOOL},
             {'c', 8, STOW_C64}, {'c', 16, STOW_C128}};
#define KNOWN_COUNT (sizeof known / sizeof known[0])

void stowi_npy_fail(stow_diag* diag, size_t at, const char* format, va_list arguments) {
  char text[256];
  vsnprintf(text, sizeof text, format, arguments);
  (void)stowi_fail(diag, STOW_ERR_SYNTAX, "byte %zu: %s", at, text);
}

typedef struct header {
  const char* data;
  size_t size;
  size_t at;
  size_t start;  // of the header in the file
  stow_diag* diag;
} header;

STOW_PRINTF_LIKE(2, 3) static bool fail(const header* h, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stowi_npy_fail(h->diag, h->start + h->at, format, arguments);
  va_end(arguments);
  return false;
}

// ---------------------------------------------------------------------------------------------
// Reading the header

static void skip_spaces(header* h) {
  while (h->at < h->size && h->data[h->at] == ' ') {
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
  while (h->at < h->size && stowi_is_digit(h->data[h->at])) {
    int64_t digit = h->data[h->at] - '0';
    if (number > (INT64_MAX - digit) / 10) {
      return false;
    }
    number = number * 10 + digit;
    ++h->at;
  }
  *out = number;
  return h->at == start + 1 || (h->at > start && h->data[start] != '0');
}

// A string in quotes, without them.
static bool take_string(header* h, stow_str* out) {
  skip_spaces(h);
  if (h->at == h->size || (h->data[h->at] != '\'' && h->data[h->at] != '"')) {
    return false;
  }
  const char* start = h->data + h->at + 1;
  const char* end = memchr(start, h->data[h->at], h->size - h->at - 1);
  if (end == NULL) {
    return false;
  }
  *out = (stow_str){start, (size_t)(end - start)};
  h->at = (size_t)(end - h->data) + 1;
  return true;
}

// The digits behind order and kind; 0 where it is none that could be known.
static unsigned descr_bytes(stow_str descr) {
  unsigned bytes = 0;
  for (size_t i = 2; i < descr.size; ++i) {
    if (!stowi_is_digit(descr.data[i]) || bytes > 99) {
      return 0;
    }
    bytes = bytes * 10 + (unsigned)(descr.data[i] - '0');
  }
  return bytes;
}

static bool find_dtype(stow_str descr, stow_dtype* out) {
  unsigned bytes = descr.size < 3 ? 0 : descr_bytes(descr);
  for (size_t i = 0; i < KNOWN_COUNT; ++i) {
    if (bytes == known[i].bytes && descr.data[1] == known[i].kind) {
      *out = known[i].dtype;
      return memchr("<>|=", descr.data[0], 4) != NULL;
    }
  }
  return false;
}

// `'<i8'`
static bool take_descr(header* h, stowi_npy_header* array) {
  stow_str descr;
  if (!take_string(h, &descr)) {
    return fail(h, "the element type is not a string: records are unsupported");
  }
  if (find_dtype(descr, &array->type.dtype)) {
    array->is_big_endian = descr.data[0] == '>';
    return true;
  }
  bool is_opaque = descr.size > 1 && descr.data[1] == 'V';
  return fail(h, "unsupported element type '%.*s'%s", (int)(descr.size < 16 ? descr.size : 16),
              descr.data,
              is_opaque ? "; bf16, f8 and smaller types have no name in .npy files: give raw bytes "
                          "or an ONNX .pb file"
                        : "");
}

// `(2, 3)`, `(5,)`, `()`
static bool take_shape(header* h, stow_type* type) {
  if (!take(h, "(")) {
    return fail(h, "the shape does not begin with '('");
  }
  type->rank = 0;
  bool is_next = true;  // a comma or the parenthesis is behind us
  while (!take(h, ")")) {
    if (type->rank == STOW_MAX_RANK) {
      return fail(h, "too many dims, the maximum is %d", STOW_MAX_RANK);
    }
    if (!is_next || !take_number(h, &type->dims[type->rank])) {
      return fail(h, "dim %u is not a number of at most 63 bits", (unsigned)type->rank);
    }
    ++type->rank;
    (void)take(h, "L");  // of Python 2
    is_next = take(h, ",");
  }
  return type->rank != 1 || is_next || fail(h, "a shape of one dim needs a comma: (5,)");
}

static bool take_order(header* h, stowi_npy_header* array) {
  array->is_fortran = take(h, "True");
  return array->is_fortran || take(h, "False") || fail(h, "'fortran_order' is not True or False");
}

enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

static unsigned find_key(stow_str key) {
  return stow_str_equal(key, stow_str_of("descr"))           ? SEEN_DESCR
         : stow_str_equal(key, stow_str_of("fortran_order")) ? SEEN_ORDER
         : stow_str_equal(key, stow_str_of("shape"))         ? SEEN_SHAPE
                                                             : 0;
}

static bool take_entry(header* h, stowi_npy_header* array, unsigned* seen) {
  stow_str key;
  if (!take_string(h, &key) || !take(h, ":")) {
    return fail(h, "expected a key and ':' in the header");
  }
  unsigned found = find_key(key);
  if (found == 0 || (*seen & found) != 0) {
    return fail(h, found == 0 ? "the header has an unknown key" : "the header has a key twice");
  }
  *seen |= found;
  return found == SEEN_DESCR   ? take_descr(h, array)
         : found == SEEN_ORDER ? take_order(h, array)
                               : take_shape(h, &array->type);
}

static bool read_header(header* h, stowi_npy_header* array) {
  unsigned seen = 0;
  if (!take(h, "{")) {
    return fail(h, "the header is not a dictionary");
  }
  bool is_next = true;  // a comma or the brace is behind us
  while (!take(h, "}")) {
    if (!is_next) {
      return fail(h, "missing comma between two keys of the header");
    }
    if (!take_entry(h, array, &seen)) {
      return false;
    }
    is_next = take(h, ",");
  }
  if (seen != SEEN_ALL) {
    return fail(h, "the header has no '%s'",
                (seen & SEEN_DESCR) == 0   ? "descr"
                : (seen & SEEN_ORDER) == 0 ? "fortran_order"
                                           : "shape");
  }
  // Spaces up to a line's end fill the header, and nothing else does.
  skip_spaces(h);
  h->at += h->at < h->size && h->data[h->at] == '\n';
  return h->at == h->size || fail(h, "the header continues after its dictionary");
}

bool stowi_npy_find_start(const void* bytes, size_t size, stow_diag* diag, size_t* out_start) {
  const unsigned char* b = bytes;
  header h = {.diag = diag};
  *out_start = 0;
  if (size < STOWI_NPY_START_SIZE || memcmp(b, "\x93NUMPY", 6) != 0) {
    return fail(&h, "not a .npy file: wrong magic number");
  }
  h.at = 6;
  if (b[6] < 1 || b[6] > 3) {
    return fail(&h, "unsupported format version %u; expected 1 to 3", (unsigned)b[6]);
  }
  size_t length = (size_t)b[8] | (size_t)b[9] << 8;
  if (b[6] > 1) {
    length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
  }
  *out_start = (b[6] == 1 ? 10 : 12) + length;
  h.at = 8;
  return *out_start <= STOWI_NPY_MOST_HEADER ||
         fail(&h, "the header has %zu bytes, the maximum is %d", length,
              STOWI_NPY_MOST_HEADER - 12);
}

bool stowi_npy_parse(const void* bytes, size_t size, stow_diag* diag, stowi_npy_header* out_array) {
  *out_array = (stowi_npy_header){0};
  size_t end;
  if (!stowi_npy_find_start(bytes, size, diag, &end)) {
    return false;
  }
  header h = {.start = ((const char*)bytes)[6] == 1 ? 10 : 12, .diag = diag};
  if (end > size) {
    return fail(&h, "the header has %zu bytes, but there are only %zu", end - h.start,
                size - h.start);
  }
  h.data = (const char*)bytes + h.start;
  h.size = end - h.start;
  if (!read_header(&h, out_array)) {
    return false;
  }
  out_array->start = end;
  return stow_type_bytes(&out_array->type, &out_array->size) == STOW_OK ||
         fail(&h, "the shape has more elements than 64 bits can count");
}

#define TYPE_SIZE 120

static stow_status put_cut(void* user, const char* data, size_t size) {
  size_t used = strlen(user);
  size_t room = TYPE_SIZE - used;
  size_t part = size < room ? size : room;
  memcpy((char*)user + used, data, part);
  ((char*)user)[used + part] = '\0';
  return STOW_OK;
}

bool stowi_npy_check_size(const stowi_npy_header* array, uint64_t size, stow_diag* diag) {
  header h = {.start = array->start, .diag = diag};
  uint64_t there = size - array->start;
  if (there == array->size) {
    return true;
  }
  char type[TYPE_SIZE + 1] = "";
  (void)stow_type_print(NULL, &array->type, (stow_writer){put_cut, type});
  return fail(&h, "%s needs %llu bytes, but there are %llu", type, (unsigned long long)array->size,
              (unsigned long long)there);
}

// ---------------------------------------------------------------------------------------------
// Elements

// Copies a number of |width| bytes, the halves of complex ones being two.
static void copy_element(const unsigned char* from, unsigned char* to, size_t element, size_t width,
                         bool swaps) {
  if (!swaps) {
    memcpy(to, from, element);
    return;
  }
  for (size_t i = 0; i < element; ++i) {
    size_t half = i / width * width;
    to[i] = from[half + width - 1 - (i - half)];
  }
}

// Walks the elements as C has them; |strides| say where the file does.
static void copy_strided(const stowi_npy_header* array, const unsigned char* from,
                         const size_t* strides, size_t element, size_t width, unsigned char* to) {
  const stow_type* type = &array->type;
  int64_t index[STOW_MAX_RANK] = {0};
  for (size_t at = 0; at < array->size; at += element) {
    copy_element(from, to + at, element, width, array->is_big_endian);
    for (uint32_t d = type->rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < type->dims[d]) {
        break;
      }
      from -= strides[d] * (size_t)type->dims[d];
      index[d] = 0;
    }
  }
}

static size_t element_size(const stowi_npy_header* array) {
  return stow_dtype_bits(array->type.dtype) / 8;
}

static size_t number_size(const stowi_npy_header* array) {
  bool is_complex = stow_dtype_kind_of(array->type.dtype) == STOW_KIND_COMPLEX;
  return is_complex ? element_size(array) / 2 : element_size(array);
}

bool stowi_npy_is_plain(const stowi_npy_header* array) {
  return !array->is_fortran && (!array->is_big_endian || number_size(array) == 1);
}

void stowi_npy_copy(const stowi_npy_header* array, const void* elements, void* to) {
  const stow_type* type = &array->type;
  if (array->size == 0) {
    return;
  }
  if (stowi_npy_is_plain(array)) {
    memcpy(to, elements, (size_t)array->size);
    return;
  }
  size_t strides[STOW_MAX_RANK];
  size_t stride = element_size(array);
  for (uint32_t i = 0; i < type->rank; ++i) {
    uint32_t d = array->is_fortran ? i : type->rank - 1 - i;
    strides[d] = stride;
    stride *= (size_t)type->dims[d];
  }
  copy_strided(array, elements, strides, element_size(array), number_size(array), to);
}

// ---------------------------------------------------------------------------------------------
// Writing

static bool format_shape(const stow_tensor* tensor, char* out, size_t capacity) {
  size_t used = 0;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    int size = snprintf(out + used, capacity - used, "%s%lld%s", i == 0 ? "" : " ",
                        (long long)tensor->dims[i], i + 1 < tensor->rank || i == 0 ? "," : "");
    used += size > 0 ? (size_t)size : 0;
    if (used >= capacity) {
      return false;
    }
  }
  out[used] = '\0';
  return true;
}

static size_t find_known(stow_dtype dtype) {
  size_t found = 0;
  while (found < KNOWN_COUNT && known[found].dtype != dtype) {
    ++found;
  }
  return found;
}

bool stow_npy_has_dtype(stow_dtype dtype) { return find_known(dtype) < KNOWN_COUNT; }

#define HEADER_ALIGNMENT 64  // elements begin at a multiple of it, as numpy has it

bool stowi_npy_format_header(const stow_tensor* tensor, char out[STOWI_NPY_HEADER_SIZE],
                             size_t* out_size) {
  size_t found = find_known(tensor->dtype);
  char shape[STOWI_NPY_HEADER_SIZE - 100];
  if (found == KNOWN_COUNT || !format_shape(tensor, shape, sizeof shape)) {
    return false;
  }
  bool is_plain = known[found].bytes == 1;
  int size = snprintf(out + 10, STOWI_NPY_HEADER_SIZE - 10,
                      "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (%s), }",
                      is_plain ? '|' : '<', known[found].kind, known[found].bytes, shape);
  size_t end = 10 + (size_t)size;
  size_t total = (end + 1 + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT * HEADER_ALIGNMENT;
  memset(out + end, ' ', total - end);
  out[total - 1] = '\n';
  memcpy(out, "\x93NUMPY\x01\x00", 8);
  out[8] = (char)((total - 10) & 255);
  out[9] = (char)((total - 10) >> 8);
  *out_size = total;
  return true;
}
