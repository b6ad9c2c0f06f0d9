/* SPDX-License-Identifier: MIT
 *
 * host.cpp: finds PyTorch's functions in the libraries that the process has loaded.
 */
#include "host.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace override {

Host host;

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

}  // namespace

const char *host_load() {
  void *const libraries[2] = {loaded("libtorch_cpu.so"), loaded("libc10.so")};
  if (libraries[0] == nullptr) return say("%s is not loaded: import torch first", "libtorch_cpu.so");
  Host found = {};
#define GATHER_TORCH_FIND(member, result, arguments, name) \
  if (!find(found.member, name, libraries)) return say("this PyTorch has no %s, which the override needs", name);
  GATHER_TORCH_STABLE(GATHER_TORCH_FIND)
  if (found.abi_version() < WRITTEN_FOR) return say("the override needs PyTorch %s or later", "2.11");
  GATHER_TORCH_OWN(GATHER_TORCH_FIND)
#undef GATHER_TORCH_FIND
#define GATHER_TORCH_FIND(member, result, arguments, name) (void)find(found.member, name, libraries);
  GATHER_TORCH_OPTIONAL(GATHER_TORCH_FIND)
#undef GATHER_TORCH_FIND
  (void)find(found.error_type, "_ZTIN3c105ErrorE", libraries);
  host = found;
  return "";
}

}  // namespace override
