/* SPDX-License-Identifier: MIT
 *
 * test_replay.c [FIRST [COUNT]]: runs the random cases of make_cases.py on every instruction set that this CPU has, with 1 to 3
 * threads, with executors of its own, by calls and plans, with tuning numbers at random. GATHER_TEST_MACHINES=n makes one
 * in n of these runs, for slow emulators and sanitizers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rules/replay.h"
#include "support/machines.h"

static int64_t first, count = INT64_MAX;

/* What was tried. */
static struct {
  bool ops[64], types[64], index_types[64], policies[GATHER_ON_BAD_PROMISE + 1], statuses[32];
  bool modes[REPLAY_MODES], isas[MACHINE_ISAS];
  int64_t cases, runs, repaired;
} seen;

/* The case that runs, for messages; NULL between cases. */
static const replay_case *running;
static const char *doing = "";

static void note_case(const replay_case *c) {
  for (size_t i = 0; gather_op_at(i); i++) seen.ops[i] |= gather_op_at(i) == c->op;
  seen.types[c->tensors[REPLAY_DATA].tensor.type] = true;
  seen.index_types[c->tensors[REPLAY_INDICES].tensor.type] = true;
  seen.policies[c->on_bad] = seen.statuses[c->status] = true;
  seen.repaired += c->status == GATHER_OK && c->bad_count > 0;
  seen.cases++;
}

/* One run in so many is made. */
static int run_step(void) {
  const char *text = getenv("GATHER_TEST_MACHINES");
  const int step = text ? atoi(text) : 1;
  return step < 1 ? 1 : step;
}

static void run_modes(replay_case *c, int isa, int step) {
  for (int mode = 0; mode < REPLAY_MODES; mode++) {
    replay_seed((uint64_t)(c->number * 1000 + isa * REPLAY_MODES + mode));
    if (replay_below(step) != 0) continue;
    replay_tune(isa);
    doing = replay_mode_names[mode];
    replay_run(c, (replay_mode)mode);
    seen.modes[mode] = seen.isas[isa] = true;
    seen.runs++;
  }
}

static void run_case(replay_case *c, int step) {
  running = c;
  replay_seed((uint64_t)(c->number * 1000 + 999));
  doing = "shapes";
  replay_shapes(c);
  for (int isa = 0; isa < MACHINE_ISAS; isa++)
    if (machine_runs(isa)) run_modes(c, isa, step);
  note_case(c);
  running = NULL;
}

static void every_case(void **state) {
  const int64_t cases = replay_open(replay_cases_file());
  const int step = run_step();
  replay_areas_create(replay_largest());
  for (int64_t n = 0; n < cases; n++) {
    static replay_case c; /* say_case reads it after a crash */
    replay_next(&c);
    if (n >= first && n - first < count) run_case(&c, step);
  }
  print_message("%" PRId64 " cases in %" PRId64 " runs; %" PRId64 " tasks shuffled or apart\n", seen.cases, seen.runs, replay_tasks);
}

static void nothing_was_left_out(void **state) {
  static const gather_status statuses[] = {ITEMS(GATHER_OK, GATHER_INDEX_OUT_OF_RANGE, GATHER_SHAPE_MISMATCH, GATHER_RANK_MISMATCH,
                                                 GATHER_AXIS_OUT_OF_RANGE, GATHER_BATCH_DIMS_OUT_OF_RANGE, GATHER_TYPE_MISMATCH,
                                                 GATHER_USAGE)};
  replay_check_tuning();
  assert_null(gather_op_at(COUNT(seen.ops)));
  if (count < INT64_MAX) return;
  for (size_t i = 0; gather_op_at(i); i++) {
    const gather_op *op = gather_op_at(i);
    if (!seen.ops[i] && !gather_family_get(op->family)->function && op->family != GATHER_FAMILY_STABLEHLO)
      fail_msg("no case of %s %s", op->name, op->rules);
  }
  for (int t = 1; gather_type_get((gather_type)t); t++)
    if (!seen.types[t]) fail_msg("no case of the type %s", gather_type_get((gather_type)t)->name);
  for (int t = GATHER_TYPE_INT8; t <= GATHER_TYPE_UINT64; t++) assert_true(seen.index_types[t]);
  for (int p = 0; p <= GATHER_ON_BAD_PROMISE; p++) assert_true(seen.policies[p]);
  for (size_t i = 0; i < COUNT(statuses); i++)
    if (!seen.statuses[statuses[i]]) fail_msg("no case ends with %s", gather_status_name(statuses[i]));
  for (int mode = 0; mode < REPLAY_MODES; mode++) assert_true(seen.modes[mode]);
  for (int isa = 0; isa < MACHINE_ISAS; isa++) assert_true(seen.isas[isa] == machine_runs(isa));
  assert_true(seen.repaired > 0 && replay_tasks > 0);
}

static int create(void **state) {
  replay_executors_create();
  return 0;
}

static int destroy(void **state) {
  machine_reset();
  replay_executors_destroy();
  replay_areas_destroy();
  replay_close();
  return 0;
}

/* Says which case failed or crashed, and how. */
static int say_case(void **state) {
  if (running) replay_say(running, doing);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(every_case, say_case), cmocka_unit_test(nothing_was_left_out)};
  if (argc > 1) first = strtoll(argv[1], NULL, 10), count = argc > 2 ? strtoll(argv[2], NULL, 10) : 1;
  return cmocka_run_group_tests(tests, create, destroy);
}
