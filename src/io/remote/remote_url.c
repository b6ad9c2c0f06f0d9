/* SPDX-License-Identifier: MIT
 *
 * remote_url.c: the syntax of addresses: URLs by RFC 3986, more strictly than it, percent-encoding, and how near a host is.
 *
 * Clouds hand out credentials at some addresses to whoever asks, and servers of a private network trust whoever reaches them: nobody's
 * table is at the first, and a redirect from elsewhere that leads to either is an attack.
 *
 * The addresses: RFC 1918, 3927, 4193, 4291, 6598, 6890; of clouds: 169.254.0.0/16 and fe80::/10 (link-local, most of them),
 * fd00:ec2::/32 (AWS), fd20:ce::/32 (Google), 100.100.100.200 (Alibaba), 168.63.129.16 (Azure), 192.0.0.192 (Oracle).
 */
#define _POSIX_C_SOURCE 200809L
#include "io/remote/remote_url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/error.h"
#include "core/base/growing.h"

/* ---- characters */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static int hex_value(char c) {
  c = lower(c);
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- percent-encoding */

static bool unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

void gather_percent_encode(gather_growing *growing, const char *text, size_t bytes, bool keep_slash) {
  static const char DIGITS[] = "0123456789ABCDEF";
  for (size_t i = 0; i < bytes; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (unreserved(text[i]) || (keep_slash && byte == '/')) {
      gather_growing_char(growing, text[i]);
    } else {
      char code[3] = {'%', DIGITS[byte >> 4], DIGITS[byte & 15]};
      gather_growing_write(growing, code, sizeof code);
    }
  }
}

bool gather_percent_decode(gather_growing *growing, const char *text, size_t bytes, bool plus) {
  for (size_t i = 0; i < bytes; i++) {
    if (text[i] != '%') {
      gather_growing_char(growing, plus && text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    if (bytes - i < 3) return false;
    int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return false;
    gather_growing_char(growing, (char)(high * 16 + low));
    i += 2;
  }
  return true;
}

/* ---- URLs */

typedef struct {
  const char *at;
  size_t bytes;
} piece;

/* A URL in its pieces; those that it lacks have no address. */
typedef struct {
  bool https;
  piece user, host, port, path, query;
  bool bracketed, relative;
} pieces;

/* ---- taking apart */

static gather_status wrong(gather_error *error, const char *what) { return gather_fail(error, GATHER_USAGE, "invalid URL: %s", what); }

static bool host_is_valid(const pieces *p) {
  for (size_t i = 0; i < p->host.bytes; i++) {
    char c = lower(p->host.at[i]);
    bool letter = c >= 'a' && c <= 'z';
    if (p->bracketed ? !(hex_value(c) >= 0 || c == ':' || c == '.') : !(letter || is_digit(c) || c == '-' || c == '.' || c == '_'))
      return false;
  }
  return p->host.bytes > 0 && p->host.bytes < 256;
}

static bool port_is_valid(const pieces *p) {
  long value = 0;
  for (size_t i = 0; i < p->port.bytes; i++) {
    if (!is_digit(p->port.at[i]) || i > 5) return false;
    value = value * 10 + (p->port.at[i] - '0');
  }
  return !p->port.at || p->port.bytes == 0 || (value > 0 && value < 65536);
}

/* user@host:port, up to `end`. */
static gather_status take_authority(const char *at, const char *end, pieces *p, gather_error *error) {
  for (const char *c = at; c < end; c++)
    if (*c == '@') p->user = (piece){at, (size_t)(c - at)};
  if (p->user.at) at = p->user.at + p->user.bytes + 1;
  const char *host_end = at;
  if (at < end && *at == '[') {
    p->bracketed = true;
    while (host_end < end && *host_end != ']') host_end++;
    if (host_end == end) return wrong(error, "its address has no closing ]");
    p->host = (piece){at + 1, (size_t)(host_end - at - 1)};
    host_end++;
  } else {
    while (host_end < end && *host_end != ':') host_end++;
    p->host = (piece){at, (size_t)(host_end - at)};
  }
  if (host_end < end && *host_end == ':') p->port = (piece){host_end + 1, (size_t)(end - host_end - 1)};
  if (!host_is_valid(p) || (host_end < end && *host_end != ':'))
    return wrong(error, "its host is empty or has characters other than letters, digits, '.', '-' and '_'");
  return port_is_valid(p) ? GATHER_OK : wrong(error, "its port is not a number from 1 to 65535");
}

static void take_path(const char *at, pieces *p) {
  size_t path = strcspn(at, "?#");
  p->path = (piece){at, path};
  if (at[path] == '?') p->query = (piece){at + path + 1, strcspn(at + path + 1, "#")};
}

static gather_status take_apart(const char *text, pieces *p, gather_error *error) {
  *p = (pieces){.https = gather_remote_has_scheme(text, "https")};
  if (!p->https && !gather_remote_has_scheme(text, "http"))
    return gather_fail(error, GATHER_UNSUPPORTED, "this URL is neither https nor http");
  if (strlen(text) > GATHER_REMOTE_URL_BYTES) return wrong(error, "it is longer than 16384 bytes");
  for (const char *c = text; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) return wrong(error, "it has a control character");
  const char *authority = strstr(text, "://") + 3, *end = authority + strcspn(authority, "/?#");
  GATHER_TRY(take_authority(authority, end, p, error));
  take_path(end, p);
  return GATHER_OK;
}

/* ---- putting together */

static void write_lower(gather_growing *to, piece from) {
  for (size_t i = 0; i < from.bytes; i++) gather_growing_char(to, lower(from.at[i]));
}

/* What neither path nor query may contain is escaped; escapes stay as they are. */
static void write_escaped(gather_growing *to, piece from) {
  for (size_t i = 0; i < from.bytes; i++) {
    unsigned char c = (unsigned char)from.at[i];
    if (c > 0x20 && c < 0x7f && !strchr("\"<>\\^`{|}", c))
      gather_growing_char(to, (char)c);
    else
      gather_growing_print(to, "%%%02X", c);
  }
}

/* "." and ".." are taken out of a path that begins with '/'. Returns how long it is then; it never gets longer. */
static size_t without_dots(char *path, size_t bytes) {
  size_t out = 0, at = 0;
  while (at < bytes) {
    size_t end = at + 1;
    while (end < bytes && path[end] != '/') end++;
    size_t name = end - at - 1;
    bool one = name == 1 && path[at + 1] == '.', two = name == 2 && path[at + 1] == '.' && path[at + 2] == '.';
    if (two)
      while (out > 0 && path[--out] != '/') {
      }
    if (!one && !two) {
      memmove(path + out, path + at, end - at);
      out += end - at;
    } else if (end == bytes) {
      path[out++] = '/';
    }
    at = end;
  }
  return out;
}

static long port_of(const pieces *p) {
  long value = 0;
  for (size_t i = 0; i < p->port.bytes; i++) value = value * 10 + (p->port.at[i] - '0');
  return value > 0 ? value : p->https ? 443 : 80;
}

static void write_start(gather_growing *to, const pieces *p, bool always_port) {
  gather_growing_text(to, p->https ? "https://" : "http://");
  if (p->bracketed) gather_growing_char(to, '[');
  write_lower(to, p->host);
  if (p->bracketed) gather_growing_char(to, ']');
  if (always_port || port_of(p) != (p->https ? 443 : 80)) gather_growing_print(to, ":%ld", port_of(p));
}

static void write_decoded(gather_growing *to, piece from) {
  for (size_t i = 0; i < from.bytes; i++) {
    int high = i + 2 < from.bytes && from.at[i] == '%' ? hex_value(from.at[i + 1]) : -1;
    int low = high >= 0 ? hex_value(from.at[i + 2]) : -1;
    gather_growing_char(to, low >= 0 ? (char)(high * 16 + low) : from.at[i]);
    if (low >= 0) i += 2;
  }
}

static const char *keep(gather_arena *arena, gather_growing *growing) {
  char *kept = growing->failed ? NULL : gather_arena_text(arena, growing->text ? growing->text : "", growing->bytes);
  gather_growing_clear(growing);
  return kept;
}

static bool is_loopback(const char *host) {
  return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
         (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

static gather_status put_together(gather_arena *arena, const pieces *p, gather_remote_url *url, gather_error *error) {
  gather_growing text = {0};
  write_start(&text, p, false);
  size_t start = text.bytes;
  if (p->path.bytes == 0 || p->path.at[0] != '/') gather_growing_char(&text, '/');
  write_escaped(&text, p->path);
  if (p->relative && !text.failed) text.bytes = start + without_dots(text.text + start, text.bytes - start);
  *url = (gather_remote_url){.https = p->https};
  if (!text.failed) url->name = gather_arena_text(arena, text.text, text.bytes);
  if (p->query.at) {
    gather_growing_char(&text, '?');
    write_escaped(&text, p->query);
  }
  url->text = keep(arena, &text);
  write_start(&text, p, true);
  url->origin = keep(arena, &text);
  write_lower(&text, p->host);
  url->host = keep(arena, &text);
  bool complete = url->name && url->text && url->origin && url->host;
  if (complete && p->user.at) {
    write_decoded(&text, p->user);
    url->user = keep(arena, &text);
    complete = url->user != NULL;
  }
  if (!complete) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  url->loopback = is_loopback(url->host);
  return GATHER_OK;
}

static gather_status parse(gather_arena *arena, const char *text, bool relative, gather_remote_url *url, gather_error *error) {
  pieces p;
  GATHER_TRY(take_apart(text, &p, error));
  p.relative = relative;
  return put_together(arena, &p, url, error);
}

gather_status gather_remote_url_parse(gather_arena *arena, const char *text, gather_remote_url *url, gather_error *error) {
  return parse(arena, text, false, url, error);
}

/* A reference that begins with "letters:". */
static bool is_absolute(const char *reference) {
  size_t letters = 0;
  while ((lower(reference[letters]) >= 'a' && lower(reference[letters]) <= 'z') ||
         (letters && (is_digit(reference[letters]) || strchr("+-.", reference[letters]) != NULL) && reference[letters]))
    letters++;
  return letters > 0 && reference[letters] == ':';
}

gather_status gather_remote_url_resolve(gather_arena *arena, const gather_remote_url *base, const char *reference, gather_remote_url *url,
                                        gather_error *error) {
  if (is_absolute(reference)) return gather_remote_url_parse(arena, reference, url, error);
  gather_growing whole = {0};
  const char *path = base->name + strlen(base->https ? "https://" : "http://");
  path += strcspn(path, "/");
  const char *end = strrchr(path, '/') + 1;
  if (strncmp(reference, "//", 2) == 0)
    end = base->name + (base->https ? 6 : 5);
  else if (reference[0] == '/')
    end = path;
  else if (reference[0] == '?' || reference[0] == '#' || reference[0] == '\0')
    end = base->name + strlen(base->name);
  gather_growing_write(&whole, base->name, (size_t)(end - base->name));
  gather_growing_text(&whole, reference);
  const char *text = keep(arena, &whole);
  if (!text) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  return parse(arena, text, true, url, error);
}

void gather_remote_url_shown(const char *text, char *shown, size_t bytes) {
  const char *start = strstr(text, "://");
  if (start && text + strcspn(text, "/?#") != start + 1) start = NULL; /* of another URL, in the query of this one */
  const char *at = start ? start + 3 : text;
  size_t authority = strcspn(at, "/?#");
  const char *user_end = at;
  for (const char *c = at; start && c < at + authority; c++)
    if (*c == '@') user_end = c + 1;
  size_t rest = strcspn(user_end, "?#");
  (void)snprintf(shown, bytes, "%.*s%.*s", (int)(at - text), text, (int)rest, user_end);
}

/* ---- how near an address is */

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
                {{0x20, 0x01, 0x00, 0x00}, 32, {12, 13, 14, 15}, 0xff},                /* Teredo, RFC 4380: the client */
                {{0x20, 0x01, 0x00, 0x00}, 32, {4, 5, 6, 7}, 0}};                      /* and its server */

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
  gather_remote_reach inner = is_isatap(address) ? find(FOUR, sizeof FOUR / sizeof *FOUR, address + 12) : GATHER_REMOTE_PUBLIC;
  return inner > nearest ? inner : nearest;
}

/* ---- hosts that are written as addresses */

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
  for (*number = 0; hex_value(*c) >= 0 && hex_value(*c) < base; c++) {
    *number = *number * (uint64_t)base + (uint64_t)hex_value(*c);
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
