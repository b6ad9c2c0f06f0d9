/* SPDX-License-Identifier: MIT
 *
 * output.c: files that are written atomically, and writing to a descriptor (POSIX). Of all writing, only this code calls the operating
 * system.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_TMPFILE, sys/xattr.h; elsewhere all is visible unless a standard is asked for */
#endif
#define _FILE_OFFSET_BITS 64
#if defined(__linux__)
#include <sys/xattr.h>
#endif
#include "io/format/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/path.h"
#include "core/system/disk.h"
#include "io/format/map.h"

/* ---- a descriptor of the caller's */

/* Some systems refuse a write of 2 GiB or more. */
enum { WRITE_AT_MOST = 1 << 30 };

gather_status gather_descriptor_check(int fd, gather_error *error) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return gather_fail_system(error, "output", errno, "write to the descriptor");
  if ((flags & O_ACCMODE) == O_RDONLY) return gather_fail_system(error, "output", EBADF, "write to the descriptor");
  return GATHER_OK;
}

/* After a failed write: 0 = try again, else the errno. Waits for a non-blocking descriptor. */
static int retry(int fd, int number) {
  if (number == EINTR) return 0;
  if (number != EAGAIN && number != EWOULDBLOCK) return number;
  struct pollfd waiting = {.fd = fd, .events = POLLOUT};
  return poll(&waiting, 1, -1) >= 0 || errno == EINTR ? 0 : errno;
}

gather_status gather_descriptor_write(int fd, const void *bytes, int64_t size, gather_error *error) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t wrote = write(fd, at, size > WRITE_AT_MOST ? (size_t)WRITE_AT_MOST : (size_t)size);
    if (wrote < 0) {
      int number = retry(fd, errno);
      if (number != 0) return gather_fail_system(error, "output", number, "write to the descriptor");
    } else {
      at += wrote;
      size -= wrote;
    }
  }
  return GATHER_OK;
}

/* ---- the permissions of the replaced file, which the new one gets before it has any content */

#if defined(__linux__)

static const char ACL[] = "system.posix_acl_access";

/* Copies the access ACL. False on failure: the group bits of the mode would then mean something else for the new
 * file. */
static bool copy_acl(const char *path, int fd) {
  ssize_t bytes = getxattr(path, ACL, NULL, 0);
  if (bytes < 0 && (errno == ENODATA || errno == ENOTSUP)) /* the new file may have inherited its directory's default */
    return fremovexattr(fd, ACL) == 0 || errno == ENODATA || errno == ENOTSUP;
  void *list = bytes >= 0 ? gather_alloc(bytes + 1) : NULL;
  bool copied = list && getxattr(path, ACL, list, (size_t)bytes) == bytes && fsetxattr(fd, ACL, list, (size_t)bytes, 0) == 0;
  gather_free(list);
  return copied;
}

#else

static bool copy_acl(const char *path, int fd) {
  (void)path, (void)fd;
  return true;
}

#endif

gather_status gather_permissions_copy(const char *path, int fd, gather_error *error) {
  struct stat old, new;
  if (stat(path, &old) != 0 || fstat(fd, &new) != 0) return gather_fail_system(error, path, errno, "read its permissions");
  mode_t mode = old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  bool group = new.st_gid == old.st_gid || fchown(fd, (uid_t)-1, old.st_gid) == 0;
  bool acl = copy_acl(path, fd);
  /* If the group differs, it gets at most the permissions of others. */
  if (!group || !acl) mode &= (mode_t)~S_IRWXG | (mode & S_IRWXO) << 3;
  if (fchmod(fd, mode) != 0) return gather_fail_system(error, path, errno, "keep its permissions");
  /* Last, because only the owner may change the mode. Without the privilege, the file keeps its owner. */
  const bool owner = new.st_uid == old.st_uid || fchown(fd, old.st_uid, (gid_t)-1) == 0;
  (void)owner;
  return GATHER_OK;
}

/* ---- names. If the system can, a file has no name until it is complete: a killed process leaves nothing behind. Otherwise, and for the
 * moment of replacing another file, it has a temporary name beside its target. Each output is locked (flock) while its process lives, so
 * that a later one for the same target can recognise and remove what a killed process left. */

/* Other processes may be writing to the same target. */
enum { NAMES_TRIED = 10000, LINK_BYTES = 32 };

/* ---- temporary names */

