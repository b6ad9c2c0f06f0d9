/* SPDX-License-Identifier: MIT
 *
 * replay.h: random gathers and the oracle's answers, from the file that make_cases.py writes, run in every way the library has. Here is
 * no rule of any operator: what a call must give is in the file, and is compared.
 */
#ifndef GATHER_TESTS_CORE_RULES_REPLAY_H
#define GATHER_TESTS_CORE_RULES_REPLAY_H

#include "gather/gather.h"
#include "support/unit.h"

/* A tensor of the file. Shape and strides point into it. tensor.data is set when it is placed. */
typedef struct replay_tensor {
  gather_tensor tensor;
  int64_t base;         /* of tensor.data within the bytes that the tensor spans; outside of them where it has no elements */
  int64_t size;         /* of these bytes */
  const uint8_t *bytes; /* NULL for the output */
} replay_tensor;

enum { REPLAY_DATA, REPLAY_INDICES, REPLAY_OUT, REPLAY_TENSORS };

typedef struct replay_case {
  int64_t number;
  const gather_op *op;
  int64_t axis, batch_dims;
  gather_on_bad on_bad;
  gather_negative negative;
  const uint8_t *fill;
  replay_tensor tensors[REPLAY_TENSORS];
  uint8_t mark; /* of the output's bytes before a call */

  /* The answer. */
  gather_status shape_status;
  int32_t rank;
  const int64_t *shape;
  gather_status status;
  int32_t bad_axis, position_rank;
  const int64_t *position;
  int64_t value, low, high, bad_count;
  bool is_table;         /* gather_table_take gives the same from a file of the data's bytes */
  const uint8_t *wanted; /* the output's bytes afterwards; where an index is out of range: its elements' bits; else NULL */
} replay_case;

/* ---- the file (replay_file.c) */

/* Reads the whole file; returns how many cases it has. Fails the test where it is not a case file for this machine. */
int64_t replay_open(const char *path);
/* The next case. */
void replay_next(replay_case *c);
/* At least the size of each tensor in the file. */
int64_t replay_largest(void);
void replay_close(void);

/* ---- chance (replay_machine.c) */

void replay_seed(uint64_t seed);
int64_t replay_below(int64_t limit);

/* Sets the instruction set to number `isa`, and every other tuning number at random; replay_machine says to what. */
void replay_tune(int isa);
extern char replay_machine[512];
/* Fails where a row of tuning.def is not set. */
void replay_check_tuning(void);

/* ---- executors (replay_executor.c) */

/* How the tasks of a run are executed. */
typedef enum replay_mode {
  REPLAY_ALONE,    /* without an executor */
  REPLAY_POOL_1,   /* the built-in pool, of one thread */
  REPLAY_POOL_2,   /* of two */
  REPLAY_POOL_3,   /* of three */
  REPLAY_SHUFFLED, /* by the calling thread, in another order */
  REPLAY_APART,    /* each on a copy of the output: two that write to one byte are a failure */
  REPLAY_MODES
} replay_mode;
extern const char *const replay_mode_names[REPLAY_MODES];

void replay_executors_create(void);
void replay_executors_destroy(void);
/* The executor of a mode; NULL for REPLAY_ALONE. */
const gather_executor *replay_executor(replay_mode mode);
/* REPLAY_APART: forgets who wrote which byte, before the first of two runs with complementary outputs: a byte that one task wrote changes
 * in at least one of them. */
void replay_apart_begin(uint8_t *out, int64_t size);
/* The byte that two tasks wrote since; -1 = none. */
int64_t replay_apart_conflict(void);
/* How many tasks ran in parallel_for calls of more than one. */
extern int64_t replay_tasks;

/* ---- runs (replay_memory.c, replay_run.c) */

void replay_areas_create(int64_t bytes);
void replay_areas_destroy(void);
/* Puts the tensors somewhere, often next to a forbidden page, and marks the output. */
void replay_place(replay_case *c);
/* What the output and its surroundings hold before a call: the case's pattern, or its complement. */
void replay_mark(const replay_case *c, bool complement);
/* The first byte that the output spans. */
uint8_t *replay_output(void);

/* What a call left behind. */
typedef struct replay_result {
  gather_status status;
  gather_error error;
  int64_t bad_count;
  bool fresh; /* gather_run's: the output may hold anything after an error */
} replay_result;

/* Fails where the result is not the file's answer, or memory is not as it must be then. */
void replay_compare(const replay_case *c, const replay_result *result);
void replay_compare_error(const replay_case *c, const gather_error *error);

/* One run of a case: by a call or by a plan. */
void replay_run(replay_case *c, replay_mode mode);
/* gather_output_shape and gather_infer_shape. */
void replay_shapes(const replay_case *c);

/* ---- the program (test_replay.c, and that of tests/table) */

/* The case number and what it is, for messages. */
void replay_say(const replay_case *c, const char *doing);
/* The file of the cases: GATHER_TEST_CASES_FILE of the environment, or of the build. */
const char *replay_cases_file(void);

#endif
