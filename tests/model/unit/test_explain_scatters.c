/* SPDX-License-Identifier: MIT
 *
 * test_explain_scatters.c: drawings of operators that write: text, facts, repeated indices, values of updates, what is refused.
 */
#include "gather/explain.h"
#include "model/unit/explained.h"

static const double TABLE[3][2] = {{0, 1}, {2, 3}, {4, 5.5}};

enum { MOST_WORDS = 3 };

/* Each: an operator, data of zeros, indices, options; what the text has, the first repeated index, and the error. */
typedef struct scatter_case {
  const char *op, *rules; /* rules NULL: of no document */
  int32_t data_rank, indices_rank;
  int64_t data[2], indices[2], ids[6];
  gather_scatter_options how;
  const char *words[MOST_WORDS];
  int repeated; /* its first coordinate; -1: none */
  gather_status error;
} scatter_case;

#define HOW(reduction, on_bad, negative, neutral, unique) \
  { sizeof(gather_scatter_options), 0, 0, reduction, GATHER_ACCUMULATE_DEFAULT, on_bad, negative, neutral, unique, false, NULL, NULL, NULL }
#define PLAIN HOW(GATHER_REDUCTION_NONE, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, false, false)

static const scatter_case SCATTERS[] = {
    {"scatter",
     NULL,
     2,
     1,
     {4, 2},
     {3},
     {2, 0, -2},
     HOW(GATHER_REDUCTION_ADD, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, false, false),
     {"scatter: out[idx[i], j] += updates[i, j]\nwithout a document: ", "0  -2* -> 2 |", "idx[2] selects the same place as idx[0]"},
     2,
     GATHER_OK},
    {"ScatterUpdate",
     "openvino-3",
     2,
     1,
     {4, 2},
     {2},
     {3, 1},
     PLAIN,
     {"= updates[i, j]\nopenvino-3: ", "| -> data[3, :]", "of several, the last remains"},
     -1,
     GATHER_OK},
    {"scatter",
     NULL,
     1,
     1,
     {3},
     {3},
     {1, 7, 1},
     PLAIN,
     {"7 !   1* |", "1    !    1  -> data, axis 0", "idx[2] selects"},
     2,
     GATHER_INDEX_OUT_OF_RANGE},
    {"scatter",
     NULL,
     1,
     1,
     {3},
     {3},
     {1, 7, 1},
     HOW(GATHER_REDUCTION_NONE, GATHER_ON_BAD_SKIP, GATHER_NEGATIVE_DEFAULT, false, true),
     {"one out of range is skipped", "7 !   1* |", NULL},
     2,
     GATHER_INDEX_REPEATED},
    {"scatter",
     NULL,
     2,
     1,
     {3, 2},
     {2},
     {7, 1},
     HOW(GATHER_REDUCTION_MUL, GATHER_ON_BAD_ZERO, GATHER_NEGATIVE_OFF, true, false),
     {"an index below 0 is out of range, one out of range is skipped", "| -> nowhere", "the neutral number"},
     -1,
     GATHER_OK},
    {"scatter",
     NULL,
     1,
     1,
     {3},
     {2},
     {7, 2},
     HOW(GATHER_REDUCTION_MIN, GATHER_ON_BAD_CLAMP, GATHER_NEGATIVE_DEFAULT, false, false),
     {"out[idx[i]] = min(out[idx[i]], updates[i])", "7* ! -> 2         2* |", NULL},
     1,
     GATHER_OK},
    {"ScatterElements",
     "onnx-18",
     2,
     2,
     {3, 3},
     {2, 3},
     {0, 2, 1, 0, 1, -2},
     HOW(GATHER_REDUCTION_MAX, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, false, false),
     {"max(out[idx[i, j], j], updates[i, j])", "0 |        0*         2        1* |", "idx[1, 0] selects the same place as idx[0, 0]"},
     1,
     GATHER_OK},
    {"ScatterND",
     "onnx-16",
     2,
     2,
     {3, 4},
     {3, 2},
     {2, 0, 1, 3, 2, 0},
     HOW(GATHER_REDUCTION_NONE, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, false, true),
     {"out[idx[i, 0], idx[i, 1]] = updates[i]", "0 |   2  0* |", "idx[2] selects the same place as idx[0]"},
     2,
     GATHER_INDEX_REPEATED},
    {"scatter_nd", NULL, 2, 2, {3, 4}, {2, 1}, {2, 2}, PLAIN, {"0 |  2* |", "| -> data[2, :]", NULL}, 1, GATHER_OK},
    {"scatter_nd",
     NULL,
     2,
     2,
     {3, 4},
     {2, 0},
     {0},
     PLAIN,
     {"out[j, k] = updates[i, j, k]", "idx[1] selects the same place as idx[0]", NULL},
     1,
     GATHER_OK},
    {"scatter", NULL, 2, 1, {3, 2}, {0}, {0}, PLAIN, {"updates  float64 [0, 2]", "(no cells)", NULL}, -1, GATHER_OK},
};

static const gather_op *op_of_case(const scatter_case *c) { return c->rules ? op_of(c->op, c->rules) : gather_scatter_op(c->op); }

