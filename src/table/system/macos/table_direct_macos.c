/* SPDX-License-Identifier: MIT
 *
 * table_direct_macos.c: reads past the page cache by F_NOCACHE. It holds for all descriptors that were made of one another, so the file
 * is opened a second time.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "table/system/table_direct.h"
#include "table/table_open_file.h"

static int check(int fd, const struct stat *first) {
  struct stat about;
  if (fstat(fd, &about) != 0) return errno;
  if (about.st_dev != first->st_dev || about.st_ino != first->st_ino)
    return ESTALE; /* the name now belongs to another file */
  gather_table_let_block(fd);
  return fcntl(fd, F_NOCACHE, 1) == -1 ? errno : 0;
}

void gather_table_source_open_direct(gather_table_source *source, const struct stat *first) {
  source->direct_fd = gather_table_open_file(source->path, 0);
  source->direct_errno = source->direct_fd < 0 ? errno : check(source->direct_fd, first);
  if (source->direct_errno == 0 || source->direct_fd < 0) return;
  (void)close(source->direct_fd);
  source->direct_fd = -1;
}
