/* SPDX-License-Identifier: MIT
 *
 * progress.h: an executor that counts finished work and shows it on a terminal, after the first second.
 */
#ifndef GATHER_CLI_PROGRESS_H
#define GATHER_CLI_PROGRESS_H

#include <stdatomic.h>

#include "gather/gather.h"

typedef struct gather_cli_progress {
  gather_executor executor;     /* for gather_run; context is this structure */
  const gather_executor *inner; /* runs the work; NULL = the calling thread */
  int64_t bytes;                /* bytes that the whole work writes */
  bool shown;                   /* to a terminal, not with -q */
  double begin;                 /* of the running parallel loop, in seconds */
  _Atomic int64_t done, total;  /* its tasks */
  _Atomic int64_t next_tick;    /* when to print next, in milliseconds */
  _Atomic bool printed;
  void (*task)(void *argument, int64_t i);
  void *argument;
} gather_cli_progress;

/* inner: NULL = the calling thread; begin: when the work began, as gather_cli_now; enabled: whether to print. */
void gather_cli_progress_start(gather_cli_progress *progress, const gather_executor *inner, int64_t bytes, double begin, bool enabled);
/* Clears the line. */
void gather_cli_progress_end(gather_cli_progress *progress);

/* "12.3 MB" below 1 GB, else "1.23 GB"; text has 32 bytes. Returns it. */
char *gather_cli_amount(char *text, double bytes);

/* Seconds since some fixed time. */
double gather_cli_now(void);

#endif
