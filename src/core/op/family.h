/* SPDX-License-Identifier: MIT
 *
 * family.h: what an operator family defines (one file family_*.c each, listed in include/gather/family.def), and the steps that the
 * families share.
 */
#ifndef GATHER_OP_FAMILY_H
#define GATHER_OP_FAMILY_H

#include <inttypes.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/op/op.h"

/* The steps of all three tensors, in the unit of the nest. */
typedef struct gather_steps {
  int64_t data[GATHER_MAX_RANK], out[GATHER_MAX_RANK];
  const int64_t *indices; /* the plan's */
} gather_steps;

/* Everything that depends on the family. A family's file sets all fields in this order: the compiler reports a missing
 * one. Shapes and lengths of tensors were checked before. `options` has every field set. */
struct gather_family_rules {
  /* Checks the ranks and resolves the attributes. A rank or tuple_len of -1 is unknown. An attribute that cannot be resolved becomes -1,
   * but never if `definite` is set: then all three are known. */
  gather_status (*attributes)(const gather_op *op, int32_t data_rank, int32_t indices_rank, int64_t tuple_len,
                              const gather_options *options, bool definite, gather_attributes *found, gather_error *error);
  /* Resolves all attributes, checks the shapes, and appends each length of the output to the geometry. */
  gather_status (*shape)(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                         gather_geometry *g, gather_error *error);
  /* The same for lengths that are intervals and ranks that may be unknown. The rank of `out` is -1, and remains so if
   * nothing is known. */
  gather_status (*infer)(const gather_op *op, const gather_shape *data, const gather_shape *indices, const gather_attributes *a,
                         gather_shape *out, gather_error *error);
  /* The source of each dimension of the output, for ranks and attributes that fit. Returns the rank of the output. */
  int32_t (*sources)(const gather_op *op, int32_t data_rank, int32_t indices_rank, const gather_attributes *a, gather_dim_source *sources);
  /* The number of a tuple that selects on dimension d of data (0 if indices are not tuples), or -1 if none does. */
  int32_t (*column)(const gather_attributes *a, int32_t d);
  /* Writes the nest: one loop per dimension of the output, and what an index selects. */
  void (*nest)(gather_plan *plan, const gather_geometry *g, const gather_tensor *data, const gather_tensor *indices, const gather_steps *s);
};

#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) extern const gather_family_rules gather_family_##file;
#include "gather/family.def"
#undef GATHER_FAMILY

/* The rules of the operator's family. Returns GATHER_USAGE for an unknown family, GATHER_UNSUPPORTED for one that has a separate
 * function. */
GATHER_INLINE GATHER_CHECKED gather_status gather_family_find(const gather_op *op, const gather_family_rules **rules, gather_error *error) {
  *rules = NULL;
  switch (op->family) {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) \
  case GATHER_FAMILY_##ENUM:                                \
    *rules = &gather_family_##file;                         \
    return GATHER_OK;
#define GATHER_FAMILY_OWN(ENUM, number, name, function) case GATHER_FAMILY_##ENUM:
#include "gather/family.def"
#undef GATHER_FAMILY
    return gather_fail(error, GATHER_UNSUPPORTED, "%s has a separate function: call %s", op->name, gather_family_get(op->family)->function);
  }
  return gather_fail(error, GATHER_USAGE, "the operator's family is %d, which is not a family", (int)op->family);
}

#if !defined(GATHER_ONLY_GATHER)
/* The rules of an operator that writes: those of the family whose sides it exchanges. Returns GATHER_USAGE for any other family. */
GATHER_INLINE GATHER_CHECKED gather_status gather_family_find_written(const gather_op *op, const gather_family_rules **rules,
                                                                      gather_error *error) {
  const gather_family_info *info = gather_family_get(op->family);
  *rules = NULL;
  switch (op->family) {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) case GATHER_FAMILY_##ENUM:
#define GATHER_FAMILY_OWN(ENUM, number, name, function) case GATHER_FAMILY_##ENUM:
#define GATHER_FAMILY_WRITES(ENUM, number, file, name)
#include "gather/family.def"
#undef GATHER_FAMILY
    return gather_fail(error, GATHER_USAGE, "%s does not write: call %s", op->name, info->function ? info->function : "gather_apply");
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows)
#define GATHER_FAMILY_OWN(ENUM, number, name, function)
#define GATHER_FAMILY_WRITES(ENUM, number, file, name) \
  case GATHER_FAMILY_##ENUM:                           \
    *rules = &gather_family_##file;                    \
    return GATHER_OK;
#include "gather/family.def"
#undef GATHER_FAMILY
  }
  return gather_fail(error, GATHER_USAGE, "the operator's family is %d, which is not a family", (int)op->family);
}
#endif

/* ---- steps for ranks and attributes */

