/* SPDX-License-Identifier: MIT
 *
 * remote_named.c: places that URLs of s3:// and hf:// name, and what their servers' answers say about them.
 */
#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/origin.h"
#include "io/remote/remote_locate.h"

#include <string.h>

/* Takes over the address of the origin in the form that libcurl gets, which is the one to sign. */
static gather_status take_address(gather_arena *arena, gather_remote_place *place, gather_error *error) {
  gather_remote_origin *origin = place->origin;
  place->name = origin->name; /* also where the rest fails: the one before it is freed */
  GATHER_TRY(gather_remote_url_parse(arena, origin->url, &place->url, error));
  char *url = gather_remote_copy(place->url.text, strlen(place->url.text));
  if (!url) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  gather_free(origin->url);
  origin->url = url;
  return GATHER_OK;
}

static gather_status locate_named(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                  gather_remote_place *place, gather_error *error) {
  GATHER_TRY(gather_remote_origin_create(&settings->given, text, &place->origin, error));
  gather_status status = take_address(arena, place, error);
  if (status == GATHER_OK) return GATHER_OK;
  gather_remote_place_clear(place);
  return status;
}

gather_status gather_remote_locate_s3(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                      gather_remote_place *place, gather_error *error) {
  GATHER_TRY(locate_named(settings, arena, text, place, error));
  if (settings->given.key_id[0]) place->proof = GATHER_REMOTE_SIGNED;
  return GATHER_OK;
}

/* A token goes over TLS only, or within this machine. */
gather_status gather_remote_locate_hub(const gather_remote_settings *settings, gather_arena *arena, const char *text,
                                       gather_remote_place *place, gather_error *error) {
  GATHER_TRY(locate_named(settings, arena, text, place, error));
  if (settings->given.bearer[0] && (place->url.https || place->url.loopback)) place->proof = GATHER_REMOTE_BEARER;
  return GATHER_OK;
}

gather_status gather_remote_place_pin(const gather_remote_settings *settings, gather_arena *arena,
                                      gather_remote_place *place, const char *commit, gather_error *error) {
  if (!place->origin) return GATHER_OK;
  GATHER_TRY(gather_remote_origin_pin(place->origin, &settings->given, commit, error));
  return take_address(arena, place, error);
}

void gather_remote_place_clear(gather_remote_place *place) {
  gather_remote_origin_destroy(place->origin);
  place->origin = NULL;
  place->name = NULL;
}

gather_status gather_remote_find_folder(const char *url, bool *folder, gather_error *error) {
  static const gather_remote_options OPTIONS = GATHER_REMOTE_OPTIONS_INIT;
  gather_remote_origin *origin;
  *folder = false;
  if (!url || (!gather_remote_has_scheme(url, "s3") && !gather_remote_has_scheme(url, "hf"))) return GATHER_OK;
  const gather_status status = gather_remote_origin_create(&OPTIONS, url, &origin, error);
  if (status != GATHER_OK) return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
  const char *within = origin->scheme == GATHER_REMOTE_S3 ? origin->key : origin->path;
  size_t bytes = strlen(within);
  *folder = bytes == 0 || within[bytes - 1] == '/';
  gather_remote_origin_destroy(origin);
  return GATHER_OK;
}

bool gather_remote_is_folder(const char *url) {
  bool folder;
  return gather_remote_find_folder(url, &folder, NULL) == GATHER_OK && folder;
}
