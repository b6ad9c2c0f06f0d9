/* SPDX-License-Identifier: MIT
 *
 * origin.c: what a URL stands for, by the options of a client: the address that is asked, how that of S3 and of the Hugging Face hub is
 * spelt, and the headers that prove who asks.
 */
#include "io/remote/origin.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/struct.h"
#include "io/remote/remote_url.h"
#include "io/remote/signature.h"

#if !defined(GATHER_HAVE_CURL)
#define GATHER_HTTP_SCHEMES ""
#endif

/* ---- schemes and options */

static const struct {
  const char *name;
  gather_remote_scheme scheme;
} SCHEMES[] = {{"https", GATHER_REMOTE_HTTPS}, {"http", GATHER_REMOTE_HTTP}, {"s3", GATHER_REMOTE_S3}, {"hf", GATHER_REMOTE_HUB}};

bool gather_remote_is_url(const char *name) {
  for (size_t i = 0; name && i < sizeof SCHEMES / sizeof *SCHEMES; i++)
    if (gather_remote_has_scheme(name, SCHEMES[i].name)) return true;
  return false;
}

const char *gather_remote_schemes(void) { return GATHER_HTTP_SCHEMES; }

/* Returns GATHER_UNSUPPORTED if this build has not this scheme; the message says which it has. */
static gather_status check_build(const char *scheme, gather_error *error) {
  if (gather_remote_scheme_listed(GATHER_HTTP_SCHEMES, scheme)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "this build of libgather reads no %s:// URLs, but those of %s (CMake option GATHER_HTTP)",
                     scheme, GATHER_HTTP_SCHEMES[0] ? GATHER_HTTP_SCHEMES : "no scheme");
}

/* Returns GATHER_UNSUPPORTED if this build has not this scheme, or the settings do not allow it; the message says which are there. */
static gather_status check_allowed(const gather_remote_settings *settings, const char *scheme, gather_error *error) {
  const char *allowed = settings->given.schemes;
  GATHER_TRY(check_build(scheme, error));
  if (gather_remote_scheme_listed(allowed, scheme)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED, "%s:// URLs are not allowed here; those of %s are", scheme,
                     allowed[0] ? allowed : "no scheme");
}

/* Every scheme of a list must exist, and be in this build. */
static gather_status check_schemes(const char *list, gather_error *error) {
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    size_t length = strcspn(at, ",");
    const char *scheme = NULL;
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++)
      if (strlen(SCHEMES[i].name) == length && strncmp(SCHEMES[i].name, at, length) == 0) scheme = SCHEMES[i].name;
    if (!scheme)
      return gather_fail(error, GATHER_USAGE, "unknown scheme '%.*s' in remote.schemes; known are https, http, s3, hf", (int)length, at);
    GATHER_TRY(check_build(scheme, error));
  }
  return GATHER_OK;
}

static gather_status check_numbers(const gather_remote_options *o, gather_error *error) {
  if (o->connections < 0 || o->connections > 1024)
    return gather_fail(error, GATHER_USAGE, "remote.connections is %d, not 0 to 1024", (int)o->connections);
  if (!(o->try_seconds >= 0 && o->try_seconds <= 86400) || !(o->take_seconds >= 0 && o->take_seconds <= 86400))
    return gather_fail(error, GATHER_USAGE, "remote.try_seconds and take_seconds must be 0 to 86400");
  if (o->retries < -1 || o->retries > 100) return gather_fail(error, GATHER_USAGE, "remote.retries is %d, not -1 to 100", (int)o->retries);
  if (o->gap_bytes < -1) return gather_fail(error, GATHER_USAGE, "remote.gap_bytes is negative");
  if (o->whole_bytes < -1) return gather_fail(error, GATHER_USAGE, "remote.whole_bytes is negative");
  if (o->cache_bytes < 0) return gather_fail(error, GATHER_USAGE, "remote.cache_bytes is negative");
  return GATHER_OK;
}

static void use_defaults(gather_remote_options *o) {
  if (o->connections == 0) o->connections = 64;
  if (o->try_seconds == 0) o->try_seconds = 20;
  if (o->take_seconds == 0) o->take_seconds = 60;
  if (o->retries < 0) o->retries = 8;
  if (o->cache_bytes == 0) o->cache_bytes = (int64_t)1 << 30;
  if (o->whole_bytes == 0) o->whole_bytes = (int64_t)16 << 20;
  if (o->whole_bytes < 0) o->whole_bytes = 0;
}

