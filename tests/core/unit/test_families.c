/* SPDX-License-Identifier: MIT
 *
 * test_families.c: what a family says of itself: its name, where an output comes from, its formula.
 */
#include "core/op/op.h"
#include "support/unit.h"

static const gather_family families[] = {
#define GATHER_FAMILY(ENUM, number, file, name, whole_rows) GATHER_FAMILY_##ENUM,
#define GATHER_FAMILY_OWN(ENUM, number, name, function) GATHER_FAMILY_##ENUM,
#include "gather/family.def"
#undef GATHER_FAMILY
};

/* The numbers are promises. */
static void numbers_and_names(void **state) {
  assert_int_equal(COUNT(families), 11); /* all that follow */
  assert_int_equal(GATHER_FAMILY_GATHER, 1);
  assert_int_equal(GATHER_FAMILY_ELEMENTS, 2);
  assert_int_equal(GATHER_FAMILY_ND, 3);
  assert_int_equal(GATHER_FAMILY_TREE, 4);
  assert_int_equal(GATHER_FAMILY_STABLEHLO, 5);
  assert_int_equal(GATHER_FAMILY_SCATTER, 6);
  assert_int_equal(GATHER_FAMILY_SCATTER_ELEMENTS, 7);
  assert_int_equal(GATHER_FAMILY_SCATTER_ND, 8);
  assert_int_equal(GATHER_FAMILY_SCATTER_STABLEHLO, 9);
  assert_int_equal(GATHER_FAMILY_TENSOR_SCATTER, 10);
  assert_int_equal(GATHER_FAMILY_EMBEDDING_BAG, 11);
  assert_string_equal(gather_family_get(GATHER_FAMILY_GATHER)->name, "Gather");
  assert_string_equal(gather_family_get(GATHER_FAMILY_ELEMENTS)->name, "GatherElements");
  assert_string_equal(gather_family_get(GATHER_FAMILY_ND)->name, "GatherND");
  assert_string_equal(gather_family_get(GATHER_FAMILY_SCATTER)->name, "ScatterUpdate");
  assert_string_equal(gather_family_get(GATHER_FAMILY_SCATTER)->function, "gather_scatter_apply");
  assert_string_equal(gather_family_get(GATHER_FAMILY_EMBEDDING_BAG)->function, "gather_embedding_bag");
  assert_true(gather_family_get(GATHER_FAMILY_GATHER)->whole_rows);
  assert_false(gather_family_get(GATHER_FAMILY_ELEMENTS)->whole_rows);
  assert_false(gather_family_get(GATHER_FAMILY_ND)->whole_rows);
  assert_null(gather_family_get((gather_family)0));
  assert_null(gather_family_get((gather_family)99));
}

/* A family without an operator, or an operator of another name than its family, is a slip in a table. */
static void every_family_has_an_operator(void **state) {
  for (size_t f = 0; f < COUNT(families); f++) {
    bool found = false;
    assert_in_range(families[f], 1, COUNT(families)); /* without gaps */
    assert_int_equal(gather_family_get(families[f])->family, families[f]);
    for (size_t i = 0; gather_op_at(i) && !found; i++) found = gather_op_at(i)->family == families[f];
    if (!found) fail_msg("family %s has no row in ops.def", gather_family_get(families[f])->name);
  }
  for (size_t i = 0; gather_op_at(i); i++) assert_non_null(gather_family_get(gather_op_at(i)->family));
}

/* Everywhere a number that is no family is refused; nothing takes it for another family. */
static void a_family_that_does_not_exist(void **state) {
  gather_op op = *op_of("Gather", "onnx-13");
  const float numbers[3] = {0};
  float result[3];
  const int64_t ids[3] = {0};
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT32, numbers, 1, DIMS(3));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(3));
  gather_tensor out = tensor_of(GATHER_TYPE_FLOAT32, result, 1, DIMS(3));
  gather_dim_source sources[GATHER_MAX_RANK];
  gather_shape known = {.rank = 1, .dims = {{3, 3, NULL}}}, inferred;
  gather_error error = dirty_error();
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  gather_plan *plan;
  op.family = (gather_family)99;
  assert_status(gather_apply(&op, &data, &indices, &out, NULL, &error), GATHER_USAGE);
  assert_string_equal(error.message, "the operator's family is 99, which is not a family");
  assert_status(gather_plan_create(&op, &data, &indices, NULL, NULL, &plan, &error), GATHER_USAGE);
  assert_status(gather_output_shape(&op, &data, &indices, NULL, shape, &rank, &error), GATHER_USAGE);
  assert_status(gather_infer_shape(&op, &known, &known, NULL, &inferred, &error), GATHER_USAGE);
  assert_status(gather_output_sources(&op, 1, 1, 1, NULL, sources, &rank, &error), GATHER_USAGE);
  assert_error(&error, GATHER_USAGE);
}

