/* SPDX-License-Identifier: MIT
 *
 * scatter.h: scatters, gradients of gathers, and embedding bags. Since 0.2.
 *
 *     ONNX Scatter 9, ScatterElements 11, 13, 16, 18, ScatterND 11, 13, 16, 18 and TensorScatter 24; OpenVINO ScatterUpdate 3,
 *     ScatterElementsUpdate 3, 12, ScatterNDUpdate 3, 15, EmbeddingBagOffsetsSum 3, EmbeddingBagOffsets 15, EmbeddingBagPackedSum 3,
 *     EmbeddingBagPacked 15 and EmbeddingSegmentsSum 3; StableHLO scatter.
 *
 * I want to ...
 *   write rows, elements or tuples by index      gather_scatter, gather_scatter_elements, gather_scatter_nd; by other rules
 *                                                gather_scatter_apply
 *   do so often, for shapes known in advance     gather_scatter_plan_create; by the same indices gather_scatter_plan_keep
 *   only check indices                           gather_scatter_plan_check
 *   compute the gradient of a gather             gather_backward; only the rows that it touches: gather_sparse_create
 *   sum rows of equal ids                        gather_unique_rows
 *   sum rows of bags                             gather_embedding_bag
 *   write a cache of keys and values             gather_tensor_scatter
 *
 * The meaning of a scatter is a serial loop over the updates in row-major order:
 *
 *     out = copy of data
 *     for each update:   out[its place] = reduce(out[its place], update)
 *
 * The result is that of this loop, bit for bit, for any number of threads and on any CPU. Of several updates of one element the last is
 * left, and sums are added in this order. Only one thing is not guaranteed: which NaN results from a sum of NaNs. All indices are validated
 * before anything is written. A minimum or maximum with a NaN is NaN. Integers wrap around. A mean of integers is rounded down. For bool,
 * sum and maximum are "or", product and minimum "and", difference "exclusive or".
 *
 * The rules at the beginning of gather.h apply. Rows of tables in files (table.h) are not written.
 */
#ifndef GATHER_SCATTER_H
#define GATHER_SCATTER_H

#include "gather/gather.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1 what an update does -------------------------------------------------------------------------------------------- */

/* The numbers never change their meaning. */
typedef enum gather_reduction {
  GATHER_REDUCTION_NONE = 0, /* the update replaces the element */
  GATHER_REDUCTION_ADD = 1,
  GATHER_REDUCTION_SUB = 2,
  GATHER_REDUCTION_MUL = 3,
  GATHER_REDUCTION_MIN = 4,
  GATHER_REDUCTION_MAX = 5,
  GATHER_REDUCTION_MEAN = 6 /* of the updates and, unless `neutral` is set, the element itself */
} gather_reduction;

/* "none", "add", "sub", "mul", "min", "max", "mean", or NULL for any other number. */
GATHER_API const char *gather_reduction_name(gather_reduction reduction);
/* The reduction of a name of any document: those above, "sum", "prod" and "amin", "amax". Returns false for any other. */
GATHER_API bool gather_reduction_parse(const char *name, gather_reduction *reduction);

/* How sums, differences, products and means are computed. Minimum and maximum are exact. */
typedef enum gather_accumulate {
  GATHER_ACCUMULATE_DEFAULT = 0, /* as the operator's document says; without one, and for gradients and bags: halves */
  GATHER_ACCUMULATE_STEPS,       /* in the element's type, rounded at each step */
  GATHER_ACCUMULATE_HALVES,      /* float16 and bfloat16 in float32, rounded once at the end; other types at each step */
  GATHER_ACCUMULATE_WIDE         /* the same, and float32 in float64 */
} gather_accumulate;

/* Whether a type supports a reduction. Every type supports NONE. Bool, integers of whole bytes, float16, bfloat16, float32 and float64
 * support all reductions, except that bool has no mean. Complex numbers support ADD, SUB, MUL and MEAN. */
GATHER_API bool gather_reduction_supports(gather_reduction reduction, gather_type type);

/* Attributes and policies of one scatter, gradient or bag. Initialise with GATHER_SCATTER_OPTIONS_INIT. NULL in a call means the
 * defaults. */
