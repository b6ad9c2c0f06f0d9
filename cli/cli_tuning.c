/* SPDX-License-Identifier: MIT
 *
 * cli_tuning.c: GATHER_TUNING, the environment variable for tuning parameters. The library itself reads no
 * environment.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "fail.h"

/* One `name=value`, of `bytes` bytes. */
static gather_status set_one(const char *text, size_t bytes, gather_error *error) {
  char name[32] = "";
  int64_t value;
  bool too_big;
  const char *end, *equals = memchr(text, '=', bytes);
  if (!equals || !gather_cli_whole(equals + 1, &end, &value, &too_big) || end != text + bytes)
    return gather_cli_fail(error, GATHER_USAGE, "GATHER_TUNING is a comma-separated list of name=integer, not '%.*s'",
                           (int)(bytes < 100 ? bytes : 100), text);
  if ((size_t)(equals - text) < sizeof name) memcpy(name, text, (size_t)(equals - text));
  if (gather_tuning_set(name, value, NULL) != GATHER_OK)
    return gather_cli_fail(error, GATHER_USAGE, "GATHER_TUNING: no such tuning parameter '%.*s'",
                           (int)(equals - text < 100 ? equals - text : 100), text);
  return GATHER_OK;
}

gather_status gather_cli_tune(gather_error *error) {
  const char *text = getenv("GATHER_TUNING");
  while (text && *text) {
    size_t bytes = strcspn(text, ",");
    GATHER_CLI_TRY(set_one(text, bytes, error));
    text += bytes + (text[bytes] == ',');
  }
  return GATHER_OK;
}
