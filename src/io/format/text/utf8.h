/* SPDX-License-Identifier: MIT
 *
 * utf8.h: text as UTF-8. Inside, all text is.
 */
#ifndef GATHER_FORMAT_UTF8_H
#define GATHER_FORMAT_UTF8_H

#include "core/base/growing.h"
#include "gather/file.h"

/* The first byte that is not UTF-8; -1 if there is none. */
int64_t gather_utf8_check(const char *text, int64_t bytes);
/* Appends a text as gather_text_visible shows it. */
void gather_text_put(gather_growing *to, const char *text);

#endif
