/* SPDX-License-Identifier: MIT
 *
 * GatherElements applies an order per row: here the scores of two queries, best first.
 */
#include <stdio.h>

#include "gather/gather.h"

int main(void) {
  float scores[2][3] = {{0.25F, 0.75F, 0.5F}, {0.125F, -1, 0.625F}}, sorted[2][3];
  int64_t order[2][3] = {{1, 2, 0}, {2, 0, 1}};
  const int64_t shape[] = {2, 3};
  const gather_tensor data = {.data = scores, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = shape};
  const gather_tensor indices = {.data = order, .type = GATHER_TYPE_INT64, .rank = 2, .shape = shape};
  const gather_tensor out = {.data = sorted, .type = GATHER_TYPE_FLOAT32, .rank = 2, .shape = shape};
  gather_error error;
  if (gather_elements(&data, &indices, 1, &out, &error) != GATHER_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int i = 0; i < 2; i++) printf("%g %g %g\n", (double)sorted[i][0], (double)sorted[i][1], (double)sorted[i][2]);
  return 0;
}
