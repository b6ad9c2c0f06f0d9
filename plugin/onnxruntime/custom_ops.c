/* SPDX-License-Identifier: MIT
 *
 * custom_ops.c: the door for every ONNX Runtime from 1.17 on: custom operators with the names of the standard ones. In the domain ""
 * they replace ONNX Runtime's own on the CPU, so that models need no change.
 *
 * The host keeps pointers to an operator's description as long as a session uses it, and unloads the library after the last. So the
 * descriptions are in static memory: sets of them, one per host and options, which registrations share.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "infer.h"
#include "node.h"

#define EXPORTED __attribute__((visibility("default")))
#define AT_UNLOADING __attribute__((destructor))

/* An operator as the host sees it: one type of indices, and of GatherBlockQuantized one type of output. */
typedef struct {
  OrtCustomOp base; /* first: the host gives its address back */
  const ort_operator *op;
  OrtElementType index, output; /* output UNDEFINED: the type of data */
  const struct registration *in;
} description;

enum { MOST_SETS = 8, MOST_DESCRIPTIONS = 16, DOMAINS = 2 };

typedef struct registration {
  ort_host host;
  ort_options options;
  description descriptions[MOST_DESCRIPTIONS];
  int count;
  OrtCustomOpDomain *domains[DOMAINS];
} registration;

static registration sets[MOST_SETS];
static int set_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const description *of(const OrtCustomOp *op) { return (const description *)op; }

/* ---- what the host asks */

static const char *get_name(const OrtCustomOp *op) { return of(op)->op->name; }
static const char *get_provider(const OrtCustomOp *op) {
  (void)op;
  return "CPUExecutionProvider";
}
static size_t input_count(const OrtCustomOp *op) { return (size_t)of(op)->op->inputs; }
static size_t output_count(const OrtCustomOp *op) {
  (void)op;
  return 1;
}
static OrtElementType input_type(const OrtCustomOp *op, size_t input) {
  if (input == 1) return of(op)->index;
  return of(op)->op->quantised && input == (size_t)of(op)->op->quantised ? of(op)->output : ORT_ELEMENT_UNDEFINED;
}
static OrtElementType output_type(const OrtCustomOp *op, size_t output) {
  (void)output;
  return of(op)->output;
}
static OrtInputKind input_kind(const OrtCustomOp *op, size_t input) {
  return input < (size_t)of(op)->op->required ? ORT_REQUIRED : ORT_OPTIONAL;
}
static OrtInputKind output_kind(const OrtCustomOp *op, size_t output) {
  (void)op, (void)output;
  return ORT_REQUIRED;
}
static int on_cpu(const OrtCustomOp *op, size_t input) {
  (void)op, (void)input;
  return 0;
}
static int variadic(const OrtCustomOp *op) {
  (void)op;
  return 0;
}
static int first_opset(const OrtCustomOp *op) {
  (void)op;
  return 1;
}
static int last_opset(const OrtCustomOp *op) {
  (void)op;
  return INT32_MAX;
}

/* ---- kernels */

/* Config entries that the session has got since the registration. */
static OrtStatus *late_options(const ort_host *host, const OrtKernelInfo *info, ort_options *options) {
  OrtKeyValuePairs *entries = NULL;
  gather_error error = {.status = GATHER_OK};
  if (!ORT_HAS(host, KernelInfo_GetConfigEntries)) return NULL;
  OrtStatus *status = ORT(host, KernelInfo_GetConfigEntries)(info, &entries);
  if (status || !entries) return status;
  for (int i = 0; gather_ort_options_name(i) && error.status == GATHER_OK; i++) {
    char key[64];
    snprintf(key, sizeof key, "gather.%s", gather_ort_options_name(i));
    const char *value = ORT(host, GetKeyValue)(entries, key);
    if (value && gather_ort_options_set(options, gather_ort_options_name(i), value, &error) != GATHER_OK) break;
  }
  ORT(host, ReleaseKeyValuePairs)(entries);
  return error.status == GATHER_OK ? NULL : ORT(host, CreateStatus)(ORT_INVALID_ARGUMENT, error.message);
}

