/* SPDX-License-Identifier: MIT
 *
 * fuzz_npz.c: any bytes as a file. Arrays that can be read lie in the file, and no two of them share a byte.
 */
#include "fuzz/fuzz.h"

static void check_apart(const gather_file *file, const uint8_t *bytes, size_t size) {
  int64_t end = 0;
  (void)bytes;
  for (int64_t i = 0; i < gather_file_len(file); i++) {
    const gather_file_tensor *t = gather_file_at(file, i);
    if (t->unreadable || t->bytes == 0) continue;
    fuzz_check(t->offset >= 0 && (uint64_t)t->offset + (uint64_t)t->bytes <= size, "an array lies in the file");
    for (int64_t k = 0; k < i && i < 50; k++) {
      const gather_file_tensor *other = gather_file_at(file, k);
      if (other->unreadable || other->bytes == 0) continue;
      bool apart = other->offset + other->bytes <= t->offset || t->offset + t->bytes <= other->offset;
      fuzz_check(apart, "two arrays share no byte");
    }
    end += t->bytes;
  }
  fuzz_check((uint64_t)end <= size, "all arrays together are not more than the file");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_file(bytes, size, "npz", check_apart); }
