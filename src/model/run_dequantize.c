/* SPDX-License-Identifier: MIT
 *
 * run_dequantize.c: values that are dequantised: what makes them from constants (OpenVINO's Convert, Subtract and Multiply, as its
 * compressed weights have them, and ONNX's DequantizeLinear), and the gathers that decode the rows that they take, never the whole table.
 * A value is only described until something else than a gather needs it.
 *
 * Values are computed in float32 and rounded once, to the type of the last Convert, as OpenVINO's CPU device and ONNX Runtime do
 * (docs/extend/readings.md).
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/float_bits.h"
#include "gather/codec.h"
#include "model/infer.h"
#include "model/model_run.h"

/* The codec is GATHER_CODEC_NONE if the data is numbers of 16 bits or more, which only become another type. The tensors that `as`
 * refers to are those beside it; their types are GATHER_TYPE_NONE where there is none. */
struct gather_dequantized {
  gather_quantized as;
  gather_tensor data, scale, zero_point, table;
  int64_t groups[GATHER_MAX_RANK]; /* along each dimension of data */
};

/* ---- which nodes dequantise constants */

/* What a value is, as far as the constants of the file say it. */
typedef enum value_form {
  FORM_OTHER = 0,
  FORM_CONSTANT, /* its elements are there */
  FORM_CODES,    /* constants as another type */
  FORM_SHIFTED,  /* .. less their zero points */
  FORM_SCALED    /* .. times their scales */
} value_form;

enum { DEEPEST_FORM = 16 };

static value_form form_of(const gather_running *run, const char *name, int depth);

static bool is_operand(value_form form) { return form == FORM_CONSTANT || form == FORM_CODES; }

static value_form multiply_form(value_form a, value_form b) {
  bool first = (a == FORM_CODES || a == FORM_SHIFTED) && is_operand(b);
  bool second = (b == FORM_CODES || b == FORM_SHIFTED) && is_operand(a);
  return first || second ? FORM_SCALED : FORM_OTHER;
}

static bool same(const gather_running *run, const gather_node *node, const char *op) {
  return gather_model_same_op(run->model, node->op, op);
}

static value_form input_form(const gather_running *run, const gather_node *node, int32_t i, int depth) {
  return i < node->input_count ? form_of(run, node->inputs[i], depth) : FORM_OTHER;
}

/* A node of OpenVINO. */
static value_form layer_form(const gather_running *run, const gather_node *node, int depth) {
  value_form first = input_form(run, node, 0, depth);
  if (first == FORM_OTHER) return FORM_OTHER;
  if (same(run, node, "Convert")) return first == FORM_CONSTANT ? FORM_CODES : first;
  if (same(run, node, "Reshape")) return first == FORM_CONSTANT ? FORM_OTHER : FORM_SCALED;
  value_form second = input_form(run, node, 1, depth);
  if (same(run, node, "Subtract")) return first == FORM_CODES && is_operand(second) ? FORM_SHIFTED : FORM_OTHER;
  return same(run, node, "Multiply") ? multiply_form(first, second) : FORM_OTHER;
}

static value_form linear_form(const gather_running *run, const gather_node *node, int depth) {
  for (int32_t i = 0; i < node->input_count; i++)
    if (*node->inputs[i] && form_of(run, node->inputs[i], depth) != FORM_CONSTANT) return FORM_OTHER;
  return FORM_SCALED;
}

static value_form node_form(const gather_running *run, const gather_node *node, int depth) {
  if (gather_model_is_openvino(run->model)) return gather_run_is_own(run->model, node) ? layer_form(run, node, depth) : FORM_OTHER;
  return strcmp(node->op, "DequantizeLinear") == 0 ? linear_form(run, node, depth) : FORM_OTHER;
}

/* Whether the file says a value's elements. In IR a node makes it. */
static bool is_constant(const gather_running *run, const gather_run_value *value) {
  for (; value && value->source && !value->given; run = run->outer) value = gather_run_find(run->outer, value->source);
  return value && !value->given && (value->producer < 0 || run->graph->nodes[value->producer].input_count == 0);
}

