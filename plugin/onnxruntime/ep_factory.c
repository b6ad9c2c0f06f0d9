/* SPDX-License-Identifier: MIT
 *
 * ep_factory.c: the entry points CreateEpFactories and ReleaseEpFactory, and the factory that they make.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ep_session.h"
#include "stay.h"

typedef struct factory {
  OrtEpFactory base; /* the first member: the host's pointer is that of the factory */
  ort_host host;
  struct factory *next;
} factory;

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
static OrtStatus *devices(OrtEpFactory *base, const OrtHardwareDevice *const *hardware, size_t count,
                          OrtEpDevice **found, size_t most, size_t *found_count) {
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

static OrtStatus *create_ep(OrtEpFactory *base, const OrtHardwareDevice *const *hardware,
                            const OrtKeyValuePairs *const *metadata, size_t count, const OrtSessionOptions *options,
                            const OrtLogger *logger, OrtEp **ep) {
  ort_session *session = NULL;
  (void)hardware, (void)metadata, (void)count, (void)logger;
  OrtStatus *status = gather_ort_session_create(host_of(base), options, &session);
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
static OrtStatus *create_allocator(OrtEpFactory *base, const void *memory, const OrtKeyValuePairs *options,
                                   void **allocator) {
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
static OrtStatus *create_stream(OrtEpFactory *base, const void *device, const OrtKeyValuePairs *options,
                                void **stream) {
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
__attribute__((visibility("default"))) OrtStatus *CreateEpFactories(const char *registered, const OrtApiBase *base,
                                                                    const OrtLogger *logger, OrtEpFactory **factories,
                                                                    size_t most, size_t *count);
__attribute__((visibility("default"))) OrtStatus *ReleaseEpFactory(OrtEpFactory *made);

OrtStatus *CreateEpFactories(const char *registered, const OrtApiBase *base, const OrtLogger *logger,
                             OrtEpFactory **factories, size_t most, size_t *count) {
  ort_host host;
  char text[200];
  (void)registered, (void)logger;
  if (!gather_ort_host_open(base, ORT_OLDEST_EP, &host)) {
    (void)snprintf(text, sizeof text,
                   ORT_EP_NAME " needs ONNX Runtime 1.%d or later, and this is %.31s; use libgather's custom operators",
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
