/* SPDX-License-Identifier: MIT
 *
 * plan.h: the narrow waist. An operator becomes a nest of loops (op/lower.c); the nest is simplified and gets its kernel
 * (build.c), is checked and run (run.c) and printed (print.c). Nothing here knows what an operator means.
 *
 * For every element of the nest, with k running over the loops:
 *     out[sum k * out] = data[sum k * data + row(indices[sum k * index]) * axis_step]
 * Where an index is a tuple of numbers, row() is the sum of what each of them selects (plan_indices.h).
 *
 * A plan that writes has the same nest with the sides exchanged: `data`, the indexed side, is written by what `out`, the plain side, has.
 * Its updates are the rows in the order of the nest, which is row-major. core/scatter runs it; here it is simplified and its indices are
 * checked.
 */
#ifndef GATHER_PLAN_PLAN_H
#define GATHER_PLAN_PLAN_H

#include "core/base/compiler.h"
#include "core/base/tensor.h"
#include "core/kernel/bits.h"
#include "core/kernel/indices.h"
#include "core/kernel/kernel.h"
#include "gather/gather.h"

/* One loop: its length, and the step of each tensor. Steps of data and out are in bytes, for packed types in elements. */
typedef struct gather_loop {
  int64_t len;
  int64_t data, index, out;
} gather_loop;

/* The order of indices. Of a variant: the order that it is for; of a run: the order that was found. */
typedef enum gather_order {
  GATHER_ORDER_UNKNOWN = 0, /* variants for any order; not sampled */
  GATHER_ORDER_RANDOM,
  GATHER_ORDER_SORTED, /* none below the one before */
  GATHER_ORDER_NEAR,   /* rows near the previous one, or repeated rows: they are in a cache */
  GATHER_ORDER_RUNS    /* most are the previous one plus 1 */
} gather_order;
enum { GATHER_ORDERS = GATHER_ORDER_RUNS + 1 };

/* One variant of running a plan whose indices are in range. All variants give the same bytes. */
typedef struct gather_variant {
  const char *kernel, *isa;              /* names for the plan's line */
  gather_rows_fn rows, rows_resolved;    /* for unchanged indices; for row numbers of 8 bytes */
  gather_checked_fn checked;             /* for indices that are validated as rows move; NULL = none */
  gather_rows_fn rows_bytes;             /* for row numbers of one byte; NULL = none */
  gather_pick_fn pick;                   /* instead, for packed elements */
  int64_t prefetch_rows, prefetch_lines; /* prefetch distance, and lines of each row; 0 = no prefetching */
  bool nontemporal;                      /* whole lines of the output are written with non-temporal stores */
  gather_order when;                     /* only tried on indices in this order */
  bool radix;                            /* radix partitioning (calibrate.c); its kernels are for the other rows */
} gather_variant;
enum { GATHER_MAX_VARIANTS = 12 /* more than variants.c adds for any plan */ };

/* Results of calibration runs (execution.h). */
typedef struct gather_winners gather_winners;

/* What gathers of a few rows read of a plan, on adjacent lines. */
/* From 64 rows on the decisions of a run are a small share of the time. Three columns let the struct fill whole lines,
 * and are as many as pictures have axes to select on. */
enum { GATHER_FEW_ROWS = 64, GATHER_FEW_COLUMNS = 3 };
typedef struct gather_few {
  int32_t count; /* rows; 0: this plan has too many, or is none of these */
  bool wide;     /* the indices have 8 bytes, else 4 */
  bool negative; /* they may count from the end */
  bool dense;    /* one number each, without gaps, in one loop */
  int8_t columns;
  int64_t row_bytes;
  gather_loop loop, outer; /* the outer one has the length 1 if there is none */
  struct {
    int64_t len, step, index; /* of the axis; in data; of its numbers in the indices */
  } axes[GATHER_FEW_COLUMNS];
  int64_t data_offset, out_offset;
  gather_extent data, indices, out;
} gather_few;

struct gather_plan {
  gather_few few;

  /* The operator, for errors and the plan's line. */
  const gather_op *op;
  gather_type type;
  int32_t axis;
  int32_t out_rank;
  int64_t out_shape[GATHER_MAX_RANK];
  int64_t out_len; /* elements; those of opaque types may have no bytes */

  /* The indices: how they are read and checked. */
  gather_index_rule rule;
  int32_t index_rank;
  int64_t index_shape[GATHER_MAX_RANK], index_strides[GATHER_MAX_RANK];
  int64_t index_count;
  /* The dimension of the caller's indices that is the last one of index_shape: the numbers of the tuples. -1: it is theirs too. */
  int32_t tuple_dim;
  bool has_axes; /* column c selects on axis column_axes[c]; else on axis + c */
  int8_t column_axes[GATHER_MAX_RANK];
  int32_t column_count; /* numbers in each index: 1, or those of a tuple, which are the last dimension of index_shape */
  bool index_dense;     /* row-major without gaps */
  /* Others may write the indices' memory: then the nest walks a private copy (plan_indices.h), dense and in this machine's
   * byte order, and the fields above describe the copy. These describe the caller's memory. */
  bool shared, shared_dense, shared_swapped; /* shared is also set where rows have no index to read (empty tuples) */
  int64_t shared_strides[GATHER_MAX_RANK];

  /* The nest, outermost loop first. build.c leaves at least one loop unless there are no rows. */
  int32_t loop_count;
  gather_loop loops[GATHER_MAX_RANK]; /* several columns are at the end of this array (plan_indices.h) */
  int64_t axis_step;
  bool writes;       /* the indexed side is written, in the order of the loops */
  int64_t row_count; /* product of all loops */
  int64_t row_bytes; /* of one row; packed: elements */

