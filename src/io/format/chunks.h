/* SPDX-License-Identifier: MIT
 *
 * chunks.h: tensors that files store in chunks: boxes of one shape that lie side by side, each compressed on its own. A chunk at the end of
 * an axis may reach beyond it.
 */
#ifndef GATHER_FORMAT_CHUNKS_H
#define GATHER_FORMAT_CHUNKS_H

#include "io/filter/filter.h"
#include "io/format/format.h"

/* Chunks are at most so long, whatever a file says: no reader has use for longer ones. */
#define GATHER_CHUNK_BYTES_MAX (INT64_C(1) << 30)
/* And so many. */
#define GATHER_CHUNKS_MAX (INT64_C(1) << 31)

/* A file with chunks of a store that has many of them. */
typedef struct gather_chunk_file {
  int64_t number; /* from 0, below files_most */
  const char *path;
  gather_remote_object *object; /* on another machine; NULL = local */
  int64_t size;                 /* when it was looked at */
  int64_t folder_bytes;         /* links behind the first so many bytes of the path are not followed; -1: they are */
} gather_chunk_file;

/* Where a chunk is stored. */
typedef struct gather_chunk_place {
  int64_t offset;                /* in its file; -1 = it is not stored: all its elements are the fill value */
  int64_t bytes;                 /* as stored; without filters raw_bytes of gather_chunks */
  uint32_t skipped;              /* filters that were not applied: bit i is filter i */
  const gather_chunk_file *file; /* NULL = the tensor's file itself. Valid until the file is closed */
} gather_chunk_place;

/* A tensor in chunks. Chunks are numbered in row-major order of the grid. Made by a format, in the file's arena, and not changed by
 * readers. */
typedef struct gather_chunks gather_chunks;
struct gather_chunks {
  gather_file *file;
  const gather_map *map; /* of the tensor's file; what gather_chunk_place.offset counts in */
  int32_t rank;          /* of the tensor, at least 1 */
  int64_t shape[GATHER_MAX_RANK], chunk[GATHER_MAX_RANK], grid[GATHER_MAX_RANK];
  int64_t strides[GATHER_MAX_RANK]; /* in bytes, of an element in a chunk without filters */
  int64_t item_bytes;
  int64_t count;     /* of chunks */
  int64_t raw_bytes; /* of the longest without filters, at most GATHER_CHUNK_BYTES_MAX */
  gather_pipeline pipeline;
  const char *fill;   /* an element, in the byte order of the file; NULL = zero */
  int64_t files_most; /* how many gather_chunk_file there may be; 0: all chunks are in the tensor's file */
  int64_t head_bytes; /* that finding a chunk on another machine brings: they are in memory until the chunk is read; 0 = none */
  /* Finds chunks: places[i] is that of numbers[i], which ascend. Several threads may call it at once. A failure names the file; if it is
   * one chunk's, error->row is the first row of that chunk. */
  gather_status (*find)(const gather_chunks *chunks, const int64_t *numbers, int64_t count, gather_chunk_place *places,
                        gather_error *error);
  /* How many bytes the longest chunk has as stored, and all together, if `all` is not NULL; an upper bound for the former, and -1 for
   * the latter if that is not known without reading much. */
  gather_status (*sizes)(const gather_chunks *chunks, int64_t *longest, int64_t *all, gather_error *error);
  /* In a child of fork(): makes the format's locks anew, which a thread of the parent may have held. */
  void (*enter)(const gather_chunks *chunks);
  const void *from; /* the format's own, for these functions */
};

/* Sets grid, count and strides (row-major) from rank, shape, chunk and item_bytes, and raw_bytes: fails if they do not fit the limits above
 * (GATHER_UNSUPPORTED, or GATHER_FILE_MALFORMED for lengths below 1). name: of the tensor; at: byte of the file, for the message. */
GATHER_CHECKED gather_status gather_chunks_measure(gather_chunks *chunks, const char *name, int64_t at, gather_error *error);

