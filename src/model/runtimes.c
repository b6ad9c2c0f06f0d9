/* SPDX-License-Identifier: MIT
 *
 * runtimes.c: the table of runtimes, and the row for a bad node.
 */
#include "gather/model.h"

typedef enum { KIND_RANGE, KIND_NEGATIVE } kind;

typedef struct {
  size_t runtime;
  gather_family family;
  kind kind;
  const char *sentence;
} behaviour;

#define GATHER_BEHAVIOUR(runtime, family, kind, sentence)
static const char *const NAMES[] = {
#define GATHER_RUNTIME(number, name) [number] = name,
#include "model/runtimes.def"
#undef GATHER_RUNTIME
};
#undef GATHER_BEHAVIOUR

#define GATHER_RUNTIME(number, name)
static const behaviour ROWS[] = {
#define GATHER_BEHAVIOUR(runtime, family, kind, sentence) {runtime, GATHER_FAMILY_##family, KIND_##kind, sentence},
#include "model/runtimes.def"
#undef GATHER_BEHAVIOUR
};

size_t gather_runtime_count(void) { return sizeof NAMES / sizeof *NAMES; }
const char *gather_runtime_name(size_t i) { return i < gather_runtime_count() ? NAMES[i] : NULL; }

/* Whether every bad index would count from the end under other rules. */
static kind kind_of(const gather_model_node *node) {
  int64_t len = node->error->high + 1;
  bool above = node->max >= len || (node->value_is_unsigned && node->max < 0);
  return !node->rules->negative && !above && node->min >= -len ? KIND_NEGATIVE : KIND_RANGE;
}

const char *gather_runtime_behaviour(size_t i, const gather_model_node *node) {
  if (i >= gather_runtime_count() || !node || node->verdict != GATHER_VERDICT_BAD || !node->error || !node->rules)
    return "";
  if (node->error->status != GATHER_INDEX_OUT_OF_RANGE) return "refuses the model, or fails when the node runs";
  for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++)
    if (ROWS[r].runtime == i && ROWS[r].family == node->rules->family && ROWS[r].kind == kind_of(node))
      return ROWS[r].sentence;
  return "";
}
