/* SPDX-License-Identifier: MIT
 *
 * locks_windows.c: locks of whole files. Windows refuses to read or write locked bytes, so the byte that is locked is one that no file
 * has. A lock ends with its process, however that ends.
 */
#include <errno.h>
#include <sys/file.h>
#include <windows.h>

#include "core/system/windows/handle_of.h"
#include "core/system/windows/windows_error.h"

/* The locked byte. */
static OVERLAPPED far_byte(void) {
  OVERLAPPED place = {0};
  place.Offset = 0xfffffffe, place.OffsetHigh = 0x7fffffff;
  return place;
}

int gather_handle_lock(void *handle) {
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
  const DWORD how =
      (operation & LOCK_EX ? LOCKFILE_EXCLUSIVE_LOCK : 0) | (operation & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0);
  place = far_byte();
  if (LockFileEx(handle, how, 0, 1, 0, &place)) return 0;
  const DWORD error = GetLastError();
  const bool taken = error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING;
  return gather_windows_fail_as(taken ? EWOULDBLOCK : gather_windows_errno(error));
}
