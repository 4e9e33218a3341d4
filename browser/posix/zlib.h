// zlib where it is missing: nothing can be inflated. Planning reads no archives; `stowage run`,
// which does, is not offered in a browser.
#ifndef STOWAGE_BROWSER_ZLIB_H_
#define STOWAGE_BROWSER_ZLIB_H_

#include <stddef.h>

#define Z_OK 0
#define Z_STREAM_END 1
#define Z_MEM_ERROR (-4)
#define Z_NO_FLUSH 0
#define MAX_WBITS 15

typedef struct z_stream {
  unsigned char *next_in, *next_out;
  unsigned avail_in, avail_out;
  void* (*zalloc)(void* user, unsigned count, unsigned size);
  void (*zfree)(void* user, void* address);
  void *opaque, *state;
} z_stream;

static inline int inflateInit2(z_stream* stream, int bits) {
  (void)stream;
  (void)bits;
  return Z_MEM_ERROR;
}

static inline int inflate(z_stream* stream, int flush) {
  (void)stream;
  (void)flush;
  return Z_MEM_ERROR;
}

static inline int inflateEnd(z_stream* stream) {
  (void)stream;
  return Z_OK;
}

static inline unsigned long crc32(unsigned long crc, const unsigned char* bytes, unsigned count) {
  (void)bytes;
  (void)count;
  return crc;
}

#endif  // STOWAGE_BROWSER_ZLIB_H_