static value_form form_of(const gather_running *run, const char *name, int depth) {
  const gather_run_value *value = *name ? gather_run_find(run, name) : NULL;
  if (!value || depth > DEEPEST_FORM) return FORM_OTHER;
  if (value->ready && value->dequantized) {
    const gather_dequantized *as = value->dequantized;
    return as->as.scale ? FORM_SCALED : as->as.zero_point ? FORM_SHIFTED : FORM_CODES;
  }
  if (value->ready) return is_constant(run, value) ? FORM_CONSTANT : FORM_OTHER;
  if (value->missing || value->producer < 0) return FORM_OTHER;
  return node_form(run, &run->graph->nodes[value->producer], depth + 1);
}

bool gather_run_dequantizes(const gather_running *run, const gather_node *node) { return node_form(run, node, 0) != FORM_OTHER; }

/* ---- descriptions */

/* The dequantised value of input number i; NULL if it is another one. */
static gather_dequantized *dequantized_in(const gather_running *run, const gather_node *node, int32_t i) {
  if (i >= node->input_count || !*node->inputs[i]) return NULL;
  const gather_run_value *value = gather_run_find(run, node->inputs[i]);
  return value && value->ready ? value->dequantized : NULL;
}

/* Sets the value of output number 0, which has that type and shape, without computing it. */
static void give_dequantized(gather_running *run, const gather_node *node, const gather_tensor *tensor, gather_dequantized *dequantized) {
  gather_tensor described = *tensor;
  if (node->output_count < 1 || !*node->outputs[0]) return;
  gather_run_value *value = gather_run_find(run, node->outputs[0]);
  if (value->given) return;
  described.data = NULL;
  described.strides = NULL;
  described.packed_offset = 0;
  described.flags = 0;
  gather_run_give(run, node, &described);
  value->dequantized = dequantized;
}

bool gather_run_keep_dequantized(gather_running *run, const gather_node *node, const gather_tensor *tensor) {
  gather_dequantized *dequantized = dequantized_in(run, node, 0);
  if (dequantized) give_dequantized(run, node, tensor, dequantized);
  return dequantized != NULL;
}

/* Writes element number i of a row-major float32, float16 or bfloat16 tensor, rounded to nearest even. */
static void store_float(const gather_tensor *tensor, int64_t i, float number) {
  char *at = (char *)tensor->data + i * (gather_type_get(tensor->type)->bits / 8);
  uint16_t half;
  if (tensor->type == GATHER_TYPE_FLOAT32) {
    memcpy(at, &number, sizeof number);
    return;
  }
  half = tensor->type == GATHER_TYPE_FLOAT16 ? gather_half_nearest(number) : gather_bfloat_nearest(number);
  memcpy(at, &half, sizeof half);
}

static gather_dequantized *make(gather_running *run, const gather_tensor *data) {
  static const gather_quantized INIT = GATHER_QUANTIZED_INIT;
  gather_dequantized *made = gather_arena_take(run->arena, 1, (int64_t)sizeof *made);
  if (!made) return NULL;
  made->as = INIT;
  made->data = *data;
  made->as.data = &made->data;
  made->as.groups = made->groups;
  for (int32_t d = 0; d < data->rank; d++) made->groups[d] = 1;
  return made;
}

static gather_dequantized *copy_of(gather_running *run, const gather_dequantized *from) {
  gather_dequantized *made = gather_arena_take(run->arena, 1, (int64_t)sizeof *made);
  if (!made) return NULL;
  *made = *from;
  made->as.data = &made->data;
  made->as.groups = made->groups;
  if (from->as.scale) made->as.scale = &made->scale;
  if (from->as.zero_point) made->as.zero_point = &made->zero_point;
  if (from->as.table) made->as.table = &made->table;
  return made;
}

