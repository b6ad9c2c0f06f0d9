/* SPDX-License-Identifier: MIT
 *
 * wide_path.c: paths in UTF-8 as Windows wants them, and back. The names of files are never in the code page of the user, which lacks
 * most characters.
 */
#include "core/system/windows/wide_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "core/system/windows/handle_of.h"
#include "core/system/windows/windows_error.h"

/* Windows takes paths of 260 characters with the closing zero; of folders even fewer, so that a name of 12 characters fits into them. */
enum { SHORT_PATH = 240 };

static wchar_t *fail(int number) {
  errno = number;
  return NULL;
}

static wchar_t *widen(const char *text) {
  const int room = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
  if (room == 0) return fail(EILSEQ);
  wchar_t *wide = malloc((size_t)room * sizeof *wide);
  if (!wide) return fail(ENOMEM);
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, room) == room) return wide;
  free(wide);
  return fail(EILSEQ);
}

static bool begins(const wchar_t *text, const wchar_t *start) { return wcsncmp(text, start, wcslen(start)) == 0; }

/* "C:\x" as "\\?\C:\x", "\\server\x" as "\\?\UNC\server\x"; names of devices ("\\.\NUL") stay. */
static wchar_t *prefixed(const wchar_t *whole) {
  const bool device = begins(whole, L"\\\\?\\") || begins(whole, L"\\\\.\\"),
             server = !device && begins(whole, L"\\\\");
  const wchar_t *prefix = device ? L"" : server ? L"\\\\?\\UNC\\" : L"\\\\?\\";
  const size_t before = wcslen(prefix), bytes = (wcslen(whole) + 1) * sizeof *whole;
  wchar_t *path = malloc(before * sizeof *path + bytes);
  if (!path) return fail(ENOMEM);
  memcpy(path, prefix, before * sizeof *path);
  memcpy(path + before, server ? whole + 2 : whole, server ? bytes - 2 * sizeof *path : bytes);
  return path;
}

/* A path without "." and "..", of any length. Frees the other one. */
static wchar_t *lengthened(wchar_t *wide) {
  wchar_t *whole = malloc(GATHER_WIDE_PATH * sizeof *whole), *path = NULL;
  const DWORD length = whole ? GetFullPathNameW(wide, GATHER_WIDE_PATH, whole, NULL) : 0;
  const int number = !whole ? ENOMEM : length == 0 ? gather_windows_errno(GetLastError()) : ENAMETOOLONG;
  if (length > 0 && length < GATHER_WIDE_PATH)
    path = prefixed(whole);
  else
    errno = number;
  free(whole);
  free(wide);
  return path;
}

wchar_t *gather_wide_path(const char *path) {
  if (!*path) return fail(ENOENT);
  wchar_t *wide = widen(path);
  if (!wide) return NULL;
  for (wchar_t *at = wide; *at; at++)
    if (*at == L'/') *at = L'\\';
  if (wcslen(wide) < SHORT_PATH && GetFullPathNameW(wide, 0, NULL, NULL) < SHORT_PATH) return wide;
  return lengthened(wide);
}

static bool is_absolute(const char *path) { return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':'); }

wchar_t *gather_wide_path_at(int folder, const char *path) {
  if (folder == AT_FDCWD || is_absolute(path)) return gather_wide_path(path);
  char *before = gather_path_of_handle(gather_handle_of(folder));
  char *whole = before ? malloc(strlen(before) + strlen(path) + 2) : NULL;
  wchar_t *wide = NULL;
  if (whole) {
    memcpy(whole, before, strlen(before));
    whole[strlen(before)] = '/';
    memcpy(whole + strlen(before) + 1, path, strlen(path) + 1);
    wide = gather_wide_path(whole);
  }
  free(whole);
  free(before);
  return wide;
}

char *gather_narrow(const wchar_t *wide) {
  const int room = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
  char *text = room > 0 ? malloc((size_t)room) : NULL;
  if (text) (void)WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, room, NULL, NULL);
  return text;
}

/* "\\?\C:\x" as "C:/x", "\\?\UNC\server\x" as "//server/x". */
static char *shown(wchar_t *whole) {
  wchar_t *from = whole;
  if (begins(whole, L"\\\\?\\UNC\\")) {
    from = whole + 6;
    *from = L'\\';
  } else if (begins(whole, L"\\\\?\\")) {
    from = whole + 4;
  }
  for (wchar_t *at = from; *at; at++)
    if (*at == L'\\') *at = L'/';
  return gather_narrow(from);
}

char *gather_path_of_handle(void *handle) {
  wchar_t *whole = malloc(GATHER_WIDE_PATH * sizeof *whole);
  const DWORD length = whole ? GetFinalPathNameByHandleW(handle, whole, GATHER_WIDE_PATH, 0) : 0;
  if (length == 0 || length >= GATHER_WIDE_PATH) {
    errno = whole ? gather_windows_errno(GetLastError()) : ENOMEM;
    free(whole);
    return NULL;
  }
  char *path = shown(whole);
  free(whole);
  if (!path) errno = ENOMEM;
  return path;
}

char *gather_whole_path(const char *path) {
  wchar_t *wide = gather_wide_path(path), *whole = wide ? lengthened(wide) : NULL;
  char *text = whole ? shown(whole) : NULL;
  free(whole);
  return text;
}
