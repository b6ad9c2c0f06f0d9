/* SPDX-License-Identifier: MIT
 *
 * explain_json.c: the drawing as one JSON object: every output cell that is shown, with where it comes from.
 */
#include "check.h"
#include "explain.h"
#include "json.h"
#include "report.h"

static void one_cell(const gather_cli_explain *ex, gather_cli_json *json, const int64_t *at) {
  gather_cli_origin origin = gather_cli_explain_out(ex, at);
  gather_cli_json_object(json, NULL);
  gather_cli_json_ints(json, "out", ex->table[GATHER_CLI_PART_OUT].rank, at);
  if (origin.value_is_unsigned)
    gather_cli_json_uint(json, "index", (uint64_t)origin.value);
  else
    gather_cli_json_int(json, "index", origin.value);
  gather_cli_json_bool(json, "bad", origin.bad);
  if (origin.has_source) {
    gather_cli_json_int(json, "row", origin.row);
    gather_cli_json_ints(json, "data", ex->table[GATHER_CLI_PART_DATA].rank, origin.data);
  } else {
    gather_cli_json_string(json, "row", NULL);
    gather_cli_json_string(json, "data", NULL);
  }
  gather_cli_json_object_end(json);
}

static int64_t all_cells(const gather_cli_explain *ex, gather_cli_json *json) {
  const gather_cli_table *table = &ex->table[GATHER_CLI_PART_OUT];
  int64_t at[GATHER_MAX_RANK] = {0}, shown = 0;
  for (int s = 0; gather_cli_explain_slice(table, s, at); s++) {
    const gather_cli_pick *rows = gather_cli_explain_rows(table), *columns = gather_cli_explain_columns(table);
    for (int r = 0; r < rows->count; r++)
      for (int c = 0; c < columns->count; c++, shown++) {
        gather_cli_explain_at(table, rows->at[r], columns->at[c], at);
        one_cell(ex, json, at);
      }
  }
  return shown;
}

void gather_cli_explain_json(const gather_cli_explain *ex, FILE *to) {
  char text[512];
  const gather_cli_table *table = ex->table;
  gather_cli_json json = gather_cli_json_begin(to);
  gather_cli_json_string(&json, "command", ex->job.args->command->name);
  if (ex->node) {
    gather_cli_node_text(ex->node, text, sizeof text);
    gather_cli_json_string(&json, "model", ex->job.args->argument[0]);
    gather_cli_json_string(&json, "node", text);
    gather_cli_json_bool(&json, "data_known", !ex->made_up);
    gather_error why;
    if (ex->node->data.unreadable && gather_file_tensor_check(ex->node->data.unreadable, &why) != GATHER_OK)
      gather_cli_json_string(&json, "data_unreadable", why.message);
  }
  gather_cli_json_string(&json, "op", ex->job.op->name);
  gather_cli_json_string(&json, "rules", ex->job.op->rules);
  gather_cli_json_int(&json, "axis", ex->axis);
  gather_cli_json_int(&json, "batch_dims", ex->batch);
  gather_cli_explain_formula(ex, text, sizeof text);
  gather_cli_json_string(&json, "formula", text);
  gather_cli_json_ints(&json, "data_shape", table[GATHER_CLI_PART_DATA].rank, table[GATHER_CLI_PART_DATA].shape);
  gather_cli_json_ints(&json, "indices_shape", table[GATHER_CLI_PART_INDICES].rank,
                       table[GATHER_CLI_PART_INDICES].shape);
  gather_cli_json_ints(&json, "output_shape", table[GATHER_CLI_PART_OUT].rank, table[GATHER_CLI_PART_OUT].shape);
  if (ex->job.output) gather_cli_json_string(&json, "output", ex->job.output);
  gather_cli_json_array(&json, "cells");
  int64_t shown = all_cells(ex, &json);
  gather_cli_json_array_end(&json);
  gather_tensor out = {.type = GATHER_TYPE_INT8, .rank = ex->job.writing.rank, .shape = ex->job.shape};
  gather_cli_json_bool(&json, "complete", shown == gather_tensor_len(&out));
  if (ex->failed) {
    gather_cli_hint(ex->job.args, &ex->error, text, sizeof text);
    gather_cli_json_error(&json, &ex->error, ex->node ? ex->node->name : "", text);
    if (ex->node) gather_cli_json_runtimes(&json, ex->node);
  }
  gather_cli_json_finish(&json);
}
