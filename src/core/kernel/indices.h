/* SPDX-License-Identifier: MIT
 *
 * indices.h: reads, validates and resolves indices of every integer type, in either byte order; the types of kernels that do so.
 */
#ifndef GATHER_KERNEL_INDICES_H
#define GATHER_KERNEL_INDICES_H

#include "core/base/compiler.h"
#include "gather/gather.h"

/* Whether all indices are below `limit`, which is at least 1 and at most half of the width's range. Indices are dense.
 * many: there are more indices than a core's private caches hold, so they are prefetched. */
typedef bool (*gather_within_fn)(const char *indices, int64_t count, bool many, uint64_t limit);

/* Whether all indices, of 8 bytes, are below `limit`, which is at most 256; bytes[j] = index j. Indices are dense, and prefetched. */
typedef bool (*gather_narrow_indices_fn)(const char *restrict indices, int64_t count, uint64_t limit, uint8_t *restrict bytes);

/* The range of indices: *most becomes the largest of (index + shift), *signs the bits of all indices or'ed together;
 * both in unsigned arithmetic of the index's width. Both continue from the caller's values. Indices are dense. */
typedef void (*gather_fold_fn)(const char *indices, int64_t count, uint64_t shift, uint64_t *most, uint64_t *signs);

/* Fewer bytes of indices stay in a core's private caches after they are read, and are not prefetched. */
enum { GATHER_MANY_INDEX_BYTES = 262144 };

/* The type and rules of a sequence of indices. */
typedef struct gather_index_rule {
  gather_type type; /* GATHER_TYPE_INT8 .. GATHER_TYPE_UINT64 */
  bool swapped;     /* in the other byte order */
  bool negative;    /* [-axis_len, -1] counts from the end */
  gather_on_bad on_bad;
  int64_t axis_len;
  bool many;               /* more indices than a core's private caches hold */
  gather_within_fn within; /* of the type's width */
  gather_fold_fn fold;     /* likewise */
} gather_index_rule;

/* The state of a run of indices; worse is larger. */
typedef enum gather_index_state {
  GATHER_INDICES_PLAIN = 0, /* all in [0, axis_len) */
  GATHER_INDICES_NEGATIVE,  /* in range; some are negative */
  GATHER_INDICES_BAD        /* some are out of range */
} gather_index_state;

/* Validates `count` >= 1 indices, `step` bytes apart. Not for rules under which no index can fail. */
gather_index_state gather_indices_validate(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count);

/* The limit below which an index, read as an unsigned number, is the row that it selects; 0 = there is none. */
uint64_t gather_indices_plain_below(const gather_index_rule *rule);

/* How many are out of range; if any, *first is the number of the first and *value its value (the bits of an unsigned
 * one). */
int64_t gather_indices_count_bad(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, int64_t *first,
                                 int64_t *value);

/* rows[j] = the row that index j selects, in [0, axis_len); GATHER_ROW_FILL for a filled row. axis_len is at least 1
 * unless every index is filled. */
#define GATHER_ROW_FILL (-1)
void gather_indices_resolve(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, int64_t *rows);

/* The value of one index, whatever the rule: the bits of an unsigned one. */
GATHER_INLINE int64_t gather_index_value(const gather_index_rule *rule, const char *index) {
  gather_index_rule none = *rule;
  int64_t first, value = 0;
  none.axis_len = 0, none.on_bad = GATHER_ON_BAD_ERROR;
  (void)gather_indices_count_bad(&none, index, 0, 1, &first, &value);
  return value;
}

/* The valid range, both ends included; empty (0, -1) for an axis of length 0. */
GATHER_INLINE void gather_index_range(const gather_index_rule *rule, int64_t *low, int64_t *high) {
  *low = rule->negative ? -rule->axis_len : 0;
  *high = rule->axis_len - 1;
}

/* Whether every value of the index type is in range: then no validation is needed. No axis holds every 64-bit index. */
GATHER_INLINE bool gather_indices_cannot_fail(const gather_index_rule *rule) {
  const bool is_signed = rule->type <= GATHER_TYPE_INT64;
  const int bits = 8 << ((int)rule->type - (int)GATHER_TYPE_INT8) % 4;
  if (bits == 64) return false;
  int64_t low, high, most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
  gather_index_range(rule, &low, &high);
  return high >= most && (!is_signed || low < -most);
}

/* ---- tuples of two to four indices: validated and folded into one offset each, all columns in one pass. Tuples are dense, of signed or
 * unsigned numbers of 4 or 8 bytes in this machine's byte order. */

enum { GATHER_TUPLE_MOST = 4, GATHER_TUPLE_LENS = GATHER_TUPLE_MOST - 1 /* slots: tuples of 2, 3 and 4 */ };

/* The axes of a tuple's numbers. Numbers of 4 bytes are read as signed ones, so an unsigned axis is at most 2^31 long. */
typedef struct gather_tuple_axes {
  int64_t len[GATHER_TUPLE_MOST];  /* 1 to 2^31 */
  int64_t back[GATHER_TUPLE_MOST]; /* len where negative numbers count from the end, else 0 */
  int64_t step[GATHER_TUPLE_MOST]; /* offset from one number to the next; above -2^31 and below 2^31 */
  int64_t base;                    /* the offset of a tuple of zeros */
} gather_tuple_axes;

/* Whether all numbers of `count` tuples are in range. */
typedef bool (*gather_tuples_within_fn)(const gather_tuple_axes *axes, const char *indices, int64_t count);
/* offsets[j] = base + the sum of number * step of tuple j; all numbers are in range. */
typedef void (*gather_tuples_fold_fn)(const gather_tuple_axes *axes, const char *indices, int64_t count, int64_t *offsets);

#endif
