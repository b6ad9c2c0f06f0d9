/* SPDX-License-Identifier: MIT
 *
 * ep_capability.c: which nodes of a graph the execution provider takes over. ONNX Runtime asks once for each graph and subgraph, and
 * may ask again; the answer depends on the graph and the options only. Each node is taken by itself, so that nothing is fused and
 * nothing is copied. On the way it notes where the external initializers are, which a kernel cannot find out.
 */
#include <stdlib.h>
#include <string.h>

#include "ep_session.h"
#include "ep_text.h"

enum { MOST_INPUTS = 16 };

bool gather_ort_wants_table(const ort_ep_options *options, const ort_external *external) {
  if (options->table == ORT_TABLE_NEVER) return false;
  return options->table == ORT_TABLE_ALWAYS || external->bytes >= (uint64_t)options->table_min;
}

static bool known(const ort_session *session, const ort_external *external) {
  for (const ort_external *other = session->externals; other; other = other->next)
    if (strcmp(other->name, external->name) == 0 && strcmp(other->path, external->path) == 0 && other->offset == external->offset)
      return true;
  return false;
}

/* Notes the external initializer that a value is. *wanted: a table is to be made of it. large: only then. */
static OrtStatus *note_value(ort_session *session, const OrtGraph *graph, const OrtValueInfo *value, bool large, bool *wanted) {
  ort_external *external = NULL;
  OrtStatus *status = gather_ort_external_read(&session->host, graph, value, &external);
  if (status || !external) return status;
  *wanted = gather_ort_wants_table(&session->options, external);
  if ((large && !*wanted) || known(session, external)) {
    gather_ort_external_free(external);
  } else {
    external->next = session->externals;
    session->externals = external;
  }
  return NULL;
}

/* Notes the external initializers of the node: its data, and the scales and zero points of quantised data. *wanted: a table is to be
 * made of the data. */
static OrtStatus *note_external(ort_session *session, const OrtGraph *graph, const OrtNode *node, bool *wanted) {
  const ort_host *host = &session->host;
  const OrtValueInfo *inputs[MOST_INPUTS];
  bool side;
  size_t count = 0;
  OrtStatus *status = ORT(host, Node_GetNumInputs)(node, &count);
  if (status || count < 2 || count > MOST_INPUTS) return status;
  status = ORT(host, Node_GetInputs)(node, inputs, count);
  if (!status && inputs[0]) status = note_value(session, graph, inputs[0], false, wanted);
  for (size_t i = 2; i < count && !status; i++)
    if (inputs[i]) status = note_value(session, graph, inputs[i], false, &side);
  return status;
}

static OrtStatus *offer(ort_session *session, const OrtGraph *graph, const OrtNode *node, OrtEpGraphSupportInfo *support) {
  const ort_host *host = &session->host;
  const OrtKernelDef *definition = NULL;
  const char *name = "", *domain = "";
  bool table = false;
  OrtStatus *status = ORT(host, Node_GetOperatorType)(node, &name);
  if (!status) status = ORT(host, Node_GetDomain)(node, &domain);
  if (status || !gather_ort_operator_find(domain, name)) return status;
  status = ORT_EP(host, EpGraphSupportInfo_LookUpKernel)(support, node, &definition);
  if (status || !definition) return status;
  status = note_external(session, graph, node, &table);
  if (status || (session->options.only_tables && !table)) return status;
  return ORT_EP(host, EpGraphSupportInfo_AddSingleNode)(support, node);
}

static OrtStatus *note_model(ort_session *session, const OrtGraph *graph) {
  const char *path = NULL;
  OrtStatus *status = ORT(&session->host, Graph_GetModelPath)(graph, &path);
  if (status || !path || session->model[0]) return status;
  char *copy = gather_ort_text_copy(path);
  if (!copy) return ORT(&session->host, CreateStatus)(ORT_FAIL, "out of memory");
  free(session->model);
  session->model = copy;
  return NULL;
}

/* Notes the large external initializers of a graph. Some versions of the host do not tell in a subgraph what the initializers of the graphs
 * around it are. */
static OrtStatus *note_initializers(ort_session *session, const OrtGraph *graph) {
  const ort_host *host = &session->host;
  size_t count = 0;
  bool wanted;
  OrtStatus *status = ORT(host, Graph_GetNumInitializers)(graph, &count);
  if (status || count == 0) return status;
  const OrtValueInfo **values = calloc(count, sizeof(const OrtValueInfo *));
  if (!values) return ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  status = ORT(host, Graph_GetInitializers)(graph, values, count);
  for (size_t i = 0; i < count && !status; i++)
    if (values[i]) status = note_value(session, graph, values[i], true, &wanted);
  free(values);
  return status;
}

OrtStatus *gather_ort_capability(OrtEp *ep, const OrtGraph *graph, OrtEpGraphSupportInfo *support) {
  ort_session *session = (ort_session *)(void *)ep;
  const ort_host *host = &session->host;
  size_t count = 0;
  OrtStatus *status = note_model(session, graph);
  if (!status) status = note_initializers(session, graph);
  if (!status) status = ORT(host, Graph_GetNumNodes)(graph, &count);
  if (status || count == 0) return status;
  const OrtNode **nodes = calloc(count, sizeof(const OrtNode *));
  if (!nodes) return ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  status = ORT(host, Graph_GetNodes)(graph, nodes, count);
  for (size_t i = 0; i < count && !status; i++) status = offer(session, graph, nodes[i], support);
  free(nodes);
  return status;
}
