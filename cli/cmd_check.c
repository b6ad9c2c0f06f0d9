/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c: `gather check`: every gather node of a model, and what is wrong with its indices.
 */
#include "check.h"
#include "commands.h"
#include "model_given.h"
#include "report.h"

static gather_status check_model(const gather_cli_args *args, gather_cli_model *model, gather_check_options *options,
                                 gather_cli_advice *advice, gather_check **check, gather_error *error) {
  GATHER_CLI_TRY(gather_cli_model_open(args, model, options, error));
  GATHER_CLI_TRY(gather_model_check(model->model, options, check, error));
  advice->model = model->model;
  advice->options = options;
  return gather_cli_advice_make(advice, *check, error);
}

int gather_cli_cmd_check(const gather_cli_args *args) {
  gather_cli_model model = {0};
  gather_check_options options;
  gather_cli_advice advice = {0};
  gather_check *check = NULL;
  gather_error error;
  int code = 0;
  gather_status status = check_model(args, &model, &options, &advice, &check, &error);
  if (status == GATHER_OK) {
    (args->value[GATHER_CLI_JSON] ? gather_cli_check_json : gather_cli_check_text)(args, &advice, check);
    code = gather_check_verdicts(check, GATHER_VERDICT_BAD) > 0;
  } else {
    code = gather_cli_report(args, &error);
  }
  gather_cli_advice_clear(&advice);
  gather_check_destroy(check);
  gather_cli_model_close(&model);
  return code;
}
