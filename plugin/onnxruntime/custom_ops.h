/* SPDX-License-Identifier: MIT
 *
 * custom_ops.h: what the files of the custom-operator door share.
 */
#ifndef GATHER_PLUGIN_ORT_CUSTOM_OPS_H
#define GATHER_PLUGIN_ORT_CUSTOM_OPS_H

#include "ep_options.h"
#include "node.h"

struct ort_registration;

/* An operator as the host sees it: with a schema of ours, one type of indices, and of GatherBlockQuantized one type of output. With the
 * host's own schema (custom_register.c), a version of the operator. */
typedef struct ort_description {
  OrtCustomOp base; /* first: the host gives its address back */
  const ort_operator *op;
  OrtElementType index, output; /* output UNDEFINED: the type of data */
  bool own_schema;
  int version;           /* of the operator; 0 = unknown, the latest */
  int first, last_opset; /* the versions of nodes that it is for */
  const struct ort_registration *in;
} ort_description;

enum { ORT_MOST_DESCRIPTIONS = 32, ORT_DOMAINS = 2 };

/* The descriptions for a host and its options. */
typedef struct ort_registration {
  ort_host host;
  ort_ep_options options;
  ort_description descriptions[ORT_MOST_DESCRIPTIONS];
  int count;
  OrtCustomOpDomain *domains[ORT_DOMAINS];
} ort_registration;

/* The functions of every description (custom_ops.c). */
extern const OrtCustomOp gather_ort_custom_functions;

/* ---- options (custom_options.c) ---- */

/* Options as a session sets them before the registration: the environment, then its config entries ("gather.threads"). */
OrtStatus *gather_ort_custom_options(const ort_host *host, const OrtSessionOptions *session, ort_ep_options *options);
/* Config entries that came later, where the host shows them to kernels. */
OrtStatus *gather_ort_custom_late_options(const ort_host *host, const OrtKernelInfo *info, ort_ep_options *options);
bool gather_ort_custom_options_equal(const ort_ep_options *a, const ort_ep_options *b);

/* ---- tables (custom_tables.c) ---- */

/* Has a node take its rows from a table if its data is a large constant that the host has only mapped from a file. Returns NULL, or a
 * status: the table cannot be opened although it should be. */
OrtStatus *gather_ort_custom_table(const ort_host *host, const ort_ep_options *options, const OrtKernelInfo *info, ort_node *node);

#endif
