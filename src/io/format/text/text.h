/* SPDX-License-Identifier: MIT
 *
 * text.h: the encodings of .npy headers. Versions 1.0 and 2.0 are Latin-1, 3.0 is UTF-8; inside, all text is UTF-8.
 */
#ifndef GATHER_FORMAT_TEXT_H
#define GATHER_FORMAT_TEXT_H

#include "core/base/growing.h"
#include "gather/file.h"

/* The first byte that is not UTF-8; -1 if there is none. */
int64_t gather_utf8_check(const char *text, int64_t bytes);

/* Appends a text as gather_text_visible shows it. */
void gather_text_put(gather_growing *to, const char *text);

#endif
