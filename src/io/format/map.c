/* SPDX-License-Identifier: MIT
 *
 * map.c: maps files into memory (POSIX); and says what a name can mean that cannot be opened.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* O_PATH */
#endif
#define _DARWIN_C_SOURCE /* O_NOFOLLOW */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "io/format/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/path.h"
#include "io/format/map_remote.h"

/* ---- below a directory, without following symbolic links: name by name, each opened relative to the directory opened before, so that
 * links created meanwhile are not followed either */

#if defined(O_PATH)

enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };

#else

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

#endif

static int open_at(int folder, const char *path, int flags) {
  int fd;
  do fd = openat(folder, path, flags);
  while (fd < 0 && errno == EINTR); /* network file systems may return EINTR */
  return fd;
}

/* Opens one name in a directory. With O_DIRECTORY alone, a link would be reported as ENOTDIR, not as a link. */
static int open_step(int folder, const char *name, int flags) {
  struct stat about;
  int fd = open_at(folder, name, flags | O_NOFOLLOW);
  if (fd >= 0) return fd;
  int number = errno;
  if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode)) number = ELOOP;
  errno = number;
  return -1;
}

/* Opens the name at `at`, up to the next slash, and closes its directory. *next: what follows the slashes. */
static int descend(int folder, char *at, char **next, int flags) {
  char *end = at + strcspn(at, GATHER_PATH_SEPARATORS), last = *end;
  *next = end + strspn(end, GATHER_PATH_SEPARATORS);
  *end = '\0';
  int fd = open_step(folder, at, **next || last ? FOLDER : flags), number = errno;
  *end = last;
  (void)close(folder);
  errno = number;
  return fd;
}

/* Opens it in the same way. Returns a descriptor, or -1 with errno (ELOOP for a link). path is modified meanwhile
 * and restored. */
static int open_below(char *path, size_t folder_bytes, int flags) {
  char *at = path + folder_bytes, first = *at;
  *at = '\0';
  int fd = open_at(AT_FDCWD, folder_bytes > 0 ? path : ".", FOLDER);
  *at = first;
  while (fd >= 0 && *at) fd = descend(fd, at, &at, flags);
  return fd;
}

/* Adds "; ADVICE" to a message. */
static void add_advice(gather_error *error, const char *advice) {
  const size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length, "; %s", advice);
}

/* ---- files that do not exist */

/* Addresses that are no names of files, and what to write instead. */
static const struct {
  const char *scheme, *advice;
} SCHEMES[] = {
    {"file", "write the path without file://"},
    {"s3a", "write s3:// for s3a://"},
    {"s3n", "write s3:// for s3n://"},
    {"gs", "write https://storage.googleapis.com/BUCKET/OBJECT"},
    {"gcs", "write https://storage.googleapis.com/BUCKET/OBJECT"},
    {"az", "write https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB"},
    {"abfs", "write https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB"},
    {"abfss", "write https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB"},
    {"wasb", "write https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB"},
    {"wasbs", "write https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB"},
    {"r2", "write s3://BUCKET/KEY, with the endpoint of the account"},
};

static bool is_scheme(const char *path, size_t length, const char *scheme) {
  for (size_t i = 0; i < length; i++)
    if ((path[i] | 0x20) != scheme[i] && path[i] != scheme[i]) return false;
  return scheme[length] == '\0';
}

/* What to write for a name that looks like a URL. False: it does not. */
static bool advise_url(const char *path, char *advice, size_t bytes) {
  static const char READ[] = "URLs that are read begin with https://, http://, s3:// or hf://";
  static const char *const OURS[] = {"https", "http", "s3", "hf"};
  const size_t length = strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-");
  if (length < 2 || strncmp(path + length, ":/", 2) != 0) return false;
  for (size_t i = 0; i < sizeof OURS / sizeof *OURS; i++)
    if (is_scheme(path, length, OURS[i]) && path[length + 2] != '/') {
      (void)snprintf(advice, bytes, "a URL has two slashes after %s: (pathlib.Path removes one); %s", OURS[i], READ);
      return true;
    }
  if (path[length + 2] != '/') return false;
  for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++)
    if (is_scheme(path, length, SCHEMES[i].scheme)) {
      (void)snprintf(advice, bytes, "%s; %s", SCHEMES[i].advice, READ);
      return true;
    }
  (void)snprintf(advice, bytes, "%s", READ);
  return true;
}

/* What a link without a target leads to. False: it is no link. */
static bool advise_link(const char *path, char *advice, size_t bytes) {
  char target[200];
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length <= 0) return false;
  target[length] = '\0';
  if (strstr(target, ".git/annex/objects/"))
    (void)snprintf(advice, bytes, "it is a git-annex link whose content is not here: 'git annex get' downloads it");
  else
    (void)snprintf(advice, bytes, "it is a link to %s, which does not exist", target);
  return true;
}

gather_status gather_fail_open(gather_error *error, const char *path, int number) {
  char advice[300];
  const bool missing = number == ENOENT || number == ENOTDIR || number == EINVAL || number == ENAMETOOLONG;
  const bool is_url = missing && advise_url(path, advice, sizeof advice);
  const gather_status status = gather_fail_system(error, path, number, "open it");
  if (!error || (!is_url && (!missing || !advise_link(path, advice, sizeof advice)))) return status;
  add_advice(error, advice);
  return status;
}

/* ---- what is mapped */

