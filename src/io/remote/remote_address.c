/* SPDX-License-Identifier: MIT
 *
 * remote_address.c: how near an address is. Clouds hand out credentials at some addresses to whoever asks, and servers of a private
 * network trust whoever reaches them: nobody's table is at the first, and a redirect from elsewhere that leads to either is an attack.
 *
 * The addresses: RFC 1918, 3927, 4193, 4291, 6598, 6890; of clouds: 169.254.0.0/16 and fe80::/10 (link-local, most of them),
 * fd00:ec2::/32 (AWS), fd20:ce::/32 (Google), 100.100.100.200 (Alibaba), 168.63.129.16 (Azure), 192.0.0.192 (Oracle).
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "io/remote/remote_url.h"

typedef struct {
  unsigned char first[16];
  int bits;
  gather_remote_reach reach;
} address_range;

static const address_range FOUR[] = {{{169, 254}, 16, GATHER_REMOTE_CREDENTIALS},
                                     {{100, 100, 100, 200}, 32, GATHER_REMOTE_CREDENTIALS},
                                     {{168, 63, 129, 16}, 32, GATHER_REMOTE_CREDENTIALS},
                                     {{192, 0, 0, 192}, 32, GATHER_REMOTE_CREDENTIALS},
                                     {{127}, 8, GATHER_REMOTE_LOOPBACK},
                                     {{0}, 8, GATHER_REMOTE_LOOPBACK},
                                     {{10}, 8, GATHER_REMOTE_PRIVATE},
                                     {{172, 16}, 12, GATHER_REMOTE_PRIVATE},
                                     {{192, 168}, 16, GATHER_REMOTE_PRIVATE},
                                     {{100, 64}, 10, GATHER_REMOTE_PRIVATE}};

static const address_range SIX[] = {{{0xfe, 0x80}, 10, GATHER_REMOTE_CREDENTIALS},
                                    {{0xfd, 0x00, 0x0e, 0xc2}, 32, GATHER_REMOTE_CREDENTIALS},
                                    {{0xfd, 0x20, 0x00, 0xce}, 32, GATHER_REMOTE_CREDENTIALS},
                                    {{0}, 127, GATHER_REMOTE_LOOPBACK}, /* :: and ::1 */
                                    {{0xfc}, 7, GATHER_REMOTE_PRIVATE},
                                    {{0xfe, 0xc0}, 10, GATHER_REMOTE_PRIVATE}};

/* Where IPv6 addresses of a prefix have one of IPv4: its four bytes begin at `at`; inverted in Teredo's. Bytes 64 to 71 of RFC 6052's
 * shorter prefixes are zero, so 64:ff9b:1::/48 has it in two pieces, or at the end. */
static const struct {
  unsigned char prefix[16];
  int bits;
  unsigned char at[4], inverted;
} EMBEDDED[] = {{{0}, 96, {12, 13, 14, 15}, 0},                                        /* ::a.b.c.d */
                {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, {12, 13, 14, 15}, 0}, /* ::ffff:a.b.c.d */
                {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, {12, 13, 14, 15}, 0},       /* ::ffff:0:a.b.c.d, RFC 2765 */
                {{0x00, 0x64, 0xff, 0x9b}, 96, {12, 13, 14, 15}, 0},                   /* NAT64, RFC 6052 */
                {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, {12, 13, 14, 15}, 0},       /* NAT64, RFC 8215, as a /96 */
                {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, {6, 7, 9, 10}, 0},          /* and as a /48 */
                {{0x20, 0x02}, 16, {2, 3, 4, 5}, 0},                                   /* 6to4, RFC 3056 */
                {{0x20, 0x01, 0x00, 0x00}, 32, {12, 13, 14, 15}, 0xff}, /* Teredo, RFC 4380: the client */
                {{0x20, 0x01, 0x00, 0x00}, 32, {4, 5, 6, 7}, 0}};       /* and its server */

