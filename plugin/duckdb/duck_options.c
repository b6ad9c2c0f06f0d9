/* SPDX-License-Identifier: MIT
 *
 * duck_options.c: KEY=VALUE, KEY=VALUE: each key is a row of a table.
 */
#include "duck_options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "remote_limits.h"

typedef gather_status parser(const char *value, duck_options *options, gather_error *error);

/* ---- values */

/* A whole number at the start of `text`, up to `*end`. */
static bool read_number(const char *text, const char **end, int64_t *number) {
  char *rest = NULL;
  errno = 0;
  if (!isdigit((unsigned char)*text)) return false;
  long long read = strtoll(text, &rest, 10);
  *end = rest;
  *number = read;
  return errno == 0;
}

/* An amount of memory: 65536, 64MiB, 2GB. */
static bool read_bytes(const char *text, int64_t *bytes) {
  static const char letters[] = "KMGT";
  const char *end = text;
  if (!read_number(text, &end, bytes)) return false;
  if (*end == '\0' || strcmp(end, "B") == 0) return true;
  const char *letter = strchr(letters, toupper((unsigned char)*end));
  if (!letter) return false;
  const char *unit = end + 1;
  bool decimal = strcmp(unit, "B") == 0;
  if (!decimal && *unit != '\0' && strcmp(unit, "iB") != 0) return false;
  for (const char *step = letters; step <= letter; step++) {
    int64_t base = decimal ? 1000 : 1024;
    if (*bytes > INT64_MAX / base) return false;
    *bytes *= base;
  }
  return true;
}

static gather_status to_bytes(const char *key, const char *value, int64_t *bytes, gather_error *error) {
  if (read_bytes(value, bytes)) return GATHER_OK;
  return gather_error_set(error, GATHER_USAGE, "option %s: '%s' is not an amount such as 64MiB, 500MB or 65536", key, value);
}

static gather_status to_bool(const char *key, const char *value, bool *yes, gather_error *error) {
  if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
    *yes = value[0] == 't';
    return GATHER_OK;
  }
  return gather_error_set(error, GATHER_USAGE, "option %s: '%s' is neither true nor false", key, value);
}

static gather_status to_word(const char *key, const char *value, char *to, size_t room, gather_error *error) {
  if (strlen(value) >= room) return gather_error_set(error, GATHER_USAGE, "option %s: the value is too long", key);
  memcpy(to, value, strlen(value) + 1);
  return GATHER_OK;
}

static gather_status to_int(const char *key, const char *value, int64_t least, int64_t most, int64_t *number, gather_error *error) {
  const char *end = value;
  if (read_number(value, &end, number) && !*end && *number >= least && *number <= most) return GATHER_OK;
  return gather_error_set(error, GATHER_USAGE, "option %s: '%s' is not a number from %" PRId64 " to %" PRId64, key, value, least, most);
}

/* ---- keys */

static gather_status parse_memory(const char *value, duck_options *options, gather_error *error) {
  return to_bytes("memory", value, &options->table.memory_bytes, error);
}

static gather_status parse_cache(const char *value, duck_options *options, gather_error *error) {
  return to_bytes("cache", value, &options->table.cache_bytes, error);
}

static gather_status parse_engine(const char *value, duck_options *options, gather_error *error) {
  return gather_engine_parse(value, &options->table.engine, error);
}

static gather_status parse_depth(const char *value, duck_options *options, gather_error *error) {
  int64_t depth = 0;
  gather_status status = to_int("depth", value, 0, 4096, &depth, error);
  if (status == GATHER_OK) options->table.depth = (int32_t)depth;
  return status;
}

static gather_status parse_buffered(const char *value, duck_options *options, gather_error *error) {
  return to_bool("buffered", value, &options->table.buffered, error);
}

static gather_status parse_no_links(const char *value, duck_options *options, gather_error *error) {
  return to_bool("no_links", value, &options->table.no_links, error);
}

static gather_status parse_decode(const char *value, duck_options *options, gather_error *error) {
  return to_bool("decode", value, &options->decode, error);
}

