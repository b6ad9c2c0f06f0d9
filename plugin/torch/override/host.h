/* SPDX-License-Identifier: MIT
 *
 * host.h: what of PyTorch the override calls. Found by name in the libtorch of the process when it is first used, so that one
 * binary serves every PyTorch from 2.11 on and nothing of PyTorch is needed to build it.
 *
 * Two groups. The C functions are PyTorch's stable interface (torch/csrc/stable/c/shim.h and inductor/aoti_torch/c/shim.h of its
 * headers): names and arguments are promised. The others are C++ functions of libtorch_cpu (ATen/CPUFunctions.h), PyTorch's own CPU
 * kernels, which take over what libgather does not handle. Their mangled names contain the types of all arguments: another
 * signature is another name, which is then missing, and the override refuses to start.
 */
#ifndef GATHER_TORCH_HOST_H
#define GATHER_TORCH_HOST_H

#include <cstddef>
#include <cstdint>

namespace override {

struct Object;           /* a tensor, seen as at::Tensor by libtorch */
struct Registration;     /* torch::Library */
struct List;             /* a list of StableIValues */
using Handle = Object *; /* AtenTensorHandle */
using Value = uint64_t;  /* StableIValue */
using Kernel = void (*)(Value *stack, uint64_t inputs, uint64_t outputs);
using ParallelTask = void (*)(int64_t begin, int64_t end, void *context);

/* at::Tensor as a result by value: one pointer. C++ returns it through memory of the caller, because it has a destructor; the
 * result is always made in a handle's memory, which libtorch frees. */
struct Returned {
  void *pointer;
  ~Returned() {}
};

/* X(member, result, arguments, name): 0 is success for those that return int32_t. */
#define GATHER_TORCH_STABLE(X)                                                                                     \
  X(abi_version, uint64_t, (void), "aoti_torch_abi_version")                                                       \
  X(delete_tensor, int32_t, (Handle), "aoti_torch_delete_tensor_object")                                           \
  X(undefined_tensor, int32_t, (Handle *), "aoti_torch_new_uninitialized_tensor")                                  \
  X(const_data, int32_t, (Handle, const void **), "torch_get_const_data_ptr")                                      \
  X(mutable_data, int32_t, (Handle, void **), "torch_get_mutable_data_ptr")                                        \
  X(rank, int32_t, (Handle, int64_t *), "aoti_torch_get_dim")                                                      \
  X(len, int32_t, (Handle, int64_t *), "aoti_torch_get_numel")                                                     \
  X(sizes, int32_t, (Handle, int64_t **), "aoti_torch_get_sizes")                                                  \
  X(strides, int32_t, (Handle, int64_t **), "aoti_torch_get_strides")                                              \
  X(dtype, int32_t, (Handle, int32_t *), "aoti_torch_get_dtype")                                                   \
  X(contiguous, int32_t, (Handle, bool *), "aoti_torch_is_contiguous")                                             \
  X(empty, int32_t, (int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, Handle *),              \
    "aoti_torch_empty_strided")                                                                                    \
  X(cpu, int32_t, (void), "aoti_torch_device_type_cpu")                                                            \
  X(element_size, size_t, (int32_t), "aoti_torch_dtype_element_size")                                              \
  X(list_len, int32_t, (List *, size_t *), "torch_list_size")                                                      \
  X(list_item, int32_t, (List *, size_t, Value *), "torch_list_get_item")                                          \
  X(delete_list, int32_t, (List *), "torch_delete_list")                                                           \
  X(index, int32_t, (Handle, const Handle *const *, int64_t, Handle *), "aoti_torch_cpu_index_Tensor")             \
  X(parallel_for, int32_t, (int64_t, int64_t, int64_t, ParallelTask, void *), "torch_parallel_for")                \
  X(threads, int32_t, (uint32_t *), "torch_get_num_threads")                                                       \
  X(new_registration, int32_t, (const char *, const char *, const char *, uint32_t, Registration **),              \
    "aoti_torch_library_init_impl")                                                                                \
  X(register_kernel, int32_t, (Registration *, const char *, Kernel, uint64_t), "torch_library_impl")              \
  X(delete_registration, int32_t, (Registration *), "aoti_torch_delete_library_object")

/* PyTorch's own kernels. */
#define GATHER_TORCH_OWN(X)                                                                                        \
  X(embedding, Returned, (Handle, Handle, int64_t, bool, bool),                                                    \
    "_ZN2at25compositeexplicitautograd9embeddingERKNS_6TensorES3_lbb")                                             \
  X(index_select, Returned, (Handle, int64_t, Handle), "_ZN2at3cpu12index_selectERKNS_6TensorElS3_")               \
  X(index_select_out, Handle, (Handle, Handle, int64_t, Handle), "_ZN2at3cpu16index_select_outERNS_6TensorERKS1_lS4_") \
  X(gather, Returned, (Handle, int64_t, Handle, bool), "_ZN2at3cpu6gatherERKNS_6TensorElS3_b")                     \
  X(gather_out, Handle, (Handle, Handle, int64_t, Handle, bool), "_ZN2at3cpu10gather_outERNS_6TensorERKS1_lS4_b")  \
  X(take, Returned, (Handle, Handle), "_ZN2at3cpu4takeERKNS_6TensorES3_")                                          \
  X(take_out, Handle, (Handle, Handle, Handle), "_ZN2at3cpu8take_outERNS_6TensorERKS1_S4_")

/* What may be missing: then messages say less, and PyTorch's warning about a kernel that is replaced is printed. */
#define GATHER_TORCH_OPTIONAL(X)                                                                                   \
  X(add_context, void, (void *, void *),                                                                           \
    "_ZN3c105Error11add_contextENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")                             \
  X(last_error, const char *, (void), "torch_exception_get_what_without_backtrace")                                \
  X(delete_value, int32_t, (Value *), "torch_delete_stable_ivalue")                                                \
  X(warning_handler, void *, (void), "_ZN3c1012WarningUtils19get_warning_handlerEv")                               \
  X(set_warning_handler, void, (void *), "_ZN3c1012WarningUtils19set_warning_handlerEPNS_14WarningHandlerE")

struct Host {
#define GATHER_TORCH_MEMBER(member, result, arguments, name) result(*member) arguments;
  GATHER_TORCH_STABLE(GATHER_TORCH_MEMBER)
  GATHER_TORCH_OWN(GATHER_TORCH_MEMBER)
  GATHER_TORCH_OPTIONAL(GATHER_TORCH_MEMBER)
#undef GATHER_TORCH_MEMBER
  const void *error_type; /* the type_info of c10::Error; may be NULL */
};

/* The interface that the binary is written for: PyTorch 2.11's. Later ones convert what they have changed since. */
constexpr uint64_t WRITTEN_FOR = UINT64_C(0x020b000000000000);

/* Filled in by host_load(); read by every kernel. */
extern Host host;

/* Finds all of it. Returns an empty text, or what is missing (static memory of this thread). */
const char *host_load();

}  // namespace override

#endif
