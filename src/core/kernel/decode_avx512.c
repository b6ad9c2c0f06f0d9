/* SPDX-License-Identifier: MIT
 *
 * decode_avx512.c: decoders of quantised rows by AVX-512. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/decode_parts.h"

#if GATHER_ISA_AVX512 && !defined(GATHER_NO_CODECS)
#include <immintrin.h>

GATHER_TARGET_BEGIN("avx2,f16c,fma,avx512f,avx512bw,avx512dq,avx512vl")
#include "core/kernel/sixteen_avx512.h"

#include "core/kernel/sixteen.tmpl.h"
GATHER_TARGET_END

const gather_decoding gather_decoding_avx512 = SIXTEEN_DECODERS;
#endif
