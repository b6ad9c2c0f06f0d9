/* SPDX-License-Identifier: MIT
 *
 * fail.c: filling in errors.
 */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void clear_error(gather_error *error, gather_status status) {
  memset(error, 0, sizeof *error);
  error->status = status;
  error->file_offset = -1;
  error->axis = -1;
  error->position_rank = -1;
  error->row = -1;
}

gather_status gather_cli_fail(gather_error *error, gather_status status, const char *format, ...) {
  va_list list;
  clear_error(error, status);
  va_start(list, format);
  vsnprintf(error->message, sizeof error->message, format, list);
  va_end(list);
  return status;
}

gather_status gather_cli_fail_file(gather_error *error, gather_status status, const char *file, int64_t offset,
                                   const char *format, ...) {
  va_list list;
  char sentence[sizeof error->message - sizeof error->file - 2];
  size_t len = strlen(file);
  va_start(list, format);
  vsnprintf(sentence, sizeof sentence, format, list);
  va_end(list);
  clear_error(error, status);
  error->file_offset = offset;
  if (len >= sizeof error->file) file += len - sizeof error->file + 1; /* the end of a long name tells more */
  snprintf(error->file, sizeof error->file, "%s", file);
  snprintf(error->message, sizeof error->message, "%s: %s", error->file, sentence);
  return status;
}
