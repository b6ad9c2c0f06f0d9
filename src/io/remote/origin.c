/* SPDX-License-Identifier: MIT
 *
 * origin.c: URLs as given, the host that credentials are for, and the headers of a request.
 */
#include "io/remote/origin.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/remote/sigv4.h"

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

static void add_header(gather_growing *growing, const char *name, const char *value) {
  gather_growing_text(growing, name);
  gather_growing_text(growing, ": ");
  gather_growing_text(growing, value);
  gather_growing_char(growing, '\0');
}

static bool given(const char *text) { return text && text[0]; }

/* The host as curl sends it: without the scheme's own port. */
static void add_host(gather_growing *host, const char *url, const char *authority, const char *end) {
  bool secure = gather_remote_begins(url, "https://");
  const char *port = secure ? ":443" : ":80";
  size_t bytes = (size_t)(end - authority), own = strlen(port);
  if (bytes > own && memcmp(end - own, port, own) == 0) bytes -= own;
  for (size_t i = 0; i < bytes; i++) gather_growing_char(host, gather_remote_lower(authority[i]));
}

static void sign(const gather_remote_options *options, const char *url, int64_t seconds, gather_growing *growing) {
  const char *authority, *end = gather_remote_authority(url, &authority);
  gather_growing host = {0}, path = {0}, value = {0};
  char time[GATHER_SIGV4_TIME];
  size_t path_bytes = strcspn(end, "?#");
  add_host(&host, url, authority, end);
  gather_growing_write(&path, path_bytes ? end : "/", path_bytes ? path_bytes : 1);
  bool token = given(options->session_token);
  const gather_sigv4_header headers[] = {{"host", host.text},
                                         {"x-amz-content-sha256", GATHER_SIGV4_NO_BODY},
                                         {"x-amz-date", gather_sigv4_time(seconds, time)},
                                         {"x-amz-security-token", options->session_token}};
  const gather_sigv4 request = {.key_id = options->key_id,
                                .secret = options->secret,
                                .region = gather_s3_region(options),
                                .service = "s3",
                                .method = "GET",
                                .path = path.text,
                                .query = end[path_bytes] == '?' ? end + path_bytes + 1 : "",
                                .headers = headers,
                                .header_count = token ? 4 : 3,
                                .payload = GATHER_SIGV4_NO_BODY,
                                .time = time};
  bool made = !host.failed && !path.failed;
  if (made) gather_sigv4_authorization(&request, &value);
  if (!made || value.failed) {
    growing->failed = true;
  } else {
    add_header(growing, "Authorization", value.text);
    for (int i = 1; i < request.header_count; i++) add_header(growing, headers[i].name, headers[i].value);
  }
  gather_growing_clear(&host);
  gather_growing_clear(&path);
  gather_growing_clear(&value);
}

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
    sign(options, url, seconds, growing);
}
