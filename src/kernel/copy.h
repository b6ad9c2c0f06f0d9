/* SPDX-License-Identifier: MIT
 *
 * copy.h: copying one short row. No alignment is demanded, no byte outside the row is touched.
 */
#ifndef GATHER_KERNEL_COPY_H
#define GATHER_KERNEL_COPY_H

#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

/* Copies exactly n bytes, n a constant: one load and one store. */
#define GATHER_COPY_CONST(out, in, n) memcpy((out), (in), (n))

/* Copies 0 to 32 bytes by two moves that overlap in the middle. A loop calls this with one size, so that the branches are
 * always predicted; memcpy's call costs two to three times as much at 3, 5, 6, 12 or 24 bytes. */
GATHER_INLINE void gather_copy_short(char *out, const char *in, size_t bytes) {
  if (bytes >= 16) {
    char head[16], tail[16];
    memcpy(head, in, 16);
    memcpy(tail, in + bytes - 16, 16);
    memcpy(out, head, 16);
    memcpy(out + bytes - 16, tail, 16);
  } else if (bytes >= 8) {
    uint64_t head, tail;
    memcpy(&head, in, 8);
    memcpy(&tail, in + bytes - 8, 8);
    memcpy(out, &head, 8);
    memcpy(out + bytes - 8, &tail, 8);
  } else if (bytes >= 4) {
    uint32_t head, tail;
    memcpy(&head, in, 4);
    memcpy(&tail, in + bytes - 4, 4);
    memcpy(out, &head, 4);
    memcpy(out + bytes - 4, &tail, 4);
  } else if (bytes > 0) {
    char first = in[0], middle = in[bytes / 2], last = in[bytes - 1];
    out[0] = first;
    out[bytes / 2] = middle;
    out[bytes - 1] = last;
  }
}

/* Copies a row of any size. */
GATHER_INLINE void gather_copy_row(char *out, const char *in, size_t bytes) {
  if (bytes <= 32)
    gather_copy_short(out, in, bytes);
  else
    memcpy(out, in, bytes);
}

#endif
