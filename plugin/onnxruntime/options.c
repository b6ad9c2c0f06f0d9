/* SPDX-License-Identifier: MIT
 *
 * options.c: reads the plug-in's options.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

static const char *const names[] = {"threads", "plans", "report", "operators"};
static const char *const variables[] = {"GATHER_ORT_THREADS", "GATHER_ORT_PLANS", "GATHER_ORT_REPORT", "GATHER_ORT_OPERATORS"};

const char *gather_ort_options_name(int i) { return i >= 0 && (size_t)i < sizeof names / sizeof *names ? names[i] : NULL; }

/* The whole text must be a number from 0 to most. */
static gather_status set_number(const char *name, const char *value, long most, int32_t *number, gather_error *error) {
  char *end;
  const long read = strtol(value, &end, 10);
  if (end == value || *end || read < 0 || read > most)
    return gather_error_set(error, GATHER_USAGE, "the option %s of the plug-in is a number from 0 to %ld, not '%s'", name, most, value);
  *number = (int32_t)read;
  return GATHER_OK;
}

static gather_status set_switch(const char *name, const char *value, bool *on, gather_error *error) {
  if (strcmp(value, "0") && strcmp(value, "1"))
    return gather_error_set(error, GATHER_USAGE, "the option %s of the plug-in is 0 or 1, not '%s'", name, value);
  *on = *value == '1';
  return GATHER_OK;
}

/* Whether the next name of a list is an operator of the plug-in. */
static bool is_operator(const char *name) {
  const size_t bytes = strcspn(name, ",");
  const ort_operator *op;
  for (int i = 0; (op = gather_ort_operator_at(i)) != NULL; i++)
    if (strlen(op->name) == bytes && !strncmp(op->name, name, bytes)) return true;
  return false;
}

static const char *next_name(const char *name) {
  name += strcspn(name, ",");
  return *name ? name + 1 : NULL;
}

static gather_status set_operators(ort_options *options, const char *value, gather_error *error) {
  if (strlen(value) >= sizeof options->operators)
    return gather_error_set(error, GATHER_USAGE, "the option operators of the plug-in has more than %d characters",
                            (int)sizeof options->operators - 1);
  for (const char *name = *value ? value : NULL; name; name = next_name(name))
    if (!is_operator(name))
      return gather_error_set(error, GATHER_USAGE, "the option operators of the plug-in has no operator '%.*s'", (int)strcspn(name, ","),
                              name);
  snprintf(options->operators, sizeof options->operators, "%s", value);
  return GATHER_OK;
}

gather_status gather_ort_options_set(ort_options *options, const char *name, const char *value, gather_error *error) {
  if (!strcmp(name, "threads")) return set_number(name, value, 4096, &options->threads, error);
  if (!strcmp(name, "plans")) return set_number(name, value, ORT_MOST_PLANS, &options->plans, error);
  if (!strcmp(name, "report")) return set_switch(name, value, &options->report, error);
  if (!strcmp(name, "operators")) return set_operators(options, value, error);
  return gather_error_set(error, GATHER_NAME_NOT_FOUND, "the plug-in has no option '%s'; it has: threads, plans, report, operators", name);
}

gather_status gather_ort_options_from_environment(ort_options *options, gather_error *error) {
  *options = (ort_options){.plans = 4};
  for (int i = 0; gather_ort_options_name(i); i++) {
    const char *value = getenv(variables[i]);
    if (!value || !*value) continue;
    const gather_status status = gather_ort_options_set(options, names[i], value, error);
    if (status != GATHER_OK) return status;
  }
  return GATHER_OK;
}

bool gather_ort_options_take(const ort_options *options, const char *operator_name) {
  const size_t bytes = strlen(operator_name);
  if (!*options->operators) return true;
  for (const char *name = options->operators; name; name = next_name(name))
    if (strcspn(name, ",") == bytes && !strncmp(name, operator_name, bytes)) return true;
  return false;
}
