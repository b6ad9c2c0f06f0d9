/* SPDX-License-Identifier: MIT
 *
 * shuffle_folder.c: the folder of an unfinished run, beside the output: its lock, its files, their disk space, its end; and how the
 * finished file becomes the output. No link in it is followed: files are opened relative to the folder.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* F_OFD_SETLK */
#endif
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/system/disk.h"
#include "io/format/output.h"
#include "table/shuffle/shuffle_internal.h"

static const char *const FILES[] = {"rows", "places", "pairs"};
static const char *const OTHERS[] = {"journal", "journal.new", "lock"};

static gather_status fail_folder(const gather_shuffle_folder *folder, const char *what, gather_error *error) {
  const int number = errno;
  return gather_fail_errno(error, gather_shuffle_failure_of(number), number, folder->path, -1, "cannot %s", what);
}

int gather_shuffle_open_at(int folder, const char *path, int flags, unsigned mode) {
  int fd;
  do fd = openat(folder, path, flags | O_CLOEXEC, (mode_t)mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* A lock of the open file description, which also excludes other threads of the process; where the system has none, a
 * lock of the process. */
static int set_lock(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
#if defined(F_OFD_SETLK)
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return 0;
  if (errno != EINVAL) return -1;
#endif
  return fcntl(fd, F_SETLK, &lock);
}

/* A lock ends with its process, however that ends. */
static gather_status take_lock(gather_shuffle_folder *folder, gather_error *error) {
  folder->lock = gather_shuffle_open_at(folder->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW, GATHER_SHUFFLE_PRIVATE);
  if (folder->lock < 0) return fail_folder(folder, "lock it", error);
  if (set_lock(folder->lock) == 0) return GATHER_OK;
  if (errno == EACCES || errno == EAGAIN) return gather_fail_file(error, GATHER_IO_ERROR, folder->path, -1, "another shuffle is using it");
  return fail_folder(folder, "lock it", error);
}

/* ---- how it is closed and removed */

/* The journal that stayed beside the output is removed. */
static void forget(const gather_shuffle_folder *folder) {
  char last[GATHER_SHUFFLE_LAST_PATH];
  gather_shuffle_last_path(folder, last);
  (void)unlink(last);
}

static void close_all(gather_shuffle_folder *folder) {
  for (int i = 0; i < GATHER_SHUFFLE_FILES; i++) {
    if (folder->file[i] >= 0) (void)close(folder->file[i]);
    folder->file[i] = -1;
  }
  if (folder->lock >= 0) (void)close(folder->lock);
  if (folder->fd >= 0) (void)close(folder->fd);
  folder->lock = folder->fd = -1;
}

void gather_shuffle_folder_close(gather_shuffle_folder *folder, bool finished) {
  if (finished) forget(folder);
  close_all(folder);
}

static void remove_files(const gather_shuffle_folder *folder) {
  for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) (void)unlinkat(folder->fd, FILES[i], 0);
}

static gather_status remove_rest(gather_shuffle_folder *folder, gather_error *error) {
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) (void)unlinkat(folder->fd, OTHERS[i], 0);
  int failed = rmdir(folder->path) == 0 ? 0 : errno;
  close_all(folder);
  errno = failed;
  return failed ? fail_folder(folder, "remove this folder", error) : GATHER_OK;
}

gather_status gather_shuffle_folder_remove(gather_shuffle_folder *folder, gather_error *error) {
  (void)unlinkat(folder->fd, "journal", 0); /* first: a journal without its files would be wrong */
  remove_files(folder);
  return remove_rest(folder, error);
}

/* ---- how it is found and made */

