/* SPDX-License-Identifier: MIT
 *
 * own.cpp: errors of PyTorch's kernels. The classes of its exceptions are not part of any stable interface, so none is made here:
 * an exception is one that PyTorch threw, to which c10::Error::add_context() adds a text.
 */
#include "own.h"

#include <cxxabi.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace override {

thread_local int Inside::depth = 0;

namespace {

/* Whether an exception is a c10::Error or derived from it. They all have one base each, at their beginning. */
bool is_torch_error(const std::exception &error) {
  const std::type_info *type = &typeid(error);
  const auto *wanted = static_cast<const std::type_info *>(host.error_type);
  while (wanted != nullptr && type != nullptr) {
    if (*type == *wanted) return true;
    const auto *derived = dynamic_cast<const abi::__si_class_type_info *>(type);
    type = derived != nullptr ? derived->__base_type : nullptr;
  }
  return false;
}

}  // namespace

void explain(std::exception &error, const char *what) {
  if (what[0] == '\0' || host.add_context == nullptr || !is_torch_error(error)) return;
  std::string text = what; /* by value in C++: the address of the caller's copy */
  host.add_context(&error, &text);
}

void throw_index_error(const char *what) {
  /* The index 1 into a list of one: PyTorch's own error. */
  const int64_t one = 1;
  Owned list;
  void *data = nullptr;
  static const int32_t INT64 = int64_dtype();
  if (host.empty(1, &one, &one, INT64, host.cpu(), 0, list.room()) != 0) throw std::bad_alloc();
  if (host.mutable_data(list.get(), &data) != 0) throw std::bad_alloc();
  std::memcpy(data, &one, sizeof one);
  (void)own_result(what, [&] { return host.index_select(list.get(), 0, list.get()); });
  throw std::runtime_error(what); /* not reached */
}

}  // namespace override
