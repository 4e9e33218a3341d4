// Files of images, as far as they are read: where pixels lie.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_IMAGE_FILE_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_IMAGE_FILE_H_

#include <stowage/kernel.h>

// Sample k of the pixel at |row| and |column| is bytes[first + row * row_step + column *
// pixel_step + order[k]]; all of them lie within the file.
typedef struct stowi_image {
  const unsigned char* bytes;
  size_t height, width;
  size_t first;
  int64_t row_step;
  size_t pixel_step;
  size_t order[3];               // of red, green and blue; all the same where the image is grey
  const unsigned char* palette;  // of 4 bytes each, blue first; NULL: samples are colours
  size_t palette_count;
  uint32_t most;  // the largest sample; 255 in most files
} stowi_image;

// Reads what begins as a BMP or PNM file; fails the call where it cannot.
stow_status stowi_image_bmp(const stow_kernel_call* call, const unsigned char* bytes, size_t size,
                            stowi_image* out);
stow_status stowi_image_pnm(const stow_kernel_call* call, const unsigned char* bytes, size_t size,
                            stowi_image* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_IMAGE_FILE_H_
