/* SPDX-License-Identifier: MIT
 *
 * shuffle_publish.c: renames the finished file to the output, and removes the folder. It replaces another file only if
 * the caller asked for that.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system/disk.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/shuffle/shuffle_system.h"

bool gather_shuffle_is_published(const gather_shuffle *job) {
  struct stat out, rows;
  int64_t bytes;
  if (!job->journal || !strstr(job->journal, "\nstep publish\n") || stat(job->target, &out) != 0) return false;
  if (!gather_shuffle_journal_number(job, "at", &bytes) || (int64_t)out.st_size != bytes) return false;
  if (job->folder.fd < 0) return true;
  if (fstatat(job->folder.fd, "rows", &rows, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  return out.st_ino == rows.st_ino && out.st_dev == rows.st_dev;
}

static gather_status fail(const gather_shuffle *job, const char *what, int number, gather_error *error) {
  if (number == EEXIST)
    return gather_fail_file(error, GATHER_FILE_EXISTS, job->target, -1, "the file exists already and is kept");
  return gather_fail_errno(error, GATHER_IO_ERROR, number, job->target, -1, "cannot %s", what);
}

/* A hard link fails if the name exists. On file systems without hard links an empty file reserves the name first. */
static int name_exclusively(const gather_shuffle *job) {
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

static int name_anyhow(const gather_shuffle *job) {
  return renameat(job->folder.fd, "rows", AT_FDCWD, job->target) == 0 ? 0 : errno;
}

/* A file that is replaced keeps its permissions. Before that, nobody else can reach into the folder. */
static gather_status keep_permissions(const gather_shuffle *job, gather_error *error) {
  if (!job->options.replace) return GATHER_OK;
  gather_status status = gather_permissions_copy(job->target, job->folder.file[GATHER_SHUFFLE_FILE_ROWS], error);
  return status == GATHER_FILE_NOT_FOUND ? GATHER_OK : status;
}

/* The name itself must be on the disk before the folder is removed. A directory that cannot be read cannot be
 * synced. */
static gather_status keep_name(const gather_shuffle *job, gather_error *error) {
  int fd = openat(job->folder.fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return GATHER_OK;
  const int number = gather_disk_sync(fd);
  (void)close(fd);
  return number == 0 ? GATHER_OK : fail(job, "sync its directory", number, error);
}

gather_status gather_shuffle_run_publish(gather_shuffle *job, gather_error *error) {
  const int fd = job->folder.file[GATHER_SHUFFLE_FILE_ROWS];
  if (!job->published) {
    int failed;
    do failed = ftruncate(fd, (off_t)gather_shuffle_out_bytes(job));
    while (failed && errno == EINTR);
    int number = failed ? errno : gather_disk_sync(fd);
    if (number != 0) return fail(job, "complete the file", number, error);
    GATHER_TRY(keep_permissions(job, error));
    number = job->options.replace ? name_anyhow(job) : name_exclusively(job);
    if (number != 0) return fail(job, "rename the finished file", number, error);
    job->published = true;
    GATHER_TRY(keep_name(job, error));
  }
  job->noted = false;
  gather_shuffle_show(job, GATHER_SHUFFLE_PUBLISH, job->out_rows, job->out_rows);
  return job->folder.fd < 0 ? GATHER_OK : gather_shuffle_folder_finish(&job->folder, error);
}
