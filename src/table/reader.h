/* SPDX-License-Identifier: MIT
 *
 * reader.h: reads blocks of files, many at a time. One reader serves one take at a time; each engine is one row of
 * engine.def and one file. Readers know files and bytes, not rows.
 */
#ifndef GATHER_TABLE_READER_H
#define GATHER_TABLE_READER_H

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
  gather_engine engine; /* MMAP, PREAD, URING or HTTP */
  int32_t depth;        /* reads in flight at most, of each queue; at least 1 */
  int64_t slot_bytes;   /* the longest read, a multiple of 4096 */
  int32_t queues;       /* one for each device, so that reads of a slow one do not hold up the others; 0 = 1 */
  struct gather_remote_client *client; /* HTTP: who sends the requests */
} gather_reader_plan;

/* Creates a reader: queues * depth * slot_bytes of buffers (none for MMAP), aligned to 4096, and what the engine needs
 * (threads, a ring). Returns GATHER_OUT_OF_MEMORY, GATHER_UNSUPPORTED (the system refuses the engine; the message
 * says why), GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_reader_create(const gather_reader_plan *plan, gather_reader **reader,
                                                  gather_error *error);
/* Destroys it; no read may be in flight. NULL does nothing. */
void gather_reader_destroy(gather_reader *reader);
/* Abandons it in a child of fork(): frees what belongs to this process, and does not touch what the parent still
 * uses. */
void gather_reader_abandon(gather_reader *reader);
/* The bytes it keeps resident: its buffers. */
int64_t gather_reader_memory(const gather_reader *reader);

/* Whether another read can begin in a queue: fewer than depth of its reads were begun and not released. */
bool gather_reader_has_room(const gather_reader *reader, int32_t queue);
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
GATHER_CHECKED gather_status gather_reader_finish(gather_reader *reader, gather_read *read, int *number,
                                                  gather_error *error);
/* Releases a finished read (also a failed one): its data is no longer needed. */
void gather_reader_release(gather_reader *reader, const gather_read *read);
/* After a failure: waits for all reads in flight and releases them, ignoring their results. */
void gather_reader_drain(gather_reader *reader);

/* Fails if an engine does not work here: gather_engine_check. */
GATHER_CHECKED gather_status gather_reader_probe(gather_engine engine, gather_error *error);

#endif
