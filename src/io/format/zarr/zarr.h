/* SPDX-License-Identifier: MIT
 *
 * zarr.h: what the files of this folder share. A store is a directory; an array in it is a description in JSON and files of chunks, of
 * version 3 also shards: files of many chunks with an index.
 * Sources: the specifications of Zarr 2 and 3 and of the codec sharding_indexed 1.0; what zarr-python 2.18 and 3.1 wrote.
 */
#ifndef GATHER_FORMAT_ZARR_H
#define GATHER_FORMAT_ZARR_H

#include "io/format/chunks.h"

#ifdef GATHER_HAVE_JANSSON

#include "io/format/safetensors/safetensors_json.h"

/* A file of chunks that was looked for: kept until the store is closed. */
typedef struct gather_zarr_kept {
  gather_chunk_file file;    /* gather_chunk_place points to it */
  bool is_known, is_missing; /* is_known: it was found, or that there is none; after a failure the next one who needs it looks again */
  int64_t at;                /* of a member of a zip file: where it begins in that */
  int64_t wanted;            /* a chunk in it, for messages */
  uint8_t *index;            /* of a shard: an offset and a length for each of its chunks */
} gather_zarr_kept;

/* What elements are, for their fill value. */
typedef struct gather_zarr_type {
  char kind; /* as in NumPy: b, i, u, f, c, S, U, V, and M for dates and times */
  gather_type type;
  int64_t item_bytes, unit_bytes; /* unit_bytes: of a number, or a character */
  bool big_endian;
} gather_zarr_type;

typedef struct gather_zarr_array {
  gather_chunks chunks;
  const struct gather_zarr_zip *zip; /* NULL: the store is a directory */
  bool is_remote;                    /* a directory whose files have URLs */
  const char *folder;                /* with its slash; in a zip file "" or from the root on */
  int64_t folder_bytes; /* of the store's, with its slash: links behind it are not followed if the options forbid it; -1: they are */
  int32_t key_rank;     /* 0 for a scalar, whose chunks have rank 1 */
  bool key_has_c;       /* keys begin with "c" */
  char separator;
  bool is_sharded;
  int64_t per_shard[GATHER_MAX_RANK], shards[GATHER_MAX_RANK]; /* chunks along each dimension of a shard, and shards of the array */
  int64_t in_shard;                                            /* chunks */
  bool index_at_start, index_has_sum;
  gather_zarr_type type;
  struct gather_zarr_store *store;
  /* By the number of a file, under the store's lock: a power of two, at most half full; on the heap. */
  gather_zarr_kept **kept;
  int64_t kept_len, kept_slots;
  struct gather_zarr_array *next;
} gather_zarr_array;

/* zarr_find.c: what is looked up while rows are read. */
typedef struct gather_zarr_store gather_zarr_store;
GATHER_CHECKED gather_status gather_zarr_store_create(gather_file *file, gather_zarr_store **store, gather_error *error);
/* Lets find look up the chunks of an array, which is described. */
void gather_zarr_store_add(gather_zarr_store *store, gather_zarr_array *array);

/* The bytes of a shard's index, which is to have them; entries are checked when they are looked up. */
GATHER_INLINE int64_t gather_zarr_index_bytes(const gather_zarr_array *array) { return 16 * array->in_shard + 4 * array->index_has_sum; }
/* The member of that name; NULL. */
const struct gather_zarr_entry *gather_zarr_zip_find(const struct gather_zarr_zip *zip, const char *name);
/* Where a chunk of a shard is: place->file is set. inside: its number in the shard. */
GATHER_CHECKED gather_status gather_zarr_index_place(const gather_zarr_array *array, const uint8_t *index, int64_t inside,
                                                     gather_chunk_place *place, gather_error *error);
/* Fails if the index's sum is wrong, or it has fewer bytes than it needs. at: its byte in the shard. */
GATHER_CHECKED gather_status gather_zarr_index_check(const gather_zarr_array *array, const uint8_t *index, int64_t bytes, const char *path,
                                                     int64_t at, gather_error *error);

