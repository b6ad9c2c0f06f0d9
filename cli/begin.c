/* SPDX-License-Identifier: MIT
 *
 * begin.c: POSIX needs that standard input, output and error are open, so that no file opened later gets their numbers, and as many
 * descriptors as the system allows: a table has one or two for each of its files.
 */
#define _POSIX_C_SOURCE 200809L
#include "begin.h"

#include <sys/resource.h>

#include "signals.h"

/* The limit of 1024 that is usual is for programs with select(), which this one does not call. The library leaves it to its host. Some
 * systems refuse more than a number of their own: then it stays. */
static void raise_descriptors(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void gather_cli_begin(int *argc, char ***argv) {
  (void)argc, (void)argv;
  gather_cli_signals_fill_descriptors();
  raise_descriptors();
}