/* How many chunks a row is in. */
GATHER_INLINE int64_t gather_chunks_across(const gather_chunks *chunks) {
  return chunks->grid[0] > 0 ? chunks->count / chunks->grid[0] : 0;
}

/* Which elements of the tensor a chunk has: along each dimension the first one, and how many. row_strides: in bytes, of a whole row. */
typedef struct gather_chunk_box {
  int64_t first[GATHER_MAX_RANK], len[GATHER_MAX_RANK], row_strides[GATHER_MAX_RANK];
} gather_chunk_box;
/* Returns the chunk's index along axis 0: its band. */
int64_t gather_chunk_box_find(const gather_chunks *chunks, int64_t number, gather_chunk_box *box);

/* Copies bytes [from, from + bytes) of a whole row, row-major, as far as the chunk of that box has them: the byte at `from` goes to out[0].
 * row: its number in the chunk's band. plain NULL: the fill value. */
void gather_chunks_copy(const gather_chunks *chunks, const gather_chunk_box *box, const gather_plain *plain, int64_t row, int64_t from,
                        int64_t bytes, char *out);

/* Whether a chunk has any of these bytes of the rows of its band. */
bool gather_chunks_has(const gather_chunks *chunks, int64_t number, int64_t from, int64_t bytes);

/* Fails for a chunk, with its rows, its place and why: `why` has the message of a filter. row: the first wanted one; -1: none. */
GATHER_CHECKED gather_status gather_chunks_blame(const gather_chunks *chunks, int64_t number, const gather_chunk_place *place, int64_t row,
                                                 const gather_error *why, gather_error *error);

/* Names a chunk at the end of a message, for what has a message of its own: a request that failed, an index that is damaged. */
void gather_chunks_name(const gather_chunks *chunks, int64_t number, gather_error *error);
/* The first row of a chunk. */
int64_t gather_chunks_first_row(const gather_chunks *chunks, int64_t number);

/* Says that a tensor's elements are in chunks: it has no data, gather_file_chunks_of finds them, and gather_file_tensor_check fails. */
GATHER_CHECKED gather_status gather_file_set_chunks(gather_file *file, const gather_chunks *chunks, gather_file_tensor *tensor,
                                                    gather_error *error);
/* NULL: the tensor is not in chunks. */
const gather_chunks *gather_file_chunks_of(const gather_file_tensor *tensor);

/* chunk_file.c: opens a local file with chunks; GATHER_FILE_NOT_FOUND if there is none. */
GATHER_CHECKED gather_status gather_chunk_file_open(const gather_chunk_file *file, int *fd, gather_error *error);
/* Reads bytes of it. */
GATHER_CHECKED gather_status gather_chunk_file_read(int fd, const gather_chunk_file *file, int64_t offset, int64_t bytes, void *target,
                                                    gather_error *error);
/* Reads the stored bytes of a chunk whose place has a file of its own. */
GATHER_CHECKED gather_status gather_chunk_read(const gather_chunk_place *place, void *stored, gather_error *error);

/* Reads chunks in files on other machines, several at once, at most so many bytes together as GATHER_CHUNKS_TOGETHER, or one longer chunk.
 * take: called for place i when its bytes are there, in any order, but for places without any; its failure ends the reads.
 * Of a failed read *failed is the place. */
#define GATHER_CHUNKS_TOGETHER (INT64_C(32) << 20)
typedef struct gather_chunk_taker {
  gather_status (*take)(void *context, int64_t i, const void *stored, gather_error *error);
  void *context;
} gather_chunk_taker;
GATHER_CHECKED gather_status gather_chunks_read_remote(gather_remote_client *client, const gather_chunk_place *places, int64_t count,
                                                       const gather_chunk_taker *taker, int64_t *failed, gather_error *error);
/* Of chunks on other machines that will not be read now: frees what finding them brought. */
void gather_chunks_forget(const gather_chunk_place *places, int64_t count);

/* Decodes the whole tensor into `elements`, row-major. For gather_file_find_whole. */
GATHER_CHECKED gather_status gather_chunks_load(const gather_chunks *chunks, char *elements, gather_error *error);

#endif
