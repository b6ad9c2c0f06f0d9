/* SPDX-License-Identifier: MIT
 *
 * isa_portable.c: the kernels in plain C11, for every machine. The weakest row of isa.def: it has every required slot.
 */
#include <string.h>

#include "core/kernel/bits_element.h"
#if !defined(GATHER_ONLY_GATHER)
#include "core/kernel/combine.h"
#endif
#include "core/kernel/copy.h"
#include "core/kernel/index_types.h"
#include "core/kernel/kernel.h"

#define INDEX uint32_t
#define SUFFIX u32
#define SHORTEST_ROW 1
#include "core/kernel/rows.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define SHORTEST_ROW 1
#include "core/kernel/rows.tmpl.h"

#define WITHIN_BY BITS
#define WITHIN_BY_64 BITS
#include "core/kernel/within.tmpl.h"

#if !GATHER_SMALL
#define BELOW_VECTORS 0
#include "core/kernel/below.tmpl.h"

#include "core/kernel/checked.tmpl.h"
#endif

#include "core/kernel/fold.tmpl.h"

#define FOLLOW(w)                                                         \
  GATHER_INLINE int follow_u##w(const char *indices, uint##w##_t first) { \
    int n = 0;                                                            \
    for (uint##w##_t value; n < 16; n++) {                                \
      memcpy(&value, indices + (size_t)n * sizeof value, sizeof value);   \
      if (value != (uint##w##_t)(first + (uint##w##_t)n)) break;          \
    }                                                                     \
    return n;                                                             \
  }
FOLLOW(32)
FOLLOW(64)

#define INDEX uint32_t
#define SUFFIX u32
#define NONTEMPORAL 0
#include "core/kernel/runs.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define NONTEMPORAL 0
#include "core/kernel/runs.tmpl.h"

#include "core/kernel/widen.tmpl.h"

#define PICK_NARROWEST 4
#include "core/kernel/pick.tmpl.h"

#if !defined(GATHER_ONLY_GATHER)
#include "core/kernel/tuples.tmpl.h"

TUPLES_ALONE(2, 4)
TUPLES_ALONE(3, 4)
TUPLES_ALONE(4, 4)
TUPLES_ALONE(2, 8)
TUPLES_ALONE(3, 8)
TUPLES_ALONE(4, 8)
#endif

#if !defined(GATHER_NO_CODECS)
#include "core/kernel/blocks.tmpl.h"

#include "core/kernel/blocks_k.tmpl.h"

#include "core/kernel/blocks_iq.tmpl.h"

#include "core/kernel/codes.tmpl.h"
#endif

#define ROWS_OF(w)                                                                                                                 \
  {                                                                                                                                \
    rows_1_##w, rows_2_##w, rows_3_##w, rows_4_##w, rows_5_to_7_##w, rows_8_##w, rows_9_to_15_##w, rows_16_##w, rows_17_to_31_##w, \
        rows_32_##w, rows_33_to_63_##w, rows_64_##w, rows_long_##w                                                                 \
  }

#if !defined(GATHER_NO_CODECS)
static const gather_decoding DECODING = {BLOCKS_SLOTS, CODES_SLOTS, NARROW_SLOTS};
#endif

const gather_isa gather_isa_portable = {
    .name = "portable",
    .rows = {ROWS_OF(u32), ROWS_OF(u64)},
    .runs = {runs_u32, runs_u64},
#if !GATHER_SMALL
    .checked = {CHECKED_OF(u32, checked), CHECKED_OF(u64, checked)},
    .narrow_indices = narrow_indices,
#endif
    .within = WITHIN_SLOTS,
    .fold = FOLD_SLOTS,
    .widen = WIDEN_SLOTS,
    .pick = PICK_SLOTS,
#if !defined(GATHER_ONLY_GATHER)
    .tuples_within = TUPLES_WITHIN_SLOTS,
    .tuples_fold = TUPLES_FOLD_SLOTS,
    .combine = &gather_combining_portable,
#endif
#if !defined(GATHER_NO_CODECS)
    .decode = &DECODING,
#endif
#if !defined(GATHER_ONLY_GATHER)
    .bag = &gather_bagging_portable,
#endif
};
