/* SPDX-License-Identifier: MIT
 *
 * node_tensor.c: describes the host's tensors for the library.
 */
#include "node_internal.h"

/* ONNXTensorElementDataType has 27 numbers. Types that the host lacks are behind them. */
enum { ELEMENTS = 32, ROOM = ELEMENTS + 256 };

gather_type gather_ort_type(OrtElementType element) {
  static const unsigned char types[ROOM] = {
#define GATHER_TYPE(ENUM, number, name, kind, bits, packing, onnx, onnx_name, onnxruntime, ...) \
  [(onnxruntime) ? (onnxruntime) : ELEMENTS + number] = number,
#include "gather/type.def"
#undef GATHER_TYPE
  };
  return element > 0 && element < ELEMENTS ? (gather_type)types[element] : GATHER_TYPE_NONE;
}

/* Where the host has no references: the shape is an object of its own. */
static OrtStatus *read_copy(const ort_host *host, const OrtValue *value, ort_tensor *t, size_t *rank) {
  OrtTensorTypeAndShapeInfo *info;
  ORT_TRY(ORT(host, GetTensorTypeAndShape)(value, &info));
  OrtStatus *status = ORT(host, GetTensorElementType)(info, &t->element);
  if (!status) status = ORT(host, GetDimensionsCount)(info, rank);
  if (!status && *rank <= GATHER_MAX_RANK) status = ORT(host, GetDimensions)(info, t->lengths, *rank);
  ORT(host, ReleaseTensorTypeAndShapeInfo)(info);
  t->tensor.shape = t->lengths;
  return status;
}

OrtStatus *gather_ort_value(const ort_host *host, const OrtValue *value, ort_tensor *t) {
  size_t rank;
  gather_error error;
  t->value = value, t->tensor = (gather_tensor){.data = NULL};
  if (ORT_HAS(host, GetTensorElementTypeAndShapeDataReference))
    ORT_TRY(ORT(host, GetTensorElementTypeAndShapeDataReference)(value, &t->element, &t->tensor.shape, &rank));
  else
    ORT_TRY(read_copy(host, value, t, &rank));
  t->tensor.type = gather_ort_type(t->element);
  if (t->tensor.type == GATHER_TYPE_NONE)
    return gather_ort_status(
        host, gather_error_set(&error, GATHER_TYPE_UNSUPPORTED, "libgather does not know element type %d of ONNX Runtime", t->element),
        &error);
  if (rank > GATHER_MAX_RANK)
    return gather_ort_status(
        host, gather_error_set(&error, GATHER_UNSUPPORTED, "a tensor of rank %zu; the limit is %d", rank, GATHER_MAX_RANK), &error);
  t->tensor.rank = (int32_t)rank;
  if (t->element == ORT_ELEMENT_STRING) return NULL;
  /* The host's pointer is not const; nothing is written through it. */
  return ORT(host, GetTensorMutableData)((OrtValue *)value, &t->tensor.data);
}

bool gather_ort_constant(const ort_host *host, const OrtKernelInfo *info, size_t input, ort_tensor *tensor) {
  int is_constant = 0;
  const OrtValue *value = NULL;
  OrtStatus *status = ORT(host, KernelInfoGetConstantInput_tensor)(info, input, &is_constant, &value);
  if (!status && is_constant && value) status = gather_ort_value(host, value, tensor);
  if (!status && is_constant && value) return true;
  if (status) ORT(host, ReleaseStatus)(status);
  tensor->value = NULL;
  return false;
}

OrtStatus *gather_ort_optional_input(const ort_host *host, OrtKernelContext *context, size_t input, ort_tensor *tensor, bool *there) {
  const OrtValue *value = NULL;
  size_t count;
  *there = false;
  ORT_TRY(ORT(host, KernelContext_GetInputCount)(context, &count));
  if (input >= count) return NULL;
  ORT_TRY(ORT(host, KernelContext_GetInput)(context, input, &value));
  *there = value != NULL;
  return value ? gather_ort_value(host, value, tensor) : NULL;
}

OrtStatus *gather_ort_input(const ort_host *host, OrtKernelContext *context, size_t input, ort_tensor *tensor) {
  const OrtValue *value = NULL;
  ORT_TRY(ORT(host, KernelContext_GetInput)(context, input, &value));
  if (!value) return ORT(host, CreateStatus)(ORT_INVALID_ARGUMENT, "an input of the node is missing");
  return gather_ort_value(host, value, tensor);
}

OrtStatus *gather_ort_output(const ort_host *host, OrtKernelContext *context, gather_type type, const int64_t *lengths, int32_t rank,
                             gather_tensor *out, OrtValue **value) {
  static const int64_t none = 0;
  *out = (gather_tensor){.type = type, .rank = rank, .shape = lengths};
  ORT_TRY(ORT(host, KernelContext_GetOutput)(context, 0, rank > 0 ? lengths : &none, (size_t)rank, value));
  if (!*value) return ORT(host, CreateStatus)(ORT_FAIL, "the host returned no output");
  if (type == GATHER_TYPE_STRING) return NULL;
  return ORT(host, GetTensorMutableData)(*value, &out->data);
}
