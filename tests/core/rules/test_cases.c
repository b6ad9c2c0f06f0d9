/* SPDX-License-Identifier: MIT
 *
 * test_cases.c: every worked example of the documents, for every element type and every index type that can hold its indices.
 * Runs wherever C does, so that 32-bit and big-endian builds are held to the documents too.
 */
#include "core/rules/cases.h"
#include "core/rules/literal.h"
#include "support/packed.h"
#include "support/unit.h"

enum { OPAQUE_BYTES = 5, MEMORY = LITERAL_MAX_LEN * 16 + 64, GUARD = 0xA5 };

static const char *const words[4] = {"one", "", "a longer text than fits anywhere", "\xc3\xa4"};

/* The bits of `value` in an element type that may not be able to hold it: any injective-enough function does, because gathers
 * move bits. 0 stays all bits zero, because rules fill with that. */
static uint64_t bits_of(double value) {
  uint64_t bits;
  if (value == 0) return 0;
  memcpy(&bits, &value, sizeof bits);
  bits ^= bits >> 29;
  bits *= UINT64_C(0x9E3779B97F4A7C15);
  return bits | 1;
}

static int64_t item_bytes(const gather_type_info *type) {
  if (type->kind == GATHER_KIND_OPAQUE) return OPAQUE_BYTES;
  if (type->kind == GATHER_KIND_STRING) return (int64_t)sizeof(gather_string);
  return type->bits / 8;
}

/* Writes element i: true values where the type is the document's, else bits made of the value. */
static void put(const gather_type_info *type, uint8_t *memory, int64_t i, double value, bool real) {
  uint64_t bits = bits_of(value);
  if (type->packing != GATHER_PACKING_BYTES) {
    packed_put(type, memory, i, (unsigned)(bits >> 32));
    return;
  }
  uint8_t element[16];
  for (int b = 0; b < 16; b++) element[b] = (uint8_t)(bits >> (b % 8 * 8));
  if (type->kind == GATHER_KIND_STRING) {
    const char *text = words[bits >> 62];
    gather_string string = {value == 0 ? NULL : text, value == 0 ? 0 : strlen(text)};
    memset(element, 0, sizeof element);
    memcpy(element, &string, sizeof string);
  }
  if (real && type->type == GATHER_TYPE_FLOAT32) {
    float f = (float)value;
    memcpy(element, &f, sizeof f);
  }
  if (real && type->type == GATHER_TYPE_INT32) {
    int32_t whole = (int32_t)value;
    memcpy(element, &whole, sizeof whole);
  }
  int64_t bytes = item_bytes(type);
  memcpy(memory + i * bytes, element, (size_t)bytes);
}

static void put_all(const gather_type_info *type, uint8_t *memory, const struct literal *from, bool real) {
  for (int64_t i = 0; i < from->len; i++) put(type, memory, i, from->values[i], real);
}

/* Writes the indices as that type; false where it cannot hold them. */
static bool put_indices(const gather_type_info *type, uint8_t *memory, const struct literal *from) {
  for (int64_t i = 0; i < from->len; i++) {
    int64_t value = (int64_t)from->values[i];
    int64_t high = type->bits > 8 ? INT64_MAX : type->kind == GATHER_KIND_INT ? 127 : 255;
    if (value > high || (value < 0 && (type->kind == GATHER_KIND_UINT || value < -128))) return false;
    int8_t i8 = (int8_t)value;
    int16_t i16 = (int16_t)value;
    int32_t i32 = (int32_t)value;
    const void *from_bits = type->bits == 8 ? (void *)&i8 : type->bits == 16 ? (void *)&i16 : (void *)&i32;
    if (type->bits == 64) from_bits = &value;
    memcpy(memory + i * (type->bits / 8), from_bits, (size_t)type->bits / 8);
  }
  return true;
}

static bool is_index_type(const gather_type_info *type) {
  bool integer = type->kind == GATHER_KIND_INT || type->kind == GATHER_KIND_UINT;
  return integer && type->packing == GATHER_PACKING_BYTES;
}

