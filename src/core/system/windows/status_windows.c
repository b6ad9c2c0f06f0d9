/* SPDX-License-Identifier: MIT
 *
 * status_windows.c: what a file is. Owners, groups and modes do not exist here: all files are the user's, and who may do what is said by
 * access lists, which a new file inherits from its folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <windows.h>

#include <psapi.h>

#include "core/system/windows/windows_internal.h"

static unsigned long long wide_number(DWORD high, DWORD low) { return (unsigned long long)high << 32 | low; }

/* Times of Windows count 100 nanoseconds since 1601. */
static struct timespec time_of(FILETIME time) {
  const long long since_1970 = (long long)wide_number(time.dwHighDateTime, time.dwLowDateTime) - 116444736000000000;
  return (struct timespec){.tv_sec = since_1970 / 10000000, .tv_nsec = (long)(since_1970 % 10000000 * 100)};
}

static bool is_link(HANDLE handle) {
  FILE_ATTRIBUTE_TAG_INFO about = {0};
  return GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &about, sizeof about) &&
         about.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT &&
         (about.ReparseTag == IO_REPARSE_TAG_SYMLINK || about.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT);
}

static mode_t mode_of(HANDLE handle, DWORD attributes) {
  if (is_link(handle)) return S_IFLNK | 0777;
  if (attributes & FILE_ATTRIBUTE_DIRECTORY) return S_IFDIR | 0755;
  return S_IFREG | (attributes & FILE_ATTRIBUTE_READONLY ? 0444 : 0644);
}

/* A pipe or a device has no more than a kind. */
static int describe_other(DWORD type, struct stat *about) {
  if (type == FILE_TYPE_UNKNOWN) return gather_windows_fail_as(EBADF);
  *about = (struct stat){.st_mode = type == FILE_TYPE_PIPE ? S_IFIFO | 0600 : S_IFCHR | 0600, .st_nlink = 1};
  return 0;
}

static int describe(HANDLE handle, struct stat *about) {
  BY_HANDLE_FILE_INFORMATION found;
  const DWORD type = GetFileType(handle);
  if (type != FILE_TYPE_DISK) return describe_other(type, about);
  if (!GetFileInformationByHandle(handle, &found)) return gather_windows_fail();
  *about = (struct stat){.st_dev = found.dwVolumeSerialNumber,
                         .st_ino = wide_number(found.nFileIndexHigh, found.nFileIndexLow),
                         .st_mode = mode_of(handle, found.dwFileAttributes),
                         .st_nlink = found.nNumberOfLinks,
                         .st_size = (off_t)wide_number(found.nFileSizeHigh, found.nFileSizeLow),
                         .st_mtim = time_of(found.ftLastWriteTime)};
  return 0;
}

int fstat(int fd, struct stat *about) {
  HANDLE handle = gather_handle_of(fd);
  return handle == INVALID_HANDLE_VALUE ? -1 : describe(handle, about);
}

int fstatat(int folder, const char *path, struct stat *about, int flags) {
  const DWORD everything = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  wchar_t *wide = gather_wide_path_at(folder, path);
  if (!wide) return -1;
  HANDLE handle = CreateFileW(wide, FILE_READ_ATTRIBUTES, everything, NULL, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS | (flags & AT_SYMLINK_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0), NULL);
  const DWORD error = GetLastError();
  free(wide);
  if (handle == INVALID_HANDLE_VALUE) return gather_windows_fail_as(gather_windows_errno(error));
  int result = describe(handle, about);
  if (result == 0 && S_ISREG(about->st_mode) && (path[strlen(path) - 1] == '/' || path[strlen(path) - 1] == '\\'))
    result = gather_windows_fail_as(ENOTDIR);
  (void)CloseHandle(handle);
  return result;
}

int stat(const char *path, struct stat *about) { return fstatat(AT_FDCWD, path, about, 0); }

int lstat(const char *path, struct stat *about) { return fstatat(AT_FDCWD, path, about, AT_SYMLINK_NOFOLLOW); }

int access(const char *path, int mode) {
  wchar_t *wide = gather_wide_path(path);
  if (!wide) return -1;
  const DWORD found = GetFileAttributesW(wide);
  const DWORD error = GetLastError();
  free(wide);
  if (found == INVALID_FILE_ATTRIBUTES) return gather_windows_fail_as(gather_windows_errno(error));
  const bool kept = found & FILE_ATTRIBUTE_READONLY && !(found & FILE_ATTRIBUTE_DIRECTORY);
  return mode & W_OK && kept ? gather_windows_fail_as(EACCES) : 0;
}

int fchmod(int fd, mode_t mode) {
  (void)mode;
  return gather_handle_of(fd) == INVALID_HANDLE_VALUE ? -1 : 0;
}

int fchown(int fd, uid_t owner, gid_t group) {
  (void)owner, (void)group;
  return gather_handle_of(fd) == INVALID_HANDLE_VALUE ? -1 : 0;
}

uid_t geteuid(void) { return 0; }

int isatty(int fd) {
  HANDLE handle = gather_handle_of(fd);
  DWORD mode;
  return handle != INVALID_HANDLE_VALUE && GetConsoleMode(handle, &mode);
}

int fstatvfs(int fd, struct statvfs *room) {
  enum { CLUSTER = 4096 };
  ULARGE_INTEGER free_bytes, all_bytes;
  char *path = gather_path_of_handle(gather_handle_of(fd));
  char *slash = path ? strrchr(path, '/') : NULL;
  if (slash) slash[1] = '\0'; /* of a file its folder, of a folder the one above it: the disk is the same */
  wchar_t *folder = path ? gather_wide_path(path) : NULL;
  free(path);
  if (!folder) return -1;
  const bool good = GetDiskFreeSpaceExW(folder, &free_bytes, &all_bytes, NULL) != 0;
  free(folder);
  if (!good) return gather_windows_fail();
  *room = (struct statvfs){CLUSTER, all_bytes.QuadPart / CLUSTER, free_bytes.QuadPart / CLUSTER};
  return 0;
}

int getrusage(int who, struct rusage *use) {
  PROCESS_MEMORY_COUNTERS counters;
  (void)who;
  if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return gather_windows_fail();
  use->ru_majflt = counters.PageFaultCount;
  return 0;
}

int getrlimit(int which, struct rlimit *limit) {
  (void)which;
  limit->rlim_cur = limit->rlim_max = RLIM_INFINITY;
  return 0;
}
