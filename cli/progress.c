/* SPDX-License-Identifier: MIT
 *
 * progress.c: an executor that counts finished work. The threads print progress between two tasks: no timer, no
 * thread.
 */
#include "progress.h"

#include <stdio.h>
#include <time.h>

#include "terminal.h"

enum { FIRST_MS = 1000, EVERY_MS = 100 };

double gather_cli_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int64_t now_ms(void) { return (int64_t)(gather_cli_now() * 1000); }

char *gather_cli_amount(char *text, double bytes) {
  (void)snprintf(text, 32, bytes < 1e9 ? "%.1f MB" : "%.2f GB", bytes * (bytes < 1e9 ? 1e-6 : 1e-9));
  return text;
}

static void print(gather_cli_progress *progress, int64_t done, int64_t total) {
  double part = (double)done / (double)total, seconds = gather_cli_now() - progress->begin;
  if (seconds <= 0 || done == 0) return;
  const double bytes = (double)progress->bytes;
  char of[32], done_text[32];
  char share[32], left[32], rate[40], amount[80];
  const char *const parts[] = {share, left, rate, amount};
  (void)snprintf(share, sizeof share, "%3.0f%%", part * 100);
  (void)snprintf(left, sizeof left, "%.0f s left", seconds * (1 - part) / part);
  (void)snprintf(rate, sizeof rate, "%s/s", gather_cli_amount(of, part * bytes / seconds));
  (void)snprintf(amount, sizeof amount, "%s of %s", gather_cli_amount(done_text, part * bytes), gather_cli_amount(of, bytes));
  gather_cli_progress_show(parts, 4);
  atomic_store(&progress->printed, true);
}

/* One thread at a time prints: the one that advances next_tick. */
static void run_counted(void *argument, int64_t i) {
  gather_cli_progress *progress = argument;
  progress->task(progress->argument, i);
  int64_t done = atomic_fetch_add(&progress->done, 1) + 1, due = atomic_load(&progress->next_tick), now;
  if (!progress->shown || (now = now_ms()) < due) return;
  if (atomic_compare_exchange_strong(&progress->next_tick, &due, now + EVERY_MS)) print(progress, done, atomic_load(&progress->total));
}

/* Plans run one loop at a time. */
static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  gather_cli_progress *progress = context;
  progress->task = task;
  progress->argument = argument;
  progress->begin = gather_cli_now();
  atomic_store(&progress->done, 0);
  atomic_store(&progress->total, count);
  if (progress->inner) {
    progress->inner->parallel_for(progress->inner->context, count, run_counted, progress);
    return;
  }
  for (int64_t i = 0; i < count; i++) run_counted(progress, i);
}

void gather_cli_progress_start(gather_cli_progress *progress, const gather_executor *inner, int64_t bytes, double begin, bool enabled) {
  progress->inner = inner;
  progress->bytes = bytes;
  progress->shown = enabled && gather_cli_terminal_live();
  atomic_init(&progress->done, 0);
  atomic_init(&progress->total, 1);
  atomic_init(&progress->next_tick, (int64_t)(begin * 1000) + FIRST_MS);
  atomic_init(&progress->printed, false);
  progress->executor = (gather_executor){progress, parallel_for, inner ? inner->threads : 1};
}

void gather_cli_progress_end(gather_cli_progress *progress) {
  if (atomic_load(&progress->printed)) gather_cli_progress_wipe();
}
