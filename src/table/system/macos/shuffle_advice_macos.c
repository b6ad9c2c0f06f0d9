/* SPDX-License-Identifier: MIT
 *
 * shuffle_advice_macos.c: advice to the system, by the commands of fcntl() that macOS has for it.
 */
#include <fcntl.h>
#include <stdint.h>

#include "table/system/table_system.h"

/* One command announces less than 2 GiB. */
void gather_shuffle_read_ahead(int fd, int64_t size, int64_t offset) {
  enum { MOST = 1 << 30 };
  for (int64_t done = 0; done < size; done += MOST) {
    struct radvisory advice = {.ra_offset = (off_t)(offset + done), .ra_count = (int)(size - done < MOST ? size - done : MOST)};
    if (fcntl(fd, F_RDADVISE, &advice) == -1) return;
  }
}

void gather_shuffle_read_in_order(int fd) { (void)fcntl(fd, F_RDAHEAD, 1); }
