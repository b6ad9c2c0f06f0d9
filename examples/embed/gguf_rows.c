/* SPDX-License-Identifier: MIT
 *
 * Rows of a tensor in a GGUF file, by an engine that reads the format itself: gather_table.c knows none. It trusts the file.
 * Usage: gguf_rows MODEL.gguf TENSOR ROW...     (F32, Q8_0 and Q4_K, rank 2; prints the first two values of each row)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_table.h"

static int64_t number(FILE *file, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)(fgetc(file) & 0xFF) << 8 * i;
  return (int64_t)value;
}

static void read_text(FILE *file, char text[64]) { /* only the beginning of a longer one */
  const int64_t length = number(file, 8), kept = length < 63 ? length : 63;
  text[fread(text, 1, (size_t)kept, file)] = '\0';
  (void)fseek(file, (long)(length - kept), SEEK_CUR);
}

static int64_t read_value(FILE *file, int64_t type) { /* of the metadata; returned if it is a number */
  static const int BYTES[13] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  char text[64];
  if (type == 8) return read_text(file, text), 0;
  if (type != 9) return number(file, BYTES[type]);
  for (int64_t each = number(file, 4), left = number(file, 8); left > 0; left--) (void)read_value(file, each);
  return 0;
}

/* The place of a tensor, and the bytes of a row. Its shape in values: */
static bool find(FILE *file, const char *name, int64_t values[2], int64_t shape[2], gather_raw *raw, const char **codec) {
  char text[64];
  int64_t type = -1, at = 0, align = 32;
  if (number(file, 4) != 0x46554747 || number(file, 4) < 2) return false; /* "GGUF", the version */
  int64_t tensors = number(file, 8), pairs = number(file, 8);
  for (; pairs > 0; pairs--) {
    read_text(file, text);
    const int64_t value = read_value(file, number(file, 4));
    if (strcmp(text, "general.alignment") == 0) align = value;
  }
  for (; tensors > 0; tensors--) {
    int64_t length[4] = {0};
    read_text(file, text);
    const int64_t rank = number(file, 4);
    for (int64_t d = 0; d < rank; d++) length[d & 3] = number(file, 8);
    const int64_t its_type = number(file, 4), its_at = number(file, 8);
    if (rank == 2 && strcmp(text, name) == 0) type = its_type, at = its_at, values[0] = length[1], values[1] = length[0];
  }
  *codec = type == 0 ? "float" : type == 8 ? "Q8_0" : "Q4_K";
  shape[0] = values[0], shape[1] = type == 0 ? values[1] : type == 8 ? values[1] / 32 * 34 : values[1] / 256 * 144;
  at += (ftell(file) + align - 1) / align * align;
  *raw = (gather_raw){.type = type == 0 ? "float32" : "uint8", .rank = 2, .shape = shape, .offset = at};
  return type == 0 || type == 8 || type == 12;
}

int main(int argc, char **argv) {
  int64_t values[2] = {0}, shape[2];
  gather_raw raw;
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  options.raw = &raw, options.decode_as = GATHER_TYPE_FLOAT32;
  FILE *file = argc > 3 ? fopen(argv[1], "rb") : NULL;
  if (!file || !find(file, argv[2], values, shape, &raw, &options.codec)) return fputs("no such tensor\n", stderr), 1;
  (void)fclose(file);

  gather_table *table; /* a runtime keeps it */
  gather_error error;
  if (gather_table_open(argv[1], &options, &table, &error) != GATHER_OK) return fprintf(stderr, "%s\n", error.message), 1;
  const int64_t count = argc - 3, ids_shape[] = {count}, rows_shape[] = {count, values[1]};
  int64_t *ids = malloc((size_t)count * sizeof *ids);
  float *rows = malloc((size_t)(count * values[1]) * sizeof *rows);
  for (int64_t i = 0; ids && i < count; i++) ids[i] = strtoll(argv[i + 3], NULL, 10);
  const gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = ids_shape};
  const gather_tensor out = {.data = rows, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = rows_shape};
  const gather_status status = ids && rows ? gather_table_take(table, &indices, &out, NULL, &error) : GATHER_OUT_OF_MEMORY;
  for (int64_t i = 0; status == GATHER_OK && i < count; i++)
    printf("%.9g %.9g\n", (double)rows[i * values[1]], (double)rows[i * values[1] + 1]);
  if (status != GATHER_OK) fprintf(stderr, "%s\n", status == GATHER_OUT_OF_MEMORY ? "out of memory" : error.message);
  gather_table_close(table);
  free(ids), free(rows);
  return status == GATHER_OK ? 0 : 1;
}
