/* SPDX-License-Identifier: MIT
 *
 * node_plans.h: the plans that a node keeps, one per combination of types and shapes.
 *
 * A few places of fixed size, allocated with the node: nothing grows with the shapes that arrive. No thread ever waits: where the
 * places are busy, the caller goes without a plan. The first half of the places belongs for good to the first shapes that come for
 * the second time, and reading them costs nothing. The others are given to newer shapes; a thread that runs such a plan counts itself
 * as a user of its place, and a place with users is not given away. Shapes get a plan when they come for the second time, for a plan
 * costs more than one gather of a few rows.
 */
#ifndef GATHER_PLUGIN_ORT_NODE_PLANS_H
#define GATHER_PLUGIN_ORT_NODE_PLANS_H

#include <stdatomic.h>

#include "gather/gather.h"
#include "options.h"

enum { ORT_PLAN_LENGTHS = 16 /* the highest rank; tensors of higher ranks are gathered without a plan */ };

/* What decides a plan of a node. */
typedef struct ort_plan_key {
  uint64_t hash;
  uint8_t data_type, index_type, data_rank, index_rank;
} ort_plan_key;

/* A place for a plan. The fields behind `hash` are written by the only thread that has set the owner's bit. */
typedef struct ort_plan {
  atomic_uint_least64_t hash; /* of the key; 0 = empty */
  atomic_uint users;          /* threads that run it; the highest bit: somebody changes it */
  bool fixed;                 /* never given away: users are not counted */
  uint8_t out_rank;
  ort_plan_key key;
  gather_plan *plan;
  int64_t bytes;                         /* what a run moves: output and indices */
  int64_t lengths[3 * ORT_PLAN_LENGTHS]; /* of data, indices and output, each behind the one before */
} ort_plan;

enum { ORT_SEEN = 16 };

typedef struct ort_plans {
  int32_t count;
  atomic_uint next;                     /* the place that is given away next */
  atomic_uint_least64_t seen[ORT_SEEN]; /* hashes of keys that came once */
  ort_plan places[ORT_MOST_PLANS];
} ort_plans;

void gather_ort_plans_init(ort_plans *plans, int32_t count);
void gather_ort_plans_free(ort_plans *plans);

/* The plan for these tensors, made now if they came before; NULL if there is none. It stays until gather_ort_plans_release. */
ort_plan *gather_ort_plans_get(ort_plans *plans, const gather_op *op, const gather_options *options, const gather_tensor *data,
                               const gather_tensor *indices);
void gather_ort_plans_release(ort_plan *plan);
/* The lengths of its output. */
static inline const int64_t *gather_ort_plan_shape(const ort_plan *plan) {
  return plan->lengths + plan->key.data_rank + plan->key.index_rank;
}

#endif
