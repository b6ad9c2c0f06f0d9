/* SPDX-License-Identifier: MIT
 *
 * py_index_error.h: an index of a key that is out of range.
 */
#ifndef GATHER_PY_INDEX_ERROR_H
#define GATHER_PY_INDEX_ERROR_H

#include "py_core.h"

/* Raises the error, whose position, value, low, high, axis of x and bad_count are set, about this item of the key; returns -1. len: of
 * the axis. */
int gather_py_index_raise(gather_error *error, int32_t item, int64_t len);

#endif