static void scatters(void **state) {
  for (size_t i = 0; i < COUNT(SCATTERS); i++) {
    const scatter_case *c = &SCATTERS[i];
    gather_explain_text_options text_options = GATHER_EXPLAIN_TEXT_OPTIONS_INIT;
    gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
    gather_tensor data = tensor_of(GATHER_TYPE_FLOAT64, NULL, c->data_rank, c->data);
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, c->ids, c->indices_rank, c->indices);
    gather_explain_cell cell;
    options.scatter = &c->how;
    text_options.ascii = true;
    gather_explain *made = explain(op_of_case(c), &data, &indices, NULL, &options);
    const gather_explain_facts *found = gather_explain_facts_of(made);
    char *text = text_of(made, &text_options);
    for (int w = 0; w < MOST_WORDS && c->words[w]; w++) assert_in(text, c->words[w]);
    assert_ptr_equal(found->op, op_of_case(c));
    assert_int_equal(found->scatter->reduction, c->how.reduction);
    assert_int_equal(found->repeated ? found->repeated->position[0] : -1, c->repeated);
    assert_int_equal(found->error ? found->error->status : GATHER_OK, c->error);
    int marked = 0;
    for (int64_t k = 0; gather_explain_cell_at(made, k, &cell); k++) marked += cell.repeated && cell.has_source;
    assert_int_equal(marked > 1, c->repeated >= 0);
    gather_text_free(text);
    assert_status(gather_explain_svg(made, &text, NULL, NULL), GATHER_OK);
    assert_in(text, "The cells of data, the indices, and the cells of the updates");
    gather_text_free(text);
    gather_explain_destroy(made);
  }
}

/* The values of updates are drawn, also of a 0-D tensor; and a gather_options is enough. */
static void updates_with_values(void **state) {
  static const double row[2] = {0.5, -7}, one = 2.25;
  static const int64_t ids[1] = {1};
  gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
  gather_options gather = options_of(-1, 0);
  gather_tensor data = tensor_of(GATHER_TYPE_FLOAT64, TABLE, 2, DIMS(3, 2));
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 0, NULL), updates = tensor_of(GATHER_TYPE_FLOAT64, row, 1, DIMS(2));
  options.updates = &updates;
  gather_explain *made = explain(gather_scatter_op("scatter"), &data, &indices, NULL, &options);
  assert_drawn(made, "0.5   -7");
  data = tensor_of(GATHER_TYPE_FLOAT64, TABLE, 1, DIMS(3));
  updates = tensor_of(GATHER_TYPE_FLOAT64, &one, 0, NULL);
  made = explain(gather_scatter_op("scatter"), &data, &indices, &gather, &options);
  assert_false(gather_explain_facts_of(made)->made_up);
  assert_drawn(made, "2.25 │ → data[1]");
}

static void scatters_that_are_refused(void **state) {
  static const int64_t ids[2] = {1, 0};
  static const double values[6];
  static const gather_scatter_options SUM = HOW(GATHER_REDUCTION_ADD, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, false, false);
  static const gather_scatter_options FILL = HOW(GATHER_REDUCTION_NONE, GATHER_ON_BAD_FILL, GATHER_NEGATIVE_DEFAULT, false, false);
  static const gather_scatter_options UNKNOWN = HOW((gather_reduction)9, GATHER_ON_BAD_DEFAULT, GATHER_NEGATIVE_DEFAULT, false, false);
  static const gather_scatter_options SHORT = {.size = 3};
  static const struct {
    const char *op, *rules;
    gather_type data, updates;
    int64_t rows; /* of updates; 0: not given */
    const gather_scatter_options *how;
    gather_status status;
  } CASES[] = {
      {"scatter", NULL, GATHER_TYPE_FLOAT64, GATHER_TYPE_FLOAT64, 3, NULL, GATHER_SHAPE_MISMATCH},
      {"scatter", NULL, GATHER_TYPE_FLOAT64, GATHER_TYPE_FLOAT32, 2, NULL, GATHER_TYPE_MISMATCH},
      {"scatter", NULL, GATHER_TYPE_STRING, GATHER_TYPE_NONE, 0, &SUM, GATHER_TYPE_UNSUPPORTED},
      {"scatter", NULL, GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 2, NULL, GATHER_TYPE_UNSUPPORTED},
      {"ScatterUpdate", "openvino-3", GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, &SUM, GATHER_UNSUPPORTED},
      {"scatter", NULL, GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, &FILL, GATHER_USAGE},
      {"scatter", NULL, GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, &UNKNOWN, GATHER_USAGE},
      {"scatter", NULL, GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, &SHORT, GATHER_USAGE},
      {"scatter_elements", NULL, GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, NULL, GATHER_RANK_MISMATCH},
      {"TensorScatter", "onnx-24", GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, NULL, GATHER_UNSUPPORTED},
      {"EmbeddingBagPackedSum", "openvino-3", GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, NULL, GATHER_UNSUPPORTED},
      {"scatter", "stablehlo-1", GATHER_TYPE_FLOAT64, GATHER_TYPE_NONE, 0, NULL, GATHER_UNSUPPORTED},
  };
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const gather_op *op = CASES[i].rules ? op_of(CASES[i].op, CASES[i].rules) : gather_scatter_op(CASES[i].op);
    gather_explain_options options = GATHER_EXPLAIN_OPTIONS_INIT;
    gather_explain *made = NULL;
    gather_error error = dirty_error();
    gather_tensor data = tensor_of(CASES[i].data, NULL, 2, DIMS(3, 2)), indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(2));
    gather_tensor updates = tensor_of(CASES[i].updates, values, 2, ((int64_t[]){CASES[i].rows, 2}));
    if (CASES[i].rows) options.updates = &updates;
    options.scatter = CASES[i].how;
    assert_status(gather_explain_create(op, &data, &indices, NULL, &options, &made, &error), CASES[i].status);
    assert_null(made);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scatters), cmocka_unit_test(updates_with_values),
                                     cmocka_unit_test(scatters_that_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
