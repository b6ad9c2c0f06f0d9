/* SPDX-License-Identifier: MIT
 *
 * test_ops.c: the operator versions say what their documents say: rules, versions by opset, listed types.
 */
#include "support/unit.h"

#define BIT(TYPE) (UINT64_C(1) << GATHER_TYPE_##TYPE)

/* ONNX lists 15 types from version 1 and 11 on, and bfloat16 from 13 on. */
static const uint64_t onnx_15 = BIT(BOOL) | BIT(COMPLEX128) | BIT(COMPLEX64) | BIT(FLOAT64) | BIT(FLOAT32) | BIT(FLOAT16) | BIT(INT16) |
                                BIT(INT32) | BIT(INT64) | BIT(INT8) | BIT(STRING) | BIT(UINT16) | BIT(UINT32) | BIT(UINT64) | BIT(UINT8);
/* ONNX's TensorScatter lists these too. */
static const uint64_t onnx_24 = BIT(BFLOAT16) | BIT(INT4) | BIT(UINT4) | BIT(FLOAT4_E2M1FN) | BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E4M3FNUZ) |
                                BIT(FLOAT8_E5M2) | BIT(FLOAT8_E5M2FNUZ) | BIT(FLOAT8_E8M0FNU);
static const uint64_t quantized = BIT(INT4) | BIT(UINT4) | BIT(UINT8) | BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E4M3FNUZ) | BIT(FLOAT8_E5M2) |
                                  BIT(FLOAT8_E5M2FNUZ) | BIT(FLOAT4_E2M1FN);
static const uint64_t index_types = BIT(INT32) | BIT(INT64);
static const uint64_t integers = BIT(INT8) | BIT(INT16) | BIT(INT32) | BIT(INT64) | BIT(UINT8) | BIT(UINT16) | BIT(UINT32) | BIT(UINT64);

#define SAYS(rules, name, version, negative, bad, batch, off_axis, axis, tuples, fused)                                \
  {                                                                                                                    \
    rules, name, version, negative, GATHER_ON_BAD_##bad, batch, GATHER_OFF_AXIS_##off_axis, GATHER_AXIS_SOURCE_##axis, \
        GATHER_TUPLES_##tuples, fused                                                                                  \
  }
