/* SPDX-License-Identifier: MIT
 *
 * remote_url.c: URLs by RFC 3986, more strictly than it.
 */
#include "io/remote/remote_url.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/growing.h"

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

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static int hex_value(char c) {
  c = lower(c);
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool gather_remote_has_scheme(const char *text, const char *scheme) {
  size_t length = strlen(scheme);
  for (size_t i = 0; i < length; i++)
    if (lower(text[i]) != scheme[i]) return false;
  return strncmp(text + length, "://", 3) == 0;
}

/* ---- taking apart */

static gather_status wrong(gather_error *error, const char *what) {
  return gather_fail(error, GATHER_USAGE, "invalid URL: %s", what);
}

static bool host_is_valid(const pieces *p) {
  for (size_t i = 0; i < p->host.bytes; i++) {
    char c = lower(p->host.at[i]);
    bool letter = c >= 'a' && c <= 'z';
    if (p->bracketed ? !(hex_value(c) >= 0 || c == ':' || c == '.')
                     : !(letter || is_digit(c) || c == '-' || c == '.' || c == '_'))
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
    return gather_fail(error, GATHER_UNSUPPORTED, "this URL is neither of https nor of http");
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

static gather_status parse(gather_arena *arena, const char *text, bool relative, gather_remote_url *url,
                           gather_error *error) {
  pieces p;
  GATHER_TRY(take_apart(text, &p, error));
  p.relative = relative;
  return put_together(arena, &p, url, error);
}

gather_status gather_remote_url_parse(gather_arena *arena, const char *text, gather_remote_url *url,
                                      gather_error *error) {
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

gather_status gather_remote_url_resolve(gather_arena *arena, const gather_remote_url *base, const char *reference,
                                        gather_remote_url *url, gather_error *error) {
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