/* No control characters: they would end a header line and begin another. */
static bool is_one_line(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) return false;
  return true;
}

static gather_status copy_texts(gather_remote_settings *settings, gather_error *error) {
  gather_remote_options *o = &settings->given;
  struct {
    const char **text, *otherwise;
  } texts[] = {{&o->schemes, GATHER_HTTP_SCHEMES},  {&o->cache_folder, ""}, {&o->bearer, ""}, {&o->endpoint, ""},
               {&o->region, "us-east-1"},           {&o->key_id, ""},       {&o->secret, ""}, {&o->session_token, ""},
               {&o->hub, "https://huggingface.co"}, {&o->authorities, ""}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *from = *texts[i].text && **texts[i].text ? *texts[i].text : texts[i].otherwise;
    *texts[i].text = gather_arena_text(&settings->arena, from, strlen(from));
    if (!*texts[i].text) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the options of URLs");
    if (!is_one_line(from)) return gather_fail(error, GATHER_USAGE, "an option of URLs has a control character");
  }
  return GATHER_OK;
}

gather_status gather_remote_settings_take(const gather_remote_options *options, gather_remote_settings *settings, gather_error *error) {
  static const gather_remote_options DEFAULTS = GATHER_REMOTE_OPTIONS_INIT;
  *settings = (gather_remote_settings){.given = DEFAULTS};
  GATHER_TRY(gather_struct_read(&settings->given, sizeof settings->given, options, "remote", "GATHER_REMOTE_OPTIONS_INIT", error));
  gather_status status = check_numbers(&settings->given, error);
  if (status == GATHER_OK) status = copy_texts(settings, error);
  if (status == GATHER_OK) status = check_schemes(settings->given.schemes, error);
  if (status != GATHER_OK) {
    gather_remote_settings_clear(settings);
    return status;
  }
  settings->copied = true;
  use_defaults(&settings->given);
  return GATHER_OK;
}

static void overwrite(const char *text) {
  volatile char *at = (volatile char *)(uintptr_t)text;
  while (*at) *at++ = '\0';
}

void gather_remote_settings_clear(gather_remote_settings *settings) {
  if (settings->copied) { /* else some are the caller's */
    overwrite(settings->given.bearer);
    overwrite(settings->given.secret);
    overwrite(settings->given.session_token);
  }
  gather_arena_clear(&settings->arena);
  *settings = (gather_remote_settings){0};
}

/* ---- texts */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* A copy on the heap, for gather_free; NULL if out of memory. */
static char *copy(const char *text, size_t bytes) {
  char *made = gather_alloc((int64_t)bytes + 1);
  if (made && bytes > 0) memcpy(made, text, bytes);
  return made;
}

static bool given(const char *text) { return text && text[0]; }

/* ---- the parts of "scheme://authority/path?query" */

/* Returns the end of an address's authority ("user@host:port"); *authority: its beginning. */
static const char *end_of_authority(const char *url, const char **authority) {
  const char *colon = strstr(url, "://");
  *authority = colon ? colon + 3 : url;
  return *authority + strcspn(*authority, "/?#");
}

/* Whether two addresses have the same scheme, host and port: credentials for one may go to the other. Default ports count as written. */
static bool same_host(const char *url, const char *other) {
  const char *authority, *other_authority;
  size_t bytes = (size_t)(end_of_authority(url, &authority) - url);
  if (bytes != (size_t)(end_of_authority(other, &other_authority) - other)) return false;
  for (size_t i = 0; i < bytes; i++)
    if (lower(url[i]) != lower(other[i])) return false;
  return authority > url && other_authority > other;
}

/* Whether text is "http://host" or "https://host", perhaps with a port and a path, and nothing else. */
static bool is_base(const char *text) {
  if (!gather_remote_has_scheme(text, "https") && !gather_remote_has_scheme(text, "http")) return false;
  const char *authority, *end = end_of_authority(text, &authority);
  if (end == authority) return false;
  for (const char *at = text; *at; at++)
    if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr("@?#\"<>\\^`{|}", *at)) return false;
  return true;
}

/* ---- the address of an object of S3
 *
 * A key is any bytes, and all of them are encoded: "a b" and "a%20b" are two keys, "//" and ".." are parts of a key like others, and so
 * are "?" and "#". */

enum { MOST_BUCKET = 255, MOST_KEY = 1024, MOST_REGION = 64 };

