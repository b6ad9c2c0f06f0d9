/* SPDX-License-Identifier: MIT
 *
 * fuzz_aws_files.c: any bytes as the files in which credentials are kept: a profile's name and a zero byte, then the file, which is both
 * the file of credentials and that of settings.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aws_files.h"
#include "fuzz/fuzz.h"

/* In memory where the system has that: a disk takes ten times as long. */
static char path[] = "/dev/shm/gather-fuzz-aws-XXXXXX", on_disk[] = "/tmp/gather-fuzz-aws-XXXXXX";
static int fd = -1;

static void remove_file(void) { (void)unlink(path); }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;
  size_t length = end ? (size_t)(end - bytes) : 0, begin = end ? length + 1 : 0;
  char *profile = malloc(length + 1), *token = NULL;
  gather_cli_aws aws;
  gather_error error;
  if (!profile) abort();
  if (length) memcpy(profile, bytes, length);
  profile[length] = '\0';
  if (fd < 0) {
    fd = mkstemp(path);
    if (fd < 0) {
      memcpy(path, on_disk, sizeof on_disk);
      fd = mkstemp(path);
    }
    if (fd < 0 || atexit(remove_file) != 0) abort();
  }
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes + begin, size - begin, 0) != (ssize_t)(size - begin)) abort();
  gather_status status = gather_cli_aws_read(path, path, profile, &aws, &error);
  fuzz_check(status == GATHER_OK || error.message[0], "the error says what is wrong");
  fuzz_check(status == GATHER_OK || status == GATHER_FILE_MALFORMED || status == GATHER_USAGE, "only the text is wrong");
  gather_cli_aws_clear(&aws);
  if (gather_cli_token_read(path, &token, &error) == GATHER_OK && token)
    fuzz_check(token[0] && !strchr(token, '\n'), "a token is one line");
  free(token);
  free(profile);
  return 0;
}
