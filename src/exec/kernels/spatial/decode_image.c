// decode_image: the pixels of a BMP or PNM file. Other formats are recognised by their first bytes,
// so that the message can name them.
#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Headers: uncompressed BMP of 8 (with a palette), 24 and 32 bits, and PNM of bytes (P5, P6, up to
// 255). Every number of a header is checked against the file's size before it is used.

// Sample k of the pixel at |row| and |column| is bytes[first + row * row_step + column *
// pixel_step + order[k]]; all of them lie within the file.
typedef struct pixel_layout {
  const unsigned char* bytes;
  size_t height, width;
  size_t first;
  int64_t row_step;
  size_t pixel_step;
  size_t order[3];               // of red, green and blue; all the same where the image is grey
  const unsigned char* palette;  // of 4 bytes each, blue first; NULL: samples are colours
  size_t palette_count;
  uint32_t most;  // the largest sample; 255 in most files
} pixel_layout;

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
                                uint32_t count, pixel_layout* out) {
  count = count == 0 || count > 256 ? 256 : count;
  if (!fits(size, first, 1, (uint64_t)count * 4)) {
    return fail(call, "the BMP file is truncated (palette)");
  }
  out->palette = out->bytes + first;
  out->palette_count = count;
  return STOW_OK;
}

// Reads what begins as a BMP or PNM file; fails the call where it cannot.
static stow_status image_bmp(const stow_kernel_call* call, const unsigned char* bytes, size_t size,
                             pixel_layout* out) {
  if (size < 54 || u32_at(bytes + 14) < 40) {
    return fail(call, "the header of the BMP file is too short");
  }
  uint32_t bits = u16_at(bytes + 28);
  if (u32_at(bytes + 30) != 0 || (bits != 8 && bits != 24 && bits != 32)) {
    return refuse(call, "unsupported BMP file; expected 8, 24 or 32 bits without compression");
  }
  uint32_t height = u32_at(bytes + 22);
  bool is_down = height >> 31 != 0;  // a negative height: the first row is the upper one
  height = is_down ? 0U - height : height;
  uint32_t width = u32_at(bytes + 18);
  uint64_t row_size = ((uint64_t)width * bits + 31) / 32 * 4;
  uint32_t first = u32_at(bytes + 10);
  if (width > MOST_PIXELS || height > MOST_PIXELS || !fits(size, first, height, row_size)) {
    return fail(call, "the BMP file is truncated (pixels)");
  }
  bool is_empty = height == 0 || width == 0;
  *out = (pixel_layout){.bytes = bytes,
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

// The next number of the header, after spaces and comments; false if there is none.
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

static stow_status image_pnm(const stow_kernel_call* call, const unsigned char* bytes, size_t size,
                             pixel_layout* out) {
  uint32_t width;
  uint32_t height;
  uint32_t most;
  size_t at = 2;
  if (bytes[1] != '5' && bytes[1] != '6') {
    return refuse(call, "unsupported PNM file; expected P5 or P6");
  }
  if (!read_number(bytes, size, &at, &width) || !read_number(bytes, size, &at, &height) ||
      !read_number(bytes, size, &at, &most) || at >= size || most == 0) {
    return fail(call, "the header of the PNM file is incomplete");
  }
  if (most > 255) {
    return refuse(call, "unsupported PNM file; expected one byte per sample");
  }
  size_t samples = bytes[1] == '6' ? 3 : 1;
  ++at;  // the one space after the header
  if (!fits(size, at, height, (uint64_t)width * samples)) {
    return fail(call, "the PNM file is truncated (pixels)");
  }
  *out = (pixel_layout){.bytes = bytes,
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

// ---------------------------------------------------------------------------------------------
// The kernel

typedef struct signature {
  const char* name;
  size_t at;
  size_t size;
  const char* bytes;
} signature;

static const signature others[] = {
    {"a JPEG", 0, 3, "\xff\xd8\xff"},
    {"a PNG", 0, 8, "\x89PNG\r\n\x1a\n"},
    {"a TIFF", 0, 4, "II*\0"},
    {"a TIFF", 0, 4, "MM\0*"},
    {"a WebP", 8, 4, "WEBP"},
    {"a JPEG 2000", 4, 4, "jP  "},
    {"a JPEG 2000", 0, 4, "\xff\x4f\xff\x51"},
    {"a GIF", 0, 4, "GIF8"},
};

static stow_status refuse_format(const stow_kernel_call* call, const unsigned char* bytes,
                                 size_t size) {
  const char* name = "of an unknown format";
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    const signature* s = &others[i];
    if (size >= s->at + s->size && memcmp(bytes + s->at, s->bytes, s->size) == 0) {
      name = s->name;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "the file is %s, which is unsupported; expected BMP or PNM", name);
}

// Red, green and blue of a pixel.
static void read_pixel(const pixel_layout* image, size_t row, size_t column, uint32_t* rgb) {
  const unsigned char* pixel = image->bytes + (int64_t)image->first +
                               (int64_t)row * image->row_step +
                               (int64_t)(column * image->pixel_step);
  for (size_t k = 0; k < 3; ++k) {
    uint32_t sample = pixel[image->order[k]];
    if (image->palette != NULL) {
      sample = sample < image->palette_count ? image->palette[4 * sample + 2 - k] : 0;
    }
    sample = sample < image->most ? sample : image->most;
    rgb[k] = (sample * 255 + image->most / 2) / image->most;
  }
}

static void write_pixel(const stow_kernel_call* call, const uint32_t* rgb, unsigned char* to) {
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_FORMAT, "grayscale")) {
    // 0.299, 0.587 and 0.114 in parts of 2^14.
    to[0] = (unsigned char)((rgb[0] * 4899 + rgb[1] * 9617 + rgb[2] * 1868 + 8192) >> 14);
    return;
  }
  bool is_bgr = stowi_kernel_is(call, STOWI_KERNEL_ATTR_FORMAT, "bgr");
  for (size_t k = 0; k < 3; ++k) {
    to[k] = (unsigned char)rgb[is_bgr ? 2 - k : k];
  }
}

static stow_status run_decode_image(stow_kernel_call* call) {
  const stow_tensor* file = stow_kernel_operand(call, 0);
  stow_tensor* y = stow_kernel_result(call, 0);
  const unsigned char* bytes = file->data;
  size_t size = stow_tensor_bytes(file);
  pixel_layout image;
  stow_status status;
  if (size >= 2 && bytes[0] == 'B' && bytes[1] == 'M') {
    status = image_bmp(call, bytes, size, &image);
  } else if (size >= 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '7') {
    status = image_pnm(call, bytes, size, &image);
  } else {
    return refuse_format(call, bytes, size);
  }
  if (status != STOW_OK) {
    return status;
  }
  if (image.height > (size_t)y->dims[0] || image.width > (size_t)y->dims[1]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the image has %zu x %zu pixels, more than the planned %lld x %lld",
                            image.height, image.width, (long long)y->dims[0],
                            (long long)y->dims[1]);
  }
  y->dims[0] = (int64_t)image.height;
  y->dims[1] = (int64_t)image.width;
  size_t channels = (size_t)y->dims[2];
  for (size_t i = 0; i < image.height * image.width; ++i) {
    uint32_t rgb[3];
    read_pixel(&image, i / image.width, i % image.width, rgb);
    write_pixel(call, rgb, (unsigned char*)y->data + i * channels);
  }
  return STOW_OK;
}

STOWI_KERNEL(DECODE_IMAGE, NULL, run_decode_image);
