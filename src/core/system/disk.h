/* SPDX-License-Identifier: MIT
 *
 * disk.h: what a file being written has on its disk, and what of it stays in the page cache.
 */
#ifndef GATHER_BASE_DISK_H
#define GATHER_BASE_DISK_H

#include <stdint.h>

/* Starts writing bytes of a file to the disk. Errors are reported by gather_disk_wait. */
void gather_disk_begin(int fd, int64_t offset, int64_t bytes);
/* Waits until the disk has the bytes. Returns an errno. */
int gather_disk_wait(int fd, int64_t offset, int64_t bytes);
/* Gives up the pages of bytes that the disk has. */
void gather_disk_drop(int fd, int64_t offset, int64_t bytes);

/* Waits until the disk has the file, or what of it is needed to read its bytes again. Returns an errno. */
int gather_disk_sync(int fd);
int gather_disk_sync_data(int fd);
/* Waits until the disk has every file of the file system. Returns an errno. */
int gather_disk_sync_all(int fd);

/* Gives a file its size, and reserves the room for it where the file system can. Returns an errno. */
int gather_disk_reserve(int fd, int64_t size);

#endif
