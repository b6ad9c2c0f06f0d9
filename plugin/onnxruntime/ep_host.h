/* SPDX-License-Identifier: MIT
 *
 * ep_host.h: the tables of functions that an execution provider gives to ONNX Runtime, declared by their layout. The host reads as
 * many members as ort_version_supported says that it has: 24, the oldest version with a kernel registry. The empty members after them
 * serve a host that looks further.
 */
#ifndef GATHER_PLUGIN_ORT_EP_HOST_H
#define GATHER_PLUGIN_ORT_EP_HOST_H

#include "ort_api.h"

typedef struct OrtEp OrtEp;
typedef void (*ort_no_function)(void);

enum { ORT_NO_FUNCTIONS = 32 };

struct OrtKernelImpl {
  uint32_t ort_version_supported, flags;
  OrtStatus *(*Compute)(OrtKernelImpl *kernel, OrtKernelContext *context);
  void (*Release)(OrtKernelImpl *kernel);
  ort_no_function PrePackWeight, SetSharedPrePackedWeight, none[ORT_NO_FUNCTIONS];
};

struct OrtEp {
  uint32_t ort_version_supported;
  const char *(*GetName)(const OrtEp *ep);
  OrtStatus *(*GetCapability)(OrtEp *ep, const OrtGraph *graph, OrtEpGraphSupportInfo *support);
  ort_no_function Compile, ReleaseNodeComputeInfos, GetPreferredDataLayout, ShouldConvertDataLayoutForOp, SetDynamicOptions, OnRunStart,
      OnRunEnd, CreateAllocator, CreateSyncStreamForDevice, GetCompiledModelCompatibilityInfo;
  OrtStatus *(*GetKernelRegistry)(OrtEp *ep, const OrtKernelRegistry **registry);
  OrtStatus *(*IsConcurrentRunSupported)(OrtEp *ep, bool *supported);
  ort_no_function none[ORT_NO_FUNCTIONS];
};

struct OrtEpFactory {
  uint32_t ort_version_supported;
  const char *(*GetName)(const OrtEpFactory *factory);
  const char *(*GetVendor)(const OrtEpFactory *factory);
  OrtStatus *(*GetSupportedDevices)(OrtEpFactory *factory, const OrtHardwareDevice *const *devices, size_t count, OrtEpDevice **ep_devices,
                                    size_t most, size_t *found);
  OrtStatus *(*CreateEp)(OrtEpFactory *factory, const OrtHardwareDevice *const *devices, const OrtKeyValuePairs *const *metadata,
                         size_t count, const OrtSessionOptions *options, const OrtLogger *logger, OrtEp **ep);
  void (*ReleaseEp)(OrtEpFactory *factory, OrtEp *ep);
  uint32_t (*GetVendorId)(const OrtEpFactory *factory);
  const char *(*GetVersion)(const OrtEpFactory *factory);
  OrtStatus *(*ValidateCompiledModelCompatibilityInfo)(OrtEpFactory *factory, const OrtHardwareDevice *const *devices, size_t count,
                                                       const char *text, int *compatibility);
  OrtStatus *(*CreateAllocator)(OrtEpFactory *factory, const void *memory, const OrtKeyValuePairs *options, void **allocator);
  void (*ReleaseAllocator)(OrtEpFactory *factory, void *allocator);
  OrtStatus *(*CreateDataTransfer)(OrtEpFactory *factory, void **transfer);
  bool (*IsStreamAware)(const OrtEpFactory *factory);
  OrtStatus *(*CreateSyncStreamForDevice)(OrtEpFactory *factory, const void *device, const OrtKeyValuePairs *options, void **stream);
  ort_no_function none[ORT_NO_FUNCTIONS];
};

#endif
