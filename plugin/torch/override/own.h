/* SPDX-License-Identifier: MIT
 *
 * own.h: PyTorch's own kernels, for what libgather does not handle and for errors: these have PyTorch's type and text, and say
 * more where libgather knows more.
 */
#ifndef GATHER_TORCH_OWN_H
#define GATHER_TORCH_OWN_H

#include <cstring>
#include <exception>
#include <new>

#include "tensor.h"

namespace override {

/* PyTorch's own kernels call operators; within them the override is off for this thread. */
class Inside {
 public:
  Inside() { depth++; }
  ~Inside() { depth--; }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;
  static bool any() { return depth > 0; }

 private:
  static thread_local int depth;
};

/* Adds what libgather found to an error of PyTorch's, in parentheses. what: "" adds nothing. */
void explain(std::exception &error, const char *what);

/* Runs one of PyTorch's kernels: call() returns what it returns. */
template <class Call>
auto run_own(const char *what, Call call) -> decltype(call()) {
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
Value own_result(const char *what, Call call) {
  Owned result;
  if (host.undefined_tensor(result.room()) != 0) throw std::bad_alloc();
  /* Not into the handle at once: after an exception this memory may hold what has been destroyed. */
  alignas(Returned) unsigned char room[sizeof(Returned)];
  run_own(what, [&] {
    new (static_cast<void *>(room)) Returned(call());
    return 0;
  });
  std::memcpy(static_cast<void *>(result.get()), room, sizeof room);
  return result.release();
}

/* Throws PyTorch's IndexError with this text. */
[[noreturn]] void throw_index_error(const char *what);

}  // namespace override

#endif
