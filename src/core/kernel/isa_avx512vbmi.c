/* SPDX-License-Identifier: MIT
 *
 * isa_avx512vbmi.c: register tables of up to 256 bytes. Empty for other CPU families.
 */
#include <string.h>

#include "core/kernel/copy.h"
#include "core/kernel/kernel.h"

#if GATHER_ISA_AVX512VBMI
#include <immintrin.h>

GATHER_TARGET_BEGIN("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")
#include "core/kernel/wide_x86.h"

#define BELOW_VECTORS 2
#include "core/kernel/below.tmpl.h"
#include "core/kernel/tables_avx512.h"

TABLE_ROUNDS(1, 1)
TABLE_ROUNDS(1, 2)
TABLE_ROUNDS(1, 4)
TABLE_ROUNDS(1, 8)
TABLE(4, 1)
TABLE(4, 2)
TABLE(4, 4)
TABLE(4, 8)
TABLE(8, 1)
TABLE(8, 2)
TABLE(8, 4)
TABLE(8, 8)
GATHER_TARGET_END

const gather_isa gather_isa_avx512vbmi = {.name = "avx512vbmi",
                                          .table = {{table_1_1, table_1_2, table_1_4, table_1_8},
                                                    {table_4_1, table_4_2, table_4_4, table_4_8},
                                                    {table_8_1, table_8_2, table_8_4, table_8_8}},
                                          .checked_table = CHECKED_TABLE_SLOTS,
                                          .table_bytes = {256, 256, 256, 256}};
#endif
