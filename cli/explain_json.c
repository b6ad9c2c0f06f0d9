/* SPDX-License-Identifier: MIT
 *
 * explain_json.c: the facts of a drawing as one JSON object: every output cell that is shown, with its source; of a
 * scatter every update that is shown, with its place.
 */
#include "check.h"
#include "explain_command.h"
#include "json.h"
#include "report.h"
#include "source.h"

static void one_number(gather_cli_json *json, const char *key, const gather_explain_cell *cell, int64_t value) {
  if (cell->value_is_unsigned)
    gather_cli_json_uint(json, key, (uint64_t)value);
  else
    gather_cli_json_int(json, key, value);
}

/* A tuple is an array of numbers, and so are the rows that it selects. */
static void one_index(const gather_explain_facts *facts, gather_cli_json *json, const gather_explain_cell *cell) {
  if (!facts->tuples) {
    one_number(json, "index", cell, cell->value);
    return;
  }
  gather_cli_json_array(json, "index");
  for (int32_t c = 0; c < facts->selected; c++) one_number(json, NULL, cell, cell->values[c]);
  gather_cli_json_array_end(json);
}

static void one_cell(const gather_explain_facts *facts, gather_cli_json *json, const gather_explain_cell *cell) {
  gather_cli_json_object(json, NULL);
  gather_cli_json_ints(json, facts->scatter ? "update" : "out", facts->output_rank, cell->out);
  one_index(facts, json, cell);
  gather_cli_json_bool(json, "bad", cell->bad);
  if (facts->scatter) gather_cli_json_bool(json, "repeated", cell->repeated);
  if (cell->has_source) {
    if (facts->tuples)
      gather_cli_json_ints(json, "row", facts->selected, cell->data + facts->axis);
    else
      gather_cli_json_int(json, "row", cell->row);
    gather_cli_json_ints(json, "data", facts->data_rank, cell->data);
  } else {
    gather_cli_json_string(json, "row", NULL);
    gather_cli_json_string(json, "data", NULL);
  }
  gather_cli_json_object_end(json);
}

/* If the drawing is of a model's node. */
static void json_node(const gather_cli_explain *ex, const gather_explain_facts *facts, gather_cli_json *json) {
  char path[512];
  gather_error why;
  const gather_file_tensor *unreadable = facts->node->data.unreadable;
  (void)gather_model_node_path(facts->node, path, sizeof path);
  gather_cli_json_string(json, "model", gather_cli_shown_name(ex->job.args, gather_model_describe(ex->model.model)->file));
  gather_cli_json_string(json, "node", path);
  gather_cli_json_bool(json, "data_known", !facts->made_up);
  if (unreadable && gather_file_tensor_check(unreadable, &why) != GATHER_OK) gather_cli_json_string(json, "data_unreadable", why.message);
}

static void json_cells(const gather_explain *drawing, const gather_explain_facts *facts, gather_cli_json *json) {
  gather_explain_cell cell;
  gather_cli_json_array(json, "cells");
  for (int64_t i = 0; gather_explain_cell_at(drawing, i, &cell); i++) one_cell(facts, json, &cell);
  gather_cli_json_array_end(json);
  gather_cli_json_bool(json, "complete", facts->complete);
}

static void json_failure(const gather_cli_args *args, const gather_explain_facts *facts, gather_cli_json *json) {
  char hint[512];
  gather_cli_hint(args, facts->error, hint, sizeof hint);
  gather_cli_json_error(json, facts->error, facts->node ? facts->node->name : "", hint);
  if (facts->node && facts->error->status == GATHER_INDEX_OUT_OF_RANGE) gather_cli_json_runtimes(json, facts->node);
}

void gather_cli_explain_json(const gather_cli_explain *ex, FILE *to) {
  const gather_cli_args *args = ex->job.args;
  const gather_explain_facts *facts = gather_explain_facts_of(ex->drawing);
  gather_cli_json json = gather_cli_json_begin(to);
  gather_cli_json_string(&json, "command", args->command->name);
  if (facts->node) json_node(ex, facts, &json);
  gather_cli_json_string(&json, "op", facts->op->name);
  gather_cli_json_string(&json, "rules", facts->op->rules);
  if (facts->scatter) gather_cli_json_string(&json, "reduction", gather_reduction_name(facts->scatter->reduction));
  gather_cli_json_int(&json, "axis", facts->axis);
  gather_cli_json_int(&json, "batch_dims", facts->batch_dims);
  gather_cli_json_string(&json, "formula", facts->formula);
  gather_cli_json_ints(&json, "data_shape", facts->data_rank, facts->data_shape);
  gather_cli_json_ints(&json, "indices_shape", facts->indices_rank, facts->indices_shape);
  if (facts->scatter) gather_cli_json_ints(&json, "updates_shape", facts->output_rank, facts->output_shape);
  if (facts->scatter)
    gather_cli_json_ints(&json, "output_shape", facts->data_rank, facts->data_shape);
  else
    gather_cli_json_ints(&json, "output_shape", facts->output_rank, facts->output_shape);
  if (ex->job.output) gather_cli_json_string(&json, "output", ex->job.output);
  json_cells(ex->drawing, facts, &json);
  if (facts->repeated) gather_cli_json_repeated(&json, facts->repeated);
  if (facts->error) json_failure(args, facts, &json);
  gather_cli_json_finish(&json);
}
