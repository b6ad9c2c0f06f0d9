/* SPDX-License-Identifier: MIT
 *
 * cause.c: the likely cause of indices out of range, from the cases that people report. It guesses only where the
 * numbers or the other nodes of the model support the guess.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/model_check.h"

/* Above this an index is not a row number: it is uninitialised memory, or a float read as an integer. */
static const int64_t GARBAGE = (int64_t)1 << 40;

enum { CAUSE_BYTES = 400 };

/* The node whose table these indices would fit, if both nodes read inputs of the model that may be swapped; otherwise
 * NULL. A single index is no evidence. */
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

/* Another component of the tuples: all numbers of both would be in range on each other's axis; NULL. */
static const gather_model_component *find_exchanged(const gather_model_node *node, const gather_model_component *bad) {
  for (int32_t c = 0; c < node->component_count && bad->min < bad->max; c++) {
    const gather_model_component *other = &node->components[c];
    if (other != bad && other->len > bad->max && bad->len > other->max && other->min >= 0) return other;
  }
  return NULL;
}

/* No index is too low, and some are too large. */
static void too_large(const gather_check *check, const gather_model_node *node, const gather_model_component *bad,
                      char *text) {
  int64_t len = bad->len;
  const gather_model_node *other = node->component_count == 1 ? find_swapped(check, node) : NULL;
  const gather_model_component *exchanged = bad->min >= 0 ? find_exchanged(node, bad) : NULL;
  bool table = gather_family_get(node->rules->family)->whole_rows && node->axis == 0 && node->data.rank == 2;
  if (exchanged)
    (void)snprintf(text, CAUSE_BYTES,
                   "the numbers of the tuples may be in the wrong order: those for axis %" PRId64
                   " are in range on axis %" PRId64 ", and the other way round",
                   bad->axis, exchanged->axis);
  else if (other)
    (void)snprintf(text, CAUSE_BYTES,
                   "the inputs '%.60s' and '%.60s' may be swapped: these indices are in range for the table '%.60s' of "
                   "the other node, "
                   "which has %" PRId64 " rows",
                   node->indices.name, other->indices.name, other->data.name, other->data.dims[other->axis].min);
  else if (bad->max == len)
    (void)snprintf(text, CAUSE_BYTES, "the %s equals the length of the axis: the indices may count from 1",
                   node->index_count == node->component_count ? "index" : "largest index");
  else if (table)
    (void)snprintf(text, CAUSE_BYTES,
                   "the table has %" PRId64 " rows and the largest id is %" PRId64
                   ": it may belong to another vocabulary",
                   len, bad->max);
  else
    (void)snprintf(text, CAUSE_BYTES,
                   "the largest index is %" PRId64 " and the axis has length %" PRId64
                   ": the indices may belong to a longer axis",
                   bad->max, len);
}

/* The component of the first index out of range. */
static const gather_model_component *bad_component(const gather_model_node *node) {
  int32_t c = 0;
  while (c + 1 < node->component_count && node->components[c].axis != node->error->axis) c++;
  return &node->components[c];
}

static void guess(const gather_check *check, const gather_model_node *node, char *text) {
  const gather_model_component *bad = bad_component(node);
  int64_t len = bad->len;
  bool huge = (node->value_is_unsigned && bad->max < 0) || bad->min < -GARBAGE || bad->max > GARBAGE;
  const char *said = "";
  if (len <= 0)
    said = "the axis has no elements: an earlier node may have produced an empty tensor";
  else if (huge)
    said = "an index this large is probably uninitialised memory";
  else if (bad->min < 0 && !node->rules->negative && bad->max < len)
    said = bad->min == -1 ? "-1 may mean padding or counting from the end, which these rules do not allow"
                          : "negative indices count from the end only in later versions of the operator";
  else if (bad->min == node->error->low - 1 && bad->max < len)
    said = "the smallest index is one below the valid range: the indices may be off by one";
  (void)snprintf(text, CAUSE_BYTES, "%s", said);
  if (!*said && bad->max >= len && bad->min >= node->error->low) too_large(check, node, bad, text);
}

bool gather_check_causes(gather_check *check) {
  char text[CAUSE_BYTES];
  for (int64_t i = 0; i < check->count; i++) {
    gather_model_node *node = &check->nodes[i];
    if (!node->error || node->error->status != GATHER_INDEX_OUT_OF_RANGE) continue;
    /* The extremes of GatherTree's parents are also those of parents that no sequence follows. */
    if (gather_family_get(node->rules->family)->function) continue;
    guess(check, node, text);
    node->cause = *text ? gather_arena_text(&check->arena, text, strlen(text)) : "";
    if (!node->cause) return false;
  }
  return true;
}
