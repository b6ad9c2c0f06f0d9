/* SPDX-License-Identifier: MIT
 *
 * fuzz_arrow.c: any bytes as a file. Columns that can be read lie in the file, and the pieces of one follow one another.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "io/format/format.h"

static void check_places(const gather_file *file, size_t size) {
  for (int64_t i = 0; i < gather_file_len(file); i++) {
    const gather_file_tensor *t = gather_file_at(file, i);
    if (t->unreadable || t->bytes == 0) continue;
    fuzz_check(t->offset >= 0 && (uint64_t)t->offset + (uint64_t)t->bytes <= size, "a column lies in the file");
  }
}

static bool is_piece(const gather_file_tensor *tensor, const char *name) {
  size_t length = strlen(name);
  return strncmp(tensor->name, name, length) == 0 && tensor->name[length] == '@';
}

static void check_pieces(const gather_file *file) {
  for (int64_t i = 0; i < file->pieces_len && i < 50; i++) {
    const gather_file_pieces_row *row = &file->pieces[i];
    int64_t first = -1, count = gather_file_pieces(file, row->name, &first);
    fuzz_check(count > 1 && first >= 0 && first + count <= gather_file_len(file), "pieces are tensors of the file");
    for (int64_t k = 0; k < count; k++) {
      const gather_file_tensor *piece = gather_file_at(file, first + k), *start = gather_file_at(file, first);
      fuzz_check(is_piece(piece, row->name), "a piece has its column's name");
      fuzz_check(
          piece->tensor.type == start->tensor.type && piece->tensor.rank == start->tensor.rank &&
              memcmp(piece->tensor.shape + 1, start->tensor.shape + 1, (size_t)(start->tensor.rank - 1) * sizeof *start->tensor.shape) == 0,
          "the pieces of a column have rows of one type and shape");
    }
  }
}

static void check(const gather_file *file, const uint8_t *bytes, size_t size) {
  (void)bytes;
  check_places(file, size);
  check_pieces(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_file(bytes, size, "arrow", check); }
