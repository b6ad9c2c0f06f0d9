/* SPDX-License-Identifier: MIT
 *
 * codec_sides.c: which side tensors a codec has, and whether their types and shapes fit the groups.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/codec/decoder.h"

enum { TEXT = 120 };

/* A tensor, its name in errors, and what its elements are. */
typedef struct given {
  const gather_tensor *tensor;
  const char *name;
  gather_type read_as;
  bool packed_bytes; /* a type of less than a byte in whole bytes, packed along the last axis */
} given;

static gather_status check_type(given *g, gather_error *error) {
  const gather_tensor *t = g->tensor;
  GATHER_TRY(gather_tensor_check_input(t, g->name, error));
  if (g->read_as == GATHER_TYPE_NONE) g->read_as = t->type;
  const gather_type_info *own = gather_type_row(t->type), *as = gather_type_get(g->read_as);
  if (!gather_number_readable(t->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, g->name, "the %s cannot be %s", g->name, own->name);
  if (!gather_number_readable(g->read_as))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, g->name, "the %s cannot be read as %s", g->name,
                             as ? as->name : "an unknown type");
  if (as->bits == own->bits && as->packing == own->packing) return GATHER_OK;
  g->packed_bytes = as->bits < 8 && (t->type == GATHER_TYPE_UINT8 || t->type == GATHER_TYPE_INT8);
  if (g->packed_bytes) return GATHER_OK;
  return gather_fail_input(error, GATHER_TYPE_MISMATCH, g->name, "elements of the %s are %s, which cannot hold %s",
                           g->name, own->name, as->name);
}

static gather_status check_memory(const given *g, gather_error *error) {
  if (g->tensor->data || gather_tensor_len(g->tensor) == 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, g->name, "the data pointer of the %s is NULL", g->name);
}

static void fill_in(const given *g, gather_side *side) {
  memset(side->strides, 0, sizeof side->strides);
  side->data = g->tensor->data;
  side->type = g->read_as;
  side->swapped = (g->tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  side->first = gather_type_is_packed(gather_type_row(g->tensor->type)) ? g->tensor->packed_offset : 0;
}

/* How many groups dimension d has. */
static int64_t groups_of(const gather_decoder *decoder, int32_t d) {
  const int64_t len = decoder->shape[d], each = decoder->groups[d];
  return len / each + (len % each != 0);
}

static gather_status wrong_shape(const gather_decoder *decoder, const given *g, gather_error *error) {
  int64_t needs[GATHER_MAX_RANK];
  char has[TEXT], must[TEXT];
  for (int32_t d = 0; d < decoder->rank; d++) needs[d] = groups_of(decoder, d);
  if (g->packed_bytes) {
    const int32_t each = 8 / gather_type_row(g->read_as)->bits;
    needs[decoder->rank - 1] = needs[decoder->rank - 1] / each + (needs[decoder->rank - 1] % each != 0);
  }
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, g->name, "the %s has the shape %s; the groups need %s%s",
                           g->name, gather_shape_text(has, sizeof has, g->tensor->rank, g->tensor->shape),
                           gather_shape_text(must, sizeof must, decoder->rank, needs), g->packed_bytes ? " bytes" : "");
}

/* One number for each group, in row-major order. */
static gather_status fit_flat(const gather_decoder *decoder, const given *g, int64_t *strides, gather_error *error) {
  int64_t len;
  if (!gather_shape_len(decoder->rank, decoder->shape, &len))
    return GATHER_OVERFLOW; /* codec_describe.c has checked it */
  const int64_t needs = len / decoder->flat_len + (len % decoder->flat_len != 0), has = gather_tensor_len(g->tensor);
  if (g->packed_bytes || !gather_tensor_is_row_major(g->tensor))
    return gather_fail_input(error, GATHER_UNSUPPORTED, g->name, "the %s of flat groups must be in row-major order",
                             g->name);
  if (has != needs && has != 1)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, g->name,
                             "the %s has %" PRId64 " elements; %" PRId64 " elements in flat groups of %" PRId64
                             " need %" PRId64,
                             g->name, has, len, decoder->flat_len, needs);
  const int64_t item = gather_tensor_item_bytes(g->tensor);
  strides[decoder->rank - 1] = has == 1 && needs != 1 ? 0 : item ? item : 1;
  return GATHER_OK;
}

