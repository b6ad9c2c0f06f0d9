/* SPDX-License-Identifier: MIT
 *
 * tree.c: gather_tree, the operator that is no gather of one tensor by another: follows the parents of a beam search from its last step to
 * its first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/float_value.h"
#include "core/base/tensor.h"
#include "core/op/op.h"
#include "core/plan/tasks.h"
#include "gather/tree.h"

/* ---- sequences. A block of them is followed at once, step by step, so that each step's row of the tensors is read and written in one go.
 * Every parent is compared with the width where it is used, so that no memory outside the tensors is read, whatever other threads write
 * meanwhile. */

/* A number that an element has. */
typedef struct beam_number {
  int64_t value; /* the bits of an unsigned one; a float truncated towards zero, at the ends of the range at most */
  bool whole;    /* an integer that fits */
} beam_number;

/* The tensors, checked. Steps are in bytes. */
typedef struct beam_search {
  gather_type type;
  int64_t time, batch, width;
  const char *steps, *parents, *lens;
  char *out;
  int64_t step[3], parent[3], to[3], len; /* steps of the tensors above, the lengths' last */
  bool parents_swapped, lens_swapped;     /* in the other byte order */
  gather_on_bad on_bad;                   /* where it is error, the parents were checked before */
  bool negative;
  unsigned char end[8], fill[8]; /* elements as in out */
  unsigned char ends[2][8];      /* the elements that equal the end token, as in steps: end_count of them */
  int32_t end_count;
} beam_search;

enum { LANES = 256, FILLED = -1 }; /* FILLED: a parent that the policy fills */

/* A block of sequences: where each one is. */
typedef struct lanes {
  int32_t count;
  int64_t beam[LANES];                           /* at the step, or FILLED */
  int64_t step[LANES], parent[LANES], to[LANES]; /* offsets of the batch; `to` of the lane */
  int64_t len[LANES], end[LANES];                /* steps that count; the first end token, or `time` */
} lanes;

/* Whether elements of the type are numbers of whole bytes. */
static bool has_numbers(gather_type type) {
  const gather_type_info *info = gather_type_get(type);
  return info && info->packing == GATHER_PACKING_BYTES &&
         (info->kind == GATHER_KIND_INT || info->kind == GATHER_KIND_UINT || info->kind == GATHER_KIND_FLOAT);
}

/* ---- numbers */

static beam_number read_float(gather_type type, const unsigned char *element) {
  const double limit = 9223372036854775808.0; /* 2^63 */
  double number = 0;
  (void)gather_float_read(type, element, &number);
  if (isnan(number)) return (beam_number){0, false};
  if (number >= limit) return (beam_number){INT64_MAX, false};
  if (number < -limit) return (beam_number){INT64_MIN, false};
  /* Not trunc(), which is in libm on some CPUs. */
  return (beam_number){(int64_t)number, number == (double)(int64_t)number};
}

#define READ(T)                                  \
  do {                                           \
    T number;                                    \
    memcpy(&number, own, sizeof number);         \
    return (beam_number){(int64_t)number, true}; \
  } while (0)

