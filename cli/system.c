/* SPDX-License-Identifier: MIT
 *
 * system.c: system calls that several commands use.
 */
#define _FILE_OFFSET_BITS 64
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

/* Some systems refuse a read of 2 GiB or more. */
enum { READ_AT_MOST = 1 << 30 };

gather_status gather_cli_status_of(int number) {
  if (number == ENOENT || number == ENOTDIR) return GATHER_FILE_NOT_FOUND;
  return number == ENOMEM ? GATHER_OUT_OF_MEMORY : GATHER_IO_ERROR;
}

int gather_cli_exit_code(gather_status status) {
  switch (status) {
#define GATHER_STATUS(ENUM, number, name, exit_code, sentence) \
  case GATHER_##ENUM:                                          \
    return exit_code;
#include "gather/status.def"
#undef GATHER_STATUS
  }
  return 1;
}

gather_status gather_cli_fail_errno(gather_error *error, gather_status status, int number, const char *file, int64_t offset,
                                    const char *what) {
  (void)gather_cli_fail_file(error, status, file, offset, "%s%s%s", what, *what ? ": " : "", strerror(number));
  if (error) error->system_error = (int16_t)number;
  return status;
}

int gather_cli_open(int folder, const char *path, int flags) {
  int fd;
  do fd = openat(folder, path, flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  return fd;
}

gather_status gather_cli_read_at(int fd, const char *file, void *bytes, int64_t size, int64_t offset, gather_error *error) {
  char *to = bytes;
  const int64_t end = offset + size;
  while (offset < end) {
    int64_t now = end - offset < READ_AT_MOST ? end - offset : READ_AT_MOST;
    ssize_t got = pread(fd, to, (size_t)now, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return gather_cli_fail_errno(error, gather_cli_status_of(errno), errno, file, offset, "cannot read it");
    if (got == 0) return gather_cli_fail_file(error, GATHER_IO_ERROR, file, offset, "cannot read it: it was truncated while in use");
    to += got;
    offset += got;
  }
  return GATHER_OK;
}