/* How constants of a type are decoded. */
static gather_status find_codec(gather_type type, gather_codec *codec, gather_error *error) {
  const gather_type_info *info = gather_type_get(type);
  bool integer = info->kind == GATHER_KIND_INT || info->kind == GATHER_KIND_UINT;
  if (!integer && info->kind != GATHER_KIND_FLOAT)
    return gather_fail(error, GATHER_UNSUPPORTED, "it dequantises constants of type %s, which is not supported", info->name);
  *codec = info->bits > 8            ? GATHER_CODEC_NONE
           : integer                 ? GATHER_CODEC_AFFINE
           : type == GATHER_TYPE_NF4 ? GATHER_CODEC_TABLE
                                     : GATHER_CODEC_FLOAT;
  return GATHER_OK;
}

/* The 16 values of nf4. They are no numbers of 16 bits, so the type that they become rounds them; other small floats fit every type. */
static gather_status add_table(gather_running *run, gather_type type, gather_dequantized *made, gather_error *error) {
  static const int64_t LEN[1] = {16};
  made->table = (gather_tensor){.type = type, .rank = 1, .shape = LEN};
  GATHER_TRY(gather_run_allocate(run, &made->table, error));
  for (unsigned char code = 0; code < 16; code++) {
    double number = 0;
    (void)gather_float_read(GATHER_TYPE_NF4, &code, &number);
    store_float(&made->table, code, (float)number);
  }
  made->as.table = &made->table;
  made->as.code_type = GATHER_TYPE_UINT4;
  made->data.type = GATHER_TYPE_UINT4; /* the same bytes */
  return GATHER_OK;
}

static bool is_result(gather_type type) {
  return type == GATHER_TYPE_FLOAT32 || type == GATHER_TYPE_FLOAT16 || type == GATHER_TYPE_BFLOAT16;
}

static gather_status check_result(gather_type type, gather_error *error) {
  if (is_result(type)) return GATHER_OK;
  const gather_type_info *info = gather_type_get(type);
  return gather_fail(error, GATHER_UNSUPPORTED, "it dequantises constants to %s; only float32, float16 and bfloat16 are supported",
                     info ? info->name : "an unknown type");
}

static gather_status convert(gather_running *run, const gather_node *node, gather_type type, gather_error *error) {
  gather_tensor out = *gather_run_operand(run, node, 0);
  gather_dequantized *before = dequantized_in(run, node, 0), *made;
  GATHER_TRY(check_result(type, error));
  made = before ? copy_of(run, before) : make(run, &out);
  if (!made) return gather_run_no_memory(error);
  if (!before) GATHER_TRY(find_codec(out.type, &made->as.codec, error));
  if (made->as.codec == GATHER_CODEC_TABLE && !made->as.table) GATHER_TRY(add_table(run, type, made, error));
  out.type = type;
  give_dequantized(run, node, &out, made);
  return GATHER_OK;
}

/* ---- arithmetic */

/* The constant that an operand is, or is made from. */
static const gather_tensor *constant_of(const gather_running *run, const gather_node *node, int32_t i) {
  const gather_dequantized *from = dequantized_in(run, node, i);
  return from ? &from->data : gather_run_operand(run, node, i);
}

/* A side tensor with as many dimensions as data, aligned at the end as NumPy broadcasts it. The data itself is not broadcast. */
static gather_status align(gather_running *run, const gather_tensor *side, const gather_tensor *data, gather_tensor *made,
                           gather_error *error) {
  int64_t lengths[GATHER_MAX_RANK], strides[GATHER_MAX_RANK];
  int32_t added = data->rank - side->rank;
  *made = *side;
  if (added < 0)
    return gather_fail(error, GATHER_UNSUPPORTED,
                       "its constants have the ranks %" PRId32 " and %" PRId32 ": only the second may be broadcast", data->rank,
                       side->rank);
  gather_tensor_strides(side, strides + added);
  for (int32_t d = 0; d < data->rank; d++) {
    lengths[d] = d < added ? 1 : side->shape[d - added];
    if (d < added) strides[d] = 0;
    if (lengths[d] != 1 && lengths[d] != data->shape[d])
      return gather_fail(error, GATHER_UNSUPPORTED,
                         "its constants have the lengths %" PRId64 " and %" PRId64 " in dimension %" PRId32
                         ": only the second may be broadcast",
                         data->shape[d], lengths[d], d);
  }
  made->rank = data->rank;
  GATHER_TRY(gather_run_shape(run, data->rank, lengths, &made->shape, error));
  return gather_run_shape(run, data->rank, strides, &made->strides, error);
}

