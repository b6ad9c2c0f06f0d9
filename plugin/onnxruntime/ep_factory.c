/* SPDX-License-Identifier: MIT
 *
 * ep_factory.c: the entry points CreateEpFactories and ReleaseEpFactory, the factory that they make, and the providers that it makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep_session.h"
#include "ep_text.h"
#include "stay.h"

typedef struct factory {
  OrtEpFactory base; /* the first member: the host's pointer is that of the factory */
  ort_host host;
  struct factory *next;
} factory;

/* ---- the provider of a session */

/* The option in a config entry: "gather.table" or "ep.gatherexecutionprovider.table"; NULL for other entries. */
static const char *option_in(const char *key, bool ours) {
  static const char shared[] = "gather.", own[] = "ep.gatherexecutionprovider.";
  const char *prefix = ours ? own : shared;
  const size_t bytes = strlen(prefix);
  return strncmp(key, prefix, bytes) == 0 ? key + bytes : NULL;
}

static gather_status read_entries(ort_session *session, const OrtKeyValuePairs *entries, gather_error *error) {
  const char *const *keys = NULL, *const *values = NULL;
  size_t count = 0;
  ORT(&session->host, GetKeyValuePairs)(entries, &keys, &values, &count);
  for (int ours = 0; ours < 2; ours++)
    for (size_t i = 0; i < count; i++) {
      const char *name = option_in(keys[i], ours != 0);
      if (!name) continue;
      gather_status status = gather_ort_ep_options_set(&session->options, name, values[i], error);
      if (status != GATHER_OK) return status;
    }
  return GATHER_OK;
}

static OrtStatus *read_options(ort_session *session, const OrtSessionOptions *options) {
  gather_error error;
  OrtKeyValuePairs *entries = NULL;
  gather_status status = gather_ort_ep_options_init(&session->options, &error);
  if (status == GATHER_OK) {
    OrtStatus *asked = ORT(&session->host, GetSessionOptionsConfigEntries)(options, &entries);
    if (asked) return asked;
    if (entries) status = read_entries(session, entries, &error);
    ORT(&session->host, ReleaseKeyValuePairs)(entries);
  }
  return status == GATHER_OK ? NULL : gather_ort_ep_status(&session->host, ORT_EP_NAME ": ", &error);
}

static const char *ep_name(const OrtEp *ep) {
  (void)ep;
  return ORT_EP_NAME;
}

static OrtStatus *ep_registry(OrtEp *ep, const OrtKernelRegistry **registry) {
  *registry = ((ort_session *)(void *)ep)->registry;
  return NULL;
}

static OrtStatus *ep_concurrent(OrtEp *ep, bool *supported) {
  (void)ep;
  *supported = true;
  return NULL;
}

static const OrtEp provider = {.ort_version_supported = ORT_OLDEST_EP,
                               .GetName = ep_name,
                               .GetCapability = gather_ort_capability,
                               .GetKernelRegistry = ep_registry,
                               .IsConcurrentRunSupported = ep_concurrent};

/* A session with its provider, whose user is the host. */
static OrtStatus *create_session(const ort_host *host, const OrtSessionOptions *options, ort_session **made) {
  ort_session *session = calloc(1, sizeof *session);
  *made = NULL;
  if (!session) return ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  session->ep = provider;
  session->host = *host;
  session->users = 1;
  session->model = gather_ort_text_copy("");
  OrtStatus *status = read_options(session, options);
  if (!status && !session->model) status = ORT(host, CreateStatus)(ORT_FAIL, "out of memory");
  if (!status) status = gather_ort_registry_fill(session);
  if (status) {
    gather_ort_session_free(session);
    return status;
  }
  gather_ort_session_begin(session);
  *made = session;
  return NULL;
}

/* ---- the factory */

static const ort_host *host_of(const OrtEpFactory *base) { return &((const factory *)(const void *)base)->host; }

static const char *name(const OrtEpFactory *base) {
  (void)base;
  return ORT_EP_NAME;
}
static const char *vendor(const OrtEpFactory *base) {
  (void)base;
  return "libgather";
}
static uint32_t vendor_id(const OrtEpFactory *base) {
  (void)base;
  return 0; /* no PCI vendor */
}
static const char *version(const OrtEpFactory *base) {
  (void)base;
  return gather_version();
}

/* The first CPU. No allocator is offered, so that tensors stay where the CPU provider has them, and nothing is copied. */
static OrtStatus *devices(OrtEpFactory *base, const OrtHardwareDevice *const *hardware, size_t count, OrtEpDevice **found, size_t most,
                          size_t *found_count) {
  const ort_host *host = host_of(base);
  *found_count = 0;
  for (size_t i = 0; i < count && most > 0; i++) {
    if (ORT(host, HardwareDevice_Type)(hardware[i]) != ORT_DEVICE_CPU) continue;
    OrtStatus *status = ORT_EP(host, CreateEpDevice)(base, hardware[i], NULL, NULL, &found[0]);
    if (!status) *found_count = 1;
    return status;
  }
  return NULL;
}

