/* SPDX-License-Identifier: MIT
 *
 * Three rows of a table by index, and the error of an index out of range. README.md shows this program.
 */
#include <inttypes.h>
#include <stdio.h>

#include "gather/gather.h"

int main(void) {
  float table[4][2] = {{0, 1}, {10, 11}, {20, 21}, {30, 31}}, rows[3][2];
  int64_t ids[3] = {2, 0, -1}; /* -1 is the last row */
  const int64_t table_shape[] = {4, 2}, ids_shape[] = {3}, rows_shape[] = {3, 2};
  gather_tensor data = {.data = table, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = table_shape};
  gather_tensor indices = {.data = ids, .type = GATHER_TYPE_INT64, .rank = 1, .shape = ids_shape};
  gather_tensor out = {.data = rows, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = rows_shape};
  gather_error error;

  if (gather_take(&data, &indices, 0, &out, &error) != GATHER_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < 3; i++) printf("%g %g\n", (double)rows[i][0], (double)rows[i][1]);

  ids[1] = 4; /* there is no row 4: nothing is written, and the error says what is wrong */
  if (gather_take(&data, &indices, 0, &out, &error) == GATHER_INDEX_OUT_OF_RANGE)
    printf("index %" PRId64 " at position %" PRId64 " is outside [%" PRId64 ", %" PRId64 "]\n", error.value, error.position[0], error.low,
           error.high);
  return 0;
}
