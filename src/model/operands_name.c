/* SPDX-License-Identifier: MIT
 *
 * operands_name.c: the gather node that a name means.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "model/operands.h"

/* How well a name matches a node: the more of the path it has, the better. */
typedef enum fit { FIT_NONE = 0, FIT_OUTPUT, FIT_NUMBER, FIT_NAME, FIT_PATH } fit;

/* The part of the name after the path of the graph. "function:NAME/g" is g in any call of that function. */
static const char *behind(const char *wanted, const char *path) {
  const char *rest = gather_path_behind(wanted, path);
  for (const char *at = path; !rest && (at = strstr(at, "/function:")) != NULL; at++)
    rest = gather_path_behind(wanted, at + 1);
  return rest;
}

static fit fit_of(const gather_model_node *node, const char *wanted) {
  const char *name = *node->name ? node->name : node->output.name, *rest = behind(wanted, node->graph);
  char number[64];
  (void)snprintf(number, sizeof number, "%s_%" PRId64, node->op, node->number);
  if (!*wanted) return FIT_NONE;
  if (rest && *rest && gather_path_same(rest, name)) return FIT_PATH;
  if (strcmp(wanted, name) == 0) return FIT_NAME;
  if (rest && strcmp(rest, number) == 0) return FIT_NUMBER;
  return strcmp(rest ? rest : wanted, node->output.name) == 0 ? FIT_OUTPUT : FIT_NONE;
}

/* Lists the nodes that match so well, each by a name that selects it. */
static void list(const gather_check *check, const char *wanted, fit best, char *text, size_t bytes) {
  size_t at = 0;
  int64_t left = 0;
  for (int64_t i = 0; i < check->count; i++) {
    char one[200];
    const gather_model_node *node = &check->nodes[i];
    const char *name = *node->name ? node->name : node->output.name;
    if (best != FIT_NONE && fit_of(node, wanted) != best) continue;
    int len = *name && best != FIT_PATH
                  ? snprintf(one, sizeof one, "%s/%s", node->graph, gather_path_name(name))
                  : snprintf(one, sizeof one, "%s/%s_%" PRId64, node->graph, node->op, node->number);
    if (len < 0 || (size_t)len >= sizeof one || at + (size_t)len + 32 > bytes)
      left++;
    else
      at += (size_t)snprintf(text + at, bytes - at, "%s'%s'", at ? ", " : "", one);
  }
  if (left) (void)snprintf(text + at, bytes - at, "%s%" PRId64 " more", at ? " and " : "", left);
}

gather_status gather_operands_choose(const gather_check *check, const char *name, int64_t *number,
                                     gather_error *error) {
  char names[400] = "";
  fit best = FIT_NONE;
  int64_t count = name ? 0 : check->count;
  *number = 0;
  for (int64_t i = 0; name && i < check->count; i++) {
    fit one = fit_of(&check->nodes[i], name);
    if (one == FIT_NONE || one < best) continue;
    count = one == best ? count + 1 : 1;
    best = one;
    *number = i;
  }
  if (count == 1) return GATHER_OK;
  if (check->count == 0) return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no gather node");
  list(check, name ? name : "", best, names, sizeof names);
  if (name && count == 0)
    return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no gather node '%.80s'; it has %s", name, names);
  if (!name)
    return gather_fail(error, GATHER_USAGE, "the model has %" PRId64 " gather nodes; name one of them: %s", count,
                       names);
  return gather_fail(error, GATHER_USAGE, "'%.80s' is ambiguous: it matches %" PRId64 " gather nodes: %s", name, count,
                     names);
}
