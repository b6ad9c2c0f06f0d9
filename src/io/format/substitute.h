/* SPDX-License-Identifier: MIT
 *
 * substitute.h: files that hold something in place of the file whose name they have: pointers, web pages, error answers.
 */
#ifndef GATHER_FORMAT_SUBSTITUTE_H
#define GATHER_FORMAT_SUBSTITUTE_H

#include "io/format/format.h"

enum { GATHER_SUBSTITUTE_TEXT = 480 };

/* Whether the first `size` bytes of a file of file_bytes are those of a substitute; up to 1 KiB is looked at. text: what it is, and what to
 * do. name: of the file, for advice. */
bool gather_substitute_is(const void *bytes, int64_t size, int64_t file_bytes, const char *name, bool is_url,
                          char *text, size_t text_bytes);
/* The same for a mapped file, of which little is read. False also if it cannot be read. */
bool gather_substitute_find(const gather_map *map, const char *name, bool is_url, char *text, size_t bytes);
/* Fails for a substitute (GATHER_UNSUPPORTED). */
GATHER_CHECKED gather_status gather_substitute_refuse(const gather_map *map, const char *name, bool is_url,
                                                      gather_error *error);
/* Appends to the error of a URL that could not be opened what to write instead, if it is the address of a page. */
void gather_substitute_advise(const char *url, gather_error *error);

#endif