static const struct {
  const char *rules, *name;
  int version;
  bool negative;
  gather_on_bad on_bad;
  bool batch_dims;
  gather_off_axis off_axis;
  gather_axis_source axis;
  gather_tuples tuples;
  bool fused;
} documents[] = {
    SAYS("onnx-1", "Gather", 1, false, ERROR, false, NONE, ATTRIBUTE, NONE, false),
    SAYS("onnx-11", "Gather", 11, true, ERROR, false, NONE, ATTRIBUTE, NONE, false),
    SAYS("onnx-13", "Gather", 13, true, ERROR, false, NONE, ATTRIBUTE, NONE, false),
    SAYS("openvino-1", "Gather", 1, false, ERROR, false, NONE, INPUT, NONE, false),
    SAYS("openvino-7", "Gather", 7, false, ERROR, true, NONE, INPUT, NONE, false),
    SAYS("openvino-8", "Gather", 8, true, ZERO, true, NONE, INPUT, NONE, false),
    SAYS("onnx-11", "GatherElements", 11, true, ERROR, false, AT_MOST, ATTRIBUTE, NONE, false),
    SAYS("onnx-13", "GatherElements", 13, true, ERROR, false, AT_MOST, ATTRIBUTE, NONE, false),
    SAYS("openvino-6", "GatherElements", 6, true, ERROR, false, EQUAL, ATTRIBUTE, NONE, false),
    SAYS("onnx-11", "GatherND", 11, true, ERROR, false, NONE, NONE, NONEMPTY, false),
    SAYS("onnx-12", "GatherND", 12, true, ERROR, true, NONE, NONE, NONEMPTY, false),
    SAYS("onnx-13", "GatherND", 13, true, ERROR, true, NONE, NONE, NONEMPTY, false),
    SAYS("microsoft-1", "GatherND", 1, true, ERROR, false, NONE, NONE, ANY, false),
    SAYS("microsoft-1", "GatherBlockQuantized", 1, true, ZERO, false, NONE, ATTRIBUTE, NONE, false),
    SAYS("openvino-5", "GatherND", 5, false, ERROR, true, NONE, NONE, ANY, true),
    SAYS("openvino-8", "GatherND", 8, true, ERROR, true, NONE, NONE, ANY, false),
    SAYS("openvino-1", "GatherTree", 1, false, ERROR, false, NONE, NONE, NONE, false),
    SAYS("stablehlo-1", "gather", 1, false, CLAMP, false, NONE, NONE, ANY, false),
    SAYS("onnx-9", "Scatter", 9, false, ERROR, false, AT_MOST, ATTRIBUTE, NONE, false),
    SAYS("onnx-11", "ScatterElements", 11, true, ERROR, false, AT_MOST, ATTRIBUTE, NONE, false),
    SAYS("onnx-13", "ScatterElements", 13, true, ERROR, false, AT_MOST, ATTRIBUTE, NONE, false),
    SAYS("onnx-16", "ScatterElements", 16, true, ERROR, false, AT_MOST, ATTRIBUTE, NONE, false),
    SAYS("onnx-18", "ScatterElements", 18, true, ERROR, false, AT_MOST, ATTRIBUTE, NONE, false),
    SAYS("onnx-11", "ScatterND", 11, true, ERROR, false, NONE, NONE, NONEMPTY, false),
    SAYS("onnx-13", "ScatterND", 13, true, ERROR, false, NONE, NONE, NONEMPTY, false),
    SAYS("onnx-16", "ScatterND", 16, true, ERROR, false, NONE, NONE, NONEMPTY, false),
    SAYS("onnx-18", "ScatterND", 18, true, ERROR, false, NONE, NONE, NONEMPTY, false),
    SAYS("onnx-24", "TensorScatter", 24, false, ERROR, false, NONE, ATTRIBUTE, NONE, false),
    SAYS("openvino-3", "ScatterUpdate", 3, false, ERROR, false, NONE, INPUT, NONE, false),
    SAYS("openvino-3", "ScatterElementsUpdate", 3, true, ERROR, false, AT_MOST, INPUT, NONE, false),
    SAYS("openvino-12", "ScatterElementsUpdate", 12, true, ERROR, false, AT_MOST, INPUT, NONE, false),
    SAYS("openvino-3", "ScatterNDUpdate", 3, true, ERROR, false, NONE, NONE, ANY, false),
    SAYS("openvino-15", "ScatterNDUpdate", 15, true, ERROR, false, NONE, NONE, ANY, false),
    SAYS("openvino-3", "EmbeddingBagOffsetsSum", 3, false, ERROR, false, NONE, NONE, NONE, false),
    SAYS("openvino-15", "EmbeddingBagOffsets", 15, false, ERROR, false, NONE, NONE, NONE, false),
    SAYS("openvino-3", "EmbeddingBagPackedSum", 3, false, ERROR, false, NONE, NONE, NONE, false),
    SAYS("openvino-15", "EmbeddingBagPacked", 15, false, ERROR, false, NONE, NONE, NONE, false),
    SAYS("openvino-3", "EmbeddingSegmentsSum", 3, false, ERROR, false, NONE, NONE, NONE, false),
    SAYS("stablehlo-1", "scatter", 1, false, SKIP, false, NONE, NONE, ANY, false),
};

/* The name of the family of an operator: its own, but for those of one family that have several. */
static const char *family_name(const char *op) {
  static const struct {
    const char *op, *family;
  } others[] = {
      {"GatherBlockQuantized", "Gather"}, /* decodes after it has gathered as Gather does */
      {"Scatter", "ScatterElements"},          {"ScatterElementsUpdate", "ScatterElements"},
      {"ScatterNDUpdate", "ScatterND"},        {"EmbeddingBagOffsetsSum", "EmbeddingBag"},
      {"EmbeddingBagOffsets", "EmbeddingBag"}, {"EmbeddingBagPackedSum", "EmbeddingBag"},
      {"EmbeddingBagPacked", "EmbeddingBag"},  {"EmbeddingSegmentsSum", "EmbeddingBag"},
  };
  for (size_t i = 0; i < COUNT(others); i++)
    if (strcmp(others[i].op, op) == 0) return others[i].family;
  return op;
}

static void rows_say_what_the_documents_say(void **state) {
  assert_non_null(gather_op_at(COUNT(documents) - 1));
  for (size_t i = 0; i < COUNT(documents); i++) {
    const gather_op *op = op_of(documents[i].name, documents[i].rules);
    assert_int_equal(op->version, documents[i].version);
    assert_int_equal(op->negative, documents[i].negative);
    assert_int_equal(op->on_bad, documents[i].on_bad);
    assert_int_equal(op->batch_dims, documents[i].batch_dims);
    assert_int_equal(op->off_axis, documents[i].off_axis);
    assert_int_equal(op->axis_source, documents[i].axis);
    assert_int_equal(op->tuples, documents[i].tuples);
    assert_int_equal(op->fused_batch, documents[i].fused);
    assert_string_equal(gather_family_get(op->family)->name, family_name(op->name));
    assert_memory_equal(op->rules, op->dialect, strlen(op->dialect));
    assert_non_null(strstr(op->document, op->name));
  }
}

