/* SPDX-License-Identifier: MIT
 *
 * fuzz_check.c: any bytes as a model, which is checked: as it is, and with a tensor for each of its inputs and a length for each
 * dimension that has a name. What is found is held to the promises of model.h.
 */
#include "fuzz/given.h"

static void see_check(const gather_model *model, const gather_check_options *options) {
  gather_check *check = NULL;
  gather_error error;
  gather_status status = gather_model_check(model, options, &check, &error);
  fuzz_check((status == GATHER_OK) == (check != NULL), "there is a check or an error");
  if (status != GATHER_OK) {
    fuzz_see_text(error.message);
    return;
  }
  const gather_check_info *info = gather_check_describe(check);
  const int64_t count = info->count;
  fuzz_check(count >= gather_model_describe(model)->node_count, "every gather node is checked");
  for (int64_t i = 0; i < count; i++) fuzz_see_node(gather_check_at(check, i));
  fuzz_check(info->ok + info->unknown + info->bad == count, "each node has one verdict");
  gather_check_destroy(check);
}

static void see(const gather_model *model, const fuzz_given *g) {
  see_check(model, NULL);
  see_check(model, &g->options);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_model(bytes, size, see); }
