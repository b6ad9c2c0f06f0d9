/* SPDX-License-Identifier: MIT
 *
 * small_float.h: the value of an element of a float type of 8 bits or less.
 */
#ifndef GATHER_CLI_SMALL_FLOAT_H
#define GATHER_CLI_SMALL_FLOAT_H

#include "gather/gather.h"

/* What the bits of one element stand for; false where the type is none of the small ones. */
bool gather_cli_small_float(gather_type type, unsigned code, double *number);

/* NF4: 16 values that cut the normal distribution into parts of equal weight (the QLoRA paper, table of appendix E). */
extern const double gather_cli_nf4[16];

#endif