/* Ranks: data has at least one dimension. */
GATHER_INLINE GATHER_CHECKED gather_status gather_data_rank_check(const gather_op *op, int32_t data_rank, gather_error *error) {
  if (data_rank != 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "data is 0-D; %s needs a rank of at least 1", op->name);
}

/* gather_attributes_find without its fast path. */
GATHER_CHECKED gather_status gather_attributes_resolve(const gather_op *op, int32_t data_rank, int32_t indices_rank,
                                                       const gather_options *options, bool definite, gather_attributes *found,
                                                       gather_error *error);
/* `attributes` of a family with the attributes axis and batch_dims, after its check of the ranks. */
GATHER_INLINE GATHER_CHECKED gather_status gather_attributes_find(const gather_op *op, int32_t data_rank, int32_t indices_rank,
                                                                  const gather_options *options, bool definite, gather_attributes *found,
                                                                  gather_error *error) {
  /* Fast path: each branch matters in small calls. */
  if (definite && options->batch_dims == 0 && options->axis >= 0 && options->axis < data_rank) {
    found->axis = (int32_t)options->axis, found->batch_dims = 0;
    return GATHER_OK;
  }
  return gather_attributes_resolve(op, data_rank, indices_rank, options, definite, found, error);
}

/* ---- steps for shapes */

/* The output's rank is too high. */
GATHER_INLINE GATHER_CHECKED gather_status gather_shape_full(gather_error *error) {
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "the output would have a rank above %d", GATHER_MAX_RANK);
}
/* The loops of a nest and the columns of its tuples share one array (plan_indices.h), so together they are limited. */
GATHER_INLINE GATHER_CHECKED gather_status gather_tuples_room(int32_t loops, int64_t tuple_len, gather_error *error) {
  if (tuple_len < 2 || loops + tuple_len <= GATHER_MAX_RANK) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                           "the %" PRId32 " dimensions of the gather and the %" PRId64 " numbers of a tuple are more than %d together",
                           loops, tuple_len, GATHER_MAX_RANK);
}
/* Appends a length of the output. */
GATHER_INLINE GATHER_CHECKED gather_status gather_shape_push(gather_geometry *g, int64_t len, gather_error *error) {
  if (g->rank >= GATHER_MAX_RANK) return gather_shape_full(error);
  g->shape[g->rank++] = len;
  return GATHER_OK;
}
/* Fails for dimension d. rule: the violated rule. */
gather_status gather_shape_mismatch(gather_error *error, int32_t d, const gather_tensor *data, const gather_tensor *indices,
                                    const char *rule);

/* ---- steps for inferred shapes */

/* An unknown length. */
#define GATHER_LEN_UNKNOWN ((gather_dim){0, GATHER_DIM_UNBOUNDED, NULL})
/* Appends a length of the output. */
GATHER_INLINE GATHER_CHECKED gather_status gather_infer_push(gather_shape *out, const gather_dim *dim, gather_error *error) {
  if (out->rank >= GATHER_MAX_RANK) return gather_shape_full(error);
  out->dims[out->rank++] = *dim;
  return GATHER_OK;
}
/* The intersection of two lengths that must be equal. Returns false if it is empty. A symbol of either one names both. */
GATHER_INLINE bool gather_dims_meet(const gather_dim *a, const gather_dim *b, gather_dim *both) {
  both->min = a->min > b->min ? a->min : b->min;
  both->max = a->max < b->max ? a->max : b->max;
  both->symbol = a->symbol ? a->symbol : b->symbol;
  return both->min <= both->max;
}

/* ---- steps for sources */

/* `column` if the numbers of an index select on the dimensions from the axis on. */
GATHER_INLINE int32_t gather_column_along_axis(const gather_attributes *a, int32_t d) { return d == a->axis ? 0 : -1; }
GATHER_INLINE int32_t gather_column_of_tuple(const gather_attributes *a, int32_t d) {
  return d >= a->axis && d < a->axis + a->tuple_len ? d - a->axis : -1;
}

/* ---- steps for nests */

/* Writes a loop inside the previous ones, and returns the place of the next one. The first one goes to plan->loops. The place is a
 * pointer, not a count in the plan: small calls would wait for the store. */
GATHER_INLINE gather_loop *gather_nest_loop(gather_loop *at, int64_t len, int64_t data, int64_t index, int64_t out) {
  at->len = len, at->data = data, at->index = index, at->out = out;
  return at + 1;
}

/* After the last loop. Next, gather_plan_select (plan.h) sets what an index selects, or gather_plan_select_tuples (plan_indices.h) if it is
 * a tuple. */
GATHER_INLINE void gather_nest_finish(gather_plan *plan, const gather_loop *end) { plan->loop_count = (int32_t)(end - plan->loops); }

#endif
