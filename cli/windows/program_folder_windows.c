/* SPDX-License-Identifier: MIT
 *
 * program_folder_windows.c: where this program is.
 */
#include <string.h>
#include <windows.h>

#include "program_folder.h"

void gather_cli_program_folder(char *folder, size_t bytes) {
  wchar_t name[MAX_PATH];
  folder[0] = '\0';
  const DWORD length = GetModuleFileNameW(NULL, name, MAX_PATH);
  wchar_t *end = length > 0 && length < MAX_PATH ? wcsrchr(name, L'\\') : NULL;
  if (!end) return;
  end[1] = L'\0';
  for (wchar_t *at = name; *at; at++)
    if (*at == L'\\') *at = L'/';
  if (WideCharToMultiByte(CP_UTF8, 0, name, -1, folder, (int)bytes, NULL, NULL) == 0) folder[0] = '\0';
}
