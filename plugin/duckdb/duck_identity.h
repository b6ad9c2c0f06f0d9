/* SPDX-License-Identifier: MIT
 *
 * duck_identity.h: opening the table that SQL names, and noticing that its files have changed.
 */
#ifndef GATHER_PLUGIN_DUCK_IDENTITY_H
#define GATHER_PLUGIN_DUCK_IDENTITY_H

#include "duck_options.h"

/* A file as it was. */
typedef struct duck_file {
  char *path;
  uint64_t device, number;
  int64_t bytes, seconds, nanoseconds;
} duck_file;

/* The files of a table: the one that was named, and those that hold its rows. */
typedef struct duck_identity {
  duck_file *files;
  int32_t len;
} duck_identity;

/* Whether all files are still the same: device, number, size and time of modification. Of URLs none is remembered: their server refuses
 * ranges of another version. */
bool gather_duck_identity_holds(const duck_identity *identity);
void gather_duck_identity_free(duck_identity *identity);

/* Opens a tensor of a file ("": the only one, or FILE:TENSOR), decoded if options->decode and it is quantised. On failure the caller
 * frees the identity and closes the table, if there is one. */
gather_status gather_duck_open_table(const char *file, const char *tensor, const duck_options *options, gather_table **table,
                                     duck_identity *identity, gather_error *error);

/* Opens a file, or a URL with what the environment says about its server. */
gather_status gather_duck_open_file(const char *file, gather_file **opened, gather_error *error);

#endif
