/* SPDX-License-Identifier: MIT
 *
 * output_name.c: the names of a file being written. If the system can, it has no name until it is complete: a killed
 * process leaves nothing behind. Otherwise, and for the moment of replacing another file, it has a temporary name
 * beside its target. Each output is locked (flock) while its process lives, so that a later one for the same target
 * can recognise and remove what a killed process left.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/system/disk.h"
#include "io/format/map.h"
#include "io/format/output.h"

/* Other processes may be writing to the same target. */
enum { NAMES_TRIED = 10000, LINK_BYTES = 32 };

/* ---- temporary names */

/* ".gather-<hash of the target's name>-<number>.tmp": short however long the target's name is. */
static void number_name(const gather_output *output, int number) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char *at = output->target + output->folder_bytes; *at; at++) hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
  (void)snprintf(output->temporary + output->folder_bytes, GATHER_OUTPUT_NAME_BYTES, ".gather-%016" PRIx64 "-%d.tmp",
                 hash, number);
}

/* Removes a temporary file left by a dead process; true if the name is free again. Only its lock can tell; without
 * locks it is kept. */
static bool remove_stale(const char *path) {
  struct stat file, name;
  int fd = gather_open_file(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return errno == ENOENT;
  bool removed = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
                 flock(fd, LOCK_EX | LOCK_NB) == 0 && lstat(path, &name) == 0 && name.st_ino == file.st_ino &&
                 name.st_dev == file.st_dev && unlink(path) == 0;
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
  return fstat(fd, &file) == 0 && stat(link, &behind) == 0 && file.st_ino == behind.st_ino &&
         file.st_dev == behind.st_dev;
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

int gather_output_open(gather_output *output, mode_t mode) {
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

int gather_output_name(gather_output *output) {
  int number = output->replace ? replace_target(output) : name_exclusively(output);
  if (number == 0) output->named = false;
  return number;
}

/* ---- the disk */

int gather_output_sync(const gather_output *output) { return gather_disk_sync(output->fd); }

/* If the directory cannot be opened: syncs its whole file system. */
int gather_output_sync_folder(const gather_output *output) {
  return output->folder >= 0 ? gather_disk_sync(output->folder) : gather_disk_sync_all(output->fd);
}
