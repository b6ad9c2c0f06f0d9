/* SPDX-License-Identifier: MIT
 *
 * s3_list.h: one answer of S3's ListObjectsV2, and the address that asks for it. Pure: no network.
 */
#ifndef GATHER_REMOTE_S3_LIST_H
#define GATHER_REMOTE_S3_LIST_H

#include "io/remote/listing.h"
#include "io/remote/origin.h"

/* Appends the address of a listing of the objects whose keys begin with the origin's: at most `most` of them (1 to 1000), those with a
 * "/" after the prefix as one folder. token: where the last answer ended; "" = from the start. */
void gather_s3_list_address(const gather_remote_origin *origin, const char *token, int64_t most,
                            gather_growing *address);

/* Adds the objects and folders of an answer to a listing, and sets *token (on the heap, for gather_text_free) to where the next answer
 * begins; "" = it was the last. Names are without the origin's prefix. file: for errors. Returns GATHER_FILE_MALFORMED,
 * GATHER_OUT_OF_MEMORY, GATHER_UNSUPPORTED (a build without expat). */
GATHER_CHECKED gather_status gather_s3_list_read(const gather_remote_origin *origin, const char *body, size_t bytes,
                                                 gather_remote_listing *listing, char **token, gather_error *error);

#endif