/* The description of operand number i, to which something is added; the value keeps its type. */
static gather_status begin(gather_running *run, const gather_node *node, int32_t i, gather_dequantized **made, gather_error *error) {
  const gather_dequantized *from = dequantized_in(run, node, i);
  if (!from || from->as.scale || from->as.codec == GATHER_CODEC_NONE)
    return gather_fail(error, GATHER_UNSUPPORTED, "it computes something other than the dequantisation of constants");
  *made = copy_of(run, from);
  return *made ? GATHER_OK : gather_run_no_memory(error);
}

static gather_status finish(gather_running *run, const gather_node *node, int32_t i, gather_dequantized *made, gather_error *error) {
  gather_tensor out = *gather_run_operand(run, node, i);
  GATHER_TRY(gather_quantized_shape(&made->as, NULL, NULL, error));
  give_dequantized(run, node, &out, made);
  return GATHER_OK;
}

static gather_status subtract(gather_running *run, const gather_node *node, gather_error *error) {
  gather_dequantized *made;
  GATHER_TRY(begin(run, node, 0, &made, error));
  if (made->as.codec != GATHER_CODEC_AFFINE || made->as.zero_point)
    return gather_fail(error, GATHER_UNSUPPORTED, "it subtracts from %s constants, or for the second time",
                       gather_type_get(made->data.type)->name);
  GATHER_TRY(align(run, constant_of(run, node, 1), &made->data, &made->zero_point, error));
  made->as.zero_point = &made->zero_point;
  return finish(run, node, 0, made, error);
}

/* Which operand has the codes: the one that is not a plain constant, nor a converted float. */
static int32_t find_codes(const gather_running *run, const gather_node *node) {
  const gather_dequantized *first = dequantized_in(run, node, 0);
  return first && first->as.codec != GATHER_CODEC_NONE ? 0 : 1;
}

static gather_status multiply(gather_running *run, const gather_node *node, gather_error *error) {
  gather_dequantized *made;
  int32_t codes = find_codes(run, node);
  GATHER_TRY(begin(run, node, codes, &made, error));
  const gather_dequantized *other = dequantized_in(run, node, 1 - codes);
  if (other && (other->as.scale || other->as.zero_point))
    return gather_fail(error, GATHER_UNSUPPORTED, "it multiplies two dequantised constants");
  GATHER_TRY(align(run, constant_of(run, node, 1 - codes), &made->data, &made->scale, error));
  made->as.scale = &made->scale;
  return finish(run, node, codes, made, error);
}

/* ---- DequantizeLinear */

typedef struct linear {
  int64_t axis, block_size;
  gather_type type; /* of the output */
} linear;

static gather_status read_integer(const gather_node *node, const char *name, int64_t *value, gather_error *error) {
  const gather_attribute *attribute = gather_node_attribute(node, name);
  if (!attribute || gather_attribute_integer(attribute, value)) return GATHER_OK;
  return gather_attribute_wrong(attribute, name, "INT", "a 64-bit integer", error);
}

static gather_status read_linear(const gather_node *node, const gather_tensor *data, const gather_tensor *scale, linear *found,
                                 gather_error *error) {
  int64_t number = 0;
  *found = (linear){1, 0, scale->type};
  GATHER_TRY(read_integer(node, "axis", &found->axis, error));
  GATHER_TRY(read_integer(node, "block_size", &found->block_size, error));
  GATHER_TRY(read_integer(node, "output_dtype", &number, error));
  for (int t = 1; number > 0 && gather_type_get((gather_type)t); t++)
    if (gather_type_get((gather_type)t)->onnx == number) found->type = (gather_type)t;
  if (scale->rank == 0) return GATHER_OK;
  if (found->axis < -data->rank || found->axis >= data->rank)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "axis %" PRId64 " is outside [%" PRId32 ", %" PRId32 "]", found->axis,
                             -data->rank, data->rank - 1);
  if (found->axis < 0) found->axis += data->rank;
  if (found->block_size < 0) return gather_fail(error, GATHER_FILE_MALFORMED, "block_size is %" PRId64, found->block_size);
  return GATHER_OK;
}

