/* SPDX-License-Identifier: MIT
 *
 * names_windows.c: names of files: paths in UTF-8 as Windows wants them, and back; giving, changing and taking away names; those in a
 * folder. Names are never in the code page of the user, which lacks most characters.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#include "core/system/windows/windows_internal.h"

/* ---- paths */

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
  const bool device = begins(whole, L"\\\\?\\") || begins(whole, L"\\\\.\\"), server = !device && begins(whole, L"\\\\");
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

/* Text in UTF-8, to be freed with free(); NULL: out of memory. What is no valid text becomes U+FFFD. */
static char *narrow(const wchar_t *wide) {
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
  return narrow(from);
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

/* The path from the root on, with slashes; links are not followed. For where the system does not tell more: Wine has no paths of handles of
 * more than 260 characters. To be freed with free(). NULL: errno says why. */
static char *whole_path(const char *path) {
  wchar_t *wide = gather_wide_path(path), *whole = wide ? lengthened(wide) : NULL;
  char *text = whole ? shown(whole) : NULL;
  free(whole);
  return text;
}

/* ---- names of files, also of open ones. Windows 10 changes and takes them away as POSIX does. Where it does not (old systems, file
 * systems that are not NTFS, Wine), an open file that is replaced or deleted first gets a name aside, and disappears when it is closed. */

/* The newer flags, which the headers of some compilers lack. */
enum { DISPOSITION_EX = 21, RENAME_EX = 22, DELETES = 1, POSIX_DELETE = 2, IGNORES_READ_ONLY = 16, REPLACES = 1, POSIX_RENAME = 2 };

static const DWORD EVERYTHING = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

static HANDLE open_to_rename(const wchar_t *path, DWORD share) {
  return CreateFileW(path, DELETE | SYNCHRONIZE, share, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
                     NULL);
}

/* ---- renaming */

static bool rename_handle(HANDLE handle, const wchar_t *to, int class, DWORD flags) {
  const size_t bytes = wcslen(to) * sizeof *to, room = sizeof(FILE_RENAME_INFO) + bytes;
  FILE_RENAME_INFO *info = calloc(1, room);
  if (!info) return SetLastError(ERROR_NOT_ENOUGH_MEMORY), false;
  memcpy(info, &flags, sizeof flags); /* of the older class: whether it replaces */
  info->FileNameLength = (DWORD)bytes;
  memcpy(info->FileName, to, bytes);
  const bool good = SetFileInformationByHandle(handle, (FILE_INFO_BY_HANDLE_CLASS) class, info, (DWORD)room) != 0;
  const DWORD error = GetLastError();
  free(info);
  SetLastError(error);
  return good;
}

/* Whether the system replaces files that are open. */
static bool rename_as_posix(const wchar_t *from, const wchar_t *to) {
  HANDLE handle = open_to_rename(from, EVERYTHING);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const bool good = rename_handle(handle, to, RENAME_EX, REPLACES | POSIX_RENAME);
  (void)CloseHandle(handle);
  return good;
}

/* A name that nobody has, in the folder of `path`, or in the one above that. NULL: out of memory. */
static wchar_t *name_aside(const wchar_t *path, int up) {
  enum { NAME = 64 };
  static _Atomic unsigned count;
  wchar_t *aside = malloc((wcslen(path) + NAME) * sizeof *aside);
  if (!aside) return NULL;
  wcscpy(aside, path);
  for (; up > 0; up--) {
    wchar_t *slash = wcsrchr(aside, L'\\');
    if (slash) *slash = L'\0';
  }
  wchar_t *slash = wcsrchr(aside, L'\\');
  (void)_snwprintf(slash ? slash + 1 : aside, NAME - 1, L".gather-gone-%lx-%llx-%u", GetCurrentProcessId(), GetTickCount64(),
                   atomic_fetch_add(&count, 1));
  return aside;
}

static bool mark_deleted(HANDLE handle) {
  FILE_DISPOSITION_INFO gone = {.DeleteFile = TRUE};
  return SetFileInformationByHandle(handle, FileDispositionInfo, &gone, sizeof gone) != 0;
}

/* Moves an open file out of the way; *aside: the name it has then, to be freed. */
static bool move_aside(HANDLE handle, const wchar_t *path, int up, wchar_t **aside) {
  *aside = name_aside(path, up);
  return *aside && rename_handle(handle, *aside, FileRenameInfo, 0);
}

/* Replaces an open file in two steps. If the second one fails, the first one is taken back. */
static bool replace_open(const wchar_t *from, const wchar_t *to) {
  wchar_t *aside = NULL;
  HANDLE old = open_to_rename(to, EVERYTHING);
  if (old == INVALID_HANDLE_VALUE) return false;
  bool good = move_aside(old, to, 0, &aside);
  if (good && !MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH)) {
    const DWORD error = GetLastError();
    good = false;
    (void)rename_handle(old, to, FileRenameInfo, 0);
    SetLastError(error);
  } else if (good) {
    (void)mark_deleted(old);
  }
  const DWORD error = GetLastError();
  free(aside);
  (void)CloseHandle(old);
  SetLastError(error);
  return good;
}

