/* SPDX-License-Identifier: MIT
 *
 * codec_describe.c: the table of codecs; checks the description of a quantised tensor and its side tensors.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "core/codec/decoder.h"

/* ---- the table of codecs */

static const gather_codec_info CODECS[] = {
#define GATHER_CODEC(ENUM, number, name, kind, block_len, block_bytes, bits, sides, value, source) \
  {GATHER_CODEC_##ENUM, name, GATHER_CODEC_##kind, block_len, block_bytes, bits, sides, value, source},
#include "gather/codec.def"
#undef GATHER_CODEC
};

/* Rows are in the order of their numbers, from 1: the lookup is an index. */
enum { CODEC_ROWS = sizeof CODECS / sizeof *CODECS };
#define GATHER_CODEC(ENUM, number, ...)                                                   \
  _Static_assert(GATHER_CODEC_##ENUM >= 1 && (int)GATHER_CODEC_##ENUM <= (int)CODEC_ROWS, \
                 "codec numbers have no "                                                 \
                 "gaps");
#include "gather/codec.def"
#undef GATHER_CODEC

const gather_codec_info *gather_codec_get(gather_codec codec) {
  return (int)codec < 1 || (int)codec > CODEC_ROWS ? NULL : &CODECS[(int)codec - 1];
}

gather_codec gather_codec_parse(const char *name) {
  for (int i = 0; name && i < CODEC_ROWS; i++)
    if (strcmp(CODECS[i].name, name) == 0) return CODECS[i].codec;
  return GATHER_CODEC_NONE;
}

gather_status gather_codec_check(gather_codec codec, gather_error *error) {
  const gather_codec_info *info = gather_codec_get(codec);
  if (!info) return gather_fail(error, GATHER_USAGE, "invalid codec %d", (int)codec);
  if (info->kind != GATHER_CODEC_REFUSED) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "data", "%s is not decoded: %s", info->name, info->value);
}

/* ---- side tensors: which ones a codec has, and whether their types and shapes fit the groups */

enum { TEXT = 120 };

/* A tensor, its name in errors, and what its elements are. */
typedef struct given {
  const gather_tensor *tensor;
  const char *name;
  gather_type read_as;
  bool packed_bytes; /* a type of less than a byte in whole bytes, packed along the last axis */
} given;

/* Whether numbers of a type can be read. */
static bool is_readable(gather_type type) {
  const gather_type_info *t = gather_type_get(type);
  if (!t || t->bits > 64) return false;
  if (t->packing != GATHER_PACKING_BYTES) return t->packing == GATHER_PACKING_LOW_FIRST;
  return t->kind == GATHER_KIND_FLOAT || t->kind == GATHER_KIND_INT || t->kind == GATHER_KIND_UINT;
}

static gather_status check_type(given *g, gather_error *error) {
  const gather_tensor *t = g->tensor;
  GATHER_TRY(gather_tensor_check_input(t, g->name, error));
  if (g->read_as == GATHER_TYPE_NONE) g->read_as = t->type;
  const gather_type_info *own = gather_type_row(t->type), *as = gather_type_get(g->read_as);
  if (!is_readable(t->type)) return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, g->name, "the %s cannot be %s", g->name, own->name);
  if (!is_readable(g->read_as))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, g->name, "the %s cannot be read as %s", g->name,
                             as ? as->name : "an unknown type");
  if (as->bits == own->bits && as->packing == own->packing) return GATHER_OK;
  g->packed_bytes = as->bits < 8 && (t->type == GATHER_TYPE_UINT8 || t->type == GATHER_TYPE_INT8);
  if (g->packed_bytes) return GATHER_OK;
  return gather_fail_input(error, GATHER_TYPE_MISMATCH, g->name, "elements of the %s are %s, which cannot hold %s", g->name, own->name,
                           as->name);
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
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, g->name, "the %s has the shape %s; the groups need %s%s", g->name,
                           gather_shape_text(has, sizeof has, g->tensor->rank, g->tensor->shape),
                           gather_shape_text(must, sizeof must, decoder->rank, needs), g->packed_bytes ? " bytes" : "");
}

