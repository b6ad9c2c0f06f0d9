/* SPDX-License-Identifier: MIT
 *
 * begin.c: POSIX needs only that standard input, output and error are open, so that no file opened later gets their numbers.
 */
#include "begin.h"

#include "signals.h"

void gather_cli_begin(int *argc, char ***argv) {
  (void)argc, (void)argv;
  gather_cli_signals_fill_descriptors();
}
