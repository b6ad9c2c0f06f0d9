/* SPDX-License-Identifier: MIT
 *
 * check.c: are all indices in range? The fast pass only answers yes or no, without a branch per index, so that compilers
 * vectorise it for every width; who is to blame is looked for only when the answer is no.
 */
#include "kernel/index_types.h"
#include "kernel/indices.h"

void gather_index_range(const gather_index_rule *rule, int64_t *low, int64_t *high) {
  *low = rule->negative ? -rule->axis_len : 0;
  *high = rule->axis_len - 1;
}

/* The range as seen by an unsigned type: no negative index exists, so that only the upper end counts. */
#define IN_RANGE_1(value, low, high) ((int64_t)(value) >= (low) && (int64_t)(value) <= (high))
#define IN_RANGE_0(value, low, high) ((high) >= 0 && (uint64_t)(value) <= (uint64_t)(high))

bool gather_indices_cannot_fail(const gather_index_rule *rule) {
  int64_t low, high;
  gather_index_range(rule, &low, &high);
  switch (rule->type) {
    case GATHER_TYPE_INT8:
      return low <= INT8_MIN && high >= INT8_MAX;
    case GATHER_TYPE_INT16:
      return low <= INT16_MIN && high >= INT16_MAX;
    case GATHER_TYPE_INT32:
      return low <= INT32_MIN && high >= INT32_MAX;
    case GATHER_TYPE_UINT8:
      return high >= UINT8_MAX;
    case GATHER_TYPE_UINT16:
      return high >= UINT16_MAX;
    case GATHER_TYPE_UINT32:
      return high >= UINT32_MAX;
    default:
      return false; /* no axis holds every 64-bit index */
  }
}

/* One index is bad exactly when one of two differences is negative. With 64-bit unsigned arithmetic neither can wrap into the
 * wrong sign: low is at least -(2^63 - 1) and high at most 2^63 - 2. An unsigned index from 2^63 up has the sign bit itself. */
#define BAD_BITS_1(value, low, high) \
  (((uint64_t)(int64_t)(value) - (uint64_t)(low)) | ((uint64_t)(high) - (uint64_t)(int64_t)(value)))
#define BAD_BITS_0(value, low, high) ((uint64_t)(value) | ((uint64_t)(high) - (uint64_t)(value)))

#define ANY_BAD(type, suffix, ENUM, is_signed)                                                                \
  static bool any_bad_##suffix(const char *indices, int64_t step, int64_t count, int64_t low, int64_t high) { \
    uint64_t bad = 0;                                                                                         \
    (void)low;                                                                                                \
    if (step == (int64_t)sizeof(type))                                                                        \
      for (int64_t j = 0; j < count; j++)                                                                     \
        bad |= BAD_BITS_##is_signed(load_##suffix(indices + j * (int64_t)sizeof(type), false), low, high);    \
    else                                                                                                      \
      for (int64_t j = 0; j < count; j++)                                                                     \
        bad |= BAD_BITS_##is_signed(load_##suffix(indices + j * step, false), low, high);                     \
    return (bad >> 63) != 0;                                                                                  \
  }
GATHER_INDEX_TYPES_LIST(ANY_BAD)

#define COUNT_BAD(type, suffix, ENUM, is_signed)                                                                     \
  static int64_t count_bad_##suffix(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, \
                                    int64_t *first, int64_t *value) {                                                \
    int64_t low, high, bad = 0;                                                                                      \
    gather_index_range(rule, &low, &high);                                                                           \
    (void)low;                                                                                                       \
    for (int64_t j = 0; j < count; j++) {                                                                            \
      type index = load_##suffix(indices + j * step, rule->swapped);                                                 \
      if (IN_RANGE_##is_signed(index, low, high)) continue;                                                          \
      if (bad++ == 0) *first = j, *value = (int64_t)index;                                                           \
    }                                                                                                                \
    return bad;                                                                                                      \
  }
GATHER_INDEX_TYPES_LIST(COUNT_BAD)

int64_t gather_indices_count_bad(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count,
                                 int64_t *first, int64_t *value) {
  switch (rule->type) {
#define COUNT_CASE(type, suffix, ENUM, is_signed) \
  case GATHER_TYPE_##ENUM:                        \
    return count_bad_##suffix(rule, indices, step, count, first, value);
    GATHER_INDEX_TYPES_LIST(COUNT_CASE)
    default:
      return 0;
  }
}

bool gather_indices_any_bad(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count) {
  int64_t low, high, first, value;
  gather_index_range(rule, &low, &high);
  if (rule->swapped) return gather_indices_count_bad(rule, indices, step, count, &first, &value) != 0;
  switch (rule->type) {
#define ANY_CASE(type, suffix, ENUM, is_signed) \
  case GATHER_TYPE_##ENUM:                      \
    return any_bad_##suffix(indices, step, count, low, high);
    GATHER_INDEX_TYPES_LIST(ANY_CASE)
    default:
      return true;
  }
}
