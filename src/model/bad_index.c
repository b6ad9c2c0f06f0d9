/* SPDX-License-Identifier: MIT
 *
 * bad_index.c: what is said of indices out of range: their likely cause, from the cases that people report, and what each runtime does with
 * them. A cause is guessed only where the numbers or the other nodes of the model support the guess.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gather/model.h"
#include "model/model_check.h"
#include "model/writing_node.h"

/* Above this an index is not a row number: it is uninitialised memory, or a float read as an integer. */
static const int64_t GARBAGE = (int64_t)1 << 40;

enum { CAUSE_BYTES = 400 };

/* The node whose table these indices would fit, if both nodes read inputs of the model that may be swapped; otherwise
 * NULL. A single index is no evidence. */
static const gather_model_node *find_swapped(const gather_check *check, const gather_model_node *node) {
  if (node->bad < node->index_count || node->min == node->max || node->indices.source != GATHER_SOURCE_INPUT) return NULL;
  for (int64_t i = 0; i < check->count; i++) {
    const gather_model_node *other = &check->nodes[i];
    if (other->indices.source != GATHER_SOURCE_INPUT || strcmp(other->indices.name, node->indices.name) == 0) continue;
    if (!other->rules || !other->axis_known || other->data.rank < 1 || other->axis < 0 || other->axis >= other->data.rank) continue;
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
static void too_large(const gather_check *check, const gather_model_node *node, const gather_model_component *bad, char *text) {
  int64_t len = bad->len;
  const gather_model_node *other = node->component_count == 1 ? find_swapped(check, node) : NULL;
  const gather_model_component *exchanged = bad->min >= 0 ? find_exchanged(node, bad) : NULL;
  bool table = gather_family_get(node->rules->family)->whole_rows && node->axis == 0 && node->data.rank == 2;
  if (exchanged)
    (void)snprintf(text, CAUSE_BYTES,
                   "the numbers of the tuples may be in the wrong order: those for axis %" PRId64 " are in range on axis %" PRId64
                   ", and the other way round",
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
                   "the table has %" PRId64 " rows and the largest id is %" PRId64 ": it may belong to another vocabulary", len, bad->max);
  else
    (void)snprintf(text, CAUSE_BYTES,
                   "the largest index is %" PRId64 " and the axis has length %" PRId64 ": the indices may belong to a longer axis",
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
    /* The extremes of GatherTree's parents are also those of parents that no sequence follows; the range of a cache's indices is not that
     * of an axis; and offsets of bags are no indices. */
    if (gather_op_is_tree(node->rules) || gather_op_is_cache(node->rules) || node->bad == 0) continue;
    guess(check, node, text);
    node->cause = *text ? gather_arena_text(&check->arena, text, strlen(text)) : "";
    if (!node->cause) return false;
  }
  return true;
}

/* ---- what runtimes do: the rows of runtimes.def */

enum { SHORT_LEN = 64 };

typedef enum {
  KIND_RANGE,
  KIND_NEGATIVE,
  KIND_SHORT_RANGE,
  KIND_SHORT_NEGATIVE,
  KIND_DEQUANTIZED,
  KIND_WIDE,
  KIND_REPEATED,
  KIND_OFFSETS
} kind;

typedef enum {
#define GATHER_RUNTIME(id, name, reads_ir) RUNTIME_##id,
#define GATHER_DOES(code, sentence)
#define GATHER_BEHAVIOUR(runtime, op, kind, code)
#include "model/runtimes.def"
#undef GATHER_RUNTIME
  RUNTIME_COUNT
} runtime_id;

#define GATHER_RUNTIME(id, name, reads_ir) {name, reads_ir},

static const struct {
  const char *name;
  bool reads_ir;
} RUNTIMES[] = {
#include "model/runtimes.def"
};

#undef GATHER_RUNTIME
#define GATHER_RUNTIME(id, name, reads_ir)
#undef GATHER_DOES

typedef enum {
#define GATHER_DOES(code, sentence) DOES_##code,
#include "model/runtimes.def"
#undef GATHER_DOES
  DOES_COUNT
} does;

#define GATHER_DOES(code, sentence) sentence,

static const char *const SENTENCES[DOES_COUNT] = {
#include "model/runtimes.def"
};

#undef GATHER_DOES

/* The number of an operator version, as gather_op_at counts. */
typedef enum {
#define GATHER_OP(ENUM, ...) OP_##ENUM,
#include "core/op/ops.def"
#undef GATHER_OP
  OP_COUNT
} op_number;

typedef struct {
  runtime_id runtime;
  op_number op;
  kind kind;
  does does;
} behaviour;

#define GATHER_DOES(code, sentence)
#undef GATHER_BEHAVIOUR

/* A row that is given twice is an error here. tests/core/unit/test_families.c finds the operator versions without a row. */
enum {
#define GATHER_BEHAVIOUR(runtime, op, kind, code) HAS_##runtime##_##op##_##kind,
#include "model/runtimes.def"
#undef GATHER_BEHAVIOUR
};

static const behaviour ROWS[] = {
#define GATHER_BEHAVIOUR(runtime, op, kind, code) {RUNTIME_##runtime, OP_##op, KIND_##kind, DOES_##code},
#include "model/runtimes.def"
#undef GATHER_BEHAVIOUR
};

const char *gather_runtime_name(size_t i) { return i < RUNTIME_COUNT ? RUNTIMES[i].name : NULL; }

/* Whether OpenVINO treats the table as a shape, by code that checks nothing. */
static bool is_short(const gather_model_node *node) {
  const gather_type_info *type = gather_type_get(node->data.type);
  bool integers = type && (type->kind == GATHER_KIND_INT || type->kind == GATHER_KIND_UINT) && type->bits >= 16;
  bool flat = node->data.rank == 1 && node->data.dims && node->indices.rank >= 0 && node->indices.rank <= 1;
  return integers && flat && node->data.dims[0].max <= SHORT_LEN && node->index_count <= SHORT_LEN;
}

/* The node's indices were validated: the length of every component's axis is known. */
static kind kind_of(const gather_model_node *node) {
  const bool huge = node->value_is_unsigned && node->max < 0; /* above every int64_t */
  if (!node->error && node->repeated) return KIND_REPEATED;
  if (node->bad == 0 && gather_op_writes(node->rules)) return KIND_OFFSETS;
  bool counts_back = !node->rules->negative; /* every one would be in range if it counted from the end */
  if (huge || node->max > INT32_MAX || node->min < INT32_MIN) return KIND_WIDE;
  for (int32_t c = 0; c < node->component_count; c++) {
    const gather_model_component *component = &node->components[c];
    counts_back = counts_back && component->max < component->len && component->min >= -component->len;
  }
  if (counts_back) return is_short(node) ? KIND_SHORT_NEGATIVE : KIND_NEGATIVE;
  if (node->data_dequantized) return KIND_DEQUANTIZED;
  return is_short(node) ? KIND_SHORT_RANGE : KIND_RANGE;
}

static const char *find(size_t runtime, const gather_op *rules, kind wanted) {
  for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++)
    if (ROWS[r].runtime == runtime && gather_op_at(ROWS[r].op) == rules && ROWS[r].kind == wanted) return SENTENCES[ROWS[r].does];
  return NULL;
}

static bool is_repaired(const gather_model_node *node) { return node->verdict == GATHER_VERDICT_OK && node->bad_known && node->bad > 0; }

const char *gather_runtime_behaviour(size_t i, const gather_model_node *node) {
  if (i >= RUNTIME_COUNT || !node || !node->rules || !(node->error || node->repeated || is_repaired(node))) return "";
  if (!RUNTIMES[i].reads_ir && strcmp(node->rules->dialect, "openvino") == 0) return "does not read OpenVINO IR";
  if (node->error && node->error->status != GATHER_INDEX_OUT_OF_RANGE) return "rejects the model, or fails when the node runs";
  kind is = kind_of(node);
  const char *sentence = find(i, node->rules, is);
  if (!sentence && is != KIND_REPEATED && is != KIND_OFFSETS)
    sentence = find(i, node->rules, is == KIND_SHORT_NEGATIVE ? KIND_NEGATIVE : KIND_RANGE);
  return sentence ? sentence : "not known";
}
