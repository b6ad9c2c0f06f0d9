/* SPDX-License-Identifier: MIT
 *
 * origin.c: URLs as given, the host that credentials are for, and the headers of a request.
 */
#include "io/remote/origin.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/signature.h"

static const struct {
  const char *prefix;
  gather_remote_scheme scheme;
} SCHEMES[] = {{"https://", GATHER_REMOTE_HTTPS},
               {"http://", GATHER_REMOTE_HTTP},
               {"s3://", GATHER_REMOTE_S3},
               {"hf://", GATHER_REMOTE_HUB}};

/* ---- http and https */

/* Without user, query and fragment. */
static gather_status plain_name(const char *url, gather_remote_origin *origin) {
  const char *authority, *end = gather_remote_authority(url, &authority);
  const char *host = authority;
  for (const char *at = authority; at < end; at++)
    if (*at == '@') host = at + 1;
  gather_growing name = {0};
  gather_growing_write(&name, url, (size_t)(authority - url));
  gather_growing_write(&name, host, strcspn(host, "?#"));
  return gather_growing_finish(&name, "a URL", &origin->name, NULL, NULL);
}

static gather_status plain_address(const char *url, gather_remote_origin *origin, gather_error *error) {
  origin->url = gather_remote_copy(url, strlen(url));
  if (!origin->url || plain_name(url, origin) != GATHER_OK)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a URL");
  const char *authority, *end = gather_remote_authority(url, &authority);
  if (authority == end) return gather_fail(error, GATHER_USAGE, "%.200s: a URL without a host", origin->name);
  for (const char *at = url; *at; at++)
    if ((unsigned char)*at <= ' ' || *at == 0x7f)
      return gather_fail(error, GATHER_USAGE,
                         "a URL has a space or a control character at byte %lld: write it as %%%02X",
                         (long long)(at - url), (unsigned)(unsigned char)*at);
  return GATHER_OK;
}

/* ---- creating */

/* They become headers: a line break would begin another one. */
static gather_status check_secrets(const gather_remote_options *options, gather_error *error) {
  const char *secrets[] = {options->bearer, options->key_id, options->session_token};
  static const char *const NAMES[] = {"token", "key id", "session token"};
  for (int i = 0; i < 3; i++)
    for (const char *at = secrets[i]; at && *at; at++)
      if ((unsigned char)*at <= ' ' || (unsigned char)*at > '~')
        return gather_fail(error, GATHER_USAGE, "the %s has a space or a control character", NAMES[i]);
  return GATHER_OK;
}

static gather_status resolve(const gather_remote_options *options, const char *url, gather_remote_origin *origin,
                             gather_error *error) {
  for (size_t i = 0; i < sizeof SCHEMES / sizeof SCHEMES[0]; i++) {
    if (!gather_remote_begins(url, SCHEMES[i].prefix)) continue;
    const char *text = url + strlen(SCHEMES[i].prefix);
    origin->scheme = SCHEMES[i].scheme;
    if (origin->scheme == GATHER_REMOTE_S3) return gather_s3_address(options, text, origin, error);
    if (origin->scheme == GATHER_REMOTE_HUB) return gather_hub_address(options, text, origin, error);
    return plain_address(url, origin, error);
  }
  return gather_fail(error, GATHER_USAGE, "not a URL: those begin with https://, http://, s3:// or hf://");
}

gather_status gather_remote_origin_create(const gather_remote_options *options, const char *url,
                                          gather_remote_origin **origin, gather_error *error) {
  gather_remote_origin *made = gather_alloc(sizeof *made);
  *origin = NULL;
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for a URL");
  gather_status status = check_secrets(options, error);
  if (status == GATHER_OK) status = resolve(options, url, made, error);
  if (status == GATHER_OK)
    *origin = made;
  else
    gather_remote_origin_destroy(made);
  return status;
}

void gather_remote_origin_destroy(gather_remote_origin *origin) {
  if (!origin) return;
  char *texts[] = {origin->url,        origin->name,     origin->bucket, origin->key,
                   origin->repository, origin->revision, origin->path};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) gather_free(texts[i]);
  gather_free(origin);
}

/* ---- the headers of a request */

static bool given(const char *text) { return text && text[0]; }

void gather_remote_origin_headers(const gather_remote_origin *origin, const gather_remote_options *options,
                                  const char *url, int64_t seconds, gather_growing *growing) {
  if (!gather_remote_same_host(url, origin->url)) return;
  bool hub = origin->scheme == GATHER_REMOTE_HUB || origin->scheme == GATHER_REMOTE_HTTPS;
  if (hub && given(options->bearer)) {
    gather_growing_text(growing, "Authorization: Bearer ");
    gather_growing_text(growing, options->bearer);
    gather_growing_char(growing, '\0');
  }
  if (origin->scheme == GATHER_REMOTE_S3 && given(options->key_id) && given(options->secret))
    gather_sign_s3(options, gather_s3_region(options), url, seconds, growing);
}
