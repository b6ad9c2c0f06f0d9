/* SPDX-License-Identifier: MIT
 *
 * reader.h: reads blocks of files, many at a time. One reader serves one take at a time; each engine is one row of
 * engine.def and one file. Readers know files and bytes, not rows.
 */
#ifndef GATHER_TABLE_READER_H
#define GATHER_TABLE_READER_H

#include "core/base/compiler.h"
#include "gather/table.h"
#include "table/table_source.h"

/* One read: bytes [offset, offset + bytes) of a source. offset and bytes are multiples of the source's block_bytes,
 * so the end may be past the end of the file; at least the first `needed` bytes must exist. */
typedef struct gather_read {
  const gather_table_source *source;
  int64_t offset, bytes, needed;
  int64_t tag;      /* the caller's own */
  int64_t begun;    /* likewise */
  const char *data; /* set by gather_reader_finish: `needed` bytes or more, until gather_reader_release */
  int32_t slot;     /* the reader's own */
} gather_read;

typedef struct gather_reader gather_reader;

/* The parameters of a reader. */
typedef struct gather_reader_plan {
  gather_engine engine;                /* MMAP, PREAD, URING or HTTP */
  int32_t depth;                       /* reads in flight at most, of each queue; at least 1 */
  int64_t slot_bytes;                  /* the longest read, a multiple of 4096 */
  int32_t queues;                      /* one for each device, so that reads of a slow one do not hold up the others; 0 = 1 */
  struct gather_remote_client *client; /* HTTP: who sends the requests */
} gather_reader_plan;

/* Creates a reader: queues * depth * slot_bytes of buffers (none for MMAP), aligned to 4096, and what the engine needs
 * (threads, a ring). Returns GATHER_OUT_OF_MEMORY, GATHER_UNSUPPORTED (the system refuses the engine; the message
 * says why), GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_reader_create(const gather_reader_plan *plan, gather_reader **reader, gather_error *error);
/* Destroys it; no read may be in flight. NULL does nothing. */
void gather_reader_destroy(gather_reader *reader);
/* Abandons it in a child of fork(): frees what belongs to this process, and does not touch what the parent still
 * uses. */
void gather_reader_abandon(gather_reader *reader);

/* Begins a read in the queue of its source, which must have room. The structure is copied. Submission may be delayed until
 * gather_reader_finish, so that many reads go to the system in one call. Returns GATHER_IO_ERROR if the read cannot
 * even be submitted. */
GATHER_CHECKED gather_status gather_reader_begin(gather_reader *reader, const gather_read *read, gather_error *error);
/* Waits at most so long until gather_reader_finish would not wait: false if it still would. Engines whose reads are always quick do not
 * wait: true. */
bool gather_reader_await(gather_reader *reader, int64_t nanoseconds);
/* Waits until a read has completed (in any order), and returns it. A read must be in flight. Interrupted calls are
 * retried and short reads continued, so all needed bytes are present. On failure *read is set (without data) and the
 * status is GATHER_IO_ERROR: the error names the file and the byte, and *number is the errno, 0 if the file ends too
 * early. HTTP: the status and the error are those of the request, and *number is 0. */
GATHER_CHECKED gather_status gather_reader_finish(gather_reader *reader, gather_read *read, int *number, gather_error *error);
/* Releases a finished read (also a failed one): its data is no longer needed. */
void gather_reader_release(gather_reader *reader, const gather_read *read);
/* After a failure: waits for all reads in flight and releases them, ignoring their results. */
void gather_reader_drain(gather_reader *reader);

/* The engine for a table with files like these, and why it was chosen. asked: by the caller, perhaps GATHER_ENGINE_AUTO. remote: files on
 * other machines. Returns GATHER_USAGE if the engine asked for does not read such files. */
GATHER_CHECKED gather_status gather_engine_choose(gather_engine asked, bool remote, gather_engine *chosen, char *why, size_t why_bytes,
                                                  gather_error *error);

/* ---- for engines: a read occupies a slot from begin to release */

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

extern const gather_reader_engine gather_reader_map, gather_reader_pread, gather_reader_uring, gather_reader_http, gather_reader_overlapped;

/* Whether another read can begin in a queue: fewer than depth of its reads were begun and not released. */
GATHER_INLINE bool gather_reader_has_room(const gather_reader *reader, int32_t queue) { return reader->used[queue] < reader->plan.depth; }

/* The bytes it keeps resident: its buffers. */
GATHER_INLINE int64_t gather_reader_memory(const gather_reader *reader) {
  return reader->buffers ? reader->slot_count * reader->plan.slot_bytes : 0;
}

/* Continues with pread until all needed bytes are read, on the calling thread; sets the result. */
void gather_slot_read(gather_slot *slot);
/* Handles the result of one system call, bytes or a negative errno: true = the result is set; false = more must be
 * read, from slot->done by slot->fd. The caller handles EINTR and EAGAIN. */
bool gather_slot_advance(gather_slot *slot, int64_t answer);

#endif
