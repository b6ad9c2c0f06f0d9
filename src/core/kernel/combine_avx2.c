/* SPDX-License-Identifier: MIT
 *
 * combine_avx2.c: the kernels that combine by AVX2, with F16C. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/combine_number.h"
#include "core/kernel/combine_vector.h"
#include "core/kernel/combine_walk.h"

#if GATHER_ISA_AVX2 && !defined(GATHER_ONLY_GATHER)
#include <immintrin.h>

GATHER_TARGET_BEGIN("avx2,f16c")
#include "core/kernel/combine_x86.h"
#include "core/kernel/wide_x86.h"

#define SHORTEST_ROW 32
#include "core/kernel/combine_none.tmpl.h"

#define LONGEST 32
#define LONGEST_HALF 16
#define WIDE_F16 wide_f16
#define NARROW_F16 narrow_f16
#include "core/kernel/combine.tmpl.h"

#include "core/kernel/combine_wide.tmpl.h"
GATHER_TARGET_END

const gather_combining gather_combining_avx2 = {
    .none = {[9] = none_32, none_33_to_63, none_64, none_long},
    .elements = HALF_SLOTS(elements),
    .rows = ALL_SLOTS(rows),
    .wide = WIDE_SLOTS,
};
#endif
