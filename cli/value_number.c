/* SPDX-License-Identifier: MIT
 *
 * value_number.c: numbers of every integer and float type from text. strtod reads decimals: no locale is ever set, so
 * the decimal point is a point.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static const char *skip_digits(const char *p) {
  while (is_digit(*p)) p++;
  return p;
}

static size_t word(const char *text, const char *name) {
  size_t len = strlen(name);
  for (size_t i = 0; i < len; i++)
    if (lower(text[i]) != name[i]) return 0;
  return len;
}

/* The end of the digits, point and exponent at p; p itself if there is no number. */
static const char *skip_decimal(const char *p) {
  const char *q = skip_digits(p);
  bool digits = q > p;
  if (*q == '.') {
    const char *fraction = skip_digits(q + 1);
    digits = digits || fraction > q + 1;
    q = fraction;
  }
  if (!digits) return p;
  if (*q == 'e' || *q == 'E') {
    const char *e = q + 1 + (q[1] == '+' || q[1] == '-');
    if (is_digit(*e)) q = skip_digits(e);
  }
  return q;
}

bool gather_cli_double(const char *text, const char **end, double *number, bool *finite) {
  bool negative = *text == '-';
  const char *p = text + (*text == '-' || *text == '+');
  size_t inf = word(p, "infinity") ? word(p, "infinity") : word(p, "inf"), nan_len = word(p, "nan");
  *finite = !inf && !nan_len;
  if (!*finite) {
    *number = copysign(inf ? (double)INFINITY : (double)NAN, negative ? -1.0 : 1.0);
    *end = p + (inf ? inf : nan_len);
    return true;
  }
  *end = skip_decimal(p);
  if (*end == p) return false;
  *number = strtod(text, NULL);
  return true;
}

/* Float types below double: value = (1 + m / 2^mantissa) * 2^(e - bias), all of them IEEE-like except at their upper end.
 */
typedef struct small_float {
  gather_type type;
  int mantissa, bias;
  uint32_t sign, largest; /* the sign bit; the code of the largest finite value */
  uint32_t overflow;      /* what a finite number beyond it rounds to, as NumPy and ml_dtypes do */
  uint32_t infinity, nan; /* 0 = there is none */
  bool negative_zero;
} small_float;

static const small_float SMALL[] = {
    {GATHER_TYPE_FLOAT32, 23, 127, 0x80000000u, 0x7f7fffff, 0x7f800000, 0x7f800000, 0x7fc00000, true},
    {GATHER_TYPE_FLOAT16, 10, 15, 0x8000, 0x7bff, 0x7c00, 0x7c00, 0x7e00, true},
    {GATHER_TYPE_BFLOAT16, 7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7f80, 0x7fc0, true},
    {GATHER_TYPE_FLOAT8_E4M3FN, 3, 7, 0x80, 0x7e, 0x7f, 0, 0x7f, true},
    {GATHER_TYPE_FLOAT8_E4M3FNUZ, 3, 8, 0x80, 0x7f, 0x80, 0, 0x80, false},
    {GATHER_TYPE_FLOAT8_E5M2, 2, 15, 0x80, 0x7b, 0x7c, 0x7c, 0x7e, true},
    {GATHER_TYPE_FLOAT8_E5M2FNUZ, 2, 16, 0x80, 0x7f, 0x80, 0, 0x80, false},
    {GATHER_TYPE_FLOAT4_E2M1FN, 1, 1, 0x8, 0x7, 0x7, 0, 0, true},
    {GATHER_TYPE_FLOAT6_E2M3FN, 3, 1, 0x20, 0x1f, 0x1f, 0, 0, true},
    {GATHER_TYPE_FLOAT6_E3M2FN, 2, 3, 0x20, 0x1f, 0x1f, 0, 0, true},
};

/* The code of a finite number without its sign, rounded to nearest, ties to even. Adding the rounded mantissa to the
 * exponent lets a carry become the next exponent, and makes the subnormal codes come out right. */
static uint32_t round_code(const small_float *f, double magnitude) {
  int least = 1 - f->bias;
  if (magnitude == 0) return 0;
  int exponent = ilogb(magnitude);
  if (exponent < least) exponent = least;
  double mantissa = rint(ldexp(magnitude, f->mantissa - exponent));
  uint64_t code = ((uint64_t)(exponent - least) << f->mantissa) + (uint64_t)mantissa;
  return code > f->largest ? f->overflow : (uint32_t)code;
}

static bool encode_small(const small_float *f, double x, uint32_t *code) {
  bool two_zeros = f->negative_zero;
  if (isnan(x) && !f->nan) return false;
  if (isinf(x) && !f->infinity) return false;
  *code = isnan(x) ? f->nan : isinf(x) ? f->infinity : round_code(f, fabs(x));
  if (signbit(x) && (two_zeros || (*code != 0 && *code != f->nan))) *code |= f->sign;
  return true;
}

/* E8M0: powers of two from 2^-127 (code 0) to 2^127, and NaN. It has neither sign nor zero. The middle of two goes up,
 * as in ml_dtypes: that is the even one where the leading bit counts as the mantissa's only one. */
