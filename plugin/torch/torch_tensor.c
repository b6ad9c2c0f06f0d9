/* SPDX-License-Identifier: MIT
 *
 * torch_tensor.c: tensors of PyTorch's as libgather describes them, and new ones.
 */
#include "torch_operator.h"

/* Types of the same name on both sides. Others (complex32, float4_e2m1fn_x2, bits8 ...) are moved as opaque elements. */
#define SAME_TYPES(ROW)                                  \
  ROW(BOOL, aoti_torch_dtype_bool)                       \
  ROW(UINT8, aoti_torch_dtype_uint8)                     \
  ROW(UINT16, aoti_torch_dtype_uint16)                   \
  ROW(UINT32, aoti_torch_dtype_uint32)                   \
  ROW(UINT64, aoti_torch_dtype_uint64)                   \
  ROW(INT8, aoti_torch_dtype_int8)                       \
  ROW(INT16, aoti_torch_dtype_int16)                     \
  ROW(INT32, aoti_torch_dtype_int32)                     \
  ROW(INT64, aoti_torch_dtype_int64)                     \
  ROW(FLOAT16, aoti_torch_dtype_float16)                 \
  ROW(BFLOAT16, aoti_torch_dtype_bfloat16)               \
  ROW(FLOAT32, aoti_torch_dtype_float32)                 \
  ROW(FLOAT64, aoti_torch_dtype_float64)                 \
  ROW(COMPLEX64, aoti_torch_dtype_complex64)             \
  ROW(COMPLEX128, aoti_torch_dtype_complex128)           \
  ROW(FLOAT8_E4M3FN, aoti_torch_dtype_float8_e4m3fn)     \
  ROW(FLOAT8_E4M3FNUZ, aoti_torch_dtype_float8_e4m3fnuz) \
  ROW(FLOAT8_E5M2, aoti_torch_dtype_float8_e5m2)         \
  ROW(FLOAT8_E5M2FNUZ, aoti_torch_dtype_float8_e5m2fnuz) \
  ROW(FLOAT8_E8M0FNU, torch_dtype_float8_e8m0fnu)

enum { DTYPES = 128, TYPES = 64 };

static gather_type type_of[DTYPES]; /* of PyTorch's number */
static int32_t dtype_of[TYPES];     /* PyTorch's number + 1 */
static int32_t cpu, strided;

void gather_torch_learn_types(void) {
#define LEARN(type, dtype)                       \
  {                                              \
    const int32_t number = dtype();              \
    if (number >= 0 && number < DTYPES) {        \
      type_of[number] = GATHER_TYPE_##type;      \
      dtype_of[GATHER_TYPE_##type] = number + 1; \
    }                                            \
  }
  SAME_TYPES(LEARN)
#undef LEARN
  cpu = aoti_torch_device_type_cpu();
  strided = aoti_torch_layout_strided();
}

int32_t gather_torch_dtype(gather_type type) { return type > 0 && (int)type < TYPES ? dtype_of[type] - 1 : -1; }

/* PyTorch's quantised dtypes, whose scales lie beside the elements. They are not part of its C interface; their numbers are those of
 * its files. */
static const char *quantised_name(int32_t dtype) {
  static const char *const names[] = {"qint8", "quint8", "qint32", NULL, "quint4x2", "quint2x4"};
  return dtype >= 12 && dtype <= 17 ? names[dtype - 12] : NULL;
}

static const char *device_name(int32_t type) {
  if (type == aoti_torch_device_type_cuda()) return "cuda";
  if (type == aoti_torch_device_type_meta()) return "meta";
  if (type == aoti_torch_device_type_xpu()) return "xpu";
  if (type == aoti_torch_device_type_mps()) return "mps";
  if (type == aoti_torch_device_type_privateuse1()) return "privateuseone";
  return NULL;
}

static gather_status refuse_device(int32_t type, const char *name, gather_error *error) {
  const char *device = device_name(type);
  if (device)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, name, "%s is on the device %s, but libgather's operators run on the CPU", name,
                                  device);
  return gather_error_set_input(error, GATHER_UNSUPPORTED, name, "%s is on a device of type %d, but libgather's operators run on the CPU",
                                name, type);
}