static int rename_wide(const wchar_t *from, const wchar_t *to) {
  if (rename_as_posix(from, to)) return 0;
  if (MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return 0;
  const DWORD error = GetLastError(), target = GetFileAttributesW(to);
  if ((error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION) && target != INVALID_FILE_ATTRIBUTES &&
      !(target & FILE_ATTRIBUTE_DIRECTORY) && replace_open(from, to))
    return 0;
  return gather_windows_fail_as(gather_windows_errno(error));
}

int renameat(int folder, const char *from, int other, const char *to) {
  wchar_t *wide_from = gather_wide_path_at(folder, from), *wide_to = wide_from ? gather_wide_path_at(other, to) : NULL;
  const int result = wide_to ? rename_wide(wide_from, wide_to) : -1, number = errno;
  free(wide_from);
  free(wide_to);
  errno = number;
  return result;
}

int gather_posix_rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

/* ---- deleting */

static bool delete_as_posix(const wchar_t *path) {
  DWORD flags = DELETES | POSIX_DELETE | IGNORES_READ_ONLY;
  HANDLE handle = open_to_rename(path, EVERYTHING);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const bool good = SetFileInformationByHandle(handle, (FILE_INFO_BY_HANDLE_CLASS)DISPOSITION_EX, &flags, sizeof flags) != 0;
  (void)CloseHandle(handle);
  return good;
}

/* A file that only this call has open is deleted at once; another one is moved out of its folder, which may be deleted next. */
static bool delete_later(const wchar_t *path) {
  wchar_t *aside = NULL;
  HANDLE handle = open_to_rename(path, 0);
  const bool shared = handle == INVALID_HANDLE_VALUE && GetLastError() == ERROR_SHARING_VIOLATION;
  if (shared) handle = open_to_rename(path, EVERYTHING);
  if (handle == INVALID_HANDLE_VALUE) return false;
  if (shared) (void)move_aside(handle, path, 1, &aside);
  const bool good = mark_deleted(handle);
  const DWORD error = GetLastError();
  free(aside);
  (void)CloseHandle(handle);
  SetLastError(error);
  return good;
}

int unlinkat(int folder, const char *path, int flags) {
  (void)flags;
  wchar_t *wide = gather_wide_path_at(folder, path);
  if (!wide) return -1;
  const DWORD found = GetFileAttributesW(wide);
  int number = found == INVALID_FILE_ATTRIBUTES ? gather_windows_errno(GetLastError()) : 0;
  if (number == 0 && found & FILE_ATTRIBUTE_DIRECTORY && !(found & FILE_ATTRIBUTE_REPARSE_POINT)) number = EISDIR;
  if (number == 0 && !delete_as_posix(wide) && !delete_later(wide)) number = gather_windows_errno(GetLastError());
  free(wide);
  return number == 0 ? 0 : gather_windows_fail_as(number);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int rmdir(const char *path) {
  wchar_t *wide = gather_wide_path(path);
  if (!wide) return -1;
  const bool good = RemoveDirectoryW(wide) != 0;
  const int number = good ? 0 : gather_windows_errno(GetLastError());
  free(wide);
  return good ? 0 : gather_windows_fail_as(number);
}

int gather_posix_remove(const char *path) {
  struct stat about;
  if (lstat(path, &about) != 0) return -1;
  return S_ISDIR(about.st_mode) ? rmdir(path) : unlink(path);
}

/* ---- more names */

/* Targets of links are not read: only messages would show them. */
ssize_t readlink(const char *path, char *target, size_t bytes) {
  (void)path, (void)target, (void)bytes;
  return gather_windows_fail_as(EINVAL);
}

int linkat(int folder, const char *path, int to, const char *name, int flags) {
  (void)flags;
  wchar_t *from = gather_wide_path_at(folder, path), *wide = from ? gather_wide_path_at(to, name) : NULL;
  const bool good = wide && CreateHardLinkW(wide, from, NULL);
  const int number = !wide ? errno : good ? 0 : gather_windows_errno(GetLastError());
  free(from);
  free(wide);
  return good ? 0 : gather_windows_fail_as(number);
}

int link(const char *path, const char *name) { return linkat(AT_FDCWD, path, AT_FDCWD, name, 0); }

int symlink(const char *target, const char *path) {
  enum { UNPRIVILEGED = 2 };
  wchar_t *from = gather_wide_path(path), *to = from ? gather_wide_path(target) : NULL;
  const bool good = to && CreateSymbolicLinkW(from, to, UNPRIVILEGED);
  const int number = !to ? errno : good ? 0 : gather_windows_errno(GetLastError());
  free(from);
  free(to);
  return good ? 0 : gather_windows_fail_as(number);
}

/* Into memory of the caller's, of PATH_MAX bytes, or into new memory. */
static char *returned(char *real, char *whole) {
  if (!real || !whole) return real;
  const bool fits = strlen(real) < PATH_MAX;
  if (fits) memcpy(whole, real, strlen(real) + 1);
  free(real);
  errno = ENAMETOOLONG;
  return fits ? whole : NULL;
}

char *realpath(const char *path, char *whole) {
  wchar_t *wide = gather_wide_path(path);
  if (!wide) return NULL;
  HANDLE handle = CreateFileW(wide, FILE_READ_ATTRIBUTES, EVERYTHING, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  const DWORD error = GetLastError();
  free(wide);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = gather_windows_errno(error);
    return NULL;
  }
  char *real = gather_path_of_handle(handle);
  (void)CloseHandle(handle);
  if (!real) real = whole_path(path);
  return returned(real, whole);
}

int mkdir(const char *path, mode_t mode) {
  (void)mode;
  wchar_t *wide = gather_wide_path(path);
  if (!wide) return -1;
  const bool good = CreateDirectoryW(wide, NULL) != 0;
  const int number = good ? 0 : gather_windows_errno(GetLastError());
  free(wide);
  return good ? 0 : gather_windows_fail_as(number);
}

/* ---- the names in a folder */

struct gather_posix_folder {
  HANDLE find;
  bool first; /* the name found last was not given yet */
  WIN32_FIND_DATAW found;
  struct dirent entry;
};

DIR *opendir(const char *path) {
  DIR *folder = malloc(sizeof *folder);
  char *pattern = malloc(strlen(path) + 3);
  wchar_t *wide = NULL;
  if (folder && pattern) {
    (void)snprintf(pattern, strlen(path) + 3, "%s/*", path);
    wide = gather_wide_path(pattern);
    folder->find = wide ? FindFirstFileW(wide, &folder->found) : INVALID_HANDLE_VALUE;
    folder->first = true;
  }
  const DWORD error = GetLastError();
  const int number = wide ? gather_windows_errno(error) : folder && pattern ? errno : ENOMEM;
  free(pattern);
  free(wide);
  if (folder && wide && folder->find != INVALID_HANDLE_VALUE) return folder;
  free(folder);
  errno = number;
  return NULL;
}

struct dirent *readdir(DIR *folder) {
  if (!folder->first && !FindNextFileW(folder->find, &folder->found)) {
    if (GetLastError() != ERROR_NO_MORE_FILES) (void)gather_windows_fail();
    return NULL;
  }
  folder->first = false;
  char *name = narrow(folder->found.cFileName);
  if (!name) return errno = ENOMEM, NULL;
  (void)snprintf(folder->entry.d_name, sizeof folder->entry.d_name, "%s", name);
  free(name);
  return &folder->entry;
}

int closedir(DIR *folder) {
  (void)FindClose(folder->find);
  free(folder);
  return 0;
}
