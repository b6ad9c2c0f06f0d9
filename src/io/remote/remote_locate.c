/* SPDX-License-Identifier: MIT
 *
 * remote_locate.c: URLs of https and http, and which scheme goes where.
 */
#include "io/remote/remote_locate.h"

#include <string.h>

#include "core/base/error.h"
#include "io/remote/origin.h"

/* A password is sent as the user wrote it; a token of the options over TLS only, or within this machine. */
static gather_status locate_http(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                 gather_remote_place *place, gather_error *error) {
  GATHER_TRY(gather_remote_url_parse(arena, text, &place->url, error));
  bool hidden = place->url.https || place->url.loopback;
  place->proof = place->url.user                       ? GATHER_REMOTE_USER
                 : settings->given.bearer[0] && hidden ? GATHER_REMOTE_BEARER
                                                       : GATHER_REMOTE_ANONYMOUS;
  return GATHER_OK;
}

static gather_status locate(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                            gather_remote_place *place, gather_error *error) {
  static const struct {
    const char *scheme;
    gather_status (*locate)(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                            gather_remote_place *place, gather_error *error);
  } SCHEMES[] = {
      {"https", locate_http}, {"http", locate_http}, {"s3", gather_remote_locate_s3}, {"hf", gather_remote_locate_hub}};
  for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
    if (!gather_remote_has_scheme(text, SCHEMES[i].scheme)) continue;
    GATHER_TRY(gather_remote_scheme_check(SCHEMES[i].scheme, error));
    if (!gather_remote_scheme_listed(settings->given.schemes, SCHEMES[i].scheme))
      return gather_fail(error, GATHER_UNSUPPORTED, "%s:// URLs are not allowed here; those of %s are",
                         SCHEMES[i].scheme, settings->given.schemes[0] ? settings->given.schemes : "no scheme");
    return SCHEMES[i].locate(settings, arena, text, place, error);
  }
  return gather_fail(error, GATHER_USAGE, "no URL of https, http, s3 or hf");
}

gather_status gather_remote_locate(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                   gather_remote_place *place, gather_error *error) {
  *place = (gather_remote_place){.proof = GATHER_REMOTE_ANONYMOUS};
  GATHER_TRY(locate(settings, arena, text, place, error));
  if (place->origin) return GATHER_OK; /* its keys and paths may have a '?' */
  size_t length = strlen(text);
  char *name = gather_arena_take(arena, (int64_t)length + 1, 1);
  if (!name) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  gather_remote_url_shown(text, name, length + 1);
  place->name = name;
  return GATHER_OK;
}

/* ---- what proves who asks */

static void write_base64(gather_growing *to, const char *from) {
  static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t left = strlen(from);
  for (const unsigned char *at = (const unsigned char *)from; left > 0; at += 3) {
    size_t taken = left < 3 ? left : 3;
    uint32_t bits = (uint32_t)at[0] << 16 | (taken > 1 ? (uint32_t)at[1] << 8 : 0) | (taken > 2 ? at[2] : 0);
    for (size_t i = 0; i < 4; i++) gather_growing_char(to, i <= taken ? DIGITS[bits >> (18 - 6 * i) & 63] : '=');
    left -= taken;
  }
}

gather_status gather_remote_sign(const gather_remote_settings *settings, const gather_remote_place *place,
                                 const gather_remote_url *url, int64_t seconds, gather_growing *lines,
                                 gather_error *error) {
  if (place->origin && place->proof != GATHER_REMOTE_ANONYMOUS) {
    gather_remote_origin_headers(place->origin, &settings->given, url->text, seconds, lines);
  } else if (place->proof == GATHER_REMOTE_USER) {
    gather_growing_text(lines, "Authorization: Basic ");
    write_base64(lines, place->url.user);
    gather_growing_char(lines, '\0');
  } else if (place->proof == GATHER_REMOTE_BEARER) {
    gather_growing_print(lines, "Authorization: Bearer %s", settings->given.bearer);
    gather_growing_char(lines, '\0');
  }
  return lines->failed ? gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a request") : GATHER_OK;
}
