/* SPDX-License-Identifier: MIT
 *
 * bench_verdict.c: judges the figures of `gather bench`. The median of the rounds counts, the quartiles show their
 * spread: one disturbed round changes neither. Engines are compared round by round, since the disk's speed varies.
 */
#include "bench_verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

gather_cli_bench_rate gather_cli_bench_rate_of(const double *rounds, int count) {
  double sorted[GATHER_CLI_BENCH_MOST_ROUNDS];
  if (count <= 0 || count > GATHER_CLI_BENCH_MOST_ROUNDS) return (gather_cli_bench_rate){0};
  memcpy(sorted, rounds, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  double middle = (sorted[count / 2] + sorted[(count - 1) / 2]) / 2;
  double quartiles = sorted[count - 1 - count / 4] - sorted[count / 4];
  return (gather_cli_bench_rate){middle, sorted[0], sorted[count - 1], middle > 0 ? quartiles / 2 / middle : 0};
}

const char *gather_cli_bench_verdict_name(gather_cli_bench_verdict verdict) {
  static const char *const NAMES[] = {"unknown", "noisy", "nothing", "auto", "engine"};
  return NAMES[verdict];
}

/* ---- noise */

static bool limit_is_noisy(const gather_cli_bench_figures *figures, char *why, size_t bytes) {
  const int count = figures->limit_count, part = (count + 2) / 3;
  if (!figures->limit || count == 0) return false;
  double spread = gather_cli_bench_rate_of(figures->limit, count).spread;
  double first = gather_cli_bench_rate_of(figures->limit, part).middle;
  double last = gather_cli_bench_rate_of(figures->limit + count - part, part).middle;
  double drift = first > last ? first / last : last / first;
  if (spread > GATHER_CLI_BENCH_SPREAD) {
    (void)snprintf(why, bytes, "the disk limit, measured before and after each round, varied by +- %.0f %%", spread * 100);
    return true;
  }
  if (first > 0 && last > 0 && drift <= GATHER_CLI_BENCH_DRIFT) return false;
  (void)snprintf(why, bytes, "the disk limit went from %.0f to %.0f blocks/s during the run", first, last);
  return true;
}

static bool engine_is_noisy(const gather_cli_bench_figures *figures, int i, char *why, size_t bytes) {
  double spread = gather_cli_bench_rate_of(figures->engine[i].rounds, figures->rounds).spread;
  if (spread <= GATHER_CLI_BENCH_SPREAD) return false;
  (void)snprintf(why, bytes, "the rounds of %s varied by +- %.0f %%", figures->engine[i].name, spread * 100);
  return true;
}

static bool is_over(const gather_cli_bench_figures *figures, char *why, size_t bytes) {
  for (int i = 0; i < figures->engine_count && !figures->dense; i++)
    if (figures->engine[i].share > GATHER_CLI_BENCH_OVER) {
      (void)snprintf(why, bytes, "%s reached %.0f %% of the disk limit: its measurement was disturbed", figures->engine[i].name,
                     figures->engine[i].share * 100);
      return true;
    }
  return false;
}

static bool is_noisy(const gather_cli_bench_figures *figures, int best, char *why, size_t bytes) {
  return limit_is_noisy(figures, why, bytes) || is_over(figures, why, bytes) || engine_is_noisy(figures, best, why, bytes) ||
         engine_is_noisy(figures, 0, why, bytes);
}

/* ---- engines */

static int fastest(const gather_cli_bench_figures *figures) {
  int best = -1;
  double most = 0;
  for (int i = 0; i < figures->engine_count; i++) {
    double middle = gather_cli_bench_rate_of(figures->engine[i].rounds, figures->rounds).middle;
    if (middle <= most) continue;
    best = i;
    most = middle;
  }
  return best;
}

/* The best against auto, which is number 0. */
static gather_cli_bench_verdict compare_with_auto(const gather_cli_bench_figures *figures, gather_cli_bench_judgement *is) {
  const gather_cli_bench_engine *best = &figures->engine[is->best], *automatic = &figures->engine[0];
  double ratios[GATHER_CLI_BENCH_MOST_ROUNDS];
  for (int i = 0; i < figures->rounds; i++) ratios[i] = automatic->rounds[i] > 0 ? best->rounds[i] / automatic->rounds[i] : 0;
  gather_cli_bench_rate gain = gather_cli_bench_rate_of(ratios, figures->rounds);
  is->gain = gain.middle;
  if (is->best == 0 || strcmp(best->name, automatic->reads) == 0) {
    (void)snprintf(is->why, sizeof is->why, "auto uses %s, the fastest engine here", automatic->reads);
    return GATHER_CLI_BENCH_AUTO;
  }
  if (gain.least > 1 && gain.middle > GATHER_CLI_BENCH_GAIN) {
    (void)snprintf(is->why, sizeof is->why, "%s was faster than auto in each of %d rounds, by %.0f %% in the median", best->name,
                   figures->rounds, (gain.middle - 1) * 100);
    return GATHER_CLI_BENCH_ENGINE;
  }
  (void)snprintf(is->why, sizeof is->why, "%s and auto do not differ measurably", best->name);
  return GATHER_CLI_BENCH_AUTO;
}

gather_cli_bench_judgement gather_cli_bench_judge(const gather_cli_bench_figures *figures) {
  gather_cli_bench_judgement is = {.verdict = GATHER_CLI_BENCH_UNKNOWN, .best = fastest(figures)};
  if (!figures->cold || is.best < 0)
    (void)snprintf(is.why, sizeof is.why, "the file is small, or stays in the page cache");
  else if (is_noisy(figures, is.best, is.why, sizeof is.why))
    is.verdict = GATHER_CLI_BENCH_NOISY;
  else if (figures->one_engine)
    is.verdict = GATHER_CLI_BENCH_NOTHING;
  else
    is.verdict = compare_with_auto(figures, &is);
  return is;
}
