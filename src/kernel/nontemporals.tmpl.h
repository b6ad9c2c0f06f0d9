/* SPDX-License-Identifier: MIT
 *
 * nontemporals.tmpl.h: all kernels with non-temporal stores, for indices of both widths: rows, runs of rows, plain
 * bytes. Included once per instruction set; the file that includes this defines nontemporal_line (nontemporal.tmpl.h),
 * follow_u32 and follow_u64 (runs.tmpl.h).
 */
#define INDEX uint32_t
#define SUFFIX u32
#include "kernel/nontemporal.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#include "kernel/nontemporal.tmpl.h"

#define INDEX uint32_t
#define SUFFIX u32
#define NONTEMPORAL 1
#include "kernel/runs.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#define NONTEMPORAL 1
#include "kernel/runs.tmpl.h"

#define INDEX uint32_t
#define SUFFIX u32
#include "kernel/lines.tmpl.h"

#define INDEX uint64_t
#define SUFFIX u64
#include "kernel/lines.tmpl.h"

#define NONTEMPORAL_OF(w)                                                                                 \
  {                                                                                                       \
    lines_1_##w, lines_2_##w, lines_3_##w, lines_4_##w, lines_5_to_7_##w, lines_8_##w, lines_9_to_15_##w, \
        lines_16_##w, lines_17_to_31_##w, lines_32_##w, lines_33_to_63_##w, lines_64_##w, nontemporal_##w \
  }

static void nontemporal_copy(char *out, const char *in, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) nontemporal_line(out + at, in + at);
}
