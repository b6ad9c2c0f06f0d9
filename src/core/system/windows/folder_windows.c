/* SPDX-License-Identifier: MIT
 *
 * folder_windows.c: the names in a folder.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "core/system/windows/wide_path.h"
#include "core/system/windows/windows_error.h"

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
  char *name = gather_narrow(folder->found.cFileName);
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
