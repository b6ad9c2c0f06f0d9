/* SPDX-License-Identifier: MIT
 *
 * torch_shim.h: PyTorch's stable C interface, as far as the plug-in uses it (torch_shim.def). Own declarations: nothing of PyTorch is
 * needed to build the plug-in, and one binary serves every PyTorch from 2.11 on.
 *
 * An operator's kernel gets its arguments as 64-bit cells: numbers by value, a tensor, a text or a list as a handle that the kernel owns
 * and must delete, an optional as a pointer to a cell from C++'s operator new, or 0. It puts its results into the same cells.
 */
#ifndef GATHER_TORCH_SHIM_H
#define GATHER_TORCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GATHER_SHIM(returns, name, arguments) extern returns name arguments;
#include "torch_shim.def"
#undef GATHER_SHIM

/* The version of the interface: 2.11, a byte each from the highest on. */
#define GATHER_TORCH_TARGET 0x020b000000000000u

/* C++'s operator delete, which frees the cell of an optional argument; in libstdc++, which libtorch_cpu.so brings along. */
extern void _ZdlPv(void *memory);

#ifdef __cplusplus
}
#endif

#endif
