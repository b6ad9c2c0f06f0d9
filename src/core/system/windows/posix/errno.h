/* SPDX-License-Identifier: MIT
 *
 * errno.h: numbers that Windows lacks.
 */
#ifndef GATHER_POSIX_ERRNO_H
#define GATHER_POSIX_ERRNO_H
#pragma GCC system_header /* #include_next is not C11 */

#include_next <errno.h>

#define ESTALE 160
#define EDQUOT 161

#endif
