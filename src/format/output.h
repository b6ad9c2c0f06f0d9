/* SPDX-License-Identifier: MIT
 *
 * output.h: a file that appears whole or not at all, and writing to a descriptor. The only writing that asks the operating
 * system.
 */
#ifndef GATHER_FORMAT_OUTPUT_H
#define GATHER_FORMAT_OUTPUT_H

#include <sys/types.h>

#include "gather/file.h"

typedef struct gather_output {
  int fd;              /* of the new file; -1 */
  bool replace;        /* the target may be replaced */
  bool named;          /* the new file has the name `temporary`; else none */
  bool no_sync;        /* publishing does not wait for the disk */
  char *target;        /* the name that it gets */
  size_t folder_bytes; /* of the target: up to its last slash, that too */
  int folder;          /* the target's directory, to be synced; -1 = it cannot be read */
  char *temporary;     /* the name that it has meanwhile, where `named` */
  uint8_t *bytes;      /* its mapping; NULL */
  int64_t size;
  int64_t written,
      settled; /* parts: the bytes from the beginning that were written, and of them those that the disk has */
} gather_output;

#define GATHER_OUTPUT_NONE \
  { -1, false, false, false, NULL, 0, -1, NULL, NULL, 0, 0, 0 }

enum { GATHER_OUTPUT_NAME_BYTES = 64 };

/* Says whether a file of that name could be made, and makes nothing. */
GATHER_CHECKED gather_status gather_output_check(const char *path, bool replace, gather_error *error);
/* Makes an empty file in the target's folder, where the system can, without a name. One that replaces another has its permissions at
 * once. On failure nothing stays. */
GATHER_CHECKED gather_status gather_output_create(gather_output *output, const char *path, bool replace,
                                                  gather_error *error);
/* Reserves the file's size on the disk. */
GATHER_CHECKED gather_status gather_output_reserve(gather_output *output, int64_t size, gather_error *error);
/* Maps what was reserved for writing. */
GATHER_CHECKED gather_status gather_output_map(gather_output *output, gather_error *error);
/* Writes the next bytes of what was reserved, without a mapping. Of what was written at most about window_bytes (0 = any number) wait
 * in the page cache for the disk. */
GATHER_CHECKED gather_status gather_output_append(gather_output *output, const void *bytes, int64_t size,
                                                  int64_t window_bytes, gather_error *error);
/* Waits until the disk has the file, unless no_sync, gives it its name, and waits for that too. Whatever happens, gather_output_clear
 * must follow. */
GATHER_CHECKED gather_status gather_output_publish(gather_output *output, gather_error *error);
/* Removes the temporary file if it is still there and frees everything. */
void gather_output_clear(gather_output *output);

/* ---- output_name.c: each returns an errno, 0 = done */

/* Makes the file, and opens its directory. Where it has a name, that is output->temporary. */
int gather_output_open(gather_output *output, mode_t mode);
/* Gives it the target's name. EEXIST: another file has that and is kept. */
int gather_output_name(gather_output *output);
/* Waits until the disk has the bytes of the file; and the entries of the target's folder. */
int gather_output_sync(const gather_output *output);
int gather_output_sync_folder(const gather_output *output);

/* ---- descriptor.c */

/* Can something be written to the descriptor? */
GATHER_CHECKED gather_status gather_descriptor_check(int fd, gather_error *error);
/* Writes all bytes to a descriptor. */
GATHER_CHECKED gather_status gather_descriptor_write(int fd, const void *bytes, int64_t size, gather_error *error);

#endif
