// SHA-256, written for clarity: it hashes a page of some hundred kilobytes once. Section numbers
// are those of FIPS 180-4. The constants are the fractions of the square roots and cube roots of
// the first primes.
#include "report/write/sha256.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

// 6.2.2, step 1.
static void make_schedule(const unsigned char* block, uint32_t w[64]) {
  for (size_t t = 0; t < 16; ++t) {
    w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
           (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
  }
  for (size_t t = 16; t < 64; ++t) {
    uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
    uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
}

// 6.2.2, steps 2 to 4.
static void add_block(uint32_t hash[8], const unsigned char* block) {
  uint32_t w[64];
  uint32_t s[8];
  make_schedule(block, w);
  memcpy(s, hash, sizeof s);
  for (size_t t = 0; t < 64; ++t) {
    uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                  round_constants[t] + w[t];
    uint32_t t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
    memmove(s + 1, s, 7 * sizeof s[0]);
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (size_t i = 0; i < 8; ++i) {
    hash[i] += s[i];
  }
}

static void hash_bytes(const unsigned char* data, size_t size, unsigned char out[32]) {
  uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  size_t at = 0;
  for (; size - at >= 64; at += 64) {
    add_block(hash, data + at);
  }
  unsigned char last[128] = {0};  // 5.1.1: the rest, a one bit, zeros, and the length in bits
  size_t rest = size - at;
  size_t padded = rest < 56 ? 64 : 128;
  memcpy(last, data + at, rest);
  last[rest] = 0x80;
  uint64_t bits = (uint64_t)size * 8;
  for (size_t i = 0; i < 8; ++i) {
    last[padded - 1 - i] = (unsigned char)(bits >> (8 * i));
  }
  for (size_t i = 0; i < padded; i += 64) {
    add_block(hash, last + i);
  }
  for (size_t i = 0; i < 32; ++i) {
    out[i] = (unsigned char)(hash[i / 4] >> (24 - 8 * (i % 4)));
  }
}

void stowi_report_sha256_base64(const void* data, size_t size,
                                char out[STOWI_REPORT_SHA256_BASE64_SIZE]) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char hash[33] = {0};  // 33 is a multiple of 3
  hash_bytes(data, size, hash);
  for (size_t i = 0; i < 11; ++i) {
    uint32_t group = (uint32_t)hash[3 * i] << 16 | (uint32_t)hash[3 * i + 1] << 8 | hash[3 * i + 2];
    for (size_t k = 0; k < 4; ++k) {
      out[4 * i + k] = digits[group >> (18 - 6 * k) & 63];
    }
  }
  out[43] = '=';
  out[44] = '\0';
}
