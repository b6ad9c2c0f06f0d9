/* SPDX-License-Identifier: MIT
 *
 * duck_options_remote.c: the options of URLs. Credentials are none of them: SQL is shown and logged. Nor is any_address: who writes SQL
 * must not reach what only this machine may (the environment has GATHER_ANY_ADDRESS).
 */
#include <string.h>

#include "duck_options.h"
#include "remote_limits.h"

typedef gather_status parser(const char *value, duck_options *options, gather_error *error);

static gather_status parse_connections(const char *value, duck_options *options, gather_error *error) {
  int64_t connections = 0;
  gather_status status =
      gather_duck_parse_int("connections", value, 1, GATHER_CLI_MOST_CONNECTIONS, &connections, error);
  if (status == GATHER_OK) options->remote.connections = (int32_t)connections;
  return status;
}

static gather_status parse_timeout(const char *value, duck_options *options, gather_error *error) {
  int64_t seconds = 0;
  gather_status status = gather_duck_parse_int("timeout", value, 1, GATHER_CLI_MOST_SECONDS, &seconds, error);
  if (status == GATHER_OK) gather_cli_remote_limit(&options->remote, seconds);
  return status;
}

static gather_status parse_gap(const char *value, duck_options *options, gather_error *error) {
  return gather_duck_parse_bytes("gap", value, &options->remote.gap_bytes, error);
}

static gather_status parse_whole(const char *value, duck_options *options, gather_error *error) {
  gather_status status = gather_duck_parse_bytes("whole", value, &options->remote.whole_bytes, error);
  if (status == GATHER_OK && options->remote.whole_bytes == 0) options->remote.whole_bytes = -1;
  return status;
}

static gather_status parse_disk_cache(const char *value, duck_options *options, gather_error *error) {
  options->remote.cache_folder = options->disk_cache;
  return gather_duck_copy_word("disk_cache", value, options->disk_cache, sizeof options->disk_cache, error);
}

static gather_status parse_disk_cache_bytes(const char *value, duck_options *options, gather_error *error) {
  return gather_duck_parse_bytes("disk_cache_bytes", value, &options->remote.cache_bytes, error);
}

static gather_status parse_endpoint(const char *value, duck_options *options, gather_error *error) {
  options->remote.endpoint = options->endpoint;
  return gather_duck_copy_word("endpoint", value, options->endpoint, sizeof options->endpoint, error);
}

static gather_status parse_region(const char *value, duck_options *options, gather_error *error) {
  options->remote.region = options->region;
  return gather_duck_copy_word("region", value, options->region, sizeof options->region, error);
}

static const struct {
  const char *key;
  parser *parse;
} keys[] = {
    {"connections", parse_connections}, {"timeout", parse_timeout},   {"gap", parse_gap},
    {"disk_cache", parse_disk_cache},   {"endpoint", parse_endpoint}, {"disk_cache_bytes", parse_disk_cache_bytes},
    {"region", parse_region},           {"whole", parse_whole},
};

gather_status gather_duck_parse_remote(const char *key, const char *value, duck_options *options, bool *known,
                                       gather_error *error) {
  *known = true;
  if (strcmp(key, "remote") == 0) return gather_duck_parse_bool(key, value, &options->columns, error);
  options->for_urls = true;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(keys[i].key, key) == 0) return keys[i].parse(value, options, error);
  *known = false;
  return GATHER_USAGE;
}
