/* SPDX-License-Identifier: MIT
 *
 * model_check.c: the check as callers see it, and the names of its answers.
 */
#include "model/model_check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

const char *gather_source_name(gather_source source) {
  static const char *const NAMES[] = {"none", "initializer", "constant", "input", "computed"};
  return source >= 0 && (size_t)source < sizeof NAMES / sizeof *NAMES ? NAMES[source] : "none";
}

const char *gather_verdict_name(gather_verdict verdict) {
  static const char *const NAMES[] = {"unknown", "ok", "bad"};
  return verdict >= 0 && (size_t)verdict < sizeof NAMES / sizeof *NAMES ? NAMES[verdict] : "unknown";
}

static gather_status check_function(gather_check *check, const gather_function *function, gather_error *error) {
  size_t room = strlen(function->name) + sizeof "function:";
  char *path = gather_arena_take(&check->arena, (int64_t)room, 1);
  if (!path) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a function's name");
  (void)snprintf(path, room, "function:%s", function->name);
  const gather_check_walk walk = {.path = path};
  return gather_check_graph(check, function->graph, &walk, error);
}

static gather_status check_all(gather_check *check, const gather_check_options *options, gather_error *error) {
  const gather_graph_file *file = check->model->graph_file;
  const gather_check_walk whole = {.path = "main"};
  GATHER_TRY(gather_check_given(check, options, error));
  check->nodes = gather_arena_take(&check->arena, check->model->node_count, sizeof *check->nodes);
  check->graphs = gather_arena_take(&check->arena, check->model->node_count, sizeof *check->graphs);
  if (!check->nodes || !check->graphs)
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the nodes of a model");
  GATHER_TRY(gather_check_functions(check, error));
  GATHER_TRY(gather_check_graph(check, file->graph, &whole, error));
  for (int64_t i = 0; i < file->function_count; i++) GATHER_TRY(check_function(check, &file->functions[i], error));
  if (!gather_check_causes(check)) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory to check a model");
  return GATHER_OK;
}

gather_status gather_model_check(const gather_model *model, const gather_check_options *options, gather_check **check,
                                 gather_error *error) {
  return gather_check_create(model, options, NULL, 0, check, error);
}

gather_status gather_check_create(const gather_model *model, const gather_check_options *options,
                                  const gather_override *overrides, int64_t override_count, gather_check **check,
                                  gather_error *error) {
  if (!model || !check) return gather_fail(error, GATHER_USAGE, "the model or the place for the check is NULL");
  *check = NULL;
  GATHER_TRY(gather_model_check_names(model, error));
  gather_check *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a check");
  made->model = model;
  made->overrides = overrides;
  made->override_count = override_count;
  made->parts_left = GATHER_ALL_PARTS;
  made->repeated_left = GATHER_ALL_REPEATED;
  gather_status status = check_all(made, options, error);
  if (status == GATHER_OK)
    *check = made;
  else
    gather_check_destroy(made);
  return status;
}

gather_status gather_check_probe(const gather_model *model, const gather_check_options *options, int64_t number,
                                 bool *known, gather_error *error) {
  gather_check *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a check");
  made->model = model;
  made->parts_left = GATHER_ALL_PARTS;
  made->repeated_left = GATHER_ALL_REPEATED;
  made->probe = true;
  gather_status status = check_all(made, options, error);
  *known = status == GATHER_OK && number < made->count && made->nodes[number].indices_known;
  gather_check_destroy(made);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
}

void gather_check_destroy(gather_check *check) {
  if (!check) return;
  gather_arena_clear(&check->arena);
  gather_free(check);
}

int64_t gather_check_count(const gather_check *check) { return check->count; }

const gather_model_node *gather_check_at(const gather_check *check, int64_t i) {
  return i >= 0 && i < check->count ? &check->nodes[i] : NULL;
}

int64_t gather_check_verdicts(const gather_check *check, gather_verdict verdict) {
  int64_t count = 0;
  for (int64_t i = 0; i < check->count; i++) count += check->nodes[i].verdict == verdict;
  return count;
}

static gather_status no_node(const gather_check *check, const char *name, gather_error *error) {
  char names[320] = "";
  size_t at = 0;
  for (int64_t i = 0; i < check->count && at < sizeof names; i++) {
    if (!*check->nodes[i].name) continue;
    int wrote = snprintf(names + at, sizeof names - at, "%s'%.60s'", at ? ", " : "", check->nodes[i].name);
    at += wrote > 0 ? (size_t)wrote : 0;
  }
  if (!name)
    return gather_fail(error, GATHER_NAME_NOT_FOUND,
                       check->count ? "the model has more than one gather node: %s" : "the model has no gather node",
                       names);
  return gather_fail(error, GATHER_NAME_NOT_FOUND, "the model has no gather node '%.80s'; it has %s", name,
                     *names ? names : "none with a name");
}

gather_status gather_check_find(const gather_check *check, const char *name, const gather_model_node **node,
                                gather_error *error) {
  *node = NULL;
  if (!name && check->count == 1) {
    *node = &check->nodes[0];
    return GATHER_OK;
  }
  for (int64_t i = 0; name && i < check->count; i++) {
    if (strcmp(check->nodes[i].name, name) != 0) continue;
    if (*node) {
      *node = NULL;
      return gather_fail(error, GATHER_USAGE, "two or more gather nodes are called '%.80s'", name);
    }
    *node = &check->nodes[i];
  }
  return *node ? GATHER_OK : no_node(check, name, error);
}
