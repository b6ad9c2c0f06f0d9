/* SPDX-License-Identifier: MIT
 *
 * bench_cache.c: the file system of a file, and its pages in the page cache: dropped without privileges.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* mincore, syscall, O_DIRECT */
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "fail.h"
#include "system.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

enum { PAGE = 4096, TRIES = 20 };

#if defined(__linux__)

/* Pages of a file in the page cache by mincore, a window at a time; -1 = unknown. */
static int64_t count_resident(int fd, int64_t size) {
  const int64_t window = (int64_t)1 << 28, page = sysconf(_SC_PAGESIZE);
  static unsigned char seen[(1 << 28) / PAGE];
  int64_t count = 0;
  if (page < PAGE) return -1;
  for (int64_t at = 0; at < size; at += window) {
    size_t bytes = (size_t)(size - at < window ? size - at : window), pages = (bytes + (size_t)page - 1) / (size_t)page;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)at);
    if (map == MAP_FAILED) return -1;
    int failed = mincore(map, bytes, seen);
    (void)munmap(map, bytes);
    if (failed != 0) return -1;
    for (size_t i = 0; i < pages; i++) count += seen[i] & 1;
  }
  return count * page;
}

/* By cachestat (Linux 6.5), which counts without visiting each page. */
static int64_t resident_bytes(int fd, int64_t size) {
  struct {
    uint64_t offset, length;
  } range = {0, 0};
  struct {
    uint64_t cached, dirty, writing, evicted, evicted_lately;
  } answer;
  const long number = 451;
  if (syscall(number, fd, &range, &answer, 0) != 0) return count_resident(fd, size);
  return (int64_t)answer.cached * sysconf(_SC_PAGESIZE);
}

#else

static int64_t resident_bytes(int fd, int64_t size) {
  (void)fd, (void)size;
  return -1;
}

#endif

/* Drops the pages of one file; returns how many bytes remain. */
static int64_t drop_pages(int fd, int64_t size) {
#if defined(POSIX_FADV_DONTNEED)
  (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#endif
  int64_t resident = resident_bytes(fd, size);
  return resident < 0 ? size : resident;
}

/* Pages that read-ahead is still reading cannot be dropped; try again a little later. */
static int64_t drop_patiently(int fd, int64_t size, int tries) {
  int64_t resident = drop_pages(fd, size);
  for (int i = 1; i < tries && resident > size / 1000; i++) {
    (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    resident = drop_pages(fd, size);
  }
  return resident;
}

gather_status gather_cli_bench_drop(gather_cli_bench *bench, gather_error *error) {
  int64_t stays = 0, size = 0;
  for (int32_t i = 0; i < bench->file_count; i++) {
    const gather_cli_bench_file *file = &bench->files[i];
    int fd = gather_cli_open(AT_FDCWD, file->path, O_RDONLY);
    if (fd < 0) return gather_cli_fail_errno(error, gather_cli_status_of(errno), errno, file->path, -1, "cannot open it");
    (void)fsync(fd); /* dirty pages cannot be dropped */
    stays += drop_patiently(fd, file->size, bench->resident <= GATHER_CLI_BENCH_STAYS ? TRIES : 1);
    (void)close(fd);
    size += file->size;
  }
  double share = size > 0 ? (double)stays / (double)size : 0;
  if (share > bench->resident) bench->resident = share;
  return GATHER_OK;
}

#if defined(__linux__)

/* Common file systems; statfs identifies them by a magic number. */
static const struct {
  uint32_t magic;
  bool in_memory;
  const char *name;
} FILE_SYSTEMS[] = {
    {0xef53, false, "ext4"},      {0x58465342, false, "xfs"},    {0x9123683e, false, "btrfs"},    {0x01021994, true, "tmpfs"},
    {0x858458f6, true, "ramfs"},  {0x6969, false, "nfs"},        {0x794c7630, false, "overlay"},  {0x2fc12fc1, false, "zfs"},
    {0xf2f52010, false, "f2fs"},  {0x65735546, false, "fuse"},   {0x01021997, false, "9p"},       {0xff534d42, false, "cifs"},
    {0xfe534d42, false, "smb2"},  {0x0bd00bd0, false, "lustre"}, {0x00c36400, false, "ceph"},     {0x5346544e, false, "ntfs"},
    {0x2011bab0, false, "exfat"}, {0x4d44, false, "vfat"},       {0x73717368, false, "squashfs"}, {0xca451a4e, false, "bcachefs"}};

static void look_at_system(gather_cli_bench *bench, int fd) {
  struct statfs about;
  if (fstatfs(fd, &about) != 0) return;
  const uint32_t magic = (uint32_t)about.f_type;
  (void)snprintf(bench->file_system, sizeof bench->file_system, "file system 0x%" PRIx32, magic);
  for (size_t i = 0; i < sizeof FILE_SYSTEMS / sizeof *FILE_SYSTEMS; i++)
    if (FILE_SYSTEMS[i].magic == magic) {
      (void)snprintf(bench->file_system, sizeof bench->file_system, "%s", FILE_SYSTEMS[i].name);
      bench->in_memory = FILE_SYSTEMS[i].in_memory;
    }
}

static void look_at_read_ahead(gather_cli_bench *bench, int fd) {
  struct stat about;
  char path[80];
  long long kilobytes;
  if (fstat(fd, &about) != 0) return;
  (void)snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(about.st_dev), minor(about.st_dev));
  FILE *file = fopen(path, "r");
  if (!file) return;
  if (fscanf(file, "%lld", &kilobytes) == 1) bench->read_ahead_bytes = (int64_t)kilobytes * 1024;
  (void)fclose(file);
}

/* Opening is not enough: some file systems refuse only the read. */
static void look_at_direct(gather_cli_bench *bench) {
#if defined(O_DIRECT)
  static _Alignas(PAGE) char page[PAGE];
  int fd = gather_cli_open(AT_FDCWD, bench->largest->path, O_RDONLY | O_DIRECT);
  bench->direct = fd >= 0 && pread(fd, page, PAGE, 0) >= 0;
  if (fd >= 0) (void)close(fd);
#else
  bench->direct = false;
#endif
}

void gather_cli_bench_look(gather_cli_bench *bench) {
  bench->read_ahead_bytes = -1;
  (void)snprintf(bench->file_system, sizeof bench->file_system, "unknown");
  int fd = gather_cli_open(AT_FDCWD, bench->largest->path, O_RDONLY);
  if (fd < 0) return;
  look_at_system(bench, fd);
  look_at_read_ahead(bench, fd);
  (void)close(fd);
  look_at_direct(bench);
}

#else

void gather_cli_bench_look(gather_cli_bench *bench) {
  bench->read_ahead_bytes = -1;
  (void)snprintf(bench->file_system, sizeof bench->file_system, "unknown");
}

#endif
