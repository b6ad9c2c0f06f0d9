/* SPDX-License-Identifier: MIT
 *
 * layout.h: quantised tensors in files: which codec decodes the rows, where their scales are, and the shape of the decoded tensor.
 */
#ifndef GATHER_TABLE_LAYOUT_H
#define GATHER_TABLE_LAYOUT_H

#include "gather/codec.h"
#include "gather/table.h"
#include "table/table_internal.h"

/* What a side tensor is for. */
typedef enum gather_side_role {
  GATHER_SIDE_SCALE = 0,   /* one for each group of elements */
  GATHER_SIDE_BIAS,        /* likewise, added */
  GATHER_SIDE_FACTOR,      /* one number by which all scales are multiplied */
  GATHER_SIDE_DIVISOR,     /* one number by which they are divided */
  GATHER_SIDE_TABLE,       /* the values of the codes */
  GATHER_SIDE_OUTER,       /* scales of the scales, which are codes themselves */
  GATHER_SIDE_OUTER_TABLE, /* the values of those codes */
  GATHER_SIDE_STATE,       /* a description in JSON */
  GATHER_SIDE_COUNT
} gather_side_role;

/* How a file stores a quantised tensor. Its pointers belong to the file. */
typedef struct gather_layout {
  const struct gather_file *from; /* the file, if it has a format; NULL = raw bytes */
  const char *name;               /* of the layout, for texts */
  const gather_codec_info *codec;
  /* As the fields of gather_quantized. */
  gather_type code_type, scale_type;
  int32_t code_bits;
  gather_code_order order;
  gather_stored data, side[GATHER_SIDE_COUNT]; /* side[..].file NULL = none */
  int32_t rank;                                /* of the values */
  int64_t shape[GATHER_MAX_RANK];
  int64_t row_len;   /* values of a row */
  int64_t row_bytes; /* of a row of `data` */
  /* A row has `groups` groups of group_len values, the last one perhaps shorter; 0: none. A scale belongs to a group of rows_per_scale
   * rows; 0: one scale for the whole tensor. across: groups are counted through the whole tensor, from row to row. */
  int64_t group_len, groups, rows_per_scale;
  bool across;
  int64_t outer_len; /* scales that share one of SIDE_OUTER; 0 = the scales are numbers */
  float outer_offset;
} gather_layout;

/* ---- layout.c */

/* How rows are decoded that need no other tensor: floats, and what the codec says that the caller gave. found->data is set. Returns
 * GATHER_UNSUPPORTED (no codec is given, or its rows cannot be decoded, with the reason), GATHER_USAGE (no such codec),
 * GATHER_SHAPE_MISMATCH, GATHER_OVERFLOW. */
GATHER_CHECKED gather_status gather_layout_of_rows(gather_layout *found, const char *codec, gather_error *error);
/* Fails if the decoded tensor is too large. */
GATHER_CHECKED gather_status gather_layout_check_sizes(const gather_layout *found, gather_error *error);

/* What layouts are made of. Sets the codec, which the caller may have named (`given`), and must not have named another. */
GATHER_CHECKED gather_status gather_layout_use_codec(gather_layout *found, const char *given, gather_codec codec, gather_error *error);
/* Sets the decoded shape: that of the data, except for the last length. */
void gather_layout_set_shape(gather_layout *found, int32_t rank, int64_t last);
/* Fails if the data have fewer dimensions: rows are along axis 0. */
GATHER_CHECKED gather_status gather_layout_want_rows(const gather_layout *found, int32_t rank, gather_error *error);
/* Sets the lengths of a row; the groups of a row are whole unless the codec says otherwise. */
GATHER_CHECKED gather_status gather_layout_measure(gather_layout *found, int64_t group_len, gather_error *error);
/* Fails because a tensor has not the shape that the layout needs. */
GATHER_CHECKED gather_status gather_layout_fail_shape(const gather_layout *found, const gather_stored *tensor, const char *wanted,
                                                      gather_error *error);

#endif
