/* SPDX-License-Identifier: MIT
 *
 * nearest.c: names of tensors for messages: the nearest by edit distance, and the first ones.
 */
#include "io/format/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

/* Of longer names, only the ends are compared, where the names of weights differ. Three suggestions are enough to
 * spot a typo. */
enum { COMPARED = 96, ANSWERS = 3, FIRST = 8 };

static const char *tail(const char *name, size_t *length) {
  size_t whole = strlen(name);
  *length = whole > COMPARED ? COMPARED : whole;
  return name + (whole - *length);
}

/* The edit distance of two names. */
static size_t distance(const char *a, const char *b) {
  size_t a_len, b_len, row[COMPARED + 1];
  a = tail(a, &a_len);
  b = tail(b, &b_len);
  for (size_t j = 0; j <= b_len; j++) row[j] = j;
  for (size_t i = 1; i <= a_len; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_len; j++) {
      size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = change < shift ? change : shift;
    }
  }
  return row[b_len];
}

void gather_nearest_names(const gather_file *file, const char *name, char *text, size_t bytes) {
  const char *best[ANSWERS] = {NULL};
  size_t score[ANSWERS], length;
  (void)tail(name, &length);
  for (int64_t i = 0; i < file->len; i++) {
    const char *candidate = file->tensors[i].name;
    size_t far = distance(name, candidate);
    if (far > length / 2 + 1) continue;
    for (int k = 0; k < ANSWERS; k++) {
      if (best[k] && score[k] <= far) continue;
      const char *moved = best[k];
      size_t moved_score = moved ? score[k] : 0;
      best[k] = candidate;
      score[k] = far;
      if (!moved) break;
      candidate = moved;
      far = moved_score;
    }
  }
  size_t at = 0;
  text[0] = '\0';
  for (int k = 0; k < ANSWERS && best[k]; k++) {
    const char *before = k ? ", " : best[1] ? "; the nearest are " : "; the nearest is ";
    int wrote = snprintf(text + at, bytes - at, "%s'%.50s'", before, best[k]);
    at += wrote > 0 ? (size_t)wrote : 0;
    if (at >= bytes) break;
  }
}

void gather_first_names(const gather_file *file, char *text, size_t bytes) {
  size_t at = 0;
  int64_t shown = 0;
  text[0] = '\0';
  for (; shown < file->len && shown < FIRST; shown++) {
    char item[192], shape[96];
    const gather_file_tensor *tensor = &file->tensors[shown];
    (void)gather_shape_text(shape, sizeof shape, tensor->tensor.rank, tensor->tensor.shape);
    int len =
        snprintf(item, sizeof item, "%s'%.60s' %.24s %s", shown ? ", " : "", tensor->name, tensor->type_name, shape);
    if (len < 0 || at + (size_t)len + 32 > bytes) break; /* space for " and N more" */
    memcpy(text + at, item, (size_t)len + 1);
    at += (size_t)len;
  }
  if (shown > 0 && shown < file->len) (void)snprintf(text + at, bytes - at, " and %" PRId64 " more", file->len - shown);
}
