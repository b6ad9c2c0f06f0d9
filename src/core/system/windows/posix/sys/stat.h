/* SPDX-License-Identifier: MIT
 *
 * sys/stat.h: what a file is. A file's volume and its number there (st_dev, st_ino) identify it as on POSIX.
 */
#ifndef GATHER_POSIX_SYS_STAT_H
#define GATHER_POSIX_SYS_STAT_H

#include <posix_names.h>
#include <sys/types.h>
#include <time.h>

struct stat {
  dev_t st_dev;
  ino_t st_ino;
  mode_t st_mode;
  unsigned st_nlink;
  uid_t st_uid;
  gid_t st_gid;
  off_t st_size;
  struct timespec st_mtim;
};

#define S_IFMT 0170000u
#define S_IFIFO 0010000u
#define S_IFCHR 0020000u
#define S_IFDIR 0040000u
#define S_IFBLK 0060000u
#define S_IFREG 0100000u
#define S_IFLNK 0120000u
#define S_IFSOCK 0140000u
#define S_ISFIFO(mode) (((mode)&S_IFMT) == S_IFIFO)
#define S_ISCHR(mode) (((mode)&S_IFMT) == S_IFCHR)
#define S_ISDIR(mode) (((mode)&S_IFMT) == S_IFDIR)
#define S_ISBLK(mode) (((mode)&S_IFMT) == S_IFBLK)
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)
#define S_IRWXU 0700u
#define S_IRUSR 0400u
#define S_IWUSR 0200u
#define S_IXUSR 0100u
#define S_IRWXG 0070u
#define S_IWGRP 0020u
#define S_IRWXO 0007u
#define S_IWOTH 0002u

int stat(const char *path, struct stat *about) GATHER_POSIX(stat);
int lstat(const char *path, struct stat *about) GATHER_POSIX(lstat);
int fstat(int fd, struct stat *about) GATHER_POSIX(fstat);
int fstatat(int folder, const char *path, struct stat *about, int flags) GATHER_POSIX(fstatat);
int fchmod(int fd, mode_t mode) GATHER_POSIX(fchmod);
int mkdir(const char *path, mode_t mode) GATHER_POSIX(mkdir);

#endif
