/* SPDX-License-Identifier: MIT
 *
 * reader.h: reading blocks of files, many at a time. One reader serves one take at a time; each engine is one row of
 * engine.def and one file. Whoever reads knows files and bytes, not rows.
 */
#ifndef GATHER_TABLE_READER_H
#define GATHER_TABLE_READER_H

#include "gather/table.h"
#include "table/table_source.h"

/* One read: bytes [offset, offset + bytes) of a source. offset is a multiple of the source's block_bytes, and so is bytes, so that
 * the end may lie behind the file's; at least the first `needed` bytes must be there. */
typedef struct gather_read {
  const gather_table_source *source;
  int64_t offset, bytes, needed;
  int64_t tag;      /* the caller's own */
  const char *data; /* set by gather_reader_finish: `needed` bytes or more, until gather_reader_release */
  int32_t slot;     /* the reader's own */
} gather_read;

typedef struct gather_reader gather_reader;

/* What a reader is made for. */
typedef struct gather_reader_plan {
  gather_engine engine; /* MMAP, PREAD or URING */
  int32_t depth;        /* reads in flight at most, at least 1 */
  int64_t slot_bytes;   /* the longest read, a multiple of 4096 */
} gather_reader_plan;

/* Makes a reader: depth * slot_bytes of buffers (none for MMAP), aligned to 4096, with what the engine needs besides (threads, a ring).
 * Returns GATHER_OUT_OF_MEMORY, GATHER_UNSUPPORTED (the system refuses the engine, with its words), GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_reader_create(const gather_reader_plan *plan, gather_reader **reader,
                                                  gather_error *error);
/* Ends it; nothing may be in flight. NULL does nothing. */
void gather_reader_destroy(gather_reader *reader);
/* Forgets it in a child of fork(): frees what is this process's, and touches nothing that is still the parent's. */
void gather_reader_abandon(gather_reader *reader);
/* The bytes it keeps resident: its buffers. */
int64_t gather_reader_memory(const gather_reader *reader);

/* Whether another read can begin: reads that were begun and not yet released are fewer than depth. */
bool gather_reader_has_room(const gather_reader *reader);
/* Begins a read; there is room. The structure is copied. It may be held back until gather_reader_finish, so that many go to the system
 * in one call. Returns GATHER_IO_ERROR where the system does not even take it. */
GATHER_CHECKED gather_status gather_reader_begin(gather_reader *reader, const gather_read *read, gather_error *error);
/* Waits until a read has ended (in any order), and gives it. Something is in flight. Interrupted calls are begun again, short reads
 * read on; so what comes has all that was needed. Else *read is set (its data is not) and the status is GATHER_IO_ERROR:
 * the error names the file and the byte, and *number is the errno, 0 where the file ends too early. */
GATHER_CHECKED gather_status gather_reader_finish(gather_reader *reader, gather_read *read, int *number,
                                                  gather_error *error);
/* The data of a finished read (also of one that failed) is no longer needed. */
void gather_reader_release(gather_reader *reader, const gather_read *read);
/* Waits for everything in flight and releases it, whatever comes of it: after a failure. */
void gather_reader_drain(gather_reader *reader);

/* Whether an engine works here: gather_engine_check. */
GATHER_CHECKED gather_status gather_reader_probe(gather_engine engine, gather_error *error);

#endif
