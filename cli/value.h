/* SPDX-License-Identifier: MIT
 *
 * value.h: the V of fill=V as one element of a tensor's type.
 */
#ifndef GATHER_CLI_VALUE_H
#define GATHER_CLI_VALUE_H

#include "gather/file.h"

/* Makes one element of `like`'s type and byte order from text. element: malloc'ed, the caller frees it (also after a
 * failure); for strings it points into `text`. Returns GATHER_USAGE if the type cannot represent the value,
 * GATHER_OUT_OF_MEMORY. */
GATHER_CHECKED gather_status gather_cli_value(const gather_file_tensor *like, const char *text, void **element, gather_error *error);

/* Reads true, false, 1 or 0 as an element of type bool. False for anything else. */
bool gather_cli_bool(const char *text, unsigned char *element);

/* A decimal number, nan or inf at text, rounded to double: *end points after it; *finite: it was written with digits.
 * False if there is none. */
bool gather_cli_double(const char *text, const char **end, double *number, bool *finite);

/* Writes `number` as one element of a float type, rounded to nearest, ties to even; `finite` as above. False if the
 * type has no such value (nan, inf, or what cannot be rounded to). */
bool gather_cli_encode_float(gather_type type, double number, bool finite, void *element);

/* An integer in decimal ("-3", also "2.50e1") or 0x hexadecimal, as sign and magnitude. False for anything else. */
bool gather_cli_integer(const char *text, bool *negative, uint64_t *magnitude);

/* Writes an integer as one element of an integer type of `bits` bits in this machine's byte order; false if it does
 * not fit. */
bool gather_cli_encode_integer(bool is_signed, int32_t bits, bool negative, uint64_t magnitude, void *element);

#endif