static gather_status parse_codec(const char *value, duck_options *options, gather_error *error) {
  options->table.codec = options->codec;
  return to_word("codec", value, options->codec, sizeof options->codec, error);
}

static gather_status parse_negative(const char *value, duck_options *options, gather_error *error) {
  options->from_end = strcmp(value, "from_end") == 0;
  if (options->from_end || strcmp(value, "error") == 0) return GATHER_OK;
  return gather_error_set(error, GATHER_USAGE, "option negative: '%s' is neither error nor from_end", value);
}

static gather_status parse_out_of_range(const char *value, duck_options *options, gather_error *error) {
  options->missing_is_null = strcmp(value, "null") == 0;
  if (options->missing_is_null || strcmp(value, "error") == 0) return GATHER_OK;
  return gather_error_set(error, GATHER_USAGE, "option out_of_range: '%s' is neither error nor null", value);
}

static gather_status parse_type(const char *value, duck_options *options, gather_error *error) {
  options->raw.type = options->raw_type;
  return to_word("type", value, options->raw_type, sizeof options->raw_type, error);
}

/* The shape of a row of raw bytes: 128, 4x3; "scalar" for single elements. */
static gather_status parse_row(const char *value, duck_options *options, gather_error *error) {
  int32_t rank = 1;
  const char *rest = value;
  bool right = true, more = strcmp(value, "scalar") != 0;
  while (more && right && rank < GATHER_MAX_RANK) {
    right = read_number(rest, &rest, &options->shape[rank++]);
    more = right && *rest == 'x';
    if (more) rest++;
  }
  if (!right || more || (rank > 1 && *rest))
    return gather_error_set(error, GATHER_USAGE, "option row: '%s' is not a shape such as 128, 4x3 or scalar", value);
  options->raw.rank = rank;
  return GATHER_OK;
}

static gather_status parse_offset(const char *value, duck_options *options, gather_error *error) {
  return to_bytes("offset", value, &options->raw.offset, error);
}

/* The bytes are rows, whatever they look like. */
static gather_status parse_raw(const char *value, duck_options *options, gather_error *error) {
  return to_bool("raw", value, &options->raw.as_is, error);
}

/* ---- keys of URLs. Credentials are none of them: SQL is shown and logged. Nor is any_address: who writes SQL must not reach what only
 * this machine may (the environment has GATHER_ANY_ADDRESS). */

static gather_status parse_connections(const char *value, duck_options *options, gather_error *error) {
  int64_t connections = 0;
  gather_status status = to_int("connections", value, 1, GATHER_CLI_MOST_CONNECTIONS, &connections, error);
  if (status == GATHER_OK) options->remote.connections = (int32_t)connections;
  return status;
}

static gather_status parse_timeout(const char *value, duck_options *options, gather_error *error) {
  int64_t seconds = 0;
  gather_status status = to_int("timeout", value, 1, GATHER_CLI_MOST_SECONDS, &seconds, error);
  if (status == GATHER_OK) gather_cli_remote_limit(&options->remote, seconds);
  return status;
}

static gather_status parse_gap(const char *value, duck_options *options, gather_error *error) {
  return to_bytes("gap", value, &options->remote.gap_bytes, error);
}

static gather_status parse_whole(const char *value, duck_options *options, gather_error *error) {
  gather_status status = to_bytes("whole", value, &options->remote.whole_bytes, error);
  if (status == GATHER_OK && options->remote.whole_bytes == 0) options->remote.whole_bytes = -1;
  return status;
}

static gather_status parse_disk_cache(const char *value, duck_options *options, gather_error *error) {
  options->remote.cache_folder = options->disk_cache;
  return to_word("disk_cache", value, options->disk_cache, sizeof options->disk_cache, error);
}

static gather_status parse_disk_cache_bytes(const char *value, duck_options *options, gather_error *error) {
  return to_bytes("disk_cache_bytes", value, &options->remote.cache_bytes, error);
}

static gather_status parse_endpoint(const char *value, duck_options *options, gather_error *error) {
  options->remote.endpoint = options->endpoint;
  return to_word("endpoint", value, options->endpoint, sizeof options->endpoint, error);
}