/* One number for each group, in row-major order. */
static gather_status fit_flat(const gather_decoder *decoder, const given *g, int64_t *strides, gather_error *error) {
  int64_t len;
  if (!gather_shape_len(decoder->rank, decoder->shape, &len)) return GATHER_OVERFLOW; /* codec_describe.c has checked it */
  const int64_t needs = len / decoder->flat_len + (len % decoder->flat_len != 0), has = gather_tensor_len(g->tensor);
  if (g->packed_bytes || !gather_tensor_is_row_major(g->tensor))
    return gather_fail_input(error, GATHER_UNSUPPORTED, g->name, "the %s of flat groups must be in row-major order", g->name);
  if (has != needs && has != 1)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, g->name,
                             "the %s has %" PRId64 " elements; %" PRId64 " elements in flat groups of %" PRId64 " need %" PRId64, g->name,
                             has, len, decoder->flat_len, needs);
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

static gather_status describe_side(const gather_decoder *decoder, const gather_tensor *tensor, gather_type read_as, const char *name,
                                   gather_side *side, gather_error *error) {
  given g = {tensor, name, read_as, false};
  if (!tensor) return GATHER_OK;
  GATHER_TRY(check_type(&g, error));
  GATHER_TRY(check_memory(&g, error));
  fill_in(&g, side);
  return fit(decoder, &g, side->strides, error);
}

/* A list of numbers of a given length, in row-major order. */
static gather_status describe_list(const gather_tensor *tensor, int64_t len, const char *name, gather_side *side, gather_error *error) {
  given g = {tensor, name, GATHER_TYPE_NONE, false};
  if (!tensor) return gather_fail_input(error, GATHER_USAGE, name, "the %s is missing", name);
  GATHER_TRY(check_type(&g, error));
  GATHER_TRY(check_memory(&g, error));
  if (gather_tensor_len(tensor) != len)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, name, "the %s has %" PRId64 " elements; it must have %" PRId64, name,
                             gather_tensor_len(tensor), len);
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
    return gather_fail_input(error, GATHER_USAGE, "scale_scale", "scale_group_len is %" PRId64 "; it must be at least 1",
                             q->scale_group_len);
  if (q->scale->type != GATHER_TYPE_UINT8 || !gather_tensor_is_row_major(q->scale) || q->scale_type != GATHER_TYPE_NONE)
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "scale", "scales that are codes must be uint8 in row-major order");
  const int64_t len = gather_tensor_len(q->scale), groups = len / q->scale_group_len + (len % q->scale_group_len != 0);
  GATHER_TRY(describe_list(q->scale_table, 256, "scale_table", &table, error));
  GATHER_TRY(describe_list(q->scale_scale, groups, "scale_scale", &decoder->scale_scale, error));
  decoder->scale_scale.strides[0] = gather_tensor_item_bytes(q->scale_scale);
  decoder->scale_group_len = q->scale_group_len, decoder->scale_offset = q->scale_offset;
  decoder->nested = true;
  return GATHER_OK;
}

