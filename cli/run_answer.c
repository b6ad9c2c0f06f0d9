/* SPDX-License-Identifier: MIT
 *
 * run_answer.c: reports the outputs of `run`, as text or JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "show.h"
#include "source.h"
#include "wrap.h"

enum { SHOWN = 8 };

static const char *path_of(const gather_cli_run *run, int64_t i) {
  for (int64_t k = 0; k < run->output_count; k++)
    if (run->outputs[k].number == i) return run->outputs[k].out.path;
  return NULL;
}

int64_t gather_cli_run_results(const gather_cli_run *run) {
  int64_t count = 0;
  while (run->result && gather_model_result_at(run->result, count)) count++;
  return count;
}

static void json_outputs(const gather_cli_run *run, gather_cli_json *json) {
  const int64_t count = gather_cli_run_results(run);
  gather_cli_json_array(json, "outputs");
  for (int64_t i = 0; i < count; i++) {
    const gather_model_input *output = gather_model_result_at(run->result, i);
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "name", output->name);
    gather_cli_json_string(json, "type", gather_type_get(output->tensor.type)->name);
    gather_cli_json_ints(json, "shape", output->tensor.rank, output->tensor.shape);
    gather_cli_json_string(json, "output", path_of(run, i));
    gather_cli_json_object_end(json);
  }
  gather_cli_json_array_end(json);
}

static void json_compared(const gather_cli_run *run, gather_cli_json *json) {
  gather_cli_json_array(json, "compared");
  for (int64_t i = 0; i < run->compared_count; i++) {
    const gather_cli_run_compared *compared = &run->compared[i];
    gather_cli_json_object(json, NULL);
    gather_cli_json_string(json, "set", compared->set);
    gather_cli_json_string(json, "name", compared->name);
    gather_cli_json_bool(json, "equal", compared->equal);
    gather_cli_json_int(json, "mismatches", compared->mismatches);
    if (compared->rank >= 0) gather_cli_json_ints(json, "position", compared->rank, compared->position);
    if (compared->reason[0]) gather_cli_json_string(json, "reason", compared->reason);
    gather_cli_json_object_end(json);
  }
  gather_cli_json_array_end(json);
}

static void answer_json(const gather_cli_run *run, const gather_error *mismatch) {
  gather_cli_json json = gather_cli_json_begin(stdout);
  gather_cli_json_string(&json, "command", "run");
  gather_cli_json_string(&json, "model", gather_cli_shown_name(run->args, run->file));
  json_outputs(run, &json);
  json_compared(run, &json);
  if (mismatch) {
    gather_cli_json_object(&json, "error");
    gather_cli_json_string(&json, "status", gather_status_name(mismatch->status));
    gather_cli_json_int(&json, "code", (int64_t)mismatch->status);
    gather_cli_json_string(&json, "message", mismatch->message);
    gather_cli_json_object_end(&json);
  }
  gather_cli_json_finish(&json);
}

/* The first strings or integers; other types are not shown. */
static void text_values(const gather_tensor *tensor) {
  const gather_type_info *type = gather_type_get(tensor->type);
  int64_t len = gather_tensor_len(tensor);
  bool shown = tensor->type == GATHER_TYPE_FLOAT32 || tensor->type == GATHER_TYPE_FLOAT64 || tensor->type == GATHER_TYPE_INT64 ||
               tensor->type == GATHER_TYPE_INT32;
  if (!shown || (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED)) return;
  for (int64_t i = 0; i < len && i < SHOWN; i++) {
    union {
      float f;
      double d;
      int32_t i;
      int64_t l;
    } value;
    memcpy(&value, (const char *)tensor->data + i * (type->bits / 8), (size_t)type->bits / 8);
    gather_cli_say(stdout, "%s", i ? ", " : ": ");
    if (tensor->type == GATHER_TYPE_FLOAT32) gather_cli_say(stdout, "%g", (double)value.f);
    if (tensor->type == GATHER_TYPE_FLOAT64) gather_cli_say(stdout, "%g", value.d);
    if (tensor->type == GATHER_TYPE_INT32) gather_cli_say(stdout, "%" PRId32, value.i);
    if (tensor->type == GATHER_TYPE_INT64) gather_cli_say(stdout, "%" PRId64, value.l);
  }
  if (len > SHOWN) gather_cli_say(stdout, ", ...");
}

static void text_output(const gather_cli_run *run, int64_t i) {
  char shape[512];
  const gather_model_input *output = gather_model_result_at(run->result, i);
  const char *path = path_of(run, i);
  gather_cli_say_visible(stdout, output->name);
  gather_cli_say(stdout, ": %s %s", gather_type_get(output->tensor.type)->name,
                 gather_cli_shape_text(shape, sizeof shape, output->tensor.rank, output->tensor.shape));
  if (path) {
    gather_cli_say(stdout, " in ");
    gather_cli_say_visible(stdout, path);
  } else {
    text_values(&output->tensor);
  }
  gather_cli_say(stdout, "\n");
}

void gather_cli_run_answer(const gather_cli_run *run, const gather_error *mismatch) {
  if (run->args->value[GATHER_CLI_JSON]) {
    answer_json(run, mismatch);
    return;
  }
  if (run->args->value[GATHER_CLI_QUIET]) return;
  const int64_t count = gather_cli_run_results(run);
  for (int64_t i = 0; i < count; i++) text_output(run, i);
  for (int64_t i = 0; i < run->compared_count; i++) {
    const gather_cli_run_compared *compared = &run->compared[i];
    gather_cli_say_visible(stdout, compared->set);
    gather_cli_say(stdout, ": ");
    gather_cli_say_visible(stdout, compared->name);
    gather_cli_say(stdout, " %s%s\n", compared->equal ? "is equal" : "differs: ", compared->reason);
  }
}
