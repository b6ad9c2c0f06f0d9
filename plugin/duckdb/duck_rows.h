/* SPDX-License-Identifier: MIT
 *
 * duck_rows.h: what the rows of a tensor are in SQL, and reading them in the types of SQL.
 */
#ifndef GATHER_PLUGIN_DUCK_ROWS_H
#define GATHER_PLUGIN_DUCK_ROWS_H

#include "gather/table.h"

/* What an element is once it is unpacked, widened and in this machine's byte order. */
typedef enum duck_element {
  DUCK_ELEMENT_BOOL,
  DUCK_ELEMENT_INT8,
  DUCK_ELEMENT_INT16,
  DUCK_ELEMENT_INT32,
  DUCK_ELEMENT_INT64,
  DUCK_ELEMENT_UINT8,
  DUCK_ELEMENT_UINT16,
  DUCK_ELEMENT_UINT32,
  DUCK_ELEMENT_UINT64,
  DUCK_ELEMENT_FLOAT,
  DUCK_ELEMENT_DOUBLE,
  DUCK_ELEMENT_UTF32, /* text of a fixed number of characters, zeros behind it (npy "U") */
  DUCK_ELEMENT_TEXT,  /* bytes, zeros behind them (npy "S") */
  DUCK_ELEMENT_BYTES  /* a fixed number of bytes */
} duck_element;

/* The rows of a tensor. */
typedef struct duck_layout {
  gather_type type;     /* in the file, or of the decoded values */
  duck_element element; /* what it becomes */
  bool swapped;         /* elements in the file are in the other byte order */
  int64_t item_bytes;   /* of one element in the file; packed types: 0 */
  int64_t row_bytes;    /* of a row in the file, or decoded */
  int64_t rows, len;    /* len: elements of a row; a complex number is two */
  int32_t rank;         /* of a row; a complex number adds a dimension of 2 */
  int64_t shape[GATHER_MAX_RANK + 1];
  char type_name[64];
  float values[256]; /* of the codes of a float type of 8 bits or less */
} duck_layout;

/* The layout of the rows of a tensor as the file or an open table describes it. decoded: rank and shape of the values that it has, as
 * float32; NULL = the rows as they are. Returns GATHER_UNSUPPORTED for tensors of rank 0 and for strings of any length. */
gather_status gather_duck_layout(const gather_tensor *tensor, const char *descr, const char *type_name, const gather_file_codec *decoded,
                                 duck_layout *layout, gather_error *error);

/* DuckDB's type of an element, and its bytes in a vector (0 for VARCHAR and BLOB). */
int gather_duck_element_type(duck_element element);
int64_t gather_duck_element_bytes(duck_element element);

/* Types that a function delivers. */
typedef enum duck_target {
  DUCK_TARGET_EXACT, /* the element's own type */
  DUCK_TARGET_FLOAT,
  DUCK_TARGET_DOUBLE,
  DUCK_TARGET_BIGINT,
  DUCK_TARGET_UBIGINT,
  DUCK_TARGET_VARCHAR,
  DUCK_TARGET_BLOB /* one BLOB: the bytes of the row as they are in the file */
} duck_target;

/* The first of FLOAT, DOUBLE, BIGINT, UBIGINT, VARCHAR and BLOB that holds every value of the element exactly. */
duck_target gather_duck_target_of(duck_element element);
/* Whether a target holds every value of the element exactly. */
bool gather_duck_target_holds(duck_target target, duck_element element);
/* DuckDB's type of a target's elements, and the bytes of one in a vector. */
int gather_duck_target_type(duck_target target, duck_element element);
int64_t gather_duck_target_bytes(duck_target target, duck_element element);

/* Converts `len` elements, as they are in the file, to a numeric target. from: `to` if gather_duck_is_plain; its bytes may be swapped in
 * place. */
void gather_duck_convert(const duck_layout *layout, duck_target target, void *from, int64_t len, void *to);
/* Whether elements in the file are those of the target but for their byte order. */
bool gather_duck_is_plain(const duck_layout *layout, duck_target target);

/* Elements of packed types and of floats of 8 bits, in whole groups, to uint8 (int8 for signed ones) or float. */
void gather_duck_unpack(const duck_layout *layout, const unsigned char *from, int64_t len, void *to);
/* Fills in layout->values. */
void gather_duck_list_values(duck_layout *layout);

/* The text of an element of UTF32 or TEXT as UTF-8. text: 4 bytes for each 4 of item_bytes (UTF32) or item_bytes. Returns its length;
 * -1 if the element is not text. */
int64_t gather_duck_element_text(const duck_layout *layout, const void *element, char *text);

#endif
