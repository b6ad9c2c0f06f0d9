/* SPDX-License-Identifier: MIT
 *
 * remote_arg.c: the options of URLs, and what reading them did, as text and JSON.
 */
#include "remote_arg.h"

#include <inttypes.h>
#include <string.h>

#include "choices.h"
#include "fail.h"
#include "json.h"
#include "remote_env.h"
#include "remote_limits.h"
#include "size.h"
#include "wrap.h"

static gather_remote_options of_line = GATHER_REMOTE_OPTIONS_INIT;
static int64_t indices_bytes;

static const gather_cli_option_id OURS[] = {GATHER_CLI_CONNECTIONS, GATHER_CLI_CACHE, GATHER_CLI_CACHE_BYTES, GATHER_CLI_GAP,
                                            GATHER_CLI_TIMEOUT,     GATHER_CLI_WHOLE, GATHER_CLI_ANY_ADDRESS};

const char *gather_cli_remote_asked(const gather_cli_args *args) {
  for (size_t i = 0; i < sizeof OURS / sizeof *OURS; i++)
    if (args->value[OURS[i]]) return gather_cli_option_at(OURS[i])->name;
  return NULL;
}

static gather_status read_gap(const gather_cli_args *args, gather_error *error) {
  const char *gap = args->value[GATHER_CLI_GAP];
  char hint[160];
  if (!gap || strcmp(gap, "auto") == 0) return GATHER_OK;
  if (gap[0] >= '0' && gap[0] <= '9') return gather_cli_size(args, GATHER_CLI_GAP, 0, -1, &of_line.gap_bytes, error);
  return gather_cli_fail(error, GATHER_USAGE, "--gap takes a size or auto, not '%.100s'%s", gap,
                         gather_cli_choice_hint(GATHER_CLI_GAP, args->command, gap, hint, sizeof hint));
}

static gather_status read_timeout(const gather_cli_args *args, gather_error *error) {
  int64_t seconds;
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_TIMEOUT, 1, GATHER_CLI_MOST_SECONDS, 0, &seconds, error));
  if (seconds > 0) gather_cli_remote_limit(&of_line, seconds);
  return GATHER_OK;
}

/* What a server without ranges may send whole. Indices are downloaded in any case. */
static gather_status read_whole(const gather_cli_args *args, gather_error *error) {
  enum { DOWNLOADED = 1 << 30 }; /* what the library downloads of elements */
  int64_t most;
  GATHER_CLI_TRY(gather_cli_size(args, GATHER_CLI_WHOLE, 0, 0, &of_line.whole_bytes, error));
  GATHER_CLI_TRY(gather_cli_size(args, GATHER_CLI_MEMORY, 0, DOWNLOADED, &most, error));
  indices_bytes = most > of_line.whole_bytes ? most : of_line.whole_bytes;
  if (args->value[GATHER_CLI_WHOLE] && of_line.whole_bytes == 0) of_line.whole_bytes = -1;
  return GATHER_OK;
}

int64_t gather_cli_remote_indices_bytes(void) { return indices_bytes; }

gather_status gather_cli_remote_start(const gather_cli_args *args, gather_error *error) {
  int64_t connections;
  GATHER_CLI_TRY(gather_cli_number(args, GATHER_CLI_CONNECTIONS, 1, GATHER_CLI_MOST_CONNECTIONS, 0, &connections, error));
  of_line.connections = (int32_t)connections;
  of_line.cache_folder = args->value[GATHER_CLI_CACHE];
  if (!of_line.cache_folder && args->value[GATHER_CLI_CACHE_BYTES])
    return gather_cli_fail(error, GATHER_USAGE, "--cache-bytes needs --cache DIR");
  if (of_line.cache_folder && !*of_line.cache_folder)
    return gather_cli_fail(error, GATHER_USAGE, "--cache takes the name of a folder, not ''");
  GATHER_CLI_TRY(gather_cli_size(args, GATHER_CLI_CACHE_BYTES, 1 << 21, 0, &of_line.cache_bytes, error));
  GATHER_CLI_TRY(read_gap(args, error));
  GATHER_CLI_TRY(read_whole(args, error));
  of_line.any_address = args->value[GATHER_CLI_ANY_ADDRESS] != NULL;
  return read_timeout(args, error);
}

