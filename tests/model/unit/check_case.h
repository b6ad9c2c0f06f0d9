/* SPDX-License-Identifier: MIT
 *
 * check_case.h: a check of a graph that is written as text finds what a table says. Each case is also written as text, with advice, its
 * operands are found, and what can be drawn is drawn; and all of that happens again with each allocation failing once.
 */
#ifndef GATHER_TESTS_MODEL_UNIT_CHECK_CASE_H
#define GATHER_TESTS_MODEL_UNIT_CHECK_CASE_H

#include "core/base/error.h"
#include "gather/explain.h"
#include "support/fail_each.h"
#include "support/graph_text.h"

enum { ONNX, IR };

/* wanted: a line for each gather node of the check: its name, verdict, what is known of its data ("[2,0..5,?]", " = " and the elements
 * of integers), and after ": " the reason. '*' stands for any text. */
typedef struct {
  int dialect;
  const char *graph, *wanted;
} check_case;

#define NO_SHAPE(value) ": the shape of the data '" value "' is not known"
#define NO_LENGTH(value) ": the length of the data '" value "' along axis 0 is not known"
#define ALWAYS(value, range) ": the indices '" value "' are computed when the model runs, and always in [" range "]"

/* ---- what is known, as text */

/* Whether the text is the pattern, in which '*' is any text. */
static bool fits(const char *text, const char *pattern) {
  for (; *pattern && *pattern != '*'; text++, pattern++)
    if (*text != *pattern) return false;
  if (!*pattern) return !*text;
  for (pattern++; !fits(text, pattern); text++)
    if (!*text) return false;
  return true;
}

static void print_node(char *text, const gather_model_node *node) {
  const gather_tensor *value = node->data.value;
  char whole[2000], *last = whole;
  text += sprintf(text, "%s %s ", node->name, gather_verdict_name(node->verdict));
  text = graph_text_print_operand(text, &node->data);
  if (value && gather_type_get(value->type)->kind <= GATHER_KIND_UINT && gather_tensor_len(value) <= 64) {
    /* In row-major order, whatever the strides. */
    int64_t none = 0, room[64];
    const int64_t one = 1;
    gather_tensor ids = tensor_of(GATHER_TYPE_INT64, &none, 1, &none), from = *value;
    if (from.rank == 0) from.rank = 1, from.shape = &one, from.strides = NULL;
    gather_tensor to = tensor_of(from.type, room, from.rank, from.shape);
    to.flags = from.flags & GATHER_TENSOR_BYTE_SWAPPED;
    assert_status(gather_apply(op_of("GatherND", "openvino-8"), &from, &ids, &to, NULL, NULL), GATHER_OK);
    (void)graph_text_print(last, &to);
    last = strstr(whole, " =");
    text += sprintf(text, "%s", last ? last : "");
  }
  (void)sprintf(text, "%s%s%s%s", *node->reason ? ": " : "", node->reason, *node->cause ? "; " : "", node->cause);
}

/* ---- everything that is done with a model */

static bool draws = true; /* what can be drawn, and writes the bad nodes alone */

static gather_status draw(const gather_model_operands *operands, gather_error *error) {
  gather_explain *made = NULL;
  char *text = NULL, *picture = NULL;
  gather_status status = gather_explain_create_node(operands, NULL, NULL, &made, error);
  if (status == GATHER_OK) status = gather_explain_text(made, NULL, &text, NULL, error);
  if (status == GATHER_OK) status = gather_explain_svg(made, &picture, NULL, error);
  gather_text_free(text);
  gather_text_free(picture);
  gather_explain_destroy(made);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK; /* not everything can be drawn */
}

/* Nodes of one name, and operands that no gather can be of, are errors of their own. */
static gather_status find(const gather_model *model, const gather_model_node *node, const gather_check_options *options,
                          gather_error *error) {
  gather_model_operands *operands = NULL;
  char path[300];
  (void)gather_model_node_path(node, path, sizeof path);
  gather_status status = gather_model_operands_find(model, path, options, &operands, error);
  if (status == GATHER_OK && draws) status = draw(operands, error);
  gather_model_operands_destroy(operands);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
}

