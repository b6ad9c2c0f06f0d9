/* SPDX-License-Identifier: MIT
 *
 * nearest.h: the names of a file's tensors that are most like a name that is not there.
 */
#ifndef GATHER_FORMAT_NEAREST_H
#define GATHER_FORMAT_NEAREST_H

#include "format/format.h"

/* Writes "; the nearest are 'a', 'b', 'c'" into text, or "" where no name is anything like it. */
void gather_nearest_names(const gather_file *file, const char *name, char *text, size_t bytes);

#endif