static gather_status describe_type(gather_torch_view *view, const char *name, gather_error *error) {
  const char *quantised = quantised_name(view->dtype);
  if (quantised)
    return gather_error_set_input(error, GATHER_TYPE_UNSUPPORTED, name,
                                  "%s is a quantised tensor of PyTorch's (torch.%s): gather its int_repr(), or dequantize() it", name,
                                  quantised);
  view->tensor.type = view->dtype >= 0 && view->dtype < DTYPES ? type_of[view->dtype] : GATHER_TYPE_NONE;
  if (view->tensor.type == GATHER_TYPE_NONE) {
    view->tensor.type = GATHER_TYPE_OPAQUE;
    view->tensor.item_bytes = (int64_t)aoti_torch_dtype_element_size(view->dtype);
  } else {
    view->tensor.item_bytes = gather_type_get(view->tensor.type)->bits / 8;
  }
  return GATHER_OK;
}

/* All but the address. */
static gather_status describe(void *handle, const char *name, gather_torch_view *view, gather_error *error) {
  int32_t device = cpu, layout = strided;
  int64_t rank = 0, *sizes = NULL, *strides = NULL;
  view->tensor = (gather_tensor){0};
  if (aoti_torch_get_device_type(handle, &device) || aoti_torch_get_layout(handle, &layout) || aoti_torch_get_dtype(handle, &view->dtype) ||
      aoti_torch_get_dim(handle, &rank))
    return gather_error_set_input(error, GATHER_USAGE, name, "PyTorch does not describe %s", name);
  if (device != cpu) return refuse_device(device, name, error);
  if (layout != strided)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, name, "%s is sparse, or of another layout than strided", name);
  if (rank > GATHER_MAX_RANK)
    return gather_error_set_input(error, GATHER_UNSUPPORTED, name, "%s has %lld dimensions, more than %d", name, (long long)rank,
                                  GATHER_MAX_RANK);
  if (aoti_torch_get_sizes(handle, &sizes) || aoti_torch_get_strides(handle, &strides))
    return gather_error_set_input(error, GATHER_USAGE, name, "PyTorch does not describe %s", name);
  const gather_status status = describe_type(view, name, error);
  if (status != GATHER_OK) return status;
  for (int64_t d = 0; d < rank; d++) view->strides[d] = strides[d] * view->tensor.item_bytes;
  view->tensor.rank = (int32_t)rank;
  view->tensor.shape = sizes;
  view->tensor.strides = view->strides;
  return GATHER_OK;
}

gather_status gather_torch_describe(void *handle, const char *name, gather_torch_view *view, gather_error *error) {
  const gather_status status = describe(handle, name, view, error);
  if (status != GATHER_OK) return status;
  const void *data = NULL;
  if (torch_get_const_data_ptr(handle, &data)) return gather_error_set_input(error, GATHER_UNSUPPORTED, name, "%s has no memory", name);
  view->tensor.data = (void *)(uintptr_t)data;
  return GATHER_OK;
}

gather_status gather_torch_describe_output(void *handle, gather_torch_view *view, gather_error *error) {
  const gather_status status = describe(handle, "output", view, error);
  if (status != GATHER_OK) return status;
  if (torch_get_mutable_data_ptr(handle, &view->tensor.data))
    return gather_error_set_input(error, GATHER_UNSUPPORTED, "output", "output has no memory");
  return GATHER_OK;
}

gather_status gather_torch_create(int32_t dtype, const int64_t *shape, int32_t rank, void **handle, gather_torch_view *view,
                                  gather_error *error) {
  int64_t steps[GATHER_MAX_RANK];
  int64_t step = 1; /* PyTorch's strides of row-major order: a length of 0 counts as 1 */
  for (int32_t d = rank - 1; d >= 0; d--) {
    steps[d] = step;
    step *= shape[d] > 1 ? shape[d] : 1;
  }
  if (aoti_torch_empty_strided(rank, shape, steps, dtype, cpu, -1, handle))
    return gather_error_set_input(error, GATHER_OUT_OF_MEMORY, "output", "out of memory for the output");
  return gather_torch_describe_output(*handle, view, error);
}
