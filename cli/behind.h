/* SPDX-License-Identifier: MIT
 *
 * behind.h: writes one part of the output while the next one is gathered: one thread and two buffers.
 */
#ifndef GATHER_CLI_BEHIND_H
#define GATHER_CLI_BEHIND_H

#include <pthread.h>

#include "gather/file.h"

typedef struct gather_cli_behind {
  gather_writer *writer;
  char *memory[2], *buffer[2]; /* each begins on a page of its memory */
  int next;                    /* the buffer to fill next */
  pthread_t thread;
  bool running;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  /* Protected by the mutex. */
  char *part; /* to be written; NULL = nothing to do */
  int64_t part_bytes;
  bool ends;
  gather_status status;
  gather_error error;
} gather_cli_behind;

/* Makes the buffers, of `bytes` each, and starts the thread; without a thread, gather_cli_behind_hand writes each part itself.
 * The caller keeps writer. gather_cli_behind_end must follow in every case. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_behind_start(gather_cli_behind *behind, gather_writer *writer, int64_t bytes, gather_error *error);
/* The buffer to fill: the thread does not use it. */
char *gather_cli_behind_buffer(const gather_cli_behind *behind);
/* Hands over the first `bytes` bytes of it to be written. Returns the status of the previous part. */
GATHER_CHECKED gather_status gather_cli_behind_hand(gather_cli_behind *behind, int64_t bytes, gather_error *error);
/* Waits until everything is written. */
GATHER_CHECKED gather_status gather_cli_behind_wait(gather_cli_behind *behind, gather_error *error);
/* Ends the thread after its current write, and frees everything. */
void gather_cli_behind_end(gather_cli_behind *behind);

#endif
