/* SPDX-License-Identifier: MIT
 *
 * sha256.h: SHA-256 (FIPS 180-4) and HMAC (RFC 2104), for signatures of S3 and the keys of cached blocks.
 *
 * docs/remote-s3.md says why this is not another library's: libcurl's own signatures are right only in some of its releases, and each
 * libcurl brings another library of cryptography.
 */
#ifndef GATHER_REMOTE_SHA256_H
#define GATHER_REMOTE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { GATHER_SHA256_BYTES = 32, GATHER_SHA256_HEX = 65 };

typedef struct gather_sha256 {
  uint32_t state[8];
  uint64_t bytes;
  uint8_t rest[64];
} gather_sha256;

void gather_sha256_begin(gather_sha256 *hash);
void gather_sha256_add(gather_sha256 *hash, const void *data, size_t bytes);
void gather_sha256_end(gather_sha256 *hash, uint8_t digest[GATHER_SHA256_BYTES]);

/* The digest of one text, and of a key and one text (HMAC-SHA-256). */
void gather_sha256_of(const void *data, size_t bytes, uint8_t digest[GATHER_SHA256_BYTES]);
void gather_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes,
                        uint8_t digest[GATHER_SHA256_BYTES]);

/* Lower-case hexadecimal digits, and a zero. Returns text. */
char *gather_sha256_hex(const uint8_t digest[GATHER_SHA256_BYTES], char text[GATHER_SHA256_HEX]);

/* Zeroes memory that contained a secret, which a compiler does not remove. */
void gather_wipe(void *memory, size_t bytes);

#endif
