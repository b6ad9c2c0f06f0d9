/* SPDX-License-Identifier: MIT
 *
 * bad_index.c: the table of runtimes, and the row for a node with bad indices.
 */
#include <string.h>

#include "gather/model.h"

enum { SHORT_LEN = 64 };

typedef enum { KIND_RANGE, KIND_NEGATIVE, KIND_SHORT_RANGE, KIND_SHORT_NEGATIVE, KIND_DEQUANTIZED, KIND_WIDE } kind;

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
/* A row that is given twice is an error here. tests/unit/test_families.c finds the operator versions without a row. */
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

size_t gather_runtime_count(void) { return RUNTIME_COUNT; }
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
    if (ROWS[r].runtime == runtime && gather_op_at(ROWS[r].op) == rules && ROWS[r].kind == wanted)
      return SENTENCES[ROWS[r].does];
  return NULL;
}

static bool is_repaired(const gather_model_node *node) {
  return node->verdict == GATHER_VERDICT_OK && node->bad_known && node->bad > 0;
}

const char *gather_runtime_behaviour(size_t i, const gather_model_node *node) {
  if (i >= RUNTIME_COUNT || !node || !node->rules || !(node->error || is_repaired(node))) return "";
  if (!RUNTIMES[i].reads_ir && strcmp(node->rules->dialect, "openvino") == 0) return "does not read OpenVINO IR";
  if (node->error && node->error->status != GATHER_INDEX_OUT_OF_RANGE)
    return "rejects the model, or fails when the node runs";
  kind is = kind_of(node);
  const char *sentence = find(i, node->rules, is);
  if (!sentence) sentence = find(i, node->rules, is == KIND_SHORT_NEGATIVE ? KIND_NEGATIVE : KIND_RANGE);
  return sentence ? sentence : "not known";
}
