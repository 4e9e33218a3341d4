// BMP without compression, of 8 (with a palette), 24 and 32 bits, and PNM in bytes (P5, P6, up to
// 255). Every number of a header is checked against the file's size before it is used.
#include "exec/kernels/spatial/image_file.h"

#define MOST_PIXELS 0x40000000  // along one side; products stay within 64 bits

static stow_status fail(const stow_kernel_call* call, const char* what) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "%s", what);
}

static stow_status refuse(const stow_kernel_call* call, const char* what) {
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "%s", what);
}

// Whether |rows| of |row_size| bytes from |first| on lie in |size|.
static bool fits(size_t size, uint64_t first, uint64_t rows, uint64_t row_size) {
  return first <= size && (rows == 0 || row_size <= (size - first) / rows);
}

// ---------------------------------------------------------------------------------------------
// BMP

static uint32_t u16_at(const unsigned char* p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32_at(const unsigned char* p) { return u16_at(p) | u16_at(p + 2) << 16; }

static stow_status read_palette(const stow_kernel_call* call, size_t size, uint64_t first,
                                uint32_t count, stowi_image* out) {
  count = count == 0 || count > 256 ? 256 : count;
  if (!fits(size, first, 1, (uint64_t)count * 4)) {
    return fail(call, "the palette of the BMP file lies beyond its end");
  }
  out->palette = out->bytes + first;
  out->palette_count = count;
  return STOW_OK;
}

stow_status stowi_image_bmp(const stow_kernel_call* call, const unsigned char* bytes, size_t size,
                            stowi_image* out) {
  if (size < 54 || u32_at(bytes + 14) < 40) {
    return fail(call, "the header of the BMP file is too short");
  }
  uint32_t bits = u16_at(bytes + 28);
  if (u32_at(bytes + 30) != 0 || (bits != 8 && bits != 24 && bits != 32)) {
    return refuse(call, "BMP files of 8, 24 or 32 bits without compression are read, no others");
  }
  uint32_t height = u32_at(bytes + 22);
  bool is_down = height >> 31 != 0;  // a negative height: the first row is the upper one
  height = is_down ? 0U - height : height;
  uint32_t width = u32_at(bytes + 18);
  uint64_t row_size = ((uint64_t)width * bits + 31) / 32 * 4;
  uint32_t first = u32_at(bytes + 10);
  if (width > MOST_PIXELS || height > MOST_PIXELS || !fits(size, first, height, row_size)) {
    return fail(call, "the pixels of the BMP file lie beyond its end");
  }
  bool is_empty = height == 0 || width == 0;
  *out = (stowi_image){.bytes = bytes,
                       .height = height,
                       .width = width,
                       .first = is_down || is_empty ? first : first + (height - 1) * row_size,
                       .row_step = is_down ? (int64_t)row_size : -(int64_t)row_size,
                       .pixel_step = bits / 8,
                       .order = {2, 1, 0},
                       .most = 255};
  if (bits != 8) {
    return STOW_OK;
  }
  out->order[0] = out->order[1] = out->order[2] = 0;
  return read_palette(call, size, 14 + (uint64_t)u32_at(bytes + 14), u32_at(bytes + 46), out);
}

// ---------------------------------------------------------------------------------------------
// PNM

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The next number of the header, after spaces and comments; false where there is none.
static bool read_number(const unsigned char* bytes, size_t size, size_t* at, uint32_t* out) {
  bool is_comment = false;
  while (*at < size && (is_comment || is_space(bytes[*at]) || bytes[*at] == '#')) {
    is_comment = bytes[*at] == '#' || (is_comment && bytes[*at] != '\n');
    ++*at;
  }
  bool is_number = false;
  *out = 0;
  for (; *at < size && bytes[*at] >= '0' && bytes[*at] <= '9'; ++*at) {
    if (*out > MOST_PIXELS / 10) {
      return false;
    }
    *out = *out * 10 + (uint32_t)(bytes[*at] - '0');
    is_number = true;
  }
  return is_number;
}

stow_status stowi_image_pnm(const stow_kernel_call* call, const unsigned char* bytes, size_t size,
                            stowi_image* out) {
  uint32_t width;
  uint32_t height;
  uint32_t most;
  size_t at = 2;
  if (bytes[1] != '5' && bytes[1] != '6') {
    return refuse(call, "PNM files of bytes (P5, P6) are read, no others");
  }
  if (!read_number(bytes, size, &at, &width) || !read_number(bytes, size, &at, &height) ||
      !read_number(bytes, size, &at, &most) || at >= size || most == 0) {
    return fail(call, "the header of the PNM file is not complete");
  }
  if (most > 255) {
    return refuse(call, "PNM files of one byte for each sample are read, no others");
  }
  size_t samples = bytes[1] == '6' ? 3 : 1;
  ++at;  // the one space after the header
  if (!fits(size, at, height, (uint64_t)width * samples)) {
    return fail(call, "the pixels of the PNM file lie beyond its end");
  }
  *out = (stowi_image){.bytes = bytes,
                       .height = height,
                       .width = width,
                       .first = at,
                       .row_step = (int64_t)(width * samples),
                       .pixel_step = samples,
                       .most = most};
  for (size_t k = 0; k < 3 && samples == 3; ++k) {
    out->order[k] = k;
  }
  return STOW_OK;
}
