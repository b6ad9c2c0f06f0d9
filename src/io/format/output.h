/* SPDX-License-Identifier: MIT
 *
 * output.h: a file that is written atomically, and writing to a descriptor. Of all writing, only this code calls the
 * operating system.
 */
#ifndef GATHER_FORMAT_OUTPUT_H
#define GATHER_FORMAT_OUTPUT_H

#include <sys/types.h>

#include "gather/file.h"

typedef struct gather_output {
  int fd;              /* of the new file; -1 */
  bool replace;        /* the target may be replaced */
  bool named;          /* the new file has the name `temporary`, else none */
  bool no_sync;        /* publishing does not sync to the disk */
  char *target;        /* its final name */
  size_t folder_bytes; /* of the target: up to and with its last slash */
  int folder;          /* the target's directory, to be synced; -1 = not readable */
  char *temporary;     /* its temporary name, if `named` */
  uint8_t *bytes;      /* its mapping; NULL */
  int64_t size;
  int64_t written, settled; /* parts: bytes written so far, and how many of them are on the disk */
} gather_output;

#define GATHER_OUTPUT_NONE \
  { -1, false, false, false, NULL, 0, -1, NULL, NULL, 0, 0, 0 }

enum { GATHER_OUTPUT_NAME_BYTES = 64 };

/* Fails if a file of that name could not be created; creates nothing. */
GATHER_CHECKED gather_status gather_output_check(const char *path, bool replace, gather_error *error);
/* Creates an empty file in the target's folder, without a name if the system can. If it replaces another file, it
 * gets that file's permissions at once. On failure nothing is left behind. */
GATHER_CHECKED gather_status gather_output_create(gather_output *output, const char *path, bool replace, gather_error *error);
/* Reserves the file's size on the disk; maps: and maps its bytes for writing. */
GATHER_CHECKED gather_status gather_output_reserve(gather_output *output, int64_t size, bool maps, gather_error *error);
/* Writes the next of the reserved bytes, without a mapping. At most about window_bytes (0 = any number) of dirty
 * bytes stay in the page cache. */
GATHER_CHECKED gather_status gather_output_append(gather_output *output, const void *bytes, int64_t size, int64_t window_bytes,
                                                  gather_error *error);
/* Syncs the file to the disk unless no_sync, gives it its name, and syncs that too. gather_output_clear must follow
 * in any case. */
GATHER_CHECKED gather_status gather_output_publish(gather_output *output, gather_error *error);
/* Removes the temporary file if it still exists and frees everything. */
void gather_output_clear(gather_output *output);

/* Gives the open file `fd`, which this process owns, the permissions of the file `path`. Returns GATHER_FILE_NOT_FOUND, GATHER_IO_ERROR. */
GATHER_CHECKED gather_status gather_permissions_copy(const char *path, int fd, gather_error *error);

/* ---- descriptors */

/* Fails if the descriptor is not writable. */
GATHER_CHECKED gather_status gather_descriptor_check(int fd, gather_error *error);
/* Writes all bytes to a descriptor. */
GATHER_CHECKED gather_status gather_descriptor_write(int fd, const void *bytes, int64_t size, gather_error *error);

#endif
