/* SPDX-License-Identifier: MIT
 *
 * node_path.h: the paths of graphs and nodes. Between two names is one slash, also where exporters begin names with one.
 */
#ifndef GATHER_MODEL_NODE_PATH_H
#define GATHER_MODEL_NODE_PATH_H

#include "core/base/arena.h"
#include "io/format/graph.h"

/* A name without the slashes that it begins with, as it is in a path; one of slashes only as it is. */
const char *gather_path_name(const char *name);
/* PATH/NODE/TAIL: the path of a graph in a node; NULL if out of memory. */
const char *gather_path_inner(gather_arena *arena, const char *path, const gather_node *node, int64_t number,
                              const char *tail);
/* The same into `text`, as snprintf prints: PATH/NODE/TAIL. */
int gather_path_print(char *text, size_t bytes, const char *path, const gather_node *node, int64_t number,
                      const char *tail);
/* "function:NAME", with its domain and overload if asked for, as snprintf prints. */
int gather_path_function(char *text, size_t bytes, const gather_function *function, bool domain, bool overload);
/* What a name has after the path of a graph and a slash; NULL if it begins with another path. */
const char *gather_path_behind(const char *wanted, const char *path);
/* Whether two names are the same in a path. */
bool gather_path_same(const char *a, const char *b);

#endif
