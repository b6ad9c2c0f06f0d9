/* SPDX-License-Identifier: MIT
 *
 * shuffle_journal.c: the journal of a shuffle: a text with the identity of the job and what is durable. It is written
 * atomically, by a rename:
 *
 *     ... the identity
 *     step collect
 *     at 17
 *     fills 4096 4096 ...
 *     sum 1f0e...          of all bytes before this line
 */
#define _XOPEN_SOURCE 700 /* realpath */
#define _DARWIN_C_SOURCE  /* O_NOFOLLOW */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/growing.h"
#include "core/system/disk.h"
#include "table/shuffle/shuffle_internal.h"

#if defined(__APPLE__)
#define CHANGED st_mtimespec
#else
#define CHANGED st_mtim
#endif

/* ---- numbers in it */

/* Reads a decimal number without a sign; *text is advanced past it. False if there is none, or if it does not fit. */
static bool read_number(const char **text, int64_t *number) {
  const char *p = *text;
  int64_t value = 0;
  for (; *p >= '0' && *p <= '9'; p++) {
    const int digit = *p - '0';
    if (value > (INT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (p == *text) return false;
  *text = p;
  *number = value;
  return true;
}

/* ---- the identity of a shuffle */

/* Everything that determines its bytes and its steps, one line each. It is in the journal; a run can resume only with the same identity.
 * Blanks and line breaks in names are written as %20 and %0a. */

static void put_name(gather_growing *to, const char *name) {
  for (; *name; name++) {
    unsigned char c = (unsigned char)*name;
    if (c <= ' ' || c == '%' || c == 0x7f)
      gather_growing_print(to, "%%%02x", c);
    else
      gather_growing_print(to, "%c", c);
  }
}

/* The files that hold the rows, with what reveals a change of them. */
static gather_status put_data(const gather_shuffle *job, gather_growing *to, gather_error *error) {
  gather_table_part part;
  for (int32_t i = 0; gather_table_part_at(job->table, i, &part); i++) {
    struct stat about;
    if (part.rows == 0 || job->row_bytes == 0) continue;
    char *whole = realpath(part.path, NULL);
    if (!whole || stat(whole, &about) != 0) {
      int number = errno;
      gather_free(whole);
      return gather_fail_errno(error, gather_shuffle_status_of(number), number, part.path, -1, "cannot inspect it");
    }
    gather_growing_print(to, "data of %lld bytes, changed at %lld.%09ld, rows from byte %" PRId64 ", ", (long long)about.st_size,
                         (long long)about.CHANGED.tv_sec, about.CHANGED.tv_nsec, part.offset);
    put_name(to, whole);
    gather_growing_print(to, "\n");
    gather_free(whole);
  }
  return GATHER_OK;
}

static void put_rest(const gather_shuffle *job, gather_growing *to) {
  gather_growing_print(to, "rows %" PRId64 "\nrow_bytes %" PRId64 "\ntype ", job->rows, job->row_bytes);
  put_name(to, job->data->type_name);
  gather_growing_print(to, "\noutput ");
  put_name(to, job->target);
  if (strcmp(job->format, "safetensors") == 0) { /* of several tensors: the name is in the header */
    gather_growing_print(to, "\ntensor ");
    put_name(to, job->writing.name);
  }
  if (job->file.align_bytes > 0) gather_growing_print(to, "\nalign %" PRId64, job->file.align_bytes);
  gather_growing_print(to, "\nshape");
  for (int32_t i = 0; i < job->writing.rank; i++) gather_growing_print(to, " %" PRId64, job->out_shape[i]);
  if (job->given)
    gather_growing_print(to, "\norder %016" PRIx64 "\n", job->order_hash);
  else
    gather_growing_print(to, "\nseed %" PRId64 "\n", job->seed);
  gather_growing_print(to, "memory %" PRId64 "\npasses %d\nbucket_rows %" PRId64 "\n", job->options.memory_bytes, job->passes,
                       job->bucket_rows);
}

gather_status gather_shuffle_identity(const gather_shuffle *job, char **text, gather_error *error) {
  gather_growing to = {0};
  gather_growing_print(&to, "gather shuffle, journal 1\n");
  gather_status status = put_data(job, &to, error);
  put_rest(job, &to);
  if (status == GATHER_OK && to.failed) status = gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the journal");
  *text = status == GATHER_OK ? to.text : NULL;
  if (status != GATHER_OK) gather_growing_clear(&to);
  return status;
}

gather_status gather_shuffle_identity_check(const gather_shuffle *job, gather_error *error) {
  char *now = NULL;
  gather_status status = gather_shuffle_identity(job, &now, error);
  if (status == GATHER_OK && strcmp(now, job->identity) != 0)
    status = gather_shuffle_advise(job, GATHER_SHUFFLE_REMEDY_REPLACE,
                                   gather_fail_file(error, GATHER_IO_ERROR, job->paths[0], -1, "it changed during the shuffle"));
  gather_free(now);
  return status;
}

/* ---- the text of the journal */

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
  return gather_shuffle_advise(job, GATHER_SHUFFLE_REMEDY_REPLACE,
                               gather_fail_file(error, GATHER_FILE_MALFORMED, job->folder.path, -1, "its journal %s", what));
}

static gather_status fail_system(const gather_shuffle *job, const char *what, gather_error *error) {
  const int number = errno;
  return gather_fail_errno(error, gather_shuffle_failure_of(number), number, job->folder.path, -1, "cannot %s its journal", what);
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
  gather_shuffle_last_path(&job->folder, path);
  return gather_shuffle_open_at(AT_FDCWD, path, flags, 0);
}

/* Reads the journal of the folder that was found, or (last) the one that is left when the folder is removed;
 * job->journal stays NULL where there is none. */
static gather_status read_journal(gather_shuffle *job, bool last, gather_error *error) {
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

/* The number after `key` in it; false if there is none. */
static bool journal_number(const gather_shuffle *job, const char *key, int64_t *number) {
  const char *text = job->journal ? behind(job->journal, key) : NULL;
  return text && read_number(&text, number);
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
  return gather_shuffle_advise(
      job, GATHER_SHUFFLE_REMEDY_REPLACE,
      gather_fail_file(error, GATHER_USAGE, job->folder.path, -1, "it belongs to another shuffle: '%.*s' there, '%.*s' here", line_len(was),
                       was, line_len(is), is));
}

static gather_status use_fills(gather_shuffle *job, const char *text, gather_error *error) {
  int64_t sum = 0;
  for (int64_t i = 0; i < job->fill_count; i++) {
    bool number = read_number(&text, &job->fills[i]) && job->fills[i] <= gather_shuffle_bucket_len(job, i);
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
  const char *state = job->journal + same, *name = behind(state, "step"), *at = behind(state, "at"), *fills = behind(state, "fills");
  if (!name || !at || !fills) return fail(job, "has no step", error);
  while (step < GATHER_SHUFFLE_STEPS && (strncmp(name, STEPS[step], strlen(STEPS[step])) != 0 || name[strlen(STEPS[step])] != '\n')) step++;
  bool ours = job->passes == 1 ? step == GATHER_SHUFFLE_ONLY_PASS || step == GATHER_SHUFFLE_PUBLISH
                               : step != GATHER_SHUFFLE_ONLY_PASS && (job->given || step != GATHER_SHUFFLE_SORT_ORDER);
  if (step == GATHER_SHUFFLE_STEPS || !ours) return fail(job, "has an invalid step", error);
  job->step = (gather_shuffle_step)step;
  if (!read_number(&at, &job->at) || *at != '\n' || job->at > step_len(job)) return fail(job, "has invalid numbers", error);
  return job->step == GATHER_SHUFFLE_FIRST_PASS ? use_fills(job, fills, error) : GATHER_OK;
}

/* ---- writing */

static gather_status make_text(const gather_shuffle *job, gather_growing *text, gather_error *error) {
  const bool spread = job->step == GATHER_SHUFFLE_FIRST_PASS;
  gather_growing_print(text, "%sstep %s\nat %" PRId64 "\nfills%s", job->identity, STEPS[job->step], job->at, spread ? "" : " 0");
  for (int64_t i = 0; i < job->fill_count && spread; i++) gather_growing_print(text, " %" PRId64, job->fills[i]);
  gather_growing_print(text, "\n");
  if (!text->failed) gather_growing_print(text, "sum %016" PRIx64 "\n", sum_of(text->text, text->bytes));
  if (!text->failed) return GATHER_OK;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the journal");
}

static bool write_file(const gather_shuffle *job, const char *text, size_t bytes) {
  const int folder = job->folder.fd;
  (void)unlinkat(folder, "journal.new", 0);
  int fd = gather_shuffle_open_at(folder, "journal.new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, GATHER_SHUFFLE_PRIVATE);
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

gather_status gather_shuffle_journal_write(gather_shuffle *job, gather_shuffle_step step, int64_t at, gather_error *error) {
  gather_growing text = {0};
  job->step = step;
  job->at = at;
  gather_status status = make_text(job, &text, error);
  if (status == GATHER_OK && !write_file(job, text.text, text.bytes)) status = fail_system(job, "write", error);
  gather_growing_clear(&text);
  return status;
}

/* ---- the state that an earlier run left, and the defaults where neither it nor the caller gives a value */

enum { FRESH_BITS = 53 }; /* of a new seed: every reader of JSON keeps them exact */

/* Whether an earlier run ended between giving the output its name and its own end. */
static bool is_published(const gather_shuffle *job) {
  struct stat out, rows;
  int64_t bytes;
  if (!job->journal || !strstr(job->journal, "\nstep publish\n") || stat(job->target, &out) != 0) return false;
  if (!journal_number(job, "at", &bytes) || (int64_t)out.st_size != bytes) return false;
  if (job->folder.fd < 0) return true;
  if (fstatat(job->folder.fd, "rows", &rows, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  return out.st_ino == rows.st_ino && out.st_dev == rows.st_dev;
}

static gather_status find_journal(gather_shuffle *job, gather_error *error) {
  if (!job->options.resume || !job->target[0]) return GATHER_OK;
  GATHER_TRY(gather_shuffle_folder_find(job, error));
  if (job->folder.fd >= 0) GATHER_TRY(read_journal(job, false, error));
  if (!job->journal) GATHER_TRY(read_journal(job, true, error));
  job->published = is_published(job);
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
  if (*memory == 0) (void)journal_number(job, "memory", memory);
  if (job->passes_asked == 0) (void)journal_number(job, "passes", &job->passes_asked);
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
  if (journal_number(job, "seed", &job->seed)) return GATHER_OK;
  return fresh_seed(job, &job->seed, error);
}
