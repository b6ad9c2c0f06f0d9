/* SPDX-License-Identifier: MIT
 *
 * isa_portable.c: the kernels in plain C11, right on every machine; the weakest row of isa.def, so every slot is filled.
 */
#include <string.h>

#include "kernel/copy.h"
#include "kernel/kernel.h"

#define TARGET

#define INDEX int8_t
#define SUFFIX i8
#define IS_SIGNED 1
#include "kernel/rows.tmpl.h"

#define INDEX int16_t
#define SUFFIX i16
#define IS_SIGNED 1
#include "kernel/rows.tmpl.h"

#define INDEX int32_t
#define SUFFIX i32
#define IS_SIGNED 1
#include "kernel/rows.tmpl.h"

#define INDEX int64_t
#define SUFFIX i64
#define IS_SIGNED 1
#include "kernel/rows.tmpl.h"

#define INDEX uint8_t
#define SUFFIX u8
#define IS_SIGNED 0
#include "kernel/rows.tmpl.h"

#define INDEX uint16_t
#define SUFFIX u16
#define IS_SIGNED 0
#include "kernel/rows.tmpl.h"

#define INDEX uint32_t
#define SUFFIX u32
#define IS_SIGNED 0
#include "kernel/rows.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define IS_SIGNED 0
#include "kernel/rows.tmpl.h"

#define ROWS_OF(suffix)                                                                                             \
  {                                                                                                                 \
    rows_b1_##suffix, rows_b2_##suffix, rows_b4_##suffix, rows_b8_##suffix, rows_b16_##suffix, rows_short_##suffix, \
        rows_long_##suffix                                                                                          \
  }

const gather_isa gather_isa_portable = {
    "portable",
    {ROWS_OF(i8), ROWS_OF(i16), ROWS_OF(i32), ROWS_OF(i64), ROWS_OF(u8), ROWS_OF(u16), ROWS_OF(u32), ROWS_OF(u64)},
    {"rows_b1", "rows_b2", "rows_b4", "rows_b8", "rows_b16", "rows_short", "rows_long"}};
