/* SPDX-License-Identifier: MIT
 *
 * model_given.h: MODEL, and the values of --input and --dim, for `check` and `explain`.
 */
#ifndef GATHER_CLI_MODEL_GIVEN_H
#define GATHER_CLI_MODEL_GIVEN_H

#include "gather/model.h"
#include "tensor_arg.h"

/* Starts as all zero. */
typedef struct gather_cli_model {
  gather_cli_input file;
  gather_model *model;
  gather_cli_input *files; /* of --input */
  gather_model_input *inputs;
  gather_model_dim *dims;
  int input_count, dim_count;
} gather_cli_model;

/* Reads the line, opens the model and the inputs: in this order, so that mistakes on the line come first. options: the given values,
 * for the library. */
GATHER_CHECKED gather_status gather_cli_model_open(const gather_cli_args *args, gather_cli_model *model, gather_check_options *options,
                                                   gather_error *error);
void gather_cli_model_close(gather_cli_model *model);

#endif
