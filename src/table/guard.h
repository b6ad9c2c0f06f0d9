/* SPDX-License-Identifier: MIT
 *
 * guard.h: reading from mapped files without dying of it. A page that the system cannot bring (the disk fails, or the file was cut)
 * is a SIGBUS; within a guard it becomes an answer.
 */
#ifndef GATHER_TABLE_GUARD_H
#define GATHER_TABLE_GUARD_H

#include "table/table_source.h"

/* Calls body(argument) and returns true; false where it touched a byte of a source's mapping that cannot be had: *source and *offset say
 * which. body is left where it stood then: it must hold no lock and no memory. */
bool gather_guard_run(const gather_table_source *sources, int32_t count, void (*body)(void *argument), void *argument,
                      int32_t *source, int64_t *offset);
/* Installs the handler, unless it is there. Before the first guard. */
GATHER_CHECKED gather_status gather_guard_install(gather_error *error);

#endif
