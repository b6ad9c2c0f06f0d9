/* SPDX-License-Identifier: MIT
 *
 * ort_api.h: ONNX Runtime's C interface, as far as the plug-in uses it, declared by slot. No header of ONNX Runtime is needed to
 * build the plug-in, and one binary works with every ONNX Runtime from 1.17 on.
 *
 *     ort_host host;
 *     if (!ort_host_open(base, 17, &host)) ...         // the API version that both sides know
 *     OrtStatus *status = ORT(&host, GetDimensionsCount)(info, &rank);
 *     if (ORT_HAS(&host, KernelInfo_GetConfigEntries)) ...
 *
 * OrtApi is an append-only table of functions: a function's place never moves, and a host of version 1.X has all places of the API
 * versions up to X. So a place is only read where the host's version has it. The functions are rows of ort_slots.def and
 * ort_ep_slots.def; a misspelt name or a wrong argument does not compile.
 */
#ifndef GATHER_PLUGIN_ORT_API_H
#define GATHER_PLUGIN_ORT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ORT_OLDEST = 17,    /* the oldest API version with all functions that both doors need */
  ORT_OLDEST_EP = 24, /* and that the kernel registry of an execution provider needs */
  ORT_NEWEST = 24     /* the newest API version with a function that the plug-in calls */
};

/* ---- numbers --------------------------------------------------------------------------------------------------------- */

typedef int OrtErrorCode;
enum { ORT_OK = 0, ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2, ORT_RUNTIME_EXCEPTION = 6, ORT_NOT_IMPLEMENTED = 9, ORT_INVALID_GRAPH = 10 };

/* The element type of a tensor: gather_type_info.onnxruntime. */
typedef int OrtElementType;
enum {
  ORT_ELEMENT_UNDEFINED = 0,
  ORT_ELEMENT_FLOAT = 1,
  ORT_ELEMENT_INT32 = 6,
  ORT_ELEMENT_INT64 = 7,
  ORT_ELEMENT_STRING = 8,
  ORT_ELEMENT_FLOAT16 = 10,
  ORT_ELEMENT_BFLOAT16 = 16
};

typedef int OrtLoggingLevel;
enum { ORT_LOG_VERBOSE = 0, ORT_LOG_INFO = 1, ORT_LOG_WARNING = 2, ORT_LOG_ERROR = 3 };

typedef int OrtOpAttrType;
enum { ORT_ATTRIBUTE_INT = 1 };

typedef int OrtHardwareDeviceType;
enum { ORT_DEVICE_CPU = 0 };

typedef int OrtInputKind; /* of a custom operator's input or output */
enum { ORT_REQUIRED = 0, ORT_OPTIONAL = 1 };

/* ---- objects of the host --------------------------------------------------------------------------------------------- */

typedef struct OrtStatus OrtStatus; /* NULL is success; else ReleaseStatus */
typedef struct OrtValue OrtValue;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtShapeInferContext OrtShapeInferContext;
typedef struct OrtOpAttr OrtOpAttr;
typedef struct OrtLogger OrtLogger;
typedef struct OrtKeyValuePairs OrtKeyValuePairs;
typedef struct OrtHardwareDevice OrtHardwareDevice;
typedef struct OrtEpDevice OrtEpDevice;
typedef struct OrtGraph OrtGraph;
typedef struct OrtNode OrtNode;
typedef struct OrtValueInfo OrtValueInfo;
typedef struct OrtExternalInitializerInfo OrtExternalInitializerInfo;
typedef struct OrtEpGraphSupportInfo OrtEpGraphSupportInfo;
typedef struct OrtKernelRegistry OrtKernelRegistry;
typedef struct OrtKernelDef OrtKernelDef;
typedef struct OrtKernelDefBuilder OrtKernelDefBuilder;
typedef struct OrtDataType OrtDataType;

/* ---- objects of the plug-in that the host calls ---------------------------------------------------------------------- */

typedef struct OrtEpFactory OrtEpFactory; /* defined where the execution provider is */
typedef struct OrtKernelImpl OrtKernelImpl;
typedef OrtStatus *(*OrtKernelCreate)(void *state, const OrtKernelInfo *info, OrtKernelImpl **kernel);

/* An element of the tables of functions, which are read through ORT() and ORT_EP() only. */
typedef void (*OrtApi)(void);
typedef void (*OrtEpApi)(void);

