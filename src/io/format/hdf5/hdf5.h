/* SPDX-License-Identifier: MIT
 *
 * hdf5.h: what the reader of HDF5 files shares. Terms are those of the "HDF5 File Format Specification", version 3: every object (group,
 * dataset, named datatype) has an object header, which is a list of messages. Positions (`at`) count from the first byte of the file,
 * addresses in the file from the end of its user block. Numbers are little-endian.
 */
#ifndef GATHER_FORMAT_HDF5_H
#define GATHER_FORMAT_HDF5_H

#include "core/base/error.h"
#include "io/format/format.h"
#include "io/format/map_remote.h"

/* A message of an object header: its data. */
typedef struct gather_hdf5_message {
  int64_t at, bytes; /* at 0 = absent */
  uint16_t type;
  bool shared; /* the data are the place of the message that is meant */
} gather_hdf5_message;

/* Types of messages. */
enum {
  GATHER_HDF5_DATASPACE = 0x01,
  GATHER_HDF5_LINK_INFO = 0x02,
  GATHER_HDF5_DATATYPE = 0x03,
  GATHER_HDF5_OLD_FILL = 0x04,
  GATHER_HDF5_FILL = 0x05,
  GATHER_HDF5_LINK = 0x06,
  GATHER_HDF5_EXTERNAL_FILES = 0x07,
  GATHER_HDF5_LAYOUT = 0x08,
  GATHER_HDF5_PIPELINE = 0x0b,
  GATHER_HDF5_CONTINUATION = 0x10,
  GATHER_HDF5_SYMBOL_TABLE = 0x11,
  GATHER_HDF5_LAST_TYPE = 0x1a
};

typedef struct gather_hdf5_messages {
  gather_hdf5_message *at; /* on the heap */
  int64_t len, room;
} gather_hdf5_messages;

/* The state of reading one file. */
typedef struct gather_hdf5 {
  gather_file *file;
  gather_error *error; /* of what is being read: the file, or one of its objects */
  int64_t base;        /* position of address 0 */
  int32_t offset_bytes, length_bytes;
  int64_t work; /* bytes of metadata that may still be read, those that are read again included */
  /* While groups of a remote file are listed, several at once: bytes that are not loaded are noted and not waited for. */
  bool is_noting, lacks;
  bool advises; /* of a local file, what will be needed soon is told to the system */
  gather_map_range *noted;
  int64_t noted_len, noted_room;
} gather_hdf5;

/* Fails and reports a byte of the file. */
#define GATHER_HDF5_WRONG(h, offset, ...) gather_fail_file((h)->error, GATHER_FILE_MALFORMED, (h)->file->name, offset, __VA_ARGS__)
#define GATHER_HDF5_REFUSE(h, offset, ...) gather_fail_file((h)->error, GATHER_UNSUPPORTED, (h)->file->name, offset, __VA_ARGS__)
#define GATHER_HDF5_NO_MEMORY(h) gather_fail_file((h)->error, GATHER_OUT_OF_MEMORY, (h)->file->name, -1, "out of memory for its contents")

/* ---- hdf5_header.c: bytes and object headers */

/* Makes bytes readable; fails if the file does not have them. what: for the message. */
GATHER_CHECKED gather_status gather_hdf5_need(gather_hdf5 *h, int64_t at, int64_t bytes, const char *what);
/* The same for a structure that begins with a signature of four bytes and, unless it is -1, a version. */
GATHER_CHECKED gather_status gather_hdf5_begins(gather_hdf5 *h, int64_t at, int64_t bytes, const char *signature, int version,
                                                const char *what);
/* A hint: bytes that will be needed soon, so that they are loaded with others. */
void gather_hdf5_expect(gather_hdf5 *h, int64_t at, int64_t bytes);
/* Checks the checksum (Jenkins's lookup3) that follows the bytes, all of which are readable. zero_at: position of four bytes that count as
 * zero, since they are the checksum; -1: none. */
GATHER_CHECKED gather_status gather_hdf5_verify(gather_hdf5 *h, int64_t at, int64_t bytes, int64_t zero_at, int64_t sum_at,
                                                const char *what);

/* Reads the fields of a structure one after the other, within [at, end), which is readable. */
typedef struct gather_hdf5_fields {
  gather_hdf5 *h;
  int64_t at, end;
  const char *what;
} gather_hdf5_fields;

GATHER_INLINE gather_hdf5_fields gather_hdf5_fields_of(gather_hdf5 *h, const gather_hdf5_message *message, const char *what) {
  return (gather_hdf5_fields){h, message->at, message->at + message->bytes, what};
}
/* The next number of 1 to 8 bytes; one field is passed over. */
GATHER_CHECKED gather_status gather_hdf5_take(gather_hdf5_fields *fields, int64_t bytes, uint64_t *value);
GATHER_CHECKED gather_status gather_hdf5_skip(gather_hdf5_fields *fields, int64_t bytes);
/* The next address, as a position in the file; -1 = undefined. */
GATHER_CHECKED gather_status gather_hdf5_take_address(gather_hdf5_fields *fields, int64_t *position);

/* Hints for the children of a node, of which so many bytes are needed: `count` addresses, with fields before and after each that are passed
 * over. */
void gather_hdf5_expect_children(gather_hdf5_fields fields, int64_t count, int64_t before, int64_t after, int64_t bytes);

/* Reads an object header, with its continuation blocks: the messages of the types above. The list keeps its memory for the next one. */
GATHER_CHECKED gather_status gather_hdf5_header(gather_hdf5 *h, int64_t at, gather_hdf5_messages *messages);
/* Replaces a shared message by the one in another object header that it means. */
GATHER_CHECKED gather_status gather_hdf5_unshare(gather_hdf5 *h, gather_hdf5_message *message);

/* ---- hdf5_dense.c: groups with many links */

/* Passes each link message of a group to `take`: the link info message says where they are, or that there are none. */
GATHER_CHECKED gather_status gather_hdf5_dense(gather_hdf5 *h, const gather_hdf5_message *message,
                                               gather_status (*take)(void *context, int64_t at, int64_t bytes), void *context);

/* ---- hdf5_names.c: the links of a group */

typedef enum gather_hdf5_link_kind { GATHER_HDF5_HARD, GATHER_HDF5_SOFT, GATHER_HDF5_OUTSIDE } gather_hdf5_link_kind;

typedef struct gather_hdf5_link {
  struct gather_hdf5_link *next;
  const char *name; /* UTF-8, not empty, without a slash */
  int64_t said_at;
  gather_hdf5_link_kind kind;
  int64_t header;   /* hard links: position of the object's header */
  const char *path; /* soft links: the path of the object; links to other files: the file; NULL for others */
} gather_hdf5_link;

/* Whether an object with these messages is a group. And its links, sorted by name, in the file's arena. */
bool gather_hdf5_is_group(const gather_hdf5_messages *messages);
GATHER_CHECKED gather_status gather_hdf5_links(gather_hdf5 *h, const gather_hdf5_messages *messages, const gather_hdf5_link ***links,
                                               int64_t *count);

/* ---- hdf5_type.c: a dataset as a tensor */

/* The messages of a dataset; at 0 = absent. */
typedef struct gather_hdf5_dataset {
  gather_hdf5_message space, type, layout, pipeline, external_files, fill, old_fill;
} gather_hdf5_dataset;

/* Sets type, shape, size and place of a tensor, which has its name. After a failure, what is known of them is set. */
GATHER_CHECKED gather_status gather_hdf5_describe(gather_hdf5 *h, const gather_hdf5_dataset *dataset, gather_file_tensor *tensor);

#endif