typedef struct gather_scatter_options {
  size_t size;                /* sizeof(gather_scatter_options) */
  int64_t axis;               /* as gather_options.axis */
  int64_t batch_dims;         /* gradients only: as gather_options.batch_dims */
  gather_reduction reduction; /* default: NONE; of gradients always ADD */
  gather_accumulate accumulate;
  gather_on_bad on_bad;     /* as gather_options.on_bad; GATHER_ON_BAD_ZERO and GATHER_ON_BAD_SKIP: no element is written */
  gather_negative negative; /* default: the operator's */
  /* With a reduction: the elements that are written start at its neutral element (0, 1, the largest, the lowest number), not at their value
   * in data. Elements that no update reaches keep theirs. (use_init_val = false of ScatterElementsUpdate-12, include_self = false of
   * PyTorch.) */
  bool neutral;
  /* An index given twice for the same place is GATHER_INDEX_REPEATED. Rows without elements have places too, windows do not. */
  bool unique;
  /* StableHLO: an update window that does not fit is skipped as a whole, as XLA does. Otherwise each of its elements is checked
   * separately. */
  bool whole_windows;
  /* StableHLO's scatter needs them. Here offset_dims are its update_window_dims, collapsed_slice_dims its inserted_window_dims,
   * operand_batching_dims its input_batching_dims, start_index_map its scatter_dims_to_operand_dims. slice_sizes are not read: the updates
   * have them. For the gradient of StableHLO's gather they are those of the gather. A plan does not refer to them. */
  const gather_dimension_numbers *numbers;
  /* One-call functions only, as in gather_options. bad_count: how many indices were out of range and repaired or skipped. */
  const struct gather_executor *executor;
  int64_t *bad_count;
} gather_scatter_options;

#define GATHER_SCATTER_OPTIONS_INIT                                                                                \
  {                                                                                                                \
    sizeof(gather_scatter_options), 0, 0, GATHER_REDUCTION_NONE, GATHER_ACCUMULATE_DEFAULT, GATHER_ON_BAD_DEFAULT, \
        GATHER_NEGATIVE_DEFAULT, false, false, false, NULL, NULL, NULL                                             \
  }

/* ---- 2 one call ------------------------------------------------------------------------------------------------------- */

/* The shape that updates must have. data and indices are as for gather_scatter_apply. Only their types, ranks and shapes are read. Returns
 * as gather_output_shape, and GATHER_UNSUPPORTED for StableHLO, whose updates determine the length of a window. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_updates_shape(const gather_op *op, const gather_tensor *data,
                                                                     const gather_tensor *indices, const gather_scatter_options *options,
                                                                     int64_t *shape, int32_t *rank, gather_error *error);

/* Scatters. A call that fails leaves the output unchanged.
 *
 * op: the rules, of a family that writes (gather_op_find("ScatterElements", "onnx-18")); NULL is GATHER_USAGE.
 * data: rank r >= 1, any type that the reduction supports, any strides. Not written.
 * indices: any integer type, any strides.
 * updates: type and byte order of data, the shape that gather_scatter_updates_shape gives, any strides.
 * out: type, byte order and shape of data; its strides must nest (as for gather_apply). It may be data itself, with the same strides: then
 *     nothing is copied. Otherwise it must not overlap data. It must never overlap indices or updates (GATHER_USAGE).
 * options: NULL = axis 0, no reduction, the index rule of the operator's document.
 *
 * Byte-swapped data and updates can only be replaced. An operator supports the reductions of its document. Others are GATHER_UNSUPPORTED.
 * Returns GATHER_OK; the returns of gather_scatter_updates_shape; GATHER_TYPE_MISMATCH, GATHER_SHAPE_MISMATCH (updates, out);
 * GATHER_TYPE_UNSUPPORTED (the type has no such reduction); GATHER_INDEX_OUT_OF_RANGE as gather_apply; GATHER_INDEX_REPEATED with
 * options->unique: error->position is the first index, in row-major order, that repeats an earlier one, error->first_position the earlier
 * one; GATHER_OUT_OF_MEMORY.
 * Threads: options->executor, else the calling thread. Memory: none from the heap, with two exceptions. Methods that partition or sort
 * updates take up to 24 bytes for each update. Sums that are rounded once take a copy of out in the wider type, at most scratch_bytes. If
 * there is no memory, another method is used. Means, `neutral` and sums that are rounded once have no other method: GATHER_OUT_OF_MEMORY.
 * Shared indices (GATHER_TENSOR_SHARED) are copied. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_apply(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                             const gather_tensor *updates, const gather_tensor *out,
                                                             const gather_scatter_options *options, gather_error *error);

/* out[.., indices[i], ..] = updates[.., i, ..] along the axis, the inverse of gather_take. Negative indices count from the end, an index
 * out of range is an error, halves are summed in float32. All reductions are supported. */
