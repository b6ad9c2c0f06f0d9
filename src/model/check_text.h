/* SPDX-License-Identifier: MIT
 *
 * check_text.h: parts of the text of a check, which drawings have too.
 */
#ifndef GATHER_MODEL_CHECK_TEXT_H
#define GATHER_MODEL_CHECK_TEXT_H

#include "core/base/growing.h"
#include "gather/model.h"

/* Adds the likely cause of a bad index, and a line for each runtime with what it does. indent: blanks before each line. */
void gather_model_bad_text(const gather_model_node *node, int indent, gather_growing *to);
/* Adds a line for each file that is missing or too short. all: where the rest is listed; NULL. */
void gather_file_unreadable_lines(const gather_file *file, const char *all, gather_growing *to);
/* Adds "2 ScatterND nodes and 1 ScatterUpdate node", and returns how many nodes that are. */
int64_t gather_model_not_checked_words(const gather_model *model, gather_growing *to);

#endif
