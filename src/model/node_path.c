/* SPDX-License-Identifier: MIT
 *
 * node_path.c: the name of a node of a model, also of an unnamed one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "gather/model.h"

size_t gather_model_node_path(const gather_model_node *node, char *text, size_t bytes) {
  int length = *node->name ? snprintf(text, bytes, "%s/%s", node->graph, node->name)
                           : snprintf(text, bytes, "%s/%s_%" PRId64, node->graph, node->op, node->number);
  return length > 0 ? (size_t)length : 0;
}
