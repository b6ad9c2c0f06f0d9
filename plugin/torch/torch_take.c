/* SPDX-License-Identifier: MIT
 *
 * torch_take.c: libgather::take, gather_elements and gather_nd, into a new tensor or the caller's.
 */
#include <string.h>

#include "torch_operator.h"

#define ALL_TYPES UINT64_MAX
static const gather_op TAKE = {.dialect = "torch",
                               .name = "take",
                               .family = GATHER_FAMILY_GATHER,
                               .negative = true,
                               .on_bad = GATHER_ON_BAD_ERROR,
                               .batch_dims = true,
                               .off_axis = GATHER_OFF_AXIS_NONE,
                               .axis_source = GATHER_AXIS_SOURCE_ATTRIBUTE,
                               .types = ALL_TYPES,
                               .index_types = ALL_TYPES,
                               .document = "libgather::take",
                               .tuples = GATHER_TUPLES_NONE};
static const gather_op ELEMENTS = {.dialect = "torch",
                                   .name = "gather_elements",
                                   .family = GATHER_FAMILY_ELEMENTS,
                                   .negative = true,
                                   .on_bad = GATHER_ON_BAD_ERROR,
                                   .off_axis = GATHER_OFF_AXIS_AT_MOST,
                                   .axis_source = GATHER_AXIS_SOURCE_ATTRIBUTE,
                                   .types = ALL_TYPES,
                                   .index_types = ALL_TYPES,
                                   .document = "libgather::gather_elements",
                                   .tuples = GATHER_TUPLES_NONE};
static const gather_op ND = {.dialect = "torch",
                             .name = "gather_nd",
                             .family = GATHER_FAMILY_ND,
                             .negative = true,
                             .on_bad = GATHER_ON_BAD_ERROR,
                             .batch_dims = true,
                             .off_axis = GATHER_OFF_AXIS_NONE,
                             .axis_source = GATHER_AXIS_SOURCE_NONE,
                             .types = ALL_TYPES,
                             .index_types = ALL_TYPES,
                             .document = "libgather::gather_nd",
                             .tuples = GATHER_TUPLES_ANY};

/* One call: the arguments that all operators of this file have, as read. */
typedef struct gather_args {
  const gather_op *op;
  void *data, *indices, *fill_value;
  int64_t axis, batch_dims;
  const char *mode; /* NULL: the operator's own rules */
  bool negative;
  void *out; /* the caller's; NULL = a new one */
} gather_args;

static const struct {
  const char *name;
  gather_on_bad on_bad;
} modes[] = {{"raise", GATHER_ON_BAD_ERROR},
             {"clip", GATHER_ON_BAD_CLAMP},
             {"wrap", GATHER_ON_BAD_WRAP},
             {"zero", GATHER_ON_BAD_ZERO},
             {"fill", GATHER_ON_BAD_FILL}};

gather_status gather_torch_policy(const char *mode, bool negative, void *fill_value, const gather_torch_view *data, gather_torch_view *fill,
                                  gather_options *options, gather_error *error) {
  options->negative = negative ? GATHER_NEGATIVE_ON : GATHER_NEGATIVE_OFF;
  options->on_bad = GATHER_ON_BAD_DEFAULT;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(mode, modes[i].name) == 0) options->on_bad = modes[i].on_bad;
  if (options->on_bad == GATHER_ON_BAD_DEFAULT)
    return gather_error_set(error, GATHER_USAGE, "mode must be 'raise', 'clip', 'wrap', 'zero' or 'fill', not '%.60s'", mode);
  if ((options->on_bad == GATHER_ON_BAD_FILL) != (fill_value != NULL))
    return gather_error_set(error, GATHER_USAGE, fill_value ? "fill_value is for mode='fill' only" : "mode='fill' needs a fill_value");
  if (!fill_value) return GATHER_OK;
  const gather_status status = gather_torch_describe(fill_value, "fill_value", fill, error);
  if (status != GATHER_OK) return status;
  if (fill->dtype != data->dtype)
    return gather_error_set_input(error, GATHER_TYPE_MISMATCH, "fill_value", "fill_value and data have different dtypes");
  if (gather_tensor_len(&fill->tensor) != 1)
    return gather_error_set_input(error, GATHER_SHAPE_MISMATCH, "fill_value", "fill_value must have one element, not %lld",
                                  (long long)gather_tensor_len(&fill->tensor));
  options->fill = fill->tensor.data;
  return GATHER_OK;
}

/* Into a new tensor, by a plan that this thread may have kept. */
static gather_status run_new(const gather_args *args, const gather_torch_view *data, const gather_torch_view *indices,
                             const gather_options *options, void **out, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank = 0;
  gather_torch_view output;
  const gather_plan *plan;
  gather_status status = gather_torch_plan(args->op, &data->tensor, &indices->tensor, options, &plan, error);
  if (status != GATHER_OK) return status;
  if (plan)
    rank = gather_plan_shape(plan, shape);
  else
    status = gather_output_shape(args->op, &data->tensor, &indices->tensor, options, shape, &rank, error);
  if (status == GATHER_OK) status = gather_torch_create(data->dtype, shape, rank, out, &output, error);
  if (status != GATHER_OK) return status;
  if (!plan) return gather_apply(args->op, &data->tensor, &indices->tensor, &output.tensor, options, error);
  gather_run run = GATHER_RUN_INIT;
  run.data = data->tensor.data;
  run.indices = indices->tensor.data;
  run.out = output.tensor.data;
  run.executor = options->executor;
  run.fresh_output = true;
  return gather_plan_run(plan, &run, error);
}

