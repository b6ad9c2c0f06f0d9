/* SPDX-License-Identifier: MIT
 *
 * block_quantized.c: what the inputs and attributes of com.microsoft GatherBlockQuantized-1 mean: a quantised tensor.
 * The rules are those of the operator's schema; docs/extend/readings.md says where it is silent.
 */
#include <inttypes.h>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "gather/codec.h"

enum { LEAST_BLOCK = 16 };

/* The attributes, checked against the type and the rank of data. */
typedef struct block_rules {
  bool is_float;    /* float8 or float4: no zero points, block_size 0, scales that broadcast */
  int64_t bits;     /* of an element of uint8 data; else of the type */
  int64_t per_byte; /* elements in an element of uint8 data; else 1 */
  int64_t block_size;
  int32_t axis; /* quantize_axis, counted from 0 */
} block_rules;

static bool is_listed_float(gather_type type) {
  return type == GATHER_TYPE_FLOAT8_E4M3FN || type == GATHER_TYPE_FLOAT8_E4M3FNUZ || type == GATHER_TYPE_FLOAT8_E5M2 ||
         type == GATHER_TYPE_FLOAT8_E5M2FNUZ || type == GATHER_TYPE_FLOAT4_E2M1FN;
}

static gather_status check_bits(gather_type type, int64_t bits, block_rules *rules, gather_error *error) {
  const gather_type_info *info = gather_type_get(type);
  rules->is_float = is_listed_float(type);
  rules->bits = type == GATHER_TYPE_UINT8 ? bits : info->bits;
  rules->per_byte = 1;
  if (rules->is_float) return GATHER_OK; /* bits is ignored */
  if (type != GATHER_TYPE_UINT8 && type != GATHER_TYPE_INT4 && type != GATHER_TYPE_UINT4)
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "data",
                             "data of type %s; GatherBlockQuantized takes int4, uint4, uint8, the float8 types and "
                             "float4_e2m1fn",
                             info->name);
  if (type != GATHER_TYPE_UINT8 && bits != 4)
    return gather_fail(error, GATHER_USAGE, "bits is %" PRId64 "; for data of type %s it is 4", bits, info->name);
  if (bits != 2 && bits != 4 && bits != 8) return gather_fail(error, GATHER_USAGE, "bits is %" PRId64 ", not 2, 4 or 8", bits);
  if (type == GATHER_TYPE_UINT8) rules->per_byte = 8 / bits;
  return GATHER_OK;
}

static gather_status check_block_size(int64_t block_size, block_rules *rules, gather_error *error) {
  bool is_power = block_size > 0 && (block_size & (block_size - 1)) == 0;
  rules->block_size = block_size;
  if ((is_power && block_size >= LEAST_BLOCK) || (block_size == 0 && rules->is_float)) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "block_size is %" PRId64 ", not a power of two of at least %d%s", block_size, LEAST_BLOCK,
                     rules->is_float ? ", nor 0" : "");
}

static gather_status check_axis(const char *name, int64_t given, int32_t rank, int32_t *axis, gather_error *error) {
  if (given < -rank || given >= rank)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "%s %" PRId64 " is outside [%" PRId32 ", %" PRId32 "]", name, given,
                             -rank, rank - 1);
  *axis = (int32_t)(given < 0 ? given + rank : given);
  return GATHER_OK;
}

/* uint8 data is packed along its last dimension, so only that one is quantised, and another is gathered. */
static gather_status check_axes(const gather_tensor *data, const gather_block_quantized *given, block_rules *rules, gather_error *error) {
  int32_t gather_axis = 0;
  if (data->rank < 1) return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "data is 0-D; it needs a rank of at least 1");
  GATHER_TRY(check_axis("quantize_axis", given->quantize_axis, data->rank, &rules->axis, error));
  GATHER_TRY(check_axis("gather_axis", given->gather_axis, data->rank, &gather_axis, error));
  if (data->type != GATHER_TYPE_UINT8) return GATHER_OK;
  if (gather_axis != 0)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "gather_axis is %" PRId32 "; for data of type uint8 it is 0",
                             gather_axis);
  if (rules->axis != data->rank - 1 || rules->axis == 0)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis",
                             "quantize_axis is %" PRId32 "; for data of type uint8 it is the last dimension, and not gather_axis",
                             rules->axis);
  return GATHER_OK;
}

/* The number of scales along dimension d. */
static gather_status count_scales(const gather_tensor *data, const block_rules *rules, int32_t d, int64_t *count, gather_error *error) {
  int64_t len = data->shape[d], block = rules->block_size;
  *count = len;
  if (d != rules->axis) return GATHER_OK;
  if (!gather_mul(len, rules->per_byte, &len))
    return gather_fail_input(error, GATHER_OVERFLOW, "data", "the elements of a row of data do not fit in 63 bits");
  *count = block == 0 ? len > 0 : len / block + (len % block != 0);
  return GATHER_OK;
}