/* The characters that a host name or a signature's scope may have. */
static bool is_label(const char *text, size_t bytes, const char *others) {
  for (size_t i = 0; i < bytes; i++) {
    char c = text[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && !(c && strchr(others, c))) return false;
  }
  return bytes > 0;
}

static gather_status check_options(const gather_remote_options *options, gather_error *error) {
  const char *region = gather_s3_region(options);
  if (!is_label(region, strlen(region), "-_") || strlen(region) > MOST_REGION)
    return gather_fail(error, GATHER_USAGE, "invalid region of S3: letters, digits and '-', at most %d", MOST_REGION);
  if (given(options->endpoint) && !is_base(options->endpoint))
    return gather_fail(error, GATHER_USAGE, "invalid endpoint of S3: write https://HOST or https://HOST:PORT");
  if (given(options->key_id) != given(options->secret))
    return gather_fail(error, GATHER_USAGE, "credentials of S3 are a key id and a secret: the %s is missing",
                       given(options->key_id) ? "secret" : "key id");
  return GATHER_OK;
}

/* A bucket can be part of a host name if no certificate forbids it: those for *.s3.REGION.amazonaws.com cover one label. */
static bool in_host(const gather_remote_options *options, const char *bucket, size_t bytes) {
  bool plain = given(options->endpoint) && options->endpoint[4] == ':';
  return options->virtual_host && (plain || !memchr(bucket, '.', bytes)) && !memchr(bucket, '_', bytes);
}

