/* SPDX-License-Identifier: MIT
 *
 * run_write.c: writes outputs of `run`: --output NAME=FILE for each of them, or --output FILE for all. Outputs that go
 * to one .safetensors file are written together.
 */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "run.h"
#include "writing.h"

static gather_status no_memory(gather_error *error) {
  return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the command's arguments");
}

/* ---- the command line */

static gather_status copy_name(const char *text, size_t bytes, char **name, gather_error *error) {
  *name = calloc(bytes + 1, 1);
  if (!*name) return no_memory(error);
  memcpy(*name, text, bytes);
  return GATHER_OK;
}

/* FILE without a name is for all outputs; then it is the only --output. */
static gather_status read_output(gather_cli_run *run, int i, gather_error *error) {
  gather_cli_run_output *output = &run->outputs[i];
  const char *text = gather_cli_value_at(run->args, GATHER_CLI_OUTPUT, i), *file;
  size_t bytes;
  run->output_count = i + 1;
  if (strchr(text, '=')) {
    GATHER_CLI_TRY(gather_cli_pair(text, GATHER_CLI_OUTPUT, &bytes, &file, error));
    GATHER_CLI_TRY(copy_name(text, bytes, &output->name, error));
    return gather_cli_out_read(file, "--output", &output->out, error);
  }
  if (gather_cli_out_read(text, "--output", &output->out, error) != GATHER_OK)
    return gather_cli_fail(error, GATHER_USAGE, "--output takes NAME=FILE here, or FILE for all outputs, not '%.200s'", text);
  run->all_outputs = true;
  if (i > 0 || gather_cli_value_at(run->args, GATHER_CLI_OUTPUT, 1))
    return gather_cli_fail(error, GATHER_USAGE, "--output %.200s is for all outputs, so it must be the only --output", text);
  if (!output->out.name) return GATHER_OK;
  return gather_cli_fail(error, GATHER_USAGE, "--output %.200s: for which output? NAME=FILE.safetensors:TENSOR says it", text);
}

/* A file of one tensor cannot be the target of two outputs. */
static gather_status check_targets(const gather_cli_run *run, gather_error *error) {
  for (int64_t i = 0; i < run->output_count; i++)
    for (int64_t k = 0; k < i; k++) {
      const gather_cli_out *one = &run->outputs[k].out, *other = &run->outputs[i].out;
      if (strcmp(one->path, other->path) == 0 ? gather_cli_out_holds_several(one->format) : !gather_cli_out_same(one, other)) continue;
      if (strcmp(one->path, other->path) != 0)
        return gather_cli_fail(error, GATHER_USAGE, "the outputs %.200s and %.200s are one file", one->path, other->path);
      return gather_cli_fail(error, GATHER_USAGE,
                             "two outputs go to %.200s, but a file of the format %s holds one; .safetensors holds both", one->path,
                             one->format);
    }
  return GATHER_OK;
}

gather_status gather_cli_run_outputs_read(gather_cli_run *run, gather_error *error) {
  int count = 0;
  while (gather_cli_value_at(run->args, GATHER_CLI_OUTPUT, count)) count++;
  run->outputs = calloc((size_t)count + 1, sizeof *run->outputs);
  if (!run->outputs) return no_memory(error);
  for (int i = 0; i < count; i++) GATHER_CLI_TRY(read_output(run, i, error));
  return check_targets(run, error);
}

gather_status gather_cli_run_outputs_spare(const gather_cli_run *run, gather_error *error) {
  for (int64_t i = 0; i < run->output_count; i++) {
    const char *path = run->outputs[i].out.path;
    GATHER_CLI_TRY(gather_cli_writing_spare_file(path, run->file, "MODEL", error));
    for (int64_t k = 0; k < run->input_count; k++)
      GATHER_CLI_TRY(gather_cli_writing_spare(path, &run->inputs[k], run->given[k].name, error));
  }
  return GATHER_OK;
}

/* ---- which outputs */

/* --output FILE becomes NAME=FILE for each of `count` outputs. */
static gather_status expand(gather_cli_run *run, int64_t count, gather_error *error) {
  gather_cli_run_output *all = calloc((size_t)count + 1, sizeof *all), *first = &run->outputs[0];
  if (!all) return no_memory(error);
  gather_status status = GATHER_OK;
  for (int64_t i = 0; i < count && status == GATHER_OK; i++) {
    all[i].number = i;
    status = gather_cli_out_read(first->out.path, "--output", &all[i].out, error);
  }
  gather_cli_out_clear(&first->out);
  free(run->outputs);
  run->outputs = all;
  run->output_count = count;
  GATHER_CLI_TRY(status);
  return check_targets(run, error);
}