static gather_status check_presence(const gather_codec_info *info, const gather_tensor *tensor, const char *name, uint32_t needs,
                                    uint32_t may, gather_error *error) {
  if (tensor && !(info->sides & (needs | may)))
    return gather_fail_input(error, GATHER_USAGE, name, "the codec %s has no %s", info->name, name);
  if (!tensor && info->sides & needs) return gather_fail_input(error, GATHER_USAGE, name, "the codec %s needs a %s", info->name, name);
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

/* Describes every side tensor of a decoder whose shape and groups are known. */
static gather_status describe_sides(const gather_quantized *q, gather_decoder *decoder, gather_error *error) {
  gather_side table;
  GATHER_TRY(check_all_present(q, &decoder->info, error));
  GATHER_TRY(describe_side(decoder, q->scale, q->scale_type, "scale", &decoder->scale, error));
  GATHER_TRY(describe_side(decoder, q->zero_point, q->zero_point_type, "zero_point", &decoder->zero, error));
  GATHER_TRY(describe_side(decoder, q->bias, GATHER_TYPE_NONE, "bias", &decoder->bias, error));
  GATHER_TRY(describe_side(decoder, q->scale2, GATHER_TYPE_NONE, "scale2", &decoder->scale2, error));
  decoder->scale2_divides = q->scale2_divides;
  if (q->table) GATHER_TRY(describe_list(q->table, (int64_t)1 << decoder->bits, "table", &table, error));
  return describe_nested(q, decoder, error);
}

/* ---- the whole description: where the codes of a line are, the shape of the values, groups */

/* How many codes the rows of data hold, and whether the last stride may be anything. */
typedef struct capacity {
  int64_t line;     /* codes along the last axis */
  bool whole_lines; /* the last axis must be without gaps */
  bool padded;      /* a line ends with bits that are no code */
} capacity;

static gather_status fail_type(const gather_decoder *decoder, gather_type type, gather_error *error) {
  return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "data", "%s data of the codec %s is not supported",
                           gather_type_get(type) ? gather_type_get(type)->name : "unknown", decoder->info.name);
}

static bool is_bytes(gather_type type) { return type == GATHER_TYPE_UINT8 || type == GATHER_TYPE_INT8; }

/* ---- blocks, and rows with their scale at the end */

static gather_status describe_blocks(const gather_tensor *data, gather_decoder *decoder, capacity *holds, gather_error *error) {
  const int64_t bytes = decoder->info.block_bytes, len = data->shape[data->rank - 1];
  holds->whole_lines = true;
  if (data->type == GATHER_TYPE_OPAQUE) {
    if (data->item_bytes != bytes)
      return gather_fail_input(error, GATHER_TYPE_MISMATCH, "data", "data has elements of %" PRId64 " bytes; a block of %s has %" PRId64,
                               data->item_bytes, decoder->info.name, bytes);
    if (!gather_mul(len, decoder->info.block_len, &holds->line))
      return gather_fail_input(error, GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
    return GATHER_OK;
  }
  if (!is_bytes(data->type)) return fail_type(decoder, data->type, error);
  if (len % bytes != 0)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                             "data has rows of %" PRId64 " bytes, not a multiple of %" PRId64 ", the bytes of a block of %s", len, bytes,
                             decoder->info.name);
  if (!gather_mul(len / bytes, decoder->info.block_len, &holds->line))
    return gather_fail_input(error, GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
  return GATHER_OK;
}

static gather_status describe_packed(const gather_tensor *data, gather_decoder *decoder, capacity *holds, gather_error *error) {
  const int64_t len = data->shape[data->rank - 1];
  holds->whole_lines = true;
  if (!is_bytes(data->type)) return fail_type(decoder, data->type, error);
  if (len < decoder->info.block_bytes)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                             "data has rows of %" PRId64 " bytes; the scale and the bias of %s need %" PRId32, len, decoder->info.name,
                             decoder->info.block_bytes);
  decoder->bits = decoder->info.bits, decoder->code_type = GATHER_TYPE_UINT8;
  decoder->code_bytes = len - decoder->info.block_bytes;
  if (gather_mul(decoder->code_bytes, 8 / decoder->bits, &holds->line)) return GATHER_OK;
  return gather_fail_input(error, GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
}

/* ---- codes */

static gather_status check_code_type(const gather_quantized *q, const gather_decoder *decoder, gather_error *error) {
  const gather_type_info *type = gather_type_get(decoder->code_type);
  const gather_codec codec = decoder->info.codec;
  if (!type) return gather_fail(error, GATHER_USAGE, "invalid code_type %d", (int)decoder->code_type);
  const bool is_float = type->kind == GATHER_KIND_FLOAT, is_uint = type->kind == GATHER_KIND_UINT;
  const bool split = type->packing == GATHER_PACKING_SPLIT_3 || type->packing == GATHER_PACKING_SPLIT_6;
  const bool fits = codec == GATHER_CODEC_FLOAT                                    ? is_float
                    : codec == GATHER_CODEC_AFFINE || codec == GATHER_CODEC_BIASED ? is_uint || type->kind == GATHER_KIND_INT
                                                                                   : is_uint;
  const bool wide = codec == GATHER_CODEC_FLOAT && type->bits <= 64 && q->data->type == decoder->code_type;
  if (type->bits < 1 || (type->bits > 8 && !wide) || split || !fits)
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, "data", "codes of the codec %s cannot be %s", decoder->info.name, type->name);
  if (decoder->info.bits && decoder->bits != decoder->info.bits)
    return gather_fail(error, GATHER_USAGE, "codes of the codec %s have %" PRId32 " bits, not %" PRId32, decoder->info.name,
                       decoder->info.bits, decoder->bits);
  if (q->code_bits == 0 || q->code_bits == type->bits) return GATHER_OK;
  if (is_uint && type->packing == GATHER_PACKING_BYTES && q->code_bits > 0 && q->code_bits < type->bits) return GATHER_OK;
  return gather_fail(error, GATHER_USAGE, "code_bits is %" PRId32 ", which does not fit codes of %s", q->code_bits, type->name);
}

