/* SPDX-License-Identifier: MIT
 *
 * explain_node.c: the line of `gather explain MODEL`: one gather node of a model.
 */
#include <string.h>

#include "check.h"
#include "explain_command.h"
#include "report.h"
#include "source.h"
#include "writing.h"

/* The model defines these: they cannot be given again. */
static gather_status check_line(const gather_cli_args *args, gather_error *error) {
  static const gather_cli_option_id THE_MODELS[] = {GATHER_CLI_AXIS,    GATHER_CLI_BATCH,   GATHER_CLI_RULES,    GATHER_CLI_ELEMENTS,
                                                    GATHER_CLI_DRAW_ND, GATHER_CLI_TYPE,    GATHER_CLI_SHAPE,    GATHER_CLI_OFFSET,
                                                    GATHER_CLI_I_TYPE,  GATHER_CLI_I_SHAPE, GATHER_CLI_I_OFFSET, GATHER_CLI_DRAW_SCATTER};
  for (size_t i = 0; i < sizeof THE_MODELS / sizeof *THE_MODELS; i++)
    if (args->value[THE_MODELS[i]])
      return gather_cli_fail(error, GATHER_USAGE, "--%s needs DATA and INDICES; a MODEL defines this itself",
                             gather_cli_option_at(THE_MODELS[i])->name);
  return GATHER_OK;
}

/* Parses the V of fill=V as one element of the node's data. */
static gather_status read_fill(gather_cli_explain *ex, gather_error *error) {
  const gather_operand *data = &gather_model_operands_describe(ex->operands)->node->data;
  const gather_type_info *type = gather_type_get(data->type != GATHER_TYPE_NONE ? data->type : GATHER_TYPE_INT64);
  gather_file_tensor *like = &ex->job.data.tensor;
  like->type_name = type->name;
  like->tensor = data->value ? *data->value : (gather_tensor){.type = type->type};
  return gather_cli_job_fill(&ex->job, error);
}

/* The command runs promise as clamp; the drawing shows promise. */
void gather_cli_explain_policy(gather_cli_explain *ex) {
  const char *text = ex->job.args->value[GATHER_CLI_ON_BAD];
  if (text && strcmp(text, "promise") == 0) ex->job.options.on_bad = GATHER_ON_BAD_PROMISE;
}

static gather_status spare_inputs(const gather_cli_explain *ex, gather_error *error) {
  const char *path = ex->job.to_stdout ? NULL : ex->job.output;
  GATHER_CLI_TRY(gather_cli_writing_spare(path, &ex->model.file, "MODEL", error));
  for (int i = 0; i < ex->model.input_count; i++)
    GATHER_CLI_TRY(gather_cli_writing_spare(path, &ex->model.files[i], ex->model.inputs[i].name, error));
  return GATHER_OK;
}

gather_status gather_cli_explain_model(gather_cli_explain *ex, gather_error *error) {
  const gather_cli_args *args = ex->job.args;
  gather_explain_options told = GATHER_EXPLAIN_OPTIONS_INIT;
  gather_check_options options;
  GATHER_CLI_TRY(check_line(args, error));
  GATHER_CLI_TRY(gather_cli_job_options(&ex->job, error));
  GATHER_CLI_TRY(gather_cli_model_open(args, &ex->model, &options, error));
  GATHER_CLI_TRY(spare_inputs(ex, error));
  GATHER_CLI_TRY(gather_model_operands_find(ex->model.model, args->value[GATHER_CLI_NODE], &options, &ex->operands, error));
  GATHER_CLI_TRY(read_fill(ex, error));
  gather_cli_explain_policy(ex);
  told.fill_text = ex->job.fill;
  told.model_name = gather_cli_shown_name(args, gather_model_describe(ex->model.model)->file);
  told.writer = gather_cli_advice_write;
  return gather_explain_create_node(ex->operands, &ex->job.options, &told, &ex->drawing, error);
}
