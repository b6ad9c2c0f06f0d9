/* SPDX-License-Identifier: MIT
 *
 * struct.h: public structs that begin with their `size`, from programs built with an older or a newer header.
 */
#ifndef GATHER_BASE_STRUCT_H
#define GATHER_BASE_STRUCT_H

#include "gather/gather.h"

/* Completes a caller's struct. full: `bytes` bytes with the defaults; given: the caller's, which begins with its size;
 * NULL leaves the defaults. A shorter one sets the fields that it has. A longer one must be zero after the known
 * fields. name, init: "gather_options", "GATHER_OPTIONS_INIT", for messages. Returns GATHER_USAGE. */
GATHER_CHECKED gather_status gather_struct_read(void *full, size_t bytes, const void *given, const char *name, const char *init,
                                                gather_error *error);

#endif
