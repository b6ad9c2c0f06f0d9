/* SPDX-License-Identifier: MIT
 *
 * writing_check.h: what is checked of nodes of operators that write, and of embedding bags, beyond what is of any gather node.
 */
#ifndef GATHER_MODEL_WRITING_CHECK_H
#define GATHER_MODEL_WRITING_CHECK_H

#include "model/model_check.h"
#include "model/writing_node.h"

/* The name of the node's reduction; "" for a gather, and where it is not known. */
const char *gather_writing_reduction(const gather_scope *scope, const gather_node *node, const gather_op *op);

/* Whether the node is valid apart from its indices: attributes, inputs, types and shapes. Returns GATHER_OK or what is wrong;
 * GATHER_UNSUPPORTED: a word that the document lacks. options: of gather_node_options. */
GATHER_CHECKED gather_status gather_writing_fault(const gather_scope *scope, const gather_node *node, const gather_model_node *out,
                                                  const gather_options *options, gather_error *why);

/* What is left to check once the indices are known: of a scatter that replaces, whether one is repeated (GATHER_INDEX_REPEATED); of bags
 * their offsets and segments, of a cache that the updates fit. data: a tensor without elements, for scatters: the shape with the lengths of
 * the indexed axes. Returns GATHER_UNSUPPORTED, with a sentence, where something else is not known. */
GATHER_CHECKED gather_status gather_writing_compare(const gather_check *check, const gather_scope *scope, const gather_node *node,
                                                    const gather_model_node *out, const gather_options *options, const gather_tensor *data,
                                                    gather_error *why);

/* Whether an error is about indices, not about offsets, segments or a default. */
bool gather_writing_is_of_indices(const gather_error *why);

#endif
