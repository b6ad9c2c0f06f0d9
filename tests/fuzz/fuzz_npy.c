/* SPDX-License-Identifier: MIT
 *
 * fuzz_npy.c: any bytes as a file. What can be read must also be writable again, with the descr that was read.
 */
#include "fuzz/fuzz.h"
#include "support/open_file.h"

/* The header for the tensor that was read: checked against /dev/null's stand-in, a descriptor that is not used. */
static void write_again(const gather_file *file, const uint8_t *bytes, size_t size) {
  const gather_file_tensor *t = gather_file_at(file, 0);
  gather_error error;
  (void)bytes;
  (void)size;
  const gather_writing what = {.type = t->tensor.type,
                               .item_bytes = t->tensor.item_bytes,
                               .byte_swapped = (t->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0,
                               .descr = t->descr,
                               .rank = t->tensor.rank,
                               .shape = t->tensor.shape};
  gather_file_target target = file_to("/fuzz.npy", &what);
  target.replace = true;
  gather_status status = gather_writer_check(&target, &error);
  fuzz_check(status != GATHER_USAGE && status != GATHER_UNSUPPORTED && status != GATHER_OVERFLOW, "a descr that was read can be written");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_file(bytes, size, "npy", write_again); }
