/* SPDX-License-Identifier: MIT
 *
 * cmd_ops.c: `gather ops`: every operator version with its rules and the types that its document lists.
 */
#include <stdio.h>
#include <string.h>

#include "choices.h"
#include "commands.h"
#include "json.h"
#include "report.h"

static const char *on_bad_name(const gather_op *op) {
  for (int i = 0; gather_cli_policy_at(i); i++)
    if (gather_cli_policy_at(i)->on_bad == op->on_bad) return gather_cli_policy_at(i)->name;
  return "error";
}

static const char *off_axis_name(const gather_op *op) {
  switch (op->off_axis) {
    case GATHER_OFF_AXIS_EQUAL:
      return "equal";
    case GATHER_OFF_AXIS_AT_MOST:
      return "at_most";
    default:
      return "none";
  }
}

static const char *axis_name(const gather_op *op) {
  static const char *const NAMES[] = {"attribute", "input", "none"};
  return NAMES[op->axis_source];
}

static const char *tuples_name(const gather_op *op) {
  static const char *const NAMES[] = {"none", "nonempty", "any"};
  return NAMES[op->tuples];
}

/* The name of type number t if it is in the set; else NULL. */
static const char *type_in(uint64_t set, int t) {
  const gather_type_info *info = gather_type_get((gather_type)t);
  return info && (set >> t & 1) ? info->name : NULL;
}

static void json_types(gather_cli_json *json, const char *key, uint64_t set) {
  gather_cli_json_array(json, key);
  for (int t = 1; t < 64; t++)
    if (type_in(set, t)) gather_cli_json_string(json, NULL, type_in(set, t));
  gather_cli_json_array_end(json);
}

static void json_op(gather_cli_json *json, const gather_op *op) {
  gather_cli_json_object(json, NULL);
  gather_cli_json_string(json, "rules", op->rules);
  gather_cli_json_string(json, "dialect", op->dialect);
  gather_cli_json_string(json, "op", op->name);
  gather_cli_json_int(json, "version", op->version);
  gather_cli_json_bool(json, "negative", op->negative);
  gather_cli_json_string(json, "on_bad", on_bad_name(op));
  gather_cli_json_bool(json, "batch_dims", op->batch_dims);
  gather_cli_json_string(json, "off_axis", off_axis_name(op));
  gather_cli_json_string(json, "axis", axis_name(op));
  gather_cli_json_string(json, "tuples", tuples_name(op));
  gather_cli_json_bool(json, "fused_batch", op->fused_batch);
  gather_cli_json_string(json, "document", op->document);
  json_types(json, "types", op->types);
  json_types(json, "index_types", op->index_types);
  gather_cli_json_object_end(json);
}

/* Names with a blank before each, in lines of at most 80 columns. */
static void text_types(const char *title, uint64_t set) {
  int column = printf("  %-9s", title);
  for (int t = 1; t < 64; t++) {
    const char *name = type_in(set, t);
    if (!name) continue;
    if (column + 1 + (int)strlen(name) > 80) column = printf("\n%11s", "") - 1;
    column += printf(" %s", name);
  }
  putchar('\n');
}

static void text_op(const gather_op *op) {
  const int column =
      printf("%-11s %-14s  negative %-3s  out of range: %s", op->rules, op->name, op->negative ? "on" : "off", on_bad_name(op));
  if (op->off_axis != GATHER_OFF_AXIS_NONE) printf("%soff axis: %s", column > 61 ? "\n  " : "  ", off_axis_name(op));
  puts(op->batch_dims ? "   batch_dims" : "");
  if (op->tuples)
    printf("  tuples    of %s%s\n", op->tuples == GATHER_TUPLES_ANY ? "any length" : "at least one number",
           op->fused_batch ? "; the batch dimensions become one" : "");
  text_types("types", op->types);
  text_types("indices", op->index_types);
}

int gather_cli_cmd_ops(const gather_cli_args *args) {
  if (args->value[GATHER_CLI_JSON]) {
    gather_cli_json json = gather_cli_json_begin(stdout);
    gather_cli_json_string(&json, "command", "ops");
    gather_cli_json_array(&json, "ops");
    for (size_t i = 0; gather_op_at(i); i++) json_op(&json, gather_op_at(i));
    gather_cli_json_array_end(&json);
    gather_cli_json_finish(&json);
    return 0;
  }
  for (size_t i = 0; gather_op_at(i); i++) text_op(gather_op_at(i));
  printf(
      "\nnegative: indices below 0 count from the end. off axis: how the lengths of\n"
      "INDICES must compare with DATA's. tuples: the last dimension of INDICES has the\n"
      "numbers of a tuple. The types are those that each document lists; every other\n"
      "type works too.\n");
  return 0;
}
