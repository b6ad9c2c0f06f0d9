/* SPDX-License-Identifier: MIT
 *
 * fuzz_table.c: any bytes as a file on the disk, opened as a table under any options; rows of it are those that the file has in
 * memory. Input: the choices, then the file.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "gather/table.h"
#include "support/open_file.h"

/* Of files that are malformed, whose readers have targets of their own, only some become tables. */
enum { ROWS_MAX = 1 << 18, PATH_BYTES = 512, TRIED = 16 };

/* One file for all inputs, which is removed in the end. */
static char path[64] = "";
static int fd = -1;

static void remove_file(void) { (void)unlink(path); }

static void write_file(const uint8_t *bytes, size_t size) {
  if (fd < 0) {
    (void)strcpy(path, "/tmp/gather-fuzz-XXXXXX");
    fd = mkstemp(path);
    if (fd < 0 || atexit(remove_file) != 0) abort();
  }
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size) abort();
}

/* Raw bytes of some type, now and then. */
static const gather_raw *choose_raw(fuzz_choices *choices) {
  static const char *const TYPES[] = {"float32", "int4", "u3", "|V3", ">i2", "bool"};
  static int64_t shape[3];
  static gather_raw raw;
  if (fuzz_choose(choices, 4) != 0) return NULL;
  raw = (gather_raw){.type = TYPES[fuzz_choose(choices, 6)], .rank = fuzz_choose(choices, 4), .shape = shape};
  for (int d = 0; d < 3; d++) shape[d] = fuzz_choose(choices, 6) - 1;
  raw.offset = fuzz_choose(choices, 9);
  return &raw;
}

/* Decoded rows, half of the time; now and then by a codec that the file may not have. */
static void choose_decoding(fuzz_choices *choices, gather_table_options *options) {
  static const gather_type TYPES[] = {GATHER_TYPE_NONE, GATHER_TYPE_NONE, GATHER_TYPE_FLOAT32, GATHER_TYPE_BFLOAT16};
  static const char *const CODECS[] = {NULL, NULL, NULL, "Q4_0", "rowwise4", "biased:4", "nf4", "affine"};
  options->decode_as = TYPES[fuzz_choose(choices, 4)];
  options->codec = CODECS[fuzz_choose(choices, 8)];
}

static gather_table_options choose_options(fuzz_choices *choices) {
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.engine = fuzz_choose(choices, 8) != 1 ? GATHER_ENGINE_MMAP : (gather_engine)fuzz_choose(choices, 4);
  options.memory_bytes = (int64_t)fuzz_choose(choices, 4) << 20;
  options.cache_bytes = (int64_t)fuzz_choose(choices, 3) * 4096 - 1;
  options.depth = fuzz_choose(choices, 5);
  options.buffered = fuzz_choose(choices, 2) == 1;
  options.keep_signals = fuzz_choose(choices, 2) == 1;
  options.raw = choose_raw(choices);
  choose_decoding(choices, &options);
  return options;
}

/* FILE or FILE:NAME of one of its tensors. */
static void choose_path(fuzz_choices *choices, const gather_file *file, char text[PATH_BYTES]) {
  const gather_file_tensor *tensor = file ? fuzz_choose_tensor(choices, file) : NULL;
  if (tensor && tensor->name[0] && strlen(tensor->name) < PATH_BYTES / 2)
    (void)snprintf(text, PATH_BYTES, "%s:%s", path, tensor->name);
  else
    (void)snprintf(text, PATH_BYTES, "%s", path);
}

/* Rows of a tensor in memory, where they can be told from their place in the file. */
static void compare(const gather_table *table, const fuzz_indices *indices, const uint8_t *rows, const uint8_t *bytes, size_t size) {
  const gather_table_info *info = gather_table_describe(table);
  int64_t count = gather_tensor_len(&indices->tensor);
  gather_table_part part;
  if (info->codec || !gather_table_part_at(table, 0, &part) || info->parts != 1 || strcmp(part.path, path) != 0) return;
  if (indices->tensor.type != GATHER_TYPE_INT64 || (indices->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0) return;
  for (int64_t i = 0; i < count && info->row_bytes > 0; i++) {
    int64_t row;
    memcpy(&row, (const char *)indices->memory + i * 8, sizeof row);
    if (row < 0) row += info->rows;
    int64_t at = part.offset + row * info->row_bytes;
    fuzz_check(at >= 0 && (uint64_t)(at + info->row_bytes) <= size, "a row lies in the file");
    fuzz_check(memcmp(rows + i * info->row_bytes, bytes + at, (size_t)info->row_bytes) == 0, "a row is the one of the file");
  }
}

static void take_rows(fuzz_choices *choices, gather_table *table, const uint8_t *bytes, size_t size) {
  const gather_table_info *info = gather_table_describe(table);
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  fuzz_indices indices;
  gather_error error;
  int64_t shape[GATHER_MAX_RANK];
  const int32_t rank = fuzz_choose(choices, 3);
  if (rank + info->tensor.rank - 1 > GATHER_MAX_RANK || info->row_bytes > ROWS_MAX / FUZZ_INDICES) return;
  options.on_bad = (gather_on_bad)fuzz_choose(choices, (int)GATHER_ON_BAD_FILL + 1);
  options.negative = (gather_negative)fuzz_choose(choices, 3);
  options.fill = fuzz_choose_fill(choices, &info->tensor);
  fuzz_choose_indices(choices, rank, info->rows, &indices);
  gather_tensor out = info->tensor;
  for (int32_t d = 0; d < rank; d++) shape[d] = indices.shape[d];
  for (int32_t d = 1; d < info->tensor.rank; d++) shape[rank + d - 1] = info->tensor.shape[d];
  out.rank = rank + info->tensor.rank - 1;
  out.shape = shape;
  out.flags &= GATHER_TENSOR_BYTE_SWAPPED;
  int64_t out_bytes = gather_tensor_bytes(&out);
  out.data = malloc(out_bytes ? (size_t)out_bytes : 1);
  if (!out.data) abort();
  gather_status status = gather_table_take(table, &indices.tensor, &out, &options, &error);
  fuzz_check(status == GATHER_OK || (error.status == status && error.message[0]), "the error says what is wrong");
  if (status == GATHER_OK && options.on_bad == GATHER_ON_BAD_ERROR && options.negative != GATHER_NEGATIVE_OFF)
    compare(table, &indices, out.data, bytes, size);
  free(out.data);
  free(indices.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_choices choices = {.bytes = bytes};
  char name[PATH_BYTES];
  gather_file *file = NULL;
  gather_table *table = NULL;
  gather_error error;
  if (size < FUZZ_CHOICES) return 0;
  gather_table_options options = choose_options(&choices);
  if (!options.raw && file_open(file_in(bytes + FUZZ_CHOICES, size - FUZZ_CHOICES, "fuzz"), &file, NULL) != GATHER_OK && size % TRIED != 0)
    return 0;
  write_file(bytes + FUZZ_CHOICES, size - FUZZ_CHOICES);
  choose_path(&choices, file, name);
  gather_file_close(file);
  gather_status status = gather_table_open(name, &options, &table, &error);
  fuzz_check((status == GATHER_OK) == (table != NULL), "there is a table or an error");
  fuzz_check(status == GATHER_OK || (error.status == status && error.message[0]), "the error says what is wrong");
  for (int i = 0; table && i < 3; i++) take_rows(&choices, table, bytes + FUZZ_CHOICES, size - FUZZ_CHOICES);
  gather_table_close(table);
  return 0;
}
