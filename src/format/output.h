/* SPDX-License-Identifier: MIT
 *
 * output.h: a file that appears whole or not at all, and writing to a descriptor. The only writing that asks the operating
 * system.
 */
#ifndef GATHER_FORMAT_OUTPUT_H
#define GATHER_FORMAT_OUTPUT_H

#include "gather/gather.h"

typedef struct gather_output {
  int fd;          /* of the temporary file; -1 */
  bool replace;    /* the target may be replaced */
  char *target;    /* the name that it gets */
  char *temporary; /* the name that it has; "" when the file is gone */
  uint8_t *bytes;  /* its mapping; NULL */
  int64_t size;
  int64_t written,
      settled; /* parts: the bytes from the beginning that were written, and of them those that the disk has */
} gather_output;

#define GATHER_OUTPUT_NONE \
  { -1, false, NULL, NULL, NULL, 0, 0, 0 }

/* Says whether a file of that name could be made, and makes nothing. */
GATHER_CHECKED gather_status gather_output_check(const char *path, bool replace, gather_error *error);
/* Makes an empty temporary file beside the target. On failure nothing stays. */
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
/* Gives the file its name. Whatever happens, gather_output_clear must follow. */
GATHER_CHECKED gather_status gather_output_publish(gather_output *output, gather_error *error);
/* Removes the temporary file if it is still there and frees everything. */
void gather_output_clear(gather_output *output);

/* Can something be written to the descriptor? */
GATHER_CHECKED gather_status gather_descriptor_check(int fd, gather_error *error);
/* Writes all bytes to a descriptor. */
GATHER_CHECKED gather_status gather_descriptor_write(int fd, const void *bytes, int64_t size, gather_error *error);

#endif
