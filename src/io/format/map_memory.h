/* SPDX-License-Identifier: MIT
 *
 * map_memory.h: the memory of a remote map: as large as the file, without pages until they are written. In guarded memory, bytes
 * that were not opened cannot be read: a test finds a reader that forgot to ask for them.
 */
#ifndef GATHER_FORMAT_MAP_MEMORY_H
#define GATHER_FORMAT_MAP_MEMORY_H

#include "gather/gather.h"

/* Reserves `bytes` zero bytes, at least 1; NULL if the system has no such address range (errno). */
uint8_t *gather_map_memory_create(int64_t bytes, bool guarded);
/* Before bytes are written: opens them. False: the system refused. */
bool gather_map_memory_open(uint8_t *memory, int64_t size, int64_t offset, int64_t bytes, bool guarded);
void gather_map_memory_destroy(uint8_t *memory, int64_t bytes, bool guarded);

#endif