static void add_base(const gather_remote_options *options, const char *bucket, size_t bytes, gather_growing *url) {
  const char *region = gather_s3_region(options);
  bool host = in_host(options, bucket, bytes);
  if (!given(options->endpoint)) {
    gather_growing_text(url, "https://");
    if (host) gather_growing_write(url, bucket, bytes), gather_growing_char(url, '.');
    gather_growing_print(url, "s3.%s.amazonaws.com%s", region, strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
  } else {
    const char *authority = strstr(options->endpoint, "://") + 3;
    size_t left = strlen(authority);
    while (left > 0 && authority[left - 1] == '/') left--;
    gather_growing_write(url, options->endpoint, (size_t)(authority - options->endpoint));
    if (host) gather_growing_write(url, bucket, bytes), gather_growing_char(url, '.');
    gather_growing_write(url, authority, left);
  }
  gather_growing_char(url, '/');
  if (!host) gather_percent_encode(url, bucket, bytes, false), gather_growing_char(url, '/');
}

/* Sets url, name and the parts of an origin whose scheme is set. text: after "s3://" or "hf://". */
static gather_status s3_address(const gather_remote_options *options, const char *text, gather_remote_origin *origin, gather_error *error) {
  size_t bucket = strcspn(text, "/");
  const char *key = text[bucket] ? text + bucket + 1 : "";
  if (!is_label(text, bucket, "-._") || bucket > MOST_BUCKET || text[0] == '.' || text[0] == '-')
    return gather_fail(error, GATHER_USAGE, "invalid bucket: write s3://BUCKET/KEY");
  if (strlen(key) > MOST_KEY)
    return gather_fail(error, GATHER_USAGE, "the key of an object of S3 has at most %d bytes, this one %zu", MOST_KEY, strlen(key));
  GATHER_TRY(check_options(options, error));
  gather_growing url = {0}, name = {0};
  add_base(options, text, bucket, &url);
  gather_percent_encode(&url, key, strlen(key), true);
  gather_growing_print(&name, "s3://%.*s/", (int)bucket, text);
  gather_growing_text(&name, key);
  origin->bucket = copy(text, bucket);
  origin->key = copy(key, strlen(key));
  gather_status status = gather_growing_finish(&url, "a URL", &origin->url, NULL, error);
  gather_status named = gather_growing_finish(&name, "a URL", &origin->name, NULL, error);
  if (status == GATHER_OK && named == GATHER_OK && origin->bucket && origin->key) return GATHER_OK;
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
}

/* ---- the address of a file of the Hugging Face hub, "hf://[datasets/|spaces/]OWNER/REPO[@REVISION]/FILE"
 *
 * The hub's resolve address redirects to storage, and names the commit that a branch or a tag is at (X-Repo-Commit). */

enum { MOST_TEXT = 4096, MOST_COMMIT = 64, LEAST_COMMIT = 40 };

static gather_status fail_name(gather_error *error) {
  return gather_fail(error, GATHER_USAGE,
                     "invalid name of a file of the hub: write hf://OWNER/REPO/FILE, hf://datasets/OWNER/REPO/FILE or "
                     "hf://OWNER/REPO@REVISION/FILE");
}

/* The bytes of the next part of a path; 0 if it is empty, "." or "..", also as "%2e": a server behind the hub may decode once more. */
static size_t part(const char *text, const char *until) {
  const size_t bytes = strcspn(text, until);
  size_t at = 0, dots = 0;
  for (; at < bytes; dots++) {
    const bool escaped = text[at] == '%' && bytes - at >= 3 && text[at + 1] == '2' && (text[at + 2] | 0x20) == 'e';
    if (text[at] != '.' && !escaped) return bytes;
    at += escaped ? 3 : 1;
  }
  return dots > 2 ? bytes : 0;
}

/* The bytes of a revision: up to the next "/", but those of pull requests and of the hub's own conversions have two more. */
static size_t revision_bytes(const char *text) {
  size_t bytes = strcspn(text, "/");
  if (strncmp(text, "refs/pr/", 8) == 0) return 8 + strcspn(text + 8, "/");
  if (strncmp(text, "refs/convert/", 13) == 0) return 13 + strcspn(text + 13, "/");
  return bytes;
}

/* No part of the path is empty, "." or "..": those name other files, or none. */
static bool good_path(const char *path) {
  while (*path) {
    size_t bytes = part(path, "/");
    if (bytes == 0) return false;
    path += bytes;
    if (*path == '/') path++; /* a folder's name ends with one */
  }
  return true;
}

/* Makes url and name from the parts. */
static gather_status spell(const gather_remote_options *options, gather_remote_origin *origin, gather_error *error) {
  const char *hub = given(options->hub) ? options->hub : "https://huggingface.co";
  size_t bytes = strlen(hub);
  while (bytes > 0 && hub[bytes - 1] == '/') bytes--;
  gather_growing url = {0}, name = {0};
  gather_growing_write(&url, hub, bytes);
  gather_growing_char(&url, '/');
  gather_percent_encode(&url, origin->repository, strlen(origin->repository), true);
  gather_growing_text(&url, "/resolve/");
  gather_percent_encode(&url, origin->revision, strlen(origin->revision), false);
  gather_growing_char(&url, '/');
  gather_percent_encode(&url, origin->path, strlen(origin->path), true);
  gather_growing_text(&name, "hf://");
  gather_growing_text(&name, origin->repository);
  if (strcmp(origin->revision, "main") != 0) {
    gather_growing_char(&name, '@');
    /* Read again, the name must give the same revision: a "/" in one that is not refs/... is encoded. */
    bool slash = revision_bytes(origin->revision) != strlen(origin->revision);
    gather_percent_encode(&name, origin->revision, strlen(origin->revision), !slash);
  }
  gather_growing_char(&name, '/');
  gather_growing_text(&name, origin->path);
  char *new_url = NULL, *new_name = NULL;
  gather_status status = gather_growing_finish(&url, "a URL", &new_url, NULL, error);
  gather_status named = gather_growing_finish(&name, "a URL", &new_name, NULL, error);
  if (status != GATHER_OK || named != GATHER_OK) {
    gather_free(new_url);
    gather_free(new_name);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  }
  gather_free(origin->url);
  gather_free(origin->name);
  origin->url = new_url;
  origin->name = new_name;
  return GATHER_OK;
}

/* The revision as bytes: "%2F" stands for a slash. Like a path it has no part that is empty, "." or "..", however that is written: the
 * address would be that of another file. */
static gather_status read_revision(const char *text, size_t bytes, gather_remote_origin *origin, gather_error *error) {
  gather_growing revision = {0};
  if (!gather_percent_decode(&revision, text, bytes, false) || revision.bytes == 0) {
    gather_growing_clear(&revision);
    return fail_name(error);
  }
  GATHER_TRY(gather_growing_finish(&revision, "a URL", &origin->revision, NULL, error));
  const size_t length = strlen(origin->revision);
  const bool good = length > 0 && is_one_line(origin->revision) && good_path(origin->revision) && origin->revision[length - 1] != '/' &&
                    !strchr(origin->revision, '\\');
  return good ? GATHER_OK : fail_name(error);
}

static gather_status hub_address(const gather_remote_options *options, const char *text, gather_remote_origin *origin,
                                 gather_error *error) {
  const char *at = text;
  if (strlen(text) > MOST_TEXT || !is_one_line(text)) return fail_name(error);
  if (given(options->hub) && !is_base(options->hub)) return gather_fail(error, GATHER_USAGE, "invalid hub: write https://HOST");
  if (strncmp(at, "datasets/", 9) == 0)
    at += 9;
  else if (strncmp(at, "spaces/", 7) == 0)
    at += 7;
  size_t owner = part(at, "/@");
  if (owner == 0 || at[owner] != '/') return fail_name(error);
  size_t repository = part(at + owner + 1, "/@");
  if (repository == 0) return fail_name(error);
  const char *end = at + owner + 1 + repository;
  origin->repository = copy(text, (size_t)(end - text));
  if (*end == '@') {
    size_t bytes = revision_bytes(end + 1);
    GATHER_TRY(read_revision(end + 1, bytes, origin, error));
    end += 1 + bytes;
  } else {
    origin->revision = copy("main", 4);
  }
  if (*end == '/') end++;
  if (!good_path(end)) return fail_name(error);
  origin->path = copy(end, strlen(end));
  if (!origin->repository || !origin->revision || !origin->path) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  return spell(options, origin, error);
}

static bool is_commit(const char *text) {
  size_t bytes = strspn(text, "0123456789abcdef");
  return text[bytes] == '\0' && bytes >= LEAST_COMMIT && bytes <= MOST_COMMIT;
}

/* Names the commit that the hub answered for, in place of its branch or tag: from now on name and url contain it, so that the other
 * files of a table, and a renewed address, are of the same commit. Does nothing for other origins. Returns GATHER_OUT_OF_MEMORY. */
static gather_status pin(gather_remote_origin *origin, const gather_remote_options *options, const char *commit, gather_error *error) {
  if (origin->scheme != GATHER_REMOTE_HUB || !is_commit(commit) || strcmp(origin->revision, commit) == 0) return GATHER_OK;
  char *pinned = copy(commit, strlen(commit)), *before = origin->revision;
  if (!pinned) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  origin->revision = pinned;
  gather_status status = spell(options, origin, error);
  if (status != GATHER_OK) origin->revision = before;
  gather_free(status == GATHER_OK ? before : pinned);
  return status;
}

/* ---- origins */

static gather_status plain_address(const char *url, gather_remote_origin *origin, gather_error *error) {
  const size_t bytes = strlen(url);
  origin->url = copy(url, bytes);
  origin->name = gather_alloc((int64_t)bytes + 1);
  if (!origin->url || !origin->name) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  gather_remote_url_shown(url, origin->name, bytes + 1);
  const char *authority, *end = end_of_authority(url, &authority);
  if (authority == end) return gather_fail(error, GATHER_USAGE, "%.200s: a URL without a host", origin->name);
  for (const char *at = url; *at; at++)
    if ((unsigned char)*at <= ' ' || *at == 0x7f)
      return gather_fail(error, GATHER_USAGE, "a URL has a space or a control character at byte %lld: write it as %%%02X",
                         (long long)(at - url), (unsigned)(unsigned char)*at);
  return GATHER_OK;
}

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

static gather_status resolve(const gather_remote_options *options, const char *url, gather_remote_origin *origin, gather_error *error) {
  for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
    if (!gather_remote_has_scheme(url, SCHEMES[i].name)) continue;
    const char *text = url + strlen(SCHEMES[i].name) + strlen("://");
    origin->scheme = SCHEMES[i].scheme;
    if (origin->scheme == GATHER_REMOTE_S3) return s3_address(options, text, origin, error);
    if (origin->scheme == GATHER_REMOTE_HUB) return hub_address(options, text, origin, error);
    return plain_address(url, origin, error);
  }
  return gather_fail(error, GATHER_USAGE, "not a URL: those begin with https://, http://, s3:// or hf://");
}

