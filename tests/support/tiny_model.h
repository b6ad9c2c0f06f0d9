/* SPDX-License-Identifier: MIT
 *
 * tiny_model.h: a model that is built here, without a file, for drawings and texts. Its data is a table of 3 rows of 2.
 *
 *     far    = Gather(table, 1 7)   out of range
 *     near   = Gather(table, 0 -1)
 *     free   = Gather(table, ids)   ids is an input of any length
 *     chain  = Gather(table, Own(ids))
 *     named  = Gather(x, 0 -1)      x is an input of N rows
 */
#ifndef GATHER_TESTS_SUPPORT_TINY_MODEL_H
#define GATHER_TESTS_SUPPORT_TINY_MODEL_H

#include "gather/model.h"
#include "io/format/graph.h"
#include "model/model_internal.h"
#include "support/unit.h"

enum { TINY_NODES = 6 };

typedef struct tiny {
  gather_node nodes[TINY_NODES];
  gather_constant constants[3];
  gather_value inputs[2];
  gather_dim ids_dims[1], x_dims[2];
  gather_graph graph;
  gather_graph_file file;
} tiny;

static inline gather_constant tiny_constant(const char *name, gather_type type, const void *data, int32_t rank,
                                            const int64_t *shape) {
  gather_constant made = {.tensor = {.name = name}, .is_initializer = true};
  made.tensor.tensor = tensor_of(type, data, rank, shape);
  return made;
}

static inline gather_node tiny_node(const char *name, const char *op, const char *const *inputs, int32_t count,
                                    const char *const *output) {
  return (gather_node){.name = name,
                       .op = op,
                       .domain = "",
                       .opset = 13,
                       .inputs = inputs,
                       .input_count = count,
                       .outputs = output,
                       .output_count = 1};
}

/* Opens it; `made` must outlive the model. */
static inline gather_status tiny_open(tiny *made, gather_model **model, gather_error *error) {
  static const float table[3][2] = {{0, 1}, {2, 3}, {4, 5}};
  static const int64_t far_ids[2] = {1, 7}, near_ids[2] = {0, -1}, table_shape[] = {3, 2}, two[] = {2};
  static const char *const FAR[] = {"table", "far_ids"}, *const NEAR[] = {"table", "near_ids"},
                           *const FREE[] = {"table", "ids"}, *const CHAIN[] = {"table", "own"}, *const IDS[] = {"ids"},
                           *const NAMED[] = {"x", "near_ids"};
  static const char *const OUT[][1] = {{"a"}, {"b"}, {"c"}, {"own"}, {"d"}, {"e"}};
  made->nodes[0] = tiny_node("far", "Gather", FAR, 2, OUT[0]);
  made->nodes[1] = tiny_node("near", "Gather", NEAR, 2, OUT[1]);
  made->nodes[2] = tiny_node("free", "Gather", FREE, 2, OUT[2]);
  made->nodes[3] = tiny_node("", "Own", IDS, 1, OUT[3]);
  made->nodes[4] = tiny_node("", "Gather", CHAIN, 2, OUT[4]);
  made->nodes[5] = tiny_node("na\x1bmed", "Gather", NAMED, 2, OUT[5]);
  made->constants[0] = tiny_constant("table", GATHER_TYPE_FLOAT32, table, 2, table_shape);
  made->constants[1] = tiny_constant("far_ids", GATHER_TYPE_INT64, far_ids, 1, two);
  made->constants[2] = tiny_constant("near_ids", GATHER_TYPE_INT64, near_ids, 1, two);
  made->ids_dims[0] = (gather_dim){0, GATHER_DIM_UNBOUNDED, "K"};
  made->x_dims[0] = (gather_dim){0, GATHER_DIM_UNBOUNDED, "N"};
  made->x_dims[1] = (gather_dim){2, 2, NULL};
  made->inputs[0] = (gather_value){.name = "ids", .type = GATHER_TYPE_INT64, .rank = 1, .dims = made->ids_dims};
  made->inputs[1] = (gather_value){.name = "x", .type = GATHER_TYPE_FLOAT32, .rank = 2, .dims = made->x_dims};
  made->graph = (gather_graph){.name = "",
                               .nodes = made->nodes,
                               .node_count = TINY_NODES,
                               .inputs = made->inputs,
                               .input_count = 2,
                               .constants = made->constants,
                               .constant_count = 3};
  made->file = (gather_graph_file){.dialect = "onnx", .graph = &made->graph};
  return gather_model_from_graph(&made->file, model, error);
}

#endif
