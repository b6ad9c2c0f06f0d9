/* SPDX-License-Identifier: MIT
 *
 * model_check.c: the check as callers see it, and the names of its answers.
 */
#include "model/model_check.h"

#include "core/base/alloc.h"
#include "core/base/error.h"

const char *gather_source_name(gather_source source) {
  static const char *const NAMES[] = {"none", "initializer", "constant", "input", "computed"};
  return source >= 0 && (size_t)source < sizeof NAMES / sizeof *NAMES ? NAMES[source] : "none";
}

const char *gather_verdict_name(gather_verdict verdict) {
  static const char *const NAMES[] = {"unknown", "ok", "bad"};
  return verdict >= 0 && (size_t)verdict < sizeof NAMES / sizeof *NAMES ? NAMES[verdict] : "unknown";
}

static void summarise(gather_check *check) {
  gather_check_info *info = &check->info;
  *info = (gather_check_info){
      .count = check->count, .contradictions = check->contradictions, .contradiction_count = check->contradiction_count};
  for (int64_t i = 0; i < check->count; i++) {
    const gather_verdict verdict = check->nodes[i].verdict;
    info->ok += verdict == GATHER_VERDICT_OK;
    info->unknown += verdict == GATHER_VERDICT_UNKNOWN;
    info->bad += verdict == GATHER_VERDICT_BAD;
  }
}

static gather_status check_all(gather_check *check, const gather_check_options *options, gather_error *error) {
  GATHER_TRY(gather_check_given(check, options, error));
  GATHER_TRY(gather_check_walk(check, error));
  if (!gather_check_causes(check)) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory while checking the model");
  summarise(check);
  return GATHER_OK;
}

gather_status gather_model_check(const gather_model *model, const gather_check_options *options, gather_check **check,
                                 gather_error *error) {
  return gather_check_create(model, options, NULL, 0, check, error);
}

gather_status gather_check_create(const gather_model *model, const gather_check_options *options, const gather_override *overrides,
                                  int64_t override_count, gather_check **check, gather_error *error) {
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

static bool reaches(const gather_check *check, int64_t number, gather_goal goal) {
  const gather_model_node *node = &check->nodes[number];
  if (check->places[number].never) return goal == GATHER_GOAL_RUNS;
  if (!node->axis_known && *node->axis_name) return false;
  if (!node->indices_known || (goal >= GATHER_GOAL_LENGTHS && node->component_count < 0)) return false;
  for (int32_t c = 0; goal >= GATHER_GOAL_LENGTHS && c < node->component_count; c++)
    if (node->components[c].len < 0) return false;
  return goal < GATHER_GOAL_RUNS || !check->places[number].perhaps;
}

gather_status gather_check_probe(const gather_model *model, const gather_check_options *options, int64_t number, gather_goal goal,
                                 bool *known, gather_error *error) {
  gather_check *made = gather_alloc((int64_t)sizeof *made);
  if (!made) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a check");
  made->model = model;
  made->parts_left = GATHER_ALL_PARTS;
  made->repeated_left = GATHER_ALL_REPEATED;
  made->probe = true;
  gather_status status = check_all(made, options, error);
  *known = status == GATHER_OK && number < made->count && reaches(made, number, goal);
  gather_check_destroy(made);
  return status == GATHER_OUT_OF_MEMORY ? status : GATHER_OK;
}

void gather_check_destroy(gather_check *check) {
  if (!check) return;
  gather_arena_clear(&check->arena);
  gather_free(check);
}

const gather_model_node *gather_check_at(const gather_check *check, int64_t i) {
  return i >= 0 && i < check->count ? &check->nodes[i] : NULL;
}

gather_status gather_check_find(const gather_check *check, const char *name, const gather_model_node **node, gather_error *error) {
  int64_t number;
  *node = NULL;
  gather_status status = gather_check_choose(check, name, &number, error);
  if (status == GATHER_USAGE && !name) { /* as since 0.2: several nodes have no only one */
    status = GATHER_NAME_NOT_FOUND;
    if (error) error->status = status;
  }
  if (status == GATHER_OK) *node = &check->nodes[number];
  return status;
}

const gather_check_info *gather_check_describe(const gather_check *check) { return &check->info; }
