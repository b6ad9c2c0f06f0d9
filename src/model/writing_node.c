/* SPDX-License-Identifier: MIT
 *
 * writing_node.c: nodes of operators that write by index, and of embedding bags. What differs from one to the next is in tables here and in
 * family.def.
 */
#include "model/writing_node.h"

#include <stdio.h>

#include "core/base/error.h"

/* ---- which input is what */

static const gather_node_inputs GATHER_INPUTS = {NULL, 1, -1, 2, 3, {"data", "indices", NULL, NULL}, 0, (gather_family)0};

static const gather_node_inputs INPUTS[] = {
    {"gather_scatter_apply", 1, 2, 3, 4, {"data", "indices", "updates", NULL}, 0, (gather_family)0},
    {"gather_tensor_scatter", 2, 1, -1, 3, {"past_cache", "update", NULL, NULL}, -2, (gather_family)0},
    {"gather_embedding_bag", 1, -1, -1, GATHER_MOST_BAG_INPUTS, {"emb_table", "indices", NULL, NULL}, 0, GATHER_FAMILY_GATHER},
};

static const gather_node_inputs *find_inputs(const gather_op *op) {
  const char *function = op ? gather_family_get(op->family)->function : NULL;
  for (size_t i = 0; function && i < sizeof INPUTS / sizeof *INPUTS; i++)
    if (strcmp(INPUTS[i].function, function) == 0) return &INPUTS[i];
  return NULL;
}

const gather_node_inputs *gather_inputs_of(const gather_op *op) {
  const gather_node_inputs *found = find_inputs(op);
  return found ? found : &GATHER_INPUTS;
}

bool gather_op_writes(const gather_op *op) { return find_inputs(op) != NULL; }

/* ---- the gather that reads where an operator writes */

/* A row of family.def has the file with its rules; one that writes has that of the family whose sides it exchanges. */
typedef struct {
  gather_family family;
  const char *file;
} family_file;

static const family_file READS[] = {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) {GATHER_FAMILY_##ENUM, #file},
#define GATHER_FAMILY_OWN(ENUM, number, name, function)
#define GATHER_FAMILY_WRITES(ENUM, number, file, name)
#include "gather/family.def"
#undef GATHER_FAMILY
};

static const family_file WRITES[] = {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows)
#define GATHER_FAMILY_OWN(ENUM, number, name, function)
#define GATHER_FAMILY_WRITES(ENUM, number, file, name) {GATHER_FAMILY_##ENUM, #file},
#include "gather/family.def"
#undef GATHER_FAMILY
};

static gather_family family_read(gather_family writes) {
  for (size_t i = 0; i < sizeof WRITES / sizeof *WRITES; i++)
    for (size_t k = 0; WRITES[i].family == writes && k < sizeof READS / sizeof *READS; k++)
      if (strcmp(READS[k].file, WRITES[i].file) == 0) return READS[k].family;
  return (gather_family)0;
}

const gather_op *gather_reading_rules(const gather_op *op, gather_op *room) {
  const gather_node_inputs *inputs = find_inputs(op);
  if (!inputs) return op;
  const gather_family family = inputs->reads ? inputs->reads : family_read(op->family);
  *room = *op;
  if (family) room->family = family;
  return room;
}

/* ---- attributes */

static bool reduces(const gather_op *op) { /* by more than one */
  int count = 0;
  for (int r = 0; gather_reduction_name((gather_reduction)r); r++) count += gather_scatter_op_reduces(op, (gather_reduction)r);
  return count > 1;
}

bool gather_op_is_cache(const gather_op *op) { return gather_inputs_of(op)->updates == 1; }

bool gather_node_writing_has(const gather_op *op, const char *name) {
  if (!gather_op_writes(op)) return false;
  return gather_op_is_cache(op) ? strcmp(name, "mode") == 0 : strcmp(name, "reduction") == 0 && reduces(op);
}

static gather_status read_word(const gather_op *op, const gather_attribute *attribute, const char *const words[2], bool *second,
                               gather_error *error) {
  if (attribute->kind != GATHER_ATTRIBUTE_TEXT) return gather_attribute_wrong(attribute, attribute->name, "STRING", "a word", error);
  *second = strcmp(attribute->text.text, words[1]) == 0;
  if (*second || strcmp(attribute->text.text, words[0]) == 0) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "%s has no %s '%.60s'; it has '%s', '%s'", op->name, attribute->name, attribute->text.text,
                     words[0], words[1]);
}

/* A reduction's word in the document of an operator; NULL: it has no such reduction. */
static const char *reduction_word(const gather_op *op, gather_reduction reduction) {
  const bool openvino = strcmp(op->dialect, "openvino") == 0;
  if (!gather_scatter_op_reduces(op, reduction)) return NULL;
  if (openvino && reduction == GATHER_REDUCTION_ADD) return "sum";
  return openvino && reduction == GATHER_REDUCTION_MUL ? "prod" : gather_reduction_name(reduction);
}

