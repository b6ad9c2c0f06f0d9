/* SPDX-License-Identifier: MIT
 *
 * torch_operator.h: what the files of the plug-in share: arguments of a call, tensors as libgather describes them, errors, threads.
 *
 * Functions that can fail return a gather_status and fill in the error, as the library's. Threads: each call has objects of its own.
 */
#ifndef GATHER_TORCH_OPERATOR_H
#define GATHER_TORCH_OPERATOR_H

#include "gather/codec.h"
#include "gather/gather.h"
#include "torch_shim.h"

/* ---- arguments (torch_arguments.c) ---- */

enum { GATHER_TORCH_MAX_ARGUMENTS = 32 };

/* One argument of a call. Which member counts follows from the letter of the signature. */
typedef union gather_torch_argument {
  void *tensor; /* 't'; 'o', where it is optional: NULL = None */
  int64_t number;
  double real;
  bool truth;
  const char *text;
  struct {
    const int64_t *items;
    int64_t count;
  } list;
} gather_torch_argument;

/* The arguments of one call; gather_torch_release() gives back what they own. */
typedef struct gather_torch_call {
  const char *signature; /* a letter for each: t tensor, o optional tensor, i int, f float, b bool, s str, l int[] */
  gather_torch_argument arguments[GATHER_TORCH_MAX_ARGUMENTS];
  uint64_t owned[GATHER_TORCH_MAX_ARGUMENTS]; /* the cells of the stack, as PyTorch gave them */
  int64_t numbers[2 * GATHER_MAX_RANK];       /* of the lists */
  int32_t used;                               /* of `numbers` */
} gather_torch_call;

/* Takes the arguments from the stack. Returns GATHER_USAGE if PyTorch passed another number of them, or a list is too long. Whatever it
 * returns, gather_torch_release() must be called. */
gather_status gather_torch_read(gather_torch_call *call, const char *signature, const uint64_t *stack, uint64_t inputs,
                                gather_error *error);
void gather_torch_release(gather_torch_call *call);

/* ---- tensors (torch_tensor.c) ---- */

/* A tensor of PyTorch's as libgather describes it. `tensor` points into the object: it must not be moved. */
typedef struct gather_torch_view {
  gather_tensor tensor;
  int32_t dtype; /* PyTorch's */
  int64_t strides[GATHER_MAX_RANK];
} gather_torch_view;

/* Reads the numbers of dtypes from PyTorch; once, before anything else. */
void gather_torch_learn_types(void);
/* Describes a tensor that is read. name: of the argument, in static memory. Returns GATHER_UNSUPPORTED for a tensor that is not in the
 * CPU's memory or not strided, GATHER_TYPE_UNSUPPORTED for a quantised dtype of PyTorch's. */
gather_status gather_torch_describe(void *handle, const char *name, gather_torch_view *view, gather_error *error);
/* The same for a tensor that is written. */
gather_status gather_torch_describe_output(void *handle, gather_torch_view *view, gather_error *error);
/* A new tensor in row-major order. Returns GATHER_OUT_OF_MEMORY. */
gather_status gather_torch_create(int32_t dtype, const int64_t *shape, int32_t rank, void **handle, gather_torch_view *view,
                                  gather_error *error);
/* PyTorch's number of a type; -1 = it has none. */
int32_t gather_torch_dtype(gather_type type);

/* ---- options (torch_take.c) ---- */

/* Reads mode, negative and fill_value (NULL = None) into the options. fill: a view that `options` refers to from then on.
 * data: the tensor whose elements fill_value replaces. Returns GATHER_USAGE, and for fill_value GATHER_TYPE_MISMATCH and
 * GATHER_SHAPE_MISMATCH. */
gather_status gather_torch_policy(const char *mode, bool negative, void *fill_value, const gather_torch_view *data, gather_torch_view *fill,
                                  gather_options *options, gather_error *error);

/* ---- plans (torch_plans.c) ---- */

/* Before anything else, once. */
void gather_torch_prepare_plans(void);
/* The plan of a gather into a new tensor in row-major order: one that the thread has kept, or a new one that it keeps. *plan: valid until
 * the thread's next call; NULL: such gathers are not kept. Returns as gather_plan_create. */
gather_status gather_torch_plan(const gather_op *op, const gather_tensor *data, const gather_tensor *indices, const gather_options *options,
                                const gather_plan **plan, gather_error *error);

/* ---- threads (torch_threads.c) ---- */

/* PyTorch's threads as an executor; NULL if there is one only. Valid until `executor` goes. */
const gather_executor *gather_torch_executor(gather_executor *executor);
/* Prepares for fork(): a child uses the calling thread alone, since OpenMP's threads do not come along. */
void gather_torch_watch_forks(void);

/* ---- errors (torch_error.c) ---- */

/* Keeps the error for the Python side, and leaves the kernel by a C++ exception (RuntimeError in Python) with its message. */
_Noreturn void gather_torch_throw(const gather_error *error);

/* ---- for libgather.torch, by ctypes ---- */

/* The last error of the calling thread, which is forgotten; false if there is none.
 * numbers: room for 10: status, file_offset, row, axis, position_rank, value, low, high, value_is_unsigned, bad_count.
 * position: room for GATHER_MAX_RANK. texts: room for 5: message, status, op, rules, input; NULL where there is none; valid until the
 * thread's next error. */
GATHER_API bool gather_torch_last_error(int64_t *numbers, int64_t *position, const char **texts);
/* Why the operators are not registered; NULL if they are. Static memory. */
GATHER_API const char *gather_torch_failure(void);

/* ---- kernels: of each operator, its work. out: the new tensor, of which the caller has the handle ---- */

typedef gather_status gather_torch_work(const gather_torch_call *call, void **out, gather_error *error);
gather_torch_work gather_torch_take, gather_torch_elements, gather_torch_nd; /* torch_take.c */
gather_torch_work gather_torch_take_out, gather_torch_elements_out, gather_torch_nd_out;
gather_torch_work gather_torch_take_plain, gather_torch_elements_plain, gather_torch_nd_plain;
gather_torch_work gather_torch_tree;                                                                  /* torch_tree.c */
gather_torch_work gather_torch_take_quantized, gather_torch_dequantize, gather_torch_quantized_shape; /* torch_quantized.c */

#endif