static bool begins(const unsigned char *address, const unsigned char *prefix, int bits) {
  if (memcmp(address, prefix, (size_t)(bits / 8)) != 0) return false;
  return bits % 8 == 0 || (address[bits / 8] ^ prefix[bits / 8]) >> (8 - bits % 8) == 0;
}

static gather_remote_reach find(const address_range *ranges, size_t count, const unsigned char *address) {
  for (size_t i = 0; i < count; i++)
    if (begins(address, ranges[i].first, ranges[i].bits)) return ranges[i].reach;
  return GATHER_REMOTE_PUBLIC;
}

/* ISATAP (RFC 5214): any prefix, and an interface id of 0:5efe or 200:5efe before the four bytes. */
static bool is_isatap(const unsigned char *address) {
  return (address[8] & 0xfd) == 0 && address[9] == 0 && address[10] == 0x5e && address[11] == 0xfe;
}

gather_remote_reach gather_remote_reach_of(const unsigned char *address, size_t bytes) {
  if (bytes == 4) return find(FOUR, sizeof FOUR / sizeof *FOUR, address);
  if (bytes != 16) return GATHER_REMOTE_CREDENTIALS;
  gather_remote_reach nearest = find(SIX, sizeof SIX / sizeof *SIX, address);
  for (size_t i = 0; i < sizeof EMBEDDED / sizeof *EMBEDDED; i++) {
    unsigned char four[4];
    if (!begins(address, EMBEDDED[i].prefix, EMBEDDED[i].bits)) continue;
    for (int j = 0; j < 4; j++) four[j] = address[EMBEDDED[i].at[j]] ^ EMBEDDED[i].inverted;
    gather_remote_reach inner = find(FOUR, sizeof FOUR / sizeof *FOUR, four);
    if (inner > nearest) nearest = inner;
  }
  gather_remote_reach inner =
      is_isatap(address) ? find(FOUR, sizeof FOUR / sizeof *FOUR, address + 12) : GATHER_REMOTE_PUBLIC;
  return inner > nearest ? inner : nearest;
}

/* ---- hosts that are written as addresses */

static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : 99;
}

/* A number as C writes it: decimal, octal behind a 0, hexadecimal behind 0x. Below 2^32. */
static bool take_number(const char **at, uint64_t *number) {
  int base = 10;
  const char *c = *at;
  if (c[0] == '0' && (c[1] == 'x' || c[1] == 'X')) {
    base = 16;
    c += 2;
  } else if (c[0] == '0') {
    base = 8;
  }
  const char *begin = c;
  for (*number = 0; digit_of(*c) < base; c++) {
    *number = *number * (uint64_t)base + (uint64_t)digit_of(*c);
    if (*number > UINT32_MAX) return false;
  }
  *at = c;
  return c > begin;
}

/* IPv4 as inet_aton reads it, and libcurl: "a", "a.b", "a.b.c" and "a.b.c.d", whose last number has the bytes that are left; a dot at the
 * end is the root of names. */
static bool take_four(const char *host, unsigned char address[4]) {
  uint64_t value = 0, number;
  for (int parts = 0; parts < 4; parts++) {
    if (!take_number(&host, &number)) return false;
    if (*host == '.' && host[1]) {
      if (number > 255 || parts == 3) return false;
      value |= number << (24 - 8 * parts);
      host++;
      continue;
    }
    if ((*host && *host != '.') || number >> (32 - 8 * parts)) return false;
    value |= number;
    for (int i = 0; i < 4; i++) address[i] = (unsigned char)(value >> (24 - 8 * i));
    return true;
  }
  return false;
}

bool gather_remote_reach_named(const char *host, gather_remote_reach *reach) {
  unsigned char address[16];
  size_t bytes = take_four(host, address) ? 4 : inet_pton(AF_INET6, host, address) == 1 ? 16 : 0;
  if (bytes) *reach = gather_remote_reach_of(address, bytes);
  return bytes != 0;
}
