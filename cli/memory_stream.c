/* SPDX-License-Identifier: MIT
 *
 * memory_stream.c: a stream that writes into memory, which POSIX has.
 */
#include "memory_stream.h"

FILE *gather_cli_memory_open(char *text, size_t bytes) { return fmemopen(text, bytes, "w"); }

bool gather_cli_memory_close(FILE *stream, char *text, size_t bytes) {
  (void)text, (void)bytes;
  return fclose(stream) == 0;
}
