/* SPDX-License-Identifier: MIT
 *
 * fuzz_ir.c: any bytes as the .xml of an OpenVINO model; its graph is walked over to its last name.
 */
#include "fuzz/fuzz.h"
#include "io/format/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_file *file = NULL;
  gather_error error;
  gather_status status;
  if (!fuzz_open_ir(bytes, size, &file, &status, &error)) return 0;
  if (status == GATHER_OK) fuzz_walk_model(gather_file_graph(file));
  fuzz_walk(status, file, &error, bytes, size);
  fuzz_delivered(bytes, size);
  return 0;
}
