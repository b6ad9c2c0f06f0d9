/* SPDX-License-Identifier: MIT
 *
 * cache_size.c: how large a CPU's second cache is, as far as the C library knows.
 */
#include "core/system/cache_size.h"

#if defined(__unix__) || defined(_WIN32)
#include <unistd.h>
#endif

#if defined(_SC_LEVEL2_CACHE_SIZE)
int64_t gather_cache_size(void) { return sysconf(_SC_LEVEL2_CACHE_SIZE); }
#else
int64_t gather_cache_size(void) { return 0; }
#endif
