/* SPDX-License-Identifier: MIT
 *
 * decode_neon.c: decoders of quantised rows by NEON. Empty for other CPU families. Vectors of SVE have no known length, and the
 * blocks are short: NEON's serve there too.
 */
#include <string.h>

#include "core/kernel/decode_parts.h"

#if GATHER_ISA_NEON && !defined(GATHER_NO_CODECS)
#include <arm_neon.h>

#include "core/kernel/sixteen_neon.h"

#include "core/kernel/sixteen.tmpl.h"

const gather_decoding gather_decoding_neon = SIXTEEN_DECODERS;
#endif