  /* Packed types whose rows do not start and end on whole groups move element by element. */
  bool packed;
  gather_bit_layout layout;
  int64_t data_offset, out_offset; /* number of the first element */
  bool out_dense;                  /* row-major from the start of a byte: tasks share no group, and the last one clears the padding */

  /* The extents of the tensors: an output that overlaps an input is refused when the pointers are known. */
  gather_extent data_extent, index_extent, out_extent;

  /* What indices out of range become: `fill_bytes` bytes, repeated over a row (NULL = zeros), or one packed value. */
  const void *fill;
  int64_t fill_bytes;
  unsigned char fill_group[4];
  unsigned fill_value;

  /* The variants; the first is the default. */
  gather_variant variants[GATHER_MAX_VARIANTS];
  int32_t variant_count;
  int32_t radix_variant;    /* number of the variant with radix partitioning; -1 = none */
  bool takes_bytes;         /* the variants accept indices of one byte */
  int64_t cache_bytes;      /* size of a core's private cache that this plan assumes */
  bool out_of_cache;        /* rows are out of this cache */
  bool linear;              /* row number i goes to out + out_offset + i * row_bytes */
  bool in_order;            /* row number i is named by index number i, dense in memory */
  int64_t row_cost;         /* cost of moving a row, in bytes of a plain copy */
  int64_t calibration_rows; /* from this many rows on, a calibration run pays */
  gather_winners *winners;  /* results of the calibration runs of a kept plan; NULL: it runs once */
};

/* plan->tuple_dim where the operator has tuples, but each is a single number without a dimension of its own. */
#define GATHER_TUPLE_DIM_NONE (-2)

/* Sets what an index selects: a row of an axis of this length, with this step in data. */
GATHER_INLINE void gather_plan_select(gather_plan *plan, int64_t axis_len, int64_t axis_step) {
  plan->rule.axis_len = axis_len, plan->axis_step = axis_step;
  plan->column_count = 1, plan->has_axes = false;
}

/* Simplifies the nest that op/lower.c wrote. Then gather_plan_execute_few can run it, if it has few rows. */
void gather_plan_simplify(gather_plan *plan);
/* After that, for all others: chooses the kernels. */
void gather_plan_choose(gather_plan *plan);

/* Runs a gather of a few rows, for which no kernels need be chosen. Returns false, having written nothing, for all others, and where an
 * index is out of range. */
bool gather_plan_execute_few(const gather_plan *plan, const gather_run *run);
/* Validates the indices and moves the rows. Validation may be deferred where the caller cannot tell. */
gather_status gather_plan_execute(const gather_plan *plan, const gather_run *run, gather_error *error);
/* Refuses an output that overlaps an input (GATHER_USAGE). */
gather_status gather_plan_check_overlap(const gather_plan *plan, const gather_run *run, gather_error *error);
/* Whether the policy repairs every index out of range. Clamp and wrap cannot repair on an axis of length 0. */
GATHER_INLINE bool gather_plan_can_repair(const gather_plan *plan) {
  switch (plan->rule.on_bad) {
    case GATHER_ON_BAD_ERROR:
      return false;
    case GATHER_ON_BAD_CLAMP:
    case GATHER_ON_BAD_WRAP:
      return plan->rule.axis_len > 0;
    default:
      return true;
  }
}
/* The state that is assumed for indices without validation. */
GATHER_INLINE gather_index_state gather_indices_unchecked(const gather_index_rule *rule) {
  return rule->negative && rule->type <= GATHER_TYPE_INT64 ? GATHER_INDICES_NEGATIVE : GATHER_INDICES_PLAIN;
}
/* Fails with GATHER_INDEX_OUT_OF_RANGE: the first index out of range in row-major order (of a policy that repairs, the first one that
 * it cannot repair), its value, and how many are out of range. */
gather_status gather_plan_blame(const gather_plan *plan, gather_error *error, int64_t position, int64_t value, int64_t bad);
/* Fails with GATHER_INDEX_REPEATED: index number `position`, in row-major order, selects the same place as the earlier one, `first`; of
 * tuples the numbers of their first components. indices: dense. */
gather_status gather_plan_blame_repeated(const gather_plan *plan, const char *indices, int64_t position, int64_t first,
                                         gather_error *error);
/* Only validates. shared: others may write the indices, each of which is read once. *bad: how many are out of range and will be repaired;
 * *state: the worst state of an index that nobody writes. */
gather_status gather_plan_check_indices(const gather_plan *plan, const void *indices, bool shared, const gather_executor *executor,
                                        gather_index_state *state, int64_t *bad, gather_error *error);

/* For a caller that copies rows itself, and that may leave a run by a jump: runs of the plan allocate no memory from now on (no radix
 * partitioning). Returns the variant whose kernel copies resolved rows of so many bytes, in any order, to ordinary memory; NULL: none. */
GATHER_INLINE const gather_variant *gather_plan_restrict(gather_plan *plan, int64_t row_bytes) {
  plan->radix_variant = -1;
  for (int32_t i = 0; i < plan->variant_count && !plan->packed && plan->row_bytes == row_bytes; i++)
    if (!plan->variants[i].nontemporal && !plan->variants[i].radix && plan->variants[i].when == GATHER_ORDER_UNKNOWN)
      return &plan->variants[i];
  return NULL;
}

#endif
