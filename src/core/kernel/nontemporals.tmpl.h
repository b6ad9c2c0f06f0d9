/* SPDX-License-Identifier: MIT
 *
 * nontemporals.tmpl.h: all kernels with non-temporal stores, for indices of both widths: rows, runs of rows, plain
 * bytes. Included once per instruction set; the file that includes this defines nontemporal_line (nontemporal.tmpl.h),
 * follow_u32 and follow_u64 (runs.tmpl.h), and with NONTEMPORAL_WHOLE what words.tmpl.h needs.
 */
#if GATHER_SMALL
#define INDEX uint32_t
#define SUFFIX u32
#define NONTEMPORAL 0
#include "core/kernel/runs.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define NONTEMPORAL 0
#include "core/kernel/runs.tmpl.h"
#else
#define INDEX uint32_t
#define SUFFIX u32
#include "core/kernel/nontemporal.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#include "core/kernel/nontemporal.tmpl.h"

#define INDEX uint32_t
#define SUFFIX u32
#define NONTEMPORAL 1
#include "core/kernel/runs.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define NONTEMPORAL 1
#include "core/kernel/runs.tmpl.h"

#define INDEX uint32_t
#define SUFFIX u32
#include "core/kernel/lines.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#include "core/kernel/lines.tmpl.h"

#if NONTEMPORAL_WHOLE
#define INDEX uint32_t
#define SUFFIX u32
#include "core/kernel/words.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#include "core/kernel/words.tmpl.h"

#define WORDS_OF(class, w) words_##class##_##w
#else
#define WORDS_OF(class, w) lines_##class##_##w
#endif

/* elements: the kernels of 1, 2, 4 and 8 bytes; `lines`, or others. */
#define NONTEMPORAL_OF(w, elements)                                                                                              \
  {                                                                                                                              \
    elements##_1_##w, elements##_2_##w, lines_3_##w, elements##_4_##w, lines_5_to_7_##w, elements##_8_##w, WORDS_OF(9_to_15, w), \
        lines_16_##w, WORDS_OF(17_to_31, w), lines_32_##w, lines_33_to_63_##w, lines_64_##w, nontemporal_##w                     \
  }

static void nontemporal_copy(char *out, const char *in, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) nontemporal_line(out + at, in + at);
}
#endif