gather_status gather_remote_origin_create(const gather_remote_options *options, const char *url, gather_remote_origin **origin,
                                          gather_error *error) {
  gather_remote_origin *made = gather_alloc(sizeof *made);
  *origin = NULL;
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
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
  char *texts[] = {origin->url, origin->name, origin->bucket, origin->key, origin->repository, origin->revision, origin->path};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) gather_free(texts[i]);
  gather_free(origin);
}

/* ---- places */

/* Takes over the address of the origin in the form that libcurl gets, which is the one to sign. */
static gather_status take_address(gather_arena *arena, gather_remote_place *place, gather_error *error) {
  gather_remote_origin *origin = place->origin;
  place->name = origin->name; /* also where the rest fails: the one before it is freed */
  GATHER_TRY(gather_remote_url_parse(arena, origin->url, &place->url, error));
  char *url = copy(place->url.text, strlen(place->url.text));
  if (!url) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a URL");
  gather_free(origin->url);
  origin->url = url;
  return GATHER_OK;
}

/* A key signs each request; a token goes over TLS only, or within this machine. */
static gather_status locate_named(const gather_remote_settings *settings, gather_arena *arena, const char *text, gather_remote_place *place,
                                  gather_error *error) {
  GATHER_TRY(gather_remote_origin_create(&settings->given, text, &place->origin, error));
  gather_status status = take_address(arena, place, error);
  if (status != GATHER_OK) {
    gather_remote_origin_destroy(place->origin);
    place->origin = NULL;
    place->name = NULL;
    return status;
  }
  if (place->origin->scheme == GATHER_REMOTE_S3)
    place->proof = settings->given.key_id[0] ? GATHER_REMOTE_SIGNED : GATHER_REMOTE_ANONYMOUS;
  else if (settings->given.bearer[0] && (place->url.https || place->url.loopback))
    place->proof = GATHER_REMOTE_BEARER;
  return GATHER_OK;
}