/* What a folder is, by a file in it. */
static const struct {
  const char *file, *sentence;
} FOLDERS[] = {
#ifdef GATHER_HAVE_JANSSON
    {"zarr.json", "is a Zarr store, a directory of many files, not one file"},
    {".zarray", "is a Zarr store, a directory of many files, not one file"},
    {".zgroup", "is a Zarr store, a directory of many files, not one file"},
#else
    {"zarr.json", "is a Zarr store, which is not supported in this build: it has no Jansson"},
    {".zarray", "is a Zarr store, which is not supported in this build: it has no Jansson"},
    {".zgroup", "is a Zarr store, which is not supported in this build: it has no Jansson"},
#endif
    {"saved_model.pb",
     "is a TensorFlow SavedModel, which is not supported; convert it to ONNX: python3 -m tf2onnx.convert --saved-model "
     "FOLDER --output out.onnx"},
    {"model.safetensors.index.json", "is a directory, not a file; the model in it is model.safetensors.index.json"},
    {"model.safetensors", "is a directory, not a file; the model in it is model.safetensors"},
    {"dataset_info.json", "is a directory, not a file; the tables of a dataset in it are data-*.arrow"},
};

static gather_status say_folder(const char *path, gather_error *error) {
  enum { MOST_PATH = 4096 };
  char file[MOST_PATH];
  struct stat about;
  for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
    const int length = snprintf(file, sizeof file, "%s/%s", path, FOLDERS[i].file);
    if (length > 0 && length < MOST_PATH && stat(file, &about) == 0)
      return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "%s", FOLDERS[i].sentence);
  }
  return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is a directory, not a file");
}

static gather_status fail_folder(const char *path, gather_error *error) {
  const gather_status status = say_folder(path, error);
  if (error) error->system_error = EISDIR;
  return status;
}

static gather_status check_kind(const char *path, mode_t mode, gather_error *error) {
  if (S_ISREG(mode)) return GATHER_OK;
  if (S_ISDIR(mode)) return fail_folder(path, error);
  const char *kind = S_ISFIFO(mode) ? "a pipe" : S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "not a regular file";
  return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is %s; only regular files can be mapped", kind);
}

static gather_status map_descriptor(int fd, const char *path, gather_map *map, gather_error *error) {
  struct stat about;
  if (fstat(fd, &about) != 0) return gather_fail_system(error, path, errno, "find out its size");
  GATHER_TRY(check_kind(path, about.st_mode, error));
  *map = (gather_map){.size = (int64_t)about.st_size, .owned = true, .device = (uint64_t)about.st_dev, .inode = (uint64_t)about.st_ino};
  if (map->size == 0) return GATHER_OK; /* an empty file cannot be mapped */
  if ((uint64_t)map->size > PTRDIFF_MAX) return gather_fail_file(error, GATHER_OVERFLOW, path, -1, "is too large for the address space");
  void *pages = mmap(NULL, (size_t)map->size, PROT_READ, MAP_SHARED, fd, 0);
  if (pages == MAP_FAILED) return gather_fail_system(error, path, errno, "map it into memory");
  map->bytes = pages;
  return GATHER_OK;
}

/* Without O_NONBLOCK, opening a pipe would wait for a writer. */
enum { FOR_READING = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static gather_status map_opened(int fd, const char *path, gather_map *map, gather_error *error) {
  gather_status status = map_descriptor(fd, path, map, error);
  (void)close(fd); /* the mapping stays */
  return status;
}

int gather_open_file(const char *path, int flags, unsigned mode) {
  int fd;
  do fd = open(path, flags | O_CLOEXEC, (mode_t)mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

gather_status gather_map_open(const char *path, gather_map *map, gather_error *error) {
  int fd = gather_open_file(path, FOR_READING, 0);
  return fd < 0 ? gather_fail_open(error, path, errno) : map_opened(fd, path, map, error);
}

bool gather_map_identify(const char *path, gather_map *map) {
  struct stat about;
  *map = (gather_map){0};
  if (stat(path, &about) != 0) return false;
  map->device = (uint64_t)about.st_dev, map->inode = (uint64_t)about.st_ino;
  return true;
}

int gather_open_below(char *path, size_t folder_bytes) { return open_below(path, folder_bytes, FOR_READING); }

gather_status gather_map_open_below(char *path, size_t folder_bytes, gather_map *map, gather_error *error) {
  int fd = gather_open_below(path, folder_bytes);
  if (fd >= 0) return map_opened(fd, path, map, error);
  if (errno == ELOOP)
    return gather_fail_file(error, GATHER_IO_ERROR, path, -1, "is reached through a symbolic link, which the options forbid");
  return gather_fail_open(error, path, errno);
}

void gather_map_read_ahead(const gather_map *map, bool ahead) {
#if defined(POSIX_MADV_RANDOM)
  if (!map->remote && map->owned && map->bytes)
    (void)posix_madvise((void *)(uintptr_t)map->bytes, (size_t)map->size, ahead ? POSIX_MADV_NORMAL : POSIX_MADV_RANDOM);
#else
  (void)map, (void)ahead;
#endif
}

void gather_map_will_need(const gather_map *map, int64_t offset, int64_t bytes) {
#if defined(POSIX_MADV_WILLNEED)
  enum { PAGE = 4096 };
  const int64_t start = offset / PAGE * PAGE, end = offset + bytes < map->size ? offset + bytes : map->size;
  if (!map->remote && map->owned && map->bytes && end > start)
    (void)posix_madvise((void *)(uintptr_t)(map->bytes + start), (size_t)(end - start), POSIX_MADV_WILLNEED);
#else
  (void)map, (void)offset, (void)bytes;
#endif
}

void gather_map_close(gather_map *map) {
  if (map->remote) {
    if (map->owned) gather_map_remote_close(map->remote);
  } else if (map->owned && map->bytes) {
    (void)munmap((void *)(uintptr_t)map->bytes, (size_t)map->size);
  }
  *map = (gather_map){0};
}
