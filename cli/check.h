/* SPDX-License-Identifier: MIT
 *
 * check.h: `gather check`: what it says, as text and as JSON.
 */
#ifndef GATHER_CLI_CHECK_H
#define GATHER_CLI_CHECK_H

#include "args.h"
#include "gather/model.h"

void gather_cli_check_text(const gather_cli_args *args, const gather_model *model, const gather_check *check);
void gather_cli_check_json(const gather_cli_args *args, const gather_model *model, const gather_check *check);

/* Says on stdout where a node stands: "main/embed", or the operator and its number where it has no name. */
void gather_cli_put_node(const gather_model_node *node);
/* The same into text. */
void gather_cli_node_text(const gather_model_node *node, char *text, size_t bytes);
/* Why a bad node may be so, and what each runtime does with it. */
void gather_cli_put_bad(const gather_model_node *node);
struct gather_cli_json;
void gather_cli_json_runtimes(struct gather_cli_json *json, const gather_model_node *node);

#endif
