/* SPDX-License-Identifier: MIT
 *
 * torch_quantized.c: libgather::take_quantized, dequantize and quantized_shape: tensors of codes or blocks, whose values never exist as
 * a whole.
 */
#include <string.h>

#include "torch_operator.h"

static const gather_op ROWS = {.dialect = "torch",
                               .name = "take_quantized",
                               .family = GATHER_FAMILY_GATHER,
                               .negative = true,
                               .on_bad = GATHER_ON_BAD_ERROR,
                               .batch_dims = true,
                               .off_axis = GATHER_OFF_AXIS_NONE,
                               .axis_source = GATHER_AXIS_SOURCE_ATTRIBUTE,
                               .types = UINT64_MAX,
                               .index_types = UINT64_MAX,
                               .document = "libgather::take_quantized",
                               .tuples = GATHER_TUPLES_NONE};

/* The tensors of a description, in the order of the schema; `data` first. */
enum { DATA, SCALE, ZERO_POINT, BIAS, TABLE, SCALE2, SCALE_TABLE, SCALE_SCALE, TENSORS };
static const char *const names[TENSORS] = {"data", "scale", "zero_point", "bias", "table", "scale2", "scale_table", "scale_scale"};

typedef struct description {
  gather_quantized quantized;
  gather_torch_view views[TENSORS];
} description;

static gather_status read_type(const char *text, const char *name, gather_type *type, gather_error *error) {
  *type = GATHER_TYPE_NONE;
  if (!*text) return GATHER_OK;
  *type = gather_type_parse(text);
  if (*type != GATHER_TYPE_NONE) return GATHER_OK;
  return gather_error_set(error, GATHER_TYPE_UNSUPPORTED, "%s: unknown type '%.60s'", name, text);
}

static gather_status read_tensors(description *d, void *data, const gather_torch_argument *a, gather_error *error) {
  void *const handles[TENSORS] = {data, a[0].tensor, a[1].tensor, a[2].tensor, a[3].tensor, a[4].tensor, a[16].tensor, a[17].tensor};
  for (int i = 0; i < TENSORS; i++) {
    if (!handles[i]) continue;
    const gather_status status = gather_torch_describe(handles[i], names[i], &d->views[i], error);
    if (status != GATHER_OK) return status;
  }
  gather_quantized *q = &d->quantized;
  q->data = &d->views[DATA].tensor;
  q->scale = a[0].tensor ? &d->views[SCALE].tensor : NULL;
  q->zero_point = a[1].tensor ? &d->views[ZERO_POINT].tensor : NULL;
  q->bias = a[2].tensor ? &d->views[BIAS].tensor : NULL;
  q->table = a[3].tensor ? &d->views[TABLE].tensor : NULL;
  q->scale2 = a[4].tensor ? &d->views[SCALE2].tensor : NULL;
  q->scale_table = a[16].tensor ? &d->views[SCALE_TABLE].tensor : NULL;
  q->scale_scale = a[17].tensor ? &d->views[SCALE_SCALE].tensor : NULL;
  return GATHER_OK;
}

static gather_status read_order(const char *text, gather_code_order *order, gather_error *error) {
  if (strcmp(text, "low") == 0)
    *order = GATHER_CODE_ORDER_LOW_FIRST;
  else if (strcmp(text, "high") == 0)
    *order = GATHER_CODE_ORDER_HIGH_FIRST;
  else
    return gather_error_set(error, GATHER_USAGE, "order must be 'low' or 'high', not '%.60s'", text);
  return GATHER_OK;
}

/* int32 of the description from the int64 of the schema. */
static gather_status read_small(int64_t value, const char *name, int32_t *number, gather_error *error) {
  if (value < INT32_MIN || value > INT32_MAX) return gather_error_set(error, GATHER_USAGE, "%s is %lld: too large", name, (long long)value);
  *number = (int32_t)value;
  return GATHER_OK;
}

static gather_status read_numbers(gather_quantized *q, const gather_torch_argument *a, gather_error *error) {
  q->scale2_divides = a[5].truth;
  gather_status status = read_type(a[6].text, "code_type", &q->code_type, error);
  if (status == GATHER_OK) status = read_small(a[7].number, "code_bits", &q->code_bits, error);
  if (status == GATHER_OK) status = read_order(a[8].text, &q->order, error);
  if (status == GATHER_OK) status = read_type(a[14].text, "scale_type", &q->scale_type, error);
  if (status == GATHER_OK) status = read_type(a[15].text, "zero_point_type", &q->zero_point_type, error);
  if (status == GATHER_OK) status = read_small(a[19].number, "code_offset", &q->code_offset, error);
  if (status == GATHER_OK && a[9].list.count > GATHER_MAX_RANK)
    status = gather_error_set(error, GATHER_USAGE, "shape has %lld lengths", (long long)a[9].list.count);
  if (status != GATHER_OK) return status;
  q->rank = (int32_t)a[9].list.count;
  q->shape = a[9].list.count ? a[9].list.items : NULL;
  q->groups = a[10].list.count ? a[10].list.items : NULL;
  q->group_axis = a[11].number;
  q->group_len = a[12].number;
  q->flat_groups = a[13].truth;
  q->scale_group_len = a[18].number;
  q->scale_offset = (float)a[20].real;
  return GATHER_OK;
}