gather_status gather_shuffle_folder_find(gather_shuffle *job, gather_error *error) {
  gather_shuffle_folder *folder = &job->folder;
  folder->fd = gather_shuffle_open_at(AT_FDCWD, folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  if (folder->fd < 0 && errno == ENOENT) return GATHER_OK;
  if (folder->fd < 0) return fail_folder(folder, "open this folder", error);
  return take_lock(folder, error);
}

gather_status gather_shuffle_folder_make(gather_shuffle *job, gather_error *error) {
  gather_shuffle_folder *folder = &job->folder;
  if (job->options.replace) {
    GATHER_TRY(gather_shuffle_folder_find(job, error));
    if (folder->fd >= 0) GATHER_TRY(gather_shuffle_folder_remove(folder, error));
  }
  forget(folder);                       /* of an output that no longer exists */
  if (mkdir(folder->path, 0700) != 0) { /* its files may be more private than their modes say */
    if (errno != EEXIST) return fail_folder(folder, "create this folder", error);
    return gather_shuffle_advise(
        job, GATHER_SHUFFLE_REMEDY_RESUME,
        gather_fail_file(error, GATHER_FILE_EXISTS, folder->path, -1, "an earlier shuffle left this folder, or is still using it"));
  }
  GATHER_TRY(gather_shuffle_folder_find(job, error));
  if (folder->fd >= 0) return GATHER_OK;
  errno = ENOENT;
  return fail_folder(folder, "open this folder", error);
}

/* ---- its files */

/* Reserves disk space, so that a full disk fails here. */
static gather_status reserve(const gather_shuffle *job, int fd, const char *name, int64_t size, gather_error *error) {
  const int number = size > 0 ? gather_disk_reserve(fd, size) : 0;
  if (number == 0) return GATHER_OK;
  return gather_fail_errno(error, GATHER_IO_ERROR, number, job->folder.path, -1, "cannot reserve disk space for its file %s", name);
}

static gather_status check_room(const gather_shuffle *job, gather_error *error) {
  struct statvfs room;
  char needs[32], missing[32];
  const int64_t need = gather_shuffle_out_bytes(job) + gather_shuffle_temporary_bytes(job);
  if (fstatvfs(job->folder.fd, &room) != 0 || room.f_blocks == 0 || room.f_frsize == 0) return GATHER_OK;
  uint64_t blocks = (uint64_t)need / room.f_frsize + 1;
  if (blocks <= room.f_bavail) return GATHER_OK;
  (void)gather_fail_file(error, GATHER_IO_ERROR, job->folder.path, -1, "not enough disk space: %s are needed, %s are missing",
                         gather_text_bytes(need, needs, sizeof needs),
                         gather_text_bytes((int64_t)((blocks - room.f_bavail) * room.f_frsize), missing, sizeof missing));
  if (error) error->system_error = ENOSPC; /* found before anything was written */
  return GATHER_IO_ERROR;
}

/* While the output gets its name, its file may have two: a run may have been stopped in between. Any other name is somebody else's. */
static bool is_ours(const gather_shuffle *job, const struct stat *about) {
  struct stat out;
  if (!S_ISREG(about->st_mode)) return false;
  if (about->st_nlink == 1) return true;
  return job->step == GATHER_SHUFFLE_PUBLISH && about->st_nlink == 2 && stat(job->target, &out) == 0 && out.st_ino == about->st_ino &&
         out.st_dev == about->st_dev;
}

static gather_status open_file(gather_shuffle *job, gather_shuffle_file file, gather_error *error) {
  gather_shuffle_folder *folder = &job->folder;
  struct stat about;
  const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | (job->resumed ? 0 : O_CREAT);
  const unsigned mode = file == GATHER_SHUFFLE_FILE_ROWS ? 0666 : GATHER_SHUFFLE_PRIVATE; /* the rows become the output */
  folder->file[file] = gather_shuffle_open_at(folder->fd, FILES[file], flags, mode);
  if (folder->file[file] < 0) return fail_folder(folder, "open a file in it", error);
  if (fstat(folder->file[file], &about) != 0) return fail_folder(folder, "inspect a file in it", error);
  if (is_ours(job, &about)) return GATHER_OK;
  return gather_fail_file(error, GATHER_FILE_MALFORMED, folder->path, -1, "its file %s does not belong to a shuffle", FILES[file]);
}

static gather_status size_file(gather_shuffle *job, gather_shuffle_file file, int64_t size, gather_error *error) {
  struct stat about;
  const int fd = job->folder.file[file];
  if (fd < 0) return GATHER_OK;
  if (!job->resumed) return reserve(job, fd, FILES[file], size, error);
  if (fstat(fd, &about) != 0) return fail_folder(&job->folder, "inspect a file in it", error);
  if ((int64_t)about.st_size >= size) return GATHER_OK;
  return gather_shuffle_advise(
      job, GATHER_SHUFFLE_REMEDY_REPLACE,
      gather_fail_file(error, GATHER_FILE_MALFORMED, job->folder.path, -1, "its file %s is truncated", FILES[file]));
}

/* Begins `rows` with the header of the output, and finds out how long that is. */
static gather_status write_header(gather_shuffle *job, gather_error *error) {
  gather_file_target rows = job->file;
  const int fd = job->folder.file[GATHER_SHUFFLE_FILE_ROWS];
  rows.path = NULL;
  rows.fd = fd;
  rows.parts = true;
  GATHER_TRY(gather_writer_create(&rows, &job->writer, error));
  GATHER_TRY(gather_writer_append(job->writer, NULL, 0, error));
  job->header_bytes = (int64_t)lseek(fd, 0, SEEK_CUR);
  return job->header_bytes >= 0 ? GATHER_OK : fail_folder(&job->folder, "write in it", error);
}

gather_status gather_shuffle_folder_files(gather_shuffle *job, gather_error *error) {
  const int64_t rows = job->out_rows * job->row_bytes, places = job->out_rows * (int64_t)sizeof(uint32_t),
                pairs = job->out_rows * (int64_t)sizeof(gather_shuffle_pair);
  /* The output may have its name already, and `rows` its final length. */
  const int64_t slack = job->step == GATHER_SHUFFLE_PUBLISH ? 0 : job->bucket_rows * job->row_bytes;
  GATHER_TRY(open_file(job, GATHER_SHUFFLE_FILE_ROWS, error));
  if (job->passes == 2) GATHER_TRY(open_file(job, GATHER_SHUFFLE_FILE_PLACES, error));
  if (job->passes == 2 && job->given) GATHER_TRY(open_file(job, GATHER_SHUFFLE_FILE_PAIRS, error));
  GATHER_TRY(write_header(job, error));
  if (!job->resumed) GATHER_TRY(check_room(job, error));
  GATHER_TRY(size_file(job, GATHER_SHUFFLE_FILE_ROWS, job->header_bytes + slack + rows, error));
  GATHER_TRY(size_file(job, GATHER_SHUFFLE_FILE_PLACES, places, error));
  return size_file(job, GATHER_SHUFFLE_FILE_PAIRS, pairs, error);
}

/* The same where the output has its name: the journal stays, beside the output, until gather_shuffle_folder_close, so that a later
 * run can tell that the output is complete. */
static gather_status finish(gather_shuffle_folder *folder, gather_error *error) {
  char last[GATHER_SHUFFLE_LAST_PATH];
  gather_shuffle_last_path(folder, last);
  remove_files(folder);
  (void)renameat(folder->fd, "journal", AT_FDCWD, last); /* too long a name: it is removed with the rest */
  return remove_rest(folder, error);
}

/* ---- publishing: the finished file gets the name of the output. It replaces another file only if the caller asked for that. */

static gather_status fail(const gather_shuffle *job, const char *what, int number, gather_error *error) {
  if (number == EEXIST) return gather_fail_file(error, GATHER_FILE_EXISTS, job->target, -1, "the file exists already and is kept");
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

static int name_anyhow(const gather_shuffle *job) { return renameat(job->folder.fd, "rows", AT_FDCWD, job->target) == 0 ? 0 : errno; }

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

gather_status gather_shuffle_publish(gather_shuffle *job, gather_error *error) {
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
  return job->folder.fd < 0 ? GATHER_OK : finish(&job->folder, error);
}
