/* SPDX-License-Identifier: MIT
 *
 * slot.c: one read by system calls that may be interrupted, read too little, or refuse direct I/O.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "table/reader_engine.h"

static bool is_refusal(int number) { return number == EINVAL || number == ENOTSUP || number == EOPNOTSUPP; }

bool gather_slot_advance(gather_slot *slot, int64_t answer) {
  const gather_table_source *source = slot->read.source;
  if (answer < 0 && is_refusal((int)-answer) && slot->fd != source->fd) {
    slot->fd = source->fd;
    slot->refused = true;
    return false;
  }
  if (answer <= 0) {
    slot->result = answer < 0 ? (int)-answer : GATHER_READ_SHORT;
    return true;
  }
  slot->done += answer;
  slot->result = GATHER_READ_FINE;
  if (slot->done >= slot->read.needed) return true;
  /* Direct reads begin at blocks. This one ended within a block: probably at the end of the file. */
  if (slot->done % source->block_bytes != 0) slot->fd = source->fd;
  return false;
}

void gather_slot_read(gather_slot *slot) {
  enum { MOST_TRIES = 100, MOST_BYTES = 1 << 30 };
  for (int tries = 0;;) {
    int64_t left = slot->read.bytes - slot->done;
    ssize_t got = pread(slot->fd, slot->data + slot->done, (size_t)(left < MOST_BYTES ? left : MOST_BYTES),
                        (off_t)(slot->read.offset + slot->done));
    int number = errno;
    if (got < 0 && number == EINTR) continue;
    if (got < 0 && number == EAGAIN && tries++ < MOST_TRIES) {
      (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
      continue;
    }
    if (gather_slot_advance(slot, got < 0 ? -(int64_t)number : (int64_t)got)) return;
  }
}

void gather_slot_locate(gather_slot *slot) {
  const int64_t block = slot->read.source->block_bytes, needed = slot->read.needed;
  if (slot->result != EIO || needed <= block) return;
  for (int64_t start = 0; start < needed; start += block) {
    gather_slot one = *slot;
    one.data += start;
    one.read.offset += start;
    one.read.bytes = block;
    one.read.needed = needed - start < block ? needed - start : block;
    one.done = 0;
    gather_slot_read(&one);
    slot->done = start + one.done;
    slot->result = one.result;
    if (one.result != GATHER_READ_FINE) return;
  }
}
