/* SPDX-License-Identifier: MIT
 *
 * duck_policy.h: which files a call may read: what the database's settings say, and URLs only where the query itself names them.
 */
#ifndef GATHER_PLUGIN_DUCK_POLICY_H
#define GATHER_PLUGIN_DUCK_POLICY_H

#include "duck_api.h"
#include "duck_options.h"

typedef struct duck_policy {
  bool nothing; /* enable_external_access = false */
  bool named;   /* the file is a constant or a parameter of the query, not a column */
} duck_policy;

/* The policy of a context, which it destroys; NULL (hosts before v1.5.6, which have no call for settings): no setting is known. */
duck_policy gather_duck_policy(duck_context context);

/* Whether `bytes` bytes of a file's name begin as a URL. */
bool gather_duck_is_url(const char *file, size_t bytes);

/* Whether a file may be read. Returns GATHER_USAGE, GATHER_UNSUPPORTED with the setting or the option that forbids it. */
gather_status gather_duck_allowed(const duck_policy *policy, const char *file, size_t bytes, const char *options, size_t options_bytes,
                                  gather_error *error);

#endif
