/* SPDX-License-Identifier: MIT
 *
 * size_windows.c: how long files are, and how much of the disk they have. A file that grows by ftruncate is sparse, as on POSIX, so that
 * a write far behind its end does not write all the zeros before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>
#include <windows.h>

#include <winioctl.h>

#include "core/system/windows/handle_of.h"
#include "core/system/windows/windows_error.h"

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
  if (!SetFileInformationByHandle(handle, FileAllocationInfo, &room, sizeof room) && GetLastError() == ERROR_DISK_FULL)
    return ENOSPC;
  return set_end(handle, offset + bytes) ? 0 : gather_windows_errno(GetLastError());
}

/* A folder, and a file that was opened for reading, have nothing to be written. */
int fsync(int fd) {
  HANDLE handle = gather_handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE) return -1;
  if (FlushFileBuffers(handle)) return 0;
  return gather_handle_writes(handle) ? gather_windows_fail() : 0;
}

int fdatasync(int fd) { return fsync(fd); }

void sync(void) {}
