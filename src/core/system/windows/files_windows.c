/* SPDX-License-Identifier: MIT
 *
 * files_windows.c: descriptors of files: opening, reading and writing, lengths, locks, mappings.
 */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
#include <windows.h>
#include <winioctl.h>
#include <winternl.h>

#include "core/system/windows/windows_internal.h"

/* ---- handles. Descriptors are those of the C library, so that a caller's may be given. */

enum { MOST_DESCRIPTORS = 1 << 16 };

void *gather_handle_of(int fd) {
  void *handle = fd >= 0 && fd < MOST_DESCRIPTORS ? (void *)_get_osfhandle(fd) : INVALID_HANDLE_VALUE;
  if (handle != INVALID_HANDLE_VALUE && handle != (void *)(intptr_t)-2) return handle; /* -2: a console program without a console */
  errno = EBADF;
  return INVALID_HANDLE_VALUE;
}

/* ---- locks of whole files. Windows refuses to read or write locked bytes, so the byte that is locked is one that no file has. A lock
 * ends with its process, however that ends. */

/* The locked byte. */
static OVERLAPPED far_byte(void) {
  OVERLAPPED place = {0};
  place.Offset = 0xfffffffe, place.OffsetHigh = 0x7fffffff;
  return place;
}

/* Locks the file exclusively for this handle, without waiting; 0, or -1 with errno EACCES. */
static int lock_handle(void *handle) {
  OVERLAPPED place = far_byte();
  const DWORD how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  return LockFileEx(handle, how, 0, 1, 0, &place) ? 0 : gather_windows_fail();
}

/* A handle may have one lock: the one that it has is given up first. Files that cannot be locked give ENOTSUP. */
int flock(int fd, int operation) {
  HANDLE handle = gather_handle_of(fd);
  OVERLAPPED place = far_byte();
  if (handle == INVALID_HANDLE_VALUE) return -1;
  (void)UnlockFileEx(handle, 0, 1, 0, &place);
  if (operation & LOCK_UN) return 0;
  const DWORD how = (operation & LOCK_EX ? LOCKFILE_EXCLUSIVE_LOCK : 0) | (operation & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0);
  place = far_byte();
  if (LockFileEx(handle, how, 0, 1, 0, &place)) return 0;
  const DWORD error = GetLastError();
  const bool taken = error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING;
  return gather_windows_fail_as(taken ? EWOULDBLOCK : gather_windows_errno(error));
}

/* ---- opening. Other processes may do everything with a file that is open here, as on POSIX: read, write, rename and delete it. */

static DWORD access_of(int flags) {
  switch (flags & O_ACCMODE) {
    case O_RDONLY:
      return GENERIC_READ;
    case O_WRONLY:
      return GENERIC_WRITE;
    default:
      return GENERIC_READ | GENERIC_WRITE;
  }
}

static DWORD creation_of(int flags) {
  if (flags & O_CREAT) return flags & O_EXCL ? CREATE_NEW : flags & O_TRUNC ? CREATE_ALWAYS : OPEN_ALWAYS;
  return flags & O_TRUNC ? TRUNCATE_EXISTING : OPEN_EXISTING;
}

