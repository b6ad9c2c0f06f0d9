/* SPDX-License-Identifier: MIT
 *
 * errno.h: numbers that Windows lacks.
 */
#ifndef GATHER_POSIX_ERRNO_H
#define GATHER_POSIX_ERRNO_H

#include_next <errno.h>

#define ESTALE 160
#define EDQUOT 161

#endif
