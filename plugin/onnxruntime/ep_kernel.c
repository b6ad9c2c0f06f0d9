/* SPDX-License-Identifier: MIT
 *
 * ep_kernel.c: the kernel of a node that was taken over. Its rows come from the host's tensor, or from a table in the file that the
 * host has mapped (ep_attach.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep_attach.h"
#include "ep_text.h"

typedef struct kernel {
  OrtKernelImpl base; /* the first member: the host's pointer is that of the kernel */
  ort_session *session;
  ort_node *node;
  ort_taken *taken;
} kernel;

static OrtStatus *kernel_compute(OrtKernelImpl *base, OrtKernelContext *context) {
  kernel *self = (kernel *)(void *)base;
  (void)atomic_fetch_add_explicit(&self->taken->runs, 1, memory_order_relaxed);
  return gather_ort_node_compute(self->node, context);
}

static void kernel_release(OrtKernelImpl *base) {
  kernel *self = (kernel *)(void *)base;
  gather_ort_node_destroy(self->node);
  gather_ort_session_release(self->session);
  free(self);
}

/* What is known of the node; NULL without memory. */
static ort_taken *describe(const ort_registered *state, const OrtKernelInfo *info) {
  const ort_host *host = &state->session->host;
  char name[512] = "", data[512] = "";
  size_t bytes = sizeof name;
  OrtStatus *status = ORT(host, KernelInfo_GetNodeName)(info, name, &bytes);
  if (status) ORT(host, ReleaseStatus)(status); /* a longer name is left out */
  bytes = sizeof data;
  status = ORT(host, KernelInfo_GetInputName)(info, 0, data, &bytes);
  if (status) ORT(host, ReleaseStatus)(status);
  ort_taken *taken = calloc(1, sizeof *taken);
  if (!taken) return NULL;
  taken->name = gather_ort_text_copy(name);
  taken->data = gather_ort_text_copy(data);
  taken->op = state->op->name;
  taken->version = state->version;
  taken->type = "";
  if (taken->name && taken->data) return taken;
  free(taken->name);
  free(taken->data);
  free(taken);
  return NULL;
}

static OrtStatus *create(const ort_registered *state, const OrtKernelInfo *info, kernel *self) {
  const ort_host *host = &state->session->host;
  self->base.ort_version_supported = ORT_OLDEST_EP;
  self->base.Compute = kernel_compute;
  self->base.Release = kernel_release;
  self->taken = describe(state, info);
  if (!self->taken) return ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  gather_ort_session_add(state->session, self->taken);
  OrtStatus *status = gather_ort_node_create(host, state->op, state->version, info, &state->session->options.node, &self->node);
  if (status) return status;
  if (!state->session->options.open.keep_signals) gather_ort_node_guard(self->node, info);
  return gather_ort_attach(state, info, self->node, self->taken);
}

OrtStatus *gather_ort_kernel_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **made) {
  const ort_registered *registered = state;
  *made = NULL;
  kernel *self = calloc(1, sizeof *self);
  if (!self) return ORT(&registered->session->host, CreateStatus)(ORT_FAIL, "out of memory");
  OrtStatus *status = create(registered, info, self);
  if (status) {
    gather_ort_node_destroy(self->node);
    free(self);
    return status;
  }
  self->session = registered->session;
  gather_ort_session_share(self->session);
  *made = &self->base;
  return NULL;
}
