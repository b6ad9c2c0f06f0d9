/* SPDX-License-Identifier: MIT
 *
 * test_runtimes.c: src/model/runtimes.def says what every runtime does with a bad index of every operator version of src/op/ops.def
 * that it can read, and names no other.
 */
#include "unit/support.h"

typedef struct {
  const char *id;
  bool reads_ir;
} runtime;

static const runtime RUNTIMES[] = {
#define GATHER_RUNTIME(id, name, reads_ir) {#id, reads_ir},
#define GATHER_DOES(code, sentence)
#define GATHER_BEHAVIOUR(runtime, family, rules, kind, code)
#include "model/runtimes.def"
#undef GATHER_BEHAVIOUR
#undef GATHER_RUNTIME
};

typedef struct {
  const char *runtime;
  gather_family family;
  const char *rules, *kind;
} behaviour;

static const behaviour ROWS[] = {
#define GATHER_RUNTIME(id, name, reads_ir)
#define GATHER_BEHAVIOUR(runtime, family, rules, kind, code) {#runtime, GATHER_FAMILY_##family, rules, #kind},
#include "model/runtimes.def"
};

static bool is_of(const behaviour *row, const gather_op *op) {
  return row->family == op->family && strcmp(row->rules, op->rules) == 0;
}

static int count_rows(const runtime *r, const gather_op *op, const char *kind) {
  int count = 0;
  for (size_t i = 0; i < COUNT(ROWS); i++)
    count += is_of(&ROWS[i], op) && strcmp(ROWS[i].runtime, r->id) == 0 && strcmp(ROWS[i].kind, kind) == 0;
  return count;
}

/* The other kinds fall back to RANGE; a runtime that nobody has tried has the code NOT_KNOWN there. */
static void every_version_has_a_row_for_every_runtime(void **state) {
  int missing = 0;
  (void)state;
  for (size_t o = 0; o < gather_op_count(); o++) {
    const gather_op *op = gather_op_at(o);
    for (size_t i = 0; i < COUNT(RUNTIMES); i++) {
      if (!RUNTIMES[i].reads_ir && strcmp(op->dialect, "openvino") == 0) continue;
      if (count_rows(&RUNTIMES[i], op, "RANGE") > 0) continue;
      print_error("src/model/runtimes.def has no row GATHER_BEHAVIOUR(%s, ..., \"%s\", RANGE, ...) for %s\n",
                  RUNTIMES[i].id, op->rules, op->name);
      missing++;
    }
  }
  assert_int_equal(missing, 0);
}

static void every_row_names_a_version(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(ROWS); i++) {
    bool found = false;
    for (size_t o = 0; o < gather_op_count(); o++) found |= is_of(&ROWS[i], gather_op_at(o));
    if (!found) fail_msg("src/model/runtimes.def has rows of \"%s\", which src/op/ops.def lacks", ROWS[i].rules);
  }
}

static void no_row_is_there_twice(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(ROWS); i++)
    for (size_t k = 0; k < i; k++)
      if (ROWS[i].family == ROWS[k].family && strcmp(ROWS[i].rules, ROWS[k].rules) == 0 &&
          strcmp(ROWS[i].runtime, ROWS[k].runtime) == 0 && strcmp(ROWS[i].kind, ROWS[k].kind) == 0)
        fail_msg("src/model/runtimes.def has %s, \"%s\", %s twice", ROWS[i].runtime, ROWS[i].rules, ROWS[i].kind);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_version_has_a_row_for_every_runtime),
      cmocka_unit_test(every_row_names_a_version),
      cmocka_unit_test(no_row_is_there_twice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
