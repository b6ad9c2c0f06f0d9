/* SPDX-License-Identifier: MIT
 *
 * memory.c: buffers on huge pages, and the state they are in before a clock starts: filled, out of the caches, with other indices than the
 * last time; and a clock around work on several threads. The threads are made for the call and wait for one another before the clock
 * starts, so that what is measured is the memory and not the waking.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "native.h"
#include "x86.h"

enum { HUGE = 2 << 20, LINE = 64 };

/* A mapping of whole huge pages: more is mapped, and the ends are given back. Every page is written once, so that the first
 * one who uses the buffer does not pay for all. */
void *bench_map(size_t bytes, bool huge) {
  size_t size = (bytes + HUGE - 1) / HUGE * HUGE + HUGE;
  char *all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return NULL;
  size_t head = (HUGE - (uintptr_t)all % HUGE) % HUGE;
  if (head) munmap(all, head);
  if (HUGE - head) munmap(all + size - (HUGE - head), HUGE - head);
#ifdef MADV_HUGEPAGE
  (void)madvise(all + head, size - HUGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
  memset(all + head, 0, size - HUGE);
  return all + head;
}

void bench_unmap(void *memory, size_t bytes) { munmap(memory, (bytes + HUGE - 1) / HUGE * HUGE); }

#if BENCH_X86
/* Not every compiler knows it by name. */
static bool has_clflushopt(void) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 23 & 1);
}

GATHER_BENCH_TARGET("clflushopt")
static void flush_lines(const char *from, const char *to) {
  for (; from < to; from += LINE) _mm_clflushopt((void *)(uintptr_t)from);
  _mm_mfence();
}
#endif

bool bench_flush(const char *memory, size_t bytes) {
#if BENCH_X86
  if (!has_clflushopt()) return false;
  flush_lines(memory - (uintptr_t)memory % LINE, memory + bytes);
  return true;
#else
  (void)memory;
  return bytes == 0;
#endif
}

/* Bytes of 64 values, chosen so that no float is NaN, infinite or denormal: no peer may pay for odd values. */
void bench_fill(char *memory, size_t bytes, uint64_t seed) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    uint64_t v = ((x >> 2) & 0x3F3F3F3F3F3F3F3Fu) + 0x2020202020202020u;
    memcpy(memory + i, &v, 8);
  }
  for (size_t i = bytes / 8 * 8; i < bytes; i++) memory[i] = (char)(0x20 + i % 64);
}

/* Every index grows by the same, modulo the rows: other rows than before in the same order. */
void bench_shift(char *indices, int64_t count, int32_t index_bytes, uint64_t by, uint64_t rows) {
#define SHIFT(type)                                        \
  for (int64_t i = 0; i < count; i++) {                    \
    type *index = (type *)(void *)indices + i;             \
    uint64_t moved = (uint64_t)*index + by;                \
    *index = (type)(moved >= rows ? moved - rows : moved); \
  }
  by %= rows;
  if (index_bytes == 8)
    SHIFT(uint64_t)
  else if (index_bytes == 4)
    SHIFT(uint32_t)
  else
    SHIFT(uint8_t)
#undef SHIFT
}

/* ---- the clock */

enum { MAX_THREADS = 256 };

typedef struct {
  work_fn work;
  const job *j;
  int32_t threads;
  int64_t rounds;
  atomic_int ready, next, done;
} gang;

int64_t bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_for(atomic_int *count, int32_t wanted) {
  for (int spins = 0; atomic_load_explicit(count, memory_order_acquire) < wanted; spins++) {
    if (spins > 10000) sched_yield();
  }
}

/* Part 0 is the caller's. After each round all wait for one another, as a gather that has returned is complete. */
static void take_part(gang *g, int32_t part) {
  atomic_fetch_add(&g->ready, 1);
  wait_for(&g->ready, g->threads);
  for (int64_t round = 0; round < g->rounds; round++) {
    g->work(g->j, part, g->threads);
    atomic_fetch_add(&g->done, 1);
    wait_for(&g->done, (int32_t)(round + 1) * g->threads);
  }
}

static void *helper(void *argument) {
  gang *g = argument;
  take_part(g, atomic_fetch_add(&g->next, 1));
  return NULL;
}

int64_t bench_timed(work_fn work, const job *j, int32_t threads, int64_t rounds) {
  pthread_t helpers[MAX_THREADS];
  gang g = {.work = work, .j = j, .threads = 1, .rounds = rounds};
  if (threads > MAX_THREADS) threads = MAX_THREADS;
  g.threads = threads;
  atomic_store(&g.next, 1);
  for (int32_t i = 1; i < threads; i++) {
    /* Without the thread the wait would never end. */
    if (pthread_create(&helpers[i], NULL, helper, &g) != 0) return -1;
  }
  wait_for(&g.ready, threads - 1);
  int64_t start = bench_now();
  take_part(&g, 0);
  int64_t end = bench_now();
  for (int32_t i = 1; i < threads; i++) pthread_join(helpers[i], NULL);
  return end - start;
}
