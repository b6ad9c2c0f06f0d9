/* SPDX-License-Identifier: MIT
 *
 * pages.h: large memory directly from the operating system, in whole pages.
 */
#ifndef GATHER_BASE_PAGES_H
#define GATHER_BASE_PAGES_H

#include <stdint.h>

/* `bytes` zeroed bytes, aligned to a page, that use no memory until they are written; NULL if out of memory or `bytes` is not positive. */
void *gather_pages_create(int64_t bytes);
/* Returns them to the system; bytes as given to gather_pages_create. pages may be NULL. */
void gather_pages_destroy(void *pages, int64_t bytes);

#endif
