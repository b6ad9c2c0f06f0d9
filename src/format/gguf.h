/* SPDX-License-Identifier: MIT
 *
 * gguf.h: what the readers of GGUF files share: numbers and texts of a file in its byte order.
 */
#ifndef GATHER_FORMAT_GGUF_H
#define GATHER_FORMAT_GGUF_H

#include "base/error.h"
#include "format/format.h"
#include "format/span.h"

/* The reading of one file. */
typedef struct gather_gguf {
  gather_file *file;
  gather_error *error;
  int64_t at;        /* the next byte to read */
  bool big;          /* numbers are big-endian, elements too */
  int64_t alignment; /* of the tensors' places */
  gather_file_span *spans;
  const gather_file_span **sorted;
} gather_gguf;

/* Fails about a byte of the file. */
#define GATHER_GGUF_WRONG(gguf, offset, ...) \
  gather_fail_file((gguf)->error, GATHER_FILE_MALFORMED, (gguf)->file->name, offset, __VA_ARGS__)

/* Takes a number of 4 or 8 bytes. */
GATHER_CHECKED gather_status gather_gguf_u32(gather_gguf *gguf, uint32_t *value);
GATHER_CHECKED gather_status gather_gguf_u64(gather_gguf *gguf, uint64_t *value);
/* Takes how many bytes, elements or entries there are: each takes at least `least` bytes of those that are left. */
GATHER_CHECKED gather_status gather_gguf_count(gather_gguf *gguf, int64_t least, const char *what, int64_t *count);
/* Takes the descriptions of `count` tensors; the data begin behind them. */
GATHER_CHECKED gather_status gather_gguf_tensors(gather_gguf *gguf, int64_t count);

#endif
