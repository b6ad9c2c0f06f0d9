/* SPDX-License-Identifier: MIT
 *
 * beams.c: sequences of a beam search. A block of sequences is followed at once, step by step, so that each step's row of the
 * tensors is read and written in one go.
 */
#include "core/kernel/beams.h"

#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/tensor.h"

/* A block of sequences: where each one is. */
enum { LANES = 256 };
typedef struct lanes {
  int32_t count;
  int64_t beam[LANES];                           /* at the step, or GATHER_BEAM_FILL */
  int64_t step[LANES], parent[LANES], to[LANES]; /* offsets of the batch; `to` of the lane */
  int64_t len[LANES], end[LANES];                /* steps that count; the first end token, or `time` */
} lanes;

bool gather_beams_have_type(gather_type type) {
  const gather_type_info *info = gather_type_get(type);
  return info && info->packing == GATHER_PACKING_BYTES &&
         (info->kind == GATHER_KIND_INT || info->kind == GATHER_KIND_UINT || info->kind == GATHER_KIND_FLOAT);
}

/* ---- numbers */

static gather_beam_number read_float(gather_type type, const unsigned char *element) {
  const double limit = 9223372036854775808.0; /* 2^63 */
  double number = 0;
  (void)gather_float_read(type, element, &number);
  if (isnan(number)) return (gather_beam_number){0, false};
  if (number >= limit) return (gather_beam_number){INT64_MAX, false};
  if (number < -limit) return (gather_beam_number){INT64_MIN, false};
  /* Not trunc(), which is in libm on some CPUs. */
  return (gather_beam_number){(int64_t)number, number == (double)(int64_t)number};
}

#define READ(T)                                         \
  do {                                                  \
    T number;                                           \
    memcpy(&number, own, sizeof number);                \
    return (gather_beam_number){(int64_t)number, true}; \
  } while (0)

gather_beam_number gather_beam_read(gather_type type, const void *element, bool swapped) {
  const int width = gather_type_row(type)->bits / 8;
  const unsigned char *bytes = element;
  unsigned char own[8];
  for (int i = 0; i < width; i++) own[i] = bytes[swapped ? width - 1 - i : i];
  switch (type) {
    case GATHER_TYPE_INT8:
      READ(int8_t);
    case GATHER_TYPE_INT16:
      READ(int16_t);
    case GATHER_TYPE_INT32:
      READ(int32_t);
    case GATHER_TYPE_INT64:
      READ(int64_t);
    case GATHER_TYPE_UINT8:
      READ(uint8_t);
    case GATHER_TYPE_UINT16:
      READ(uint16_t);
    case GATHER_TYPE_UINT32:
      READ(uint32_t);
    case GATHER_TYPE_UINT64:
      READ(uint64_t);
    default:
      return read_float(type, own);
  }
}

bool gather_beam_find(const gather_beams *beams, gather_beam_number number, int64_t *beam) {
  if (!number.whole) return false;
  if (beams->negative && beams->type != GATHER_TYPE_UINT64 && number.value < 0 && number.value >= -beams->width)
    number.value += beams->width;
  if ((uint64_t)number.value >= (uint64_t)beams->width) return false;
  *beam = number.value;
  return true;
}

static int64_t wrapped(const gather_beams *beams, int64_t value) {
  if (beams->type == GATHER_TYPE_UINT64) return (int64_t)((uint64_t)value % (uint64_t)beams->width);
  const int64_t rest = value % beams->width;
  return rest < 0 ? rest + beams->width : rest;
}

int64_t gather_beam_repair(const gather_beams *beams, gather_beam_number number) {
  const bool above = beams->type == GATHER_TYPE_UINT64 || number.value >= 0;
  switch (beams->on_bad) {
    case GATHER_ON_BAD_ZERO:
    case GATHER_ON_BAD_FILL:
      return GATHER_BEAM_FILL;
    case GATHER_ON_BAD_WRAP:
      return wrapped(beams, number.value);
    default: /* also a parent that changed after it was checked */
      if (above && (uint64_t)number.value < (uint64_t)beams->width) return number.value;
      return above ? beams->width - 1 : 0;
  }
}

int64_t gather_beams_len(const gather_beams *beams, int64_t batch) {
  const gather_beam_number len = gather_beam_read(beams->type, beams->lens + batch * beams->len, beams->lens_swapped);
  if (beams->type != GATHER_TYPE_UINT64 && len.value < 0) return 0;
  return (uint64_t)len.value < (uint64_t)beams->time ? len.value : beams->time;
}