static DWORD attributes_of(int flags) {
  return FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS | (flags & O_DIRECT ? FILE_FLAG_NO_BUFFERING : 0) |
         (flags & O_OVERLAPPED ? FILE_FLAG_OVERLAPPED : 0) | (flags & O_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
}

/* What the flags forbid; an errno. */
static int check(HANDLE handle, int flags) {
  FILE_ATTRIBUTE_TAG_INFO about = {0};
  if (GetFileType(handle) != FILE_TYPE_DISK) return flags & O_DIRECTORY ? ENOTDIR : 0;
  if (!GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &about, sizeof about)) return 0;
  const bool folder = (about.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  if (flags & O_NOFOLLOW && about.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT &&
      (about.ReparseTag == IO_REPARSE_TAG_SYMLINK || about.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT))
    return ELOOP;
  if (flags & O_DIRECTORY && !folder) return ENOTDIR;
  return folder && (flags & O_ACCMODE) != O_RDONLY ? EISDIR : 0;
}

static int descriptor_of(HANDLE handle, int flags) {
  int number = check(handle, flags);
  int fd = number == 0 ? _open_osfhandle((intptr_t)handle, 0) : -1;
  if (fd >= 0) return fd;
  if (number == 0) number = EMFILE;
  (void)CloseHandle(handle);
  return gather_windows_fail_as(number);
}

int openat(int folder, const char *path, int flags, ...) {
  const DWORD everything = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  wchar_t *wide = gather_wide_path_at(folder, path);
  if (!wide) return -1;
  HANDLE handle = CreateFileW(wide, access_of(flags), everything, NULL, creation_of(flags), attributes_of(flags), NULL);
  const DWORD error = GetLastError();
  const DWORD found = handle == INVALID_HANDLE_VALUE ? GetFileAttributesW(wide) : 0;
  free(wide);
  if (handle != INVALID_HANDLE_VALUE) return descriptor_of(handle, flags);
  if (error == ERROR_ACCESS_DENIED && found != INVALID_FILE_ATTRIBUTES && found & FILE_ATTRIBUTE_DIRECTORY &&
      (flags & O_ACCMODE) != O_RDONLY)
    return gather_windows_fail_as(EISDIR);
  return gather_windows_fail_as(gather_windows_errno(error));
}

int open(const char *path, int flags, ...) { return openat(AT_FDCWD, path, flags); }

int close(int fd) {
  if (gather_handle_of(fd) == INVALID_HANDLE_VALUE) return -1;
  return _close(fd);
}

int dup(int fd) {
  if (gather_handle_of(fd) == INVALID_HANDLE_VALUE) return -1;
  return _dup(fd);
}

/* The access that a handle was opened with. */
static ACCESS_MASK granted(HANDLE handle) {
  PUBLIC_OBJECT_BASIC_INFORMATION about = {0};
  if (NtQueryObject(handle, ObjectBasicInformation, &about, sizeof about, NULL) != 0) return ~(ACCESS_MASK)0;
  return about.GrantedAccess;
}

/* Whether the file was opened for writing. */
static bool is_written(HANDLE handle) { return (granted(handle) & (FILE_WRITE_DATA | GENERIC_WRITE)) != 0; }

static int access_flags(HANDLE handle) {
  const bool reads = (granted(handle) & (FILE_READ_DATA | GENERIC_READ)) != 0, writes = is_written(handle);
  return reads && writes ? O_RDWR : writes ? O_WRONLY : O_RDONLY;
}

int fcntl(int fd, int command, ...) {
  HANDLE handle = gather_handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE) return -1;
  switch (command) {
    case F_GETFL:
      return access_flags(handle);
    case F_GETFD:
    case F_SETFL: /* no flag of an open file can be changed, nor needs to be */
      return 0;
    case F_SETLK:
      return lock_handle(handle);
    default:
      return gather_windows_fail_as(EINVAL);
  }
}

/* ---- bytes, as they are: nothing turns the ends of lines */

enum { MOST_BYTES = 1 << 30 };

static DWORD amount(size_t bytes) { return bytes < MOST_BYTES ? (DWORD)bytes : MOST_BYTES; }

/* The result of a read: at the end of a file or of a pipe there are no bytes. */
static ssize_t read_result(bool good, DWORD got) {
  const DWORD error = good ? 0 : GetLastError();
  if (good || error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE) return good ? (ssize_t)got : 0;
  return gather_windows_fail_as(error == ERROR_ACCESS_DENIED ? EBADF : gather_windows_errno(error));
}

ssize_t read(int fd, void *to, size_t bytes) {
  HANDLE handle = gather_handle_of(fd);
  DWORD got = 0;
  if (handle == INVALID_HANDLE_VALUE) return -1;
  const bool good = ReadFile(handle, to, amount(bytes), &got, NULL) != 0;
  return read_result(good, got);
}

ssize_t write(int fd, const void *from, size_t bytes) {
  HANDLE handle = gather_handle_of(fd);
  DWORD put = 0;
  if (handle == INVALID_HANDLE_VALUE) return -1;
  return WriteFile(handle, from, amount(bytes), &put, NULL) ? (ssize_t)put : gather_windows_fail();
}

