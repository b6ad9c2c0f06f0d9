/* SPDX-License-Identifier: MIT
 *
 * shuffle_text.h: numbers in the text of journals.
 */
#ifndef GATHER_SHUFFLE_SHUFFLE_TEXT_H
#define GATHER_SHUFFLE_SHUFFLE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a decimal number without a sign; *text is advanced past it. False if there is none, or if it does not fit. */
bool gather_shuffle_read_number(const char **text, int64_t *number);

#endif
