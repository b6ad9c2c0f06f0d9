/* SPDX-License-Identifier: MIT
 *
 * run_data.c: --test-data: a folder with input_0.pb, output_0.pb and so on, or of folders test_data_set_0 and so on, as ONNX's
 * own tests. The files are in the order of the model's inputs and outputs.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "run.h"
#include "separators.h"
#include "source.h"
#include "system.h"

enum { PATH_BYTES = 4096, MOST_SETS = 100000 };

static const char PREFIX[] = "test_data_set_";

static gather_status no_memory(gather_error *error) {
  return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the test data");
}

static gather_status file_name(char path[PATH_BYTES], const char *folder, const char *kind, int64_t i, gather_error *error) {
  if (snprintf(path, PATH_BYTES, "%s/%s_%" PRId64 ".pb", folder, kind, i) >= PATH_BYTES)
    return gather_cli_fail(error, GATHER_USAGE, "the name of the folder is too long");
  return GATHER_OK;
}

static gather_status open_tensor(const char *folder, const char *kind, int64_t i, gather_cli_input *input, gather_error *error) {
  char path[PATH_BYTES];
  const gather_file_tensor *tensor;
  GATHER_CLI_TRY(file_name(path, folder, kind, i, error));
  GATHER_CLI_TRY(gather_cli_file_open(path, &input->file, error));
  if (gather_file_len(input->file) != 1)
    return gather_cli_fail_file(error, GATHER_FILE_MALFORMED, path, -1, "a file of test data must contain one tensor");
  tensor = gather_file_at(input->file, 0);
  GATHER_CLI_TRY(gather_file_tensor_check(tensor, error));
  input->tensor = *tensor;
  return GATHER_OK;
}

/* Extra files are a mistake too. */
static gather_status check_no_more(const char *folder, const char *kind, int64_t count, gather_error *error) {
  char path[PATH_BYTES];
  GATHER_CLI_TRY(file_name(path, folder, kind, count, error));
  if (access(path, F_OK) != 0) return GATHER_OK;
  return gather_cli_fail_file(error, GATHER_FILE_MALFORMED, path, -1, "the model has only %" PRId64 " %ss", count, kind);
}

static gather_status compare_output(gather_cli_run *run, const char *folder, const char *set, int64_t i, gather_error *error) {
  gather_cli_input wanted = {0};
  const gather_model_input *is = gather_model_result_at(run->result, i);
  gather_cli_run_compared *more = realloc(run->compared, ((size_t)run->compared_count + 1) * sizeof *more);
  if (!more) return no_memory(error);
  run->compared = more;
  more += run->compared_count;
  memset(more, 0, sizeof *more);
  more->name = gather_model_describe(run->model)->outputs[i];
  snprintf(more->set, sizeof more->set, "%s", set);
  gather_status status = open_tensor(folder, "output", i, &wanted, error);
  if (status == GATHER_OK) {
    gather_cli_run_compare(&is->tensor, &wanted.tensor.tensor, more);
    run->compared_count++;
  }
  gather_cli_input_close(&wanted);
  return status;
}

/* A model that cannot be run is refused before its files are opened, which may not be tensors. Without its inputs
 * nothing is computed. */
static gather_status refuse_early(gather_cli_run *run, gather_error *error) {
  if (run->input_count == 0) return GATHER_OK;
  int64_t count = run->input_count;
  run->input_count = 0;
  gather_status status = gather_cli_run_once(run, error);
  run->input_count = count;
  return status == GATHER_UNSUPPORTED ? status : GATHER_OK;
}

static gather_status run_opened(gather_cli_run *run, const char *folder, const char *set, gather_error *error) {
  int64_t outputs = gather_model_describe(run->model)->output_count;
  GATHER_CLI_TRY(refuse_early(run, error));
  for (int64_t i = 0; i < run->input_count; i++) {
    GATHER_CLI_TRY(open_tensor(folder, "input", i, &run->inputs[i], error));
    run->given[i].name = gather_model_describe(run->model)->inputs[i];
    run->given[i].tensor = run->inputs[i].tensor.tensor;
  }
  GATHER_CLI_TRY(check_no_more(folder, "input", run->input_count, error));
  GATHER_CLI_TRY(check_no_more(folder, "output", outputs, error));
  GATHER_CLI_TRY(gather_cli_run_once(run, error));
  for (int64_t i = 0; i < outputs; i++) GATHER_CLI_TRY(compare_output(run, folder, set, i, error));
  return GATHER_OK;
}

