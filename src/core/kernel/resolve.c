/* SPDX-License-Identifier: MIT
 *
 * resolve.c: resolves indices to rows if some are out of range or byte-swapped. Only for gathers that need repair.
 */
#include "core/kernel/index_types.h"
#include "core/kernel/indices.h"

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

#define RESOLVE(type, suffix, ENUM, is_signed)                                                                  \
  static void resolve_##suffix(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count, \
                               int64_t *rows) {                                                                 \
    for (int64_t j = 0; j < count; j++)                                                                         \
      rows[j] = ROW_##is_signed(rule, load_##suffix(indices + j * step, rule->swapped));                        \
  }
GATHER_INDEX_TYPES_LIST(RESOLVE)

void gather_indices_resolve(const gather_index_rule *rule, const char *indices, int64_t step, int64_t count,
                            int64_t *rows) {
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
