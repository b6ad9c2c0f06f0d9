/* SPDX-License-Identifier: MIT
 *
 * torch_stub.c: a stand-in for libtorch_cpu.so to link against: the names alone. It is never run or installed; the process that loads
 * the plug-in has the real one.
 */
#define EXPORTED __attribute__((visibility("default")))

#define GATHER_SHIM(returns, name, arguments) \
  EXPORTED void name(void);                   \
  void name(void) {}
#include "torch_shim.def"
#undef GATHER_SHIM

EXPORTED void _ZdlPv(void);
void _ZdlPv(void) {}
