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
  int64_t count = gather_check_count(check), verdicts = 0;
  fuzz_check(count >= gather_model_node_count(model), "every gather node is checked");
  for (int64_t i = 0; i < count; i++) fuzz_see_node(gather_check_at(check, i));
  for (int v = GATHER_VERDICT_UNKNOWN; v <= GATHER_VERDICT_BAD; v++)
    verdicts += gather_check_verdicts(check, (gather_verdict)v);
  fuzz_check(verdicts == count, "each node has one verdict");
  gather_check_destroy(check);
}

static void see(const gather_model *model, const fuzz_given *g) {
  see_check(model, NULL);
  see_check(model, &g->options);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_model(bytes, size, see); }