gather_status gather_cli_remote_all(const char *const *arguments, int32_t count, const gather_remote_options **remote,
                                    gather_error *error) {
  static gather_remote_options options;
  static gather_cli_servers servers;
  bool any = false;
  *remote = NULL;
  for (int32_t i = 0; i < count; i++) any = any || gather_remote_is_url(arguments[i]);
  if (!any) return GATHER_OK;
  options = of_line;
  GATHER_CLI_TRY(gather_cli_remote_environment(arguments, count, &servers, &options, error));
  *remote = &options;
  return GATHER_OK;
}

gather_status gather_cli_remote(const char *argument, const gather_remote_options **remote, gather_error *error) {
  return gather_cli_remote_all(&argument, 1, remote, error);
}

/* ---- statistics */

void gather_cli_json_remote(gather_cli_json *json, const gather_remote_statistics *statistics) {
  gather_cli_json_object(json, "remote");
  gather_cli_json_int(json, "requests", statistics->requests);
  gather_cli_json_int(json, "retries", statistics->retries);
  gather_cli_json_int(json, "hedges", statistics->hedges);
  gather_cli_json_int(json, "bytes_useful", statistics->bytes_useful);
  gather_cli_json_int(json, "bytes_read", statistics->bytes_read);
  gather_cli_json_int(json, "cache_hits", statistics->cache_hits);
  gather_cli_json_int(json, "cache_stored", statistics->cache_stored);
  gather_cli_json_int(json, "cache_failures", statistics->cache_failures);
  if (statistics->cache_why[0]) gather_cli_json_string(json, "cache_why", statistics->cache_why);
  gather_cli_json_int(json, "connections", statistics->connections);
  gather_cli_json_int(json, "in_flight_peak", statistics->in_flight_peak);
  gather_cli_json_int(json, "depth", statistics->depth);
  gather_cli_json_int(json, "gap_bytes", statistics->gap_bytes);
  gather_cli_json_double(json, "latency", statistics->latency);
  gather_cli_json_double(json, "bandwidth", statistics->bandwidth);
  gather_cli_json_double(json, "p50", statistics->p50);
  gather_cli_json_double(json, "p99", statistics->p99);
  gather_cli_json_object_end(json);
}

void gather_cli_remote_note(const gather_cli_args *args, const gather_remote_statistics *statistics) {
  if (!statistics->cache_why[0] || args->value[GATHER_CLI_QUIET] || args->value[GATHER_CLI_JSON]) return;
  gather_cli_say(stderr, "gather: note: --cache: nothing is kept on disk: %s\n", statistics->cache_why);
}

void gather_cli_remote_text(FILE *to, const gather_remote_statistics *s) {
  char read[32], useful[32], gap[32];
  gather_cli_say(to, "network: %" PRId64 " %s (%" PRId64 " %s, %" PRId64 " %s), %s read for %s needed, %" PRId64 " %s", s->requests,
                 s->requests == 1 ? "request" : "requests", s->retries, s->retries == 1 ? "retry" : "retries", s->hedges,
                 s->hedges == 1 ? "hedge" : "hedges", gather_cli_size_text(read, sizeof read, s->bytes_read),
                 gather_cli_size_text(useful, sizeof useful, s->bytes_useful), s->connections,
                 s->connections == 1 ? "connection" : "connections");
  if (s->cache_hits > 0) gather_cli_say(to, ", %" PRId64 " blocks from the cache", s->cache_hits);
  if (s->cache_why[0]) gather_cli_say(to, "\nnetwork: nothing is kept on disk: %s", s->cache_why);
  gather_cli_say(to, "\nnetwork: requests take %.1f ms (p50), %.1f ms (p99); %" PRId32 " in flight, gap %s\n", s->p50 * 1e3, s->p99 * 1e3,
                 s->in_flight_peak, gather_cli_size_text(gap, sizeof gap, s->gap_bytes));
}
