/* SPDX-License-Identifier: MIT
 *
 * gguf.h: what the readers of GGUF files share: numbers and strings in the file's byte order.
 */
#ifndef GATHER_FORMAT_GGUF_H
#define GATHER_FORMAT_GGUF_H

#include "core/base/error.h"
#include "io/format/format.h"
#include "io/format/span.h"

/* The largest model has about a hundred. */
enum { GATHER_GGUF_MOST_PARTS = 1024 };

/* The state of reading one file. */
typedef struct gather_gguf {
  gather_file *file;
  const gather_map *map; /* of the file, or of another part of a split model */
  const char *name;      /* for messages */
  gather_error *error;
  int64_t at;                    /* the next byte to read */
  bool big;                      /* numbers are big-endian, elements too */
  int64_t alignment;             /* of the tensors' offsets */
  int64_t split_no, split_count; /* of a split model: the number of this part, and of all; -1 = not given */
  gather_file_tensor *tensors;
  int64_t len;
  gather_file_span *spans;
  const gather_file_span **sorted;
} gather_gguf;

/* Fails and reports a byte of the file. */
#define GATHER_GGUF_WRONG(gguf, offset, ...) \
  gather_fail_file((gguf)->error, GATHER_FILE_MALFORMED, (gguf)->name, offset, __VA_ARGS__)

/* Reads an unsigned number of 1, 2, 4 or 8 bytes. */
GATHER_CHECKED gather_status gather_gguf_number(gather_gguf *gguf, int bytes, uint64_t *value);
GATHER_CHECKED gather_status gather_gguf_u32(gather_gguf *gguf, uint32_t *value);
GATHER_CHECKED gather_status gather_gguf_u64(gather_gguf *gguf, uint64_t *value);
/* Reads a count of bytes, elements or entries, each of at least `least` bytes; fails if they cannot fit in the bytes
 * left. */
GATHER_CHECKED gather_status gather_gguf_count(gather_gguf *gguf, int64_t least, const char *what, int64_t *count);
/* Reads the descriptions of `count` tensors; the data follow them. */
GATHER_CHECKED gather_status gather_gguf_tensors(gather_gguf *gguf, int64_t count);
/* Reads one file: file, map, name and error are set. */
GATHER_CHECKED gather_status gather_gguf_read(gather_gguf *gguf);

#endif
