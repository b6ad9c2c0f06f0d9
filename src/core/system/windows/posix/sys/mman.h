/* SPDX-License-Identifier: MIT
 *
 * sys/mman.h: files and memory in the address space.
 */
#ifndef GATHER_POSIX_SYS_MMAN_H
#define GATHER_POSIX_SYS_MMAN_H

#include <posix_names.h>
#include <stddef.h>
#include <sys/types.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 0x20
#define MAP_FAILED ((void *)-1)
#define MADV_RANDOM 1
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4

void *mmap(void *at, size_t bytes, int access, int flags, int fd, off_t offset) GATHER_POSIX(mmap);
int munmap(void *at, size_t bytes) GATHER_POSIX(munmap);
int mprotect(void *at, size_t bytes, int access) GATHER_POSIX(mprotect);
int madvise(void *at, size_t bytes, int advice) GATHER_POSIX(madvise);

#endif