/* `groups` must have as many lengths as the values have dimensions; how many that are does not depend on it. */
static gather_status check_groups(const gather_quantized *q, int64_t count, gather_error *error) {
  const int64_t rank = q->rank ? q->rank : q->data->rank;
  if (count == rank) return GATHER_OK;
  return gather_error_set(error, GATHER_USAGE, "groups has %lld lengths for values of rank %lld", (long long)count, (long long)rank);
}

/* The description of a quantised tensor, and the shape of its values.
 * a: the arguments from `scale` on: scale, zero_point, bias, table, scale2, scale2_divides, code_type, code_bits, order, shape, groups,
 * group_axis, group_len, flat_groups, scale_type, zero_point_type, scale_table, scale_scale, scale_group_len, code_offset,
 * scale_offset. */
static gather_status read_layout(description *d, void *data, const char *codec, const gather_torch_argument *a, int64_t *shape,
                                 int32_t *rank, gather_error *error) {
  d->quantized = (gather_quantized)GATHER_QUANTIZED_INIT;
  d->quantized.codec = gather_codec_parse(codec);
  if (d->quantized.codec == GATHER_CODEC_NONE) return gather_error_set(error, GATHER_USAGE, "unknown codec '%.60s'", codec);
  gather_status status = read_tensors(d, data, a, error);
  if (status == GATHER_OK) status = read_numbers(&d->quantized, a, error);
  if (status == GATHER_OK && a[10].list.count) status = check_groups(&d->quantized, a[10].list.count, error);
  if (status == GATHER_OK) status = gather_quantized_shape(&d->quantized, shape, rank, error);
  return status;
}

static gather_status result_type(const char *text, int32_t *dtype, gather_error *error) {
  const gather_type type = gather_type_parse(text);
  if (type != GATHER_TYPE_FLOAT32 && type != GATHER_TYPE_FLOAT16 && type != GATHER_TYPE_BFLOAT16)
    return gather_error_set(error, GATHER_TYPE_UNSUPPORTED, "dtype must be 'float32', 'float16' or 'bfloat16', not '%.60s'", text);
  *dtype = gather_torch_dtype(type);
  return GATHER_OK;
}

/* take_quantized(data, indices, codec, dtype, axis, batch_dims, mode, negative, scale, ...) */
gather_status gather_torch_take_quantized(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_torch_argument *a = call->arguments;
  description d;
  gather_torch_view indices, output;
  gather_executor executor;
  gather_options options = GATHER_OPTIONS_INIT;
  int64_t values[GATHER_MAX_RANK], shape[GATHER_MAX_RANK];
  int32_t values_rank = 0, rank = 0, dtype = 0;
  gather_status status = read_layout(&d, a[0].tensor, a[2].text, a + 8, values, &values_rank, error);
  if (status == GATHER_OK) status = gather_torch_describe(a[1].tensor, "indices", &indices, error);
  if (status == GATHER_OK) status = result_type(a[3].text, &dtype, error);
  if (status == GATHER_OK && strcmp(a[6].text, "fill") == 0)
    status = gather_error_set(error, GATHER_USAGE, "mode='fill' is not supported for quantised rows");
  if (status == GATHER_OK) status = gather_torch_policy(a[6].text, a[7].truth, NULL, &d.views[DATA], NULL, &options, error);
  if (status != GATHER_OK) return status;
  options.axis = a[4].number;
  options.batch_dims = a[5].number;
  options.executor = gather_torch_executor(&executor);
  options.fresh_output = true;
  const gather_tensor like = {.type = GATHER_TYPE_FLOAT32, .rank = values_rank, .shape = values};
  status = gather_output_shape(&ROWS, &like, &indices.tensor, &options, shape, &rank, error);
  if (status == GATHER_OK) status = gather_torch_create(dtype, shape, rank, out, &output, error);
  if (status != GATHER_OK) return status;
  return gather_take_quantized(&ROWS, &d.quantized, &indices.tensor, &output.tensor, &options, error);
}

/* dequantize(data, codec, dtype, scale, ...) */
gather_status gather_torch_dequantize(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_torch_argument *a = call->arguments;
  description d;
  gather_torch_view output;
  gather_executor executor;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank = 0, dtype = 0;
  gather_status status = read_layout(&d, a[0].tensor, a[1].text, a + 3, shape, &rank, error);
  if (status == GATHER_OK) status = result_type(a[2].text, &dtype, error);
  if (status == GATHER_OK) status = gather_torch_create(dtype, shape, rank, out, &output, error);
  if (status != GATHER_OK) return status;
  return gather_dequantize(&d.quantized, &output.tensor, gather_torch_executor(&executor), error);
}

/* quantized_shape(data, codec, scale, ...): the shape of the values as a tensor, for the shape rules in Python */
gather_status gather_torch_quantized_shape(const gather_torch_call *call, void **out, gather_error *error) {
  const gather_torch_argument *a = call->arguments;
  description d;
  gather_torch_view output;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank = 0;
  gather_status status = read_layout(&d, a[0].tensor, a[1].text, a + 2, shape, &rank, error);
  const int64_t length = rank;
  if (status == GATHER_OK) status = gather_torch_create(gather_torch_dtype(GATHER_TYPE_INT64), &length, 1, out, &output, error);
  if (status != GATHER_OK) return status;
  if (rank) memcpy(output.tensor.data, shape, (size_t)rank * sizeof *shape);
  return GATHER_OK;
}
