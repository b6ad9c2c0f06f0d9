/* SPDX-License-Identifier: MIT
 *
 * reader_engine.h: what an engine brings, and what all of them share. A read occupies a slot from its begin to its release.
 */
#ifndef GATHER_TABLE_READER_ENGINE_H
#define GATHER_TABLE_READER_ENGINE_H

#include "table/reader.h"

/* How a read ended; above 0 it is an errno. */
enum { GATHER_READ_FINE = 0, GATHER_READ_SHORT = -1 /* the file ends too early */ };

typedef enum gather_slot_state { GATHER_SLOT_FREE, GATHER_SLOT_READING, GATHER_SLOT_HELD } gather_slot_state;

typedef struct gather_slot {
  gather_read read;
  char *data;   /* where it is read to; for a mapping, where it lies */
  int64_t done; /* bytes that are there already */
  int fd;       /* read by this one */
  int result;
  bool refused; /* the system did not take a read past the page cache */
  gather_slot_state state;
} gather_slot;

typedef struct gather_reader_engine {
  bool buffers; /* reads into buffers */
  /* Sets reader->own. NULL: there is nothing to be made. */
  gather_status (*create)(gather_reader *reader, gather_error *error);
  void (*destroy)(gather_reader *reader);
  /* destroy in a child of fork(). */
  void (*abandon)(gather_reader *reader);
  gather_status (*begin)(gather_reader *reader, int32_t slot, gather_error *error);
  /* The slot of a read that has ended; its result is set. */
  int32_t (*finish)(gather_reader *reader);
  /* Forgets reads that have not gone to the system yet, and says how many. What has gone is still to be finished. */
  int32_t (*cancel)(gather_reader *reader);
  /* Whether the system has what it needs; NULL: it does. */
  gather_status (*probe)(gather_error *error);
} gather_reader_engine;

struct gather_reader {
  const gather_reader_engine *engine;
  void *own; /* the engine's */
  gather_reader_plan plan;
  gather_slot *slots;                  /* depth of them */
  int32_t *free_slots;                 /* a stack */
  int32_t free_count;                  /* slots that no read has */
  int32_t flying;                      /* reads that were begun and not finished */
  char *buffers;                       /* slot_bytes for each slot; NULL = none */
  bool buffers_private;                /* a child of fork() does not have them */
  const gather_table_source *refusing; /* the last one whose direct_fd did not take a read */
};

extern const gather_reader_engine gather_reader_map, gather_reader_pread, gather_reader_uring;

/* Reads on by pread until all that is needed is there, on the calling thread; sets the result. */
void gather_slot_read(gather_slot *slot);
/* A read of many blocks failed: reads them one by one, so that slot->done says which it is. Where none fails now, all is well. */
void gather_slot_locate(gather_slot *slot);
/* What an engine does with the answer of one system call, bytes or a negative errno: true = the result is set; false = there is more
 * to be read, from slot->done by slot->fd. EINTR and EAGAIN are the caller's matter. */
bool gather_slot_advance(gather_slot *slot, int64_t answer);

#endif
