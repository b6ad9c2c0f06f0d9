/* SPDX-License-Identifier: MIT
 *
 * mapping_windows.c: files and memory in the address space.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <windows.h>

#include "core/system/windows/handle_of.h"
#include "core/system/windows/windows_error.h"

static void *failed(int number) {
  errno = number;
  return MAP_FAILED;
}

/* Memory without access is only reserved: mprotect gives it pages. */
static void *reserve(size_t bytes, int access) {
  const bool none = access == PROT_NONE;
  void *memory =
      VirtualAlloc(NULL, bytes, none ? MEM_RESERVE : MEM_RESERVE | MEM_COMMIT, none ? PAGE_NOACCESS : PAGE_READWRITE);
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
