/* SPDX-License-Identifier: MIT
 *
 * layout.h: quantised tensors in files: which codec decodes the rows, where their scales are, and the shape of the decoded tensor.
 */
#ifndef GATHER_TABLE_LAYOUT_H
#define GATHER_TABLE_LAYOUT_H

#include "gather/codec.h"
#include "gather/table.h"

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
  const gather_file *file;
  const char *name; /* of the layout, for texts */
  const gather_codec_info *codec;
  /* As the fields of gather_quantized. */
  gather_type code_type, scale_type;
  int32_t code_bits;
  gather_code_order order;
  const gather_file_tensor *data, *side[GATHER_SIDE_COUNT]; /* NULL = none */
  int32_t rank;                                             /* of the values */
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

/* Finds out how a tensor is quantised. codec: the name that the caller gave, perhaps with the bits of a code ("biased:4"); NULL or "":
 * the type and the names in the file tell. Returns GATHER_UNSUPPORTED (not quantised, or its rows cannot be decoded, with the reason),
 * GATHER_NAME_NOT_FOUND (a side tensor is missing), GATHER_TYPE_MISMATCH and GATHER_SHAPE_MISMATCH (a side tensor that does not fit),
 * GATHER_RANK_MISMATCH, GATHER_USAGE (no such codec, or not that of this tensor), GATHER_FILE_MALFORMED, GATHER_OVERFLOW. */
GATHER_CHECKED gather_status gather_layout_find(const gather_file *file, const gather_file_tensor *tensor,
                                                const char *codec, gather_layout *found, gather_error *error);
#endif