/* The first line counts the nodes by verdict; only_bad leaves those that are bad, and those whose indices the rules repair. */
static void read_text(const gather_check *check, const char *text, bool only_bad) {
  int64_t skipped = 0, count = gather_check_describe(check)->count, bad = gather_check_describe(check)->bad;
  char wanted[400], counted[40] = "";
  for (int64_t i = 0; i < count; i++) {
    const gather_model_node *node = gather_check_at(check, i);
    const bool shown = !only_bad || (bad > 0 && (node->verdict == GATHER_VERDICT_BAD || node->bad > 0));
    const size_t len = gather_model_node_path(node, wanted, sizeof wanted - 1);
    (void)strcpy(wanted + len, "\n");
    if (shown != (strstr(text, wanted) != NULL)) fail_msg("%s%s", wanted, text);
    skipped += node->not_executed;
  }
  if (skipped > 0) (void)sprintf(counted, " (%d not executed)", (int)skipped);
  (void)sprintf(wanted, ", %d gather %s: %d ok, %d unknown%s, %d bad", (int)count, count == 1 ? "node" : "nodes",
                (int)gather_check_describe(check)->ok, (int)gather_check_describe(check)->unknown, counted, (int)bad);
  if (only_bad && bad == 0)
    assert_string_equal(text, "");
  else if (!strstr(text, wanted))
    fail_msg("'%s' is not in:\n%s", wanted, text);
}

static gather_status write_text(const gather_check *check, gather_error *error) {
  gather_check_text_options options = GATHER_CHECK_TEXT_OPTIONS_INIT;
  gather_check_advice *advice = NULL;
  char *text = NULL;
  gather_status status = gather_check_advise(check, &advice, error);
  options.advice = advice;
  if (status == GATHER_OK) status = gather_check_text(check, &options, &text, NULL, error);
  if (status == GATHER_OK) read_text(check, text, false);
  gather_text_free(text);
  text = NULL;
  options.only_bad = true;
  if (status == GATHER_OK && draws) status = gather_check_text(check, &options, &text, NULL, error);
  if (status == GATHER_OK && draws) read_text(check, text, true);
  gather_text_free(text);
  gather_check_advice_destroy(advice);
  return status;
}

static gather_status use_case(const void *context, gather_error *error) {
  static graph_text t;
  static char text[1 << 16];
  const check_case *c = context;
  gather_check_options options = GATHER_CHECK_OPTIONS_INIT;
  gather_model *model = NULL;
  gather_check *check = NULL;
  static const check_case *last;
  if (last != c) graph_text_read(&t, c->dialect == IR, c->graph);
  last = c;
  options.inputs = t.given, options.input_count = t.given_count;
  options.dims = t.dims, options.dim_count = t.dim_count;
  gather_status status = gather_model_from_graph(&t.file, &model, error);
  if (status == GATHER_OK) status = gather_model_check(model, &options, &check, error);
  *text = 0;
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_describe(check)->count; i++) {
    if (i) strcat(text, "\n");
    print_node(text + strlen(text), gather_check_at(check, i));
  }
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_describe(check)->contradiction_count; i++)
    strcat(strcat(text, "\n"), gather_check_describe(check)->contradictions[i]);
  if (status == GATHER_OK && !fits(text, c->wanted)) {
    print_error("%s\n---\n%s\n\n", c->graph, text);
    status = gather_fail(error, GATHER_USAGE, "not as wanted");
  }
  if (status == GATHER_OK) status = write_text(check, error);
  for (int64_t i = 0; status == GATHER_OK && i < gather_check_describe(check)->count; i++)
    status = find(model, gather_check_at(check, i), &options, error);
  gather_check_destroy(check);
  gather_model_close(model);
  return status;
}

static const check_case *all_cases;
static size_t case_count;

static void verdicts(void **state) {
  int wrong = 0;
  for (const check_case *c = all_cases; c < all_cases + case_count; c++) {
    gather_error error = dirty_error();
    const gather_status status = use_case(c, &error);
    if (status != GATHER_OK && status != GATHER_USAGE) print_error("%s\n---\n%s\n", c->graph, error.message);
    wrong += status != GATHER_OK;
  }
  assert_int_equal(wrong, 0);
}

static void without_memory(void **state) {
  for (size_t i = 0; i < case_count; i++) {
    draws = i % 16 == 0; /* test_safety_explain_alloc has more of them */
    assert_true(fail_each(use_case, &all_cases[i], GATHER_OK) > 20);
  }
}

/* What main returns. */
static inline int check_cases_run(const check_case *cases, size_t count) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts), cmocka_unit_test(without_memory)};
  all_cases = cases, case_count = count;
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
