/* SPDX-License-Identifier: MIT
 *
 * node_report.c: logs which nodes are taken over.
 */
#include <stdio.h>

#include "node_internal.h"

static bool done(const ort_host *host, OrtStatus *status) {
  if (status) ORT(host, ReleaseStatus)(status);
  return status == NULL;
}

void gather_ort_node_report(const ort_node *node, const OrtKernelInfo *info, const char *path) {
  const ort_host *host = &node->host;
  const OrtLogger *logger = NULL;
  char name[256] = "", text[1024];
  size_t bytes = sizeof name;
  if (!done(host, ORT(host, KernelInfo_GetNodeName)(info, name, &bytes))) (void)snprintf(name, sizeof name, "?");
  if (!done(host, ORT(host, KernelInfo_GetLogger)(info, &logger)) || !logger) return;
  (void)snprintf(text, sizeof text, "libgather %s takes %s of %s node '%s' (%s)%s%.500s", gather_version(),
                 path ? "the rows" : "over the kernel", node->op->name, name, node->rules->document, path ? " from the file " : "",
                 path ? path : "");
  (void)done(host, ORT(host, Logger_LogMessage)(logger, ORT_LOG_WARNING, text, __FILE__, __LINE__, __func__));
}
