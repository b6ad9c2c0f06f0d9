/* SPDX-License-Identifier: MIT
 *
 * fuzz_raw.c: any type, shape and offset over any bytes.
 * Input: the type's text and a zero byte; the rank, the offset and the lengths as eight bytes each; the rest is the file.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/open_file.h"

typedef struct input {
  const uint8_t *at;
  size_t left;
} input;

static int64_t take_number(input *in) {
  uint8_t bytes[8] = {0};
  size_t taken = in->left < sizeof bytes ? in->left : sizeof bytes;
  memcpy(bytes, in->at, taken);
  in->at += taken;
  in->left -= taken;
  int64_t number;
  memcpy(&number, bytes, sizeof number);
  return number;
}

/* The text up to a zero byte, in memory of its own so that a sanitizer sees when more of it is read. */
static char *take_text(input *in) {
  const uint8_t *end = in->left ? memchr(in->at, 0, in->left) : NULL;
  size_t length = end ? (size_t)(end - in->at) : in->left;
  char *text = malloc(length + 1);
  if (!text) abort();
  if (length) memcpy(text, in->at, length);
  text[length] = '\0';
  size_t taken = end ? length + 1 : length;
  in->at += taken;
  in->left -= taken;
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, size};
  char *type = take_text(&in);
  int64_t shape[GATHER_MAX_RANK + 2] = {0};
  gather_raw raw = {
      .type = type, .rank = (int32_t)(take_number(&in) % (GATHER_MAX_RANK + 3)), .shape = shape, .as_is = take_number(&in) % 2 == 0};
  raw.offset = take_number(&in);
  for (int32_t d = 0; d < raw.rank; d++) shape[d] = take_number(&in);
  gather_file *file = NULL;
  gather_error error;
  gather_status status = file_open_raw(file_in(in.at, in.left, "fuzz"), &raw, &file, &error);
  fuzz_walk(status, file, &error, in.at, in.left);
  free(type);
  return 0;
}
