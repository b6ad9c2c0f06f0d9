/* SPDX-License-Identifier: MIT
 *
 * windows.c: StableHLO's scatter where windows lie partly outside of the destination: its document skips each element that is outside,
 * and writes the others. The nest of a plan has whole windows only. So, where an index is out of range, each element (or whole rows of
 * elements, where windows have them) becomes an update of its own, with a tuple of coordinates that is outside where it is to be skipped.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/op/family.h"
#include "core/plan/plan_indices.h"
#include "core/scatter/scatter_plan.h"

/* ---- the updates of elements */

/* What is scattered instead: rows of the last `whole` dimensions, which every window has whole, by tuples of `tuple_len` numbers. */
typedef struct {
  const gather_scattering *s;
  int32_t rank, tuple_len; /* of the tuples: the updates' dimensions without `whole`; */
  int64_t count;
  int64_t shape[GATHER_MAX_RANK];
  int64_t *tuples;
} elements;

static void measure(elements *e, const gather_scattering *s) {
  const gather_scatter_plan *plan = s->given;
  const gather_windows *w = &plan->windows;
  const gather_plan *nest = &plan->nest;
  int32_t whole = 0;
  for (int32_t d = plan->rank - 1, o = nest->out_rank - 1; d >= 0 && o >= 0; d--, o--, whole++)
    if (w->number[d] >= 0 || w->paired[d] >= 0 || w->window[d] != o || nest->out_shape[o] != plan->shape[d]) break;
  e->s = s, e->rank = nest->out_rank - whole, e->tuple_len = plan->rank - whole, e->count = 1;
  for (int32_t o = 0; o < e->rank; o++) e->shape[o] = nest->out_shape[o], e->count *= nest->out_shape[o];
  e->shape[e->rank] = e->tuple_len;
}

/* The place in the nest's indices of a number, 0 for the first of a tuple, of the update with these coordinates, in bytes. */
static int64_t index_offset(const gather_scattering *s, const int64_t *at, int32_t rank, int32_t number) {
  const gather_plan *nest = &s->given->nest;
  int64_t offset = number * (nest->tuple_dim == GATHER_TUPLE_DIM_NONE ? 0 : nest->index_strides[nest->index_rank - 1]);
  for (int32_t o = 0; o < rank; o++)
    if (s->given->windows.from[o] >= 0 && at[o] > 0) offset += at[o] * nest->index_strides[s->given->windows.from[o]];
  return offset;
}

/* Where the window begins along dimension d. Returns false if no element of it can be inside. */
static bool find_start(const gather_scattering *s, const int64_t *at, int32_t rank, int32_t d, int64_t *start) {
  const gather_index_rule *rule = &s->given->nest.rule;
  const gather_windows *w = &s->given->windows;
  *start = 0;
  if (w->number[d] < 0) return true;
  *start = gather_index_value(rule, s->e.indices + index_offset(s, at, rank, w->number[d]));
  if (rule->type > GATHER_TYPE_INT64) return *start >= 0; /* else an unsigned number above all lengths */
  const int64_t places = s->given->shape[d] - (w->window[d] < 0 ? 1 : s->given->nest.out_shape[w->window[d]]) + 1;
  if (rule->negative && *start < 0 && *start >= -places) *start += places;
  return true;
}

/* The tuple of one update: -1 where it is outside. */
static void set_tuple(const elements *e, const int64_t *at, int64_t *tuple) {
  const gather_windows *w = &e->s->given->windows;
  for (int32_t d = 0; d < e->tuple_len; d++) {
    int64_t start, index = w->window[d] >= 0 ? at[w->window[d]] : 0;
    const bool possible = find_start(e->s, at, e->rank, d, &start);
    for (int32_t o = 0; w->paired[d] >= 0 && o < e->rank; o++)
      if (w->from[o] == w->paired[d]) index = at[o];
    if (!possible || !gather_add(start, index, &index) || index >= e->s->given->shape[d]) index = -1;
    tuple[d] = index < 0 ? -1 : index;
  }
}