/* One number, one for each row of the axis, or (block_size above 0) blocks along it. */
static gather_status place_side(gather_running *run, const char *name, const gather_tensor *side, const linear *at,
                                const gather_tensor *data, gather_tensor *made, gather_error *error) {
  int64_t lengths[GATHER_MAX_RANK], strides[GATHER_MAX_RANK], own[GATHER_MAX_RANK];
  *made = *side;
  if (side->rank == 0 || at->block_size > 0 || (side->rank == 1 && side->shape[0] == 1)) return GATHER_OK;
  if (side->rank != 1 || side->shape[0] != data->shape[at->axis])
    return gather_fail_input(error, GATHER_SHAPE_MISMATCH, name, "%s of rank %" PRId32 " for an axis of length %" PRId64, name, side->rank,
                             data->shape[at->axis]);
  gather_tensor_strides(side, own);
  for (int32_t d = 0; d < data->rank; d++) {
    lengths[d] = d == at->axis ? side->shape[0] : 1;
    strides[d] = d == at->axis ? own[0] : 0;
  }
  made->rank = data->rank;
  GATHER_TRY(gather_run_shape(run, data->rank, lengths, &made->shape, error));
  return gather_run_shape(run, data->rank, strides, &made->strides, error);
}

/* Float types have a zero point too, which is 0. */
static gather_status check_zero(gather_running *run, const gather_tensor *point, gather_error *error) {
  gather_tensor dense;
  GATHER_TRY(gather_run_dense(run, point, &dense, error));
  const unsigned char *bytes = dense.data;
  for (int64_t i = 0, count = gather_tensor_bytes(&dense); i < count; i++)
    if (bytes[i] != 0) return gather_fail(error, GATHER_UNSUPPORTED, "its float zero point is not 0");
  return GATHER_OK;
}

static gather_status add_zero_point(gather_running *run, const gather_node *node, const linear *at, gather_dequantized *made,
                                    gather_error *error) {
  const gather_tensor *point = gather_run_operand(run, node, 2);
  if (!point) return GATHER_OK;
  if (point->type != made->data.type)
    return gather_fail_input(error, GATHER_TYPE_MISMATCH, "zero_point", "x_zero_point of type %s for x of type %s",
                             gather_type_get(point->type)->name, gather_type_get(made->data.type)->name);
  if (made->as.codec == GATHER_CODEC_FLOAT) return check_zero(run, point, error);
  GATHER_TRY(place_side(run, "x_zero_point", point, at, &made->data, &made->zero_point, error));
  made->as.zero_point = &made->zero_point;
  return GATHER_OK;
}

static gather_status dequantize_linear(gather_running *run, const gather_node *node, gather_error *error) {
  const gather_tensor *data = gather_run_operand(run, node, 0), *scale = gather_run_operand(run, node, 1);
  linear at;
  GATHER_TRY(read_linear(node, data, scale, &at, error));
  GATHER_TRY(check_result(at.type, error));
  gather_dequantized *made = make(run, data);
  if (!made) return gather_run_no_memory(error);
  GATHER_TRY(find_codec(data->type, &made->as.codec, error));
  if (made->as.codec == GATHER_CODEC_NONE)
    return gather_fail(error, GATHER_UNSUPPORTED, "it dequantises %s; only types of at most 8 bits are supported",
                       gather_type_get(data->type)->name);
  if (at.block_size > 0 && scale->rank > 0) made->groups[at.axis] = at.block_size;
  GATHER_TRY(place_side(run, "x_scale", scale, &at, data, &made->scale, error));
  made->as.scale = &made->scale;
  GATHER_TRY(add_zero_point(run, node, &at, made, error));
  GATHER_TRY(gather_quantized_shape(&made->as, NULL, NULL, error));
  gather_tensor out = *data;
  out.type = at.type;
  give_dequantized(run, node, &out, made);
  return GATHER_OK;
}