/* Each element is a code. */
static gather_status describe_elements(const gather_tensor *data, gather_decoder *decoder, capacity *holds) {
  const gather_type_info *type = gather_type_row(data->type);
  decoder->wide = type->bits > 8;
  decoder->wide_swapped = (data->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  decoder->by_code = gather_type_is_packed(type);
  decoder->first = decoder->by_code ? data->packed_offset : 0;
  decoder->high_first = type->packing == GATHER_PACKING_HIGH_FIRST;
  holds->line = data->shape[data->rank - 1];
  return GATHER_OK;
}

/* Codes in integers. */
static gather_status describe_container(const gather_quantized *q, gather_decoder *decoder, capacity *holds, gather_error *error) {
  const gather_tensor *data = q->data;
  const gather_type_info *type = gather_type_row(data->type);
  const bool swapped = (data->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  int64_t bits;
  if (type->kind != GATHER_KIND_INT && type->kind != GATHER_KIND_UINT) return fail_type(decoder, data->type, error);
  if (type->packing != GATHER_PACKING_BYTES) return fail_type(decoder, data->type, error);
  decoder->high_first = q->order == GATHER_CODE_ORDER_HIGH_FIRST && decoder->bits < 8;
  if (decoder->high_first && (8 % decoder->bits != 0 || type->bits != 8))
    return gather_fail(error, GATHER_USAGE, "codes of %" PRId32 " bits in %s cannot be in the order high first", decoder->bits, type->name);
  if (swapped != (GATHER_BIG_ENDIAN != 0)) decoder->swap_bytes = type->bits / 8;
  holds->whole_lines = decoder->bits != 8 || type->bits != 8;
  if (!gather_mul(data->shape[data->rank - 1], type->bits, &bits))
    return gather_fail_input(error, GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
  holds->line = bits / decoder->bits, holds->padded = bits % decoder->bits != 0;
  return GATHER_OK;
}

static gather_status describe_codes(const gather_quantized *q, gather_decoder *decoder, capacity *holds, gather_error *error) {
  const gather_type own = q->data->type;
  const bool table = decoder->info.bits == 4 && is_bytes(own);
  decoder->code_type = q->code_type != GATHER_TYPE_NONE ? q->code_type : table ? GATHER_TYPE_UINT4 : own;
  const gather_type_info *type = gather_type_get(decoder->code_type);
  decoder->bits = q->code_bits ? q->code_bits : type ? type->bits : 0;
  GATHER_TRY(check_code_type(q, decoder, error));
  if (decoder->code_type == own && decoder->bits == type->bits) return describe_elements(q->data, decoder, holds);
  return describe_container(q, decoder, holds, error);
}

/* ---- shapes */

/* Elements of data lie as its strides say. */
static gather_status use_strides(const gather_tensor *data, const capacity *holds, gather_decoder *decoder, gather_error *error) {
  int64_t strides[GATHER_MAX_RANK];
  const int32_t last = data->rank - 1;
  const int64_t item = decoder->by_code ? 1 : gather_tensor_item_bytes(data);
  gather_tensor_strides(data, strides);
  memcpy(decoder->strides, strides, (size_t)last * sizeof *strides);
  decoder->step = data->shape[last] > 1 && !holds->whole_lines ? strides[last] / item : 1;
  if (decoder->wide && data->shape[last] > 1 && strides[last] % item != 0)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "data",
                             "the elements of a row of data are %" PRId64 " bytes apart, not a multiple of their size", strides[last]);
  if (!decoder->by_code && !gather_mul(data->shape[last], item, &decoder->line_bytes))
    return gather_fail_input(error, GATHER_OVERFLOW, "data", "the length of a row of data does not fit in 63 bits");
  if (holds->whole_lines && data->shape[last] > 1 && strides[last] != item)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "data", "the rows of data must have no gaps (codec %s)", decoder->info.name);
  return GATHER_OK;
}

/* The codes of all elements follow each other, whatever the shape of data. */
static gather_status use_flat(const gather_tensor *data, const capacity *holds, gather_decoder *decoder, gather_error *error) {
  const gather_codec_info *info = &decoder->info;
  const int64_t line = gather_decoder_line_len(decoder), len = data->shape[data->rank - 1];
  int64_t needs = 0, has = 0;
  char text[120];
  if (info->kind == GATHER_CODEC_PACKED || !gather_tensor_is_row_major(data))
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                             "the shape %s cannot be given for data of another shape: the rows of data are not contiguous",
                             gather_shape_text(text, sizeof text, decoder->rank, decoder->shape));
  if (holds->padded && data->rank > 1)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                             "the shape %s cannot be given for data of another shape: the rows of data end with unused bits",
                             gather_shape_text(text, sizeof text, decoder->rank, decoder->shape));
  if (!gather_shape_len(decoder->rank, decoder->shape, &needs) ||
      (len > 0 && !gather_mul(gather_tensor_len(data) / len, holds->line, &has)) || has < needs)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data", "data holds %" PRId64 " codes; the shape %s needs more", has,
                             gather_shape_text(text, sizeof text, decoder->rank, decoder->shape));
  decoder->by_code = info->kind == GATHER_CODEC_CODES && !decoder->wide;
  if (needs == 0) return GATHER_OK;
  if (decoder->wide) decoder->line_bytes = line * gather_tensor_item_bytes(data);
  const int64_t step = decoder->by_code ? line : decoder->wide ? decoder->line_bytes : line / info->block_len * info->block_bytes;
  for (int32_t d = decoder->rank - 2; d >= 0; d--)
    decoder->strides[d] = d == decoder->rank - 2 ? step : decoder->strides[d + 1] * decoder->shape[d + 1];
  return GATHER_OK;
}

