/* SPDX-License-Identifier: MIT
 *
 * literal_exact.c: one number of a literal as an element of its type, if exactly representable.
 */
#include <math.h>
#include <string.h>

#include "literal.h"
#include "value.h"

bool gather_cli_literal_has(gather_type type) {
  const gather_type_info *info = gather_type_get(type);
  if (!info || info->packing != GATHER_PACKING_BYTES) return false;
  return info->kind == GATHER_KIND_BOOL || info->kind == GATHER_KIND_INT || info->kind == GATHER_KIND_UINT ||
         info->kind == GATHER_KIND_FLOAT;
}

/* The value of a float's bits. */
static double decode(gather_type type, const void *element) {
  double number = 0;
  (void)gather_float_read(type, element, &number);
  return number;
}

/* Integers beyond 2^53 are rounded when converted to double, and would then seem exact. */
static bool is_exact_whole(const char *word, double number) {
  bool negative;
  uint64_t magnitude;
  if (!gather_cli_integer(word, &negative, &magnitude)) return true;
  double whole = fabs(number);
  return whole < 18446744073709551616.0 && (uint64_t)whole == magnitude;
}

static bool exact_float(gather_type type, const char *word, void *element) {
  const char *end;
  double number;
  bool finite;
  unsigned char room[8] = {0};
  if (!gather_cli_double(word, &end, &number, &finite) || *end || (finite && isinf(number))) return false;
  if (!gather_cli_encode_float(type, number, finite, room)) return false;
  double made = decode(type, room);
  memcpy(element, room, (size_t)gather_type_get(type)->bits / 8);
  return finite ? made == number && is_exact_whole(word, number) : isnan(made) == isnan(number);
}

bool gather_cli_exact(gather_type type, const char *word, void *element) {
  const gather_type_info *info = gather_type_get(type);
  bool negative;
  uint64_t magnitude;
  if (info->kind == GATHER_KIND_FLOAT) return exact_float(type, word, element);
  if (info->kind == GATHER_KIND_BOOL) return gather_cli_bool(word, element);
  return gather_cli_integer(word, &negative, &magnitude) &&
         gather_cli_encode_integer(info->kind == GATHER_KIND_INT, info->bits, negative, magnitude, element);
}
