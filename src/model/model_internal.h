/* SPDX-License-Identifier: MIT
 *
 * model_internal.h: what the files of this folder share: the open model, and the names of its nodes.
 */
#ifndef GATHER_MODEL_INTERNAL_H
#define GATHER_MODEL_INTERNAL_H

#include <string.h>

#include "core/base/arena.h"
#include "core/base/compiler.h"
#include "gather/model.h"
#include "io/format/graph.h"

/* Graphs in graphs: deeper models are refused. */
enum { GATHER_MAX_DEPTH = 64 };

/* An operator that takes indices and is not checked. */
typedef struct gather_unchecked {
  const char *op;
  int64_t count;      /* of nodes */
  unsigned functions; /* where a function of the model has its name, so that a node is a call */
} gather_unchecked;

struct gather_model {
  gather_file *owned; /* NULL where the caller has opened it */
  const gather_file *file;
  const gather_graph_file *graph_file;
  gather_model_info info;
  gather_unchecked *siblings; /* while it is opened: one for each row of siblings.def */
  gather_arena arena;
};

/* A model of a graph without a file, which must outlive it. For the tests. */
GATHER_CHECKED gather_status gather_model_from_graph(const gather_graph_file *graph_file, gather_model **model, gather_error *error);

GATHER_INLINE bool gather_model_is_openvino(const gather_model *model) { return strcmp(model->graph_file->dialect, "openvino") == 0; }

/* Checks a tensor that the caller gives: it is valid, and has its elements. */
GATHER_CHECKED gather_status gather_model_input_check(const gather_model_input *input, gather_error *error);

/* Whether a node is a gather node, by operator and domain. */
bool gather_model_is_gather(const gather_model *model, const gather_node *node);
/* The rules of a gather node; NULL if its version is unknown. */
const gather_op *gather_model_rules(const gather_model *model, const gather_node *node);

/* Says why a gather node has no rules: which version the model asks for, and which ones are known. */
void gather_model_version_text(const gather_model *model, const gather_node *node, char *text, size_t bytes);

/* Whether these are the rules of an operator that gathers quantised data; NULL is not. */
GATHER_INLINE bool gather_op_is_quantized(const gather_op *op) { return op && strcmp(op->name, "GatherBlockQuantized") == 0; }
/* Whether they are those of an operator that has a function of its own in the library; NULL is not. */
GATHER_INLINE bool gather_op_has_function(const gather_op *op) { return op && gather_family_get(op->family)->function; }
/* Whether that is GatherTree. */
GATHER_INLINE bool gather_op_is_tree(const gather_op *op) { return op && op->family == GATHER_FAMILY_TREE; }

/* Whether two operator names are the same in the model's dialect: OpenVINO ignores case in layer types. */
bool gather_model_same_op(const gather_model *model, const char *a, const char *b);

/* ---- paths of graphs and nodes (node_names.c). Between two names is one slash, also where exporters begin names with one */

/* A name without the slashes that it begins with, as it is in a path; one of slashes only as it is. */
GATHER_INLINE const char *gather_path_name(const char *name) {
  const char *rest = name + strspn(name, "/");
  return *rest ? rest : name;
}
/* PATH/NODE/TAIL: the path of a graph in a node; NULL if out of memory. */
const char *gather_path_inner(gather_arena *arena, const char *path, const gather_node *node, int64_t number, const char *tail);

/* "function:NAME", with its domain and overload if asked for, as snprintf prints. */
int gather_path_function(char *text, size_t bytes, const gather_function *function, bool domain, bool overload);

/* ---- remainders of integers; the divisor is not 0 */

/* With the sign of the dividend: C's, which itself overflows for INT64_MIN by -1. */
GATHER_INLINE int64_t gather_remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

/* With the sign of the divisor. */
GATHER_INLINE int64_t gather_floor_remainder(int64_t a, int64_t b) {
  const int64_t rest = gather_remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

#endif