/* Whole bytes with several numbers each. */
static gather_status fit_packed(const gather_decoder *decoder, const given *g, int64_t *strides, gather_error *error) {
  const gather_tensor *t = g->tensor;
  const int32_t each = 8 / gather_type_row(g->read_as)->bits, last = decoder->rank - 1;
  int64_t own[GATHER_MAX_RANK];
  gather_tensor_strides(t, own);
  if (t->rank != decoder->rank) return wrong_shape(decoder, g, error);
  for (int32_t d = 0; d <= last; d++) {
    const int64_t groups = groups_of(decoder, d), needs = d == last ? groups / each + (groups % each != 0) : groups;
    if (t->shape[d] != needs && !(d < last && t->shape[d] == 1)) return wrong_shape(decoder, g, error);
    strides[d] = t->shape[d] == 1 && d < last ? 0 : own[d] * each;
  }
  if (t->shape[last] > 1 && own[last] != 1)
    return gather_fail_input(error, GATHER_UNSUPPORTED, g->name, "the rows of the %s must have no gaps", g->name);
  strides[last] = 1;
  return GATHER_OK;
}

static gather_status fit(const gather_decoder *decoder, const given *g, int64_t *strides, gather_error *error) {
  const gather_tensor *t = g->tensor;
  int64_t own[GATHER_MAX_RANK];
  if (decoder->flat) return fit_flat(decoder, g, strides, error);
  if (g->packed_bytes) return fit_packed(decoder, g, strides, error);
  if (gather_tensor_len(t) == 1) return GATHER_OK;
  gather_tensor_strides(t, own);
  if (t->rank > decoder->rank) return wrong_shape(decoder, g, error);
  for (int32_t d = 0; d < decoder->rank; d++) {
    const int64_t needs = groups_of(decoder, d), has = d < t->rank ? t->shape[d] : 1;
    if (has != needs && has != 1) return wrong_shape(decoder, g, error);
    if (d >= t->rank && needs > 1) return wrong_shape(decoder, g, error);
    strides[d] = has == 1 ? 0 : own[d];
  }
  return GATHER_OK;
}

static gather_status describe(const gather_decoder *decoder, const gather_tensor *tensor, gather_type read_as,
                              const char *name, gather_side *side, gather_error *error) {
  given g = {tensor, name, read_as, false};
  if (!tensor) return GATHER_OK;
  GATHER_TRY(check_type(&g, error));
  GATHER_TRY(check_memory(&g, error));
  fill_in(&g, side);
  return fit(decoder, &g, side->strides, error);
}

/* A list of numbers of a given length, in row-major order. */
static gather_status describe_list(const gather_tensor *tensor, int64_t len, const char *name, gather_side *side,
                                   gather_error *error) {
  given g = {tensor, name, GATHER_TYPE_NONE, false};
  if (!tensor) return gather_fail_input(error, GATHER_USAGE, name, "the %s is missing", name);
  GATHER_TRY(check_type(&g, error));
  GATHER_TRY(check_memory(&g, error));
  if (gather_tensor_len(tensor) != len)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, name,
                             "the %s has %" PRId64 " elements; it must have %" PRId64, name, gather_tensor_len(tensor),
                             len);
  if (!gather_tensor_is_row_major(tensor) || gather_type_is_packed(gather_type_row(tensor->type)))
    return gather_fail_input(error, GATHER_UNSUPPORTED, name, "the %s must be whole bytes in row-major order", name);
  fill_in(&g, side);
  return GATHER_OK;
}

