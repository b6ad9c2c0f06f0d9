/* SPDX-License-Identifier: MIT
 *
 * percent.h: percent-encoding of URLs (RFC 3986), as signatures of AWS want it.
 */
#ifndef GATHER_REMOTE_PERCENT_H
#define GATHER_REMOTE_PERCENT_H

#include "core/base/growing.h"

/* Appends text with every byte but A-Z a-z 0-9 - . _ ~ as "%XX"; "/" too, unless keep_slash. */
void gather_percent_encode(gather_growing *growing, const char *text, size_t bytes, bool keep_slash);

/* Appends text with "%XX" as bytes, and "+" as a space if plus. Returns false, with nothing useful appended, for a "%" without two
 * digits, and for "%00". */
bool gather_percent_decode(gather_growing *growing, const char *text, size_t bytes, bool plus);

#endif
