/* SPDX-License-Identifier: MIT
 *
 * ids.h: the rows that indices of any type, shape and policy mean, block by block.
 */
#ifndef GATHER_TABLE_IDS_H
#define GATHER_TABLE_IDS_H

#include "plan/shared.h"

/* rows[j] = the row that index number first + j means, counted in row-major order; GATHER_ROW_FILL where it is to be filled. The
 * indices were checked. Those that others may write are read once, from the caller's memory, and checked again: where the policy
 * gives a bad one no row, it is noted, and rows[j] is some row of the table. bad: may be NULL. */
void gather_ids_rows(const gather_plan *plan, const char *indices, int64_t first, int64_t count, int64_t *rows,
                     gather_bad *bad);

#endif
