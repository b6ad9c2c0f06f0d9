/* SPDX-License-Identifier: MIT
 *
 * inet.h: addresses as numbers.
 */
#ifndef GATHER_POSIX_ARPA_INET_H
#define GATHER_POSIX_ARPA_INET_H

#include <posix_names.h>

int inet_pton(int family, const char *text, void *address) GATHER_POSIX(inet_pton);

#endif