static void rows_are_found_by_number(void **state) {
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    assert_non_null(op);
    assert_ptr_equal(gather_op_find(op->name, op->rules), op);
    assert_true(op->on_bad != GATHER_ON_BAD_DEFAULT);
  }
  assert_null(gather_op_at(COUNT(documents)));
  assert_null(gather_op_at(SIZE_MAX));
}

static void rows_that_do_not_exist(void **state) {
  assert_null(gather_op_find("Gather", "openvino-6"));
  assert_null(gather_op_find("GatherElements", "onnx-1"));
  assert_null(gather_op_find("gather", "onnx-13"));
  assert_null(gather_op_find("Gather", "onnx-1 "));
  assert_null(gather_op_find("Gather", "onnx-12"));
  assert_null(gather_op_find("GatherND", "onnx-1"));
  assert_null(gather_op_find("", ""));
  assert_null(gather_op_find(NULL, "onnx-13"));
  assert_null(gather_op_find("Gather", NULL));
}

/* Numbers of whole bytes. */
static void check_numeric(uint64_t types) { assert_true((types & integers) == integers && (types & BIT(FLOAT16)) && !(types & BIT(BOOL))); }

static void listed_types(void **state) {
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    const bool of_cache = op->family == GATHER_FAMILY_TENSOR_SCATTER;
    const bool of_tuples = op->family == GATHER_FAMILY_ND || op->family == GATHER_FAMILY_SCATTER_ND;
    if (strcmp(op->dialect, "onnx") == 0) {
      assert_true(op->types == (of_cache ? onnx_15 | onnx_24 : op->version >= 13 ? onnx_15 | BIT(BFLOAT16) : onnx_15));
      assert_true(op->index_types == (of_tuples || of_cache ? BIT(INT64) : index_types));
    } else if (strcmp(op->dialect, "stablehlo") == 0) {
      assert_true((op->index_types & integers) == integers && (op->types & op->index_types) == op->index_types);
      assert_true((op->types & (BIT(COMPLEX128) | BIT(BOOL))) && !(op->types & (BIT(STRING) | BIT(OPAQUE))));
    } else if (op->family == GATHER_FAMILY_TREE) {
      assert_true(op->types == op->index_types);
      check_numeric(op->types);
    } else if (op->family == GATHER_FAMILY_EMBEDDING_BAG) {
      assert_true(op->index_types == index_types);
      check_numeric(op->types);
    } else if (strcmp(op->dialect, "microsoft") == 0) {
      assert_true(op->types == (op->family == GATHER_FAMILY_ND ? onnx_15 : quantized));
      assert_true(op->index_types == index_types);
    } else {
      assert_int_equal(op->types & BIT(OPAQUE), 0);
      assert_true((op->types & (BIT(FLOAT32) | BIT(UINT1) | BIT(NF4))) == (BIT(FLOAT32) | BIT(UINT1) | BIT(NF4)));
      const bool narrow = op->family == GATHER_FAMILY_ELEMENTS || op->family == GATHER_FAMILY_SCATTER_ND;
      assert_true(op->index_types == (narrow ? index_types : integers));
    }
  }
}

