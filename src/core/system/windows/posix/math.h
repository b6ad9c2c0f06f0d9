/* SPDX-License-Identifier: MIT
 *
 * math.h: as C11 says: INFINITY and NAN are float, and a float is classified as it is.
 */
#ifndef GATHER_POSIX_MATH_H
#define GATHER_POSIX_MATH_H
#pragma GCC system_header /* #include_next is not C11 */

#include_next <math.h>

#undef INFINITY
#undef NAN
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
#define isnan(number) __builtin_isnan(number)
#define isinf(number) __builtin_isinf(number)
#define isfinite(number) __builtin_isfinite(number)
#define signbit(number) __builtin_signbit(number)

#endif
