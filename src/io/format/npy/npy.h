/* SPDX-License-Identifier: MIT
 *
 * npy.h: a .npy that is part of a file, as in .npz.
 */
#ifndef GATHER_FORMAT_NPY_H
#define GATHER_FORMAT_NPY_H

#include "io/format/format.h"

/* Whether bytes begin with the magic bytes; also those that end within them. */
bool gather_npy_begins(const uint8_t *bytes, int64_t size);
/* Reads the .npy at [start, end) of the file; its tensor has no name. Byte positions in messages count from the
 * start of the file. */
GATHER_CHECKED gather_status gather_npy_read(gather_file *file, int64_t start, int64_t end, gather_file_tensor *tensor,
                                             gather_error *error);

#endif