/* A position, and an event of its own: several transfers of one handle may be in flight. */
static bool place(OVERLAPPED *at, off_t offset) {
  *at = (OVERLAPPED){0};
  at->Offset = (DWORD)((unsigned long long)offset & 0xffffffff), at->OffsetHigh = (DWORD)((unsigned long long)offset >> 32);
  at->hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
  return at->hEvent != NULL;
}

/* Waits for a transfer that was begun. */
static bool finish(HANDLE handle, OVERLAPPED *at, bool begun, DWORD *done) {
  const bool good = (begun || GetLastError() == ERROR_IO_PENDING) && GetOverlappedResult(handle, at, done, TRUE);
  const DWORD error = GetLastError();
  (void)CloseHandle(at->hEvent);
  SetLastError(error);
  return good;
}

/* Unlike on POSIX, a transfer by position also moves the position of the descriptor, if it has one. Nothing here uses both. */

ssize_t pread(int fd, void *to, size_t bytes, off_t offset) {
  HANDLE handle = gather_handle_of(fd);
  OVERLAPPED at;
  DWORD got = 0;
  if (handle == INVALID_HANDLE_VALUE) return -1;
  if (offset < 0) return gather_windows_fail_as(EINVAL);
  if (!place(&at, offset)) return gather_windows_fail();
  const bool good = finish(handle, &at, ReadFile(handle, to, amount(bytes), NULL, &at) != 0, &got);
  return read_result(good, got);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset) {
  HANDLE handle = gather_handle_of(fd);
  OVERLAPPED at;
  DWORD put = 0;
  if (handle == INVALID_HANDLE_VALUE) return -1;
  if (offset < 0) return gather_windows_fail_as(EINVAL);
  if (!place(&at, offset)) return gather_windows_fail();
  const bool good = finish(handle, &at, WriteFile(handle, from, amount(bytes), NULL, &at) != 0, &put);
  return good ? (ssize_t)put : gather_windows_fail();
}

/* Descriptors here never ask to be tried again. */
int poll(struct pollfd *files, unsigned long count, int timeout) {
  (void)timeout;
  for (unsigned long i = 0; i < count; i++) files[i].revents = files[i].events;
  return (int)count;
}

off_t lseek(int fd, off_t offset, int whence) {
  HANDLE handle = gather_handle_of(fd);
  LARGE_INTEGER now;
  if (handle == INVALID_HANDLE_VALUE) return -1;
  const DWORD from = whence == SEEK_SET ? FILE_BEGIN : whence == SEEK_CUR ? FILE_CURRENT : FILE_END;
  if (!SetFilePointerEx(handle, (LARGE_INTEGER){.QuadPart = offset}, &now, from)) return gather_windows_fail();
  return (off_t)now.QuadPart;
}

/* ---- how long files are, and how much of the disk they have. A file that grows by ftruncate is sparse, as on POSIX, so that a write far
 * behind its end does not write all the zeros before. */

static bool set_end(HANDLE handle, off_t bytes) {
  FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = bytes};
  return SetFileInformationByHandle(handle, FileEndOfFileInfo, &end, sizeof end) != 0;
}

static off_t size_of(HANDLE handle) {
  LARGE_INTEGER size;
  return GetFileSizeEx(handle, &size) ? (off_t)size.QuadPart : -1;
}

int ftruncate(int fd, off_t bytes) {
  HANDLE handle = gather_handle_of(fd);
  DWORD returned;
  if (handle == INVALID_HANDLE_VALUE) return -1;
  if (bytes < 0) return gather_windows_fail_as(EINVAL);
  if (bytes > size_of(handle)) /* some file systems have no sparse files */
    (void)DeviceIoControl(handle, FSCTL_SET_SPARSE, NULL, 0, NULL, 0, &returned, NULL);
  return set_end(handle, bytes) ? 0 : gather_windows_fail();
}

int truncate(const char *path, off_t bytes) {
  int fd = open(path, O_RDWR);
  if (fd < 0) return -1;
  const int result = ftruncate(fd, bytes), number = errno;
  (void)close(fd);
  errno = number;
  return result;
}

