/* SPDX-License-Identifier: MIT
 *
 * literal_exact.c: one number of a literal as an element of its type, where the type has it exactly.
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

/* The number that a float's bits stand for. */
static double decode(gather_type type, const void *element) {
  double number = 0;
  (void)gather_float_read(type, element, &number);
  return number;
}

/* Whole numbers beyond 2^53 are rounded when they become a double: those would be taken for exact. */
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

bool gather_cli_is_literal_of(gather_type type, const char *text) {
  const gather_type_info *info = gather_type_get(type);
  const char *end;
  double number;
  unsigned char element;
  bool finite;
  if (gather_cli_is_literal(text)) return true;
  if (info && info->kind == GATHER_KIND_BOOL) return gather_cli_bool(text, &element);
  return info && gather_cli_literal_has(type) && gather_cli_double(text, &end, &number, &finite) && *end == 0;
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
