/* SPDX-License-Identifier: MIT
 *
 * fuzz_onnx.c: any bytes as a file; where it is a model, its graph is walked over to its last name.
 */
#include "fuzz/fuzz.h"
#include "io/format/graph.h"
#include "support/open_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_file *file = NULL;
  gather_error error;
  gather_status status = file_open(file_in(bytes, size, "fuzz"), &file, &error);
  if (status == GATHER_OK) fuzz_walk_model(gather_file_graph(file));
  fuzz_walk(status, file, &error, bytes, size);
  fuzz_delivered(bytes, size);
  return 0;
}
