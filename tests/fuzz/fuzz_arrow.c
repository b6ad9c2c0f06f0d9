/* SPDX-License-Identifier: MIT
 *
 * fuzz_arrow.c: any bytes as a file. Columns that can be read lie in the file, and the pieces of one follow one another. Small columns are
 * decoded and joined.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "io/format/chunks.h"

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

static void check_whole(gather_file *file, const char *name) {
  const gather_file_tensor *whole;
  gather_error error;
  if (!fuzz_is_short(file, name)) return;
  const gather_status status = gather_file_find_whole(file, name, &whole, &error);
  fuzz_check(status == GATHER_OK || (error.status == status && error.message[0] && !whole),
             "a column is decoded, or an error says why not");
  if (status == GATHER_OK && gather_file_tensor_check(whole, NULL) == GATHER_OK && whole->bytes > 0)
    fuzz_check(whole->tensor.data != NULL, "what is decoded has elements");
}

static void check(const gather_file *file, const uint8_t *bytes, size_t size) {
  enum { NAMES = 20 };
  (void)bytes;
  check_places(file, size);
  check_pieces(file);
  for (int64_t i = 0; i < gather_file_len(file) && i < NAMES; i++)
    check_whole((gather_file *)(uintptr_t)file, gather_file_at(file, i)->name);
  for (int64_t i = 0; i < file->pieces_len && i < NAMES; i++) check_whole((gather_file *)(uintptr_t)file, file->pieces[i].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) { return fuzz_file(bytes, size, "arrow", check); }