static OrtStatus *create_ep(OrtEpFactory *base, const OrtHardwareDevice *const *hardware, const OrtKeyValuePairs *const *metadata,
                            size_t count, const OrtSessionOptions *options, const OrtLogger *logger, OrtEp **ep) {
  ort_session *session = NULL;
  (void)hardware, (void)metadata, (void)count, (void)logger;
  OrtStatus *status = create_session(host_of(base), options, &session);
  *ep = session ? &session->ep : NULL;
  return status;
}

static void release_ep(OrtEpFactory *base, OrtEp *ep) {
  (void)base;
  if (ep) gather_ort_session_release((ort_session *)(void *)ep);
}

static OrtStatus *validate(OrtEpFactory *base, const OrtHardwareDevice *const *hardware, size_t count, const char *text,
                           int *compatibility) {
  (void)base, (void)hardware, (void)count, (void)text;
  *compatibility = 0; /* does not apply: nothing is compiled */
  return NULL;
}
static OrtStatus *create_allocator(OrtEpFactory *base, const void *memory, const OrtKeyValuePairs *options, void **allocator) {
  (void)base, (void)memory, (void)options;
  *allocator = NULL; /* the CPU's */
  return NULL;
}
static void release_allocator(OrtEpFactory *base, void *allocator) { (void)base, (void)allocator; }
static OrtStatus *create_transfer(OrtEpFactory *base, void **transfer) {
  (void)base;
  *transfer = NULL; /* none: ONNX Runtime calls this without a check for NULL */
  return NULL;
}
static bool stream_aware(const OrtEpFactory *base) {
  (void)base;
  return false;
}
static OrtStatus *create_stream(OrtEpFactory *base, const void *device, const OrtKeyValuePairs *options, void **stream) {
  (void)base, (void)device, (void)options;
  *stream = NULL;
  return NULL;
}

static const OrtEpFactory functions = {.ort_version_supported = ORT_OLDEST_EP,
                                       .GetName = name,
                                       .GetVendor = vendor,
                                       .GetSupportedDevices = devices,
                                       .CreateEp = create_ep,
                                       .ReleaseEp = release_ep,
                                       .GetVendorId = vendor_id,
                                       .GetVersion = version,
                                       .ValidateCompiledModelCompatibilityInfo = validate,
                                       .CreateAllocator = create_allocator,
                                       .ReleaseAllocator = release_allocator,
                                       .CreateDataTransfer = create_transfer,
                                       .IsStreamAware = stream_aware,
                                       .CreateSyncStreamForDevice = create_stream};

/* ONNX Runtime before 1.23 calls CreateEpFactories without the logger, so that the arguments after `base` are others. There only the
 * first two are read. */
__attribute__((visibility("default"))) OrtStatus *CreateEpFactories(const char *registered, const OrtApiBase *base, const OrtLogger *logger,
                                                                    OrtEpFactory **factories, size_t most, size_t *count);
__attribute__((visibility("default"))) OrtStatus *ReleaseEpFactory(OrtEpFactory *made);

OrtStatus *CreateEpFactories(const char *registered, const OrtApiBase *base, const OrtLogger *logger, OrtEpFactory **factories, size_t most,
                             size_t *count) {
  ort_host host;
  char text[200];
  (void)registered, (void)logger;
  if (!gather_ort_host_open(base, ORT_OLDEST_EP, &host)) {
    (void)snprintf(text, sizeof text, ORT_EP_NAME " needs ONNX Runtime 1.%d or later, and this is %.31s; use libgather's custom operators",
                   ORT_OLDEST_EP, host.name);
    return host.api ? ORT(&host, CreateStatus)(ORT_NOT_IMPLEMENTED, text) : NULL;
  }
  *count = 0;
  if (most == 0) return ORT(&host, CreateStatus)(ORT_INVALID_ARGUMENT, ORT_EP_NAME ": no room for a factory");
  factory *made = malloc(sizeof *made);
  if (!made) return ORT(&host, CreateStatus)(ORT_FAIL, ORT_EP_NAME ": out of memory");
  made->base = functions;
  made->host = host;
  factories[0] = &made->base;
  *count = 1;
  return NULL;
}

/* The host unloads the library next. Sessions must be gone by then; where some are not, they keep what they run on. */
OrtStatus *ReleaseEpFactory(OrtEpFactory *made) {
  static factory *kept;
  if (gather_ort_sessions_live()) {
    factory *used = (factory *)(void *)made;
    used->next = kept, kept = used;
    gather_ort_stay();
  } else {
    free(made);
  }
  return NULL;
}