/* The scales of bitsandbytes: codes of a table times scales of their own, plus a constant. */
static gather_status describe_nested(const gather_quantized *q, gather_decoder *decoder, gather_error *error) {
  gather_side table;
  if (!q->scale_table && !q->scale_scale) return GATHER_OK;
  if (!q->scale) return gather_fail_input(error, GATHER_USAGE, "scale", "scale_table needs a scale");
  if (q->scale_group_len < 1)
    return gather_fail_input(error, GATHER_USAGE, "scale_scale",
                             "scale_group_len is %" PRId64 "; it must be at least 1", q->scale_group_len);
  if (q->scale->type != GATHER_TYPE_UINT8 || !gather_tensor_is_row_major(q->scale) || q->scale_type != GATHER_TYPE_NONE)
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "scale",
                             "scales that are codes must be uint8 in row-major order");
  const int64_t len = gather_tensor_len(q->scale), groups = len / q->scale_group_len + (len % q->scale_group_len != 0);
  GATHER_TRY(describe_list(q->scale_table, 256, "scale_table", &table, error));
  GATHER_TRY(describe_list(q->scale_scale, groups, "scale_scale", &decoder->scale_scale, error));
  decoder->scale_scale.strides[0] = gather_tensor_item_bytes(q->scale_scale);
  decoder->scale_group_len = q->scale_group_len, decoder->scale_offset = q->scale_offset;
  decoder->nested = true;
  return GATHER_OK;
}

static gather_status check_presence(const gather_codec_info *info, const gather_tensor *tensor, const char *name,
                                    uint32_t needs, uint32_t may, gather_error *error) {
  if (tensor && !(info->sides & (needs | may)))
    return gather_fail_input(error, GATHER_USAGE, name, "the codec %s has no %s", info->name, name);
  if (!tensor && info->sides & needs)
    return gather_fail_input(error, GATHER_USAGE, name, "the codec %s needs a %s", info->name, name);
  return GATHER_OK;
}

static gather_status check_all_present(const gather_quantized *q, const gather_codec_info *info, gather_error *error) {
  GATHER_TRY(check_presence(info, q->scale, "scale", GATHER_NEEDS_SCALE, GATHER_MAY_SCALE, error));
  GATHER_TRY(check_presence(info, q->zero_point, "zero_point", 0, GATHER_MAY_ZERO_POINT, error));
  GATHER_TRY(check_presence(info, q->bias, "bias", GATHER_NEEDS_BIAS, 0, error));
  GATHER_TRY(check_presence(info, q->table, "table", GATHER_NEEDS_TABLE, 0, error));
  GATHER_TRY(check_presence(info, q->scale2, "scale2", 0, GATHER_MAY_SCALE2, error));
  if (q->scale2 && !q->scale) return gather_fail_input(error, GATHER_USAGE, "scale", "scale2 needs a scale");
  const uint32_t scales = GATHER_NEEDS_SCALE | GATHER_MAY_SCALE;
  GATHER_TRY(check_presence(info, q->scale_table, "scale_table", 0, scales, error));
  return check_presence(info, q->scale_scale, "scale_scale", 0, scales, error);
}

gather_status gather_sides_describe(const gather_quantized *q, gather_decoder *decoder, gather_error *error) {
  gather_side table;
  GATHER_TRY(check_all_present(q, &decoder->info, error));
  GATHER_TRY(describe(decoder, q->scale, q->scale_type, "scale", &decoder->scale, error));
  GATHER_TRY(describe(decoder, q->zero_point, q->zero_point_type, "zero_point", &decoder->zero, error));
  GATHER_TRY(describe(decoder, q->bias, GATHER_TYPE_NONE, "bias", &decoder->bias, error));
  GATHER_TRY(describe(decoder, q->scale2, GATHER_TYPE_NONE, "scale2", &decoder->scale2, error));
  decoder->scale2_divides = q->scale2_divides;
  if (q->table) GATHER_TRY(describe_list(q->table, (int64_t)1 << decoder->bits, "table", &table, error));
  return describe_nested(q, decoder, error);
}
