/* SPDX-License-Identifier: MIT
 *
 * run_once.c: one run of the model, for `gather run` and for each set of test data.
 */
#include "run.h"

gather_status gather_cli_run_once(gather_cli_run *run, gather_error *error) {
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  options.node = run->args->value[GATHER_CLI_NODE];
  options.executor = run->pool ? gather_pool_executor(run->pool) : NULL;
  options.failed_node = &run->failed_node;
  options.memory_bytes = run->memory_bytes;
  return gather_model_run(run->model, run->given, run->input_count, &options, &run->result, error);
}