static gather_status fail_shape(const char *name, const gather_tensor *side, int32_t d, int64_t wanted, const gather_tensor *data,
                                gather_error *error) {
  char shape[160], data_shape[160];
  gather_shape_text(shape, sizeof shape, side->rank, side->shape);
  gather_shape_text(data_shape, sizeof data_shape, data->rank, data->shape);
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, name, "%s %s for data %s: the length of dimension %" PRId32 " must be %" PRId64,
                           name, shape, data_shape, d, wanted);
}

/* packed: elements of the side tensor in one of its own along the quantised axis. */
static gather_status check_side(const char *name, const gather_tensor *side, const gather_tensor *data, const block_rules *rules,
                                int64_t packed, gather_error *error) {
  if (side->rank != data->rank)
    return gather_fail_input(error, GATHER_RANK_MISMATCH, name, "%s of rank %" PRId32 " for data of rank %" PRId32, name, side->rank,
                             data->rank);
  for (int32_t d = 0; d < data->rank; d++) {
    int64_t wanted;
    GATHER_TRY(count_scales(data, rules, d, &wanted, error));
    if (rules->is_float && d != rules->axis && side->shape[d] == 1) continue; /* one scale for the whole dimension */
    if (d == rules->axis) wanted = wanted / packed + (wanted % packed != 0);
    if (side->shape[d] != wanted) return fail_shape(name, side, d, wanted, data, error);
  }
  return GATHER_OK;
}

static gather_status check_scales(const gather_tensor *scales, const gather_tensor *data, const block_rules *rules, gather_error *error) {
  if (!scales) return gather_fail_input(error, GATHER_USAGE, "scales", "the scales are NULL");
  GATHER_TRY(gather_tensor_check_input(scales, "scales", error));
  if (scales->type != GATHER_TYPE_FLOAT32 && scales->type != GATHER_TYPE_FLOAT16 && scales->type != GATHER_TYPE_BFLOAT16)
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "scales",
                             "scales of type %s; GatherBlockQuantized takes float32, float16 and bfloat16",
                             gather_type_get(scales->type)->name);
  return check_side("scales", scales, data, rules, 1, error);
}

static gather_status check_zero_points(const gather_tensor *points, const gather_tensor *data, const block_rules *rules,
                                       gather_error *error) {
  if (!points) return GATHER_OK;
  GATHER_TRY(gather_tensor_check_input(points, "zero_points", error));
  if (rules->is_float)
    return gather_fail_input(error, GATHER_USAGE, "zero_points", "data of type %s has no zero points", gather_type_get(data->type)->name);
  if (points->type != data->type)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "zero_points", "zero_points of type %s for data of type %s",
                             gather_type_get(points->type)->name, gather_type_get(data->type)->name);
  return check_side("zero_points", points, data, rules, rules->per_byte, error);
}

/* What the bytes of uint8 data, and of its zero points, hold; NONE: an element is a byte. */
static gather_type code_of(const gather_tensor *data, const block_rules *rules) {
  if (data->type != GATHER_TYPE_UINT8 || rules->bits == 8) return GATHER_TYPE_NONE;
  return rules->bits == 4 ? GATHER_TYPE_UINT4 : GATHER_TYPE_UINT2;
}

gather_status gather_block_quantized_describe(const gather_tensor *data, const gather_tensor *scales, const gather_tensor *zero_points,
                                              const gather_block_quantized *attributes, gather_quantized *quantized, gather_error *error) {
  static const gather_block_quantized INIT = GATHER_BLOCK_QUANTIZED_INIT;
  static const gather_quantized EMPTY = GATHER_QUANTIZED_INIT;
  gather_block_quantized full = INIT;
  block_rules rules;
  if (!data || !quantized) return gather_fail(error, GATHER_USAGE, "data or the result is NULL");
  GATHER_TRY(gather_struct_read(&full, sizeof full, attributes, "gather_block_quantized", "GATHER_BLOCK_QUANTIZED_INIT", error));
  GATHER_TRY(gather_tensor_check_input(data, "data", error));
  GATHER_TRY(check_bits(data->type, full.bits, &rules, error));
  GATHER_TRY(check_block_size(full.block_size, &rules, error));
  GATHER_TRY(check_axes(data, &full, &rules, error));
  GATHER_TRY(check_scales(scales, data, &rules, error));
  GATHER_TRY(check_zero_points(zero_points, data, &rules, error));
  *quantized = EMPTY;
  quantized->codec = rules.is_float ? GATHER_CODEC_FLOAT : GATHER_CODEC_AFFINE;
  quantized->data = data;
  quantized->code_type = quantized->zero_point_type = code_of(data, &rules);
  quantized->group_axis = rules.axis;
  quantized->group_len = rules.block_size;
  quantized->scale = scales;
  quantized->zero_point = zero_points;
  if (!zero_points) {
    quantized->zero_point_type = GATHER_TYPE_NONE;
    if (data->type == GATHER_TYPE_UINT8) quantized->code_offset = 1 << (rules.bits - 1);
  }
  return GATHER_OK;
}
