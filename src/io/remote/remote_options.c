/* SPDX-License-Identifier: MIT
 *
 * remote_options.c: what URLs there are, and the options of those who read them.
 */
#include "io/remote/origin.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/struct.h"

#if !defined(GATHER_HAVE_CURL)
#define GATHER_HTTP_SCHEMES ""
#endif

static const char *const SCHEMES[] = {"https", "http", "s3", "hf"};

bool gather_remote_is_url(const char *name) {
  for (size_t i = 0; name && i < sizeof SCHEMES / sizeof *SCHEMES; i++)
    if (gather_remote_has_scheme(name, SCHEMES[i])) return true;
  return false;
}

const char *gather_remote_schemes(void) { return GATHER_HTTP_SCHEMES; }

/* Returns GATHER_UNSUPPORTED if this build has not this scheme; the message says which it has. */
static gather_status check_build(const char *scheme, gather_error *error) {
  if (gather_remote_scheme_listed(GATHER_HTTP_SCHEMES, scheme)) return GATHER_OK;
  return gather_fail(error, GATHER_UNSUPPORTED,
                     "this build of libgather reads no %s:// URLs, but those of %s (CMake option GATHER_HTTP)", scheme,
                     GATHER_HTTP_SCHEMES[0] ? GATHER_HTTP_SCHEMES : "no scheme");
}

gather_status gather_remote_scheme_check(const gather_remote_settings *settings, const char *scheme,
                                         gather_error *error) {
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
      if (strlen(SCHEMES[i]) == length && strncmp(SCHEMES[i], at, length) == 0) scheme = SCHEMES[i];
    if (!scheme)
      return gather_fail(error, GATHER_USAGE, "remote.schemes has '%.*s'; there are https, http, s3, hf", (int)length,
                         at);
    GATHER_TRY(check_build(scheme, error));
  }
  return GATHER_OK;
}

static gather_status check_numbers(const gather_remote_options *o, gather_error *error) {
  if (o->connections < 0 || o->connections > 1024)
    return gather_fail(error, GATHER_USAGE, "remote.connections is %d, not 0 to 1024", (int)o->connections);
  if (!(o->try_seconds >= 0 && o->try_seconds <= 86400) || !(o->take_seconds >= 0 && o->take_seconds <= 86400))
    return gather_fail(error, GATHER_USAGE, "remote.try_seconds and take_seconds must be 0 to 86400");
  if (o->retries < -1 || o->retries > 100)
    return gather_fail(error, GATHER_USAGE, "remote.retries is %d, not -1 to 100", (int)o->retries);
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

/* What would end a header line and begin another. */
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

gather_status gather_remote_settings_take(const gather_remote_options *options, gather_remote_settings *settings,
                                          gather_error *error) {
  static const gather_remote_options DEFAULTS = GATHER_REMOTE_OPTIONS_INIT;
  *settings = (gather_remote_settings){.given = DEFAULTS};
  GATHER_TRY(gather_struct_read(&settings->given, sizeof settings->given, options, "remote",
                                "GATHER_REMOTE_OPTIONS_INIT", error));
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
