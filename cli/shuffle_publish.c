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

bool gather_cli_shuffle_is_published(const gather_cli_shuffle *job) {
  struct stat out, rows;
  if (!job->journal || !strstr(job->journal, "\nstep publish\n") || stat(job->target, &out) != 0) return false;
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
  struct stat old;
  if (stat(job->target, &old) == 0 && fchmod(job->folder.file[GATHER_CLI_SHUFFLE_ROWS], old.st_mode & 0777) != 0)
    return errno;
  return renameat(job->folder.fd, "rows", AT_FDCWD, job->target) == 0 ? 0 : errno;
}

/* The name itself must be on the disk before the folder goes. */
static void keep_name(const gather_cli_shuffle *job) {
  int fd = openat(job->folder.fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
}

gather_status gather_cli_shuffle_publish(gather_cli_shuffle *job, gather_error *error) {
  const int fd = job->folder.file[GATHER_CLI_SHUFFLE_ROWS];
  if (!job->published) {
    if (ftruncate(fd, (off_t)(job->header_bytes + job->out_rows * job->row_bytes)) != 0 || fsync(fd) != 0)
      return fail(job, errno, error);
    int number = job->force ? name_anyhow(job) : name_exclusively(job);
    if (number != 0) return fail(job, number, error);
    keep_name(job);
    job->published = true;
  }
  return gather_cli_shuffle_folder_remove(&job->folder, error);
}
