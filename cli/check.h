/* SPDX-License-Identifier: MIT
 *
 * check.h: `gather check`: what it says, as text and as JSON.
 */
#ifndef GATHER_CLI_CHECK_H
#define GATHER_CLI_CHECK_H

#include "args.h"
#include "gather/model.h"

/* How to list all tensors that cannot be read. */
#define GATHER_CLI_UNREADABLE_ALL "gather info --json lists all"

/* A gather_advice_writer: "--input a=TENSOR --input b=TENSOR". */
void gather_cli_advice_write(void *context, const gather_advice *advice, char *text, size_t bytes);

/* The answer as JSON; the advice is of that check. only: the number of the only node in it; -1: all. */
void gather_cli_check_json(const gather_cli_args *args, const gather_model *model, const gather_check *check,
                           const gather_check_advice *advice, int64_t only);

/* "1 ScatterND node" on stdout, and words after it: nodes that take indices and are not checked. Nothing if there are none. */
void gather_cli_put_not_checked(const gather_model *model, const char *behind);
/* A line on stdout for each file that is missing or too short, with how many tensors need it. */
GATHER_CHECKED gather_status gather_cli_put_unreadable(const gather_file *file, gather_error *error);
struct gather_cli_json;
void gather_cli_json_not_checked(struct gather_cli_json *json, const gather_model *model);
/* "unreadable": the tensors that cannot be read, and why; nothing if there are none. */
void gather_cli_json_unreadable(struct gather_cli_json *json, const gather_file *file);
/* "repeated": an index of an operator that writes that selects the place of an earlier one: both of them. */
void gather_cli_json_repeated(struct gather_cli_json *json, const gather_error *repeated);
void gather_cli_json_runtimes(struct gather_cli_json *json, const gather_model_node *node);

#endif