static bool leads_alike(const gather_quantized *q) {
  if (q->rank != q->data->rank) return false;
  for (int32_t d = 0; d + 1 < q->rank; d++)
    if (q->shape[d] != q->data->shape[d]) return false;
  return true;
}

static gather_status find_shape(const gather_quantized *q, const capacity *holds, gather_decoder *decoder, gather_error *error) {
  const gather_tensor *data = q->data;
  const bool own_shape = q->rank != 0;
  decoder->rank = own_shape ? q->rank : data->rank, decoder->step = 1;
  if (decoder->rank < 1 || decoder->rank > GATHER_MAX_RANK || (own_shape && !q->shape))
    return gather_fail(error, GATHER_USAGE, "the rank of the values is %" PRId32 "%s", q->rank,
                       own_shape && !q->shape ? ", and their shape is NULL" : "");
  for (int32_t d = 0; d < decoder->rank; d++) {
    decoder->shape[d] = own_shape ? q->shape[d] : d == data->rank - 1 ? holds->line : data->shape[d];
    if (decoder->shape[d] < 0) return gather_fail(error, GATHER_USAGE, "a length of the shape of the values is negative");
  }
  int64_t len;
  if (!gather_shape_len(decoder->rank, decoder->shape, &len))
    return gather_fail_input(error, GATHER_OVERFLOW, "data", "the number of values does not fit in 63 bits");
  if (gather_decoder_line_len(decoder) % decoder->info.block_len != 0)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data", "rows of %" PRId64 " values are not whole blocks of %s",
                             gather_decoder_line_len(decoder), decoder->info.name);
  if (own_shape && !leads_alike(q)) return use_flat(data, holds, decoder, error);
  if (gather_decoder_line_len(decoder) > holds->line)
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "data",
                             "rows of data hold %" PRId64 " values; the shape of the values needs %" PRId64, holds->line,
                             gather_decoder_line_len(decoder));
  return use_strides(data, holds, decoder, error);
}

