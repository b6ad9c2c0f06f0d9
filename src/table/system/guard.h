/* SPDX-License-Identifier: MIT
 *
 * guard.h: reads mapped files safely. A page that the system cannot read (disk error, truncated file) raises SIGBUS;
 * within a guard this becomes a return value.
 */
#ifndef GATHER_TABLE_GUARD_H
#define GATHER_TABLE_GUARD_H

#include "core/base/compiler.h"
#include "table/table_source.h"

/* Calls body(argument) and returns true; false if it touched a byte of a source's mapping that cannot be read:
 * *source and *offset say which; *source is -1 if memory for the guard itself is missing. body is then left by a jump: it must hold no lock and no memory. */
bool gather_guard_run(const gather_table_source *sources, int32_t count, void (*body)(void *argument), void *argument,
                      int32_t *source, int64_t *offset);
/* Installs the handler once. To be called before the first guard. */
GATHER_CHECKED gather_status gather_guard_install(gather_error *error);

/* The source whose mapping has the address, and where; for the handlers. */
GATHER_INLINE bool gather_guard_find(const gather_table_source *sources, int32_t count, const char *address,
                                     int32_t *source, int64_t *offset) {
  for (int32_t i = 0; i < count; i++) {
    const gather_table_source *at = &sources[i];
    if (!at->map || address < at->map || address - at->map >= at->size) continue;
    *source = i, *offset = address - at->map;
    return true;
  }
  return false;
}

#endif
