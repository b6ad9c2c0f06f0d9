/* SPDX-License-Identifier: MIT
 *
 * reader_engine.h: the functions of an engine, and what all engines share. A read occupies a slot from begin to
 * release.
 */
#ifndef GATHER_TABLE_READER_ENGINE_H
#define GATHER_TABLE_READER_ENGINE_H

#include "table/reader.h"

/* The result of a read; above 0 an errno. */
enum {
  GATHER_READ_FINE = 0,
  GATHER_READ_SHORT = -1 /* the file ends too early */,
  GATHER_READ_FAILED = -2 /* `fail` knows why */
};

typedef enum gather_slot_state { GATHER_SLOT_FREE, GATHER_SLOT_READING, GATHER_SLOT_HELD } gather_slot_state;

typedef struct gather_slot {
  gather_read read;
  char *data;   /* where it is read to; for a mapping, the mapped address */
  int64_t done; /* bytes already read */
  int fd;       /* descriptor to read from */
  int result;
  bool refused; /* the system refused a direct read */
  gather_slot_state state;
} gather_slot;

typedef struct gather_reader_engine {
  bool buffers; /* reads into buffers */
  /* Sets reader->own. NULL: nothing to create. */
  gather_status (*create)(gather_reader *reader, gather_error *error);
  void (*destroy)(gather_reader *reader);
  /* Replaces destroy in a child of fork(). */
  void (*abandon)(gather_reader *reader);
  gather_status (*begin)(gather_reader *reader, int32_t slot, gather_error *error);
  /* Waits for a read to complete; returns its slot, with the result set. */
  int32_t (*finish)(gather_reader *reader);
  /* Waits at most so long for a read to complete: whether finish would not wait. NULL: reads are quick. */
  bool (*await)(gather_reader *reader, int64_t nanoseconds);
  /* Fails with the reason of a slot whose result is GATHER_READ_FAILED. NULL: no result is. */
  gather_status (*fail)(const gather_reader *reader, int32_t slot, gather_error *error);
  /* Drops reads that were not submitted yet, and returns how many. Submitted ones must still be finished. */
  int32_t (*cancel)(gather_reader *reader);
  /* Fails if the system does not support it; NULL: always supported. */
  gather_status (*probe)(gather_error *error);
} gather_reader_engine;

struct gather_reader {
  const gather_reader_engine *engine;
  void *own; /* the engine's */
  gather_reader_plan plan;
  gather_slot *slots;
  int32_t slot_count;                   /* depth of each queue; any queue may use any slot */
  int32_t *free_slots;                  /* a stack */
  int32_t free_count;                   /* free slots */
  int32_t flying;                       /* reads begun and not finished */
  char *buffers;                        /* slot_bytes for each slot; NULL = none */
  bool buffers_private;                 /* not inherited by a child of fork() */
  int32_t *used;                        /* of each queue: reads begun and not released */
  const gather_table_source **refusing; /* of each queue: the last source whose direct_fd refused a read */
};

extern const gather_reader_engine gather_reader_map, gather_reader_pread, gather_reader_uring, gather_reader_http,
    gather_reader_overlapped;

/* Continues with pread until all needed bytes are read, on the calling thread; sets the result. */
void gather_slot_read(gather_slot *slot);
/* After a read of many blocks failed: reads them one by one, so that slot->done says which one fails. If none fails
 * now, the read succeeds. */
void gather_slot_locate(gather_slot *slot);
/* Handles the result of one system call, bytes or a negative errno: true = the result is set; false = more must be
 * read, from slot->done by slot->fd. The caller handles EINTR and EAGAIN. */
bool gather_slot_advance(gather_slot *slot, int64_t answer);

#endif
