/* SPDX-License-Identifier: MIT
 *
 * float_value.h: numbers as short text. gather.h has gather_float_read, which float_value.c implements.
 */
#ifndef GATHER_BASE_FLOAT_VALUE_H
#define GATHER_BASE_FLOAT_VALUE_H

#include "gather/gather.h"

/* Writes a number with at most `digits` significant digits, as "%g" does, with a decimal point in every locale. */
void gather_double_text(double number, int digits, char *text, size_t bytes);

#endif
