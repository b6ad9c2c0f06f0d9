/* SPDX-License-Identifier: MIT
 *
 * transfer_windows.c: reads and writes bytes, as they are: nothing turns the ends of lines.
 */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>
#include <windows.h>

#include "core/system/windows/handle_of.h"
#include "core/system/windows/windows_error.h"

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
  at->Offset = (DWORD)((unsigned long long)offset & 0xffffffff),
  at->OffsetHigh = (DWORD)((unsigned long long)offset >> 32);
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

off_t lseek(int fd, off_t offset, int whence) {
  HANDLE handle = gather_handle_of(fd);
  LARGE_INTEGER now;
  if (handle == INVALID_HANDLE_VALUE) return -1;
  const DWORD from = whence == SEEK_SET ? FILE_BEGIN : whence == SEEK_CUR ? FILE_CURRENT : FILE_END;
  if (!SetFilePointerEx(handle, (LARGE_INTEGER){.QuadPart = offset}, &now, from)) return gather_windows_fail();
  return (off_t)now.QuadPart;
}