static gather_status find_in_result(const gather_cli_run *run, const char *name, int64_t *number, gather_error *error) {
  const gather_model_input *output;
  for (int64_t i = 0; (output = gather_model_result_at(run->result, i)) != NULL; i++)
    if (strcmp(output->name, name) == 0) {
      *number = i;
      return GATHER_OK;
    }
  const gather_model_input *first = gather_model_result_at(run->result, 0);
  return gather_cli_fail(error, GATHER_NAME_NOT_FOUND, "the node has no output '%.100s'; its output is '%.100s'", name,
                         first ? first->name : "");
}

gather_status gather_cli_run_outputs_find(gather_cli_run *run, gather_error *error) {
  const bool node = run->args->value[GATHER_CLI_NODE] != NULL;
  if (run->all_outputs) return expand(run, node ? gather_cli_run_results(run) : gather_model_describe(run->model)->output_count, error);
  for (int64_t i = 0; i < run->output_count; i++) {
    gather_cli_run_output *output = &run->outputs[i];
    GATHER_CLI_TRY(node ? find_in_result(run, output->name, &output->number, error)
                        : gather_model_output_find(run->model, output->name, &output->number, error));
    for (int64_t k = 0; k < i; k++)
      if (run->outputs[k].number == output->number)
        return gather_cli_fail(error, GATHER_USAGE, "--output %.100s is given twice", output->name);
  }
  return GATHER_OK;
}

/* ---- writing */

static gather_writing describe(const gather_cli_run *run, const gather_cli_run_output *output) {
  const gather_model_input *made = gather_model_result_at(run->result, output->number);
  return (gather_writing){.type = made->tensor.type,
                          .item_bytes = made->tensor.item_bytes,
                          .byte_swapped = (made->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0,
                          .name = output->out.name ? output->out.name : made->name,
                          .rank = made->tensor.rank,
                          .shape = made->tensor.shape};
}

/* Outputs of one file: their numbers in run->outputs, and what is written for each. */
typedef struct group {
  int64_t *members, count;
  gather_writing *writings;
} group;

/* The outputs that go to the file of number `first`. No members: an earlier output has this file already. */
static void collect(const gather_cli_run *run, int64_t first, group *g) {
  g->count = 0;
  for (int64_t i = 0; i < run->output_count; i++) {
    if (strcmp(run->outputs[i].out.path, run->outputs[first].out.path) != 0) continue;
    if (i < first) return;
    g->members[g->count] = i;
    g->writings[g->count++] = describe(run, &run->outputs[i]);
  }
}

static gather_file_target target_of(const gather_cli_run *run, const group *g) {
  gather_file_target target = GATHER_FILE_TARGET_INIT;
  target.path = run->outputs[g->members[0]].out.path;
  target.replace = run->args->value[GATHER_CLI_FORCE] != NULL;
  target.no_sync = run->args->value[GATHER_CLI_NO_SYNC] != NULL;
  target.tensors = g->writings;
  target.count = g->count;
  return target;
}

static gather_status check_group(const gather_cli_run *run, const group *g, gather_error *error) {
  const gather_file_target target = target_of(run, g);
  return gather_writer_check(&target, error);
}

static gather_status write_group(const gather_cli_run *run, const group *g, gather_error *error) {
  const gather_file_target target = target_of(run, g);
  gather_writer *writer = NULL;
  gather_cli_writing_hold();
  gather_status status = gather_writer_create(&target, &writer, error);
  gather_cli_writing_begin(writer);
  if (status != GATHER_OK) return status;
  for (int64_t i = 0; i < g->count; i++) {
    const gather_tensor *tensor = &gather_model_result_at(run->result, run->outputs[g->members[i]].number)->tensor;
    int64_t bytes = gather_tensor_bytes(tensor);
    if (bytes > 0) memcpy(gather_writer_data_at(writer, i), tensor->data, (size_t)bytes);
  }
  return gather_cli_writing_end(writer, error);
}

static gather_status each_group(const gather_cli_run *run, group *g, bool write, gather_error *error) {
  for (int64_t i = 0; i < run->output_count; i++) {
    collect(run, i, g);
    if (g->count == 0) continue;
    GATHER_CLI_TRY(write ? write_group(run, g, error) : check_group(run, g, error));
  }
  return GATHER_OK;
}

gather_status gather_cli_run_outputs_write(gather_cli_run *run, gather_error *error) {
  const size_t count = (size_t)run->output_count + 1;
  group g = {.members = calloc(count, sizeof *g.members), .writings = calloc(count, sizeof *g.writings)};
  gather_status status = g.members && g.writings ? each_group(run, &g, false, error) : no_memory(error);
  gather_pool_destroy(run->pool); /* no other thread may exist while signals are blocked */
  run->pool = NULL;
  if (status == GATHER_OK) status = each_group(run, &g, true, error);
  free(g.members);
  free(g.writings);
  return status;
}

void gather_cli_run_outputs_clear(gather_cli_run *run) {
  for (int64_t i = 0; i < run->output_count; i++) {
    free(run->outputs[i].name);
    gather_cli_out_clear(&run->outputs[i].out);
  }
  free(run->outputs);
}