/* ---- groups */

static gather_status find_groups(const gather_quantized *q, gather_decoder *decoder, gather_error *error) {
  const int32_t rank = decoder->rank;
  const int64_t axis = q->group_axis < 0 ? q->group_axis + rank : q->group_axis;
  decoder->flat = q->flat_groups, decoder->flat_len = q->group_len;
  if (decoder->flat && q->group_len < 1)
    return gather_fail(error, GATHER_USAGE, "group_len is %" PRId64 "; flat groups need at least 1", q->group_len);
  if (axis < 0 || axis >= rank)
    return gather_fail(error, GATHER_AXIS_OUT_OF_RANGE, "group_axis is %" PRId64 "; it must be in [%d, %d]", q->group_axis, -(int)rank,
                       (int)rank - 1);
  for (int32_t d = 0; d < rank; d++) {
    const int64_t len = decoder->flat ? 1 : q->groups ? q->groups[d] : d == axis ? q->group_len : 1;
    if (len < 0) return gather_fail(error, GATHER_USAGE, "the group length %" PRId64 " is negative", len);
    decoder->groups[d] = len > 0 ? len : decoder->shape[d] > 0 ? decoder->shape[d] : 1;
  }
  return GATHER_OK;
}

static gather_status describe(const gather_quantized *q, gather_decoder *decoder, gather_error *error) {
  capacity holds = {0, false, false};
  memset(decoder, 0, sizeof *decoder);
  GATHER_TRY(gather_codec_check(q->codec, error));
  decoder->info = *gather_codec_get(q->codec), decoder->swap_bytes = 1;
  if (!q->data) return gather_fail_input(error, GATHER_USAGE, "data", "data is NULL");
  GATHER_TRY(gather_tensor_check_input(q->data, "data", error));
  if (q->data->rank < 1) return gather_fail_input(error, GATHER_RANK_MISMATCH, "data", "data must have a rank of at least 1");
  if (decoder->info.kind == GATHER_CODEC_BLOCKS)
    GATHER_TRY(describe_blocks(q->data, decoder, &holds, error));
  else if (decoder->info.kind == GATHER_CODEC_PACKED)
    GATHER_TRY(describe_packed(q->data, decoder, &holds, error));
  else
    GATHER_TRY(describe_codes(q, decoder, &holds, error));
  decoder->data = q->data->data;
  GATHER_TRY(find_shape(q, &holds, decoder, error));
  GATHER_TRY(find_groups(q, decoder, error));
  return describe_sides(q, decoder, error);
}

gather_status gather_decoder_describe(const gather_quantized *quantized, gather_decoder *decoder, gather_error *error) {
  gather_quantized full = GATHER_QUANTIZED_INIT;
  if (!quantized) return gather_fail(error, GATHER_USAGE, "the quantised tensor is NULL");
  GATHER_TRY(gather_struct_read(&full, sizeof full, quantized, "gather_quantized", "GATHER_QUANTIZED_INIT", error));
  return describe(&full, decoder, error);
}