struct source_case {
  const char *name, *rules;
  int32_t data_rank, indices_rank;
  int64_t tuple_len;
  int64_t axis, batch_dims;
  const char *formula; /* NULL: the case is an error */
  gather_status status;
  gather_dim_source sources[8];
};

static const struct source_case cases[] = {
    {"Gather", "onnx-13", 2, 1, 7, 0, 0, "out[i, j] = data[idx[i], j]", GATHER_OK, {{-1, 0, 1}, {1, -1, 1}}},
    {"Gather", "onnx-13", 2, 1, 7, -1, 0, "out[i, j] = data[i, idx[j]]", GATHER_OK, {{0, -1, 1}, {-1, 0, 1}}},
    {"Gather", "onnx-13", 1, 0, 7, 0, 0, "out = data[idx]", GATHER_OK, {{0}}},
    {"Gather", "onnx-13", 1, 2, 7, 0, 0, "out[i, j] = data[idx[i, j]]", GATHER_OK, {{-1, 0, 1}, {-1, 1, 1}}},
    {ITEMS("Gather", "onnx-13", 3, 2, 7, 1, 0, "out[i, j, k, l] = data[i, idx[j, k], l]", GATHER_OK,
           {{0, -1, 1}, {-1, 0, 1}, {-1, 1, 1}, {2, -1, 1}})},
    {"Gather", "openvino-8", 3, 2, 7, 2, 1, "out[i, j, k] = data[i, j, idx[i, k]]", GATHER_OK, {{0, 0, 1}, {1, -1, 1}, {-1, 1, 1}}},
    {"Gather", "openvino-8", 3, 2, 7, 1, -1, "out[i, j, k] = data[i, idx[i, j], k]", GATHER_OK, {{0, 0, 1}, {-1, 1, 1}, {2, -1, 1}}},
    {"GatherElements", "onnx-13", 2, 2, 7, 0, 0, "out[i, j] = data[idx[i, j], j]", GATHER_OK, {{-1, 0, 1}, {1, 1, 1}}},
    {ITEMS("GatherElements", "openvino-6", 3, 3, 7, -1, 0, "out[i, j, k] = data[i, j, idx[i, j, k]]", GATHER_OK,
           {{0, 0, 1}, {1, 1, 1}, {-1, 2, 1}})},
    {"GatherElements", "onnx-13", 2, 1, 7, 0, 0, NULL, GATHER_RANK_MISMATCH, {{0}}},
    {"Gather", "onnx-13", 0, 1, 7, 0, 0, NULL, GATHER_RANK_MISMATCH, {{0}}},
    {"Gather", "onnx-13", 2, 1, 7, 2, 0, NULL, GATHER_AXIS_OUT_OF_RANGE, {{0}}},
    {"Gather", "onnx-13", 2, 1, 7, GATHER_AXIS_UNKNOWN, 0, NULL, GATHER_AXIS_OUT_OF_RANGE, {{0}}},
    {"Gather", "onnx-13", 2, 1, 7, 0, 1, NULL, GATHER_BATCH_DIMS_OUT_OF_RANGE, {{0}}},
    {"Gather", "onnx-13", 33, 33, 7, 0, 0, NULL, GATHER_UNSUPPORTED, {{0}}},
    {"Gather", "onnx-13", 65, 1, 7, 0, 0, NULL, GATHER_USAGE, {{0}}},
    {"Gather", "onnx-13", 2, -1, 7, 0, 0, NULL, GATHER_USAGE, {{0}}},
    {"GatherND", "onnx-13", 2, 2, 2, 0, 0, "out[i] = data[idx[i, 0], idx[i, 1]]", GATHER_OK, {{-1, 0, 1}}},
    {"GatherND", "onnx-13", 2, 1, 2, 0, 0, "out = data[idx[0], idx[1]]", GATHER_OK, {{0}}},
    {"GatherND", "onnx-11", 2, 2, 1, 0, 0, "out[i, j] = data[idx[i, 0], j]", GATHER_OK, {{-1, 0, 1}, {1, -1, 1}}},
    {"GatherND", "onnx-13", 3, 2, 1, 0, 1, "out[i, j] = data[i, idx[i, 0], j]", GATHER_OK, {{0, 0, 1}, {2, -1, 1}}},
    {"GatherND", "openvino-8", 4, 3, 1, 0, 2, "out[i, j, k] = data[i, j, idx[i, j, 0], k]", GATHER_OK, {{0, 0, 1}, {1, 1, 1}, {3, -1, 1}}},
    {ITEMS("GatherND", "openvino-5", 4, 4, 1, 0, 2, "out[(i, j), k, l] = data[i, j, idx[i, j, k, 0], l]", GATHER_OK,
           {{0, 0, 2}, {-1, 2, 1}, {3, -1, 1}})},
    {"GatherND", "openvino-5", 3, 3, 2, 0, 1, "out[i, j] = data[i, idx[i, j, 0], idx[i, j, 1]]", GATHER_OK, {{0, 0, 1}, {-1, 1, 1}}},
    {"GatherND", "openvino-5", 2, 2, 1, 0, 0, "out[i, j] = data[idx[i, 0], j]", GATHER_OK, {{-1, 0, 1}, {1, -1, 1}}},
    {"GatherND", "microsoft-1", 2, 2, 0, 0, 0, "out[i, j, k] = data[j, k]", GATHER_OK, {{-1, 0, 1}, {0, -1, 1}, {1, -1, 1}}},
    {"GatherND", "onnx-13", 2, 2, 0, 0, 0, NULL, GATHER_SHAPE_MISMATCH, {{0}}},
    {"GatherND", "onnx-13", 2, 2, 3, 0, 0, NULL, GATHER_SHAPE_MISMATCH, {{0}}},
    {"GatherND", "onnx-13", 2, 2, 2, 0, 1, NULL, GATHER_SHAPE_MISMATCH, {{0}}},
    {"GatherND", "openvino-8", 2, 2, -1, 0, 0, NULL, GATHER_SHAPE_MISMATCH, {{0}}},
    {"GatherND", "onnx-13", 2, 2, INT64_MAX, 0, 0, NULL, GATHER_SHAPE_MISMATCH, {{0}}},
    {"GatherND", "onnx-13", 2, 0, 1, 0, 0, NULL, GATHER_RANK_MISMATCH, {{0}}},
    {"GatherND", "onnx-13", 2, 2, 1, 1, 0, NULL, GATHER_AXIS_OUT_OF_RANGE, {{0}}},
    {"GatherND", "onnx-13", 2, 2, 1, 0, 2, NULL, GATHER_BATCH_DIMS_OUT_OF_RANGE, {{0}}},
    {"GatherND", "onnx-13", 2, 2, 1, 0, -1, NULL, GATHER_BATCH_DIMS_OUT_OF_RANGE, {{0}}},
    {"GatherND", "onnx-11", 2, 2, 1, 0, 1, NULL, GATHER_BATCH_DIMS_OUT_OF_RANGE, {{0}}},
    {"GatherND", "onnx-13", 33, 33, 2, 0, 0, NULL, GATHER_UNSUPPORTED, {{0}}},
    {"GatherND", "onnx-13", 64, 2, 64, 0, 0, NULL, GATHER_UNSUPPORTED, {{0}}},
};

