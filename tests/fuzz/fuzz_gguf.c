/* SPDX-License-Identifier: MIT
 *
 * fuzz_gguf.c: any bytes as a file. Where it is a GGUF file, its tensors must lie in it, apart from each other.
 */
#include <string.h>

#include "fuzz/fuzz.h"

static void see_places(const gather_file *file, const uint8_t *bytes, size_t size) {
  int64_t len = gather_file_len(file);
  for (int64_t i = 0; i < len && i < 100; i++) {
    const gather_file_tensor *t = gather_file_at(file, i);
    fuzz_check(t->unreadable || t->bytes == 0 || t->tensor.data == bytes + t->offset, "the data lie at their offset");
    fuzz_check(t->bytes == 0 || (uint64_t)t->offset + (uint64_t)t->bytes <= size, "the data end before the file does");
    for (int64_t k = 0; k < i; k++) {
      const gather_file_tensor *other = gather_file_at(file, k);
      fuzz_check(strcmp(t->name, other->name) != 0, "each name stands once");
      if (t->bytes == 0 || other->bytes == 0) continue;
      fuzz_check(t->offset >= other->offset + other->bytes || other->offset >= t->offset + t->bytes, "no two tensors share bytes");
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_file(bytes, size, "gguf", see_places); }