/* zarr_json.c, zarr_array.c, zarr_codecs.c, zarr_fill.c: descriptions of arrays. */
typedef struct gather_zarr_reading {
  gather_json json;
  gather_zarr_array *array;
  gather_file_tensor *tensor; /* its name is set */
  gather_json_part at;        /* the value that is being read */
} gather_zarr_reading;

#define GATHER_ZARR_WRONG(r, ...) gather_fail_file((r)->json.error, GATHER_FILE_MALFORMED, (r)->json.name, (r)->at.at, __VA_ARGS__)
#define GATHER_ZARR_REFUSE(r, ...) gather_zarr_refuse(r, __VA_ARGS__)
/* Names the array, and says what can be done. */
GATHER_CHECKED gather_status gather_zarr_refuse(const gather_zarr_reading *r, const char *format, ...) GATHER_PRINTF(2, 3);

/* A member of an object that is wanted; part.end 0: the object has none. */
typedef struct gather_zarr_member {
  const char *name;
  gather_json_part part;
} gather_zarr_member;

/* Finds members; one that is there twice is an error. strict: others are refused, unless they say that they need not be understood. */
GATHER_CHECKED gather_status gather_zarr_members(gather_json *json, gather_json_part object, bool strict, gather_zarr_member *members,
                                                 int count);
/* Fails if it is too long, nested too deeply or no UTF-8. */
GATHER_CHECKED gather_status gather_zarr_check_text(gather_json *json, int64_t bytes);
/* Reads an array's description into array and tensor: an error is that of the array. Of what was read, the tensor has type and shape. */
GATHER_CHECKED gather_status gather_zarr_describe(gather_zarr_reading *r, int version, gather_json_part object);
/* Version 2, filters and compressor (NULL: none), and version 3: codecs. They set the pipeline, and version 3 the byte order, strides and
 * shards; strides and the lengths of chunks are those of chunks->chunk, which are shards' before. */
GATHER_CHECKED gather_status gather_zarr_filters(gather_zarr_reading *r, const json_t *filters, const json_t *compressor,
                                                 const char *dtype);
GATHER_CHECKED gather_status gather_zarr_codecs(gather_zarr_reading *r, const json_t *list);
/* A list of rank lengths, all at least `least`. what: its name for messages. */
GATHER_CHECKED gather_status gather_zarr_lengths(gather_zarr_reading *r, const json_t *list, const char *what, int64_t least,
                                                 int64_t *lengths);
/* The fill value at r->at. */
GATHER_CHECKED gather_status gather_zarr_fill(gather_zarr_reading *r);

#endif

/* A member of a zip file. */
typedef struct gather_zarr_entry {
  const char *name;
  int64_t at, bytes; /* in the file */
  const char *why;   /* it cannot be read; NULL: it can */
} gather_zarr_entry;

/* The members of a zip file, in the order of their names, each once. */
typedef struct gather_zarr_zip {
  const gather_zarr_entry *entries;
  int64_t len;
} gather_zarr_zip;

/* zarr.c: opens the store in a mapped zip file, whose list is kept as long as the file. */
GATHER_CHECKED gather_status gather_zarr_open_zip(gather_file *file, const gather_zarr_zip *zip, gather_error *error);
/* Whether a member of a zip file says that it is a store. */
bool gather_zarr_is_mark(const char *name);
/* Whether a directory is a store. */
bool gather_zarr_is_store(const char *path);
/* Whether a URL is that of a store: it has no query, a part of its path ends in .zarr, and it does not end in another extension. */
bool gather_zarr_is_url(const char *url);
/* Opens the store at a URL by a client, which gets one more owner. It has no list: its metadata are consolidated, or it is an array. */
GATHER_CHECKED gather_status gather_zarr_open_url(gather_file *file, gather_remote_client *client, const char *url, gather_error *error);
/* Opens the store whose path is the file's name. */
GATHER_CHECKED gather_status gather_zarr_open(gather_file *file, gather_error *error);

#endif