static void sources_and_formulas(void **state) {
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct source_case *t = &cases[i];
    const gather_op *op = op_of(t->name, t->rules);
    gather_options options = options_of(t->axis, t->batch_dims);
    gather_dim_source sources[GATHER_MAX_RANK];
    gather_error error = dirty_error();
    char text[256];
    int32_t rank = -1;
    assert_status(gather_output_sources(op, t->data_rank, t->indices_rank, t->tuple_len, &options, sources, &rank, &error), t->status);
    assert_status(gather_output_formula(op, t->data_rank, t->indices_rank, t->tuple_len, &options, text, sizeof text, &error), t->status);
    assert_string_equal(text, t->formula ? t->formula : "");
    if (!t->formula) {
      assert_error(&error, t->status);
      continue;
    }
    for (int32_t d = 0; d < rank; d++) {
      assert_int_equal(sources[d].data, t->sources[d].data);
      assert_int_equal(sources[d].indices, t->sources[d].indices);
      assert_int_equal(sources[d].count, t->sources[d].count);
    }
  }
}

/* A formula that does not fit is cut off, and nothing is written behind it. */
static void formulas_that_do_not_fit(void **state) {
  static const char whole[] = "out[i, j] = data[idx[i], j]";
  const gather_op *op = op_of("Gather", "onnx-13");
  for (size_t bytes = 1; bytes <= sizeof whole; bytes++) {
    char text[sizeof whole + 1];
    memset(text, '#', sizeof text);
    assert_status(gather_output_formula(op, 2, 1, 0, NULL, text, bytes, NULL), GATHER_OK);
    assert_int_equal(strlen(text), bytes - 1);
    assert_memory_equal(text, whole, bytes - 1);
    assert_int_equal(text[bytes], '#');
  }
  assert_status(gather_output_formula(op, 2, 1, 0, NULL, NULL, 0, NULL), GATHER_USAGE);
  assert_status(gather_output_sources(NULL, 2, 1, 0, NULL, NULL, NULL, NULL), GATHER_USAGE);
}

