/* SPDX-License-Identifier: MIT
 *
 * sys/uio.h: nothing: Windows has no read that refuses to wait.
 */
#ifndef GATHER_POSIX_SYS_UIO_H
#define GATHER_POSIX_SYS_UIO_H

#include <sys/types.h>

#endif
