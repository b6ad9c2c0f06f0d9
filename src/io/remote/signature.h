/* SPDX-License-Identifier: MIT
 *
 * signature.h: SHA-256, for the keys of cached blocks, and signatures of requests to S3. Pure: no clock, no network.
 */
#ifndef GATHER_REMOTE_SIGNATURE_H
#define GATHER_REMOTE_SIGNATURE_H

#include "core/base/growing.h"
#include "gather/remote.h"

enum { GATHER_SHA256_BYTES = 32, GATHER_SHA256_HEX = 65 };

typedef struct gather_sha256 {
  uint32_t state[8];
  uint64_t bytes;
  uint8_t rest[64];
} gather_sha256;

/* Of no bytes yet. */
#define GATHER_SHA256_BEGUN \
  ((gather_sha256){{0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u}, 0, {0}})
void gather_sha256_add(gather_sha256 *hash, const void *data, size_t bytes);
void gather_sha256_end(gather_sha256 *hash, uint8_t digest[GATHER_SHA256_BYTES]);

/* Appends the header lines that sign a GET of `url`, which has a host, by the key of the options: each "Name: value" and a zero byte.
 * seconds: the date, since 1970. lines->failed: out of memory. */
void gather_sign_s3(const gather_remote_options *options, const char *region, const char *url, int64_t seconds, gather_growing *lines);

#endif