GATHER_API GATHER_CHECKED gather_status gather_scatter(const gather_tensor *data, const gather_tensor *indices,
                                                       const gather_tensor *updates, int64_t axis, gather_reduction reduction,
                                                       const gather_tensor *out, gather_error *error);
/* The inverse of gather_elements, likewise. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_elements(const gather_tensor *data, const gather_tensor *indices,
                                                                const gather_tensor *updates, int64_t axis, gather_reduction reduction,
                                                                const gather_tensor *out, gather_error *error);
/* The inverse of gather_nd without batch dimensions, likewise. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_nd(const gather_tensor *data, const gather_tensor *indices,
                                                          const gather_tensor *updates, gather_reduction reduction,
                                                          const gather_tensor *out, gather_error *error);

/* The operators of the three functions above: "scatter", "scatter_elements" and "scatter_nd", of no document (rules NULL). NULL for any
 * other name. */
GATHER_API const gather_op *gather_scatter_op(const char *name);

/* Whether a document's operator has this reduction. Operators of no document have all. */
GATHER_API bool gather_scatter_op_reduces(const gather_op *op, gather_reduction reduction);

/* ---- 3 plans ---------------------------------------------------------------------------------------------------------- */

/* A scatter with every decision made, except for the memory. Several threads may run one plan at once. */
typedef struct gather_scatter_plan gather_scatter_plan;

/* Creates a plan. op, options and the types, shapes, strides and flags of the tensors are as for gather_scatter_apply and are copied.
 * `data` pointers are ignored. out may be NULL: in row-major order. Memory: one heap object, freed by gather_scatter_plan_destroy. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_plan_create(const gather_op *op, const gather_tensor *data,
                                                                   const gather_tensor *indices, const gather_tensor *updates,
                                                                   const gather_tensor *out, const gather_scatter_options *options,
                                                                   gather_scatter_plan **plan, gather_error *error);
/* Frees a plan. NULL does nothing. */
GATHER_API void gather_scatter_plan_destroy(gather_scatter_plan *plan);

/* The memory and threads of one run of a plan. Initialise with GATHER_SCATTER_RUN_INIT. */
typedef struct gather_scatter_run {
  size_t size;      /* sizeof(gather_scatter_run) */
  const void *data; /* as gather_tensor.data of the four tensors. data == out: in place, which needs the same strides */
  const void *indices;
  const void *updates;
  void *out;
  const gather_executor *executor; /* NULL = the calling thread */
  int64_t *bad_count;              /* as gather_run.bad_count */
} gather_scatter_run;

#define GATHER_SCATTER_RUN_INIT \
  { sizeof(gather_scatter_run), NULL, NULL, NULL, NULL, NULL, NULL }

/* Validates these indices and copies them, sorted by the places that they select if that is faster. Runs of the plan use them from now on,
 * and ignore run->indices. No other thread may use the plan during this call. executor: NULL = the calling thread.
 * Memory: 8 bytes for each update, freed with the plan, and 24 during the call. If one of StableHLO's windows is partly outside, each
 * element of the windows is an update. Returns as gather_scatter_apply, GATHER_OUT_OF_MEMORY, and GATHER_UNSUPPORTED (more updates and
 * places than can be numbered, if they must be sorted; packed elements by shared indices, or by indices far apart in memory). After an
 * error the plan is unchanged. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_plan_keep(gather_scatter_plan *plan, const void *indices,
                                                                 const gather_executor *executor, gather_error *error);
/* Runs a plan, as gather_scatter_apply. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_plan_run(const gather_scatter_plan *plan, const gather_scatter_run *run,
                                                                gather_error *error);
/* Validates the indices as gather_scatter_plan_run does, repeated ones too if the plan's options have `unique`, and writes nothing. Only
 * indices, executor and bad_count of `run` are used. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_plan_check(const gather_scatter_plan *plan, const gather_scatter_run *run,
                                                                  gather_error *error);
/* Writes the plan as one line, as gather_plan_print. */
GATHER_API size_t gather_scatter_plan_print(const gather_scatter_plan *plan, char *text, size_t bytes);