/* ".gather-<hash of the target's name>-<number>.tmp": short however long the target's name is. */
static void number_name(const gather_output *output, int number) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *at = output->target + output->folder_bytes; *at; at++) hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
  (void)snprintf(output->temporary + output->folder_bytes, GATHER_OUTPUT_NAME_BYTES, ".gather-%016" PRIx64 "-%d.tmp", hash, number);
}

/* Removes a temporary file left by a dead process; true if the name is free again. Only its lock can tell; without
 * locks it is kept. */
static bool remove_stale(const char *path) {
  struct stat file, name;
  int fd = gather_open_file(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return errno == ENOENT;
  bool removed = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                 lstat(path, &name) == 0 && name.st_ino == file.st_ino && name.st_dev == file.st_dev && unlink(path) == 0;
  (void)close(fd);
  return removed;
}

/* Whether the file can be locked and still has its name: until it is locked, another process may take it for a stale
 * one. */
static bool lock(int fd) {
  struct stat about;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  return fstat(fd, &about) != 0 || about.st_nlink > 0;
}

static int open_exclusively(gather_output *output, mode_t mode) {
  output->fd = gather_open_file(output->temporary, O_RDWR | O_CREAT | O_EXCL, mode);
  return output->fd >= 0 ? 0 : errno;
}

static int open_named(gather_output *output, mode_t mode) {
  for (int i = 0; i < NAMES_TRIED; i++) {
    number_name(output, i);
    int number = open_exclusively(output, mode);
    if (number == EEXIST && remove_stale(output->temporary)) number = open_exclusively(output, mode);
    if (number == EEXIST) continue;
    if (number != 0) return number;
    if (lock(output->fd)) {
      output->named = true;
      return 0;
    }
    (void)close(output->fd);
    output->fd = -1;
  }
  return EIO; /* not EEXIST: the temporary names exist, not the target's */
}

/* ---- files without a name */

#if defined(O_TMPFILE)

/* The path by which an unnamed file can get a name. */
static void write_link(int fd, char text[LINK_BYTES]) { (void)snprintf(text, LINK_BYTES, "/proc/self/fd/%d", fd); }

/* Whether /proc can give it a name later. */
static bool can_be_named(int fd) {
  char link[LINK_BYTES];
  struct stat file, behind;
  write_link(fd, link);
  return fstat(fd, &file) == 0 && stat(link, &behind) == 0 && file.st_ino == behind.st_ino && file.st_dev == behind.st_dev;
}

/* Old systems and many file systems cannot, with various errors. Returns an errno; output->fd stays -1 if it is not
 * supported. */
static int open_unnamed(gather_output *output, const char *folder, mode_t mode) {
  int fd = gather_open_file(folder, O_RDWR | O_TMPFILE, mode), number = fd < 0 ? errno : 0;
  if (number == EOPNOTSUPP || number == EISDIR || number == EINVAL || number == ENOENT || number == ENOSYS) return 0;
  if (number != 0) return number;
  if (can_be_named(fd)) {
    (void)flock(fd, LOCK_EX | LOCK_NB);
    output->fd = fd;
  } else {
    (void)close(fd);
  }
  return 0;
}

static int give_name(const gather_output *output, const char *name) {
  char link[LINK_BYTES];
  write_link(output->fd, link);
  return linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

#else

static int open_unnamed(gather_output *output, const char *folder, mode_t mode) {
  (void)output, (void)folder, (void)mode;
  return 0;
}

static int give_name(const gather_output *output, const char *name) {
  (void)output, (void)name;
  return EOPNOTSUPP;
}

#endif

/* A directory may be writable but not readable. */
static int open_folder(gather_output *output, const char *folder) {
  output->folder = gather_open_file(folder, O_RDONLY | O_DIRECTORY, 0);
  return output->folder >= 0 || errno == EACCES ? 0 : errno;
}

/* Creates the file, and opens its directory. If it has a name, that is output->temporary. */
static int open_file(gather_output *output, mode_t mode) {
  char *end = output->target + output->folder_bytes, first = *end;
  const char *folder = output->folder_bytes ? output->target : ".";
  *end = '\0';
  int number = open_folder(output, folder);
  if (number == 0) number = open_unnamed(output, folder, mode);
  *end = first;
  number_name(output, 0);
  if (number == 0 && output->fd >= 0 && access(output->temporary, F_OK) == 0) (void)remove_stale(output->temporary);
  if (number == 0 && output->fd < 0) number = open_named(output, mode);
  return number;
}

/* ---- the target's name */

/* If the name must be free: a hard link fails if the name exists. On a file system without hard links, an empty file
 * reserves the name, and the rename then replaces it. */
static int name_exclusively(const gather_output *output) {
  if (!output->named) return give_name(output, output->target);
  if (link(output->temporary, output->target) == 0) {
    (void)unlink(output->temporary); /* the file has its final name; errors do not matter */
    return 0;
  }
  int fd = gather_open_file(output->target, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (fd < 0) return errno;
  (void)close(fd);
  if (rename(output->temporary, output->target) == 0) return 0;
  int number = errno;
  (void)unlink(output->target);
  return number;
}

/* An unnamed file cannot replace another: it first gets a temporary name, which is renamed. */
static int rename_unnamed(const gather_output *output) {
  int number = EEXIST;
  for (int i = 0; i < NAMES_TRIED && number == EEXIST; i++) {
    number_name(output, i);
    number = give_name(output, output->temporary);
    if (number == EEXIST && remove_stale(output->temporary)) number = give_name(output, output->temporary);
  }
  if (number != 0) return number == EEXIST ? EIO : number;
  if (rename(output->temporary, output->target) == 0) return 0;
  number = errno;
  (void)unlink(output->temporary);
  return number;
}

static int replace_target(const gather_output *output) {
  sigset_t all, before;
  if (output->named) return rename(output->temporary, output->target) == 0 ? 0 : errno;
  int number = give_name(output, output->target);
  if (number != EEXIST) return number;
  /* No signal handler may end the program between the two steps. */
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, &before);
  number = rename_unnamed(output);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return number;
}

/* Gives it the target's name. EEXIST: another file has that name and is kept. */
static int give_target_name(gather_output *output) {
  int number = output->replace ? replace_target(output) : name_exclusively(output);
  if (number == 0) output->named = false;
  return number;
}

/* ---- the disk */

/* Syncs the bytes of the file; and the entries of the target's folder. */
static int sync_bytes(const gather_output *output) { return gather_disk_sync(output->fd); }

/* If the directory cannot be opened: syncs its whole file system. */
static int sync_folder(const gather_output *output) {
  return output->folder >= 0 ? gather_disk_sync(output->folder) : gather_disk_sync_all(output->fd);
}

/* ---- part by part, without filling the page cache: each part goes to the disk at once, and the pages already written are dropped */

enum { LEAST_STEP = 1 << 16 };

static gather_status write_all(const gather_output *output, const char *bytes, int64_t size, gather_error *error) {
  int64_t at = output->written;
  while (size > 0) {
    ssize_t wrote = pwrite(output->fd, bytes, size > WRITE_AT_MOST ? (size_t)WRITE_AT_MOST : (size_t)size, (off_t)at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return gather_fail_system(error, output->target, wrote < 0 ? errno : ENOSPC, "write it");
    bytes += wrote;
    at += wrote;
    size -= wrote;
  }
  return GATHER_OK;
}

/* Waits until the disk has all but the last `keep` bytes, and drops their pages. */
static gather_status settle(gather_output *output, int64_t keep, gather_error *error) {
  int64_t last = output->written - keep;
  if (last <= output->settled) return GATHER_OK;
  int number = gather_disk_wait(output->fd, output->settled, last - output->settled);
  if (number != 0) return gather_fail_system(error, output->target, number, "write it");
  gather_disk_drop(output->fd, output->settled, last - output->settled);
  output->settled = last;
  return GATHER_OK;
}

/* One write. It may exceed the window by at most `size` bytes. */
static gather_status append_step(gather_output *output, const char *bytes, int64_t size, int64_t window_bytes, gather_error *error) {
  GATHER_TRY(write_all(output, bytes, size, error));
  output->written += size;
  if (window_bytes == 0) return GATHER_OK;
  gather_disk_begin(output->fd, output->written - size, size);
  return output->written - output->settled > window_bytes ? settle(output, window_bytes / 2, error) : GATHER_OK;
}

gather_status gather_output_append(gather_output *output, const void *bytes, int64_t size, int64_t window_bytes, gather_error *error) {
  const char *at = bytes;
  int64_t step = window_bytes == 0 ? size : window_bytes / 4;
  if (step < LEAST_STEP) step = LEAST_STEP;
  while (size > 0) {
    int64_t now = size < step ? size : step;
    GATHER_TRY(append_step(output, at, now, window_bytes, error));
    at += now;
    size -= now;
  }
  return GATHER_OK;
}

/* ---- a file */

static char *copy_text(const char *text, size_t bytes) {
  char *copy = gather_alloc((int64_t)bytes + 1);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

/* Length of the folder part of a path, with its slash. */
static size_t folder_bytes(const char *path) {
  const char *slash = gather_path_slash(path);
  return slash ? (size_t)(slash + 1 - path) : 0;
}

/* A fault that is found without a call that fails, with the number that such a call would have. */
static gather_status fail_kind(const char *path, int number, const char *what, gather_error *error) {
  (void)gather_fail_file(error, GATHER_IO_ERROR, path, -1, "%s", what);
  if (error) error->system_error = (int16_t)number;
  return GATHER_IO_ERROR;
}

/* Fails if no file can be created in the folder of `path`. */
static gather_status check_folder(const char *path, gather_error *error) {
  size_t bytes = folder_bytes(path);
  char *folder = bytes ? copy_text(path, bytes) : copy_text(".", 1);
  if (!folder) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "out of memory for its name");
  struct stat about;
  gather_status status = GATHER_OK;
  if (stat(folder, &about) != 0)
    status = gather_fail_system(error, path, errno, "write into its folder");
  else if (!S_ISDIR(about.st_mode))
    status = fail_kind(path, ENOTDIR, "its parent is not a directory", error);
  else if (access(folder, W_OK | X_OK) != 0)
    status = gather_fail_system(error, path, errno, "write into its folder");
  gather_free(folder);
  return status;
}

static gather_status fail_exists(const char *path, gather_error *error) {
  return gather_fail_file(error, GATHER_FILE_EXISTS, path, -1, "the file exists already and is kept");
}

/* Checks whatever exists under the name. *replaces: a file will be replaced. */
static gather_status check_target(const char *path, bool replace, bool *replaces, gather_error *error) {
  struct stat about;
  *replaces = false;
  if (path[0] == '\0') return gather_fail(error, GATHER_USAGE, "the name of the output is empty");
  if (strchr(GATHER_PATH_SEPARATORS, path[strlen(path) - 1]))
    return gather_fail_file(error, GATHER_USAGE, path, -1, "the name of the output ends with a slash");
  GATHER_TRY(check_folder(path, error));
  if (lstat(path, &about) != 0) return errno == ENOENT ? GATHER_OK : gather_fail_system(error, path, errno, "find out whether it exists");
  if (S_ISDIR(about.st_mode)) return fail_kind(path, EISDIR, "is a directory", error);
  if (!replace) return fail_exists(path, error);
  if (stat(path, &about) != 0) return gather_fail_system(error, path, errno, "follow the link");
  /* Renaming over a device or a pipe would replace it by a file. */
  if (!S_ISREG(about.st_mode)) return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is not a regular file, so it is not replaced");
  *replaces = true;
  return GATHER_OK;
}

gather_status gather_output_check(const char *path, bool replace, gather_error *error) {
  bool replaces;
  return check_target(path, replace, &replaces, error);
}

/* A link is kept; the file that it points to is replaced. */
static gather_status resolve(const char *path, bool replace, char **target, gather_error *error) {
  errno = 0;
  char *real = replace ? realpath(path, NULL) : NULL;
  if (replace && !real && errno != ENOENT) return gather_fail_system(error, path, errno, "resolve the link");
  *target = real ? copy_text(real, strlen(real)) : copy_text(path, strlen(path));
  free(real);
  if (*target) return GATHER_OK;
  return gather_fail_file(error, GATHER_OUT_OF_MEMORY, path, -1, "out of memory for its name");
}

static gather_status open_output(gather_output *output, bool replaces, gather_error *error) {
  output->folder_bytes = folder_bytes(output->target);
  output->temporary = gather_alloc((int64_t)output->folder_bytes + GATHER_OUTPUT_NAME_BYTES);
  if (!output->temporary) return gather_fail_file(error, GATHER_OUT_OF_MEMORY, output->target, -1, "out of memory for its name");
  memcpy(output->temporary, output->target, output->folder_bytes);
  int number = open_file(output, replaces ? S_IRUSR | S_IWUSR : 0666);
  if (number != 0) return gather_fail_system(error, output->target, number, "create a file beside it");
  return replaces ? gather_permissions_copy(output->target, output->fd, error) : GATHER_OK;
}

gather_status gather_output_create(gather_output *output, const char *path, bool replace, gather_error *error) {
  bool replaces;
  *output = (gather_output)GATHER_OUTPUT_NONE;
  GATHER_TRY(check_target(path, replace, &replaces, error));
  output->replace = replace;
  gather_status status = resolve(path, replace, &output->target, error);
  if (status == GATHER_OK) status = open_output(output, replaces, error);
  if (status != GATHER_OK) gather_output_clear(output);
  return status;
}

/* Whether the disk has less than `size` bytes free. Checked first, since allocating until the disk is full would
 * hurt other programs, even if freed at once. A file system that does not know its size reports 0. */
static bool is_too_small(int fd, int64_t size) {
  struct statvfs room;
  if (fstatvfs(fd, &room) != 0 || room.f_blocks == 0 || room.f_frsize == 0) return false;
  return (uint64_t)size / room.f_frsize > (uint64_t)room.f_bavail;
}

/* Makes the file `size` bytes long and allocates its blocks; returns an errno. If the file system cannot allocate,
 * the file is sparse, and a full disk later kills the program that fills it (SIGBUS). */
static int reserve_room(int fd, int64_t size) {
#if defined(_POSIX_ADVISORY_INFO) && _POSIX_ADVISORY_INFO > 0
  int number;
  do number = posix_fallocate(fd, 0, (off_t)size);
  while (number == EINTR);
  if (number != EOPNOTSUPP && number != ENOTSUP && number != EINVAL && number != ENOSYS) return number;
#endif
  return ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
}

static gather_status map_bytes(gather_output *output, gather_error *error) {
  if (output->size == 0) return GATHER_OK;
  void *pages = mmap(NULL, (size_t)output->size, PROT_READ | PROT_WRITE, MAP_SHARED, output->fd, 0);
  if (pages == MAP_FAILED) return gather_fail_system(error, output->target, errno, "map it into memory");
  output->bytes = pages;
  return GATHER_OK;
}

gather_status gather_output_reserve(gather_output *output, int64_t size, bool maps, gather_error *error) {
  if (size == 0) return GATHER_OK;
  if ((uint64_t)size > PTRDIFF_MAX || (off_t)size != size)
    return gather_fail_file(error, GATHER_OVERFLOW, output->target, -1, "is too large for the address space");
  int number = is_too_small(output->fd, size) ? ENOSPC : reserve_room(output->fd, size);
  if (number != 0) return gather_fail_system(error, output->target, number, "reserve its size on the disk");
  output->size = size;
  return maps ? map_bytes(output, error) : GATHER_OK;
}

static void unmap(gather_output *output) {
  if (output->bytes) (void)munmap(output->bytes, (size_t)output->size);
  output->bytes = NULL;
}

/* Some file systems report write errors only on close, so a duplicate is closed. The file itself stays open: it
 * keeps its lock, and an unnamed file would be deleted. After EINTR the descriptor is closed on Linux, and nothing
 * is lost. */
static int flush(const gather_output *output) {
  int copy = dup(output->fd);
  if (copy < 0) return errno;
  return close(copy) == 0 || errno == EINTR ? 0 : errno;
}

static gather_status settle_bytes(const gather_output *output, gather_error *error) {
  int number = output->no_sync ? 0 : sync_bytes(output);
  if (number == 0) number = flush(output);
  return number == 0 ? GATHER_OK : gather_fail_system(error, output->target, number, "write it to the disk");
}

gather_status gather_output_publish(gather_output *output, gather_error *error) {
  unmap(output);
  GATHER_TRY(settle_bytes(output, error));
  int number = give_target_name(output);
  if (number == EEXIST) return fail_exists(output->target, error);
  if (number != 0) return gather_fail_system(error, output->target, number, "give the finished file its name");
  number = output->no_sync ? 0 : sync_folder(output);
  if (number == 0) return GATHER_OK;
  return gather_fail_system(error, output->target, number, "sync its directory; the file is complete and has its name");
}

void gather_output_clear(gather_output *output) {
  unmap(output);
  if (output->named) (void)unlink(output->temporary); /* before its lock is released */
  if (output->fd >= 0) (void)close(output->fd);
  if (output->folder >= 0) (void)close(output->folder);
  gather_free(output->temporary);
  gather_free(output->target);
  *output = (gather_output)GATHER_OUTPUT_NONE;
}