static void set_tuples(const elements *e) {
  int64_t at[GATHER_MAX_RANK] = {0};
  for (int64_t i = 0; i < e->count; i++) {
    set_tuple(e, at, e->tuples + i * e->tuple_len);
    for (int32_t o = e->rank - 1; o >= 0 && ++at[o] == e->shape[o]; o--) at[o] = 0;
  }
}

/* ---- the scatter of elements */

static gather_status lower(const elements *e, const gather_scatter_run *run, gather_scatter_plan *plan, gather_error *error) {
  const gather_scatter_plan *given = e->s->plan;
  const gather_plan *nest = &given->nest;
  const gather_op *op = gather_scatter_op("scatter_nd");
  gather_scatter_options options = given->options;
  const gather_family_rules *rules;
  gather_tensor data = {.type = given->type, .rank = given->rank, .item_bytes = given->item_bytes, .shape = given->shape};
  gather_tensor out = data, updates = data,
                indices = {.data = e->tuples, .type = GATHER_TYPE_INT64, .rank = e->rank + 1, .shape = e->shape};
  data.strides = given->data_strides, data.packed_offset = given->data_offset;
  out.strides = given->out_strides, out.packed_offset = given->out_offset;
  updates.rank = nest->out_rank, updates.shape = nest->out_shape;
  updates.strides = given->windows.updates_strides, updates.packed_offset = given->windows.updates_offset;
  if (run) updates.data = (void *)(uintptr_t)run->updates;
  options.on_bad = GATHER_ON_BAD_SKIP, options.negative = GATHER_NEGATIVE_OFF, options.bad_count = NULL;
  if (!options.accumulate) options.accumulate = given->wide ? GATHER_ACCUMULATE_HALVES : GATHER_ACCUMULATE_STEPS;
  GATHER_TRY(gather_family_find_written(op, &rules, error));
  return gather_scatter_lower(op, rules, &data, &indices, &updates, &out, &options, plan, error);
}

/* The number of an update's index, in row-major order. The nest's indices are dense where repeated ones are reported. */
static int64_t index_number(const elements *e, const int64_t *at) {
  return index_offset(e->s, at, e->rank, 0) / (gather_type_row(e->s->given->nest.rule.type)->bits / 8);
}

/* Runs the scatter of elements, sorts its updates to keep it, or only checks it. */
static gather_status execute(const elements *e, const gather_scatter_run *run, bool keeps, gather_scatter_plan *plan, gather_error *error) {
  gather_error own;
  gather_scatter_run inner = run ? *run : (gather_scatter_run)GATHER_SCATTER_RUN_INIT;
  gather_status status;
  int64_t bad;
  inner.indices = e->tuples, inner.bad_count = NULL;
  GATHER_TRY(lower(e, run, plan, error));
  if (run)
    status = gather_scatter_execute(plan, &inner, &own);
  else if (keeps)
    status = gather_scatter_sort(plan, e->tuples, e->s->executor, true, &plan->sorted, &bad, &own);
  else
    status = gather_scatter_check_indices(plan, e->tuples, e->s->executor, &bad, &own);
  plan->kept = keeps;
  if (status == GATHER_INDEX_REPEATED)
    return gather_plan_blame_repeated(&e->s->given->nest, e->s->e.indices, index_number(e, own.position),
                                      index_number(e, own.first_position), error);
  if (status != GATHER_OK && error) *error = own;
  return status;
}

gather_status gather_windows_scatter(const gather_scattering *s, const gather_scatter_run *run, gather_scatter_plan **kept,
                                     gather_error *error) {
  elements e;
  int64_t bytes;
  measure(&e, s);
  const bool fits = gather_mul(e.count, e.tuple_len * (int64_t)sizeof *e.tuples, &bytes);
  gather_scatter_plan *plan = gather_alloc(sizeof *plan);
  e.tuples = fits ? gather_alloc_unset(bytes) : NULL;
  gather_status status = GATHER_OUT_OF_MEMORY;
  if (plan && e.tuples) {
    set_tuples(&e);
    status = execute(&e, run, kept != NULL, plan, error);
  } else {
    status = gather_fail(error, status, "out of memory for windows that are partly outside");
  }
  gather_free(e.tuples);
  if (kept && status == GATHER_OK)
    *kept = plan;
  else
    gather_free(plan);
  return status;
}