/* A password is sent as the user wrote it; a token of the options over TLS only, or within this machine. */
static gather_status locate_http(const gather_remote_settings *settings, gather_arena *arena, const char *text, gather_remote_place *place,
                                 gather_error *error) {
  GATHER_TRY(gather_remote_url_parse(arena, text, &place->url, error));
  bool hidden = place->url.https || place->url.loopback;
  place->proof = place->url.user                       ? GATHER_REMOTE_USER
                 : settings->given.bearer[0] && hidden ? GATHER_REMOTE_BEARER
                                                       : GATHER_REMOTE_ANONYMOUS;
  return GATHER_OK;
}

static gather_status locate(const gather_remote_settings *settings, gather_arena *arena, const char *text, gather_remote_place *place,
                            gather_error *error) {
  for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
    if (!gather_remote_has_scheme(text, SCHEMES[i].name)) continue;
    GATHER_TRY(check_allowed(settings, SCHEMES[i].name, error));
    const bool named = SCHEMES[i].scheme == GATHER_REMOTE_S3 || SCHEMES[i].scheme == GATHER_REMOTE_HUB;
    return named ? locate_named(settings, arena, text, place, error) : locate_http(settings, arena, text, place, error);
  }
  return gather_fail(error, GATHER_USAGE, "not a URL of https, http, s3 or hf");
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

gather_status gather_remote_place_pin(const gather_remote_settings *settings, gather_arena *arena, gather_remote_place *place,
                                      const char *commit, gather_error *error) {
  if (!place->origin) return GATHER_OK;
  GATHER_TRY(pin(place->origin, &settings->given, commit, error));
  return take_address(arena, place, error);
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

/* ---- what proves who asks */

/* Appends the headers that a GET of `url` needs to be allowed, each "Name: value" and a zero byte; none if the host is not the one that
 * the credentials are for, so that it may be called for every address of a chain of redirects. seconds: the date, since 1970. The lines
 * are secrets: no message may contain them. growing->failed: out of memory. */
static void add_proof(const gather_remote_origin *origin, const gather_remote_options *options, const char *url, int64_t seconds,
                      gather_growing *growing) {
  if (!same_host(url, origin->url)) return;
  bool hub = origin->scheme == GATHER_REMOTE_HUB || origin->scheme == GATHER_REMOTE_HTTPS;
  if (hub && given(options->bearer)) {
    gather_growing_text(growing, "Authorization: Bearer ");
    gather_growing_text(growing, options->bearer);
    gather_growing_char(growing, '\0');
  }
  if (origin->scheme == GATHER_REMOTE_S3 && given(options->key_id) && given(options->secret))
    gather_sign_s3(options, gather_s3_region(options), url, seconds, growing);
}

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

gather_status gather_remote_sign(const gather_remote_settings *settings, const gather_remote_place *place, const gather_remote_url *url,
                                 int64_t seconds, gather_growing *lines, gather_error *error) {
  if (place->origin && place->proof != GATHER_REMOTE_ANONYMOUS) {
    add_proof(place->origin, &settings->given, url->text, seconds, lines);
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
