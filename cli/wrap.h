/* SPDX-License-Identifier: MIT
 *
 * wrap.h: lines of text that fit the terminal. To anything but a terminal they are written unchanged.
 */
#ifndef GATHER_CLI_WRAP_H
#define GATHER_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

#include "gather/gather.h"

/* Writes text to stdout or stderr. On a terminal, lines are wrapped at its width between words. A line is written when its '\n' comes:
 * callers end the last line before others write to the stream. What a user may copy is not broken: quoted text, an option and its value,
 * and lines with the label "give", "run" or "try". Colours take no columns. Out of memory: lines are written unwrapped. */
void gather_cli_say_bytes(FILE *to, const char *text, size_t bytes);
/* The same, formatted. */
GATHER_PRINTF_LIKE(2, 3)
void gather_cli_say(FILE *to, const char *format, ...);
/* The same, with control characters escaped: gather_cli_put. */
void gather_cli_say_visible(FILE *to, const char *text);

#endif
