// SHA-256 (FIPS 180-4), for the hashes in a page's content security policy.
#ifndef STOWAGE_SRC_REPORT_WRITE_SHA256_H_
#define STOWAGE_SRC_REPORT_WRITE_SHA256_H_

#include <stowage/base.h>

#define STOWI_REPORT_SHA256_BASE64_SIZE 45  // with the NUL

// Base64 of the hash of |size| bytes.
void stowi_report_sha256_base64(const void* data, size_t size,
                                char out[STOWI_REPORT_SHA256_BASE64_SIZE]);

#endif  // STOWAGE_SRC_REPORT_WRITE_SHA256_H_
