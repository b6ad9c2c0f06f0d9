/* SPDX-License-Identifier: MIT
 *
 * dirent.h: the names in a folder, in UTF-8.
 */
#ifndef GATHER_POSIX_DIRENT_H
#define GATHER_POSIX_DIRENT_H

#include <posix_names.h>

struct dirent {
  char d_name[1024];
};
typedef struct gather_posix_folder DIR;

DIR *opendir(const char *path) GATHER_POSIX(opendir);
struct dirent *readdir(DIR *folder) GATHER_POSIX(readdir);
int closedir(DIR *folder) GATHER_POSIX(closedir);

#endif