static gather_status run_set(gather_cli_run *run, const char *folder, const char *set, gather_error *error) {
  int64_t count = gather_model_describe(run->model)->input_count;
  run->inputs = calloc((size_t)count + 1, sizeof *run->inputs);
  run->given = calloc((size_t)count + 1, sizeof *run->given);
  run->input_count = run->inputs && run->given ? count : 0;
  gather_status status = run->inputs && run->given ? run_opened(run, folder, set, error) : no_memory(error);
  gather_model_result_destroy(run->result);
  run->result = NULL;
  for (int64_t i = 0; i < run->input_count; i++) gather_cli_input_close(&run->inputs[i]);
  free(run->inputs);
  free(run->given);
  run->inputs = NULL;
  run->given = NULL;
  run->input_count = 0;
  return status;
}

static int compare_numbers(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

/* The numbers of the sets in a folder, in order. */
static gather_status find_sets(const char *folder, int64_t **numbers, size_t *count, gather_error *error) {
  DIR *dir;
  do dir = opendir(folder);
  while (!dir && errno == EINTR);
  const int number = errno;
  *numbers = calloc(MOST_SETS, sizeof **numbers);
  *count = 0;
  if (!dir || !*numbers) {
    if (dir) closedir(dir);
    return dir ? no_memory(error)
               : gather_cli_fail_errno(error, gather_cli_status_of(number), number, folder, -1, "cannot open this folder");
  }
  errno = 0; /* readdir() returns NULL at the end and on errors */
  for (struct dirent *entry; (entry = readdir(dir)) != NULL && *count < MOST_SETS;) {
    const char *end = entry->d_name;
    bool too_big = false;
    if (strncmp(end, PREFIX, sizeof PREFIX - 1) != 0) continue;
    end += sizeof PREFIX - 1;
    if (gather_cli_whole(end, &end, *numbers + *count, &too_big) && !too_big && *end == 0) ++*count;
  }
  const int failed = errno;
  closedir(dir);
  if (failed) return gather_cli_fail_errno(error, gather_cli_status_of(failed), failed, folder, -1, "cannot read this folder");
  qsort(*numbers, *count, sizeof **numbers, compare_numbers);
  return GATHER_OK;
}

/* The last part of a folder's name. */
static void base_name(const char *folder, char *name, size_t bytes) {
  size_t end = strlen(folder), begin;
  while (end > 1 && strchr(GATHER_CLI_SEPARATORS, folder[end - 1])) end--;
  for (begin = end; begin > 0 && !strchr(GATHER_CLI_SEPARATORS, folder[begin - 1]);) begin--;
  snprintf(name, bytes, "%.*s", (int)(end - begin), folder + begin);
}

static gather_status run_sets(gather_cli_run *run, const char *folder, const int64_t *numbers, size_t count, gather_error *error) {
  char path[PATH_BYTES], set[256];
  if (count == 0) {
    base_name(folder, set, sizeof set);
    return run_set(run, folder, set, error);
  }
  for (size_t i = 0; i < count; i++) {
    snprintf(set, sizeof set, "%s%" PRId64, PREFIX, numbers[i]);
    if (snprintf(path, sizeof path, "%s/%s", folder, set) >= (int)sizeof path)
      return gather_cli_fail(error, GATHER_USAGE, "the name of the folder is too long");
    GATHER_CLI_TRY(run_set(run, path, set, error));
  }
  return GATHER_OK;
}

gather_status gather_cli_run_test_data(gather_cli_run *run, gather_error *error) {
  const char *folder = run->args->value[GATHER_CLI_TEST_DATA];
  int64_t *numbers = NULL;
  size_t count = 0;
  gather_status status = find_sets(folder, &numbers, &count, error);
  if (status == GATHER_OK) status = run_sets(run, folder, numbers, count, error);
  free(numbers);
  for (int64_t i = 0; status == GATHER_OK && i < run->compared_count; i++)
    if (!run->compared[i].equal)
      status = gather_cli_fail(error, GATHER_MISMATCH, "output '%.100s' of %.100s: %s", run->compared[i].name, run->compared[i].set,
                               run->compared[i].reason);
  return status;
}
