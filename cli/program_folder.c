/* SPDX-License-Identifier: MIT
 *
 * program_folder.c: where this program is, by Linux's /proc.
 */
#include "program_folder.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void gather_cli_program_folder(char *folder, size_t bytes) {
  ssize_t got = readlink("/proc/self/exe", folder, bytes - 1);
  folder[got > 0 ? got : 0] = '\0';
  char *slash = strrchr(folder, '/');
  folder[slash ? slash + 1 - folder : 0] = '\0';
}
