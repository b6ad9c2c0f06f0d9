/* SPDX-License-Identifier: MIT
 *
 * cause.c: what usually lies behind bad indices, from the cases that people report. A guess is made only where the numbers, or the
 * other nodes of the model, speak for it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/model_check.h"

/* Beyond this an index is nobody's row: it is memory that was never written, or a float read as an integer. */
static const int64_t GARBAGE = (int64_t)1 << 40;

enum { CAUSE_BYTES = 400 };

/* The node whose table these indices would fit, where both take inputs of the model that may have changed places; NULL. One index
 * alone tells nothing. */
static const gather_model_node *find_swapped(const gather_check *check, const gather_model_node *node) {
  if (node->bad < node->index_count || node->min == node->max || node->indices.source != GATHER_SOURCE_INPUT)
    return NULL;
  for (int64_t i = 0; i < check->count; i++) {
    const gather_model_node *other = &check->nodes[i];
    if (other->indices.source != GATHER_SOURCE_INPUT || strcmp(other->indices.name, node->indices.name) == 0) continue;
    if (!other->rules || !other->axis_known || other->data.rank < 1 || other->axis < 0 ||
        other->axis >= other->data.rank)
      continue;
    bool takes_these = other->data.dims[other->axis].min > node->max;
    bool fits_here = !other->indices_known || other->index_count == 0 || other->max <= node->error->high;
    if (takes_these && fits_here) return other;
  }
  return NULL;
}

/* Every index counts from the front, or from the end where that is allowed, and some are too large. */
static void too_large(const gather_check *check, const gather_model_node *node, char *text) {
  int64_t len = node->error->high + 1;
  const gather_model_node *other = find_swapped(check, node);
  bool table = gather_family_get(node->rules->family)->whole_rows && node->axis == 0 && node->data.rank == 2;
  if (other)
    (void)snprintf(text, CAUSE_BYTES,
                   "the inputs '%.60s' and '%.60s' may be swapped: these indices fit the table '%.60s' of the other, "
                   "with %" PRId64 " rows",
                   node->indices.name, other->indices.name, other->data.name, other->data.dims[other->axis].min);
  else if (node->max == len)
    (void)snprintf(text, CAUSE_BYTES, "the %s equals the length: it may count from 1",
                   node->index_count == 1 ? "index" : "largest index");
  else if (table)
    (void)snprintf(text, CAUSE_BYTES,
                   "the table is shorter than the ids that are looked up (%" PRId64 " rows, the largest id is %" PRId64
                   "): it may belong to another vocabulary",
                   len, node->max);
  else
    (void)snprintf(text, CAUSE_BYTES,
                   "the largest index is %" PRId64 " and the axis has the length %" PRId64
                   ": the indices may be those of a longer axis",
                   node->max, len);
}

static void guess(const gather_check *check, const gather_model_node *node, char *text) {
  int64_t len = node->error->high + 1;
  bool huge = (node->value_is_unsigned && node->max < 0) || node->min < -GARBAGE || node->max > GARBAGE;
  const char *said = "";
  if (len <= 0)
    said = "the axis has no elements: something before this node made an empty tensor";
  else if (huge)
    said = "an index of this size looks like memory that was never written";
  else if (node->min < 0 && !node->rules->negative && node->max < len)
    said = node->min == -1 ? "-1 is used for padding, or counts from the end, which these rules do not allow"
                           : "indices below 0 count from the end only under later versions of the operator";
  else if (node->min == node->error->low - 1 && node->max < len)
    said = "the smallest index is one below the lowest that is valid: it may be off by one";
  (void)snprintf(text, CAUSE_BYTES, "%s", said);
  if (!*said && node->max >= len && node->min >= node->error->low) too_large(check, node, text);
}

bool gather_check_causes(gather_check *check) {
  char text[CAUSE_BYTES];
  for (int64_t i = 0; i < check->count; i++) {
    gather_model_node *node = &check->nodes[i];
    if (!node->error || node->error->status != GATHER_INDEX_OUT_OF_RANGE) continue;
    guess(check, node, text);
    node->cause = *text ? gather_arena_text(&check->arena, text, strlen(text)) : "";
    if (!node->cause) return false;
  }
  return true;
}
