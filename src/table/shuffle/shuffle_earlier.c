/* SPDX-License-Identifier: MIT
 *
 * shuffle_earlier.c: the state that an earlier run left, and the defaults where neither it nor the caller gives a
 * value.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <unistd.h>

#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_system.h"

enum { FRESH_BITS = 53 }; /* of a new seed: every reader of JSON keeps them exact */

static gather_status find_journal(gather_shuffle *job, gather_error *error) {
  if (!job->options.resume || !job->target[0]) return GATHER_OK;
  GATHER_TRY(gather_shuffle_folder_find(job, error));
  if (job->folder.fd >= 0) GATHER_TRY(gather_shuffle_journal_read(job, false, error));
  if (!job->journal) GATHER_TRY(gather_shuffle_journal_read(job, true, error));
  job->published = gather_shuffle_is_published(job);
  if (job->journal_is_last && !job->published) { /* its output is gone: there is nothing to resume */
    gather_free(job->journal);
    job->journal = NULL;
  }
  job->resumed = job->journal != NULL;
  return GATHER_OK;
}

gather_status gather_shuffle_find_earlier(gather_shuffle *job, gather_error *error) {
  int64_t *memory = &job->options.memory_bytes;
  GATHER_TRY(find_journal(job, error));
  if (*memory == 0 && !gather_shuffle_journal_number(job, "memory", memory)) *memory = gather_shuffle_memory();
  if (job->passes_asked == 0) (void)gather_shuffle_journal_number(job, "passes", &job->passes_asked);
  if (job->passes_asked > 2) job->passes_asked = 0; /* the comparison reports it */
  return GATHER_OK;
}

static gather_status fresh_seed(const gather_shuffle *job, int64_t *seed, gather_error *error) {
  uint64_t number = 0;
  int fd = gather_shuffle_open_at(AT_FDCWD, "/dev/urandom", O_RDONLY, 0);
  bool got = fd >= 0 && read(fd, &number, sizeof number) == (ssize_t)sizeof number;
  if (fd >= 0) (void)close(fd);
  *seed = (int64_t)(number >> (64 - FRESH_BITS));
  if (got) return GATHER_OK;
  return gather_shuffle_advise(job, GATHER_SHUFFLE_REMEDY_SEED,
                               gather_fail(error, GATHER_IO_ERROR, "no source of random numbers is available"));
}

gather_status gather_shuffle_choose_seed(gather_shuffle *job, gather_error *error) {
  if (job->given || job->seed >= 0) return GATHER_OK;
  if (gather_shuffle_journal_number(job, "seed", &job->seed)) return GATHER_OK;
  return fresh_seed(job, &job->seed, error);
}
