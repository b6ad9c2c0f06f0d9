/* SPDX-License-Identifier: MIT
 *
 * shuffle_journal.c: the journal of a shuffle: a text with the identity of the job and what is durable. It is written
 * atomically, by a rename:
 *
 *     ... the identity (shuffle_identity.c)
 *     step collect
 *     at 17
 *     fills 4096 4096 ...
 *     sum 1f0e...          of all bytes before this line
 */
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE /* O_NOFOLLOW */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/growing.h"
#include "core/system/disk.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_system.h"
#include "table/shuffle/shuffle_text.h"

/* By the numbers of the steps; the first one keeps nothing. */
static const char *const STEPS[GATHER_SHUFFLE_STEPS] = {"", "pairs", "spread", "collect", "take", "publish"};

enum { MOST_JOURNAL = 256 << 20, SUM_BYTES = 21 /* "sum ", 16 digits, a line break */ };

static uint64_t sum_of(const char *text, size_t bytes) {
  uint64_t sum = bytes;
  for (size_t i = 0; i < bytes; i++) {
    sum = (sum ^ (uint8_t)text[i]) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

static gather_status fail(const gather_shuffle *job, const char *what, gather_error *error) {
  return gather_shuffle_advise(
      job, GATHER_SHUFFLE_REMEDY_REPLACE,
      gather_fail_file(error, GATHER_FILE_MALFORMED, job->folder.path, -1, "its journal %s", what));
}

static gather_status fail_system(const gather_shuffle *job, const char *what, gather_error *error) {
  const int number = errno;
  return gather_fail_errno(error, gather_shuffle_failure_of(number), number, job->folder.path, -1,
                           "cannot %s its journal", what);
}

/* ---- reading */

static gather_status check_sum(gather_shuffle *job, size_t bytes, gather_error *error) {
  char line[SUM_BYTES + 1], *text = job->journal;
  if (bytes < SUM_BYTES || strlen(text) != bytes) return fail(job, "is corrupt", error);
  (void)snprintf(line, sizeof line, "sum %016" PRIx64 "\n", sum_of(text, bytes - SUM_BYTES));
  if (strcmp(text + bytes - SUM_BYTES, line) != 0) return fail(job, "is corrupt", error);
  text[bytes - SUM_BYTES] = 0;
  return GATHER_OK;
}

static gather_status read_whole(gather_shuffle *job, int fd, int64_t size, gather_error *error) {
  int64_t at = 0;
  job->journal = gather_alloc(size + 1);
  if (!job->journal) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the journal");
  while (at < size) {
    ssize_t got = read(fd, job->journal + at, (size_t)(size - at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_system(job, "read", error);
    if (got == 0) break;
    at += got;
  }
  job->journal[at] = 0;
  return check_sum(job, (size_t)at, error);
}

static int open_journal(const gather_shuffle *job, bool last) {
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
  char path[GATHER_SHUFFLE_LAST_PATH];
  if (!last) return gather_shuffle_open_at(job->folder.fd, "journal", flags, 0);
  gather_shuffle_folder_last(&job->folder, path);
  return gather_shuffle_open_at(AT_FDCWD, path, flags, 0);
}

gather_status gather_shuffle_journal_read(gather_shuffle *job, bool last, gather_error *error) {
  struct stat about;
  int fd = open_journal(job, last);
  job->journal_is_last = last && fd >= 0;
  if (fd < 0) return errno == ENOENT ? GATHER_OK : fail_system(job, "open", error);
  gather_status status;
  if (fstat(fd, &about) != 0)
    status = fail_system(job, "open", error);
  else if (!S_ISREG(about.st_mode) || about.st_size > MOST_JOURNAL)
    status = fail(job, "is not a journal", error);
  else
    status = read_whole(job, fd, (int64_t)about.st_size, error);
  (void)close(fd);
  return status;
}

/* The text after "\nKEY "; NULL. */
static const char *behind(const char *text, const char *key) {
  const size_t len = strlen(key);
  for (const char *line = text; line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, len) == 0 && line[len] == ' ') return line + len + 1;
  }
  return NULL;
}

bool gather_shuffle_journal_number(const gather_shuffle *job, const char *key, int64_t *number) {
  const char *text = job->journal ? behind(job->journal, key) : NULL;
  return text && gather_shuffle_read_number(&text, number);
}

/* Bytes of a line, for a message. */
static int line_len(const char *line) {
  const size_t len = strcspn(line, "\n");
  return len < 100 ? (int)len : 100;
}

/* Says where two texts differ: the lines of both. */
static gather_status fail_other(const gather_shuffle *job, const char *was, const char *is, gather_error *error) {
  while (*was && *was == *is) was++, is++;
  while (was > job->journal && was[-1] != '\n') was--, is--;
  return gather_shuffle_advise(job, GATHER_SHUFFLE_REMEDY_REPLACE,
                               gather_fail_file(error, GATHER_USAGE, job->folder.path, -1,
                                                "it belongs to another shuffle: '%.*s' there, '%.*s' here",
                                                line_len(was), was, line_len(is), is));
}

static gather_status use_fills(gather_shuffle *job, const char *text, gather_error *error) {
  int64_t sum = 0;
  for (int64_t i = 0; i < job->fill_count; i++) {
    bool number =
        gather_shuffle_read_number(&text, &job->fills[i]) && job->fills[i] <= gather_shuffle_bucket_len(job, i);
    if (!number || *text != (i + 1 < job->fill_count ? ' ' : '\n')) return fail(job, "has invalid numbers", error);
    text++;
    sum += job->fills[i];
  }
  return sum == job->at ? GATHER_OK : fail(job, "has invalid numbers", error);
}

/* The largest progress of a step. */
static int64_t step_len(const gather_shuffle *job) {
  switch (job->step) {
    case GATHER_SHUFFLE_SORT_ORDER:
      return 0;
    case GATHER_SHUFFLE_PUBLISH: /* the length of the output */
      return INT64_MAX;
    case GATHER_SHUFFLE_SECOND_PASS:
      return job->buckets;
    default:
      return job->out_rows;
  }
}

gather_status gather_shuffle_journal_use(gather_shuffle *job, gather_error *error) {
  const size_t same = strlen(job->identity);
  int step = 1;
  if (strncmp(job->journal, job->identity, same) != 0) return fail_other(job, job->journal, job->identity, error);
  const char *state = job->journal + same, *name = behind(state, "step"), *at = behind(state, "at"),
             *fills = behind(state, "fills");
  if (!name || !at || !fills) return fail(job, "has no step", error);
  while (step < GATHER_SHUFFLE_STEPS &&
         (strncmp(name, STEPS[step], strlen(STEPS[step])) != 0 || name[strlen(STEPS[step])] != '\n'))
    step++;
  bool ours = job->passes == 1 ? step == GATHER_SHUFFLE_ONLY_PASS || step == GATHER_SHUFFLE_PUBLISH
                               : step != GATHER_SHUFFLE_ONLY_PASS && (job->given || step != GATHER_SHUFFLE_SORT_ORDER);
  if (step == GATHER_SHUFFLE_STEPS || !ours) return fail(job, "has an invalid step", error);
  job->step = (gather_shuffle_step)step;
  if (!gather_shuffle_read_number(&at, &job->at) || *at != '\n' || job->at > step_len(job))
    return fail(job, "has invalid numbers", error);
  return job->step == GATHER_SHUFFLE_FIRST_PASS ? use_fills(job, fills, error) : GATHER_OK;
}

/* ---- writing */

static gather_status make_text(const gather_shuffle *job, gather_growing *text, gather_error *error) {
  const bool spread = job->step == GATHER_SHUFFLE_FIRST_PASS;
  gather_growing_print(text, "%sstep %s\nat %" PRId64 "\nfills%s", job->identity, STEPS[job->step], job->at,
                       spread ? "" : " 0");
  for (int64_t i = 0; i < job->fill_count && spread; i++) gather_growing_print(text, " %" PRId64, job->fills[i]);
  gather_growing_print(text, "\n");
  if (!text->failed) gather_growing_print(text, "sum %016" PRIx64 "\n", sum_of(text->text, text->bytes));
  if (!text->failed) return GATHER_OK;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the journal");
}

static bool write_file(const gather_shuffle *job, const char *text, size_t bytes) {
  const int folder = job->folder.fd;
  (void)unlinkat(folder, "journal.new", 0);
  int fd =
      gather_shuffle_open_at(folder, "journal.new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, GATHER_SHUFFLE_PRIVATE);
  if (fd < 0) return false;
  while (bytes > 0) {
    ssize_t wrote = write(fd, text, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    text += wrote;
    bytes -= (size_t)wrote;
  }
  int number = bytes == 0 ? gather_disk_sync(fd) : errno;
  /* After EINTR the descriptor is closed on Linux, and the disk has the bytes. */
  const bool closed = close(fd) == 0 || errno == EINTR;
  if (number == 0 && !(closed && renameat(folder, "journal.new", folder, "journal") == 0)) number = errno;
  if (number == 0) number = gather_disk_sync(folder);
  errno = number;
  return number == 0;
}

gather_status gather_shuffle_journal_write(gather_shuffle *job, gather_shuffle_step step, int64_t at,
                                           gather_error *error) {
  gather_growing text = {0};
  job->step = step;
  job->at = at;
  gather_status status = make_text(job, &text, error);
  if (status == GATHER_OK && !write_file(job, text.text, text.bytes)) status = fail_system(job, "write", error);
  gather_growing_clear(&text);
  return status;
}
