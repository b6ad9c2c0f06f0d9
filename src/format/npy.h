/* SPDX-License-Identifier: MIT
 *
 * npy.h: a .npy that is part of a file, as in .npz.
 */
#ifndef GATHER_FORMAT_NPY_H
#define GATHER_FORMAT_NPY_H

#include "format/format.h"

/* Reads the .npy at [start, end) of the file; its tensor has no name. Byte positions in messages count from the
 * start of the file. */
GATHER_CHECKED gather_status gather_npy_read(gather_file *file, int64_t start, int64_t end, gather_file_tensor *tensor,
                                             gather_error *error);

#endif
