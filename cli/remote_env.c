/* SPDX-License-Identifier: MIT
 *
 * remote_env.c: what the environment and the user's files say about servers: credentials, endpoints, certificates. A token of the hub
 * is for the hub: it is left out if there is also a URL of another host.
 */
#include "remote_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fail.h"

static const char HUB[] = "https://huggingface.co";

/* The first of these variables that is set and not empty; NULL. */
static const char *variable(const char *const *names) {
  for (; *names; names++) {
    const char *value = getenv(*names);
    if (value && *value) return value;
  }
  return NULL;
}

enum { PATH_BYTES = 4096 };

/* Schemes and hosts are the same in capitals; a path is not, and what is not recognised gets no token. */
static bool begins(const char *text, const char *start) { return strncasecmp(text, start, strlen(start)) == 0; }

/* Whether a URL is one of the hub: by its own scheme, or by its address. */
static bool is_of_hub(const char *url, const char *hub) {
  const size_t bytes = strlen(hub);
  if (begins(url, "hf://")) return true;
  return begins(url, hub) && (url[bytes] == '/' || hub[bytes - 1] == '/');
}

/* FOLDER/NAME, if the folder is known and the path fits. */
static bool join(char path[PATH_BYTES], const char *folder, const char *name) {
  path[0] = '\0';
  if (!folder || !*folder) return false;
  int bytes = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
  if (bytes > 0 && bytes < PATH_BYTES) return true;
  path[0] = '\0';
  return false;
}

/* ---- the hub: HF_TOKEN, or the file in which its own tools keep the token */

static gather_status read_token(gather_cli_servers *servers, const char **token, gather_error *error) {
  static const char *const TOKEN[] = {"HF_TOKEN", NULL}, *const FILE_NAME[] = {"HF_TOKEN_PATH", NULL};
  static const char *const HUB_HOME[] = {"HF_HOME", NULL}, *const CACHE[] = {"XDG_CACHE_HOME", NULL};
  static const char *const HOME[] = {"HOME", NULL};
  char path[PATH_BYTES];
  const char *file = variable(FILE_NAME);
  *token = variable(TOKEN);
  if (*token) return GATHER_OK;
  if (!file && (join(path, variable(HUB_HOME), "token") || join(path, variable(CACHE), "huggingface/token") ||
                join(path, variable(HOME), ".cache/huggingface/token")))
    file = path;
  if (file && !servers->token) GATHER_CLI_TRY(gather_cli_token_read(file, &servers->token, error));
  *token = servers->token;
  return GATHER_OK;
}

static gather_status read_hub(const char *const *arguments, int32_t count, gather_remote_options *options, gather_cli_servers *servers,
                              gather_error *error) {
  static const char *const ENDPOINT[] = {"HF_ENDPOINT", NULL};
  options->hub = variable(ENDPOINT);
  bool ours = true;
  for (int32_t i = 0; i < count; i++)
    ours = ours && (!gather_remote_is_url(arguments[i]) || is_of_hub(arguments[i], options->hub ? options->hub : HUB));
  return ours ? read_token(servers, &options->bearer, error) : GATHER_OK;
}

/* ---- S3: variables first, then the files of the profile */

static gather_status read_profile(gather_cli_aws *aws, bool keys, gather_error *error) {
  static const char *const PROFILE[] = {"AWS_PROFILE", NULL}, *const HOME[] = {"HOME", NULL};
  static const char *const CREDENTIALS[] = {"AWS_SHARED_CREDENTIALS_FILE", NULL}, *const CONFIG[] = {"AWS_CONFIG_FILE", NULL};
  char credentials[PATH_BYTES], config[PATH_BYTES];
  const char *profile = variable(PROFILE), *named = variable(CREDENTIALS), *settings = variable(CONFIG);
  (void)join(credentials, variable(HOME), ".aws/credentials");
  (void)join(config, variable(HOME), ".aws/config");
  GATHER_CLI_TRY(gather_cli_aws_read(named ? named : credentials, settings ? settings : config, profile, aws, error));
  if (profile && !aws->found)
    return gather_cli_fail(error, GATHER_USAGE, "there is no profile '%.100s' (AWS_PROFILE) in %.100s or %.100s", profile,
                           named ? named : credentials, settings ? settings : config);
  if (!aws->key_id && aws->other && !keys)
    return gather_cli_fail(error, GATHER_UNSUPPORTED,
                           "the profile '%.100s' gets its credentials by %s, which is not supported: run 'aws configure "
                           "export-credentials --format env' and set what it prints",
                           profile ? profile : "default", aws->other);
  return GATHER_OK;
}

static gather_status read_s3(gather_remote_options *options, gather_cli_servers *servers, gather_error *error) {
  static const char *const ENDPOINT[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL};
  static const char *const REGION[] = {"AWS_REGION", "AWS_DEFAULT_REGION", NULL};
  static const char *const KEY[] = {"AWS_ACCESS_KEY_ID", NULL}, *const SECRET[] = {"AWS_SECRET_ACCESS_KEY", NULL};
  static const char *const SESSION[] = {"AWS_SESSION_TOKEN", NULL};
  gather_cli_aws *aws = &servers->aws;
  if (!options->endpoint) options->endpoint = variable(ENDPOINT);
  if (!options->region) options->region = variable(REGION);
  options->key_id = variable(KEY);
  options->secret = variable(SECRET);
  if (options->key_id) options->session_token = variable(SESSION);
  if (!servers->has_profile) GATHER_CLI_TRY(read_profile(aws, options->key_id != NULL, error));
  servers->has_profile = true;
  if (!options->endpoint) options->endpoint = aws->endpoint;
  if (!options->region) options->region = aws->region;
  options->virtual_host = options->virtual_host || aws->virtual_host;
  if (options->key_id || options->secret) return GATHER_OK;
  options->key_id = aws->key_id;
  options->secret = aws->secret;
  options->session_token = aws->session_token;
  return GATHER_OK;
}

gather_status gather_cli_remote_environment(const char *const *arguments, int32_t count, gather_cli_servers *servers,
                                            gather_remote_options *options, gather_error *error) {
  static const char *const AUTHORITIES[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE", NULL};
  bool s3 = false;
  for (int32_t i = 0; i < count; i++) s3 = s3 || begins(arguments[i], "s3://");
  static const char *const ANY_ADDRESS[] = {"GATHER_ANY_ADDRESS", NULL};
  if (!options->authorities) options->authorities = variable(AUTHORITIES);
  const char *any = variable(ANY_ADDRESS);
  options->any_address = options->any_address || (any && strcmp(any, "1") == 0);
  GATHER_CLI_TRY(read_hub(arguments, count, options, servers, error));
  return s3 ? read_s3(options, servers, error) : GATHER_OK;
}

void gather_cli_servers_clear(gather_cli_servers *servers) {
  gather_cli_aws_clear(&servers->aws);
  gather_cli_secret_free(servers->token);
  *servers = (gather_cli_servers){0};
}
