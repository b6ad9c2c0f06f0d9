/* SPDX-License-Identifier: MIT
 *
 * node.h: the kernel of one node of a model, which both doors (custom operators, execution provider) create, run and destroy. It
 * knows operators, attributes, shapes and plans; it does not know through which door it came.
 */
#ifndef GATHER_PLUGIN_ORT_NODE_H
#define GATHER_PLUGIN_ORT_NODE_H

#include "gather/gather.h"
#include "options.h"
#include "ort_api.h"

/* An operator that the plug-in takes over: a row of operators.def, which says what the fields are. In static memory. */
typedef struct ort_operator {
  const char *domain; /* "" (ai.onnx) or "com.microsoft" */
  const char *name;
  const char *dialect;
  int inputs, required;
  const char *data_type, *index_type;
  int quantised;
  const char *const *attributes; /* ends with NULL */
} ort_operator;

/* Operator number i; NULL after the last. */
const ort_operator *gather_ort_operator_at(int i);
/* The operator of a name, NULL if the plug-in does not take it over. domain: "ai.onnx" is "". */
const ort_operator *gather_ort_operator_find(const char *domain, const char *name);
/* Its rules in a model. version: the opset that first had the node's version of the operator; 0 = unknown, the latest. */
const gather_op *gather_ort_operator_rules(const ort_operator *op, int version);
/* The last opset that has this version of the operator. For the newest the first one: a later version may mean something else. */
int gather_ort_operator_last_opset(const gather_op *op);

/* A kernel. Several threads may run one at once. */
typedef struct ort_node ort_node;

/* Creates the kernel of a node.
 * op: of the table. version: the opset of the operator's version ("since version") in the model, 0 = unknown, the latest.
 * info: read for attributes, the name and config entries during the call only.
 * options: copied.
 * Returns NULL, or a status with the reason: an attribute that no shape makes valid. */
OrtStatus *gather_ort_node_create(const ort_host *host, const ort_operator *op, int version, const OrtKernelInfo *info,
                                  const ort_options *options, ort_node **node);

/* Runs it: takes the inputs of `context`, allocates its output and fills it.
 * Returns NULL, or a status: INVALID_ARGUMENT with the message of the library (position, value, range, count), as it words it for
 * gather_apply; NOT_IMPLEMENTED for what it does not support; FAIL for anything else. Threads: any number at once. */
OrtStatus *gather_ort_node_compute(ort_node *node, OrtKernelContext *context);

/* Destroys it; nothing may be running. NULL does nothing. */
void gather_ort_node_destroy(ort_node *node);

/* Another source of rows than the tensor that the host gives: a table whose file the host has only mapped. */
typedef struct ort_rows {
  void *context;
  /* out[i...] = data[indices[i...]] by the rules of `op` and the policies of `options`; options->executor may run tasks. Returns
   * GATHER_UNSUPPORTED, having written nothing, to have the rows taken from the host's tensor after all. Threads: any number at once. */
  gather_status (*take)(void *context, const gather_op *op, const gather_tensor *indices, const gather_tensor *out,
                        const gather_options *options, gather_error *error);
  void (*close)(void *context); /* with the node */
} ort_rows;

/* Has a Gather or GatherBlockQuantized along axis 0, or a GatherND without batch dimensions, take its rows from `rows`, which then
 * belongs to the node. Not while the node runs. */
void gather_ort_node_use_rows(ort_node *node, const ort_rows *rows);
/* The same for the scales (input 2) and the zero points (input 3) of a GatherBlockQuantized. */
void gather_ort_node_use_side_rows(ort_node *node, int input, const ort_rows *rows);
/* Whether that is possible for data of this rank. */
bool gather_ort_node_can_use_rows(const ort_node *node, int32_t rank);
/* Has the node read inputs that the host has mapped from files under a guard: a file that is cut short is then an error with the file and
 * the byte. info: read during the call only. Not while the node runs. */
void gather_ort_node_guard(ort_node *node, const OrtKernelInfo *info);
/* Logs that this node is taken over, as a warning: sessions show these by default. path: the file that its rows come from, or NULL. */
void gather_ort_node_report(const ort_node *node, const OrtKernelInfo *info, const char *path);
/* The axis of a Gather or GatherElements node as its attribute says, and 0 for others. */
int64_t gather_ort_node_axis(const ort_node *node);

/* ---- node_status.c */

/* A status of the host from an error of the library. prefix: "" or a text before the message. */
OrtStatus *gather_ort_ep_status(const ort_host *host, const char *prefix, const gather_error *error);

#endif