const char *gather_beam_parent(const gather_beams *beams, int64_t time, int64_t batch, int64_t beam) {
  return beams->parents + time * beams->parent[0] + batch * beams->parent[1] + beam * beams->parent[2];
}

/* ---- blocks of sequences */

/* Any type and byte order. */
static bool find_any(const gather_beams *b, const char *element, int64_t *beam) {
  return gather_beam_find(b, gather_beam_read(b->type, element, b->parents_swapped), beam);
}
/* The types of the documents, in this machine's byte order, without negative parents. */
GATHER_INLINE bool find_int32(const gather_beams *b, const char *element, int64_t *beam) {
  int32_t number;
  memcpy(&number, element, sizeof number);
  *beam = number;
  return number >= 0 && number < b->width;
}
GATHER_INLINE bool find_int64(const gather_beams *b, const char *element, int64_t *beam) {
  int64_t number;
  memcpy(&number, element, sizeof number);
  *beam = number;
  return number >= 0 && number < b->width;
}
GATHER_INLINE bool find_float32(const gather_beams *b, const char *element, int64_t *beam) {
  float number;
  memcpy(&number, element, sizeof number);
  if (!(number >= 0 && number < 1e9f)) return find_any(b, element, beam);
  *beam = (int64_t)number;
  return (float)*beam == number && *beam < b->width;
}

#define NAME(word) word##_int32
#define ID uint32_t
#define FIND find_int32
#include "core/kernel/beams.tmpl.h"
#define NAME(word) word##_int64
#define ID uint64_t
#define FIND find_int64
#include "core/kernel/beams.tmpl.h"
#define NAME(word) word##_float32
#define ID uint32_t
#define FIND find_float32
#include "core/kernel/beams.tmpl.h"
#define NAME(word) word##_any1
#define ID uint8_t
#define FIND find_any
#include "core/kernel/beams.tmpl.h"
#define NAME(word) word##_any2
#define ID uint16_t
#define FIND find_any
#include "core/kernel/beams.tmpl.h"
#define NAME(word) word##_any4
#define ID uint32_t
#define FIND find_any
#include "core/kernel/beams.tmpl.h"
#define NAME(word) word##_any8
#define ID uint64_t
#define FIND find_any
#include "core/kernel/beams.tmpl.h"

typedef struct loops {
  void (*trace)(const gather_beams *beams, lanes *l);
  bool (*scan)(const gather_beams *beams, const lanes *l);
} loops;

static loops choose(const gather_beams *b) {
  static const loops ANY[4] = {
      {trace_any1, scan_any1}, {trace_any2, scan_any2}, {trace_any4, scan_any4}, {trace_any8, scan_any8}};
  if (!b->parents_swapped && !b->negative) {
    if (b->type == GATHER_TYPE_INT32) return (loops){trace_int32, scan_int32};
    if (b->type == GATHER_TYPE_INT64) return (loops){trace_int64, scan_int64};
    if (b->type == GATHER_TYPE_FLOAT32) return (loops){trace_float32, scan_float32};
  }
  const int bytes = gather_type_row(b->type)->bits / 8;
  return ANY[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

/* Lanes [first, last), at most LANES of them, at their last steps. */
static void start(const gather_beams *b, lanes *l, int64_t first, int64_t last) {
  int64_t batch = first / b->width, beam = first % b->width, len = gather_beams_len(b, batch);
  l->count = (int32_t)(last - first);
  for (int32_t i = 0; i < l->count; i++) {
    l->beam[i] = beam, l->len[i] = len, l->end[i] = b->time;
    l->step[i] = batch * b->step[1], l->parent[i] = batch * b->parent[1];
    l->to[i] = batch * b->to[1] + beam * b->to[2];
    if (++beam < b->width) continue;
    beam = 0;
    if (++batch < b->batch) len = gather_beams_len(b, batch);
  }
}

bool gather_beams_scan(const gather_beams *beams, int64_t first_lane, int64_t last_lane) {
  const loops run = choose(beams);
  lanes l;
  for (int64_t at = first_lane; at < last_lane; at += l.count) {
    start(beams, &l, at, last_lane - at < LANES ? last_lane : at + LANES);
    if (!run.scan(beams, &l)) return false;
  }
  return true;
}

void gather_beams_trace(const gather_beams *beams, int64_t first_lane, int64_t last_lane) {
  const loops run = choose(beams);
  lanes l;
  for (int64_t at = first_lane; at < last_lane; at += l.count) {
    start(beams, &l, at, last_lane - at < LANES ? last_lane : at + LANES);
    run.trace(beams, &l);
  }
}