static bool encode_e8m0(double x, uint32_t *code) {
  *code = 0xff;
  if (isnan(x)) return true;
  if (isinf(x) || x <= 0) return false;
  int exponent;
  double mantissa = frexp(x, &exponent); /* x = mantissa * 2^exponent, mantissa in [0.5, 1) */
  int value = exponent - 1 + 127;
  if (mantissa >= 0.75) value++;
  if (value < 0) value = 0;
  if (value < 0xff) *code = (uint32_t)value;
  return true;
}

static double nf4(uint32_t code) {
  unsigned char element = (unsigned char)code;
  double number = 0;
  (void)gather_float_read(GATHER_TYPE_NF4, &element, &number);
  return number;
}

/* NF4: the nearest of its 16 values. */
static bool encode_nf4(double x, uint32_t *code) {
  if (isnan(x) || isinf(x)) return false;
  *code = 0;
  for (uint32_t i = 1; i < 16; i++) {
    double step = fabs(x - nf4(i)), best = fabs(x - nf4(*code));
    if (step < best || (step == best && i % 2 == 0)) *code = i;
  }
  return true;
}

static void put_bytes(uint64_t code, size_t bytes, void *element) {
  uint8_t b = (uint8_t)code;
  uint16_t h = (uint16_t)code;
  uint32_t w = (uint32_t)code;
  memcpy(element, bytes == 1 ? (void *)&b : bytes == 2 ? (void *)&h : bytes == 4 ? (void *)&w : (void *)&code, bytes);
}

static double round_to_float32(double number) {
  uint32_t code;
  float rounded;
  if (!encode_small(&SMALL[0], number, &code)) return number;
  memcpy(&rounded, &code, sizeof rounded);
  return (double)rounded;
}

bool gather_cli_encode_float(gather_type type, double number, bool finite, void *element) {
  uint32_t code = 0;
  bool fits = false;
  if (type == GATHER_TYPE_FLOAT64) {
    memcpy(element, &number, sizeof number);
    return true;
  }
  if (finite && isinf(number)) number = copysign(DBL_MAX, number); /* 1e999 is out of range, not infinity */
  /* ml_dtypes makes bfloat16 by way of float32, which matters near the midpoint of two values. */
  if (type == GATHER_TYPE_BFLOAT16) number = round_to_float32(number);
  if (type == GATHER_TYPE_FLOAT8_E8M0FNU) fits = encode_e8m0(number, &code);
  if (type == GATHER_TYPE_NF4) fits = encode_nf4(number, &code);
  for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++)
    if (SMALL[i].type == type) fits = encode_small(&SMALL[i], number, &code);
  int32_t bits = gather_type_get(type)->bits;
  if (fits) put_bytes(code, bits <= 8 ? 1 : (size_t)bits / 8, element);
  return fits;
}

static bool add_digit(uint64_t *magnitude, unsigned base, unsigned digit) {
  if (*magnitude > (UINT64_MAX - digit) / base) return false;
  *magnitude = *magnitude * base + digit;
  return true;
}

static bool read_hex(const char *p, uint64_t *magnitude) {
  if (!*p) return false;
  for (; *p; p++) {
    char c = lower(*p);
    bool letter = c >= 'a' && c <= 'f';
    if (!letter && !is_digit(c)) return false;
    if (!add_digit(magnitude, 16, (unsigned)(letter ? c - 'a' + 10 : c - '0'))) return false;
  }
  return true;
}

/* Digits with a point and an exponent whose value is an integer, such as 2.0 and 1e3. */
static bool read_decimal(const char *p, uint64_t *magnitude) {
  const char *end = skip_decimal(p), *last = NULL;
  if (end == p || *end) return false;
  const char *e = p + strcspn(p, "eE"), *point = p + strcspn(p, ".eE");
  for (const char *q = p; q < e; q++)
    if (*q != '.' && *q != '0') last = q;
  if (!last) return true; /* zero */
  long exponent = *e ? strtol(e + 1, NULL, 10) : 0;
  if (exponent > 100000 || exponent < -100000) return false;
  /* The weight of the last digit that is not 0, as a power of ten. */
  exponent += last < point ? (long)(point - last - 1) : -(long)(last - point);
  for (const char *q = p; q <= last; q++)
    if (*q != '.' && !add_digit(magnitude, 10, (unsigned)(*q - '0'))) return false;
  for (long i = 0; i < exponent; i++)
    if (!add_digit(magnitude, 10, 0)) return false;
  return exponent >= 0;
}

bool gather_cli_integer(const char *text, bool *negative, uint64_t *magnitude) {
  const char *p = text + (*text == '-' || *text == '+');
  *negative = *text == '-';
  *magnitude = 0;
  bool hex = p[0] == '0' && lower(p[1]) == 'x';
  if (!(hex ? read_hex(p + 2, magnitude) : read_decimal(p, magnitude))) return false;
  return !(*negative && *magnitude == 0 && strpbrk(p, ".eE")); /* -0.0 is a float that no integer can hold */
}

bool gather_cli_encode_integer(bool is_signed, int32_t bits, bool negative, uint64_t magnitude, void *element) {
  uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 + negative : UINT64_MAX >> (64 - bits);
  if (!is_signed && negative && magnitude != 0) return false;
  if (magnitude > most) return false;
  uint64_t code = (negative ? 0 - magnitude : magnitude) & (UINT64_MAX >> (64 - bits));
  put_bytes(code, bits <= 8 ? 1 : (size_t)bits / 8, element);
  return true;
}
