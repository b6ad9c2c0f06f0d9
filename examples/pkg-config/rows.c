/* SPDX-License-Identifier: MIT
 *
 * Rows of a table in an .npy file: the file is mapped, so the table is not loaded for a few rows.
 * Usage: rows TABLE.npy ROW...     (float32 tables of rank 2; prints the first two numbers of each row)
 */
#include <stdio.h>
#include <stdlib.h>

#include "gather/file.h"

/* Takes `count` rows of `table` and prints them. */
static gather_status print_rows(const gather_tensor *table, int64_t *ids, int64_t count, gather_error *error) {
  const int64_t columns = table->shape[1], ids_shape[] = {count}, rows_shape[] = {count, columns};
  float *rows = calloc((size_t)(count * columns) + 1, sizeof *rows);
  if (rows == NULL) return GATHER_OUT_OF_MEMORY;
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = ids_shape};
  const gather_tensor out = {.data = rows, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = rows_shape};
  gather_status status = gather_take(table, &indices, 0, &out, error);
  for (int64_t i = 0; status == GATHER_OK && i < count; i++) printf("%g %g\n", (double)rows[i * columns], (double)rows[i * columns + 1]);
  free(rows);
  return status;
}

int main(int argc, char **argv) {
  int64_t ids[64];
  if (argc < 3 || argc - 2 > 64) {
    fprintf(stderr, "usage: rows TABLE.npy ROW... (at most 64)\n");
    return 2;
  }
  for (int i = 2; i < argc; i++) ids[i - 2] = strtoll(argv[i], NULL, 10);

  gather_file *file = NULL;
  const gather_file_tensor *table = NULL;
  gather_error error = {.message = "out of memory"};
  gather_file_source source = GATHER_FILE_SOURCE_INIT;
  source.path = argv[1];
  gather_status status = gather_file_open(&source, &file, &error);
  if (status == GATHER_OK) status = gather_file_find(file, "", &table, &error);
  if (status == GATHER_OK) {
    if (table->tensor.type != GATHER_TYPE_FLOAT32 || table->tensor.rank != 2 || table->tensor.shape[1] < 2) {
      fprintf(stderr, "%s: not a float32 table with two columns or more\n", argv[1]);
      gather_file_close(file);
      return 1;
    }
    status = print_rows(&table->tensor, ids, argc - 2, &error);
  }
  if (status != GATHER_OK) fprintf(stderr, "%s: %s\n", gather_status_name(status), error.message);
  gather_file_close(file);
  return status == GATHER_OK ? 0 : 1;
}
