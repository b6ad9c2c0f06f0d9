/* SPDX-License-Identifier: MIT
 *
 * test_infer_rules.c: a Reshape of the largest rank, gather_check_find, and a GatherTree without ranks.
 */
#include "support/graph_text.h"

static gather_check *check_of(graph_text *t, bool openvino, const char *text, gather_model **model) {
  gather_check *check;
  graph_text_read(t, openvino, text);
  assert_status(gather_model_from_graph(&t->file, model, NULL), GATHER_OK);
  assert_status(gather_model_check(*model, NULL, &check, NULL), GATHER_OK);
  return check;
}

/* A Reshape may have as many dimensions as a tensor has, and no more. */
static void the_largest_rank(void **state) {
  for (int rank = GATHER_MAX_RANK - 1; rank <= GATHER_MAX_RANK + 1; rank++) {
    static graph_text t;
    char text[300] = "in x int64[1]; y = Reshape(x, [1";
    gather_model *model;
    for (int i = 1; i < rank; i++) strcat(text, ",1");
    gather_check *check = check_of(&t, false, strcat(text, "]); g: _ = Gather(y, [0])"), &model);
    assert_int_equal(gather_check_at(check, 0)->data.rank, rank <= GATHER_MAX_RANK ? rank : -1);
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

/* ---- the node of a name */

#define INPUTS "in x int64[4]; in at int64[4]; "
#define NODE(name, output) name output " = Gather(x, at); "
#define FIRST NODE("first: ", "a")
#define SECOND NODE("second: ", "b")

static const struct {
  const char *graph, *name;
  gather_status status;
  int number;
  const char *words; /* of the error */
} NAMED[] = {
    {INPUTS FIRST SECOND, "first", GATHER_OK, 0, ""},
    {INPUTS FIRST SECOND, "second", GATHER_OK, 1, ""},
    {INPUTS FIRST, NULL, GATHER_OK, 0, ""},
    {INPUTS FIRST, "second", GATHER_NAME_NOT_FOUND, 0, "first"},
    {INPUTS FIRST SECOND, "firs", GATHER_NAME_NOT_FOUND, 0, "first"},
    {INPUTS FIRST SECOND, NULL, GATHER_NAME_NOT_FOUND, 0, "first"},
    {INPUTS NODE("", "a") NODE("", "b"), "first", GATHER_NAME_NOT_FOUND, 0, ""},
    {INPUTS, NULL, GATHER_NAME_NOT_FOUND, 0, ""},
    {INPUTS FIRST SECOND NODE("first: ", "c"), "first", GATHER_USAGE, 0, "first"},
    {INPUTS FIRST SECOND NODE("first: ", "c"), "second", GATHER_OK, 1, ""},
};

static void nodes_by_name(void **state) {
  for (size_t i = 0; i < COUNT(NAMED); i++) {
    static graph_text t;
    gather_model *model;
    gather_check *check = check_of(&t, false, NAMED[i].graph, &model);
    const gather_model_node *node = (const gather_model_node *)&t;
    gather_error error = dirty_error();
    assert_status(gather_check_find(check, NAMED[i].name, &node, &error), NAMED[i].status);
    assert_ptr_equal(node, NAMED[i].status == GATHER_OK ? gather_check_at(check, NAMED[i].number) : NULL);
    if (NAMED[i].status != GATHER_OK) assert_non_null(strstr(error.message, NAMED[i].words));
    assert_status(gather_check_find(check, NAMED[i].name, &node, NULL), NAMED[i].status);
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

/* ---- GatherTree */

/* Of operands whose ranks are unknown, and of one without dimensions, no lengths are read. */
static void a_tree_without_ranks(void **state) {
  static const char *const SHAPES[] = {"[3,2,4]", "[3,2,4]", "[2]", "[]"};
  for (int known = 0; known < 16; known++) {
    static graph_text t;
    char text[200];
    const char *s[4];
    gather_model *model;
    for (int i = 0; i < 4; i++) s[i] = known >> i & 1 ? SHAPES[i] : "*";
    (void)snprintf(text, sizeof text, "in s int32%s; in p int32%s; in l int32%s; in e int32%s; t: _ = GatherTree/1(s, p, l, e)", s[0], s[1],
                   s[2], s[3]);
    gather_check *check = check_of(&t, true, text, &model);
    assert_string_equal(gather_verdict_name(gather_check_at(check, 0)->verdict), "unknown");
    gather_check_destroy(check);
    gather_model_close(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_largest_rank), cmocka_unit_test(nodes_by_name),
                                     cmocka_unit_test(a_tree_without_ranks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
