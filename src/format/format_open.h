/* SPDX-License-Identifier: MIT
 *
 * format_open.h: the steps of opening that the functions for known and for raw content share.
 */
#ifndef GATHER_FORMAT_OPEN_H
#define GATHER_FORMAT_OPEN_H

#include "format/format.h"

/* A file without content. gather_file_finish hands it over, or closes it if the status is not GATHER_OK. */
GATHER_CHECKED gather_status gather_file_make(const char *name, gather_file **file, gather_error *error);
GATHER_CHECKED gather_status gather_file_finish(gather_status status, gather_file *opened, gather_file **file);
GATHER_CHECKED gather_status gather_file_use_memory(gather_file *file, const void *memory, size_t bytes,
                                                    gather_error *error);

#endif
