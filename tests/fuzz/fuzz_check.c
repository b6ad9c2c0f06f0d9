/* SPDX-License-Identifier: MIT
 *
 * fuzz_check.c: any bytes as a model, which is checked: as it is, and with a tensor for each of its inputs and a length for each
 * dimension that has a name. What is found is held to the promises of model.h.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/given.h"
#include "io/format/graph.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_file *file = NULL;
  gather_model *model = fuzz_open_model(bytes, size, &file);
  if (model) {
    static fuzz_given g;
    fuzz_give(gather_file_graph(file)->graph, bytes, size, &g);
    see_check(model, NULL);
    see_check(model, &g.options);
  }
  gather_model_close(model);
  gather_file_close(file);
  return 0;
}
