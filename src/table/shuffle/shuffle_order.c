/* SPDX-License-Identifier: MIT
 *
 * shuffle_order.c: the order of the rows: at random, made from a seed, or given.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* madvise */
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "io/format/format.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/table_internal.h"

/* ---- the order of a seed */

/* A Feistel network with cycle walking. The order of a seed never changes; it is defined here,
 * and in docs/use/shuffle.md. All numbers are unsigned and have 64 bits; sums and products are taken modulo 2^64.
 *
 *   mix(x):     x ^= x >> 32;  x *= A;  x ^= x >> 29;  x *= B;  x ^= x >> 32
 *               A = 0x9e3779b97f4a7c15, B = 0xb7e151628aed2a6b, C = 0x243f6a8885a308d3 (the golden ratio, e and pi)
 *   keys:       start = mix(mix(seed + A) + rows);  key[r] = mix(start + (r + 1) * C)
 *   bits:       the least number with 2^bits >= rows;  left_bits = bits / 2 rounded down, right_bits = bits - left_bits
 *   rounds:     32 if bits < 20, else 10
 *   once(v):    left = v >> right_bits, right = v mod 2^right_bits; for r = 0, 1, ..., rounds - 1:
 *                 even r:  left  = (left  + (mix(right + key[r]) >> (64 - left_bits)))  mod 2^left_bits
 *                 odd r:   right = (right + (mix(left  + key[r]) >> (64 - right_bits))) mod 2^right_bits
 *               the result is left * 2^right_bits + right (a shift by 64 gives 0)
 *   at(i):      v = i; v = once(v), and again until v < rows
 *
 * Sums, not exclusive or: else every order of 16 rows or more would be an even permutation. Small tables need more
 * rounds, because a round mixes less there. */

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

