/* SPDX-License-Identifier: MIT
 *
 * behind.c: a thread that writes parts of the output.
 */
#include "behind.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

/* Buffers begin on a page: copies and writes are faster. */
enum { PAGE = 4096 };

static void *work(void *argument) {
  gather_cli_behind *behind = argument;
  pthread_mutex_lock(&behind->mutex);
  for (;;) {
    while (!behind->part && !behind->ends) pthread_cond_wait(&behind->changed, &behind->mutex);
    if (!behind->part) break;
    pthread_mutex_unlock(&behind->mutex);
    gather_error error;
    gather_status status = gather_writer_append(behind->writer, behind->part, behind->part_bytes, &error);
    pthread_mutex_lock(&behind->mutex);
    if (status != GATHER_OK) behind->error = error;
    behind->status = status;
    behind->part = NULL;
    pthread_cond_signal(&behind->changed);
  }
  pthread_mutex_unlock(&behind->mutex);
  return NULL;
}

static bool start_thread(gather_cli_behind *behind) {
  if (pthread_mutex_init(&behind->mutex, NULL) != 0) return false;
  if (pthread_cond_init(&behind->changed, NULL) == 0) {
    if (pthread_create(&behind->thread, NULL, work, behind) == 0) return true;
    pthread_cond_destroy(&behind->changed);
  }
  pthread_mutex_destroy(&behind->mutex);
  return false;
}

gather_status gather_cli_behind_start(gather_cli_behind *behind, gather_writer *writer, int64_t bytes, gather_error *error) {
  memset(behind, 0, sizeof *behind);
  behind->writer = writer;
  for (int i = 0; i < 2; i++) {
    behind->memory[i] = (uint64_t)bytes <= SIZE_MAX / 2 ? malloc((size_t)bytes + PAGE) : NULL;
    if (!behind->memory[i])
      return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for two parts of the output of %lld bytes each", (long long)bytes);
    behind->buffer[i] = behind->memory[i] + (-(uintptr_t)behind->memory[i] & (PAGE - 1));
  }
  behind->running = start_thread(behind); /* without it, each part is written synchronously */
  return GATHER_OK;
}

char *gather_cli_behind_buffer(const gather_cli_behind *behind) { return behind->buffer[behind->next]; }

gather_status gather_cli_behind_wait(gather_cli_behind *behind, gather_error *error) {
  if (!behind->running) return GATHER_OK;
  pthread_mutex_lock(&behind->mutex);
  while (behind->part) pthread_cond_wait(&behind->changed, &behind->mutex);
  gather_status status = behind->status;
  if (status != GATHER_OK) *error = behind->error;
  pthread_mutex_unlock(&behind->mutex);
  return status;
}

gather_status gather_cli_behind_hand(gather_cli_behind *behind, int64_t bytes, gather_error *error) {
  if (!behind->running) return gather_writer_append(behind->writer, behind->buffer[behind->next], bytes, error);
  GATHER_CLI_TRY(gather_cli_behind_wait(behind, error));
  pthread_mutex_lock(&behind->mutex);
  behind->part = behind->buffer[behind->next];
  behind->part_bytes = bytes;
  behind->next ^= 1;
  pthread_cond_signal(&behind->changed);
  pthread_mutex_unlock(&behind->mutex);
  return GATHER_OK;
}

void gather_cli_behind_end(gather_cli_behind *behind) {
  if (behind->running) {
    pthread_mutex_lock(&behind->mutex);
    behind->ends = true;
    pthread_cond_signal(&behind->changed);
    pthread_mutex_unlock(&behind->mutex);
    pthread_join(behind->thread, NULL);
    pthread_mutex_destroy(&behind->mutex);
    pthread_cond_destroy(&behind->changed);
  }
  for (int i = 0; i < 2; i++) free(behind->memory[i]);
  memset(behind, 0, sizeof *behind);
}