static OrtStatus *create_kernel(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **kernel) {
  const registration *in = of(op)->in;
  ort_options options = in->options;
  (void)api;
  *kernel = NULL;
  OrtStatus *status = late_options(&in->host, info, &options);
  if (status) return status;
  return gather_ort_node_create(&in->host, of(op)->op, 0, info, &options, (ort_node **)kernel);
}

static OrtStatus *compute(void *kernel, OrtKernelContext *context) { return gather_ort_node_compute(kernel, context); }

static void destroy(void *kernel) { gather_ort_node_destroy(kernel); }

static OrtStatus *infer(const OrtCustomOp *op, OrtShapeInferContext *context) {
  gather_ort_infer(&of(op)->in->host, of(op)->op, context);
  return NULL;
}

static const OrtCustomOp functions = {
    .version = ORT_OLDEST,
    .GetName = get_name,
    .GetExecutionProviderType = get_provider,
    .GetInputType = input_type,
    .GetInputTypeCount = input_count,
    .GetOutputType = output_type,
    .GetOutputTypeCount = output_count,
    .KernelDestroy = destroy,
    .GetInputCharacteristic = input_kind,
    .GetOutputCharacteristic = output_kind,
    .GetInputMemoryType = on_cpu,
    .GetVariadicInputMinArity = variadic,
    .GetVariadicInputHomogeneity = variadic,
    .GetVariadicOutputMinArity = variadic,
    .GetVariadicOutputHomogeneity = variadic,
    .CreateKernelV2 = create_kernel,
    .KernelComputeV2 = compute,
    .InferOutputShapeFn = infer,
    .GetStartVersion = first_opset,
    .GetEndVersion = last_opset,
};

/* ---- registering */

static OrtStatus *describe(registration *set, const ort_operator *op, OrtElementType index, OrtElementType output,
                           OrtCustomOpDomain *domain) {
  if (set->count == MOST_DESCRIPTIONS)
    return ORT(&set->host, CreateStatus)(ORT_FAIL, "libgather has more operators than its plug-in has room for");
  description *d = &set->descriptions[set->count++];
  *d = (description){functions, op, index, output, set};
  return ORT(&set->host, CustomOpDomain_Add)(domain, &d->base);
}

/* All types of an operator's indices, and of its output where data does not tell. */
static OrtStatus *describe_types(registration *set, const ort_operator *op, OrtCustomOpDomain *domain) {
  static const OrtElementType indices[] = {ORT_ELEMENT_INT64, ORT_ELEMENT_INT32};
  static const OrtElementType scales[] = {ORT_ELEMENT_FLOAT, ORT_ELEMENT_FLOAT16, ORT_ELEMENT_BFLOAT16};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
    OrtStatus *status = NULL;
    if (!op->quantised) status = describe(set, op, indices[i], ORT_ELEMENT_UNDEFINED, domain);
    for (size_t s = 0; op->quantised && !status && s < sizeof scales / sizeof *scales; s++)
      status = describe(set, op, indices[i], scales[s], domain);
    if (status) return status;
  }
  return NULL;
}

/* A domain with those of its operators that the options name. */
static OrtStatus *make_domain(registration *set, const char *name, OrtCustomOpDomain **domain) {
  const ort_operator *op;
  OrtStatus *status = ORT(&set->host, CreateCustomOpDomain)(name, domain);
  for (int i = 0; !status && (op = gather_ort_operator_at(i)) != NULL; i++)
    if (!strcmp(op->domain, name) && gather_ort_options_take(&set->options, op->name))
      status = describe_types(set, op, *domain);
  return status;
}

static void release_domains(registration *set) {
  for (int i = 0; i < DOMAINS; i++) {
    if (set->domains[i]) ORT(&set->host, ReleaseCustomOpDomain)(set->domains[i]);
    set->domains[i] = NULL;
  }
}