static void versions_by_opset(void **state) {
  static const struct {
    const char *dialect, *name;
    int64_t opset;
    const char *rules;
  } rows[] = {
      {"onnx", "Gather", 0, NULL},
      {"onnx", "Gather", -1, NULL},
      {"onnx", "Gather", 1, "onnx-1"},
      {"onnx", "Gather", 10, "onnx-1"},
      {"onnx", "Gather", 11, "onnx-11"},
      {"onnx", "Gather", 12, "onnx-11"},
      {"onnx", "Gather", 13, "onnx-13"},
      {"onnx", "Gather", 28, "onnx-13"},
      {"onnx", "Gather", INT64_MAX, "onnx-13"},
      {"onnx", "GatherElements", 10, NULL},
      {"onnx", "GatherElements", 11, "onnx-11"},
      {"onnx", "GatherElements", 12, "onnx-11"},
      {"onnx", "GatherElements", 13, "onnx-13"},
      {"openvino", "Gather", 1, "openvino-1"},
      {"openvino", "Gather", 6, "openvino-1"},
      {"openvino", "Gather", 7, "openvino-7"},
      {"openvino", "Gather", 8, "openvino-8"},
      {"openvino", "Gather", 16, "openvino-8"},
      {"openvino", "GatherElements", 5, NULL},
      {"openvino", "GatherElements", 6, "openvino-6"},
      {"openvino", "GatherElements", 16, "openvino-6"},
      {"tensorflow", "Gather", 8, NULL},
      {"onnx", "GatherND", 10, NULL},
      {"onnx", "GatherND", 11, "onnx-11"},
      {"onnx", "GatherND", 12, "onnx-12"},
      {"onnx", "GatherND", 28, "onnx-13"},
      {"microsoft", "GatherND", 1, "microsoft-1"},
      {"microsoft", "Gather", 1, NULL},
      {"openvino", "GatherND", 4, NULL},
      {"openvino", "GatherND", 5, "openvino-5"},
      {"openvino", "GatherND", 7, "openvino-5"},
      {"openvino", "GatherND", 16, "openvino-8"},
      {"onnx", "Scatter", 8, NULL},
      {"onnx", "Scatter", 28, "onnx-9"},
      {"onnx", "ScatterElements", 10, NULL},
      {"onnx", "ScatterElements", 12, "onnx-11"},
      {"onnx", "ScatterElements", 17, "onnx-16"},
      {"onnx", "ScatterND", 28, "onnx-18"},
      {"onnx", "TensorScatter", 23, NULL},
      {"onnx", "TensorScatter", 24, "onnx-24"},
      {"openvino", "ScatterElementsUpdate", 11, "openvino-3"},
      {"openvino", "ScatterElementsUpdate", 16, "openvino-12"},
      {"openvino", "ScatterNDUpdate", 14, "openvino-3"},
      {"openvino", "ScatterNDUpdate", 15, "openvino-15"},
      {"openvino", "EmbeddingBagOffsets", 14, NULL},
      {"openvino", "EmbeddingBagOffsetsSum", 16, "openvino-3"},
      {NULL, "Gather", 13, NULL},
      {"onnx", NULL, 13, NULL},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const gather_op *op = gather_op_for_opset(rows[i].dialect, rows[i].name, rows[i].opset);
    if (!rows[i].rules) {
      assert_null(op);
      continue;
    }
    assert_non_null(op);
    assert_string_equal(op->rules, rows[i].rules);
    assert_string_equal(op->name, rows[i].name);
  }
}

/* A binding's own rules: named by the operator alone, in errors and in plans, and otherwise rules like any. */
static void rules_of_a_program(void **state) {
  static const gather_op pick = {ITEMS(NULL, "mine", "pick", 0, GATHER_FAMILY_GATHER, true, GATHER_ON_BAD_ERROR, false,
                                       GATHER_OFF_AXIS_NONE, GATHER_AXIS_SOURCE_ATTRIBUTE, UINT64_MAX, UINT64_MAX, "mine",
                                       GATHER_TUPLES_NONE, false)};
  const int32_t numbers[] = {10, 11, 12};
  const int64_t ids[] = {-1, 0, 3};
  int32_t out[3] = {0};
  char text[256];
  gather_error error = dirty_error();
  gather_tensor data = tensor_of(GATHER_TYPE_INT32, numbers, 1, DIMS(3));
  gather_tensor two = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(2));
  gather_tensor three = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(3));
  gather_tensor good = tensor_of(GATHER_TYPE_INT32, out, 1, DIMS(2)), bad = tensor_of(GATHER_TYPE_INT32, out, 1, DIMS(3));
  gather_options options = options_of(0, 0);
  assert_status(gather_apply(&pick, &data, &two, &good, &options, &error), GATHER_OK);
  assert_int_equal(out[0], 12);
  assert_int_equal(out[1], 10);
  assert_status(gather_apply(&pick, &data, &three, &bad, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(error.message, "indices[2] = 3 is outside [-3, 2] of axis 0 (pick); 1 of 3 indices is bad");
  assert_string_equal(error.op, "pick");
  assert_null(error.rules);
  options.batch_dims = 1;
  assert_status(gather_apply(&pick, &data, &two, &good, &options, &error), GATHER_BATCH_DIMS_OUT_OF_RANGE);
  assert_string_equal(error.message, "batch_dims is 1, but pick has no such attribute");

  gather_plan *plan;
  options.batch_dims = 0;
  assert_status(gather_plan_create(&pick, &data, &two, NULL, &options, &plan, &error), GATHER_OK);
  gather_plan_print(plan, text, sizeof text);
  assert_memory_equal(text, "pick, int32, axis 0: ", 21);
  gather_plan_destroy(plan);
}

TESTS(rows_say_what_the_documents_say, rows_are_found_by_number, rows_that_do_not_exist, listed_types, versions_by_opset,
      rules_of_a_program)