/* Into the caller's tensor, which is also the result. */
static gather_status run_into(const gather_args *args, const gather_torch_view *data, const gather_torch_view *indices,
                              const gather_options *options, void **out, gather_error *error) {
  gather_torch_view output;
  gather_status status = gather_torch_describe_output(args->out, &output, error);
  if (status != GATHER_OK) return status;
  if (output.dtype != data->dtype)
    return gather_error_set_input(error, GATHER_TYPE_MISMATCH, "output", "output and data have different dtypes");
  status = gather_apply(args->op, &data->tensor, &indices->tensor, &output.tensor, options, error);
  if (status == GATHER_OK && aoti_torch_new_tensor_handle(args->out, out))
    return gather_error_set_input(error, GATHER_OUT_OF_MEMORY, "output", "out of memory for a handle");
  return status;
}

static gather_status run(const gather_args *args, void **out, gather_error *error) {
  gather_torch_view data, indices, fill;
  gather_executor executor;
  gather_options options = GATHER_OPTIONS_INIT;
  options.axis = args->axis;
  options.batch_dims = args->batch_dims;
  options.executor = gather_torch_executor(&executor);
  options.fresh_output = !args->out;
  gather_status status = gather_torch_describe(args->data, "data", &data, error);
  if (status == GATHER_OK) status = gather_torch_describe(args->indices, "indices", &indices, error);
  if (status == GATHER_OK && args->mode)
    status = gather_torch_policy(args->mode, args->negative, args->fill_value, &data, &fill, &options, error);
  if (status != GATHER_OK) return status;
  if (args->out) return run_into(args, &data, &indices, &options, out, error);
  return run_new(args, &data, &indices, &options, out, error);
}

/* take(data, indices, axis, batch_dims, mode, negative, fill_value[, out]) */
static gather_args take_args(const gather_torch_call *call) {
  const gather_torch_argument *a = call->arguments;
  return (gather_args){&TAKE, a[0].tensor, a[1].tensor, a[6].tensor, a[2].number, a[3].number, a[4].text, a[5].truth, NULL};
}

/* gather_elements(data, indices, axis, mode, negative, fill_value[, out]) */
static gather_args elements_args(const gather_torch_call *call) {
  const gather_torch_argument *a = call->arguments;
  return (gather_args){&ELEMENTS, a[0].tensor, a[1].tensor, a[5].tensor, a[2].number, 0, a[3].text, a[4].truth, NULL};
}

/* gather_nd(data, indices, batch_dims, mode, negative, fill_value[, out]) */
static gather_args nd_args(const gather_torch_call *call) {
  const gather_torch_argument *a = call->arguments;
  return (gather_args){&ND, a[0].tensor, a[1].tensor, a[5].tensor, 0, a[2].number, a[3].text, a[4].truth, NULL};
}

gather_status gather_torch_take(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_args args = take_args(call);
  return run(&args, out, error);
}

gather_status gather_torch_elements(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_args args = elements_args(call);
  return run(&args, out, error);
}

gather_status gather_torch_nd(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_args args = nd_args(call);
  return run(&args, out, error);
}

gather_status gather_torch_take_out(const gather_torch_call *call, void **out, gather_error *error) {
  gather_args args = take_args(call);
  args.out = call->arguments[7].tensor;
  return run(&args, out, error);
}

gather_status gather_torch_elements_out(const gather_torch_call *call, void **out, gather_error *error) {
  gather_args args = elements_args(call);
  args.out = call->arguments[6].tensor;
  return run(&args, out, error);
}

gather_status gather_torch_nd_out(const gather_torch_call *call, void **out, gather_error *error) {
  gather_args args = nd_args(call);
  args.out = call->arguments[6].tensor;
  return run(&args, out, error);
}

/* take.no_grad(data, indices, axis), gather_elements.no_grad(data, indices, axis), gather_nd.no_grad(data, indices) */
gather_status gather_torch_take_plain(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_torch_argument *a = call->arguments;
  const gather_args args = {&TAKE, a[0].tensor, a[1].tensor, NULL, a[2].number, 0, NULL, true, NULL};
  return run(&args, out, error);
}

gather_status gather_torch_elements_plain(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_torch_argument *a = call->arguments;
  const gather_args args = {&ELEMENTS, a[0].tensor, a[1].tensor, NULL, a[2].number, 0, NULL, true, NULL};
  return run(&args, out, error);
}

gather_status gather_torch_nd_plain(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_torch_argument *a = call->arguments;
  const gather_args args = {&ND, a[0].tensor, a[1].tensor, NULL, 0, 0, NULL, true, NULL};
  return run(&args, out, error);
}
