/* SPDX-License-Identifier: MIT
 *
 * npy.h: a .npy that is a part of a file, as in .npz.
 */
#ifndef GATHER_FORMAT_NPY_H
#define GATHER_FORMAT_NPY_H

#include "format/format.h"

/* Reads the .npy that the file has at [start, end); its tensor has no name. Bytes in messages count from the file's first one. */
GATHER_CHECKED gather_status gather_npy_read(gather_file *file, int64_t start, int64_t end, gather_file_tensor *tensor,
                                             gather_error *error);

#endif
