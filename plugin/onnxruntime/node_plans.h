/* SPDX-License-Identifier: MIT
 *
 * node_plans.h: the plans that a node keeps, one per combination of types and shapes.
 *
 * A few places of fixed size, allocated with the node: nothing grows with the shapes that arrive. A thread that runs a plan counts
 * itself as a user of its place; a place with users is not given to other shapes. No thread ever waits: where the places are busy,
 * the caller goes without a plan. Shapes get a plan when they come for the second time, for a plan costs more than one gather of a
 * few rows.
 */
#ifndef GATHER_PLUGIN_ORT_NODE_PLANS_H
#define GATHER_PLUGIN_ORT_NODE_PLANS_H

#include <stdatomic.h>

#include "gather/gather.h"
#include "options.h"

enum { ORT_PLAN_LENGTHS = 16 /* of data and indices together; tensors of higher ranks are gathered without a plan */ };

/* What decides a plan of a node. */
typedef struct ort_plan_key {
  int32_t data_type, index_type, data_rank, index_rank;
  int64_t lengths[ORT_PLAN_LENGTHS]; /* of data, then of indices */
} ort_plan_key;

/* A place for a plan. The fields below `hash` are written by the only thread that has set the owner's bit, and read by users. */
typedef struct ort_plan {
  atomic_uint users;          /* threads that run it; the highest bit: somebody changes it */
  atomic_uint_least64_t hash; /* of the key; 0 = empty */
  ort_plan_key key;
  gather_plan *plan;
  int64_t bytes; /* what a run moves: output and indices */
  int32_t out_rank;
  int64_t out_lengths[ORT_PLAN_LENGTHS];
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
ort_plan *gather_ort_plans_get(ort_plans *plans, const gather_op *op, const gather_options *options,
                               const gather_tensor *data, const gather_tensor *indices);
void gather_ort_plans_release(ort_plan *plan);

#endif
