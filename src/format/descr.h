/* SPDX-License-Identifier: MIT
 *
 * descr.h: NumPy's description of an element type, the "descr" of .npy: '<f4', '|S5', [('a', '<i4'), ('b', '>f8', (2,))].
 */
#ifndef GATHER_FORMAT_DESCR_H
#define GATHER_FORMAT_DESCR_H

#include "format/npy_literal.h"

typedef struct gather_descr {
  gather_type type;   /* GATHER_TYPE_OPAQUE where the type has no name here */
  int64_t item_bytes; /* of one element */
  int64_t
      unit_bytes;  /* what a change of byte order turns round; 1 = it has no byte order; 0 = fields of several kinds */
  bool big_endian; /* at least one part with a byte order is big-endian */
  bool swapped;    /* a plain type in the other byte order than this machine's */
  bool structured; /* a list of fields */
} gather_descr;

/* Reads the literal that is next, a string or a list of fields. Complains with GATHER_UNSUPPORTED about pickled objects. */
bool gather_descr_parse(gather_literal *literal, gather_descr *descr);
/* Reads a plain description without quotes ("<f4"); complaints name byte `at` of the literal. */
bool gather_descr_plain(gather_literal *literal, int64_t at, gather_literal_text text, gather_descr *descr);

#endif
