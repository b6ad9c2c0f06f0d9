/* SPDX-License-Identifier: MIT
 *
 * listing.h: the entries of a folder of a bucket or of a repository, as they are found.
 */
#ifndef GATHER_REMOTE_LISTING_H
#define GATHER_REMOTE_LISTING_H

#include "gather/remote.h"

/* Adds an entry. name: copied. Returns false if out of memory. */
bool gather_remote_listing_add(gather_remote_listing *listing, const char *name, size_t name_bytes, int64_t bytes,
                               bool folder);

#endif
