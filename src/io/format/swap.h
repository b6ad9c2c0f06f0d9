/* SPDX-License-Identifier: MIT
 *
 * swap.h: swaps the byte order of elements.
 */
#ifndef GATHER_FORMAT_SWAP_H
#define GATHER_FORMAT_SWAP_H

#include "gather/file.h"

/* The unit to byte-swap for a file of little-endian elements: *unit_bytes 0 = none. GATHER_UNSUPPORTED for elements
 * that are only partly big-endian. */
GATHER_CHECKED gather_status gather_swap_unit(const gather_writing *what, int64_t *unit_bytes, gather_error *error);
/* Byte-swaps every unit in `bytes` bytes; unit_bytes 0 does nothing. */
void gather_swap(void *data, int64_t bytes, int64_t unit_bytes);

#endif
