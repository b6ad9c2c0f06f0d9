/* SPDX-License-Identifier: MIT
 *
 * torch_own.h: PyTorch's own kernels for the CPU, which the override calls for what libgather does not handle and for errors.
 *
 * They are C++ functions of libtorch_cpu.so (ATen/CPUFunctions.h of its headers), found by name when the override is first used. A
 * mangled name contains the types of all arguments: a PyTorch with another signature has another name, so that this one is missing
 * and the override refuses to start. at::Tensor's address is a handle of the C interface (torch_shim.h).
 */
#ifndef GATHER_TORCH_OWN_H
#define GATHER_TORCH_OWN_H

#include <cstring>
#include <exception>
#include <new>

#include "torch_shim.h"

namespace torch_own {

/* at::Tensor as a result by value: one pointer, which C++ returns through memory of the caller, because the class has a destructor.
 * Ours does nothing: the pointer goes on to a handle. */
struct Returned {
  void *pointer;
  ~Returned() {}
};

/* X(member, result, arguments, name) */
#define GATHER_TORCH_OWN(X)                                                                                                        \
  X(embedding, Returned, (void *, void *, int64_t, bool, bool), "_ZN2at25compositeexplicitautograd9embeddingERKNS_6TensorES3_lbb") \
  X(index_select, Returned, (void *, int64_t, void *), "_ZN2at3cpu12index_selectERKNS_6TensorElS3_")                               \
  X(index_select_out, void *, (void *, void *, int64_t, void *), "_ZN2at3cpu16index_select_outERNS_6TensorERKS1_lS4_")             \
  X(gather, Returned, (void *, int64_t, void *, bool), "_ZN2at3cpu6gatherERKNS_6TensorElS3_b")                                     \
  X(gather_out, void *, (void *, void *, int64_t, void *, bool), "_ZN2at3cpu10gather_outERNS_6TensorERKS1_lS4_b")                  \
  X(take, Returned, (void *, void *), "_ZN2at3cpu4takeERKNS_6TensorES3_")                                                          \
  X(take_out, void *, (void *, void *, void *), "_ZN2at3cpu8take_outERNS_6TensorERKS1_S4_")

/* What may be missing: then messages say less, and PyTorch's warning about a kernel that is replaced is printed. */
#define GATHER_TORCH_OPTIONAL(X)                                                                                            \
  X(add_context, void, (void *, void *), "_ZN3c105Error11add_contextENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE") \
  X(warning_handler, void *, (void), "_ZN3c1012WarningUtils19get_warning_handlerEv")                                        \
  X(set_warning_handler, void, (void *), "_ZN3c1012WarningUtils19set_warning_handlerEPNS_14WarningHandlerE")

struct Functions {
#define GATHER_TORCH_MEMBER(member, result, arguments, name) result(*member) arguments;
  GATHER_TORCH_OWN(GATHER_TORCH_MEMBER)
  GATHER_TORCH_OPTIONAL(GATHER_TORCH_MEMBER)
#undef GATHER_TORCH_MEMBER
  const void *error_type; /* the type_info of c10::Error; may be NULL */
};

/* Filled in by load(), before the first kernel runs. */
extern Functions functions;

/* Finds them in the libraries that the process has loaded. Returns "", or what is missing, as a sentence (memory of this thread). */
const char *load();

/* A handle that is freed at the end, however that comes. */
class Owned {
 public:
  explicit Owned(uint64_t cell = 0) : handle_(reinterpret_cast<void *>(cell)) {}
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  ~Owned() { drop(); }
  void *get() const { return handle_; }
  void **room() { return &handle_; }
  void drop() {
    if (handle_ != nullptr) (void)aoti_torch_delete_tensor_object(handle_);
    handle_ = nullptr;
  }
  uint64_t release() {
    const auto cell = reinterpret_cast<uint64_t>(handle_);
    handle_ = nullptr;
    return cell;
  }

 private:
  void *handle_;
};

/* PyTorch's own kernels call operators; within them the override is off for this thread. */
class Inside {
 public:
  Inside() { depth++; }
  ~Inside() { depth--; }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;
  static bool any() { return depth > 0; }

 private:
  /* Not thread_local: that would need an initialiser, an undefined name for the host to find. */
  static __thread int depth;
};

/* Adds what libgather found to an error of PyTorch's, in parentheses. what: "" adds nothing. */
void explain(std::exception &error, const char *what);

/* Runs one of PyTorch's kernels: call() returns what it returns. */
template <class Call>
auto run(const char *what, Call call) -> decltype(call()) {
  Inside inside;
  try {
    return call();
  } catch (std::exception &error) {
    explain(error, what);
    throw;
  }
}

/* The same for a kernel that returns a tensor by value: its handle. */
template <class Call>
uint64_t result(const char *what, Call call) {
  Owned made;
  if (aoti_torch_new_uninitialized_tensor(made.room()) != 0) throw std::bad_alloc();
  /* Not into the handle at once: after an exception this memory may hold what has been destroyed. */
  alignas(Returned) unsigned char room[sizeof(Returned)];
  run(what, [&] {
    new (static_cast<void *>(room)) Returned(call());
    return 0;
  });
  std::memcpy(static_cast<void *>(made.get()), room, sizeof room);
  return made.release();
}

}  // namespace torch_own

#endif
