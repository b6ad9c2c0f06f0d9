/* SPDX-License-Identifier: MIT
 *
 * bench_verdict.h: what the figures of `gather bench` allow to say. Nothing here measures: it can be tried with made-up figures.
 */
#ifndef GATHER_CLI_BENCH_VERDICT_H
#define GATHER_CLI_BENCH_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum { GATHER_CLI_BENCH_MOST_ROUNDS = 16, GATHER_CLI_BENCH_MOST_ENGINES = 8 };

/* Some rounds in one, in rows/s; all 0 where there are none. */
typedef struct gather_cli_bench_rate {
  double middle, least, most;
  double spread; /* half of the distance between the quartiles, as a share of the middle */
} gather_cli_bench_rate;

/* count: at most GATHER_CLI_BENCH_MOST_ROUNDS. */
gather_cli_bench_rate gather_cli_bench_rate_of(const double *rounds, int count);

/* One engine's cold rounds. Round i of all engines took the same rows, one engine right after the other. */
typedef struct gather_cli_bench_engine {
  const char *name;  /* "auto", "uring" */
  const char *reads; /* the engine that auto chose; else its own name */
  const double *rounds;
  double share; /* of what the disk gives; 0 = not known */
} gather_cli_bench_engine;

typedef struct gather_cli_bench_figures {
  bool cold;       /* the file was out of memory */
  bool one_engine; /* --engine: there is nothing to choose */
  bool dense;      /* so many rows that blocks lie side by side: an engine may be faster than single blocks are */
  int rounds;
  const double *limit; /* the disk's limit, in the order of time, before and after each round; NULL = not measured */
  int limit_count;
  int engine_count;
  gather_cli_bench_engine engine[GATHER_CLI_BENCH_MOST_ENGINES]; /* the first is auto, unless one_engine */
} gather_cli_bench_figures;

typedef enum gather_cli_bench_verdict {
  GATHER_CLI_BENCH_UNKNOWN, /* the file was not cold */
  GATHER_CLI_BENCH_NOISY,   /* the figures differ too much to compare them */
  GATHER_CLI_BENCH_NOTHING, /* one engine: its figures hold, and there is nothing to recommend */
  GATHER_CLI_BENCH_AUTO,    /* no engine is measurably faster than auto */
  GATHER_CLI_BENCH_ENGINE   /* one is */
} gather_cli_bench_verdict;

/* The limits of what counts as the same. */
#define GATHER_CLI_BENCH_SPREAD 0.25 /* a spread beyond this is noise */
#define GATHER_CLI_BENCH_DRIFT \
  1.25 /* and so is a disk that is that much faster at the beginning than at the end, or the reverse */
#define GATHER_CLI_BENCH_OVER \
  1.10 /* no engine gives more of the disk's limit than this, but for a limit that was disturbed */
#define GATHER_CLI_BENCH_GAIN 1.10 /* an engine must beat auto in every round, and by this in the middle one */

typedef struct gather_cli_bench_judgement {
  gather_cli_bench_verdict verdict;
  int best;      /* number of the fastest engine by its middle round; -1 = none */
  double gain;   /* of the best over auto: the middle of the rounds' ratios; 0 = not compared */
  char why[200]; /* one sentence without its full stop */
} gather_cli_bench_judgement;

gather_cli_bench_judgement gather_cli_bench_judge(const gather_cli_bench_figures *figures);

/* "unknown", "noisy", "nothing", "auto", "engine". */
const char *gather_cli_bench_verdict_name(gather_cli_bench_verdict verdict);

#endif
