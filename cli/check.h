/* SPDX-License-Identifier: MIT
 *
 * check.h: `gather check`: what it says, as text and as JSON.
 */
#ifndef GATHER_CLI_CHECK_H
#define GATHER_CLI_CHECK_H

#include "args.h"
#include "gather/model.h"

enum { GATHER_CLI_ADVICE_DIMS = 16 };

/* What was found out for advice. Starts as zero but for the model and what was given. */
typedef struct gather_cli_advice {
  const gather_model *model;
  const gather_check_options *options;
  int asked, dim_count;
  const char *dims[GATHER_CLI_ADVICE_DIMS]; /* names of dimensions, and whether --dim takes them */
  bool taken[GATHER_CLI_ADVICE_DIMS];
  char **texts; /* of each node; NULL = none */
  int64_t count;
} gather_cli_advice;

/* Finds out what to give so that unknown nodes become known. Returns GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_advice_make(gather_cli_advice *advice, const gather_check *check,
                                                    gather_error *error);
void gather_cli_advice_clear(gather_cli_advice *advice);

/* The answers; the advice is of that check. */
void gather_cli_check_text(const gather_cli_args *args, const gather_cli_advice *advice, const gather_check *check);
void gather_cli_check_json(const gather_cli_args *args, const gather_cli_advice *advice, const gather_check *check);

/* Says on stdout where a node stands: "main/embed", or the operator and its number where it has no name. */
void gather_cli_put_node(const gather_model_node *node);
/* The same into text. */
void gather_cli_node_text(const gather_model_node *node, char *text, size_t bytes);
/* "1 GatherND node" on stdout: the nodes that take indices and are not looked at, with words before them, and behind one or more.
 * Nothing where there are none. */
void gather_cli_put_not_checked(const gather_model *model, const char *before, const char *one, const char *more);
/* A line on stdout for each file that is missing or too short, with how many tensors need it. */
void gather_cli_put_unreadable(const gather_file *file);
/* Why a bad node may be so, and what each runtime does with it. */
void gather_cli_put_bad(const gather_model_node *node, int indent);
struct gather_cli_json;
void gather_cli_json_not_checked(struct gather_cli_json *json, const gather_model *model);
/* "unreadable": the tensors that cannot be read, and why; nothing where there are none. */
void gather_cli_json_unreadable(struct gather_cli_json *json, const gather_file *file);
void gather_cli_json_runtimes(struct gather_cli_json *json, const gather_model_node *node);

#endif
