/* SPDX-License-Identifier: MIT
 *
 * table_direct_macos.c: reads past the page cache by F_NOCACHE. It holds for all descriptors that were made of one another, so the file
 * is opened a second time.
 */
#include <errno.h>
#include <fcntl.h>

#include "table/system/table_system.h"

int gather_direct_begin(gather_table_source *source) { return fcntl(source->direct_fd, F_NOCACHE, 1) == -1 ? errno : 0; }
