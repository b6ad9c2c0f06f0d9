/* SPDX-License-Identifier: MIT
 *
 * hdf5_chunks.h: datasets in chunks: what their messages say, and the index of their chunks, which is read when it is first asked for.
 */
#ifndef GATHER_FORMAT_HDF5_CHUNKS_H
#define GATHER_FORMAT_HDF5_CHUNKS_H

#include <pthread.h>

#include "io/format/chunks.h"
#include "io/format/hdf5/hdf5.h"

enum { GATHER_HDF5_MOST_RANK = 8 };

/* The numbers of indices in layout messages from version 4 on; before, there is the B-tree of version 1 alone. */
typedef enum gather_hdf5_index {
  GATHER_HDF5_BTREE_1 = 0,
  GATHER_HDF5_SINGLE = 1,
  GATHER_HDF5_IMPLICIT = 2,
  GATHER_HDF5_FIXED_ARRAY = 3,
  GATHER_HDF5_EXTENSIBLE_ARRAY = 4,
  GATHER_HDF5_BTREE_2 = 5
} gather_hdf5_index;

/* A chunk that is stored. */
typedef struct gather_hdf5_chunk {
  int64_t number, offset, bytes;
  uint32_t skipped;
} gather_hdf5_chunk;

/* The chunks of a dataset. */
typedef struct gather_hdf5_chunked {
  gather_chunks chunks;
  struct gather_hdf5_chunked *next; /* of the file */
  int64_t base, work;               /* as in gather_hdf5 */
  int32_t offset_bytes, length_bytes;
  gather_hdf5_index index;
  int64_t index_at;     /* position; -1: there are no chunks */
  int64_t single_bytes; /* of a single chunk with filters */
  uint32_t single_skipped;
  bool edges_plain;                    /* chunks that reach beyond the dataset have no filters */
  int32_t rank;                        /* of the dataspace: chunks are not divided along the dimensions of an element */
  int64_t most[GATHER_HDF5_MOST_RANK]; /* the maximal lengths; -1 = unlimited */
  pthread_mutex_t lock;                /* protects what follows */
  bool is_read;
  const gather_unreadable *why; /* it cannot be read */
  gather_hdf5_chunk *found;     /* sorted by number, on the heap */
  int64_t found_len, found_room;
  int64_t longest, all; /* bytes */
} gather_hdf5_chunked;

/* hdf5_chunks.c: describes a dataset in chunks, whose type and shape are known. space: its message, unshared. */
GATHER_CHECKED gather_status gather_hdf5_describe_chunks(gather_hdf5 *h, const gather_hdf5_dataset *dataset,
                                                         const gather_hdf5_message *space, gather_file_tensor *tensor);
/* hdf5_index.c: reads an index, and sorts what it has. */
GATHER_CHECKED gather_status gather_hdf5_read_index(gather_hdf5 *h, gather_hdf5_chunked *chunked);

#endif
