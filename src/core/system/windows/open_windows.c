/* SPDX-License-Identifier: MIT
 *
 * open_windows.c: opens files. Other processes may do everything with a file that is open here, as on POSIX: read, write, rename and
 * delete it.
 */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <windows.h>
#include <winternl.h>

#include "core/system/windows/handle_of.h"
#include "core/system/windows/wide_path.h"
#include "core/system/windows/windows_error.h"

enum { MOST_DESCRIPTORS = 1 << 16 };

void *gather_handle_of(int fd) {
  void *handle = fd >= 0 && fd < MOST_DESCRIPTORS ? (void *)_get_osfhandle(fd) : INVALID_HANDLE_VALUE;
  if (handle != INVALID_HANDLE_VALUE && handle != (void *)(intptr_t)-2)
    return handle; /* -2: a console program without a console */
  errno = EBADF;
  return INVALID_HANDLE_VALUE;
}

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

bool gather_handle_writes(void *handle) { return (granted(handle) & (FILE_WRITE_DATA | GENERIC_WRITE)) != 0; }

static int access_flags(HANDLE handle) {
  const bool reads = (granted(handle) & (FILE_READ_DATA | GENERIC_READ)) != 0, writes = gather_handle_writes(handle);
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
      return gather_handle_lock(handle);
    default:
      return gather_windows_fail_as(EINVAL);
  }
}