/* Of what a file system cannot reserve, it says nothing: then the file only gets its length. */
int posix_fallocate(int fd, off_t offset, off_t bytes) {
  HANDLE handle = gather_handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE) return EBADF;
  if (offset < 0 || bytes <= 0) return EINVAL;
  if (size_of(handle) >= offset + bytes) return 0;
  FILE_ALLOCATION_INFO room = {.AllocationSize.QuadPart = offset + bytes};
  if (!SetFileInformationByHandle(handle, FileAllocationInfo, &room, sizeof room) && GetLastError() == ERROR_DISK_FULL) return ENOSPC;
  return set_end(handle, offset + bytes) ? 0 : gather_windows_errno(GetLastError());
}

/* A folder, and a file that was opened for reading, have nothing to be written. */
int fsync(int fd) {
  HANDLE handle = gather_handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE) return -1;
  if (FlushFileBuffers(handle)) return 0;
  return is_written(handle) ? gather_windows_fail() : 0;
}

int fdatasync(int fd) { return fsync(fd); }

void sync(void) {}

/* ---- files and memory in the address space */

static void *failed(int number) {
  errno = number;
  return MAP_FAILED;
}

/* Memory without access is only reserved: mprotect gives it pages. */
static void *reserve(size_t bytes, int access) {
  const bool none = access == PROT_NONE;
  void *memory = VirtualAlloc(NULL, bytes, none ? MEM_RESERVE : MEM_RESERVE | MEM_COMMIT, none ? PAGE_NOACCESS : PAGE_READWRITE);
  return memory ? memory : failed(ENOMEM);
}

static void *map_file(HANDLE file, size_t bytes, bool writes, off_t offset) {
  HANDLE mapping = CreateFileMappingW(file, NULL, writes ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
  if (!mapping) return failed(gather_windows_errno(GetLastError()));
  const unsigned long long at = (unsigned long long)offset;
  void *view = MapViewOfFile(mapping, writes ? FILE_MAP_WRITE : FILE_MAP_READ, (DWORD)(at >> 32), (DWORD)at, bytes);
  const int number = view ? 0 : gather_windows_errno(GetLastError());
  (void)CloseHandle(mapping); /* the view stays */
  return view ? view : failed(number);
}

void *mmap(void *at, size_t bytes, int access, int flags, int fd, off_t offset) {
  (void)at;
  if (bytes == 0) return failed(EINVAL);
  if (flags & MAP_ANONYMOUS) return reserve(bytes, access);
  HANDLE file = gather_handle_of(fd);
  return file == INVALID_HANDLE_VALUE ? MAP_FAILED : map_file(file, bytes, (access & PROT_WRITE) != 0, offset);
}

int munmap(void *at, size_t bytes) {
  MEMORY_BASIC_INFORMATION about;
  (void)bytes; /* mappings go as a whole */
  if (VirtualQuery(at, &about, sizeof about) == 0) return gather_windows_fail();
  const bool good = about.Type == MEM_MAPPED ? UnmapViewOfFile(at) != 0 : VirtualFree(at, 0, MEM_RELEASE) != 0;
  return good ? 0 : gather_windows_fail();
}

int mprotect(void *at, size_t bytes, int access) {
  DWORD before;
  if (access == PROT_NONE) return VirtualProtect(at, bytes, PAGE_NOACCESS, &before) ? 0 : gather_windows_fail();
  const DWORD now = access & PROT_WRITE ? PAGE_READWRITE : PAGE_READONLY;
  return VirtualAlloc(at, bytes, MEM_COMMIT, now) ? 0 : gather_windows_fail();
}

/* Pages that are not locked leave the working set when they are unlocked, and stay in the cache. */
static bool leave(void *at, size_t bytes) { return VirtualUnlock(at, bytes) || GetLastError() == ERROR_NOT_LOCKED; }

static bool fetch(void *at, size_t bytes) {
  WIN32_MEMORY_RANGE_ENTRY range = {at, bytes};
  return PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0) != 0;
}

int madvise(void *at, size_t bytes, int advice) {
  bool good = true;
  if (advice == MADV_WILLNEED) good = fetch(at, bytes);
  if (advice == MADV_DONTNEED) good = leave(at, bytes);
  return good ? 0 : gather_windows_fail();
}
