/* SPDX-License-Identifier: MIT
 *
 * remote_url.h: the syntax of addresses: URLs taken apart and put together again in one strict form, so that libcurl cannot read another
 * host out of them than the one that was checked; percent-encoding; how near a host is.
 */
#ifndef GATHER_REMOTE_URL_H
#define GATHER_REMOTE_URL_H

#include "core/base/arena.h"
#include "core/base/growing.h"
#include "gather/gather.h"

/* No URL may be longer, nor a Location; signed ones have 1 to 4 KiB. */
enum { GATHER_REMOTE_URL_BYTES = 16384 };

/* A URL of https or http. The strings are in the arena. */
typedef struct gather_remote_url {
  const char *text;   /* scheme://host[:port]/path[?query]: what is asked for; without user and fragment */
  const char *name;   /* the same without the query: for messages */
  const char *origin; /* scheme://host:port in small letters: who gets credentials */
  const char *host;   /* without brackets */
  const char *user;   /* "user:password", decoded; NULL if there is none */
  bool https;
  bool loopback; /* the host is this machine: localhost, 127.0.0.0/8, ::1 */
} gather_remote_url;

/* Takes an absolute URL apart. Spaces and bytes above 126 of path and query are written as %XX; what a URL may not have (control
 * characters, a host of other characters than letters, digits, '.', '-' and '_') is refused. "." and ".." stay: keys of S3 may have
 * them. Returns GATHER_USAGE (the message has neither user nor query), GATHER_UNSUPPORTED (a scheme that is not http or https),
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_url_parse(gather_arena *arena, const char *text, gather_remote_url *url, gather_error *error);

/* The same for a reference beside a URL: "https://...", "//host/path", "/path", "name", "../name", "?query". A user of the base is not
 * taken over. */
GATHER_CHECKED gather_status gather_remote_url_resolve(gather_arena *arena, const gather_remote_url *base, const char *reference,
                                                       gather_remote_url *url, gather_error *error);

/* Copies what a message may show of any name: a URL without user, query and fragment; as much as fits, terminated. */
void gather_remote_url_shown(const char *text, char *shown, size_t bytes);

/* Whether text begins with "scheme://", in letters of either case. */
static inline bool gather_remote_has_scheme(const char *text, const char *scheme) {
  for (; *scheme; text++, scheme++)
    if ((*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text) != *scheme) return false;
  return text[0] == ':' && text[1] == '/' && text[2] == '/';
}

/* Percent-encoding (RFC 3986), as signatures of AWS want it. */

/* Appends text with every byte but A-Z a-z 0-9 - . _ ~ as "%XX"; "/" too, unless keep_slash. */
void gather_percent_encode(gather_growing *growing, const char *text, size_t bytes, bool keep_slash);

/* Appends text with "%XX" as bytes, and "+" as a space if plus. Returns false, with nothing useful appended, for a "%" without two
 * digits, and for "%00". */
bool gather_percent_decode(gather_growing *growing, const char *text, size_t bytes, bool plus);

/* How near an address is: a redirect never leads to a nearer one than those of the servers before it. */
typedef enum gather_remote_reach {
  GATHER_REMOTE_PUBLIC,
  GATHER_REMOTE_PRIVATE,    /* of a private or shared network: 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7, fec0::/10 */
  GATHER_REMOTE_LOOPBACK,   /* this machine: 127/8, 0/8, ::1, :: */
  GATHER_REMOTE_CREDENTIALS /* link-local, or one where clouds hand out credentials to whoever asks */
} gather_remote_reach;

/* How near an address is, in network byte order; an IPv6 address that embeds one of IPv4 is as near as the nearer of both. bytes: 4 or
 * 16; else GATHER_REMOTE_CREDENTIALS. */
gather_remote_reach gather_remote_reach_of(const unsigned char *address, size_t bytes);
/* The same for a host that is written as an address, also as "2852039166", "0xa9.0376.43518": false for a name. */
bool gather_remote_reach_named(const char *host, gather_remote_reach *reach);

#endif
