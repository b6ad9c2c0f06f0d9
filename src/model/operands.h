/* SPDX-License-Identifier: MIT
 *
 * operands.h: one gather node of a model: which one a name means.
 */
#ifndef GATHER_MODEL_OPERANDS_H
#define GATHER_MODEL_OPERANDS_H

#include "model/model_check.h"
#include "model/model_run.h"

/* The number, in the check, of the gather node that a name means; NULL means the only one. Returns
 * GATHER_NAME_NOT_FOUND or
 * GATHER_USAGE with a list of the nodes. */
GATHER_CHECKED gather_status gather_operands_choose(const gather_check *check, const char *name, int64_t *number,
                                                    gather_error *error);

/* The further inputs of the model that a check needs to know the node's indices: at most 8, in names. None if inputs
 * are not enough, or if the node is in an inner graph. */
GATHER_CHECKED gather_status gather_operands_inputs(const gather_check *check, const gather_check_options *given,
                                                    int64_t number, gather_running *run, const char **names,
                                                    int64_t *count, gather_error *error);

/* At most so many names come from the two functions. */
enum { GATHER_MOST_LEADING = 8 };

/* The further inputs of the model that make node `number` known to that extent; none if inputs are not enough. The check's own inputs
 * and dimensions stay given. */
GATHER_CHECKED gather_status gather_operands_reach(const gather_check *check, int64_t number, gather_goal goal,
                                                   gather_arena *arena, const char **names, int64_t *count,
                                                   gather_error *error);

#endif
