/* SPDX-License-Identifier: MIT
 *
 * py_index_apply.c: applies a key to x: integers and slices become a strided view, arrays and masks columns of numbers. Where the
 * broadcast dimensions go follows NumPy: to the place of the arrays if nothing is between them, else to the front; once there is an
 * array, integers count as arrays.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "py_index.h"
#include "py_index_error.h"

enum { HUGE_BYTES = 4 << 20 };

/* ---- the broadcast shape ---- */

/* The shape of an item's numbers. */
static int32_t shape_of(const gather_py_indexing *ix, int32_t number, const int64_t **shape) {
  const gather_py_item *item = &ix->key.items[number];
  if (item->kind == GATHER_PY_ITEM_ARRAY) {
    *shape = item->view.shape;
    return item->view.tensor.rank;
  }
  *shape = item->kind == GATHER_PY_ITEM_MASK ? &ix->mask_counts[number] : &item->value;
  return item->kind == GATHER_PY_ITEM_MASK || item->kind == GATHER_PY_ITEM_BOOL ? 1 : 0;
}

/* Joins two shapes, aligned at the end. */
static int broadcast(gather_py_indexing *ix, int32_t number) {
  const int64_t *shape;
  const int32_t rank = shape_of(ix, number, &shape), more = rank - ix->rank;
  if (more > 0) {
    memmove(ix->shape + more, ix->shape, (size_t)ix->rank * sizeof *shape);
    for (int32_t d = 0; d < more; d++) ix->shape[d] = 1;
    ix->rank = rank;
  }
  for (int32_t d = 0; d < rank; d++) {
    int64_t *have = &ix->shape[ix->rank - rank + d];
    if (*have == shape[d] || shape[d] == 1) continue;
    if (*have != 1)
      return gather_py_key_fail(GATHER_SHAPE_MISMATCH,
                                "item %d of the key has length %" PRId64 " in dimension %d, where others have length %" PRId64
                                ": they do not broadcast",
                                (int)number, shape[d], (int)d, *have);
    *have = shape[d];
  }
  return 0;
}

static int broadcast_all(gather_py_indexing *ix) {
  for (int32_t i = 0; i < ix->key.count; i++)
    if (broadcast(ix, i) < 0) return -1;
  ix->len = 1;
  for (int32_t d = 0; d < ix->rank; d++) {
    if (ix->shape[d] > 0 && ix->len > INT64_MAX / (int64_t)sizeof(int64_t) / GATHER_MAX_RANK / ix->shape[d])
      return gather_py_key_fail(GATHER_OVERFLOW, "the arrays of the key broadcast to more elements than fit in 63 bits");
    ix->len *= ix->shape[d];
  }
  return 0;
}

/* ---- columns ---- */

static gather_py_column *add_column(gather_py_indexing *ix, int32_t item, int32_t axis) {
  gather_py_column *column = &ix->columns[ix->column_count++];
  memset(column, 0, sizeof *column);
  column->item = item, column->axis = axis;
  column->len = ix->x->shape[axis], column->step = ix->x->strides[axis];
  column->type = GATHER_TYPE_INT64;
  return column;
}

/* The strides of numbers of this shape along the broadcast shape. */
static void set_strides(const gather_py_indexing *ix, int32_t rank, const int64_t *shape, const int64_t *strides,
                        gather_py_column *column) {
  for (int32_t d = 0; d < rank; d++) column->strides[ix->rank - rank + d] = shape[d] == 1 ? 0 : strides[d];
}

