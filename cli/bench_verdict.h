/* SPDX-License-Identifier: MIT
 *
 * bench_verdict.h: judges the figures of `gather bench`. It measures nothing, so tests can use made-up figures.
 */
#ifndef GATHER_CLI_BENCH_VERDICT_H
#define GATHER_CLI_BENCH_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum { GATHER_CLI_BENCH_MOST_ROUNDS = 16, GATHER_CLI_BENCH_MOST_ENGINES = 8 };

/* A summary of rounds, in rows/s; all 0 if there are none. */
typedef struct gather_cli_bench_rate {
  double middle, least, most;
  double spread; /* half of the interquartile range, as a share of the median */
} gather_cli_bench_rate;

/* count: at most GATHER_CLI_BENCH_MOST_ROUNDS. */
gather_cli_bench_rate gather_cli_bench_rate_of(const double *rounds, int count);

/* One engine's cold rounds. Round i of all engines took the same rows, one engine right after the other. */
typedef struct gather_cli_bench_engine {
  const char *name;  /* "auto", "uring" */
  const char *reads; /* the engine that auto uses; else its own name */
  const double *rounds;
  double share; /* of the disk limit; 0 = unknown */
} gather_cli_bench_engine;

typedef struct gather_cli_bench_figures {
  bool cold;       /* the file was out of the page cache */
  bool one_engine; /* --engine was given: nothing to compare */
  bool dense;      /* so many rows that blocks are adjacent: an engine may be faster than single blocks */
  int rounds;
  const double *limit; /* the disk limit, in order of time, before and after each round; NULL = not measured */
  int limit_count;
  int engine_count;
  gather_cli_bench_engine engine[GATHER_CLI_BENCH_MOST_ENGINES]; /* the first is auto, unless one_engine */
} gather_cli_bench_figures;

typedef enum gather_cli_bench_verdict {
  GATHER_CLI_BENCH_UNKNOWN, /* the file was not cold */
  GATHER_CLI_BENCH_NOISY,   /* the figures differ too much to compare them */
  GATHER_CLI_BENCH_NOTHING, /* one engine: its figures are valid, with nothing to recommend */
  GATHER_CLI_BENCH_AUTO,    /* no engine is measurably faster than auto */
  GATHER_CLI_BENCH_ENGINE   /* one is */
} gather_cli_bench_verdict;

/* Thresholds of noise. */
#define GATHER_CLI_BENCH_SPREAD 0.25 /* a spread beyond this is noise */
#define GATHER_CLI_BENCH_DRIFT 1.25  /* so is a disk that is faster by this factor at the beginning or at the end */
#define GATHER_CLI_BENCH_OVER 1.10   /* an engine above this share of the disk limit shows a disturbed measurement */
#define GATHER_CLI_BENCH_GAIN 1.10   /* an engine must beat auto in every round, and by this factor in the median */

typedef struct gather_cli_bench_judgement {
  gather_cli_bench_verdict verdict;
  int best;      /* number of the engine with the fastest median; -1 = none */
  double gain;   /* of the best over auto: the median of the rounds' ratios; 0 = not compared */
  char why[200]; /* one sentence without its full stop */
} gather_cli_bench_judgement;

gather_cli_bench_judgement gather_cli_bench_judge(const gather_cli_bench_figures *figures);

/* "unknown", "noisy", "nothing", "auto", "engine". */
const char *gather_cli_bench_verdict_name(gather_cli_bench_verdict verdict);

#endif