static gather_status parse_region(const char *value, duck_options *options, gather_error *error) {
  options->remote.region = options->region;
  return to_word("region", value, options->region, sizeof options->region, error);
}

static gather_status parse_columns(const char *value, duck_options *options, gather_error *error) {
  return to_bool("remote", value, &options->columns, error);
}

/* ---- the tables of keys */

typedef struct option_key {
  const char *key;
  parser *parse;
} option_key;

static const option_key keys[] = {
    {"memory", parse_memory},     {"cache", parse_cache},
    {"engine", parse_engine},     {"depth", parse_depth},
    {"buffered", parse_buffered}, {"no_links", parse_no_links},
    {"decode", parse_decode},     {"codec", parse_codec},
    {"negative", parse_negative}, {"out_of_range", parse_out_of_range},
    {"type", parse_type},         {"row", parse_row},
    {"offset", parse_offset},     {"raw", parse_raw},
    {"remote", parse_columns},
};

static const option_key url_keys[] = {
    {"connections", parse_connections}, {"timeout", parse_timeout},   {"gap", parse_gap},
    {"disk_cache", parse_disk_cache},   {"endpoint", parse_endpoint}, {"disk_cache_bytes", parse_disk_cache_bytes},
    {"region", parse_region},           {"whole", parse_whole},
};

/* ---- the text */

static gather_status parse_pair(const char *key, const char *value, duck_options *options, gather_error *error) {
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(keys[i].key, key) == 0) return keys[i].parse(value, options, error);
  for (size_t i = 0; i < sizeof url_keys / sizeof *url_keys; i++)
    if (strcmp(url_keys[i].key, key) == 0) {
      options->for_urls = true;
      return url_keys[i].parse(value, options, error);
    }
  return gather_error_set(error, GATHER_USAGE,
                          "no such option '%.100s'; the options are memory, cache, engine, depth, buffered, no_links, decode, codec, "
                          "negative, out_of_range, for raw files type, row, offset, raw, and for URLs connections, timeout, "
                          "gap, whole, disk_cache, disk_cache_bytes, endpoint, region, remote",
                          key);
}

/* Parses one KEY=VALUE of `bytes` bytes. */
static gather_status parse_item(const char *text, size_t bytes, duck_options *options, gather_error *error) {
  char item[DUCK_OPTION_BYTES];
  while (bytes && isspace((unsigned char)*text)) text++, bytes--;
  while (bytes && isspace((unsigned char)text[bytes - 1])) bytes--;
  if (!bytes) return GATHER_OK;
  if (bytes >= sizeof item) return gather_error_set(error, GATHER_USAGE, "an option is too long");
  memcpy(item, text, bytes);
  item[bytes] = '\0';
  char *value = strchr(item, '=');
  if (!value) return gather_error_set(error, GATHER_USAGE, "option '%.100s' is not KEY=VALUE", item);
  *value = '\0';
  return parse_pair(item, value + 1, options, error);
}

gather_status gather_duck_options_parse(const char *text, size_t bytes, duck_options *options, gather_error *error) {
  *options = (duck_options){.table = GATHER_TABLE_OPTIONS_INIT, .decode = true, .remote = GATHER_REMOTE_OPTIONS_INIT};
  options->shape[0] = -1;
  gather_status status = GATHER_OK;
  while (bytes && status == GATHER_OK) {
    const char *comma = memchr(text, ',', bytes);
    size_t item = comma ? (size_t)(comma - text) : bytes;
    status = parse_item(text, item, options, error);
    text += comma ? item + 1 : item;
    bytes -= comma ? item + 1 : item;
  }
  if (status != GATHER_OK) return status;
  if ((options->raw.rank == 0) != (options->raw.type == NULL) || ((options->raw.offset || options->raw.as_is) && !options->raw.type))
    return gather_error_set(error, GATHER_USAGE, "raw files need the options type and row, e.g. type=float32, row=128");
  options->raw.shape = options->shape;
  if (options->raw.type) options->table.raw = &options->raw;
  return GATHER_OK;
}
