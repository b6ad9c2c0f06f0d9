/* SPDX-License-Identifier: MIT
 *
 * memory_stream_windows.c: a stream that writes into memory, which Windows does not have: a temporary file, which is deleted when it is
 * closed, and usually never reaches the disk.
 */
#include <windows.h>

#include "memory_stream.h"

FILE *gather_cli_memory_open(char *text, size_t bytes) {
  wchar_t folder[MAX_PATH], path[MAX_PATH];
  (void)text, (void)bytes;
  const DWORD length = GetTempPathW(MAX_PATH, folder);
  if (length == 0 || length >= MAX_PATH || GetTempFileNameW(folder, L"gat", 0, path) == 0) return NULL;
  FILE *stream = _wfopen(path, L"w+bTD"); /* T, D: temporary, deleted when closed */
  if (!stream) (void)DeleteFileW(path);
  return stream;
}

bool gather_cli_memory_close(FILE *stream, char *text, size_t bytes) {
  bool good = fflush(stream) == 0 && fseek(stream, 0, SEEK_SET) == 0;
  const size_t got = good ? fread(text, 1, bytes - 1, stream) : 0;
  good = good && !ferror(stream) && fgetc(stream) == EOF;
  text[got] = '\0';
  return fclose(stream) == 0 && good;
}
