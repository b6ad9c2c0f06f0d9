/* SPDX-License-Identifier: MIT
 *
 * behind.h: writing one part of the output while the next one is gathered: one thread and two buffers.
 */
#ifndef GATHER_CLI_BEHIND_H
#define GATHER_CLI_BEHIND_H

#include <pthread.h>

#include "gather/file.h"

typedef struct gather_cli_behind {
  gather_writer *writer;
  char *buffer[2];
  int next; /* the buffer to fill next */
  pthread_t thread;
  bool running;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  /* Under the mutex. */
  char *part; /* to be written; NULL = nothing to do */
  int64_t part_bytes;
  bool ends;
  gather_status status;
  gather_error error;
} gather_cli_behind;

/* Makes the buffers, of `bytes` each, and starts the thread; where the system refuses one, each part is written when it is handed over.
 * writer stays the caller's. Whatever comes of it, gather_cli_behind_end must follow. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_behind_start(gather_cli_behind *behind, gather_writer *writer, int64_t bytes,
                                                     gather_error *error);
/* The buffer to fill: nobody else uses it. */
char *gather_cli_behind_buffer(const gather_cli_behind *behind);
/* Hands over the first `bytes` bytes of it to be written next. Returns what became of the part before. */
GATHER_CHECKED gather_status gather_cli_behind_hand(gather_cli_behind *behind, int64_t bytes, gather_error *error);
/* Waits until all is written. */
GATHER_CHECKED gather_status gather_cli_behind_wait(gather_cli_behind *behind, gather_error *error);
/* Ends the thread, after what it is writing, and frees everything. */
void gather_cli_behind_end(gather_cli_behind *behind);

#endif
