/* SPDX-License-Identifier: MIT
 *
 * cache_size.h: how large a core's private cache is.
 */
#ifndef GATHER_SYSTEM_CACHE_SIZE_H
#define GATHER_SYSTEM_CACHE_SIZE_H

#include <stdint.h>

/* In bytes, as the system says, queried anew; 0 or less if it does not know. */
int64_t gather_cache_size(void);

#endif
