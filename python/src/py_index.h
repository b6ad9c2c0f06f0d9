/* SPDX-License-Identifier: MIT
 *
 * py_index.h: libgather.index: NumPy's indexing for reading. A key is read into items (py_index_key.c); integers and slices become a
 * strided view of x, and what is left are columns: one for each axis of x that arrays select on (py_index_columns.c). One gather moves
 * the elements (py_index.c).
 */
#ifndef GATHER_PY_INDEX_H
#define GATHER_PY_INDEX_H

#include "py_core.h"

typedef enum gather_py_item_kind {
  GATHER_PY_ITEM_INTEGER,
  GATHER_PY_ITEM_SLICE,
  GATHER_PY_ITEM_NEW_AXIS,
  GATHER_PY_ITEM_ELLIPSIS,
  GATHER_PY_ITEM_ARRAY, /* of integers */
  GATHER_PY_ITEM_MASK,  /* of bools, rank at least 1: it stands for the positions of its true elements */
  GATHER_PY_ITEM_BOOL   /* of rank 0: a new dimension of length 1 or 0 */
} gather_py_item_kind;

typedef struct gather_py_item {
  gather_py_item_kind kind;
  int64_t value;       /* of an integer or a bool */
  PyObject *slice;     /* borrowed from the key */
  gather_py_view view; /* of an array or a mask */
} gather_py_item;

/* A key. */
typedef struct gather_py_key {
  gather_py_item *items;
  int32_t count;
  bool advanced; /* it has arrays, masks or bools: then integers are placed like arrays */
  bool ellipsis; /* written by the caller: then a result of rank 0 stays an array */
} gather_py_key;

/* One axis of x that arrays select on. Its numbers have the broadcast shape of the key's arrays. */
typedef struct gather_py_column {
  int32_t item;      /* number of the item of the key */
  int32_t axis;      /* of x; the first one, if a mask selects on several as on one */
  int64_t len, step; /* of the axis, in x */
  const char *numbers;
  gather_type type;
  bool swapped;
  int64_t strides[GATHER_MAX_RANK]; /* of the numbers, along the broadcast shape; bytes */
} gather_py_column;

/* One dimension of x that stays. */
typedef struct gather_py_kept {
  int64_t len, step;
} gather_py_kept;

/* A key applied to x. The result has the shape kept[0 .. place), broadcast, kept[place ..). */
typedef struct gather_py_indexing {
  gather_py_key key;
  const gather_py_view *x;
  gather_options *options; /* mode and negative are read */
  int64_t offset;          /* of the first element of the view, in the unit of strides */
  gather_py_kept kept[GATHER_MAX_RANK];
  int32_t kept_count, place;
  gather_py_column *columns;
  int32_t column_count, column_room;
  int32_t rank; /* of the broadcast shape */
  int64_t shape[GATHER_MAX_RANK], len;
  int64_t **positions; /* of masks, by item; NULL = none; the last dimension of the mask is the fastest */
  int64_t *mask_counts;
  int64_t *tuples; /* the numbers of all columns, one after the other, if they are not evenly spaced in memory already */
  int64_t filling; /* the number that the columns of integers out of range point to */
} gather_py_indexing;

/* Raises an IndexError about the key; returns -1. */
int gather_py_key_fail(gather_status status, const char *format, ...);

/* py_index_key.c: reads the key for an x of this rank. Clear it in every case. */
int gather_py_key_read(PyObject *object, int32_t rank, gather_py_key *key);
void gather_py_key_clear(gather_py_key *key);

/* py_index_apply.c: applies the key to x. Clear it in every case; it starts as all zero but for x and options. */
int gather_py_indexing_read(gather_py_indexing *indexing);
void gather_py_indexing_clear(gather_py_indexing *indexing);

/* py_index_columns.c: without the GIL: finds the positions of a mask; counts them first. */
int64_t gather_py_mask_count(const gather_py_view *mask);
/* positions: `planes` arrays of `count` numbers, one after the other, and room for one more: planes is 1 (numbers in row-major order)
 * or the rank of the mask. */
void gather_py_mask_find(const gather_py_view *mask, int64_t count, bool flat, int64_t *positions);
/* One number. */
int64_t gather_py_number_at(const char *at, gather_type type, bool swapped);
/* The numbers of a column in row-major order. */
void gather_py_column_copy(const gather_py_indexing *indexing, const gather_py_column *column, int64_t *numbers);
/* Whether the numbers of all columns have one type and layout, and are evenly spaced: `step` bytes from one column to the next. */
bool gather_py_columns_are_even(const gather_py_indexing *indexing, int64_t *step);

#endif