static gather_tensor tensor_like(const gather_type_info *type, void *data, const struct literal *like) {
  gather_tensor tensor = {data, type->type, like->rank, OPAQUE_BYTES, like->shape, NULL, 0, 0};
  return tensor;
}

static void read_literal(struct literal *to, const char *text) {
  if (!literal_read(to, text)) fail_msg("not a tensor: %s", text);
}

static void fail_case(const struct rule_case *c, const gather_type_info *type, const gather_type_info *itype, const char *what) {
  fail_msg("%s %s, %s, %s by %s: %s", c->op, c->rules, c->name, type->name, itype->name, what);
}

static void check_values(const struct rule_case *c, const gather_op *op, const gather_type_info *type, const gather_type_info *itype) {
  static uint8_t data[MEMORY], indices[MEMORY], out[MEMORY], want[MEMORY];
  struct literal data_values, index_values, out_values;
  bool real = strcmp(type->name, c->type) == 0;
  memset(data, 0, sizeof data);
  memset(out, GUARD, sizeof out);
  memset(want, 0, sizeof want);
  read_literal(&data_values, c->data);
  read_literal(&index_values, c->indices);
  read_literal(&out_values, c->output);
  put_all(type, data, &data_values, real);
  put_all(type, want, &out_values, real);
  if (!put_indices(itype, indices, &index_values)) return;
  gather_tensor tensors[3] = {tensor_like(type, data, &data_values), tensor_like(itype, indices, &index_values),
                              tensor_like(type, out, &out_values)};
  gather_options options = options_of(c->axis, c->batch_dims);
  gather_error error;
  int64_t shape[GATHER_MAX_RANK], bytes;
  int32_t rank;
  if (gather_output_shape(op, &tensors[0], &tensors[1], &options, shape, &rank, &error) != GATHER_OK)
    fail_case(c, type, itype, error.message);
  assert_int_equal(rank, out_values.rank);
  for (int32_t d = 0; d < rank; d++) assert_int_equal(shape[d], out_values.shape[d]);
  if (gather_apply(op, &tensors[0], &tensors[1], &tensors[2], &options, &error) != GATHER_OK) fail_case(c, type, itype, error.message);
  assert_int_equal(gather_type_bytes(type->type, OPAQUE_BYTES, out_values.len, &bytes), GATHER_OK);
  if (memcmp(out, want, (size_t)bytes) != 0) fail_case(c, type, itype, "wrong values");
  for (size_t i = (size_t)bytes; i < sizeof out; i++)
    if (out[i] != GUARD) fail_case(c, type, itype, "written behind the output");
}

static void check_bad(const struct rule_case *c, const gather_op *op, const gather_type_info *type, const gather_type_info *itype) {
  static uint8_t data[MEMORY], indices[MEMORY], out[MEMORY];
  struct literal data_values, index_values, position;
  memset(out, GUARD, sizeof out);
  read_literal(&data_values, c->data);
  read_literal(&index_values, c->indices);
  read_literal(&position, c->output);
  put_all(type, data, &data_values, false);
  if (!put_indices(itype, indices, &index_values)) return;
  gather_tensor tensors[3] = {tensor_like(type, data, &data_values), tensor_like(itype, indices, &index_values),
                              tensor_like(type, out, &index_values)};
  gather_options options = options_of(c->axis, c->batch_dims);
  int64_t shape[GATHER_MAX_RANK];
  gather_error error;
  assert_int_equal(gather_output_shape(op, &tensors[0], &tensors[1], &options, shape, &tensors[2].rank, &error), GATHER_OK);
  tensors[2].shape = shape;
  if (gather_apply(op, &tensors[0], &tensors[1], &tensors[2], &options, &error) != GATHER_INDEX_OUT_OF_RANGE)
    fail_case(c, type, itype, "a bad index was taken");
  assert_int_equal(error.position_rank, index_values.rank);
  for (int32_t d = 0; d < index_values.rank; d++) assert_int_equal(error.position[d], (int64_t)position.values[d]);
  assert_int_equal(error.value, c->value);
  assert_int_equal(error.low, c->low);
  assert_int_equal(error.high, c->high);
  assert_int_equal(error.bad_count, c->bad_count);
  for (size_t i = 0; i < sizeof out; i++)
    if (out[i] != GUARD) fail_case(c, type, itype, "the output was written although the call failed");
}

