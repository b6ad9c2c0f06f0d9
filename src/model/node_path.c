/* SPDX-License-Identifier: MIT
 *
 * node_path.c: the paths of graphs and nodes, also of unnamed ones.
 */
#include "model/node_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gather/model.h"

const char *gather_path_name(const char *name) {
  const char *rest = name + strspn(name, "/");
  return *rest ? rest : name;
}

int gather_path_print(char *text, size_t bytes, const char *path, const gather_node *node, int64_t number,
                      const char *tail) {
  return *node->name ? snprintf(text, bytes, "%s/%s/%s", path, gather_path_name(node->name), tail)
                     : snprintf(text, bytes, "%s/%s_%" PRId64 "/%s", path, node->op, number, tail);
}

const char *gather_path_inner(gather_arena *arena, const char *path, const gather_node *node, int64_t number,
                              const char *tail) {
  const size_t room = strlen(path) + strlen(node->name) + strlen(node->op) + strlen(tail) + 32;
  char *text = gather_arena_take(arena, (int64_t)room, 1);
  if (text) (void)gather_path_print(text, room, path, node, number, tail);
  return text;
}

int gather_path_function(char *text, size_t bytes, const gather_function *function, bool domain, bool overload) {
  return snprintf(text, bytes, "function:%s%s%s%s%s", domain ? function->domain : "",
                  domain && *function->domain ? "." : "", function->name, overload && *function->overload ? ":" : "",
                  overload ? function->overload : "");
}

const char *gather_path_behind(const char *wanted, const char *path) {
  for (;; wanted++, path++) {
    if (*wanted == '/' && !*path) return wanted + 1;
    if (*wanted != *path || !*path) return NULL;
    if (*wanted == '/') wanted += strspn(wanted, "/") - 1; /* "main//x" is main/x */
  }
}

bool gather_path_same(const char *a, const char *b) { return strcmp(gather_path_name(a), gather_path_name(b)) == 0; }

size_t gather_model_node_path(const gather_model_node *node, char *text, size_t bytes) {
  int length = *node->name ? snprintf(text, bytes, "%s/%s", node->graph, gather_path_name(node->name))
                           : snprintf(text, bytes, "%s/%s_%" PRId64, node->graph, node->op, node->number);
  return length > 0 ? (size_t)length : 0;
}
