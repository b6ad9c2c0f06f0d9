/* SPDX-License-Identifier: MIT
 *
 * remote_address.c: the addresses where clouds hand out credentials to whoever asks. Nobody's table is there, and a name or a redirect
 * that leads there is an attack.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "remote/remote_url.h"

static const unsigned char FOUR[4] = {169, 254, 169, 254};
static const unsigned char SIX[16] = {0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54};
static const unsigned char MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool gather_remote_is_metadata(const unsigned char *address, size_t bytes) {
  if (bytes == sizeof FOUR) return memcmp(address, FOUR, sizeof FOUR) == 0;
  if (bytes != sizeof SIX) return false;
  return memcmp(address, SIX, sizeof SIX) == 0 ||
         (memcmp(address, MAPPED, sizeof MAPPED) == 0 && memcmp(address + sizeof MAPPED, FOUR, sizeof FOUR) == 0);
}

bool gather_remote_names_metadata(const char *host) {
  unsigned char address[16];
  if (inet_pton(AF_INET, host, address) == 1) return gather_remote_is_metadata(address, 4);
  return inet_pton(AF_INET6, host, address) == 1 && gather_remote_is_metadata(address, 16);
}