static void shape_from(const char *text, gather_tensor *tensor, int64_t shape[LITERAL_MAX_LEN], gather_type type) {
  struct literal lengths;
  read_literal(&lengths, text);
  for (int64_t d = 0; d < lengths.len; d++) shape[d] = (int64_t)lengths.values[d];
  *tensor = (gather_tensor){NULL, type, (int32_t)lengths.len, 0, shape, NULL, 0, 0};
}

static void check_shapes(const struct rule_case *c, const gather_op *op) {
  int64_t shapes[3][LITERAL_MAX_LEN], got[GATHER_MAX_RANK];
  gather_tensor data, indices, out;
  gather_options options = options_of(c->axis, c->batch_dims);
  gather_error error;
  int32_t rank = -1;
  shape_from(c->data, &data, shapes[0], GATHER_TYPE_FLOAT32);
  shape_from(c->indices, &indices, shapes[1], GATHER_TYPE_INT64);
  gather_status status = gather_output_shape(op, &data, &indices, &options, got, &rank, &error);
  if (c->kind == RULE_SHAPE_ERROR) {
    assert_string_equal(gather_status_name(status), c->output);
    assert_int_equal(error.status, status);
    return;
  }
  assert_string_equal(gather_status_name(status), "ok");
  shape_from(c->output, &out, shapes[2], GATHER_TYPE_FLOAT32);
  assert_int_equal(rank, out.rank);
  for (int32_t d = 0; d < rank; d++) assert_int_equal(got[d], out.shape[d]);
}

/* Every pair of an element type and an index type. */
static void check_types(const struct rule_case *c, const gather_op *op) {
  for (int t = 1; gather_type_get((gather_type)t); t++)
    for (int i = 1; gather_type_get((gather_type)i); i++) {
      const gather_type_info *type = gather_type_get((gather_type)t), *itype = gather_type_get((gather_type)i);
      if (!is_index_type(itype)) continue;
      if (c->kind == RULE_VALUES) check_values(c, op, type, itype);
      if (c->kind == RULE_BAD) check_bad(c, op, type, itype);
    }
}

/* The row of the version that a case names at *rules, which then goes on to the next one; NULL behind the last. */
static const gather_op *next_op(const struct rule_case *c, const char **rules) {
  char name[32];
  int used;
  if (sscanf(*rules, " %31s%n", name, &used) != 1) return NULL;
  *rules += used;
  return op_of(c->op, name);
}

static void every_case(void **state) {
  for (size_t i = 0; i < RULE_CASE_COUNT; i++) {
    const struct rule_case *c = &rule_cases[i];
    const char *rules = c->rules;
    for (const gather_op *op; (op = next_op(c, &rules));) {
      print_message("%s %s: %s\n", c->op, op->rules, c->name);
      if (c->kind == RULE_VALUES || c->kind == RULE_BAD)
        check_types(c, op);
      else
        check_shapes(c, op);
    }
  }
}

static bool has_values(const struct rule_case *c, const gather_op *op) {
  const char *rules = c->rules;
  for (const gather_op *at; (at = next_op(c, &rules));)
    if (at == op && c->kind == RULE_VALUES) return true;
  return false;
}

static void every_row_has_cases(void **state) {
  assert_non_null(gather_op_at(0));
  for (size_t row = 0; gather_op_at(row); row++) {
    const gather_op *op = gather_op_at(row);
    size_t values = 0;
    if (gather_family_get(op->family)->function || op->family == GATHER_FAMILY_STABLEHLO) continue; /* tests of their own */
    for (size_t i = 0; i < RULE_CASE_COUNT; i++) values += has_values(&rule_cases[i], op);
    if (values == 0) fail_msg("tests/core/rules/cases has nothing for %s %s", op->name, op->rules);
  }
}

TESTS(every_row_has_cases, every_case)
