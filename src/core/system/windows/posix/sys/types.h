/* SPDX-License-Identifier: MIT
 *
 * sys/types.h: types of POSIX that Windows has under other names, or too narrow.
 */
#ifndef GATHER_POSIX_SYS_TYPES_H
#define GATHER_POSIX_SYS_TYPES_H
#pragma GCC system_header /* #include_next is not C11 */

#include <crtdefs.h>
#include_next <sys/types.h>

typedef long long off_t;
typedef unsigned mode_t;
typedef long long pid_t;
typedef unsigned uid_t, gid_t;
typedef unsigned long long dev_t, ino_t;

#endif