static void add_array(gather_py_indexing *ix, int32_t number, int32_t axis) {
  const gather_py_view *view = &ix->key.items[number].view;
  gather_py_column *column = add_column(ix, number, axis);
  column->numbers = view->tensor.data;
  column->type = view->tensor.type;
  column->swapped = (view->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0 && gather_type_get(column->type)->bits > 8;
  set_strides(ix, view->tensor.rank, view->shape, view->strides, column);
}

/* Whether `count` dimensions of x from this one on are evenly spaced: then a mask of them selects as on one axis. */
static bool is_one_axis(const gather_py_view *x, int32_t axis, int32_t count) {
  for (int32_t d = axis; d < axis + count - 1; d++)
    if (x->strides[d] != x->strides[d + 1] * x->shape[d + 1]) return false;
  return true;
}

/* Finding the positions needs no GIL; a small mask is not worth releasing it. */
static void find_positions(const gather_py_view *mask, int64_t count, bool flat, int64_t *positions) {
  if (gather_tensor_bytes(&mask->tensor) < GATHER_PY_RELEASE_BYTES) {
    gather_py_mask_find(mask, count, flat, positions);
    return;
  }
  PyThreadState *state = PyEval_SaveThread();
  gather_py_mask_find(mask, count, flat, positions);
  PyEval_RestoreThread(state);
}

static int add_mask(gather_py_indexing *ix, int32_t number, int32_t axis) {
  static const int64_t step = sizeof(int64_t);
  const gather_py_view *mask = &ix->key.items[number].view;
  const int32_t rank = mask->tensor.rank;
  const int64_t count = ix->mask_counts[number];
  for (int32_t d = 0; d < rank; d++) /* NumPy lets a mask of length 0 pass */
    if (mask->shape[d] != ix->x->shape[axis + d] && mask->shape[d] != 0)
      return gather_py_key_fail(GATHER_SHAPE_MISMATCH,
                                "boolean index did not match indexed array along axis %d; size of axis is %" PRId64
                                " but size of corresponding boolean axis is %" PRId64 " (item %d of the key)",
                                (int)(axis + d), ix->x->shape[axis + d], mask->shape[d], (int)number);
  const bool flat = is_one_axis(ix->x, axis, rank);
  const int32_t planes = flat ? 1 : rank;
  /* Zero, which is in range if the mask has elements, in case another thread clears bools meanwhile. */
  int64_t *positions = calloc((size_t)(planes * count + 1), sizeof *positions);
  if (!positions) {
    PyErr_NoMemory();
    return -1;
  }
  ix->positions[number] = positions;
  const uint64_t bytes = (uint64_t)planes * (uint64_t)count * sizeof *positions;
  if (bytes >= HUGE_BYTES) (void)gather_advise_huge_pages(positions, (size_t)bytes); /* fewer page faults */
  find_positions(mask, count, flat, positions);
  for (int32_t p = 0; p < planes; p++) {
    gather_py_column *column = add_column(ix, number, flat ? axis : axis + p);
    column->numbers = (const char *)(positions + p * count);
    set_strides(ix, 1, &count, &step, column);
    if (!flat) continue;
    for (int32_t d = 1; d < rank; d++) column->len *= mask->shape[d];
    column->step = ix->x->strides[axis + rank - 1];
  }
  return 0;
}

/* ---- integers and slices ---- */

static int add_integer(gather_py_indexing *ix, int32_t number, int32_t axis) {
  const int64_t len = ix->x->shape[axis], given = ix->key.items[number].value;
  const bool negative = ix->options->negative != GATHER_NEGATIVE_OFF;
  int64_t value = negative && given < 0 && given >= -len ? given + len : given;
  const bool good = value >= 0 && value < len;
  const gather_on_bad on_bad = ix->options->on_bad;
  if (!good && (on_bad == GATHER_ON_BAD_ZERO || on_bad == GATHER_ON_BAD_FILL)) {
    ix->filling = INT64_MAX; /* no axis is that long */
    add_column(ix, number, axis)->numbers = (const char *)&ix->filling;
    return 0;
  }
  if (!good && len > 0 && on_bad == GATHER_ON_BAD_CLAMP) {
    value = value < 0 ? 0 : len - 1;
  } else if (!good && len > 0 && on_bad == GATHER_ON_BAD_WRAP) {
    value %= len;
    if (value < 0) value += len;
  } else if (!good) {
    gather_error error;
    (void)gather_error_set_input(&error, GATHER_INDEX_OUT_OF_RANGE, "indices", "an index is out of range");
    error.position_rank = 0, error.axis = axis, error.value = given, error.bad_count = 1;
    error.low = negative ? -len : 0, error.high = len - 1;
    return gather_py_index_raise(&error, number, len);
  }
  ix->offset += value * ix->x->strides[axis];
  return 0;
}

static int keep(gather_py_indexing *ix, int64_t len, int64_t step) {
  if (ix->kept_count + ix->rank >= GATHER_MAX_RANK)
    return gather_py_key_fail(GATHER_RANK_MISMATCH, "the result would have more than %d dimensions", GATHER_MAX_RANK);
  ix->kept[ix->kept_count++] = (gather_py_kept){len, step};
  return 0;
}

static int add_slice(gather_py_indexing *ix, int32_t number, int32_t axis) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(ix->key.items[number].slice, &start, &stop, &step) < 0) return -1;
  const Py_ssize_t len = PySlice_AdjustIndices((Py_ssize_t)ix->x->shape[axis], &start, &stop, step);
  const int64_t stride = ix->x->strides[axis];
  if (len > 0) ix->offset += (int64_t)start * stride;
  return keep(ix, len, len > 1 ? (int64_t)step * stride : 0);
}

/* ---- the whole ---- */

