/* SPDX-License-Identifier: MIT
 *
 * alloc.h: the only access to the heap. Tests replace malloc and free at link time and let every allocation fail once.
 */
#ifndef GATHER_BASE_ALLOC_H
#define GATHER_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* `bytes` bytes, zeroed; NULL if out of memory (also if the number does not fit size_t). gather_free frees them. From 4
 * MiB on the system is asked for huge pages. */
void *gather_alloc(int64_t bytes);
/* The same without the zeros, for memory that is written before it is read. */
void *gather_alloc_unset(int64_t bytes);
void gather_free(void *memory);

#endif