/* The number of an element of this type. */
static beam_number read_number(gather_type type, const void *element, bool swapped) {
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

/* Whether a number is a beam; if so, *beam is that. */
static bool find_beam(const beam_search *beams, beam_number number, int64_t *beam) {
  if (!number.whole) return false;
  if (beams->negative && beams->type != GATHER_TYPE_UINT64 && number.value < 0 && number.value >= -beams->width)
    number.value += beams->width;
  if ((uint64_t)number.value >= (uint64_t)beams->width) return false;
  *beam = number.value;
  return true;
}

static int64_t wrapped(const beam_search *beams, int64_t value) {
  if (beams->type == GATHER_TYPE_UINT64) return (int64_t)((uint64_t)value % (uint64_t)beams->width);
  const int64_t rest = value % beams->width;
  return rest < 0 ? rest + beams->width : rest;
}

/* What the policy makes of a number that is no beam: a beam, or FILLED. */
static int64_t repair(const beam_search *beams, beam_number number) {
  const bool above = beams->type == GATHER_TYPE_UINT64 || number.value >= 0;
  switch (beams->on_bad) {
    case GATHER_ON_BAD_ZERO:
    case GATHER_ON_BAD_FILL:
      return FILLED;
    case GATHER_ON_BAD_WRAP:
      return wrapped(beams, number.value);
    default: /* also a parent that changed after it was checked */
      if (above && (uint64_t)number.value < (uint64_t)beams->width) return number.value;
      return above ? beams->width - 1 : 0;
  }
}

/* How many steps of a batch count, 0 to time. */
static int64_t len_of(const beam_search *beams, int64_t batch) {
  const beam_number len = read_number(beams->type, beams->lens + batch * beams->len, beams->lens_swapped);
  if (beams->type != GATHER_TYPE_UINT64 && len.value < 0) return 0;
  return (uint64_t)len.value < (uint64_t)beams->time ? len.value : beams->time;
}

/* The parent of one beam; a pointer to its element. */
static const char *parent_of(const beam_search *beams, int64_t time, int64_t batch, int64_t beam) {
  return beams->parents + time * beams->parent[0] + batch * beams->parent[1] + beam * beams->parent[2];
}

/* ---- blocks of sequences */

/* Any type and byte order. */
static bool find_any(const beam_search *b, const char *element, int64_t *beam) {
  return find_beam(b, read_number(b->type, element, b->parents_swapped), beam);
}
/* The types of the documents, in this machine's byte order, without negative parents. */
GATHER_INLINE bool find_int32(const beam_search *b, const char *element, int64_t *beam) {
  int32_t number;
  memcpy(&number, element, sizeof number);
  *beam = number;
  return number >= 0 && number < b->width;
}
GATHER_INLINE bool find_int64(const beam_search *b, const char *element, int64_t *beam) {
  int64_t number;
  memcpy(&number, element, sizeof number);
  *beam = number;
  return number >= 0 && number < b->width;
}
GATHER_INLINE bool find_float32(const beam_search *b, const char *element, int64_t *beam) {
  float number;
  memcpy(&number, element, sizeof number);
  if (!(number >= 0 && number < 1e9f)) return find_any(b, element, beam);
  *beam = (int64_t)number;
  return (float)*beam == number && *beam < b->width;
}

#define NAME(word) word##_int32
#define ID uint32_t
#define FIND find_int32
#include "core/op/beams.tmpl.h"
#define NAME(word) word##_int64
#define ID uint64_t
#define FIND find_int64
#include "core/op/beams.tmpl.h"
#define NAME(word) word##_float32
#define ID uint32_t
#define FIND find_float32
#include "core/op/beams.tmpl.h"
#define NAME(word) word##_any1
#define ID uint8_t
#define FIND find_any
#include "core/op/beams.tmpl.h"
#define NAME(word) word##_any2
#define ID uint16_t
#define FIND find_any
#include "core/op/beams.tmpl.h"
#define NAME(word) word##_any4
#define ID uint32_t
#define FIND find_any
#include "core/op/beams.tmpl.h"
#define NAME(word) word##_any8
#define ID uint64_t
#define FIND find_any
#include "core/op/beams.tmpl.h"

typedef struct loops {
  void (*trace)(const beam_search *beams, lanes *l);
  bool (*scan)(const beam_search *beams, const lanes *l);
} loops;

static loops choose(const beam_search *b) {
  static const loops ANY[4] = {{trace_any1, scan_any1}, {trace_any2, scan_any2}, {trace_any4, scan_any4}, {trace_any8, scan_any8}};
  if (!b->parents_swapped && !b->negative) {
    if (b->type == GATHER_TYPE_INT32) return (loops){trace_int32, scan_int32};
    if (b->type == GATHER_TYPE_INT64) return (loops){trace_int64, scan_int64};
    if (b->type == GATHER_TYPE_FLOAT32) return (loops){trace_float32, scan_float32};
  }
  const int bytes = gather_type_row(b->type)->bits / 8;
  return ANY[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

/* Lanes [first, last), at most LANES of them, at their last steps. */
static void start(const beam_search *b, lanes *l, int64_t first, int64_t last) {
  int64_t batch = first / b->width, beam = first % b->width, len = len_of(b, batch);
  l->count = (int32_t)(last - first);
  for (int32_t i = 0; i < l->count; i++) {
    l->beam[i] = beam, l->len[i] = len, l->end[i] = b->time;
    l->step[i] = batch * b->step[1], l->parent[i] = batch * b->parent[1];
    l->to[i] = batch * b->to[1] + beam * b->to[2];
    if (++beam < b->width) continue;
    beam = 0;
    if (++batch < b->batch) len = len_of(b, batch);
  }
}

/* Whether all parents that sequences may follow are beams: those of steps 1 and later that count. lane: batch * width + beam. */
static bool scan_block(const beam_search *beams, int64_t first_lane, int64_t last_lane) {
  const loops run = choose(beams);
  lanes l;
  for (int64_t at = first_lane; at < last_lane; at += l.count) {
    start(beams, &l, at, last_lane - at < LANES ? last_lane : at + LANES);
    if (!run.scan(beams, &l)) return false;
  }
  return true;
}

/* Writes the sequences of lanes [first, last). */
static void trace(void *argument, int64_t first_lane, int64_t last_lane) {
  const beam_search *beams = argument;
  const loops run = choose(beams);
  lanes l;
  for (int64_t at = first_lane; at < last_lane; at += l.count) {
    start(beams, &l, at, last_lane - at < LANES ? last_lane : at + LANES);
    run.trace(beams, &l);
  }
}

/* ---- what is validated before anything is written: the lengths, and the parents that sequences follow. A pass over all of them settles
 * nearly every call. Only if one is out of range, the beams that sequences pass are marked step by step, because a parent that no sequence
 * follows may be anything. */

static size_t element_bytes(const beam_search *beams) { return (size_t)(gather_type_row(beams->type)->bits / 8); }

typedef struct scan {
  const beam_search *beams;
  atomic_int bad;
} scan;

static void scan_lanes(void *argument, int64_t first, int64_t last) {
  scan *s = argument;
  if (atomic_load_explicit(&s->bad, memory_order_relaxed)) return;
  if (!scan_block(s->beams, first, last)) atomic_store_explicit(&s->bad, 1, memory_order_relaxed);
}

/* ---- the first number that is out of range */

typedef struct found {
  int64_t position[3]; /* of a parent: time, batch, beam; of a length: batch */
  char element[8];     /* as it was read */
  int64_t count;
} found;

/* "7"; of a float that is not an integer "1.5". */
static void number_text(gather_type type, const char *element, bool swapped, char *text, size_t bytes) {
  const beam_number number = read_number(type, element, swapped);
  unsigned char own[8];
  const int width = gather_type_row(type)->bits / 8;
  double real;
  for (int i = 0; i < width; i++) own[i] = (unsigned char)element[swapped ? width - 1 - i : i];
  if (gather_float_read(type, own, &real))
    gather_double_text(real, 17, text, bytes);
  else if (type == GATHER_TYPE_UINT64)
    (void)snprintf(text, bytes, "%" PRIu64, (uint64_t)number.value);
  else
    (void)snprintf(text, bytes, "%" PRId64, number.value);
}

static gather_status blame(const gather_op *op, const beam_search *b, const char *input, int32_t rank, const found *first, int64_t low,
                           int64_t high, gather_error *error) {
  const bool parent = rank == 3, swapped = parent ? b->parents_swapped : b->lens_swapped;
  char number[40], place[80], range[96];
  number_text(b->type, first->element, swapped, number, sizeof number);
  gather_shape_text(place, sizeof place, rank, first->position);
  if (parent)
    (void)snprintf(range, sizeof range, "outside [%" PRId64 ", %" PRId64 "] of axis 2", low, high);
  else
    (void)snprintf(range, sizeof range, "not an integer");
  gather_status status = gather_fail_input(error, GATHER_INDEX_OUT_OF_RANGE, input,
                                           "%s%s = %s is %s (%s%s%s); %" PRId64 " of %" PRId64 " %s %s bad", input, place, number, range,
                                           op->name, GATHER_RULES_TEXT(op), first->count, parent ? b->time * b->batch * b->width : b->batch,
                                           parent ? "parents" : "lengths", first->count == 1 ? "is" : "are");
  if (!error) return status;
  error->axis = parent ? 2 : 0, error->position_rank = rank;
  memcpy(error->position, first->position, sizeof first->position);
  error->value = read_number(b->type, first->element, swapped).value;
  error->value_is_unsigned = gather_type_row(b->type)->kind == GATHER_KIND_UINT;
  error->low = low, error->high = high, error->bad_count = first->count;
  return status;
}

/* ---- lengths */

static gather_status check_lengths(const gather_op *op, const beam_search *b, gather_error *error) {
  found first = {{0}, {0}, 0};
  char element[8] = {0};
  if (gather_type_row(b->type)->kind != GATHER_KIND_FLOAT) return GATHER_OK;
  for (int64_t batch = 0; batch < b->batch; batch++) {
    memcpy(element, b->lens + batch * b->len, element_bytes(b));
    if (read_number(b->type, element, b->lens_swapped).whole || first.count++ > 0) continue;
    first.position[0] = batch;
    memcpy(first.element, element, sizeof element);
  }
  return first.count ? blame(op, b, "max_seq_len", 1, &first, 0, b->time, error) : GATHER_OK;
}

/* ---- parents that sequences follow */

/* Notes a parent out of range. Batches come in order, the steps of each from the last to the first. */
static void note(found *first, int64_t time, int64_t batch, int64_t beam, const char *element) {
  if (first->count++ > 0 && time >= first->position[0]) return;
  first->position[0] = time, first->position[1] = batch, first->position[2] = beam;
  memcpy(first->element, element, sizeof first->element);
}

/* One batch. now, before: `width` marks, of the beams that sequences pass at a step and at the step before it. */
static void follow(const beam_search *b, int64_t batch, char *now, char *before, found *first) {
  char element[8] = {0};
  memset(now, 1, (size_t)b->width);
  for (int64_t t = len_of(b, batch) - 1; t > 0; t--) {
    memset(before, 0, (size_t)b->width);
    for (int64_t beam = 0; beam < b->width; beam++) {
      if (!now[beam]) continue;
      int64_t parent;
      memcpy(element, parent_of(b, t, batch, beam), element_bytes(b));
      const beam_number number = read_number(b->type, element, b->parents_swapped);
      if (!find_beam(b, number, &parent)) {
        note(first, t, batch, beam, element);
        parent = b->on_bad == GATHER_ON_BAD_ERROR ? FILLED : repair(b, number);
      }
      if (parent >= 0) before[parent] = 1;
    }
    char *swap = now;
    now = before, before = swap;
  }
}

static gather_status follow_all(const beam_search *b, found *first, gather_error *error) {
  enum { FEW = 1024 };
  char own[2 * FEW], *marks = b->width > FEW ? gather_alloc(2 * b->width) : own;
  if (!marks) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the parents out of range");
  for (int64_t batch = 0; batch < b->batch; batch++) follow(b, batch, marks, marks + b->width, first);
  if (marks != own) gather_free(marks);
  return GATHER_OK;
}

/* *bad: the parents out of range that the policy repairs. */
static gather_status validate(const gather_op *op, const beam_search *beams, const gather_executor *executor, int64_t *bad,
                              gather_error *error) {
  found first = {{0}, {0}, 0};
  scan s = {.beams = beams};
  *bad = 0;
  GATHER_TRY(check_lengths(op, beams, error));
  atomic_init(&s.bad, 0);
  gather_split(executor, beams->batch * beams->width, beams->time * gather_type_row(beams->type)->bits / 8, 16, scan_lanes, &s);
  if (!atomic_load(&s.bad)) return GATHER_OK;
  GATHER_TRY(follow_all(beams, &first, error));
  *bad = first.count;
  if (first.count == 0 || beams->on_bad != GATHER_ON_BAD_ERROR) return GATHER_OK;
  return blame(op, beams, "parent_ids", 3, &first, beams->negative ? -beams->width : 0, beams->width - 1, error);
}

/* ---- arguments */

/* ---- types and shapes */

/* The inputs of a gather_tree. */
typedef struct tree_inputs {
  const gather_tensor *step_ids, *parent_ids, *max_seq_len, *end_token;
} tree_inputs;

static gather_status check_type(const gather_tensor *step_ids, const gather_tensor *tensor, const char *input, gather_error *error) {
  if (!has_numbers(tensor->type))
    return gather_fail_input(error, GATHER_TYPE_UNSUPPORTED, input, "%s must be integers or floats of whole bytes, not %s", input,
                             gather_type_get(tensor->type)->name);
  if (tensor->type == step_ids->type) return GATHER_OK;
  return gather_fail_input(error, GATHER_TYPE_MISMATCH, input, "%s is %s, step_ids is %s", input, gather_type_get(tensor->type)->name,
                           gather_type_get(step_ids->type)->name);
}

static gather_status check_input(const gather_tensor *step_ids, const gather_tensor *tensor, const char *input, gather_size *size,
                                 gather_error *error) {
  GATHER_TRY(gather_tensor_measure(tensor, input, size, error));
  return check_type(step_ids, tensor, input, error);
}

static gather_status check_rank(int32_t rank, int32_t needed, const char *input, gather_error *error) {
  if (rank == needed) return GATHER_OK;
  return gather_fail_input(error, GATHER_RANK_MISMATCH, input, "%s has rank %" PRId32 "; its rank must be %" PRId32, input, rank, needed);
}

/* Whether a tensor, an input or the output, has the shape of step_ids. */
static gather_status check_same_shape(const gather_tensor *step_ids, const gather_tensor *tensor, const char *input, gather_error *error) {
  char has[128], needs[128];
  if (tensor->rank == 3 && memcmp(tensor->shape, step_ids->shape, 3 * sizeof *tensor->shape) == 0) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, input, "%s has the shape %s, step_ids %s", input,
                           gather_shape_text(has, sizeof has, tensor->rank, tensor->shape),
                           gather_shape_text(needs, sizeof needs, 3, step_ids->shape));
}

static gather_status check_shapes(const tree_inputs *in, gather_error *error) {
  GATHER_TRY(check_rank(in->step_ids->rank, 3, "step_ids", error));
  GATHER_TRY(check_rank(in->parent_ids->rank, 3, "parent_ids", error));
  GATHER_TRY(check_rank(in->max_seq_len->rank, 1, "max_seq_len", error));
  GATHER_TRY(check_rank(in->end_token->rank, 0, "end_token", error));
  GATHER_TRY(check_same_shape(in->step_ids, in->parent_ids, "parent_ids", error));
  if (in->max_seq_len->shape[0] == in->step_ids->shape[1]) return GATHER_OK;
  return gather_fail_input(error, GATHER_SHAPE_MISMATCH, "max_seq_len",
                           "max_seq_len has %" PRId64 " lengths, step_ids has %" PRId64 " batches", in->max_seq_len->shape[0],
                           in->step_ids->shape[1]);
}

static gather_status check_inputs(const tree_inputs *in, gather_size sizes[4], gather_error *error) {
  GATHER_TRY(gather_tensor_measure(in->step_ids, "step_ids", &sizes[0], error));
  GATHER_TRY(check_type(in->step_ids, in->step_ids, "step_ids", error));
  GATHER_TRY(check_input(in->step_ids, in->parent_ids, "parent_ids", &sizes[1], error));
  GATHER_TRY(check_input(in->step_ids, in->max_seq_len, "max_seq_len", &sizes[2], error));
  GATHER_TRY(check_input(in->step_ids, in->end_token, "end_token", &sizes[3], error));
  return check_shapes(in, error);
}

static gather_status check_out(const gather_tensor *step_ids, const gather_tensor *out, gather_size *size, gather_error *error) {
  if (!out) return gather_fail_input(error, GATHER_USAGE, "output", "the output is NULL");
  GATHER_TRY(gather_tensor_measure(out, "output", size, error));
  GATHER_TRY(gather_output_check_type(step_ids, "step_ids", out, error));
  GATHER_TRY(check_same_shape(step_ids, out, "output", error));
  return gather_output_check_strides(out, error);
}

/* ---- memory */

/* The output must not overlap an input. */
static gather_status check_overlap(const tree_inputs *in, const gather_size sizes[4], const gather_tensor *out, const gather_size *size,
                                   gather_error *error) {
  static const char *const NAMES[4] = {"step_ids", "parent_ids", "max_seq_len", "end_token"};
  const gather_tensor *const tensors[4] = {in->step_ids, in->parent_ids, in->max_seq_len, in->end_token};
  gather_extent written;
  gather_tensor_extent(out, size, &written.low, &written.high);
  for (int i = 0; i < 4; i++) {
    gather_extent read;
    gather_tensor_extent(tensors[i], &sizes[i], &read.low, &read.high);
    if (gather_extents_meet(out->data, &written, tensors[i]->data, &read))
      return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", NAMES[i]);
  }
  return GATHER_OK;
}

static gather_status check_pointer(const gather_tensor *tensor, const char *input, gather_error *error) {
  if (tensor->data) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, input, "%s: the data pointer is NULL", input);
}

/* ---- the job */

static void read_steps(const gather_tensor *tensor, int64_t steps[3]) {
  int64_t all[GATHER_MAX_RANK] = {0};
  gather_tensor_strides(tensor, all);
  /* Strides of dimensions of length 1 were not checked, and are not used. */
  for (int32_t d = 0; d < 3; d++) steps[d] = d < tensor->rank && tensor->shape[d] > 1 ? all[d] : 0;
}

static bool is_swapped(const gather_tensor *tensor) { return (tensor->flags & GATHER_TENSOR_BYTE_SWAPPED) != 0; }

static void copy_element(const gather_tensor *tensor, bool swap, unsigned char *to) {
  const int width = gather_type_row(tensor->type)->bits / 8;
  const unsigned char *from = tensor->data;
  for (int i = 0; i < width; i++) to[i] = from[swap ? width - 1 - i : i];
}

/* The elements that equal the end token: of floats both zeros equal each other, and NaN equals nothing. */
static void set_ends(beam_search *beams, bool swapped) {
  const int width = gather_type_row(beams->type)->bits / 8;
  unsigned char own[8];
  double number;
  for (int i = 0; i < width; i++) own[i] = beams->end[swapped ? width - 1 - i : i];
  memcpy(beams->ends[0], beams->end, sizeof beams->end);
  beams->end_count = 1;
  if (!gather_float_read(beams->type, own, &number)) return;
  if (number != number) beams->end_count = 0;
  if (number != 0) return;
  /* The other zero has the other sign; types without a second zero have NaN there. */
  own[GATHER_BIG_ENDIAN ? 0 : width - 1] ^= 0x80;
  if (!gather_float_read(beams->type, own, &number) || number != 0) return;
  for (int i = 0; i < width; i++) beams->ends[1][i] = own[swapped ? width - 1 - i : i];
  beams->end_count = 2;
}

static void set_beams(beam_search *beams, const gather_op *op, const tree_inputs *in, const gather_options *options) {
  const gather_tensor *lens = in->max_seq_len;
  int64_t len_steps[3];
  *beams = (beam_search){.type = in->step_ids->type,
                         .time = in->step_ids->shape[0],
                         .batch = in->step_ids->shape[1],
                         .width = in->step_ids->shape[2],
                         .steps = in->step_ids->data,
                         .parents = in->parent_ids->data,
                         .lens = lens->data,
                         .parents_swapped = is_swapped(in->parent_ids),
                         .lens_swapped = is_swapped(lens),
                         .on_bad = options->on_bad ? options->on_bad : op->on_bad,
                         .negative = options->negative ? options->negative == GATHER_NEGATIVE_ON : op->negative};
  read_steps(in->step_ids, beams->step);
  read_steps(in->parent_ids, beams->parent);
  read_steps(lens, len_steps);
  beams->len = len_steps[0];
}

static gather_status read_options(const gather_op *op, const gather_options *options, gather_options *full, gather_error *error) {
  GATHER_TRY(gather_options_read(options, full, error));
  if (full->axis != 0)
    return gather_fail_input(error, GATHER_AXIS_OUT_OF_RANGE, "axis", "axis is %" PRId64 ", but %s has no axis", full->axis, op->name);
  if (full->batch_dims != 0)
    return gather_fail(error, GATHER_BATCH_DIMS_OUT_OF_RANGE, "batch_dims is %" PRId64 ", but %s has no such attribute", full->batch_dims,
                       op->name);
  return gather_executor_check(full->executor, error);
}

/* check_only: `out` is ignored. */
static gather_status tree(const gather_op *op, const tree_inputs *in, const gather_tensor *out, bool check_only,
                          const gather_options *options, gather_error *error) {
  gather_options full;
  beam_search beams;
  gather_size sizes[4], out_size;
  int64_t bad = 0;
  GATHER_TRY(read_options(op, options, &full, error));
  GATHER_TRY(check_inputs(in, sizes, error));
  if (!check_only) {
    GATHER_TRY(check_out(in->step_ids, out, &out_size, error));
    GATHER_TRY(check_overlap(in, sizes, out, &out_size, error));
  }
  if (sizes[0].len == 0) {
    if (full.bad_count) *full.bad_count = 0;
    return GATHER_OK;
  }
  GATHER_TRY(check_pointer(in->parent_ids, "parent_ids", error));
  GATHER_TRY(check_pointer(in->max_seq_len, "max_seq_len", error));
  set_beams(&beams, op, in, &full);
  if (!check_only) {
    GATHER_TRY(check_pointer(in->step_ids, "step_ids", error));
    GATHER_TRY(check_pointer(in->end_token, "end_token", error));
    GATHER_TRY(check_pointer(out, "output", error));
  }
  GATHER_TRY(validate(op, &beams, full.executor, &bad, error));
  if (full.bad_count) *full.bad_count = bad;
  if (check_only) return GATHER_OK;
  beams.out = out->data;
  read_steps(out, beams.to);
  copy_element(in->end_token, is_swapped(in->end_token) != is_swapped(out), beams.end);
  set_ends(&beams, is_swapped(out));
  if (beams.on_bad == GATHER_ON_BAD_FILL) memcpy(beams.fill, full.fill, (size_t)gather_tensor_item_bytes(out));
  gather_split(full.executor, beams.batch * beams.width, 3 * beams.time * gather_tensor_item_bytes(out), 16, trace, &beams);
  return GATHER_OK;
}

gather_status gather_tree(const gather_tensor *step_ids, const gather_tensor *parent_ids, const gather_tensor *max_seq_len,
                          const gather_tensor *end_token, const gather_tensor *out, const gather_options *options, gather_error *error) {
  const tree_inputs in = {step_ids, parent_ids, max_seq_len, end_token};
  return gather_fail_op(error, GATHER_OP_OF_TREE, tree(GATHER_OP_OF_TREE, &in, out, false, options, error));
}

gather_status gather_tree_check(const gather_tensor *step_ids, const gather_tensor *parent_ids, const gather_tensor *max_seq_len,
                                const gather_tensor *end_token, const gather_options *options, gather_error *error) {
  const tree_inputs in = {step_ids, parent_ids, max_seq_len, end_token};
  return gather_fail_op(error, GATHER_OP_OF_TREE, tree(GATHER_OP_OF_TREE, &in, NULL, true, options, error));
}