static gather_status read_reduction(const gather_op *op, const gather_attribute *attribute, gather_reduction *reduction,
                                    gather_error *error) {
  if (attribute->kind != GATHER_ATTRIBUTE_TEXT) return gather_attribute_wrong(attribute, "reduction", "STRING", "a word", error);
  char words[80] = "";
  for (int r = 0; gather_reduction_name((gather_reduction)r); r++) {
    const char *word = reduction_word(op, (gather_reduction)r);
    const size_t at = strlen(words);
    *reduction = (gather_reduction)r;
    if (word && strcmp(attribute->text.text, word) == 0) return GATHER_OK;
    if (word) (void)snprintf(words + at, sizeof words - at, "%s'%s'", at ? ", " : "", word);
  }
  return gather_fail(error, GATHER_UNSUPPORTED, "%s%s%s has no reduction '%.60s'; it has %s", op->name, GATHER_RULES_TEXT(op),
                     attribute->text.text, words);
}

gather_status gather_node_writing_read(const gather_op *op, const gather_scope *scope, const gather_node *node,
                                       gather_node_writing *writing, gather_error *error) {
  static const char *const MODES[2] = {"linear", "circular"};
  const gather_attribute *reduction = reduces(op) ? gather_scope_attribute(scope, node, "reduction") : NULL;
  const gather_attribute *mode = gather_op_is_cache(op) ? gather_scope_attribute(scope, node, "mode") : NULL;
  const gather_attribute *init = reduction ? gather_scope_attribute(scope, node, "use_init_val") : NULL;
  bool from_data = true;
  *writing = (gather_node_writing){GATHER_REDUCTION_NONE, false, false};
  if (reduction) GATHER_TRY(read_reduction(op, reduction, &writing->reduction, error));
  if (mode) GATHER_TRY(read_word(op, mode, MODES, &writing->circular, error));
  if (init && !gather_attribute_flag(init, &from_data)) return gather_attribute_wrong(init, "use_init_val", "INT", "true or false", error);
  writing->neutral = !from_data && writing->reduction != GATHER_REDUCTION_NONE;
  return GATHER_OK;
}

/* ---- embedding bags */

/* Which input is what, for the operators whose names begin so; -1: it has none. */
static const struct {
  const char *name;
  int32_t offsets, segment_ids, segments, default_index, weights;
} BAGS[] = {
    {"EmbeddingBagOffsets", 2, -1, -1, 3, 4},
    {"EmbeddingBagPacked", -1, -1, -1, -1, 2},
    {"EmbeddingSegments", -1, 2, 3, 4, 5},
};

enum { BAG_COUNT = sizeof BAGS / sizeof *BAGS };

static int form_of(const gather_op *op) {
  int form = 0;
  while (form + 1 < BAG_COUNT && strncmp(op->name, BAGS[form].name, strlen(BAGS[form].name)) != 0) form++;
  return form;
}

int32_t gather_bag_inputs(const gather_op *op, int32_t which[3], int32_t *count, bool *as_number) {
  const int form = form_of(op);
  const int32_t all[] = {BAGS[form].offsets, BAGS[form].segment_ids, BAGS[form].segments};
  int32_t found = 0;
  for (int i = 0; i < 3; i++)
    if (all[i] >= 0) which[found++] = all[i];
  *as_number = BAGS[form].segments >= 0;
  *count = *as_number ? BAGS[form].segments : found ? which[0] : 1;
  return found;
}

static gather_status read_number(const gather_tensor *tensor, const char *name, int64_t *number, gather_error *error) {
  if (tensor && gather_tensor_len(tensor) == 1 && gather_tensor_integer(tensor, 0, number)) return GATHER_OK;
  return gather_fail_input(error, GATHER_FILE_MALFORMED, name, tensor ? "%s is not one integer" : "the node has no %s", name);
}

gather_status gather_node_bags(const gather_op *op, const gather_tensor *const inputs[GATHER_MOST_BAG_INPUTS], gather_bags *bags,
                               gather_error *error) {
  static const gather_bags INIT = GATHER_BAGS_INIT;
  const int form = form_of(op);
  const int32_t offsets = BAGS[form].offsets, ids = BAGS[form].segment_ids, index = BAGS[form].default_index;
  *bags = INIT;
  bags->indices = inputs[1];
  if (offsets >= 0) bags->offsets = inputs[offsets];
  if (ids >= 0) bags->segment_ids = inputs[ids];
  bags->weights = inputs[BAGS[form].weights];
  if (offsets >= 0 && !bags->offsets) return gather_fail_input(error, GATHER_FILE_MALFORMED, "offsets", "the node has no offsets");
  if (ids >= 0 && !bags->segment_ids) return gather_fail_input(error, GATHER_FILE_MALFORMED, "segment_ids", "the node has no segment_ids");
  if (ids >= 0) GATHER_TRY(read_number(inputs[BAGS[form].segments], "num_segments", &bags->segments, error));
  return index >= 0 && inputs[index] ? read_number(inputs[index], "default_index", &bags->default_index, error) : GATHER_OK;
}
