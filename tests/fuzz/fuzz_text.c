/* SPDX-License-Identifier: MIT
 *
 * fuzz_text.c: any bytes as text of whole numbers: the name of a column and a zero byte, then the text. What was read is int64, 1-D
 * without brackets; as
 * text it is read again. Reading in small steps, from a pipe, gives the same.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "support/open_file.h"

/* More does not fit into a pipe that nobody reads yet. */
enum { PIPE_BYTES = 4096, NUMBER_BYTES = 21 };

static void check_again(const gather_tensor *numbers) {
  const int64_t *at = numbers->data, len = gather_tensor_len(numbers);
  gather_file *file = NULL;
  size_t used = 0;
  char *text = malloc((size_t)len * NUMBER_BYTES + 1);
  if (!text) abort();
  for (int64_t i = 0; i < len; i++) used += (size_t)sprintf(text + used, "%" PRId64 "%c", at[i], i % 3 ? ' ' : ',');
  gather_status status = file_open_text(file_in(text, used, NULL), NULL, &file, NULL);
  fuzz_check(status == GATHER_OK, "numbers that were read can be read again");
  const gather_tensor *again = &gather_file_at(file, 0)->tensor;
  fuzz_check(gather_tensor_len(again) == len, "as many are read again");
  fuzz_check(len == 0 || memcmp(again->data, at, (size_t)len * sizeof *at) == 0, "the same are read again");
  gather_file_close(file);
  free(text);
}

/* Bytes in a pipe, which has a name on Linux. */
static void check_pipe(const uint8_t *bytes, size_t size, const char *column, gather_status status, const gather_file *file) {
  int ends[2];
  char path[64];
  gather_file *piped = NULL;
  if (size > PIPE_BYTES || pipe(ends) != 0) return;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
  bool usable = access(path, R_OK) == 0 && write(ends[1], bytes, size) == (ssize_t)size;
  (void)close(ends[1]);
  if (usable) {
    fuzz_check(file_open_text(file_at(path), column, &piped, NULL) == status, "a pipe gives the same answer");
    if (status == GATHER_OK) fuzz_check(gather_file_at(piped, 0)->bytes == gather_file_at(file, 0)->bytes, "a pipe gives as many numbers");
  }
  gather_file_close(piped);
  (void)close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;
  size_t length = end ? (size_t)(end - bytes) : 0, begin = end ? length + 1 : 0;
  char *column = malloc(length + 1);
  gather_file *file = NULL;
  gather_error error;
  if (!column) abort();
  if (length) memcpy(column, bytes, length);
  column[length] = '\0';
  const uint8_t *text = bytes ? bytes + begin : bytes;
  (void)gather_file_is_text(text, size - begin);
  gather_status status = file_open_text(file_in(text, size - begin, "fuzz"), column, &file, &error);
  if (status == GATHER_OK) {
    const gather_tensor *numbers = &gather_file_at(file, 0)->tensor;
    const bool list = gather_tensor_len(numbers) * 8 == gather_file_at(file, 0)->bytes && numbers->rank >= 1;
    fuzz_check(numbers->type == GATHER_TYPE_INT64 && list, "text is int64");
    fuzz_check(numbers->rank == 1 || memchr(text, '[', size - begin), "text without brackets is 1-D");
    check_again(numbers);
  }
  check_pipe(text, size - begin, column, status, file);
  fuzz_walk(status, file, &error, text, size - begin);
  free(column);
  return 0;
}
