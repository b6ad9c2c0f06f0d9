/* SPDX-License-Identifier: MIT
 *
 * hub_list.h: the hub's answer about a folder of a repository, and the address that asks for it. Pure: no network.
 */
#ifndef GATHER_REMOTE_HUB_LIST_H
#define GATHER_REMOTE_HUB_LIST_H

#include "io/remote/listing.h"
#include "io/remote/origin.h"

/* Appends the address of a listing of the origin's folder ("" = the whole repository's top), at most 1000 entries. */
void gather_hub_list_address(const gather_remote_origin *origin, const gather_remote_options *options,
                             gather_growing *address);

/* Adds the files and folders of an answer to a listing. Names are without the origin's folder. Returns GATHER_FILE_MALFORMED,
 * GATHER_OUT_OF_MEMORY, GATHER_UNSUPPORTED (a build without Jansson). */
GATHER_CHECKED gather_status gather_hub_list_read(const gather_remote_origin *origin, const char *body, size_t bytes,
                                                  gather_remote_listing *listing, gather_error *error);

#endif
