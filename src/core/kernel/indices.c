/* SPDX-License-Identifier: MIT
 *
 * indices.c: reads, validates and resolves indices of every integer type, in either byte order.
 */
#include "core/kernel/indices.h"
#include "core/kernel/index_types.h"
#include "core/kernel/kernel.h"

/* ---- validating. The fast pass only computes the range of indices, without a branch per index; only if it is too large, a slow pass finds
 * the indices out of range. */

/* For unsigned types there are no negative indices: only the upper bound counts. */
#define IN_RANGE_1(value, low, high) ((int64_t)(value) >= (low) && (int64_t)(value) <= (high))
#define IN_RANGE_0(value, low, high) ((high) >= 0 && (uint64_t)(value) <= (uint64_t)(high))

#define COUNT_BAD(type, suffix, ENUM, is_signed)                                                                                     \
  static int64_t count_bad_##suffix(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, int64_t *first, \
                                    int64_t *value) {                                                                                \
    int64_t low, high, bad = 0;                                                                                                      \
    gather_index_range(rule, &low, &high);                                                                                           \
    (void)low;                                                                                                                       \
    for (int64_t j = 0; j < count; j++) {                                                                                            \
      type index = load_##suffix(indices + j * step, rule->swapped);                                                                 \
      if (IN_RANGE_##is_signed(index, low, high)) continue;                                                                          \
      if (bad++ == 0) *first = j, *value = (int64_t)index;                                                                           \
    }                                                                                                                                \
    return bad;                                                                                                                      \
  }
GATHER_INDEX_TYPES_LIST(COUNT_BAD)

int64_t gather_indices_count_bad(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, int64_t *first,
                                 int64_t *value) {
  switch (rule->type) {
#define COUNT_CASE(type, suffix, ENUM, is_signed) \
  case GATHER_TYPE_##ENUM:                        \
    return count_bad_##suffix(rule, indices, step, count, first, value);
    GATHER_INDEX_TYPES_LIST(COUNT_CASE)
    default:
      return 0;
  }
}

static int log2_width(gather_type type) { return ((int)type - (int)GATHER_TYPE_INT8) % 4; }

static bool is_signed(gather_type type) { return type <= GATHER_TYPE_INT64; }

/* Makes a block of indices dense and swaps their bytes. */
static void tidy(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, char *dense) {
  int64_t width = (int64_t)1 << log2_width(rule->type);
  for (int64_t j = 0; j < count; j++)
    for (int64_t b = 0; b < width; b++) dense[j * width + b] = indices[j * step + (rule->swapped ? width - 1 - b : b)];
}

/* The bounds, in numbers of the index's width. */
typedef struct {
  uint64_t plain; /* indices below it are rows; at most half of the width's range; 0 = use the second pass for all */
  uint64_t shift; /* added to an index before the comparison */
  uint64_t limit; /* then indices in range are below this */
  uint64_t sign;  /* the sign bit of negative indices; 0 = not allowed */
} bounds;

/* Adding the length moves the valid range of signed indices to [0, 2n), where one unsigned comparison is enough: no valid range
 * that an index can leave is so long that the sum wraps back into it (see gather_indices_cannot_fail). */
static bounds bounds_of(const gather_index_rule *rule) {
  const uint64_t n = (uint64_t)rule->axis_len, top = (uint64_t)1 << ((8 << log2_width(rule->type)) - 1);
  const bool counts_back = rule->negative && is_signed(rule->type);
  bounds b = {n, counts_back ? n : 0, counts_back ? 2 * n : n, counts_back ? top : 0};
  if (is_signed(rule->type) && !rule->negative && b.limit > top) b.limit = top;
  if (b.plain > top) b.plain = is_signed(rule->type) ? top : 0;
  return b;
}

uint64_t gather_indices_plain_below(const gather_index_rule *rule) { return bounds_of(rule).plain; }

/* Most indices are not negative. If a run has others, it needs the second pass, and so do all following runs. */
static gather_index_state validate_dense(const gather_index_rule *rule, const bounds *b, const char *indices, int64_t count) {
  enum { RUN = 8192 };
  const int64_t width = (int64_t)1 << log2_width(rule->type);
  uint64_t most = 0, signs = 0;
  bool plain = b->plain > 0;
  for (int64_t j = 0, now; j < count; j += now, indices += now * width) {
    now = count - j < RUN ? count - j : RUN;
    plain = plain && rule->within(indices, now, rule->many, b->plain);
    if (plain) continue;
    rule->fold(indices, now, b->shift, &most, &signs);
    if (most >= b->limit) return GATHER_INDICES_BAD;
  }
  return signs & b->sign ? GATHER_INDICES_NEGATIVE : GATHER_INDICES_PLAIN;
}

gather_index_state gather_indices_validate(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count) {
  enum { BLOCK = 256 };
  const bounds b = bounds_of(rule);
  if (step == (int64_t)1 << log2_width(rule->type) && !rule->swapped) return validate_dense(rule, &b, indices, count);
  gather_index_state worst = GATHER_INDICES_PLAIN;
  char dense[BLOCK * 8];
  if (step == 0) count = 1;
  for (int64_t j = 0; j < count && worst < GATHER_INDICES_BAD; j += BLOCK) {
    int64_t now = count - j < BLOCK ? count - j : BLOCK;
    tidy(rule, indices + j * step, step, now, dense);
    gather_index_state state = validate_dense(rule, &b, dense, now);
    if (state > worst) worst = state;
  }
  return worst;
}

/* ---- resolving to rows, if some are out of range or byte-swapped: only for gathers that need repair */

/* An index of a signed type that is out of range. */
static int64_t repair_signed(const gather_index_rule *rule, int64_t index) {
  int64_t n = rule->axis_len;
  switch (rule->on_bad) {
    case GATHER_ON_BAD_WRAP: {
      int64_t rest = index % n;
      return rest < 0 ? rest + n : rest;
    }
    case GATHER_ON_BAD_ZERO:
    case GATHER_ON_BAD_FILL:
      return GATHER_ROW_FILL;
    default:
      return index < 0 ? 0 : n - 1; /* clamp; also the safe choice for unchecked indices */
  }
}

static int64_t repair_unsigned(const gather_index_rule *rule, uint64_t index) {
  switch (rule->on_bad) {
    case GATHER_ON_BAD_WRAP:
      return (int64_t)(index % (uint64_t)rule->axis_len);
    case GATHER_ON_BAD_ZERO:
    case GATHER_ON_BAD_FILL:
      return GATHER_ROW_FILL;
    default:
      return rule->axis_len - 1;
  }
}

static int64_t row_signed(const gather_index_rule *rule, int64_t index) {
  if (index >= 0 && index < rule->axis_len) return index;
  if (rule->negative && index < 0 && index >= -rule->axis_len) return index + rule->axis_len;
  return repair_signed(rule, index);
}

static int64_t row_unsigned(const gather_index_rule *rule, uint64_t index) {
  return index < (uint64_t)rule->axis_len ? (int64_t)index : repair_unsigned(rule, index);
}

#define ROW_1 row_signed
#define ROW_0 row_unsigned

#define RESOLVE(type, suffix, ENUM, is_signed)                                                                                   \
  static void resolve_##suffix(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, int64_t *rows) { \
    for (int64_t j = 0; j < count; j++) rows[j] = ROW_##is_signed(rule, load_##suffix(indices + j * step, rule->swapped));       \
  }
GATHER_INDEX_TYPES_LIST(RESOLVE)

void gather_indices_resolve(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  switch (rule->type) {
#define RESOLVE_CASE(type, suffix, ENUM, is_signed)     \
  case GATHER_TYPE_##ENUM:                              \
    resolve_##suffix(rule, indices, step, count, rows); \
    return;
    GATHER_INDEX_TYPES_LIST(RESOLVE_CASE)
    default:
      return;
  }
}
