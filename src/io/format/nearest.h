/* SPDX-License-Identifier: MIT
 *
 * nearest.h: names of a file's tensors for messages: the nearest to a name that does not exist, or the first ones.
 */
#ifndef GATHER_FORMAT_NEAREST_H
#define GATHER_FORMAT_NEAREST_H

#include "io/format/format.h"

/* Writes "; the nearest are 'a', 'b', 'c'" into text, or "" if no name is similar. */
void gather_nearest_names(const gather_file *file, const char *name, char *text, size_t bytes);

/* Writes the first tensors as "'a' float32 [3, 4], 'b' int64 [2] and 7 more" into text (at least 128 bytes), "" if
 * there are none. */
void gather_first_names(const gather_file *file, char *text, size_t bytes);

#endif