typedef struct OrtApiBase {
  const OrtApi *(*GetApi)(uint32_t version); /* NULL above the host's version, and a line on its stderr */
  const char *(*GetVersionString)(void);     /* "1.31.1" */
} OrtApiBase;

/* A custom operator, as of API version 17. The host reads as far as `version` says. Sizes and order: 208 bytes on 64-bit machines. */
typedef struct OrtCustomOp OrtCustomOp;
struct OrtCustomOp {
  uint32_t version;
  void *(*CreateKernel)(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info);
  const char *(*GetName)(const OrtCustomOp *op);
  const char *(*GetExecutionProviderType)(const OrtCustomOp *op);
  OrtElementType (*GetInputType)(const OrtCustomOp *op, size_t input);
  size_t (*GetInputTypeCount)(const OrtCustomOp *op);
  OrtElementType (*GetOutputType)(const OrtCustomOp *op, size_t output);
  size_t (*GetOutputTypeCount)(const OrtCustomOp *op);
  void (*KernelCompute)(void *kernel, OrtKernelContext *context);
  void (*KernelDestroy)(void *kernel);
  OrtInputKind (*GetInputCharacteristic)(const OrtCustomOp *op, size_t input);
  OrtInputKind (*GetOutputCharacteristic)(const OrtCustomOp *op, size_t output);
  int (*GetInputMemoryType)(const OrtCustomOp *op, size_t input);
  int (*GetVariadicInputMinArity)(const OrtCustomOp *op);
  int (*GetVariadicInputHomogeneity)(const OrtCustomOp *op);
  int (*GetVariadicOutputMinArity)(const OrtCustomOp *op);
  int (*GetVariadicOutputHomogeneity)(const OrtCustomOp *op);
  OrtStatus *(*CreateKernelV2)(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **kernel);
  OrtStatus *(*KernelComputeV2)(void *kernel, OrtKernelContext *context);
  OrtStatus *(*InferOutputShapeFn)(const OrtCustomOp *op, OrtShapeInferContext *context);
  int (*GetStartVersion)(const OrtCustomOp *op);
  int (*GetEndVersion)(const OrtCustomOp *op);
  /* since API version 18; never read, for `version` is 17 */
  size_t (*GetMayInplace)(int **inputs, int **outputs);
  void (*ReleaseMayInplace)(int *inputs, int *outputs);
  size_t (*GetAliasMap)(int **inputs, int **outputs);
  void (*ReleaseAliasMap)(int *inputs, int *outputs);
};

/* ---- calls ----------------------------------------------------------------------------------------------------------- */

/* The functions of a host, and the API version up to which they may be read: at most ORT_NEWEST. */
typedef struct ort_host {
  const OrtApi *api;
  const OrtEpApi *ep; /* NULL below API version 22 */
  uint32_t version;
  long minor;    /* X of "1.X.Y", which may be above `version`; -1 for a host that names itself otherwise */
  char name[32]; /* "1.31.1" */
} ort_host;

/* Asks the host for the newest API version that both sides know. Prints nothing, whatever the host's version.
 * least: the version that the caller needs. Returns false if the host is older, or gives no such version; then *host can still
 * create statuses (ORT_HAS(host, CreateStatus)) if host->api is not NULL. */
bool gather_ort_host_open(const OrtApiBase *base, uint32_t least, ort_host *host);

#define ORT_SLOT(name, slot, since, result, parameters)      \
  enum { ORT_SLOT_##name = slot, ORT_SINCE_##name = since }; \
  typedef result(*ort_##name) parameters;
#include "ort_slots.def"
#undef ORT_SLOT
#define ORT_EP_SLOT(name, slot, since, result, parameters)         \
  enum { ORT_EP_SLOT_##name = slot, ORT_EP_SINCE_##name = since }; \
  typedef result(*ort_ep_##name) parameters;
#include "ort_ep_slots.def"
#undef ORT_EP_SLOT

/* A function of the host: ORT(host, CreateStatus)(code, text). host: an ort_host *. */
#define ORT(host, name) ((ort_##name)(host)->api[ORT_SLOT_##name])
#define ORT_EP(host, name) ((ort_ep_##name)(host)->ep[ORT_EP_SLOT_##name])
/* Whether the host has it. */
#define ORT_HAS(host, name) ((host)->api != NULL && (host)->version >= ORT_SINCE_##name)
#define ORT_EP_HAS(host, name) ((host)->ep != NULL && (host)->version >= ORT_EP_SINCE_##name)

#endif