static bool same(const registration *set, const ort_host *host, const ort_options *options) {
  return set->host.api == host->api && set->options.threads == options->threads &&
         set->options.plans == options->plans && set->options.report == options->report &&
         !strcmp(set->options.operators, options->operators);
}

/* The set for this host and these options; made if it is new. The lock is held. */
static OrtStatus *find_set(const ort_host *host, const ort_options *options, registration **found) {
  static const char *const names[DOMAINS] = {"", "com.microsoft"};
  for (int i = 0; i < set_count; i++) {
    *found = &sets[i];
    if (same(*found, host, options)) return NULL;
  }
  if (set_count == MOST_SETS)
    return ORT(host, CreateStatus)(ORT_FAIL, "the plug-in of libgather is registered with too many different options");
  registration *set = *found = &sets[set_count];
  *set = (registration){.host = *host, .options = *options};
  OrtStatus *status = NULL;
  for (int i = 0; !status && i < DOMAINS; i++) status = make_domain(set, names[i], &set->domains[i]);
  if (status)
    release_domains(set);
  else
    set_count++;
  return status;
}

/* Config entries that the session has already: "gather.threads" and so on. */
static OrtStatus *read_entries(const ort_host *host, const OrtSessionOptions *session, ort_options *options) {
  gather_error error;
  for (int i = 0; gather_ort_options_name(i); i++) {
    char key[64], value[sizeof options->operators];
    int has = 0;
    size_t bytes = sizeof value;
    snprintf(key, sizeof key, "gather.%s", gather_ort_options_name(i));
    OrtStatus *status = ORT(host, HasSessionConfigEntry)(session, key, &has);
    if (!status && has) status = ORT(host, GetSessionConfigEntry)(session, key, value, &bytes);
    if (status) return status;
    if (has && gather_ort_options_set(options, gather_ort_options_name(i), value, &error) != GATHER_OK)
      return ORT(host, CreateStatus)(ORT_INVALID_ARGUMENT, error.message);
  }
  return NULL;
}

static OrtStatus *add(const ort_host *host, const ort_options *options, OrtSessionOptions *session) {
  registration *set;
  pthread_mutex_lock(&lock);
  OrtStatus *status = find_set(host, options, &set);
  for (int i = 0; !status && i < DOMAINS; i++) status = ORT(host, AddCustomOpDomain)(session, set->domains[i]);
  pthread_mutex_unlock(&lock);
  return status;
}

/* The entry point that ONNX Runtime looks for: SessionOptions.register_custom_ops_library(). */
EXPORTED OrtStatus *RegisterCustomOps(OrtSessionOptions *session, const OrtApiBase *base);

OrtStatus *RegisterCustomOps(OrtSessionOptions *session, const OrtApiBase *base) {
  ort_host host;
  ort_options options;
  gather_error error;
  char text[160];
  if (!gather_ort_host_open(base, ORT_OLDEST, &host)) {
    snprintf(text, sizeof text, "the plug-in of libgather %s needs ONNX Runtime 1.%d or later; this is %s",
             gather_version(), ORT_OLDEST, host.name);
    return ORT_HAS(&host, CreateStatus) ? ORT(&host, CreateStatus)(ORT_NOT_IMPLEMENTED, text) : NULL;
  }
  if (gather_ort_options_from_environment(&options, &error) != GATHER_OK)
    return ORT(&host, CreateStatus)(ORT_INVALID_ARGUMENT, error.message);
  OrtStatus *status = read_entries(&host, session, &options);
  return status ? status : add(&host, &options, session);
}

/* The host unloads the library when no session uses it any more. At the end of a program it may still have sessions: then their
 * descriptions stay as they are. */
AT_UNLOADING static void unload(void) {
  for (int i = 0; i < set_count; i++) release_domains(&sets[i]);
}