/* ---- 4 gradients ------------------------------------------------------------------------------------------------------ */

/* The gradient of a gather with regard to data: adds each element of grad to the element of out that the gather read it from.
 *
 * op: of the gather: any that gather_apply accepts.
 * grad: the gradient of the gather's output: its shape, any strides; a type that GATHER_REDUCTION_ADD supports.
 * indices: those of the gather.
 * out: the type of grad and the shape of data. add: false: out is set to 0 first; true: grad is added to its content. Strides and overlaps
 *     as for gather_scatter_apply.
 * options: axis, batch_dims, on_bad, negative and numbers as in the gather. Elements that its policy filled have no gradient. accumulate,
 *     unique, executor and bad_count as for scatters.
 * Returns as gather_scatter_apply. */
GATHER_API GATHER_CHECKED gather_status gather_backward(const gather_op *op, const gather_tensor *grad, const gather_tensor *indices,
                                                        const gather_tensor *out, bool add, const gather_scatter_options *options,
                                                        gather_error *error);

/* The same gradient in sparse form: the rows that are not zero, each once. */
typedef struct gather_sparse gather_sparse;

/* Sorts the indices of a gather. A row is the elements that one index selects. For data of the shape [a, n, r], gathered along axis 1, rows
 * are numbered 0 to a * n - 1 and have r elements. For GatherElements each element is a row. For GatherND rows are numbered in row-major
 * order over the dimensions that tuples select on, and those before them. StableHLO's gather is not supported (GATHER_UNSUPPORTED): its
 * windows may overlap.
 * data: type, rank and shape are read. grad: the shape of the gather's output, any strides. Its `data` pointer is ignored.
 * options: as for gather_backward. *sparse: freed by gather_sparse_destroy. It refers to no memory of the caller.
 * Memory: 8 to 16 bytes per row, and 24 during the call. Returns as gather_backward, and GATHER_OUT_OF_MEMORY. */
GATHER_API GATHER_CHECKED gather_status gather_sparse_create(const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                                             const gather_tensor *grad, const gather_scatter_options *options,
                                                             gather_sparse **sparse, gather_error *error);
GATHER_API void gather_sparse_destroy(gather_sparse *sparse);
/* The number of different rows. *row_len: the elements of a row. */
GATHER_API int64_t gather_sparse_rows(const gather_sparse *sparse, int64_t *row_len);
/* Writes the rows' numbers, ascending, and the sum of the gradients of each. grad: the elements, in the strides of the create call. ids:
 * room for gather_sparse_rows numbers. rows: room for gather_sparse_rows rows, one after the other. executor: NULL = the calling thread.
 * They must not overlap each other or grad. Memory: as gather_scatter_apply. */
GATHER_API GATHER_CHECKED gather_status gather_sparse_write(const gather_sparse *sparse, const void *grad, int64_t *ids, void *rows,
                                                            const gather_executor *executor, gather_error *error);

/* Sums rows of equal ids: gather_sparse_create for ids of any value, those below 0 included.
 * ids: any integer type and shape, below 2^63. rows: the shape of ids, then that of a row. options: accumulate and executor. */
GATHER_API GATHER_CHECKED gather_status gather_unique_rows(const gather_tensor *ids, const gather_tensor *rows,
                                                           const gather_scatter_options *options, gather_sparse **sparse,
                                                           gather_error *error);

/* ---- 5 embedding bags ------------------------------------------------------------------------------------------------- */

/* Which rows are in which bag. Initialise with GATHER_BAGS_INIT. Exactly one of these forms:
 *   indices [n], offsets [b]      bag i has indices[offsets[i]] up to indices[offsets[i + 1]], the last one up to the end of indices
 *   indices [b, n]                packed: bag i has the indices of row i
 *   indices [n], segment_ids [n]  bag segment_ids[j] has indices[j]; segment_ids ascend; `segments` bags */