/* Dimensions behind the tenth have numbers. */
static void many_dimensions(void **state) {
  char text[512];
  assert_status(gather_output_formula(op_of("GatherElements", "onnx-13"), 12, 12, 0, NULL, text, sizeof text, NULL), GATHER_OK);
  assert_memory_equal(text, "out[i, j, k, l, m, n, p, q, r, s, i10, i11] = data[idx[i, ", 58);
}

/* The places that the sources give for output element `n`: in data without the dimensions that an index selects on, and in
 * indices without the numbers of a tuple. All lengths are 2. */
static void follow(const gather_dim_source *sources, int32_t rank, int32_t data_rank, int32_t indices_rank, int64_t n, int64_t *from,
                   int64_t *index) {
  *from = *index = 0;
  for (int32_t d = rank - 1; d >= 0; d--)
    for (int32_t k = sources[d].count - 1; k >= 0; k--, n /= 2) {
      if (sources[d].data >= 0) *from |= n % 2 << (data_rank - 1 - sources[d].data - k);
      if (sources[d].indices >= 0) *index |= n % 2 << (indices_rank - 1 - sources[d].indices - k);
    }
}

/* The sources are true: what the operator gathers is what they say, for small shapes of every operator. */
static void sources_say_what_is_gathered(void **state) {
  static const int64_t lens[6] = {2, 2, 2, 2, 2, 2};
  int64_t numbers[16], ids[32], out[256];
  int checked[COUNT(families) + 1] = {0}; /* by number */
  for (int i = 0; i < 16; i++) numbers[i] = i;
  for (int i = 0; i < 32; i++) ids[i] = (i * 5 >> 1) & 1;
  for (size_t i = 0; gather_op_at(i); i++)
    for (int32_t r = 1; r <= 4; r++)
      for (int32_t q = 0; q <= 4; q++)
        for (int32_t axis = 0; axis < r; axis++)
          for (int32_t batch = 0; batch <= r; batch++) {
            const gather_op *op = gather_op_at(i);
            gather_options options = options_of(axis, batch);
            gather_dim_source sources[GATHER_MAX_RANK];
            gather_tensor data = tensor_of(GATHER_TYPE_INT64, numbers, r, lens);
            gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, q, lens);
            int64_t shape[GATHER_MAX_RANK];
            int32_t rank, count;
            gather_status status = gather_output_shape(op, &data, &indices, &options, shape, &rank, NULL);
            assert_status(gather_output_sources(op, r, q, 2, &options, sources, &count, NULL), status);
            if (status != GATHER_OK) continue;
            assert_int_equal(count, rank);
            gather_tensor to = tensor_of(GATHER_TYPE_INT64, out, rank, shape);
            assert_true(gather_tensor_len(&to) <= (int64_t)COUNT(out));
            assert_status(gather_apply(op, &data, &indices, &to, &options, NULL), GATHER_OK);
            checked[op->family]++;
            for (int64_t n = 0; n < gather_tensor_len(&to); n++) {
              int64_t from, index;
              follow(sources, rank, r, q, n, &from, &index);
              if (op->tuples == GATHER_TUPLES_NONE)
                from |= ids[index] << (r - 1 - axis);
              else
                from |= ids[index] << (r - 1 - batch) | ids[index + 1] << (r - 2 - batch);
              assert_int_equal(out[n], from);
            }
          }
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    if (is_generic(op) && checked[op->family] < 10) fail_msg("%s: %d shapes are checked", op->name, checked[op->family]);
  }
}

TESTS(numbers_and_names, every_family_has_an_operator, a_family_that_does_not_exist, sources_and_formulas, formulas_that_do_not_fit,
      many_dimensions, sources_say_what_is_gathered)