/* Where the broadcast dimensions go. */
typedef enum placing { NOT_YET, AMONG_ARRAYS, AFTER_ARRAYS, AT_FRONT } placing;

static void place(gather_py_indexing *ix, gather_py_item_kind kind, placing *state) {
  const bool array = ix->key.advanced && (kind >= GATHER_PY_ITEM_ARRAY || kind == GATHER_PY_ITEM_INTEGER);
  if (array && *state == NOT_YET) {
    *state = AMONG_ARRAYS;
    ix->place = ix->kept_count;
  } else if (array && *state == AFTER_ARRAYS) {
    *state = AT_FRONT;
    ix->place = 0;
  } else if (!array && *state == AMONG_ARRAYS) {
    *state = AFTER_ARRAYS;
  }
}

/* How many dimensions of x the ellipsis, or the end of the key, stands for. */
static int32_t missing_of(const gather_py_indexing *ix) {
  int32_t missing = ix->x->tensor.rank;
  for (int32_t i = 0; i < ix->key.count; i++) {
    const gather_py_item *item = &ix->key.items[i];
    if (item->kind == GATHER_PY_ITEM_MASK)
      missing -= item->view.tensor.rank;
    else if (item->kind <= GATHER_PY_ITEM_SLICE || item->kind == GATHER_PY_ITEM_ARRAY)
      missing--;
  }
  return missing;
}

static int keep_axes(gather_py_indexing *ix, int32_t first, int32_t count) {
  for (int32_t axis = first; axis < first + count; axis++)
    if (keep(ix, ix->x->shape[axis], ix->x->strides[axis]) < 0) return -1;
  return count;
}

/* Returns how many axes of x the item takes; -1. */
static int32_t apply_item(gather_py_indexing *ix, int32_t number, int32_t axis, int32_t missing) {
  const gather_py_item *item = &ix->key.items[number];
  switch (item->kind) {
    case GATHER_PY_ITEM_INTEGER:
      return add_integer(ix, number, axis) < 0 ? -1 : 1;
    case GATHER_PY_ITEM_SLICE:
      return add_slice(ix, number, axis) < 0 ? -1 : 1;
    case GATHER_PY_ITEM_NEW_AXIS:
      return keep(ix, 1, 0);
    case GATHER_PY_ITEM_ELLIPSIS:
      return keep_axes(ix, axis, missing);
    case GATHER_PY_ITEM_ARRAY:
      add_array(ix, number, axis);
      return 1;
    case GATHER_PY_ITEM_MASK:
      return add_mask(ix, number, axis) < 0 ? -1 : item->view.tensor.rank;
    default:
      return 0;
  }
}

static int apply_items(gather_py_indexing *ix) {
  const int32_t missing = missing_of(ix);
  placing state = NOT_YET;
  int32_t axis = 0;
  for (int32_t i = 0; i < ix->key.count; i++) {
    place(ix, ix->key.items[i].kind, &state);
    int32_t taken = apply_item(ix, i, axis, missing);
    if (taken < 0) return -1;
    axis += taken;
  }
  return ix->key.ellipsis || keep_axes(ix, axis, missing) >= 0 ? 0 : -1;
}

static int count_masks(gather_py_indexing *ix) {
  for (int32_t i = 0; i < ix->key.count; i++) {
    const gather_py_view *mask = &ix->key.items[i].view;
    if (ix->key.items[i].kind != GATHER_PY_ITEM_MASK) continue;
    const bool release = gather_tensor_bytes(&mask->tensor) >= GATHER_PY_RELEASE_BYTES;
    PyThreadState *state = release ? PyEval_SaveThread() : NULL;
    ix->mask_counts[i] = gather_py_mask_count(mask);
    if (state) PyEval_RestoreThread(state);
  }
  return 0;
}

int gather_py_indexing_read(gather_py_indexing *ix) {
  const size_t items = (size_t)ix->key.count + 1, axes = (size_t)ix->x->tensor.rank + 1;
  ix->columns = malloc(axes * sizeof *ix->columns);
  ix->positions = calloc(items, sizeof *ix->positions);
  ix->mask_counts = calloc(items, sizeof *ix->mask_counts);
  if (!ix->columns || !ix->positions || !ix->mask_counts) {
    PyErr_NoMemory();
    return -1;
  }
  return count_masks(ix) < 0 || broadcast_all(ix) < 0 ? -1 : apply_items(ix);
}

void gather_py_indexing_clear(gather_py_indexing *ix) {
  for (int32_t i = 0; ix->positions && i < ix->key.count; i++) free(ix->positions[i]);
  free(ix->positions);
  free(ix->mask_counts);
  free(ix->columns);
  free(ix->tuples);
  gather_py_key_clear(&ix->key);
}
