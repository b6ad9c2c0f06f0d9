/* SPDX-License-Identifier: MIT
 *
 * shuffle_permutation.c: a Feistel network with cycle walking. The order of a seed never changes; it is defined here,
 * and in docs/shuffle.md. All numbers are unsigned and have 64 bits; sums and products are taken modulo 2^64.
 *
 *   mix(x):     x ^= x >> 32;  x *= A;  x ^= x >> 29;  x *= B;  x ^= x >> 32
 *               A = 0x9e3779b97f4a7c15, B = 0xb7e151628aed2a6b, C = 0x243f6a8885a308d3 (the golden ratio, e and pi)
 *   keys:       start = mix(mix(seed + A) + rows);  key[r] = mix(start + (r + 1) * C)
 *   bits:       the least number with 2^bits >= rows;  left_bits = bits / 2 rounded down, right_bits = bits - left_bits
 *   rounds:     32 where bits < 20, else 10
 *   once(v):    left = v >> right_bits, right = v mod 2^right_bits; for r = 0, 1, ..., rounds - 1:
 *                 even r:  left  = (left  + (mix(right + key[r]) >> (64 - left_bits)))  mod 2^left_bits
 *                 odd r:   right = (right + (mix(left  + key[r]) >> (64 - right_bits))) mod 2^right_bits
 *               the result is left * 2^right_bits + right (a shift by 64 gives 0)
 *   at(i):      v = i; v = once(v), and again until v < rows
 *
 * Sums, not exclusive or: else every order of 16 rows or more would be an even permutation. Small tables need more
 * rounds, because a round mixes less there.
 */
#include "table/shuffle/shuffle_permutation.h"

static const uint64_t A = 0x9e3779b97f4a7c15u, B = 0xb7e151628aed2a6bu, C = 0x243f6a8885a308d3u;

enum { FEW_BITS = 20, ROUNDS_OF_MANY = 10, WORD_BITS = 64 };

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 32) * A;
  x = (x ^ x >> 29) * B;
  return x ^ x >> 32;
}

/* The highest bits of a number; 0 for no bits. */
static uint64_t first_bits(uint64_t x, int bits) { return x >> 1 >> (WORD_BITS - 1 - bits); }

static uint64_t last_bits(uint64_t x, int bits) { return x & (((uint64_t)1 << bits) - 1); }

void gather_permutation_make(gather_permutation *p, uint64_t seed, uint64_t rows) {
  const uint64_t start = mix(mix(seed + A) + rows);
  int bits = 0;
  while (rows > (uint64_t)1 << bits) bits++;
  p->rows = rows;
  p->left_bits = bits / 2;
  p->right_bits = bits - bits / 2;
  p->rounds = bits < FEW_BITS ? GATHER_PERMUTATION_ROUNDS : ROUNDS_OF_MANY;
  for (int r = 0; r < GATHER_PERMUTATION_ROUNDS; r++) p->key[r] = mix(start + (uint64_t)(r + 1) * C);
}

static uint64_t once(const gather_permutation *p, uint64_t v) {
  uint64_t left = v >> p->right_bits, right = last_bits(v, p->right_bits);
  for (int r = 0; r < p->rounds; r += 2) {
    left = last_bits(left + first_bits(mix(right + p->key[r]), p->left_bits), p->left_bits);
    right = last_bits(right + first_bits(mix(left + p->key[r + 1]), p->right_bits), p->right_bits);
  }
  return left << p->right_bits | right;
}

static uint64_t once_back(const gather_permutation *p, uint64_t v) {
  uint64_t left = v >> p->right_bits, right = last_bits(v, p->right_bits);
  for (int r = p->rounds - 2; r >= 0; r -= 2) {
    right = last_bits(right - first_bits(mix(left + p->key[r + 1]), p->right_bits), p->right_bits);
    left = last_bits(left - first_bits(mix(right + p->key[r]), p->left_bits), p->left_bits);
  }
  return left << p->right_bits | right;
}

static uint64_t row_at(const gather_permutation *p, uint64_t i) {
  do i = once(p, i);
  while (i >= p->rows);
  return i;
}

static uint64_t place_of(const gather_permutation *p, uint64_t i) {
  do i = once_back(p, i);
  while (i >= p->rows);
  return i;
}

void gather_permutation_numbers(const gather_permutation *p, int64_t first, int64_t len, bool places, int64_t *to) {
  for (int64_t i = 0; i < len && places; i++) to[i] = (int64_t)place_of(p, (uint64_t)(first + i));
  for (int64_t i = 0; i < len && !places; i++) to[i] = (int64_t)row_at(p, (uint64_t)(first + i));
}