/* rows: at most 2^63 - 1. */
static void make_permutation(gather_permutation *p, uint64_t seed, uint64_t rows) {
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

static void number_rows(const gather_permutation *p, int64_t first, int64_t len, bool places, int64_t *to) {
  for (int64_t i = 0; i < len && places; i++) to[i] = (int64_t)place_of(p, (uint64_t)(first + i));
  for (int64_t i = 0; i < len && !places; i++) to[i] = (int64_t)row_at(p, (uint64_t)(first + i));
}

static gather_status number(int64_t seed, int64_t rows, int64_t first, int64_t len, bool places, int64_t *to, gather_error *error) {
  gather_permutation permutation;
  if (seed < 0) return gather_fail(error, GATHER_USAGE, "seed is below 0");
  if (first < 0 || len < 0 || first > rows || len > rows - first || (len > 0 && !to))
    return gather_fail(error, GATHER_USAGE, "the rows are outside [0, rows), or the place for their numbers is NULL");
  make_permutation(&permutation, (uint64_t)seed, (uint64_t)rows);
  number_rows(&permutation, first, len, places, to);
  return GATHER_OK;
}

gather_status gather_shuffle_rows(int64_t seed, int64_t rows, int64_t first, int64_t len, int64_t *to, gather_error *error) {
  return number(seed, rows, first, len, false, to, error);
}

gather_status gather_shuffle_places(int64_t seed, int64_t rows, int64_t first, int64_t len, int64_t *to, gather_error *error) {
  return number(seed, rows, first, len, true, to, error);
}

/* ---- by many threads, until the shuffle is cancelled */

typedef struct tasks {
  const gather_shuffle *job;
  void (*task)(void *argument, int64_t i);
  void *argument;
} tasks;

static void run_unless_stopped(void *argument, int64_t i) {
  const tasks *all = argument;
  if (!gather_shuffle_stopped(all->job)) all->task(all->argument, i);
}

void gather_shuffle_parallel(const gather_shuffle *job, const gather_executor *executor, int64_t count,
                             void (*task)(void *argument, int64_t i), void *argument) {
  tasks all = {job, task, argument};
  if (executor && count > 1) {
    executor->parallel_for(executor->context, count, run_unless_stopped, &all);
    return;
  }
  for (int64_t i = 0; i < count; i++) run_unless_stopped(&all, i);
}

enum { NUMBERS_PER_TASK = 4096 };

typedef struct numbering {
  const gather_permutation *permutation;
  int64_t first, len, *to;
  bool places;
} numbering;

static void number_some(void *argument, int64_t i) {
  const numbering *n = argument;
  const int64_t begin = i * NUMBERS_PER_TASK, rest = n->len - begin;
  const int64_t len = rest < NUMBERS_PER_TASK ? rest : NUMBERS_PER_TASK;
  number_rows(n->permutation, n->first + begin, len, n->places, n->to + begin);
}

void gather_shuffle_numbers(const gather_shuffle *job, int64_t first, int64_t len, bool places, int64_t *to) {
  numbering n = {&job->permutation, first, len, to, places};
  gather_shuffle_parallel(job, job->executor, (len + NUMBERS_PER_TASK - 1) / NUMBERS_PER_TASK, number_some, &n);
}

/* ---- a given order: its row numbers, of any integer type */

/* Releases the memory of the pages of a read-only mapped file that are entirely in these bytes; they are read again on
 * access. */
static void drop_pages(const void *memory, int64_t bytes) {
#if defined(MADV_DONTNEED)
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory;
  uintptr_t first = (begin + page - 1) / page * page, last = (begin + (uintptr_t)bytes) / page * page;
  if (memory && first < last) (void)madvise((char *)(uintptr_t)memory + (first - begin), last - first, MADV_DONTNEED);
#else
  (void)memory, (void)bytes;
#endif
}

enum { BLOCK = 4096 };

/* Shared memory may have changed since it was checked. Whatever is in it, no number outside of the table passes (kernel/indices.c). */
static gather_status check_rows(const gather_bad *bad, gather_error *error) {
  if (gather_bad_count(bad) == 0) return GATHER_OK;
  return gather_fail(error, GATHER_IO_ERROR, "the indices changed while they were in use");
}

/* Whether the whole order is in the mapping of its file: other memory would lose its content. */
static bool is_mapped(const gather_shuffle *job) {
  if (!job->order_file || !job->order_file->map.owned) return false;
  const uintptr_t map = (uintptr_t)job->order_file->map.bytes, order = (uintptr_t)job->order;
  const uint64_t map_bytes = (uint64_t)job->order_file->map.size, bytes = (uint64_t)job->order_bytes;
  return order >= map && order - map <= map_bytes && bytes <= map_bytes - (order - map);
}

gather_status gather_shuffle_order_read(const gather_shuffle *job, int64_t first, int64_t len, int64_t *rows, gather_error *error) {
  gather_status status = GATHER_OK;
  for (int64_t done = 0; done < len && status == GATHER_OK; done += BLOCK) {
    const int64_t now = len - done < BLOCK ? len - done : BLOCK;
    gather_bad bad;
    gather_bad_init(&bad);
    status = gather_shuffle_go_on(job, error);
    if (status != GATHER_OK) break;
    gather_ids_rows(job->plan, job->row_bytes, job->order, first + done, now, rows + done, &bad);
    status = check_rows(&bad, error);
  }
  if (is_mapped(job)) drop_pages(job->order, job->order_bytes);
  return status;
}

static gather_status hash_order(gather_shuffle *job, gather_error *error) {
  int64_t rows[BLOCK];
  uint64_t hash = 1;
  for (int64_t first = 0; first < job->out_rows; first += BLOCK) {
    int64_t len = job->out_rows - first < BLOCK ? job->out_rows - first : BLOCK;
    GATHER_TRY(gather_shuffle_order_read(job, first, len, rows, error));
    for (int64_t i = 0; i < len; i++) {
      hash = (hash ^ (uint64_t)rows[i]) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
  }
  job->order_hash = hash;
  return GATHER_OK;
}

gather_status gather_shuffle_order_begin(gather_shuffle *job, gather_error *error) {
  if (job->plan) return hash_order(job, error);
  make_permutation(&job->permutation, (uint64_t)job->seed, (uint64_t)job->rows);
  return GATHER_OK;
}
