/* SPDX-License-Identifier: MIT
 *
 * fuzz_run.c: any bytes as a model, which is run: the whole of it and each gather node alone, with nothing and with a tensor for each
 * input. What comes out is read, and held to the promises of model.h.
 */
#include "fuzz/given.h"

#if defined(__clang__) && defined(__has_feature)
#if __has_feature(address_sanitizer)
/* A small model may ask for any memory: what it does not get is an error. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=64"; }
#endif
#endif

static unsigned sum; /* keeps the compiler from leaving the reading out */

static void see_output(const gather_model_input *output) {
  gather_error error;
  const gather_tensor *tensor = &output->tensor;
  fuzz_see_text(output->name);
  fuzz_check(gather_tensor_check(tensor, &error) == GATHER_OK, "an output is described sanely");
  fuzz_check(!tensor->strides && tensor->packed_offset == 0, "an output is row-major");
  int64_t bytes = gather_tensor_bytes(tensor);
  for (int64_t i = 0; i < bytes; i++) sum += ((const unsigned char *)tensor->data)[i];
  const gather_string *strings = tensor->data;
  for (int64_t i = 0; tensor->type == GATHER_TYPE_STRING && i < gather_tensor_len(tensor); i++)
    for (size_t k = 0; k < strings[i].bytes; k++) sum += (unsigned char)strings[i].text[k];
}

static void run(const gather_model *model, const gather_model_input *inputs, int64_t count, const char *node) {
  gather_model_run_options options = GATHER_MODEL_RUN_OPTIONS_INIT;
  gather_model_result *result = NULL;
  gather_error error = {.status = GATHER_OK};
  const char *failed = NULL;
  options.node = node;
  options.failed_node = &failed;
  gather_status status = gather_model_run(model, inputs, count, &options, &result, &error);
  fuzz_check((status == GATHER_OK) == (result != NULL), "there is a result or an error");
  fuzz_check(failed != NULL, "a node failed, or none");
  fuzz_see_text(failed);
  fuzz_check(status == GATHER_OK || (error.status == status && error.message[0] != '\0'), "an error says something");
  for (int64_t i = 0; result && gather_model_result_at(result, i); i++) see_output(gather_model_result_at(result, i));
  gather_model_result_destroy(result);
}

static void run_node(const gather_model *model, const char *path, const fuzz_given *g) {
  run(model, NULL, 0, path);
  run(model, g->inputs, g->options.input_count, path);
}

static void run_each(const gather_model *model, const fuzz_given *g) {
  run_node(model, NULL, g);
  fuzz_each_node(model, g, run_node);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_model(bytes, size, run_each); }
