/* SPDX-License-Identifier: MIT
 *
 * unistd.h: descriptors, names of files, and what the system is like.
 */
#ifndef GATHER_POSIX_UNISTD_H
#define GATHER_POSIX_UNISTD_H

#include <posix_names.h>
#include <stddef.h>
#include <sys/types.h>

#define _POSIX_ADVISORY_INFO 200809L
#define _POSIX_CLOCK_SELECTION 200809L

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define _SC_PAGESIZE 1

int close(int fd) GATHER_POSIX(close);
int dup(int fd) GATHER_POSIX(dup);
ssize_t read(int fd, void *to, size_t bytes) GATHER_POSIX(read);
ssize_t write(int fd, const void *from, size_t bytes) GATHER_POSIX(write);
ssize_t pread(int fd, void *to, size_t bytes, off_t offset) GATHER_POSIX(pread);
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset) GATHER_POSIX(pwrite);
off_t lseek(int fd, off_t offset, int whence) GATHER_POSIX(lseek);
int ftruncate(int fd, off_t bytes) GATHER_POSIX(ftruncate);
int fsync(int fd) GATHER_POSIX(fsync);
int fdatasync(int fd) GATHER_POSIX(fdatasync);
void sync(void) GATHER_POSIX(sync);
int isatty(int fd) GATHER_POSIX(isatty);
int access(const char *path, int mode) GATHER_POSIX(access);
int link(const char *path, const char *name) GATHER_POSIX(link);
int linkat(int folder, const char *path, int to, const char *name, int flags) GATHER_POSIX(linkat);
int symlink(const char *target, const char *path) GATHER_POSIX(symlink);
ssize_t readlink(const char *path, char *target, size_t bytes) GATHER_POSIX(readlink);
int unlink(const char *path) GATHER_POSIX(unlink);
int unlinkat(int folder, const char *path, int flags) GATHER_POSIX(unlinkat);
int rmdir(const char *path) GATHER_POSIX(rmdir);
int truncate(const char *path, off_t bytes) GATHER_POSIX(truncate);
int fchown(int fd, uid_t owner, gid_t group) GATHER_POSIX(fchown);
uid_t geteuid(void) GATHER_POSIX(geteuid);
pid_t getpid(void) GATHER_POSIX(getpid);
long sysconf(int name) GATHER_POSIX(sysconf);
unsigned sleep(unsigned seconds) GATHER_POSIX(sleep);
int usleep(unsigned microseconds) GATHER_POSIX(usleep);

#endif
