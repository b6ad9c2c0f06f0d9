/* SPDX-License-Identifier: MIT
 *
 * torch_own.cpp: finds PyTorch's kernels, and adds to their errors. The classes of its exceptions are not part of any stable interface, so
 * none is made here: an exception is one that PyTorch threw, to which c10::Error::add_context() adds a text.
 */
#include "torch_own.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <typeinfo>

namespace torch_own {

Functions functions;
__thread int Inside::depth = 0;

namespace {

thread_local char missing[256];

/* Only what is loaded already: the override never loads a libtorch of its own. */
void *loaded(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD); }

template <class Function>
bool find(Function &function, const char *name, void *const libraries[2]) {
  void *address = dlsym(libraries[0], name);
  if (address == nullptr && libraries[1] != nullptr) address = dlsym(libraries[1], name);
  std::memcpy(&function, &address, sizeof function);
  return address != nullptr;
}

const char *say(const char *format, const char *what) {
  std::snprintf(missing, sizeof missing, format, what);
  return missing;
}

/* Whether an exception is a c10::Error or derived from it. They all have one base each, at their beginning. */
bool is_torch_error(const std::exception &error) {
  const std::type_info *type = &typeid(error);
  const auto *wanted = static_cast<const std::type_info *>(functions.error_type);
  while (wanted != nullptr && type != nullptr) {
    if (*type == *wanted) return true;
    const auto *derived = dynamic_cast<const abi::__si_class_type_info *>(type);
    type = derived != nullptr ? derived->__base_type : nullptr;
  }
  return false;
}

}  // namespace

const char *load() {
  void *const libraries[2] = {loaded("libtorch_cpu.so"), loaded("libc10.so")};
  if (libraries[0] == nullptr) return say("%s is not loaded: import torch first", "libtorch_cpu.so");
  Functions found = {};
#define GATHER_TORCH_FIND(member, returns, arguments, name) \
  if (!find(found.member, name, libraries)) return say("this PyTorch has no %s, which the override needs", name);
  GATHER_TORCH_OWN(GATHER_TORCH_FIND)
#undef GATHER_TORCH_FIND
#define GATHER_TORCH_FIND(member, returns, arguments, name) (void)find(found.member, name, libraries);
  GATHER_TORCH_OPTIONAL(GATHER_TORCH_FIND)
#undef GATHER_TORCH_FIND
  (void)find(found.error_type, "_ZTIN3c105ErrorE", libraries);
  functions = found;
  return "";
}

void explain(std::exception &error, const char *what) {
  if (what[0] == '\0' || functions.add_context == nullptr || !is_torch_error(error)) return;
  std::string text = what; /* by value in C++: the address of the caller's copy */
  functions.add_context(&error, &text);
}

}  // namespace torch_own
