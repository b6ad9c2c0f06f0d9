/* SPDX-License-Identifier: MIT
 *
 * ids.h: converts indices of any type, shape and policy to rows, block by block.
 */
#ifndef GATHER_TABLE_IDS_H
#define GATHER_TABLE_IDS_H

#include "core/plan/shared.h"

/* rows[j] = the row that index number first + j, a number or a tuple, means, counted in row-major order; GATHER_ROW_FILL if it is
 * to be filled. row_bytes: of a row that a tuple selects. The indices were validated. Shared ones are read once, from the caller's memory, and validated again: a
 * bad one that the policy does not repair is noted, and rows[j] is some row of the table. bad: may be NULL. */
void gather_ids_rows(const gather_plan *plan, int64_t row_bytes, const char *indices, int64_t first, int64_t count,
                     int64_t *rows, gather_bad *bad);

#endif
