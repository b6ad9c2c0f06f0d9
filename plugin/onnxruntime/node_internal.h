/* SPDX-License-Identifier: MIT
 *
 * node_internal.h: what the files of a node's kernel share.
 */
#ifndef GATHER_PLUGIN_ORT_NODE_INTERNAL_H
#define GATHER_PLUGIN_ORT_NODE_INTERNAL_H

#include "gather/codec.h"
#include "gather/table.h"
#include "node.h"
#include "node_plans.h"

/* ---- statuses (node_status.c) ---- */

/* NULL for GATHER_OK; else a status of the host with the error's message. */
OrtStatus *gather_ort_status(const ort_host *host, gather_status status, const gather_error *error);

/* Returns the status of a call of the host if it failed. */
#define ORT_TRY(call)              \
  do {                             \
    OrtStatus *ort_try_ = (call);  \
    if (ort_try_) return ort_try_; \
  } while (0)

/* ---- tensors (node_tensor.c) ---- */

/* A tensor of the host, described for the library. It refers to itself: not to be copied. */
typedef struct ort_tensor {
  gather_tensor tensor;
  OrtElementType element;
  const OrtValue *value;
  int64_t lengths[GATHER_MAX_RANK]; /* where the host gives no reference to its own */
} ort_tensor;

/* Describes a value. */
OrtStatus *gather_ort_value(const ort_host *host, const OrtValue *value, ort_tensor *tensor);
/* The value of an input that never changes; false if it is none, or cannot be described. The description is valid while the node is
 * created: the host may move the value later, and does for initializers that a subgraph reads. A running node takes it from its context. */
bool gather_ort_constant(const ort_host *host, const OrtKernelInfo *info, size_t input, ort_tensor *tensor);
/* Describes input number `input` of a running node. */
OrtStatus *gather_ort_input(const ort_host *host, OrtKernelContext *context, size_t input, ort_tensor *tensor);
/* Whether this optional input is there; then describes it. */
OrtStatus *gather_ort_optional_input(const ort_host *host, OrtKernelContext *context, size_t input, ort_tensor *tensor, bool *there);
/* Allocates output 0 of this shape. Its type is `type`; the description refers to `lengths`. */
OrtStatus *gather_ort_output(const ort_host *host, OrtKernelContext *context, gather_type type, const int64_t *lengths, int32_t rank,
                             gather_tensor *out, OrtValue **value);
/* The library's type for a number of the host; GATHER_TYPE_NONE for one that it does not know. */
gather_type gather_ort_type(OrtElementType element);

struct ort_node {
  ort_host host;
  const ort_operator *op;
  const gather_op *rules;
  gather_options gather;            /* axis, batch_dims; negative indices count from the end at every opset */
  gather_block_quantized quantised; /* GatherBlockQuantized: its attributes */
  int32_t threads;                  /* at least 1 */
  atomic_uint alone;                /* gathers in a row whose tasks no other thread took (node_threads.c) */
  struct ort_decoder *decoder;      /* GatherBlockQuantized: of constant data; NULL = no constant data */
  struct ort_mapped *mapped;        /* inputs that are mapped files; NULL = none (node_mapped.c) */
  ort_rows rows;                    /* take is NULL: the host's tensor has the rows */
  ort_rows side_rows[2];            /* GatherBlockQuantized: likewise of the scales and the zero points */
  ort_plans plans;
};

/* ---- the session's threads (node_threads.c) ---- */

/* An executor that runs tasks on the session's threads during one call of a kernel. */
typedef struct ort_threads {
  gather_executor executor;
  const ort_host *host;
  const OrtKernelContext *context;
  atomic_uint *alone; /* of the node */
} ort_threads;

/* Returns the executor, or NULL if moving `bytes` is not worth more than one thread, or the session seems to have only one. */
const gather_executor *gather_ort_threads(ort_node *node, const OrtKernelContext *context, int64_t bytes, ort_threads *threads);

/* ---- inputs in mapped files (node_mapped.c) ---- */

/* Calls body(argument, executor, error): where inputs of the node are mapped files, as gather_mapped_call does. */
gather_status gather_ort_guarded(const ort_node *node, const gather_executor *executor, gather_mapped_body body, void *argument,
                                 gather_error *error);
/* gather_apply, guarded. */
gather_status gather_ort_apply(const ort_node *node, const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                               const gather_tensor *out, const gather_options *options, gather_error *error);
void gather_ort_mapped_free(struct ort_mapped *mapped);

/* ---- kernels of certain types (node_strings.c, node_quantised.c) ---- */

OrtStatus *gather_ort_compute_strings(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices);
/* Takes the rows of a GatherBlockQuantized from the node's tables, and decodes them. zero_points: NULL = absent. indices: row-major.
 * Returns GATHER_UNSUPPORTED, having written nothing, where that cannot be done; the error is not set then. */
gather_status gather_ort_take_quantised_rows(const ort_node *node, const gather_tensor *data, const gather_tensor *scales,
                                             const gather_tensor *zero_points, const gather_tensor *indices, const gather_tensor *out,
                                             const gather_options *options, gather_error *error);
/* Prepares what can be known of a GatherBlockQuantized node before it runs; freed by gather_ort_quantised_free. */
void gather_ort_quantised_prepare(ort_node *node, const OrtKernelInfo *info);
void gather_ort_quantised_free(struct ort_decoder *decoder);
OrtStatus *gather_ort_compute_quantised(ort_node *node, OrtKernelContext *context, const ort_tensor *data, const ort_tensor *indices);

#endif
