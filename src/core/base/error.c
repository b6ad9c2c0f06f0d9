/* SPDX-License-Identifier: MIT
 *
 * error.c: what all public functions share: statuses and errors, structs that begin with their size, and the version.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"
#include "gather/gather.h"

const char *gather_status_name(gather_status status) {
  switch (status) {
#define GATHER_STATUS(ENUM, number, name, exit_code, sentence) \
  case GATHER_##ENUM:                                          \
    return name;
#include "gather/status.def"
#undef GATHER_STATUS
  }
  return "unknown";
}

/* Only the first byte of the arrays is reset: the struct is large and errors can be frequent. */
static void reset(gather_error *error, gather_status status) {
  error->status = status;
  error->message[0] = '\0';
  error->op = error->rules = error->input = NULL;
  error->file[0] = '\0';
  error->file_offset = -1;
  error->axis = error->position_rank = -1;
  error->row = -1;
  error->value_is_unsigned = false;
  error->system_error = 0;
  error->value = error->low = error->high = error->bad_count = 0;
}

/* error is not NULL in these three. */
static gather_status set(gather_error *error, gather_status status, const char *input, const char *format, va_list arguments) {
  reset(error, status);
  error->input = input;
  (void)vsnprintf(error->message, sizeof error->message, format, arguments);
  return status;
}

/* The length of the "https:/" that a name begins with, if it is that of a URL whose host may have a user before it and a query behind;
 * else 0. One slash: a path library may have made one of two. A letter and a colon are a drive of Windows. */
