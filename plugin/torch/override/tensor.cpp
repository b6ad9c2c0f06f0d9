/* SPDX-License-Identifier: MIT
 *
 * tensor.cpp: descriptions of PyTorch's tensors. Only sizes of elements count: what they mean, a gather does not ask.
 */
#include "tensor.h"

#include <dlfcn.h>

#include <cstring>

namespace override {

namespace {

constexpr int DTYPES = 128;

/* By PyTorch's number of the dtype: the Types that it is among, 0 for others, and the library's type of the same size. */
struct Known {
  uint8_t types;
  gather_type type;
};
Known known[DTYPES];
int32_t int32_number, int64_number;

struct Named {
  const char *function;
  uint8_t types;
};
const Named NAMED[] = {
    {"aoti_torch_dtype_bool", PLAIN},           {"aoti_torch_dtype_uint8", PLAIN},
    {"aoti_torch_dtype_int8", PLAIN},           {"aoti_torch_dtype_int16", PLAIN},
    {"aoti_torch_dtype_int32", PLAIN},          {"aoti_torch_dtype_int64", PLAIN},
    {"aoti_torch_dtype_float16", PLAIN},        {"aoti_torch_dtype_bfloat16", PLAIN},
    {"aoti_torch_dtype_float32", PLAIN},        {"aoti_torch_dtype_float64", PLAIN},
    {"aoti_torch_dtype_complex64", PLAIN},      {"aoti_torch_dtype_complex128", PLAIN},
    {"aoti_torch_dtype_uint16", UNSIGNED},      {"aoti_torch_dtype_uint32", UNSIGNED},
    {"aoti_torch_dtype_uint64", UNSIGNED},      {"aoti_torch_dtype_complex32", SMALL},
    {"aoti_torch_dtype_float8_e5m2", SMALL},    {"aoti_torch_dtype_float8_e4m3fn", SMALL},
    {"aoti_torch_dtype_float8_e5m2fnuz", SMALL}, {"aoti_torch_dtype_float8_e4m3fnuz", SMALL}};

gather_type type_of_size(size_t bytes) {
  switch (bytes) {
    case 1: return GATHER_TYPE_UINT8;
    case 2: return GATHER_TYPE_UINT16;
    case 4: return GATHER_TYPE_UINT32;
    case 8: return GATHER_TYPE_UINT64;
    case 16: return GATHER_TYPE_COMPLEX128;
    default: return GATHER_TYPE_NONE;
  }
}

int32_t number_of(const char *function) {
  int32_t (*number)(void) = nullptr;
  void *address = dlsym(RTLD_DEFAULT, function);
  if (address == nullptr) address = dlsym(dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD), function);
  if (address == nullptr) return -1;
  std::memcpy(&number, &address, sizeof number);
  return number();
}

}  // namespace

int32_t int64_dtype() { return int64_number; }

void types_load() {
  for (const Named &named : NAMED) {
    const int32_t number = number_of(named.function);
    if (number < 0 || number >= DTYPES) continue;
    const gather_type type = type_of_size(host.element_size(number));
    if (type != GATHER_TYPE_NONE) known[number] = {named.types, type};
  }
  int32_number = number_of("aoti_torch_dtype_int32");
  int64_number = number_of("aoti_torch_dtype_int64");
}

bool View::read_layout(Handle handle) {
  int64_t rank = 0, *sizes = nullptr, *strides = nullptr;
  const void *data = nullptr;
  if (host.dtype(handle, &dtype) != 0 || host.rank(handle, &rank) != 0 || rank > GATHER_MAX_RANK) return false;
  if (host.sizes(handle, &sizes) != 0 || host.len(handle, &len) != 0 || host.contiguous(handle, &contiguous) != 0)
    return false;
  if (host.const_data(handle, &data) != 0 || dtype < 0 || dtype >= DTYPES) return false;
  std::memset(&tensor, 0, sizeof tensor);
  tensor.data = const_cast<void *>(data);
  tensor.rank = static_cast<int32_t>(rank);
  tensor.shape = sizes;
  if (contiguous) return true;
  if (host.strides(handle, &strides) != 0) return false;
  const int64_t bytes = static_cast<int64_t>(host.element_size(dtype));
  for (int64_t d = 0; d < rank; d++)
    if (__builtin_mul_overflow(strides[d], bytes, &byte_strides[d])) return false;
  tensor.strides = byte_strides;
  return true;
}

bool View::read(Handle handle, unsigned types) {
  if (!read_layout(handle) || (known[dtype].types & types) == 0) return false;
  tensor.type = known[dtype].type;
  return true;
}

bool View::read_indices(Handle handle, bool narrow) {
  if (!read_layout(handle)) return false;
  tensor.type = dtype == int64_number ? GATHER_TYPE_INT64 : GATHER_TYPE_INT32;
  return dtype == int64_number || (narrow && dtype == int32_number);
}

bool View::is_same_shape(const View &other) const {
  if (tensor.rank != other.tensor.rank) return false;
  for (int32_t d = 0; d < tensor.rank; d++)
    if (tensor.shape[d] != other.tensor.shape[d]) return false;
  return true;
}

void View::flatten() {
  tensor.rank = 1;
  tensor.shape = &len;
}

void View::at_least_1d() {
  if (tensor.rank != 0) return;
  one = 1;
  tensor.rank = 1;
  tensor.shape = &one;
  tensor.strides = nullptr;
}

}  // namespace override
