/* SPDX-License-Identifier: MIT
 *
 * duck_policy.c: settings of the database, and URLs in columns. A service whose users name files in a column must not become their proxy.
 */
#include "duck_policy.h"

#include <string.h>

duck_policy gather_duck_policy(duck_context context) {
  duck_policy policy = {.nothing = false};
  if (!context) return policy;
  duck_value access = gather_duck.client_context_get_config_option(context, "enable_external_access", NULL);
  policy.nothing = access && !gather_duck.is_null_value(access) && !gather_duck.get_bool(access);
  if (access) gather_duck.destroy_value(&access);
  gather_duck.destroy_client_context(&context);
  return policy;
}

bool gather_duck_is_url(const char *file, size_t bytes) {
  char start[16]; /* where a scheme is */
  size_t kept = bytes < sizeof start ? bytes : sizeof start - 1;
  memcpy(start, file, kept);
  start[kept] = '\0';
  return gather_remote_is_url(start);
}

gather_status gather_duck_allowed(const duck_policy *policy, const char *file, size_t bytes, const char *options, size_t options_bytes,
                                  gather_error *error) {
  if (policy->nothing)
    return gather_error_set(error, GATHER_UNSUPPORTED, "this function reads files, which enable_external_access = false forbids");
  if (policy->named || !gather_duck_is_url(file, bytes)) return GATHER_OK;
  duck_options parsed;
  gather_status status = gather_duck_options_parse(options, options_bytes, &parsed, error);
  if (status != GATHER_OK || parsed.columns) return status;
  return gather_error_set(error, GATHER_USAGE,
                          "the file is a URL that may come from data: this is read only with the option remote=true, "
                          "e.g. take_row(file, id, 'remote=true')");
}
