/* SPDX-License-Identifier: MIT
 *
 * py_index_columns.c: the numbers of a key's arrays: the positions of a mask, and the columns of the tuples. Nothing here needs the
 * GIL.
 */
#include <string.h>

#include "py_index.h"

/* ---- walking strided memory ---- */

/* The next run along the last dimension: false after the last one. at: its coordinates; offset: of its first element. */
static bool next_run(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t *at, int64_t *offset) {
  for (int32_t d = rank - 2; d >= 0; d--) {
    *offset += strides[d];
    if (++at[d] < shape[d]) return true;
    *offset -= shape[d] * strides[d];
    at[d] = 0;
  }
  return false;
}

static int64_t length_of(int32_t rank, const int64_t *shape) {
  int64_t len = 1;
  for (int32_t d = 0; d < rank; d++) len *= shape[d];
  return len;
}

/* ---- masks ---- */

static int64_t count_run(const char *bytes, int64_t step, int64_t len) {
  int64_t found = 0;
  if (step == 1) {
    for (int64_t i = 0; i < len; i++) found += bytes[i] != 0;
    return found;
  }
  for (int64_t i = 0; i < len; i++) found += bytes[i * step] != 0;
  return found;
}

int64_t gather_py_mask_count(const gather_py_view *mask) {
  const int32_t rank = mask->tensor.rank;
  int64_t at[GATHER_MAX_RANK] = {0}, offset = 0, found = 0;
  if (length_of(rank, mask->shape) == 0) return 0;
  do found += count_run((const char *)mask->tensor.data + offset, mask->strides[rank - 1], mask->shape[rank - 1]);
  while (next_run(rank, mask->shape, mask->strides, at, &offset));
  return found;
}

/* The numbers of true elements of a run, from `first` on; never more than `most`, whatever another thread writes to the mask. */
static int64_t find_run(const char *bytes, int64_t step, int64_t len, int64_t first, int64_t most, int64_t *numbers) {
  int64_t found = 0;
  for (int64_t i = 0; i < len; i++) {
    numbers[found] = first + i;
    found += (bytes[i * step] != 0) & (found < most);
  }
  return found;
}

void gather_py_mask_find(const gather_py_view *mask, int64_t count, bool flat, int64_t *positions) {
  const int32_t rank = mask->tensor.rank, last = rank - 1;
  const int64_t run = mask->shape[last];
  int64_t at[GATHER_MAX_RANK] = {0}, offset = 0, done = 0, first = 0;
  int64_t *inner = flat ? positions : positions + last * count;
  if (length_of(rank, mask->shape) == 0) return;
  do {
    const char *bytes = (const char *)mask->tensor.data + offset;
    int64_t found = find_run(bytes, mask->strides[last], run, flat ? first : 0, count - done, inner + done);
    for (int32_t d = 0; !flat && d < last; d++)
      for (int64_t i = 0; i < found; i++) positions[d * count + done + i] = at[d];
    done += found, first += run;
  } while (next_run(rank, mask->shape, mask->strides, at, &offset));
}

/* ---- numbers ---- */

#define READ(TYPE, type)                   \
  case GATHER_TYPE_##TYPE: {               \
    type number;                           \
    memcpy(&number, bytes, sizeof number); \
    return (int64_t)number;                \
  }

/* uint64 beyond int64 stays out of range: the largest int64. */
int64_t gather_py_number_at(const char *at, gather_type type, bool swapped) {
  const int32_t width = gather_type_get(type)->bits / 8;
  char bytes[sizeof(int64_t)];
  for (int32_t b = 0; b < width; b++) bytes[b] = at[swapped ? width - 1 - b : b];
  switch (type) {
    READ(INT8, int8_t)
    READ(INT16, int16_t)
    READ(INT32, int32_t)
    READ(INT64, int64_t)
    READ(UINT8, uint8_t)
    READ(UINT16, uint16_t)
    READ(UINT32, uint32_t)
    default: {
      uint64_t number;
      memcpy(&number, bytes, sizeof number);
      return number > INT64_MAX ? INT64_MAX : (int64_t)number;
    }
  }
}

static void copy_run(const gather_py_column *column, const char *from, int64_t step, int64_t len, int64_t *numbers) {
  if (column->type == GATHER_TYPE_INT64 && !column->swapped) {
    for (int64_t i = 0; i < len; i++) memcpy(&numbers[i], from + i * step, sizeof *numbers);
  } else if (column->type == GATHER_TYPE_INT32 && !column->swapped) {
    for (int64_t i = 0; i < len; i++) {
      int32_t number;
      memcpy(&number, from + i * step, sizeof number);
      numbers[i] = number;
    }
  } else {
    for (int64_t i = 0; i < len; i++) numbers[i] = gather_py_number_at(from + i * step, column->type, column->swapped);
  }
}

void gather_py_column_copy(const gather_py_indexing *indexing, const gather_py_column *column, int64_t *numbers) {
  const int32_t rank = indexing->rank;
  const int64_t run = rank > 0 ? indexing->shape[rank - 1] : 1, step = rank > 0 ? column->strides[rank - 1] : 0;
  int64_t at[GATHER_MAX_RANK] = {0}, offset = 0;
  if (indexing->len == 0) return;
  do {
    copy_run(column, column->numbers + offset, step, run, numbers);
    numbers += run;
  } while (next_run(rank, indexing->shape, column->strides, at, &offset));
}

bool gather_py_columns_are_even(const gather_py_indexing *indexing, int64_t *step) {
  const gather_py_column *first = indexing->columns;
  *step = 0;
  for (int32_t c = 1; c < indexing->column_count; c++) {
    const gather_py_column *column = &first[c];
    if (column->type != first->type || column->swapped != first->swapped) return false;
    for (int32_t d = 0; d < indexing->rank; d++)
      if (indexing->shape[d] > 1 && column->strides[d] != first->strides[d]) return false;
    int64_t distance = (int64_t)((intptr_t)column->numbers - (intptr_t)first[c - 1].numbers);
    if (c > 1 && distance != *step) return false;
    *step = distance;
  }
  return true;
}
