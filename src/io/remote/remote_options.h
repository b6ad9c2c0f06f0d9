/* SPDX-License-Identifier: MIT
 *
 * remote_options.h: a client's own copy of the options, with defaults in place of zeros, checked.
 */
#ifndef GATHER_REMOTE_OPTIONS_H
#define GATHER_REMOTE_OPTIONS_H

#include "core/base/arena.h"
#include "gather/remote.h"

typedef struct gather_remote_settings {
  gather_arena arena;
  gather_remote_options given; /* every string set: "" where there is none; numbers with their defaults */
  bool copied;                 /* the strings are in the arena */
} gather_remote_settings;

/* Copies and checks options; NULL: all defaults. Returns GATHER_USAGE (an option out of its range; an unknown scheme),
 * GATHER_UNSUPPORTED (a scheme that this build has not), GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_remote_settings_take(const gather_remote_options *options,
                                                         gather_remote_settings *settings, gather_error *error);
/* Frees it, and overwrites the secrets in it before. */
void gather_remote_settings_clear(gather_remote_settings *settings);
/* Whether "https" is in a list "https,http". */
bool gather_remote_scheme_listed(const char *list, const char *scheme);
/* Returns GATHER_UNSUPPORTED if this build has not this scheme; the message says which it has. */
GATHER_CHECKED gather_status gather_remote_scheme_check(const char *scheme, gather_error *error);

#endif
