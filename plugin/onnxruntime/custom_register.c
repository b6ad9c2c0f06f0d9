/* SPDX-License-Identifier: MIT
 *
 * custom_register.c: the door for every ONNX Runtime from 1.17 on. Custom operators in the domain "" replace ONNX Runtime's own on the
 * CPU, so that models need no change.
 *
 * A host makes one schema per name, of the first description that it gets, and a kernel of each. So the first description of an operator
 * is a placeholder for an opset that no model has: nodes keep the host's schema, which infers shapes as the host does without us, and
 * those behind it are kernels for the versions of that schema. A schema of ours cannot infer everything, since the host does not tell a
 * scalar from a value of unknown rank; it is made for types that the host's does not allow (option `types`), and where the host has none.
 *
 * The host keeps pointers to an operator's description as long as a session uses it, and unloads the library after the last. So the
 * descriptions are in static memory: sets of them, one per host and options, which registrations share.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "custom_ops.h"

#define EXPORTED __attribute__((visibility("default")))
#define AT_UNLOADING __attribute__((destructor))

enum { MOST_SETS = 32, NO_MODELS_OPSET = 1000 /* the highest that a host accepts */ };

static ort_registration sets[MOST_SETS];
static int set_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static OrtStatus *describe(ort_registration *set, const ort_description *description, OrtCustomOpDomain *domain) {
  if (set->count == ORT_MOST_DESCRIPTIONS)
    return ORT(&set->host, CreateStatus)(ORT_FAIL, "libgather has too many operators for its plug-in");
  ort_description *d = &set->descriptions[set->count++];
  *d = *description;
  d->base = gather_ort_custom_functions, d->in = set;
  if (!d->own_schema) d->base.InferOutputShapeFn = NULL;
  return ORT(&set->host, CustomOpDomain_Add)(domain, &d->base);
}

/* ---- schemas of ours */

/* In the domain "" a version that none of ONNX Runtime's own kernels has: its constant folding looks for a kernel of the CPU by name and
 * version, and up to 1.31 throws where one has type constraints that a custom operator's schema does not name. Then no session opens. In
 * com.microsoft a version 0 would be below ONNX Runtime's own schema, and have no effect. */
static int first_version(const ort_operator *op) { return op->domain[0] ? 1 : 0; }

static OrtStatus *describe_type(ort_registration *set, const ort_operator *op, OrtElementType index, OrtElementType output,
                                OrtCustomOpDomain *domain) {
  const ort_description description = {
      .op = op, .index = index, .output = output, .own_schema = true, .first = first_version(op), .last_opset = INT32_MAX};
  return describe(set, &description, domain);
}

/* All types of an operator's indices, and of its output where data does not tell. */
static OrtStatus *describe_types(ort_registration *set, const ort_operator *op, OrtCustomOpDomain *domain) {
  static const OrtElementType indices[] = {ORT_ELEMENT_INT64, ORT_ELEMENT_INT32};
  static const OrtElementType scales[] = {ORT_ELEMENT_FLOAT, ORT_ELEMENT_FLOAT16, ORT_ELEMENT_BFLOAT16};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
    OrtStatus *status = NULL;
    if (!op->quantised) status = describe_type(set, op, indices[i], ORT_ELEMENT_UNDEFINED, domain);
    for (size_t s = 0; op->quantised && !status && s < sizeof scales / sizeof *scales; s++)
      status = describe_type(set, op, indices[i], scales[s], domain);
    if (status) return status;
  }
  return NULL;
}

/* ---- the host's schemas */

static bool host_has_schema(const ort_host *host, const ort_operator *op) {
  enum { FIRST_QUANTISED = 20 };
  return !op->quantised || host->minor < 0 || host->minor >= FIRST_QUANTISED;
}

/* The placeholder, and a kernel for each version of the operator. */
static OrtStatus *describe_versions(ort_registration *set, const ort_operator *op, OrtCustomOpDomain *domain) {
  const ort_description nothing = {.op = op, .first = NO_MODELS_OPSET, .last_opset = NO_MODELS_OPSET};
  const gather_op *row;
  OrtStatus *status = describe(set, &nothing, domain);
  for (size_t i = 0; !status && (row = gather_op_at(i)) != NULL; i++) {
    if (strcmp(row->dialect, op->dialect) != 0 || strcmp(row->name, op->name) != 0) continue;
    const ort_description kernel = {
        .op = op, .version = row->version, .first = row->version, .last_opset = gather_ort_operator_last_opset(row)};
    status = describe(set, &kernel, domain);
  }
  return status;
}

