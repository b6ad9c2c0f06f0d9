/* SPDX-License-Identifier: MIT
 *
 * descr.h: NumPy's description of an element type, the "descr" of .npy: '<f4', '|S5', [('a', '<i4'), ('b', '>f8',
 * (2,))].
 */
#ifndef GATHER_FORMAT_DESCR_H
#define GATHER_FORMAT_DESCR_H

#include "io/format/npy/npy_literal.h"

typedef struct gather_descr {
  gather_type type;   /* GATHER_TYPE_OPAQUE for a type without a name here */
  int64_t item_bytes; /* of one element */
  int64_t unit_bytes; /* unit of a byte swap; 1 = no byte order; 0 = fields of different units */
  bool big_endian;    /* at least one part with a byte order is big-endian */
  bool swapped;       /* a plain type in the other byte order than this machine's */
  bool structured;    /* a list of fields */
} gather_descr;

/* Parses the next literal, a string or a list of fields. Fails with GATHER_UNSUPPORTED for pickled objects. */
bool gather_descr_parse(gather_literal *literal, gather_descr *descr);
/* Parses a plain description without quotes ("<f4"); errors refer to byte `at` of the literal. */
bool gather_descr_plain(gather_literal *literal, int64_t at, gather_literal_text text, gather_descr *descr);

#endif
