/* SPDX-License-Identifier: MIT
 *
 * test_check_text.c: a check as text, and what to give so that unknown nodes become known.
 */
#include <stdio.h>

#include "support/tiny_model.h"

static tiny parts;
static gather_model *model;
static gather_check *check;
static gather_check_advice *advice;

static int open_model(void **state) {
  gather_error error;
  if (tiny_open(&parts, &model, &error) != GATHER_OK) return -1;
  if (gather_model_check(model, NULL, &check, &error) != GATHER_OK) return -1;
  return gather_check_advise(check, &advice, &error) == GATHER_OK ? 0 : -1;
}

static int close_model(void **state) {
  gather_check_advice_destroy(advice);
  gather_check_advice_destroy(NULL);
  gather_check_destroy(check);
  gather_model_close(model);
  return 0;
}

static char *text_of(const gather_check_text_options *options) {
  char *text = NULL;
  size_t bytes = 99;
  gather_error error = dirty_error();
  if (gather_check_text(check, options, &text, &bytes, &error) != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(strlen(text), bytes);
  return text;
}

static void assert_text(const gather_check_text_options *options, const char *want) {
  char *text = text_of(options);
  assert_string_equal(text, want);
  gather_text_free(text);
}

static void what_to_give(void **state) {
  static const struct {
    gather_advice_kind kind;
    const char *node, *name;
  } WANT[] = {{GATHER_ADVICE_NONE, "main/far", NULL},
              {GATHER_ADVICE_NONE, "main/near", NULL},
              {GATHER_ADVICE_INPUTS, "main/free", "ids"},
              {GATHER_ADVICE_NODE, "main/Gather_4", "own"},
              {GATHER_ADVICE_DIMS, "main/na\x1bmed", "N"}};
  for (size_t i = 0; i < COUNT(WANT); i++) {
    const gather_advice *found = gather_check_advice_at(advice, (int64_t)i);
    assert_int_equal(found->kind, WANT[i].kind);
    assert_string_equal(found->node, WANT[i].node);
    assert_int_equal(found->count, WANT[i].name ? 1 : 0);
    if (WANT[i].name) assert_string_equal(found->names[0], WANT[i].name);
  }
  assert_null(gather_check_advice_at(advice, 5));
  assert_null(gather_check_advice_at(advice, -1));
}

static const char HEAD[] = "model: onnx, 5 gather nodes: 1 ok, 3 unknown, 1 bad\n";

static void the_head(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  options.node = GATHER_CHECK_TEXT_HEAD;
  options.compact = true;
  assert_text(&options, HEAD);
  options.name = "a\x1b.onnx";
  assert_text(&options, "a\\x1b.onnx: onnx, 5 gather nodes: 1 ok, 3 unknown, 1 bad\n");
}

static void one_node(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  options.node = 2;
  assert_text(&options,
              "unknown  Gather onnx-13  axis 0  [3, 2] by [K]  main/free\n"
              "         why      the indices come from the input 'ids', which was not given\n");
  options.node = 1;
  assert_text(&options, "ok       Gather onnx-13  axis 0  [3, 2] by [2]  main/near\n");
}

/* The advice in neutral words, and in a program's own. */
static void say(void *context, const gather_advice *given, char *text, size_t bytes) {
  (void)snprintf(text, bytes, "%s %d %s", (const char *)context, (int)given->kind, given->names[0]);
}

static void advice_in_words(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  options.node = 4;
  options.advice = advice;
  assert_text(&options,
              "unknown  Gather onnx-13  axis 0  [N, 2] by [2]  main/na\\x1bmed\n"
              "         why      the data 'x' has the length 'N' along axis 0, a dimension that was not given\n"
              "         give     a length for 'N'\n");
  options.writer = say;
  options.context = (void *)(uintptr_t) "say";
  char *text = text_of(&options);
  assert_non_null(strstr(text, "         give     say 2 N\n"));
  gather_text_free(text);
}

static void all_of_it(void **state) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  char *whole = text_of(NULL), *only = NULL, *at;
  assert_memory_equal(whole, HEAD, sizeof HEAD - 1);
  at = whole + sizeof HEAD - 1;
  assert_int_equal(*at, '\n');
  assert_memory_equal(at, "\nbad      Gather onnx-13  axis 0  [3, 2] by [2]", 47);
  assert_non_null(strstr(at, "  main/far\n         data     table float32 [3, 2], initializer\n"));
  assert_non_null(strstr(at, "indices  far_ids int64 [2], initializer: 2 from 1 to 7, 1 out of range\n"));
  assert_non_null(strstr(at, "         onnxruntime  "));
  options.only_bad = true;
  only = text_of(&options);
  assert_non_null(strstr(only, "main/far\n"));
  assert_null(strstr(only, "main/near"));
  gather_text_free(whole);
  gather_text_free(only);
}

static void what_is_refused(void **state) {
  static const int64_t NONE[] = {5, -3, INT64_MAX, INT64_MIN};
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  gather_error error = dirty_error();
  gather_check_advice *made = NULL;
  char *text = NULL;
  for (size_t i = 0; i < COUNT(NONE); i++) {
    options.node = NONE[i];
    assert_status(gather_check_text(check, &options, &text, NULL, &error), GATHER_USAGE);
    assert_error(&error, GATHER_USAGE);
  }
  assert_status(gather_check_text(NULL, NULL, &text, NULL, &error), GATHER_USAGE);
  assert_status(gather_check_text(check, NULL, NULL, NULL, &error), GATHER_USAGE);
  assert_status(gather_check_advise(NULL, &made, &error), GATHER_USAGE);
  assert_null(text);
}

static void paths(void **state) {
  char text[8];
  assert_int_equal(gather_model_node_path(gather_check_at(check, 3), NULL, 0), strlen("main/Gather_4"));
  assert_int_equal(gather_model_node_path(gather_check_at(check, 3), text, sizeof text), strlen("main/Gather_4"));
  assert_string_equal(text, "main/Ga");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_to_give), cmocka_unit_test(the_head),        cmocka_unit_test(one_node), cmocka_unit_test(advice_in_words),
      cmocka_unit_test(all_of_it),    cmocka_unit_test(what_is_refused), cmocka_unit_test(paths)};
  return cmocka_run_group_tests(tests, open_model, close_model);
}
