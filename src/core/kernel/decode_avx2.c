/* SPDX-License-Identifier: MIT
 *
 * decode_avx2.c: decoders of quantised rows by AVX2, with F16C and FMA, which every CPU with AVX2 has. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/decode_parts.h"

#if GATHER_ISA_AVX2 && !defined(GATHER_NO_CODECS)
#include <immintrin.h>

GATHER_TARGET_BEGIN("avx2,f16c,fma")
#include "core/kernel/sixteen_avx2.h"

#include "core/kernel/sixteen.tmpl.h"
GATHER_TARGET_END

const gather_decoding gather_decoding_avx2 = SIXTEEN_DECODERS;
#endif
