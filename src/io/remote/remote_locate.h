/* SPDX-License-Identifier: MIT
 *
 * remote_locate.h: where the bytes of a URL are, and who is told to be asking.
 */
#ifndef GATHER_REMOTE_LOCATE_H
#define GATHER_REMOTE_LOCATE_H

#include "core/base/growing.h"
#include "io/remote/remote_options.h"
#include "io/remote/remote_url.h"

/* What proves to the server who asks. Sent only to the origin of `url`. */
typedef enum gather_remote_proof {
  GATHER_REMOTE_ANONYMOUS,
  GATHER_REMOTE_USER,   /* Authorization: Basic, with the URL's own user */
  GATHER_REMOTE_BEARER, /* Authorization: Bearer */
  GATHER_REMOTE_SIGNED  /* S3's signature of each request */
} gather_remote_proof;

struct gather_remote_origin;

/* A URL of any scheme, translated. gather_remote_place_clear frees what is not in the arena. */
typedef struct gather_remote_place {
  gather_remote_url url; /* of https or http: where to ask first */
  const char *name;      /* as the user wrote it, without user, query and fragment */
  gather_remote_proof proof;
  struct gather_remote_origin
      *origin; /* of s3:// and hf://, which knows what refusals mean; else NULL. name is its own then */
} gather_remote_place;

/* Translates a URL. Returns GATHER_UNSUPPORTED (a scheme that settings do not allow), GATHER_USAGE (no URL, or one that is malformed),
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_locate(const gather_remote_settings *settings, gather_arena *arena,
                                                  const char *text, gather_remote_place *place, gather_error *error);

/* Whether a URL names what can be listed; one that is malformed does not. NULL is no URL. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_find_folder(const char *url, bool *folder, gather_error *error);

/* Translates s3:// and hf://. */
GATHER_CHECKED gather_status gather_remote_locate_s3(const gather_remote_settings *settings, gather_arena *arena,
                                                     const char *text, gather_remote_place *place, gather_error *error);
GATHER_CHECKED gather_status gather_remote_locate_hub(const gather_remote_settings *settings, gather_arena *arena,
                                                      const char *text, gather_remote_place *place,
                                                      gather_error *error);

/* Names the commit that the hub's first answer is of, in the place of a branch or a tag: see gather_remote_origin_pin. */
GATHER_CHECKED gather_status gather_remote_place_pin(const gather_remote_settings *settings, gather_arena *arena,
                                                     gather_remote_place *place, const char *commit,
                                                     gather_error *error);
void gather_remote_place_clear(gather_remote_place *place);

/* The header lines that prove who asks, each "Name: value" and a zero byte, for one GET of `url`, which is of the origin of the
 * place. seconds: since 1970, for signatures. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_sign(const gather_remote_settings *settings,
                                                const gather_remote_place *place, const gather_remote_url *url,
                                                int64_t seconds, gather_growing *lines, gather_error *error);

#endif
