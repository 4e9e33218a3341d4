// decode_image: the pixels of a BMP or PNM file. Others are told apart by their first bytes, so
// that the message can name them.
#include <string.h>

#include "exec/kernels/spatial/image_file.h"
#include "exec/kernels/support/kernel.h"

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

static stow_status refuse(const stow_kernel_call* call, const unsigned char* bytes, size_t size) {
  const char* name = "of an unknown format";
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    const signature* s = &others[i];
    if (size >= s->at + s->size && memcmp(bytes + s->at, s->bytes, s->size) == 0) {
      name = s->name;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "the file is %s; BMP and PNM files are decoded, no others", name);
}

// Red, green and blue of a pixel.
static void read_pixel(const stowi_image* image, size_t row, size_t column, uint32_t* rgb) {
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
  if (stow_kernel_is(call, "format", "grayscale")) {
    // 0.299, 0.587 and 0.114 in parts of 2^14.
    to[0] = (unsigned char)((rgb[0] * 4899 + rgb[1] * 9617 + rgb[2] * 1868 + 8192) >> 14);
    return;
  }
  bool is_bgr = stow_kernel_is(call, "format", "bgr");
  for (size_t k = 0; k < 3; ++k) {
    to[k] = (unsigned char)rgb[is_bgr ? 2 - k : k];
  }
}

static stow_status run_decode_image(stow_kernel_call* call) {
  const stow_tensor* file = stow_kernel_operand(call, 0);
  stow_tensor* y = stow_kernel_result(call, 0);
  const unsigned char* bytes = file->data;
  size_t size = stow_tensor_bytes(file);
  stowi_image image;
  stow_status status;
  if (size >= 2 && bytes[0] == 'B' && bytes[1] == 'M') {
    status = stowi_image_bmp(call, bytes, size, &image);
  } else if (size >= 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '7') {
    status = stowi_image_pnm(call, bytes, size, &image);
  } else {
    return refuse(call, bytes, size);
  }
  if (status != STOW_OK) {
    return status;
  }
  if (image.height > (size_t)y->dims[0] || image.width > (size_t)y->dims[1]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the image has %zu x %zu pixels, the result has room for %lld x %lld",
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
