/* SPDX-License-Identifier: MIT
 *
 * options.h: the options of the plug-in. Each has one name, in three places, of which the later ones win: the environment
 * (GATHER_ORT_THREADS), the session's config entries ("gather.threads"), and the execution provider's options ("threads").
 */
#ifndef GATHER_PLUGIN_ORT_OPTIONS_H
#define GATHER_PLUGIN_ORT_OPTIONS_H

#include "gather/gather.h"

typedef struct ort_options {
  int32_t threads;     /* tasks that may run at once; 0 = the CPUs that this process may use. The threads are always the session's */
  int32_t plans;       /* plans that a node keeps, one per combination of shapes: 0 to ORT_MOST_PLANS */
  bool report;         /* log a line for each node that is taken over, as a warning, which sessions show by default */
  char operators[128]; /* names separated by commas, or "" for all */
} ort_options;

enum { ORT_MOST_PLANS = 16 };

/* The defaults, then what the environment says. Returns GATHER_USAGE, naming the variable, for a value that an option cannot have. */
GATHER_CHECKED gather_status gather_ort_options_from_environment(ort_options *options, gather_error *error);
/* Sets one option by its short name ("threads"). Returns GATHER_NAME_NOT_FOUND (the message lists the names), GATHER_USAGE. */
GATHER_CHECKED gather_status gather_ort_options_set(ort_options *options, const char *name, const char *value, gather_error *error);
/* The short name of option i; NULL after the last. */
const char *gather_ort_options_name(int i);
/* Whether `operators` has this one. */
bool gather_ort_options_take(const ort_options *options, const char *operator_name);

#endif