static size_t scheme_bytes(const char *file) {
  const size_t length = strspn(file, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-");
  const int first = file[0] | 0x20, second = length == 2 ? file[1] | 0x20 : 0;
  const bool is_key = (first == 's' && second == '3') || (first == 'h' && second == 'f'); /* may contain "?" */
  return length >= 2 && !is_key && strncmp(file + length, ":/", 2) == 0 ? length + 2 : 0;
}

/* The end of a name that is longer than the field. Of a URL, whatever it is for, the user, the password and the query are never shown. */
static void set_name(gather_error *error, const char *file) {
  size_t scheme = scheme_bytes(file);
  if (scheme > 0 && file[scheme] == '/') scheme++;
  const char *rest = file + scheme;
  size_t length = strlen(rest), room = sizeof error->file - 1;
  if (scheme > 0) {
    for (size_t at = strcspn(rest, "/?#"); at > 0; at--)
      if (rest[at - 1] == '@') {
        rest += at;
        break;
      }
    length = strcspn(rest, "?#");
  }
  if (scheme + length > room) scheme = 0;
  const size_t left = length > room ? length - room : 0;
  (void)snprintf(error->file, sizeof error->file, "%.*s%.*s", (int)scheme, file, (int)(length - left), rest + left);
}

static gather_status set_file(gather_error *error, gather_status status, const char *file, int64_t offset, const char *format,
                              va_list arguments) {
  char sentence[sizeof error->message], place[40] = "";
  (void)vsnprintf(sentence, sizeof sentence, format, arguments);
  reset(error, status);
  set_name(error, file);
  error->file_offset = offset;
  if (offset >= 0) (void)snprintf(place, sizeof place, " (at byte %" PRId64 ")", offset);
  int room = (int)sizeof error->message - (int)strlen(place) - (int)strlen(error->file) - 3;
  (void)snprintf(error->message, sizeof error->message, "%s: %.*s%s", error->file, room > 0 ? room : 0, sentence, place);
  return status;
}

/* Passes the arguments after `format` to the call and returns its result. */
#define WITH_ARGUMENTS(call)   \
  if (!error) return status;   \
  va_list arguments;           \
  va_start(arguments, format); \
  status = call;               \
  va_end(arguments);           \
  return status

gather_status gather_fail(gather_error *error, gather_status status, const char *format, ...) {
  WITH_ARGUMENTS(set(error, status, NULL, format, arguments));
}

gather_status gather_fail_input(gather_error *error, gather_status status, const char *input, const char *format, ...) {
  WITH_ARGUMENTS(set(error, status, input, format, arguments));
}

gather_status gather_fail_file(gather_error *error, gather_status status, const char *file, int64_t offset, const char *format, ...) {
  WITH_ARGUMENTS(set_file(error, status, file, offset, format, arguments));
}

const char *gather_system_words(int number, char room[GATHER_SYSTEM_WORDS]) {
  if (strerror_r(number, room, GATHER_SYSTEM_WORDS) != 0) (void)snprintf(room, GATHER_SYSTEM_WORDS, "error %d", number);
  return room;
}

gather_status gather_fail_errno(gather_error *error, gather_status status, int number, const char *file, int64_t offset, const char *format,
                                ...) {
  char sentence[sizeof error->message], words[GATHER_SYSTEM_WORDS];
  va_list arguments;
  if (!error) return status;
  va_start(arguments, format);
  (void)vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  (void)gather_fail_file(error, status, file, offset, "%s: %s", sentence, gather_system_words(number, words));
  error->system_error = (int16_t)number;
  return status;
}

gather_status gather_fail_system(gather_error *error, const char *file, int number, const char *doing) {
  const gather_status status = number == ENOENT || number == ENOTDIR ? GATHER_FILE_NOT_FOUND
                               : number == EEXIST                    ? GATHER_FILE_EXISTS
                               : number == ENOMEM                    ? GATHER_OUT_OF_MEMORY
                                                                     : GATHER_IO_ERROR;
  (void)gather_fail_errno(error, status, number, file, -1, "cannot %s", doing);
  if (number != EMFILE || !error) return status;
  /* The number of a process is a limit that its user can raise, and the library does not. */
  const size_t length = strlen(error->message);
  (void)snprintf(error->message + length, sizeof error->message - length, "; raise the limit of open files (ulimit -n)");
  return status;
}

gather_status gather_error_set(gather_error *error, gather_status status, const char *format, ...) {
  WITH_ARGUMENTS(set(error, status, NULL, format, arguments));
}

gather_status gather_error_set_input(gather_error *error, gather_status status, const char *input, const char *format, ...) {
  WITH_ARGUMENTS(set(error, status, input, format, arguments));
}

gather_status gather_error_set_file(gather_error *error, gather_status status, const char *file, int64_t offset, const char *format, ...) {
  WITH_ARGUMENTS(set_file(error, status, file, offset, format, arguments));
}

char *gather_shape_text(char *text, size_t bytes, int32_t rank, const int64_t *shape) {
  size_t at = (size_t)snprintf(text, bytes, "[");
  for (int32_t d = 0; d < rank; d++) {
    if (at + 28 > bytes) {
      (void)snprintf(text + at, bytes - at, "...");
      at += 3;
      break;
    }
    at += (size_t)snprintf(text + at, bytes - at, d ? ", %" PRId64 : "%" PRId64, shape[d]);
  }
  if (at + 2 <= bytes) (void)snprintf(text + at, bytes - at, "]");
  return text;
}

/* ---- structs that begin with their size. One rule for all public ones (gather.h says it at its beginning): a field that is added goes
 * behind the end of the struct as it was, never into padding at its end: that is not zero in older programs. */

enum { MOST_BYTES = 4096 /* a larger size is uninitialised memory */ };

gather_status gather_struct_read(void *full, size_t bytes, const void *given, const char *name, const char *init, gather_error *error) {
  size_t size;
  if (!given) return GATHER_OK;
  memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > MOST_BYTES || size % alignof(size_t) != 0)
    return gather_fail(error, GATHER_USAGE, "%s.size is %zu; start from %s", name, size, init);
  const unsigned char *at = given;
  for (size_t i = bytes; i < size; i++)
    if (at[i] != 0)
      return gather_fail(error, GATHER_USAGE,
                         "%s has %zu bytes, but this version of the library knows only %zu: byte %zu, in a member of a newer version, "
                         "is not zero",
                         name, size, bytes, i);
  memcpy(full, given, size < bytes ? size : bytes);
  memcpy(full, &bytes, sizeof bytes);
  return GATHER_OK;
}

/* ---- the version, from the numbers of gather.h */

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *gather_version(void) { return TEXT(GATHER_VERSION_MAJOR) "." TEXT(GATHER_VERSION_MINOR) "." TEXT(GATHER_VERSION_PATCH); }
