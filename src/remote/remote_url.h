/* SPDX-License-Identifier: MIT
 *
 * remote_url.h: URLs taken apart and put together again in one strict form, so that libcurl cannot read another host out of them than
 * the one that was checked.
 */
#ifndef GATHER_REMOTE_URL_H
#define GATHER_REMOTE_URL_H

#include "base/arena.h"
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
 * characters, a host of other characters than letters, digits, '.', '-' and '_') is refused. "." and ".." stay: keys of S3 may have them. Returns GATHER_USAGE (the message has
 * neither user nor query), GATHER_UNSUPPORTED (a scheme that is not http or https), GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_url_parse(gather_arena *arena, const char *text, gather_remote_url *url,
                                                     gather_error *error);

/* The same for a reference beside a URL: "https://...", "//host/path", "/path", "name", "../name", "?query". A user of the base is not
 * taken over. */
GATHER_CHECKED gather_status gather_remote_url_resolve(gather_arena *arena, const gather_remote_url *base,
                                                       const char *reference, gather_remote_url *url,
                                                       gather_error *error);

/* Copies what a message may show of any name: a URL without user, query and fragment; as much as fits, terminated. */
void gather_remote_url_shown(const char *text, char *shown, size_t bytes);

/* Whether text begins with "scheme://", in letters of either case. */
bool gather_remote_has_scheme(const char *text, const char *scheme);

/* Whether an address, in network byte order, is one where clouds hand out credentials (169.254.169.254, fd00:ec2::254, also written as
 * IPv6 ::ffff:169.254.169.254). bytes: 4 or 16. */
bool gather_remote_is_metadata(const unsigned char *address, size_t bytes);
/* Whether a host is written as such an address. */
bool gather_remote_names_metadata(const char *host);

#endif
