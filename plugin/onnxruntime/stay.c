/* SPDX-License-Identifier: MIT
 *
 * stay.c: keeps the plug-in in memory.
 */
#define _GNU_SOURCE
#include "stay.h"

#include <dlfcn.h>
#include <stddef.h>

void gather_ort_stay(void) {
  static const char here;
  Dl_info info;
  if (!dladdr(&here, &info) || !info.dli_fname) return;
  /* The handle is never closed; a second one costs nothing. */
  (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