gather_status gather_run_dequantize(gather_running *run, const gather_node *node, gather_type type, gather_error *error) {
  if (strcmp(node->op, "Convert") == 0) return convert(run, node, type, error);
  if (strcmp(node->op, "Subtract") == 0) return subtract(run, node, error);
  return strcmp(node->op, "Multiply") == 0 ? multiply(run, node, error) : dequantize_linear(run, node, error);
}

/* ---- numbers of 16 bits or more, which only become another type */

/* An element in this machine's byte order as float32. */
static float read_number(const gather_type_info *type, const char *element) {
  double number = 0;
  int64_t integer;
  if (gather_float_read(type->type, element, &number)) return (float)number;
  (void)gather_integer_load(element, type->type, false, &integer);
  return type->kind == GATHER_KIND_UINT ? (float)(uint64_t)integer : (float)integer;
}

/* Numbers in row-major order as another type: each is rounded to float32, then to that type. */
static gather_status convert_numbers(gather_running *run, const gather_tensor *from, gather_tensor *out, gather_error *error) {
  const gather_type_info *type = gather_type_get(from->type);
  const int64_t bytes = type->bits / 8;
  const bool swapped = (from->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  GATHER_TRY(gather_run_allocate(run, out, error));
  for (int64_t i = 0, len = gather_tensor_len(from); i < len; i++) {
    char element[8];
    const char *at = (const char *)from->data + i * bytes;
    for (int64_t k = 0; k < bytes; k++) element[k] = at[swapped ? bytes - 1 - k : k];
    store_float(out, i, read_number(type, element));
  }
  return GATHER_OK;
}

/* ---- decoding */

static gather_status decode_all(gather_running *run, const gather_dequantized *from, gather_tensor *out, gather_error *error) {
  gather_tensor dense;
  if (from->as.codec != GATHER_CODEC_NONE) {
    GATHER_TRY(gather_run_allocate(run, out, error));
    return gather_dequantize(&from->as, out, run->executor, error);
  }
  GATHER_TRY(gather_run_dense(run, &from->data, &dense, error));
  return convert_numbers(run, &dense, out, error);
}

gather_status gather_run_decode(gather_running *run, gather_run_value *value, gather_error *error) {
  if (!value->ready || !value->dequantized) return GATHER_OK;
  gather_tensor out = {.type = value->tensor.type, .rank = value->dequantized->data.rank, .shape = value->dequantized->data.shape};
  GATHER_TRY(decode_all(run, value->dequantized, &out, error));
  out.rank = value->tensor.rank;
  out.shape = value->tensor.shape;
  value->tensor = out;
  value->dequantized = NULL;
  return GATHER_OK;
}

/* ---- gathering */

/* The output of a gather from data of that type and shape. */
static gather_status make_output(gather_running *run, const gather_op *op, const gather_tensor *data, const gather_tensor *indices,
                                 const gather_options *options, gather_tensor *out, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  *out = (gather_tensor){.type = data->type};
  GATHER_TRY(gather_output_shape(op, data, indices, options, shape, &out->rank, error));
  return gather_run_shape(run, out->rank, shape, &out->shape, error);
}

/* type: of the output, which is allocated. */
static gather_status take_rows(gather_running *run, const gather_op *op, const gather_quantized *quantized, gather_type type,
                               const gather_tensor *indices, const gather_options *options, gather_tensor *out, gather_error *error) {
  int64_t shape[GATHER_MAX_RANK];
  gather_options all = *options;
  /* Only the shape of data counts here: it needs an address, which nothing reads. */
  gather_tensor data = {.data = shape, .type = type, .shape = shape};
  GATHER_TRY(gather_quantized_shape(quantized, shape, &data.rank, error));
  GATHER_TRY(make_output(run, op, &data, indices, options, out, error));
  GATHER_TRY(gather_run_allocate(run, out, error));
  all.fresh_output = true; /* discarded after an error */
  return gather_take_quantized(op, quantized, indices, out, &all, error);
}

static gather_status take_block_quantized(gather_running *run, const gather_node *node, const gather_op *op, const gather_options *options,
                                          gather_error *error) {
  const gather_tensor *scales = gather_run_operand(run, node, GATHER_QUANTIZED_SCALES);
  gather_quantized quantized;
  gather_tensor out;
  GATHER_TRY(gather_node_describe(node, gather_run_operand(run, node, GATHER_QUANTIZED_DATA), scales,
                                  gather_run_operand(run, node, GATHER_QUANTIZED_ZERO_POINTS), &quantized, error));
  GATHER_TRY(take_rows(run, op, &quantized, scales->type, gather_run_operand(run, node, GATHER_QUANTIZED_INDICES), options, &out, error));
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

/* Whether a gather from `outer`, a reshaped `inner`, takes the same bytes from both: up to the axis nothing was reshaped. */
static bool reshapes_rows(const gather_tensor *outer, const gather_tensor *inner, int64_t axis) {
  if (axis < 0) axis += outer->rank;
  if (axis < 0 || axis >= outer->rank || axis >= inner->rank) return false;
  for (int64_t d = 0; d <= axis; d++)
    if (outer->shape[d] != inner->shape[d]) return false;
  return true;
}

static gather_status take_numbers(gather_running *run, const gather_op *op, const gather_tensor *data, gather_type type,
                                  const gather_tensor *indices, const gather_options *options, gather_tensor *out, gather_error *error) {
  gather_tensor rows;
  gather_options all = *options;
  GATHER_TRY(make_output(run, op, data, indices, options, &rows, error));
  GATHER_TRY(gather_run_allocate(run, &rows, error));
  rows.flags = data->flags & GATHER_TENSOR_BYTE_SWAPPED;
  all.fresh_output = true;
  GATHER_TRY(gather_apply(op, data, indices, &rows, &all, error));
  *out = rows;
  out->type = type;
  out->flags = 0;
  return convert_numbers(run, &rows, out, error);
}

/* Gathers rows of input number 0, a dequantised value, and decodes them. */
static gather_status take_dequantized(gather_running *run, const gather_node *node, const gather_op *op, const gather_options *options,
                                      gather_error *error) {
  const gather_tensor *outer = gather_run_operand(run, node, 0), *indices = gather_run_operand(run, node, 1);
  const gather_dequantized *from = dequantized_in(run, node, 0);
  gather_tensor shaped = *outer, whole, out;
  shaped.data = run; /* needs an address, which nothing reads */
  gather_options same = *options;
  if (same.axis < 0) same.axis += outer->rank; /* data may have another rank before it is reshaped */
  GATHER_TRY(make_output(run, op, &shaped, indices, options, &whole, error));
  if (from->as.codec == GATHER_CODEC_NONE)
    GATHER_TRY(take_numbers(run, op, &from->data, outer->type, indices, &same, &out, error));
  else
    GATHER_TRY(take_rows(run, op, &from->as, outer->type, indices, &same, &out, error));
  out.rank = whole.rank;
  out.shape = whole.shape;
  gather_run_give(run, node, &out);
  return GATHER_OK;
}

/* Whether that is possible: such a value, of which nothing before the rows was reshaped. */
static bool decodes_rows(const gather_running *run, const gather_node *node, const gather_op *op, const gather_options *options) {
  const gather_dequantized *from = dequantized_in(run, node, 0);
  return from && gather_family_get(op->family)->whole_rows && reshapes_rows(gather_run_operand(run, node, 0), &from->data, options->axis);
}

gather_status gather_run_gather_decoded(gather_running *run, const gather_node *node, const gather_op *op, const gather_options *options,
                                        bool *done, gather_error *error) {
  *done = true;
  if (gather_op_is_quantized(op)) return take_block_quantized(run, node, op, options, error);
  if (decodes_rows(run, node, op, options)) return take_dequantized(run, node, op, options, error);
  *done = false;
  return GATHER_OK;
}
