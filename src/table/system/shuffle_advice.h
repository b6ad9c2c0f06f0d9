/* SPDX-License-Identifier: MIT
 *
 * shuffle_advice.h: hints to the system about coming reads and memory use. It may ignore them.
 */
#ifndef GATHER_SHUFFLE_SHUFFLE_ADVICE_H
#define GATHER_SHUFFLE_SHUFFLE_ADVICE_H

#include <stdint.h>

/* Tells the system that these bytes will be read soon. */
void gather_shuffle_read_ahead(int fd, int64_t size, int64_t offset);
/* Tells the system that a file is read sequentially. */
void gather_shuffle_read_in_order(int fd);
/* Releases the memory of the pages of a read-only mapped file that are entirely in these bytes; they are read again on
 * access. */
void gather_shuffle_drop_pages(const void *memory, int64_t bytes);

#endif
