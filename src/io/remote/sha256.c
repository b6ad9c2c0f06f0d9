/* SPDX-License-Identifier: MIT
 *
 * sha256.c: SHA-256 as FIPS 180-4 defines it, byte by byte in and out, so that the machine's byte order does not matter.
 */
#include "io/remote/sha256.h"

#include <string.h>

enum { CHUNK = 64, ROUNDS = 64, LENGTH_AT = 56 };

static const uint32_t ROUND_CONSTANTS[ROUNDS] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};

static const uint32_t FIRST_STATE[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                        0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};

static uint32_t rotated(uint32_t x, int by) { return (x >> by) | (x << (32 - by)); }

static void chunk(uint32_t state[8], const uint8_t *data) {
  uint32_t w[ROUNDS];
  for (int i = 0; i < 16; i++, data += 4)
    w[i] = (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
  for (int i = 16; i < ROUNDS; i++) {
    uint32_t small0 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t small1 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + small0 + w[i - 7] + small1;
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
           h = state[7];
  for (int i = 0; i < ROUNDS; i++) {
    uint32_t large1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    uint32_t first = h + large1 + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + w[i];
    uint32_t large0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    uint32_t second = large0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void gather_sha256_begin(gather_sha256 *hash) {
  memcpy(hash->state, FIRST_STATE, sizeof hash->state);
  hash->bytes = 0;
}

void gather_sha256_add(gather_sha256 *hash, const void *data, size_t bytes) {
  const uint8_t *at = data;
  size_t held = (size_t)(hash->bytes % CHUNK);
  hash->bytes += bytes;
  if (held > 0) {
    size_t part = bytes < CHUNK - held ? bytes : CHUNK - held;
    if (part > 0) memcpy(hash->rest + held, at, part);
    if (held + part < CHUNK) return;
    chunk(hash->state, hash->rest);
    at += part, bytes -= part;
  }
  for (; bytes >= CHUNK; at += CHUNK, bytes -= CHUNK) chunk(hash->state, at);
  if (bytes > 0) memcpy(hash->rest, at, bytes);
}

void gather_sha256_end(gather_sha256 *hash, uint8_t digest[GATHER_SHA256_BYTES]) {
  static const uint8_t PADDING[CHUNK] = {0x80};
  uint64_t bits = hash->bytes * 8;
  size_t held = (size_t)(hash->bytes % CHUNK);
  uint8_t length[8];
  gather_sha256_add(hash, PADDING, held < LENGTH_AT ? LENGTH_AT - held : CHUNK + LENGTH_AT - held);
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  gather_sha256_add(hash, length, sizeof length);
  for (int i = 0; i < GATHER_SHA256_BYTES; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
  gather_wipe(hash, sizeof *hash);
}

void gather_sha256_of(const void *data, size_t bytes, uint8_t digest[GATHER_SHA256_BYTES]) {
  gather_sha256 hash;
  gather_sha256_begin(&hash);
  gather_sha256_add(&hash, data, bytes);
  gather_sha256_end(&hash, digest);
}

/* One of the two passes of an HMAC: the key, exclusive-or a byte, before the data. */
static void keyed(const uint8_t key[CHUNK], uint8_t with, const void *data, size_t bytes, uint8_t *digest) {
  gather_sha256 hash;
  uint8_t block[CHUNK];
  for (int i = 0; i < CHUNK; i++) block[i] = key[i] ^ with;
  gather_sha256_begin(&hash);
  gather_sha256_add(&hash, block, sizeof block);
  gather_sha256_add(&hash, data, bytes);
  gather_sha256_end(&hash, digest);
  gather_wipe(block, sizeof block);
}

void gather_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes,
                        uint8_t digest[GATHER_SHA256_BYTES]) {
  uint8_t block[CHUNK] = {0}, inner[GATHER_SHA256_BYTES];
  if (key_bytes > sizeof block)
    gather_sha256_of(key, key_bytes, block);
  else if (key_bytes > 0)
    memcpy(block, key, key_bytes);
  keyed(block, 0x36, data, bytes, inner);
  keyed(block, 0x5c, inner, sizeof inner, digest);
  gather_wipe(block, sizeof block);
  gather_wipe(inner, sizeof inner);
}

char *gather_sha256_hex(const uint8_t digest[GATHER_SHA256_BYTES], char text[GATHER_SHA256_HEX]) {
  static const char DIGITS[] = "0123456789abcdef";
  for (int i = 0; i < GATHER_SHA256_BYTES; i++) {
    text[2 * i] = DIGITS[digest[i] >> 4];
    text[2 * i + 1] = DIGITS[digest[i] & 15];
  }
  text[GATHER_SHA256_HEX - 1] = '\0';
  return text;
}

void gather_wipe(void *memory, size_t bytes) {
  volatile uint8_t *at = memory;
  while (bytes-- > 0) *at++ = 0;
}
