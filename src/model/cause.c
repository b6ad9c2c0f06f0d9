/* SPDX-License-Identifier: MIT
 *
 * cause.c: what usually lies behind bad indices, from the cases that people report.
 */
#include "model/check.h"

/* Beyond this an index is nobody's row: it is memory that was never written, or a float read as an integer. */
static const int64_t GARBAGE = (int64_t)1 << 40;

const char *gather_check_cause(const gather_model_node *node) {
  const gather_error *error = node->error;
  if (!error || error->status != GATHER_INDEX_OUT_OF_RANGE) return "";
  int64_t len = error->high + 1;
  if (len <= 0) return "the axis has no elements: something before this node made an empty tensor";
  if (node->value_is_unsigned && node->max < 0) return "an index of this size looks like memory that was never written";
  if (node->min < -GARBAGE || node->max > GARBAGE)
    return "an index of this size looks like memory that was never written";
  if (node->min < 0 && !node->rules->negative && node->max < len)
    return node->min == -1 ? "-1 is used for padding, or counts from the end, which these rules do not allow"
                           : "indices below 0 count from the end only under later versions of the operator";
  if (node->min >= len) return "no index fits: two inputs may be swapped, or the table belongs to another model";
  if (node->max >= len && node->min >= 0)
    return node->max == len
               ? "the largest index equals the length: it may count from 1"
               : "the table is shorter than the ids that are looked up: it may belong to another vocabulary";
  return "";
}
