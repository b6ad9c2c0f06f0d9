/* SPDX-License-Identifier: MIT
 *
 * float_value.c: values of floats of any width, and numbers as text.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/float_value.h"

/* NF4: 16 values that divide the normal distribution into parts of equal weight (the QLoRA paper, table of appendix E). */
static const double NF4[16] = {-1.0,
                               -0.6961928009986877,
                               -0.5250730514526367,
                               -0.39491748809814453,
                               -0.28444138169288635,
                               -0.18477343022823334,
                               -0.09105003625154495,
                               0.0,
                               0.07958029955625534,
                               0.16093020141124725,
                               0.24611230194568634,
                               0.33791524171829224,
                               0.44070982933044434,
                               0.5626170039176941,
                               0.7229568362236023,
                               1.0};

/* The meaning of the codes with all exponent bits set, or only the sign bit set. */
typedef enum special {
  ALL_FINITE, /* every code is a number */
  TOP_IS_NAN, /* all bits except the sign set: not a number */
  LIKE_IEEE,  /* infinity and not-a-number, as in larger types */
  MINUS_ZERO_IS_NAN
} special;

typedef struct layout {
  gather_type type;
  int exponent_bits, fraction_bits, bias;
  special special;
} layout;

static const layout LAYOUTS[] = {
    {GATHER_TYPE_FLOAT8_E4M3FN, 4, 3, 7, TOP_IS_NAN}, {GATHER_TYPE_FLOAT8_E4M3FNUZ, 4, 3, 8, MINUS_ZERO_IS_NAN},
    {GATHER_TYPE_FLOAT8_E5M2, 5, 2, 15, LIKE_IEEE},   {GATHER_TYPE_FLOAT8_E5M2FNUZ, 5, 2, 16, MINUS_ZERO_IS_NAN},
    {GATHER_TYPE_FLOAT6_E2M3FN, 2, 3, 1, ALL_FINITE}, {GATHER_TYPE_FLOAT6_E3M2FN, 3, 2, 3, ALL_FINITE},
    {GATHER_TYPE_FLOAT4_E2M1FN, 2, 1, 1, ALL_FINITE},
};

static double decode(const layout *l, unsigned code) {
  unsigned fraction = code & ((1u << l->fraction_bits) - 1), top = (1u << l->exponent_bits) - 1;
  unsigned exponent = code >> l->fraction_bits & top, sign = code >> (l->exponent_bits + l->fraction_bits) & 1;
  bool all_set = exponent == top && fraction == (1u << l->fraction_bits) - 1;
  if (l->special == MINUS_ZERO_IS_NAN && sign && exponent == 0 && fraction == 0) return (double)NAN;
  if (l->special == TOP_IS_NAN && all_set) return (double)NAN;
  if (l->special == LIKE_IEEE && exponent == top) return fraction ? (double)NAN : sign ? -(double)INFINITY : (double)INFINITY;
  /* Subnormal numbers have the exponent of the smallest normal ones. */
  double mantissa = fraction + (exponent ? (double)(1u << l->fraction_bits) : 0.0);
  double number = ldexp(mantissa, (int)(exponent ? exponent : 1) - l->bias - l->fraction_bits);
  return sign ? -number : number;
}

/* A float type of 8 bits or less. */
static bool read_small(gather_type type, unsigned code, double *number) {
  if (type == GATHER_TYPE_FLOAT8_E8M0FNU) /* a power of two; neither sign nor zero */
    *number = code == 0xff ? (double)NAN : ldexp(1, (int)code - 127);
  if (type == GATHER_TYPE_NF4) *number = NF4[code & 15];
  for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
    if (LAYOUTS[i].type != type) continue;
    *number = decode(&LAYOUTS[i], code);
    return true;
  }
  return type == GATHER_TYPE_FLOAT8_E8M0FNU || type == GATHER_TYPE_NF4;
}

static double half(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
  return sign * (exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24));
}

static double single(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return (double)number;
}

bool gather_float_read(gather_type type, const void *element, double *number) {
  uint16_t two;
  uint32_t four;
  switch (type) {
    case GATHER_TYPE_FLOAT16:
      memcpy(&two, element, sizeof two);
      *number = half(two);
      return true;
    case GATHER_TYPE_BFLOAT16:
      memcpy(&two, element, sizeof two);
      *number = single((uint32_t)two << 16);
      return true;
    case GATHER_TYPE_FLOAT32:
      memcpy(&four, element, sizeof four);
      *number = single(four);
      return true;
    case GATHER_TYPE_FLOAT64:
      memcpy(number, element, sizeof *number);
      return true;
    default:
      return read_small(type, *(const unsigned char *)element, number);
  }
}

/* "%g" writes the decimal point of the locale, which may have several bytes. */
static bool is_of_number(char c) { return (c >= '0' && c <= '9') || strchr("+-einfa", c) != NULL; }

void gather_double_text(double number, int digits, char *text, size_t bytes) {
  char written[64];
  size_t used = 0;
  (void)snprintf(written, sizeof written, "%.*g", digits, number);
  if (bytes == 0) return;
  for (const char *p = written; *p && used + 1 < bytes; p++) {
    if (is_of_number(*p))
      text[used++] = *p;
    else if (used == 0 || text[used - 1] != '.')
      text[used++] = '.';
  }
  text[used] = '\0';
}
