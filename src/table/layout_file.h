/* SPDX-License-Identifier: MIT
 *
 * layout_file.h: tensors of files: where they are stored, and how quantised ones are.
 */
#ifndef GATHER_TABLE_LAYOUT_FILE_H
#define GATHER_TABLE_LAYOUT_FILE_H

#include "io/format/format.h"
#include "table/layout.h"

/* Where and how a tensor whose rows can be read (gather_file_rows_check) is stored. The file must outlive it. */
void gather_stored_find(const gather_file *file, const gather_file_tensor *tensor, gather_stored *stored);

/* Finds out how a tensor is quantised. codec: the name that the caller gave, perhaps with the bits of a code ("biased:4"); NULL or "":
 * the type and the names in the file tell. Returns GATHER_UNSUPPORTED (not quantised, or its rows cannot be decoded, with the reason),
 * GATHER_NAME_NOT_FOUND (a side tensor is missing), GATHER_TYPE_MISMATCH and GATHER_SHAPE_MISMATCH (a side tensor that does not fit),
 * GATHER_RANK_MISMATCH, GATHER_USAGE (no such codec, or not that of this tensor), GATHER_FILE_MALFORMED, GATHER_OVERFLOW. */
GATHER_CHECKED gather_status gather_layout_find(const gather_file *file, const gather_file_tensor *tensor, const char *codec,
                                                gather_layout *found, gather_error *error);

#endif
