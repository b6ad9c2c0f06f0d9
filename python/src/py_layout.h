/* SPDX-License-Identifier: MIT
 *
 * py_layout.h: memory layouts of tensors, for which plans are made.
 */
#ifndef GATHER_PY_LAYOUT_H
#define GATHER_PY_LAYOUT_H

#include "py_core.h"

typedef struct gather_py_layout {
  gather_type type;
  int32_t rank;
  int64_t item_bytes;
  uint32_t swapped;
  int64_t shape[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
} gather_py_layout;

void gather_py_layout_read(gather_py_layout *layout, const gather_py_view *view);
int gather_py_is_like(const gather_py_layout *layout, const gather_py_view *view);
/* Whether a plan whose output has that shape can write there: plans write row-major. */
int gather_py_is_planned(int32_t rank, const int64_t *shape, const gather_py_view *out);

/* ---- plans of earlier calls (py_recall.c) ---- */

/* The plan of the last calls with small tensors of one layout. Many programs repeat one small call; half of its
 * time would be planning. */
typedef struct gather_py_recalled gather_py_recalled;

/* The plan of an earlier call like this one, whose tensors were read and not yet broadcast; NULL if there is none, or another
 * thread uses it. Return it with gather_py_leave. */
gather_py_recalled *gather_py_recall(const gather_py_call *call, const gather_py_tensors *tensors);
void gather_py_leave(gather_py_recalled *plan);
/* For a call that found none: non-NULL if the previous call was like it. It then contains the layouts. */
gather_py_recalled *gather_py_consider(const gather_py_call *call, const gather_py_tensors *tensors);
/* Makes the plan for the broadcast tensors and keeps it for the next call; on failure nothing is kept. */
void gather_py_decide(gather_py_recalled *plan, const gather_py_call *call, const gather_py_tensors *tensors);
void gather_py_forget(gather_py_recalled *plan);

/* Its plan, and the shape of its output. */
const gather_plan *gather_py_recalled_plan(const gather_py_recalled *plan, int32_t *rank, const int64_t **shape);

#endif
