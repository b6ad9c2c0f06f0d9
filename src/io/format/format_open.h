/* SPDX-License-Identifier: MIT
 *
 * format_open.h: the steps of opening that the functions for known and for raw content share.
 */
#ifndef GATHER_FORMAT_OPEN_H
#define GATHER_FORMAT_OPEN_H

#include "io/format/format.h"

/* A file without content. gather_file_finish hands it over, or closes it if the status is not GATHER_OK. */
GATHER_CHECKED gather_status gather_file_make(const char *name, gather_file **file, gather_error *error);
GATHER_CHECKED gather_status gather_file_finish(gather_status status, gather_file *opened, gather_file **file);
/* Checks options, and fills in the defaults of fields that the caller does not know. NULL: the defaults. */
GATHER_CHECKED gather_status gather_file_options_read(const gather_file_options *given, gather_file_options *options,
                                                      gather_error *error);
/* Maps a path, or a URL if the options allow it. */
GATHER_CHECKED gather_status gather_file_use_path(gather_file *file, const char *path,
                                                  const gather_file_options *options, gather_error *error);
/* Maps a URL by a client, which gets one more owner. */
GATHER_CHECKED gather_status gather_file_use_client(gather_file *file, gather_remote_client *client, const char *url,
                                                    const gather_file_options *options, gather_error *error);
GATHER_CHECKED gather_status gather_file_use_memory(gather_file *file, const void *memory, size_t bytes,
                                                    gather_error *error);

/* gather_file_open_with of a URL by a client that the caller has, which gets one more owner: files of one table share its connections.
 * options->remote is ignored. */
GATHER_CHECKED gather_status gather_file_open_by(gather_remote_client *client, const char *url,
                                                 const gather_file_options *options, gather_file **file,
                                                 gather_error *error);
/* The same for raw bytes. raw->shape[0] may be -1: as many rows as there are after the offset. */
GATHER_CHECKED gather_status gather_file_open_raw_by(gather_remote_client *client, const char *url,
                                                     const gather_raw *raw, const gather_file_options *options,
                                                     gather_file **file, gather_error *error);
/* Opens a file whose bytes come from a source, which it owns, also on failure. For tests: no file beside it is opened. */
GATHER_CHECKED gather_status gather_file_from_source(const gather_map_source *source, const char *name,
                                                     gather_file **file, gather_error *error);

#endif
