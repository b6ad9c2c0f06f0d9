/* SPDX-License-Identifier: MIT
 *
 * ids.h: the rows that indices of any type, shape and policy mean, block by block.
 */
#ifndef GATHER_TABLE_IDS_H
#define GATHER_TABLE_IDS_H

#include "plan/plan.h"

/* rows[j] = the row that index number first + j means, counted in row-major order; GATHER_ROW_FILL where it is to be filled. The
 * indices were checked. */
void gather_ids_rows(const gather_plan *plan, const char *indices, int64_t first, int64_t count, int64_t *rows);

#endif
