/* SPDX-License-Identifier: MIT
 *
 * tiny_model.h: a model without a file, for drawings and texts. Its data is a table of 3 rows of 2.
 *
 *     far    = Gather(table, 1 7)   out of range
 *     near   = Gather(table, 0 -1)
 *     free   = Gather(table, ids)   ids is an input of any length
 *     chain  = Gather(table, Own(ids))
 *     named  = Gather(x, 0 -1)      x is an input of N rows
 */
#ifndef GATHER_TESTS_SUPPORT_TINY_MODEL_H
#define GATHER_TESTS_SUPPORT_TINY_MODEL_H

#include "support/graph_text.h"

typedef graph_text tiny;

/* Opens it; `made` must outlive the model. */
static inline gather_status tiny_open(tiny *made, gather_model **model, gather_error *error) {
  graph_text_read(made, false,
                  "const table float32[3,2] = 0,1,2,3,4,5; const far_ids int64[2] = 1,7; const near_ids int64[2] = 0,-1;"
                  "in ids int64[K]; in x float32[N,2]; far: a = Gather(table, far_ids); near: b = Gather(table, near_ids);"
                  "free: c = Gather(table, ids); own = Own(ids); d = Gather(table, own);"
                  "na\x1bmed: e = Gather(x, near_ids)");
  return gather_model_from_graph(&made->file, model, error);
}

#endif