static OrtStatus *describe_operator(ort_registration *set, const ort_operator *op, OrtCustomOpDomain *domain) {
  const bool own = set->options.all_types || !host_has_schema(&set->host, op);
  return own ? describe_types(set, op, domain) : describe_versions(set, op, domain);
}

/* Whether a domain is registered. Of com.microsoft that makes the host forget its own operators there, unless a model imports the domain
 * itself: then its fusions (FusedMatMul, ...) fail to resolve. So only on request: where the options name an operator that "" has not. */
static bool wanted(const ort_registration *set, const char *domain) {
  const ort_operator *op;
  if (!*domain) return true;
  if (!*set->options.node.operators) return false;
  for (int i = 0; (op = gather_ort_operator_at(i)) != NULL; i++)
    if (!strcmp(op->domain, domain) && !gather_ort_operator_find("", op->name) && gather_ort_options_take(&set->options.node, op->name))
      return true;
  return false;
}

/* A domain with those of its operators that the options name. */
static OrtStatus *make_domain(ort_registration *set, const char *name, OrtCustomOpDomain **domain) {
  const ort_operator *op;
  OrtStatus *status = ORT(&set->host, CreateCustomOpDomain)(name, domain);
  for (int i = 0; !status && (op = gather_ort_operator_at(i)) != NULL; i++)
    if (!strcmp(op->domain, name) && gather_ort_options_take(&set->options.node, op->name)) status = describe_operator(set, op, *domain);
  return status;
}

static void release_domains(ort_registration *set) {
  for (int i = 0; i < ORT_DOMAINS; i++) {
    if (set->domains[i]) ORT(&set->host, ReleaseCustomOpDomain)(set->domains[i]);
    set->domains[i] = NULL;
  }
}

/* The set for this host and these options; made if it is new. The lock is held. */
static OrtStatus *find_set(const ort_host *host, const ort_ep_options *options, ort_registration **found) {
  static const char *const names[ORT_DOMAINS] = {"", "com.microsoft"};
  for (int i = 0; i < set_count; i++) {
    *found = &sets[i];
    if ((*found)->host.api == host->api && gather_ort_custom_options_equal(&(*found)->options, options)) return NULL;
  }
  if (set_count == MOST_SETS) return ORT(host, CreateStatus)(ORT_FAIL, "libgather's plug-in is registered with too many different options");
  ort_registration *set = *found = &sets[set_count];
  *set = (ort_registration){.host = *host, .options = *options};
  OrtStatus *status = NULL;
  for (int i = 0; !status && i < ORT_DOMAINS; i++)
    if (wanted(set, names[i])) status = make_domain(set, names[i], &set->domains[i]);
  if (status)
    release_domains(set);
  else
    set_count++;
  return status;
}

static OrtStatus *add(const ort_host *host, const ort_ep_options *options, OrtSessionOptions *session) {
  ort_registration *set;
  pthread_mutex_lock(&lock);
  OrtStatus *status = find_set(host, options, &set);
  for (int i = 0; !status && i < ORT_DOMAINS; i++)
    if (set->domains[i]) status = ORT(host, AddCustomOpDomain)(session, set->domains[i]);
  pthread_mutex_unlock(&lock);
  return status;
}

/* The entry point that ONNX Runtime looks for: SessionOptions.register_custom_ops_library(). */
EXPORTED OrtStatus *RegisterCustomOps(OrtSessionOptions *session, const OrtApiBase *base);

OrtStatus *RegisterCustomOps(OrtSessionOptions *session, const OrtApiBase *base) {
  ort_host host;
  ort_ep_options options;
  char text[160];
  if (!gather_ort_host_open(base, ORT_OLDEST, &host)) {
    snprintf(text, sizeof text, "the plug-in of libgather %s needs ONNX Runtime 1.%d or later; this is %s", gather_version(), ORT_OLDEST,
             host.name);
    return ORT_HAS(&host, CreateStatus) ? ORT(&host, CreateStatus)(ORT_NOT_IMPLEMENTED, text) : NULL;
  }
  OrtStatus *status = gather_ort_custom_options(&host, session, &options);
  return status ? status : add(&host, &options, session);
}

/* The host unloads the library when no session uses it any more. At the end of a program it may still have sessions: then their
 * descriptions stay as they are. */
AT_UNLOADING static void unload(void) {
  for (int i = 0; i < set_count; i++) release_domains(&sets[i]);
}
