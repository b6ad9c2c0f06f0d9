/* SPDX-License-Identifier: MIT
 *
 * swap.h: turning the byte order of elements round.
 */
#ifndef GATHER_FORMAT_SWAP_H
#define GATHER_FORMAT_SWAP_H

#include "gather/file.h"

/* What must be turned round so that a file of little-endian elements can be written: *unit_bytes 0 = nothing.
 * GATHER_UNSUPPORTED for elements that are big-endian in part. */
GATHER_CHECKED gather_status gather_swap_unit(const gather_writing *what, int64_t *unit_bytes, gather_error *error);
/* Turns every unit in `bytes` bytes round; 0 does nothing. */
void gather_swap(void *data, int64_t bytes, int64_t unit_bytes);

#endif
