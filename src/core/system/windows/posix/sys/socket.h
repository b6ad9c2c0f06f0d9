/* SPDX-License-Identifier: MIT
 *
 * socket.h: the families of addresses.
 */
#ifndef GATHER_POSIX_SYS_SOCKET_H
#define GATHER_POSIX_SYS_SOCKET_H

#define AF_INET 2
#define AF_INET6 23

#endif
