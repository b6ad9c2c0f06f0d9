/* SPDX-License-Identifier: MIT
 *
 * npy_header.c: writes the header of .npy, byte for byte as numpy.save does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "io/format/format.h"
#include "io/format/text/text.h"

/* Data begins at a multiple of ALIGN; the first length has space to grow to GROWTH digits in place (both as in
 * NumPy). */
enum {
  ALIGN = 64,
  MOST_ALIGNED = 8192,
  GROWTH = 21,
  PREFIX_V1 = 10,
  PREFIX_V2 = 12,
  SHAPE_BYTES = GATHER_MAX_RANK * 22 + 8
};

bool gather_npy_carries(const gather_type_info *type) { return type->npy || type->type == GATHER_TYPE_OPAQUE; }

/* Checks the caller's descr against the type. Opaque elements may have any descr of their size: Arrow's dates of 32 bits are '<i4'. */
static gather_status check_descr(const gather_writing *what, gather_error *error) {
  gather_literal literal;
  gather_descr descr;
  gather_literal_init(&literal, what->descr, (int64_t)strlen(what->descr));
  if (!gather_descr_parse(&literal, &descr))
    return gather_fail_input(error, literal.status == GATHER_UNSUPPORTED ? GATHER_UNSUPPORTED : GATHER_USAGE, "output",
                             "the descr %.100s: %s", what->descr, literal.message);
  if (literal.at != literal.end || gather_utf8_check(literal.text, literal.end) >= 0)
    return gather_fail_input(error, GATHER_USAGE, "output", "the descr %.100s is not one literal", what->descr);
  const bool opaque = what->type == GATHER_TYPE_OPAQUE;
  bool same = opaque ? descr.item_bytes == what->item_bytes : descr.type == what->type;
  if (same && !opaque) same = descr.unit_bytes <= 1 || descr.swapped == what->byte_swapped;
  if (same) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the descr %.100s has another type, size or byte order",
                           what->descr);
}

/* The default descr of a type. */
static void own_descr(const gather_writing *what, char *text, size_t bytes) {
  const gather_type_info *type = gather_type_get(what->type);
  bool big = what->byte_swapped != (GATHER_BIG_ENDIAN != 0);
  if (what->type == GATHER_TYPE_OPAQUE)
    (void)snprintf(text, bytes, "'|V%" PRId64 "'", what->item_bytes);
  else
    (void)snprintf(text, bytes, "'%c%s'", type->bits == 8 ? '|' : big ? '>' : '<', type->npy);
}

static void shape_text(const gather_writing *what, char *text, size_t bytes) {
  size_t at = (size_t)snprintf(text, bytes, "(");
  for (int32_t d = 0; d < what->rank; d++)
    at += (size_t)snprintf(text + at, bytes - at, d ? ", %" PRId64 : "%" PRId64, what->shape[d]);
  (void)snprintf(text + at, bytes - at, what->rank == 1 ? ",)" : ")");
}

/* Data begins at a multiple of it. */
static int64_t align_of(const gather_writing *what) { return what->align_bytes > ALIGN ? what->align_bytes : ALIGN; }

/* The dictionary as text of `*size` bytes, with blanks to grow into; space for the padding follows it. */
static char *dictionary(const gather_writing *what, int64_t *size) {
  char own[40], shape[SHAPE_BYTES], first[24] = "";
  own_descr(what, own, sizeof own);
  shape_text(what, shape, sizeof shape);
  if (what->rank > 0) (void)snprintf(first, sizeof first, "%" PRId64, what->shape[0]);
  const char *descr = what->descr ? what->descr : own;
  size_t room = strlen(descr) + sizeof shape + 128 + GROWTH + (size_t)align_of(what);
  char *text = gather_alloc((int64_t)room + PREFIX_V2);
  if (!text) return NULL;
  int blanks = what->rank > 0 ? GROWTH - (int)strlen(first) : 0;
  *size = snprintf(text, room, "{'descr': %s, 'fortran_order': False, 'shape': %s, }%*s", descr, shape, blanks, "");
  return text;
}

/* Puts magic, version and length before the text, padding and a newline after it. */
static void frame(gather_header *header, int version, int64_t align) {
  int64_t prefix = version == 1 ? PREFIX_V1 : PREFIX_V2;
  int64_t padding = align - (prefix + header->size + 1) % align, length = header->size + padding + 1;
  memmove(header->bytes + prefix, header->bytes, (size_t)header->size);
  memcpy(header->bytes, "\x93NUMPY", 6);
  header->bytes[6] = (char)version;
  header->bytes[7] = 0;
  for (int64_t i = 8; i < prefix; i++) header->bytes[i] = (char)(unsigned char)(length >> (8 * (i - 8)) & 0xff);
  memset(header->bytes + prefix + header->size, ' ', (size_t)padding);
  header->bytes[prefix + length - 1] = '\n';
  header->size = prefix + length;
}

/* The longest text whose length, padded, fits in the two bytes of version 1.0. */
static bool fits_version_1(int64_t size, int64_t align) {
  return size + 1 + align - (PREFIX_V1 + size + 1) % align <= UINT16_MAX;
}

/* NumPy refuses to load headers of more than 10,000 bytes, unless told otherwise. */
static gather_status check_aligned(const gather_writing *what, const gather_header *header, gather_error *error) {
  if (what->align_bytes <= ALIGN || header->size <= MOST_ALIGNED) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "output",
                           "elements aligned to %" PRId64 " bytes need a header of .npy of %" PRId64
                           " bytes, and NumPy reads at most 10000; use at most %d, or safetensors or raw",
                           what->align_bytes, header->size, MOST_ALIGNED);
}

gather_status gather_npy_header(const gather_writing *what, int64_t data_bytes, gather_header *header,
                                gather_error *error) {
  (void)data_bytes;
  const gather_header aligned = {.size = align_of(what)};
  GATHER_TRY(check_aligned(what, &aligned, error));
  if (what->descr) {
    GATHER_TRY(check_descr(what, error));
    if (strlen(what->descr) > INT32_MAX / 2)
      return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "the descr is too long for a header");
  }
  header->bytes = dictionary(what, &header->size);
  if (!header->bytes) return gather_fail(error, GATHER_OUT_OF_MEMORY, "no memory for the file's header");
  int64_t latin1 = gather_latin1_from_utf8(header->bytes, header->size);
  if (latin1 >= 0) header->size = latin1;
  frame(header, latin1 < 0 ? 3 : fits_version_1(header->size, align_of(what)) ? 1 : 2, align_of(what));
  return check_aligned(what, header, error);
}
