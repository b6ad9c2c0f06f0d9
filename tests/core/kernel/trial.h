/* SPDX-License-Identifier: MIT
 *
 * trial.h: one kernel tried with every count, output alignment and size, everything else drawn by chance, the same on every run.
 * What was tried is counted, and a slot that did not see all of it fails.
 */
#ifndef GATHER_TESTS_CORE_KERNEL_TRIAL_H
#define GATHER_TESTS_CORE_KERNEL_TRIAL_H

#include "core/kernel/kernel.h"
#include "support/guard.h"
#include "support/unit.h"

enum { TRIAL_COUNT = 130 /* counts 1 to this one */, TRIAL_LINE = 64, TRIAL_SIZES = 40, TRIAL_TABLE = 256 };

/* Memory of the inputs and the output, between forbidden pages. The data are bytes drawn by chance, and cannot be written; nor can
 * the indices, but through another view of the same memory. */
enum { TRIAL_DATA, TRIAL_INDICES, TRIAL_OUT, TRIAL_ENTRIES, TRIAL_AREAS };
extern struct guard trial_areas[TRIAL_AREAS];
void trial_create(size_t bytes);
void trial_destroy(void);
uint8_t *trial_view(const void *indices);

/* The instruction set at hand; how many of its slots were tried, in how many cases. */
extern const gather_isa *trial_isa;
extern int64_t trial_slots, trial_cases;

/* What a slot demands of a span (kernel.h). */
enum {
  TRIAL_OUT_DENSE = 1,      /* within a round */
  TRIAL_OUT_FOLLOWS = 2,    /* round follows upon round */
  TRIAL_INDICES_DENSE = 4,  /* within a round */
  TRIAL_INDICES_FOLLOW = 8, /* round follows upon round */
  TRIAL_TABLE_DENSE = 16,   /* rows follow one another, and the table stays where it is for a round */
  TRIAL_ONE_TABLE = 32,     /* for all rounds */
  TRIAL_FEW = 64,           /* rounds of 1 to 16 rows: as many rounds are tried as rows otherwise */
  TRIAL_ROUND_TABLES = 128  /* a table for each round, or for each row of the only round; half of the rounds are few rows */
};

typedef struct trial_slot {
  const char *name;
  gather_rows_fn run;
  gather_checked_fn checked; /* instead */
  bool declines;             /* `checked` may return 0 */
  bool writes_on;            /* `checked` may have written rows that follow those that it counts */
  int width;                 /* bytes of an index */
  unsigned demands;
  int64_t table_bytes; /* the most that the slot takes; 0 = any */
  bool slow;           /* moves so much that every fourth alignment is tried with each count */
  int size_count;
  int64_t sizes[TRIAL_SIZES]; /* of its rows */
} trial_slot;

/* The n-th alignment of the output is tried with each count: GATHER_TEST_MACHINES=n, for slow emulators and sanitizers. */
int trial_step(void);

void trial_seed(uint64_t seed);
uint64_t trial_bits(void);          /* by chance */
int64_t trial_below(int64_t limit); /* by chance, from 0 on */

/* What is reached from a pointer: bytes [low, high) relative to it. */
typedef struct trial_reach {
  int64_t low, high;
} trial_reach;

/* The reach of something of `bytes` bytes that stands `count` times, `step` bytes apart. */
trial_reach trial_reach_of(int64_t bytes, int64_t step, int64_t count);

/* The pointer that reaches the area's first byte or its last, or, where align is 0 to 63, is that far behind a line and comes
 * as near to them as it can. */
uint8_t *trial_place(int area, trial_reach reach, bool at_end, int64_t align);

/* An index of 1, 2, 4 or 8 bytes as it lies in memory. */
void trial_put(uint8_t *at, int width, uint64_t index);
uint64_t trial_get(const uint8_t *at, int width);

/* The output is marked before a kernel runs; afterwards all that lies in and around it must be what was wanted. trial_wanted says
 * where the byte stands that is to appear at `out`. */
void trial_mark(const uint8_t *out, trial_reach reach);
uint8_t *trial_wanted(const uint8_t *out);
void trial_compare(void);

/* What runs, printed where it fails or crashes: a text, and the span of the case at hand. */
extern char trial_text[100];
extern gather_span trial_span;
void trial_say(void);

/* The tests of one instruction set; those of radix.h and bits.h, which are the same for all. */
typedef void trial_test(void **state);
trial_test test_rows, test_checked, test_stream, test_together, test_by_vector, test_by_rounds, test_table, test_round_table, test_runs,
    test_stream_copy, test_within, test_narrow_indices, test_fold, test_widen, test_pick, test_tuples, test_blocks, test_codes, test_narrow,
    test_radix, test_bit_ranges, test_combine_none, test_combine_rows, test_combine_wide, test_combine_divide, test_neutral_numbers;

#endif
