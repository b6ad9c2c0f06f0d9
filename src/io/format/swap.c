/* SPDX-License-Identifier: MIT
 *
 * swap.c: swaps the byte order of elements, once, when a file is finished.
 */
#include "io/format/swap.h"

#include <string.h>

#include "core/base/error.h"
#include "io/format/npy/descr.h"

/* The unit from .descr, which gives the byte order of opaque elements. */
static gather_status opaque_unit(const gather_writing *what, int64_t *unit_bytes, gather_error *error) {
  gather_literal literal;
  gather_descr descr = {.unit_bytes = 0, .big_endian = what->byte_swapped};
  if (what->descr) {
    gather_literal_init(&literal, what->descr, (int64_t)strlen(what->descr));
    if (!gather_descr_parse(&literal, &descr))
      return gather_fail_input(error, literal.status == GATHER_UNSUPPORTED ? GATHER_UNSUPPORTED : GATHER_USAGE,
                               "output", "the descr %.100s: %s", what->descr, literal.message);
    if (descr.item_bytes != what->item_bytes)
      return gather_fail_input(error, GATHER_USAGE, "output", "the descr %.100s has another size", what->descr);
  }
  *unit_bytes = 0;
  if (!descr.big_endian) return GATHER_OK;
  if (descr.unit_bytes == 0)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                             "raw bytes are little-endian, but some of these elements are big-endian; write .npy");
  *unit_bytes = descr.unit_bytes;
  return GATHER_OK;
}

gather_status gather_swap_unit(const gather_writing *what, int64_t *unit_bytes, gather_error *error) {
  if (what->type == GATHER_TYPE_OPAQUE) return opaque_unit(what, unit_bytes, error);
  const gather_type_info *type = gather_type_get(what->type);
  int64_t unit = type->kind == GATHER_KIND_COMPLEX ? type->bits / 16 : type->bits / 8;
  bool big = what->byte_swapped != (GATHER_BIG_ENDIAN != 0);
  *unit_bytes = big && unit > 1 && type->kind != GATHER_KIND_STRING ? unit : 0;
  return GATHER_OK;
}

void gather_swap(void *data, int64_t bytes, int64_t unit_bytes) {
  if (unit_bytes < 2) return;
  unsigned char *at = data;
  for (int64_t start = 0; start + unit_bytes <= bytes; start += unit_bytes)
    for (int64_t low = start, high = start + unit_bytes - 1; low < high; low++, high--) {
      unsigned char kept = at[low];
      at[low] = at[high];
      at[high] = kept;
    }
}
