/* SPDX-License-Identifier: MIT
 *
 * isa_avx2.c: rows of 32 bytes and more, stores past the caches, checks of indices. Shorter rows gain nothing from wider
 * registers. Empty where the CPU family is another one.
 */
#include <string.h>

#include "kernel/copy.h"
#include "kernel/index_types.h"
#include "kernel/kernel.h"

#if GATHER_X86
#include <immintrin.h>

GATHER_TARGET_BEGIN("avx2")

#define INDEX uint32_t
#define SUFFIX u32
#define SHORTEST_ROW 32
#include "kernel/rows.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define SHORTEST_ROW 32
#include "kernel/rows.tmpl.h"

#define INDEX uint8_t
#define FOLD fold_u8
#include "kernel/fold.tmpl.h"

#define INDEX uint16_t
#define FOLD fold_u16
#include "kernel/fold.tmpl.h"

#define INDEX uint32_t
#define FOLD fold_u32
#include "kernel/fold.tmpl.h"

#define INDEX uint64_t
#define FOLD fold_u64
#include "kernel/fold.tmpl.h"

GATHER_INLINE void stream_line(char *out, const char *in) {
  __m256i low = _mm256_loadu_si256((const void *)in), high = _mm256_loadu_si256((const void *)(in + 32));
  _mm256_stream_si256((void *)out, low);
  _mm256_stream_si256((void *)(out + 32), high);
}

#define INDEX uint32_t
#define SUFFIX u32
#include "kernel/stream.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#include "kernel/stream.tmpl.h"

#define INDEX uint32_t
#define SUFFIX u32
#define STREAM 1
#include "kernel/runs.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define STREAM 1
#include "kernel/runs.tmpl.h"

static void stream_copy(char *out, const char *in, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) stream_line(out + at, in + at);
}

static void fence(void) { _mm_sfence(); }

#include "kernel/widen.tmpl.h"

GATHER_TARGET_END

#define ROWS_OF(w) \
  { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, rows_32_##w, rows_33_to_63_##w, rows_64_##w, rows_long_##w }

const gather_isa gather_isa_avx2 = {.name = "avx2",
                                    .rows = {ROWS_OF(u32), ROWS_OF(u64)},
                                    .stream = {stream_u32, stream_u64},
                                    .together = {together_u32, together_u64},
                                    .runs = {runs_u32, runs_u64},
                                    .stream_runs = {stream_runs_u32, stream_runs_u64},
                                    .stream_copy = stream_copy,
                                    .fence = fence,
                                    .fold = {fold_u8, fold_u16, fold_u32, fold_u64},
                                    .widen = WIDEN_SLOTS};
#else
const gather_isa gather_isa_avx2 = {.name = "avx2"};
#endif
