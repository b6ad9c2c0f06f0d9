/* SPDX-License-Identifier: MIT
 *
 * address_windows.c: reads addresses written as numbers, without the sockets of Windows, which a program would have to start first.
 */
#include <string.h>
#include <winsock2.h>

#include <in6addr.h>

/* Functions of ntdll, which not all headers have; an error is not 0. */
LONG NTAPI RtlIpv4StringToAddressA(PCSTR text, BOOLEAN strict, PCSTR *end, struct in_addr *address);
LONG NTAPI RtlIpv6StringToAddressA(PCSTR text, PCSTR *end, IN6_ADDR *address);

int gather_posix_inet_pton(int family, const char *text, void *address);

int gather_posix_inet_pton(int family, const char *text, void *address) {
  const char *end = text;
  IN6_ADDR six;
  struct in_addr four;
  if (family == AF_INET6) {
    if (RtlIpv6StringToAddressA(text, &end, &six) != 0 || *end) return 0;
    memcpy(address, &six, sizeof six);
    return 1;
  }
  if (RtlIpv4StringToAddressA(text, TRUE, &end, &four) != 0 || *end) return 0;
  memcpy(address, &four, sizeof four);
  return 1;
}
