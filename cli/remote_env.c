/* SPDX-License-Identifier: MIT
 *
 * remote_env.c: what the environment says about servers: credentials, endpoints, certificates. A token of the hub is for the hub: it is
 * left out if the line also has a URL of another host.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "remote_arg.h"

static const char HUB[] = "https://huggingface.co";

/* The first of these variables that is set and not empty; NULL. */
static const char *variable(const char *const *names) {
  for (; *names; names++) {
    const char *value = getenv(*names);
    if (value && *value) return value;
  }
  return NULL;
}

static bool begins(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* Whether a URL is one of the hub: by its own scheme, or by its address. */
static bool is_of_hub(const char *url, const char *hub) {
  const size_t bytes = strlen(hub);
  if (begins(url, "hf://")) return true;
  return begins(url, hub) && (url[bytes] == '/' || hub[bytes - 1] == '/');
}

static void read_hub(const char *const *arguments, int32_t count, gather_remote_options *options) {
  static const char *const ENDPOINT[] = {"HF_ENDPOINT", NULL}, *const TOKEN[] = {"HF_TOKEN", NULL};
  options->hub = variable(ENDPOINT);
  bool ours = true;
  for (int32_t i = 0; i < count; i++)
    ours = ours && (!gather_remote_is_url(arguments[i]) || is_of_hub(arguments[i], options->hub ? options->hub : HUB));
  if (ours) options->bearer = variable(TOKEN);
}

static void read_s3(gather_remote_options *options) {
  static const char *const ENDPOINT[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL};
  static const char *const REGION[] = {"AWS_REGION", "AWS_DEFAULT_REGION", NULL};
  static const char *const KEY[] = {"AWS_ACCESS_KEY_ID", NULL}, *const SECRET[] = {"AWS_SECRET_ACCESS_KEY", NULL};
  static const char *const SESSION[] = {"AWS_SESSION_TOKEN", NULL};
  options->endpoint = variable(ENDPOINT);
  options->region = variable(REGION);
  options->key_id = variable(KEY);
  options->secret = variable(SECRET);
  if (options->key_id) options->session_token = variable(SESSION);
}

gather_status gather_cli_remote_environment(const char *const *arguments, int32_t count, gather_remote_options *options,
                                            gather_error *error) {
  static const char *const AUTHORITIES[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE", NULL};
  bool s3 = false;
  (void)error;
  for (int32_t i = 0; i < count; i++) s3 = s3 || begins(arguments[i], "s3://");
  if (!options->authorities) options->authorities = variable(AUTHORITIES);
  read_hub(arguments, count, options);
  if (s3) read_s3(options);
  return GATHER_OK;
}
