/* SPDX-License-Identifier: MIT
 *
 * fuzz_onnx.c: any bytes as a file; where it is a model, its graph is walked over to its last name.
 */
#include "fuzz/fuzz.h"
#include "io/format/graph.h"

static void walk(const gather_file *file, const uint8_t *bytes, size_t size) {
  (void)bytes;
  (void)size;
  fuzz_walk_model(gather_file_graph(file));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_file(bytes, size, NULL, walk); }