typedef struct gather_bags {
  size_t size;                      /* sizeof(gather_bags) */
  const gather_tensor *indices;     /* int32, int64 or any other integer type */
  const gather_tensor *offsets;     /* likewise; or NULL. Each in [0, n], none below the one before */
  const gather_tensor *segment_ids; /* likewise; or NULL. Each in [0, segments - 1] */
  int64_t segments;                 /* at least 0; with segment_ids */
  const gather_tensor *weights;     /* the type of the table and the shape of indices; ADD only; or NULL */
  int64_t default_index;            /* the row of an empty bag; -1 = zeros. Not for packed bags */
  bool last_offset;                 /* offsets have b + 1 numbers, the last of which is the end of the last bag */
} gather_bags;

#define GATHER_BAGS_INIT \
  { sizeof(gather_bags), NULL, NULL, NULL, 0, NULL, -1, false }

/* out[i] = the sum, mean or maximum of the rows of bag i, each times its weight, added in their order: ((w0 * r0) + w1 * r1) + ...
 *
 * op: the rules ("EmbeddingBagOffsetsSum", "openvino-3" ...), or NULL: those of no document, which have every form and reduction.
 * table: [rows, ...], float16, bfloat16, float32, float64 or an integer type of whole bytes; any strides.
 * out: [bags, ...] of the table's type; strides must nest. It must not overlap an input.
 * options: reduction ADD, MEAN or MAX (NONE means ADD), accumulate, on_bad (error, clamp, wrap; skip and zero leave the row out, also from
 *     the divisor of a mean), negative (default off), executor, bad_count. An empty bag is zeros, or the row default_index. Indices that
 *     are in no bag are validated too.
 * Returns as gather_apply. Invalid offsets and segment_ids are GATHER_INDEX_OUT_OF_RANGE with error->input "offsets" or "segment_ids",
 * position, value and the valid range. Nothing is written after an error.
 * Threads: options->executor, over bags. Memory: none, except copies of shared indices, offsets and segment_ids (GATHER_TENSOR_SHARED,
 * GATHER_OUT_OF_MEMORY). Source: OpenVINO EmbeddingBagOffsetsSum-3 and its siblings. */
GATHER_API GATHER_CHECKED gather_status gather_embedding_bag(const gather_op *op, const gather_tensor *table, const gather_bags *bags,
                                                             const gather_tensor *out, const gather_scatter_options *options,
                                                             gather_error *error);

/* The number of bags. Returns as gather_embedding_bag if `bags` has none of the forms. */
GATHER_API GATHER_CHECKED gather_status gather_bags_count(const gather_bags *bags, int64_t *count, gather_error *error);

/* ---- 6 caches of keys and values ------------------------------------------------------------------------------------- */

/* out[b, .., (write_indices[b] + s), ..] = updates[b, .., s, ..] along the axis, which has S elements in data and L in updates.
 *
 * data: [b, .., S, ..], any type, any strides. updates: the same, except for L <= S on the axis. write_indices: [b], any integer type, or
 *     NULL = zeros. out: as for gather_scatter_apply, in place or not.
 * axis: in [-r, r - 1], not 0. circular: the place is modulo S. Otherwise write_indices[b] + L above S is an error. A negative write index
 * is out of range. options: executor; NULL = the defaults. Returns as gather_scatter_apply.
 * Source: ONNX TensorScatter-24. */
GATHER_API GATHER_CHECKED gather_status gather_tensor_scatter(const gather_tensor *data, const gather_tensor *updates,
                                                              const gather_tensor *write_indices, int64_t axis, bool circular,
                                                              const gather_tensor *out, const gather_scatter_options *options,
                                                              gather_error *error);

/* ---- 7 shapes --------------------------------------------------------------------------------------------------------- */

/* The shape of a scatter's output if lengths or ranks may be unknown: that of data, as far as indices and updates allow. out may be one of
 * the inputs. updates: NULL = not known. Returns as gather_infer_shape. */
GATHER_API GATHER_CHECKED gather_status gather_scatter_infer_shape(const gather_op *op, const gather_shape *data,
                                                                   const gather_shape *indices, const gather_shape *updates,
                                                                   const gather_scatter_options *options, gather_shape *out,
                                                                   gather_error *error);

#ifdef __cplusplus
}
#endif

#endif
