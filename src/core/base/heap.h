/* SPDX-License-Identifier: MIT
 *
 * heap.h: the heap with the interface of malloc, for libraries that take such functions (expat).
 */
#ifndef GATHER_BASE_HEAP_H
#define GATHER_BASE_HEAP_H

#include <stddef.h>

void *gather_heap_malloc(size_t bytes);
void *gather_heap_realloc(void *memory, size_t bytes);
void gather_heap_free(void *memory);

#endif
