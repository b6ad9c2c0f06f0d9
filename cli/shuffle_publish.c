/* SPDX-License-Identifier: MIT
 *
 * shuffle_publish.c: the finished file gets its name, and the folder goes. OUT appears whole, and takes no other file's name unless
 * it may.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "shuffle.h"
#include "signals.h"

int64_t gather_cli_shuffle_out_bytes(const gather_cli_shuffle *job) {
  return job->header_bytes + job->out_rows * job->row_bytes;
}

bool gather_cli_shuffle_is_published(const gather_cli_shuffle *job) {
  struct stat out, rows;
  int64_t bytes;
  if (!job->journal || !strstr(job->journal, "\nstep publish\n") || stat(job->target, &out) != 0) return false;
  if (!gather_cli_shuffle_journal_number(job, "at", &bytes) || (int64_t)out.st_size != bytes) return false;
  if (job->folder.fd < 0) return true;
  if (fstatat(job->folder.fd, "rows", &rows, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  return out.st_ino == rows.st_ino && out.st_dev == rows.st_dev;
}

static gather_status fail(const gather_cli_shuffle *job, int number, gather_error *error) {
  if (number == EEXIST)
    return gather_cli_fail_file(error, GATHER_FILE_EXISTS, job->target, -1, "the file exists already and is kept");
  return gather_cli_fail_file(error, GATHER_IO_ERROR, job->target, -1, "cannot give the finished file its name: %s",
                              strerror(number));
}

/* A second name can be made only if it is free. Where there are no second names, an empty file takes it first. */
static int name_exclusively(const gather_cli_shuffle *job) {
  const int folder = job->folder.fd;
  if (linkat(folder, "rows", AT_FDCWD, job->target, 0) == 0) return 0;
  int fd = open(job->target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  (void)close(fd);
  if (renameat(folder, "rows", AT_FDCWD, job->target) == 0) return 0;
  int number = errno;
  (void)unlink(job->target);
  return number;
}

static int name_anyhow(const gather_cli_shuffle *job) {
  return renameat(job->folder.fd, "rows", AT_FDCWD, job->target) == 0 ? 0 : errno;
}

/* A file that is replaced keeps its permissions. Before that, nobody else can reach into the folder. */
static gather_status keep_permissions(const gather_cli_shuffle *job, gather_error *error) {
  if (!job->force) return GATHER_OK;
  gather_status status = gather_permissions_copy(job->target, job->folder.file[GATHER_CLI_SHUFFLE_ROWS], error);
  return status == GATHER_FILE_NOT_FOUND ? GATHER_OK : status;
}

/* The name itself must be on the disk before the folder goes. A directory that cannot be read cannot be synced. */
static gather_status keep_name(const gather_cli_shuffle *job, gather_error *error) {
  int fd = openat(job->folder.fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return GATHER_OK;
  int number = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  (void)close(fd);
  if (number == 0) return GATHER_OK;
  return gather_cli_fail_file(error, GATHER_IO_ERROR, job->target, -1,
                              "cannot be sure that the disk keeps its name: %s", strerror(number));
}

gather_status gather_cli_shuffle_publish(gather_cli_shuffle *job, gather_error *error) {
  const int fd = job->folder.file[GATHER_CLI_SHUFFLE_ROWS];
  if (!job->published) {
    int failed;
    do failed = ftruncate(fd, (off_t)gather_cli_shuffle_out_bytes(job));
    while (failed && errno == EINTR);
    if (failed || fsync(fd) != 0) return fail(job, errno, error);
    GATHER_CLI_TRY(keep_permissions(job, error));
    int number = job->force ? name_anyhow(job) : name_exclusively(job);
    if (number != 0) return fail(job, number, error);
    job->published = true;
    GATHER_CLI_TRY(keep_name(job, error));
  }
  gather_cli_signals_note(NULL);
  return job->folder.fd < 0 ? GATHER_OK : gather_cli_shuffle_folder_finish(&job->folder, error);
}
