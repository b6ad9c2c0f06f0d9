/* SPDX-License-Identifier: MIT
 *
 * tree_validate.c: the parents of a beam search. A pass over all of them settles nearly every call. Only if one is out of range, the
 * beams that sequences pass are marked step by step, because a parent that no sequence follows may be anything.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/float_value.h"
#include "core/base/tensor.h"
#include "core/op/op.h"
#include "core/op/tree_internal.h"
#include "core/plan/tasks.h"

static size_t element_bytes(const gather_beams *beams) { return (size_t)(gather_type_row(beams->type)->bits / 8); }

typedef struct scan {
  const gather_beams *beams;
  atomic_int bad;
} scan;

static void scan_lanes(void *argument, int64_t first, int64_t last) {
  scan *s = argument;
  if (atomic_load_explicit(&s->bad, memory_order_relaxed)) return;
  if (!gather_beams_scan(s->beams, first, last)) atomic_store_explicit(&s->bad, 1, memory_order_relaxed);
}

/* ---- the first number that is out of range */

typedef struct found {
  int64_t position[3]; /* of a parent: time, batch, beam; of a length: batch */
  char element[8];     /* as it was read */
  int64_t count;
} found;

/* "7"; of a float that is not an integer "1.5". */
static void number_text(gather_type type, const char *element, bool swapped, char *text, size_t bytes) {
  const gather_beam_number number = gather_beam_read(type, element, swapped);
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

static gather_status blame(const gather_op *op, const gather_beams *b, const char *input, int32_t rank,
                           const found *first, int64_t low, int64_t high, gather_error *error) {
  const bool parent = rank == 3, swapped = parent ? b->parents_swapped : b->lens_swapped;
  char number[40], place[80], range[96];
  number_text(b->type, first->element, swapped, number, sizeof number);
  gather_shape_text(place, sizeof place, rank, first->position);
  if (parent)
    (void)snprintf(range, sizeof range, "outside [%" PRId64 ", %" PRId64 "] of axis 2", low, high);
  else
    (void)snprintf(range, sizeof range, "not an integer");
  gather_status status = gather_fail_input(error, GATHER_INDEX_OUT_OF_RANGE, input,
                                           "%s%s = %s is %s (%s%s%s); %" PRId64 " of %" PRId64 " %s %s bad", input,
                                           place, number, range, op->name, GATHER_RULES_TEXT(op), first->count,
                                           parent ? b->time * b->batch * b->width : b->batch,
                                           parent ? "parents" : "lengths", first->count == 1 ? "is" : "are");
  if (!error) return status;
  error->axis = parent ? 2 : 0, error->position_rank = rank;
  memcpy(error->position, first->position, sizeof first->position);
  error->value = gather_beam_read(b->type, first->element, swapped).value;
  error->value_is_unsigned = gather_type_row(b->type)->kind == GATHER_KIND_UINT;
  error->low = low, error->high = high, error->bad_count = first->count;
  return status;
}

/* ---- lengths */

static gather_status check_lengths(const gather_op *op, const gather_beams *b, gather_error *error) {
  found first = {{0}, {0}, 0};
  char element[8] = {0};
  if (gather_type_row(b->type)->kind != GATHER_KIND_FLOAT) return GATHER_OK;
  for (int64_t batch = 0; batch < b->batch; batch++) {
    memcpy(element, b->lens + batch * b->len, element_bytes(b));
    if (gather_beam_read(b->type, element, b->lens_swapped).whole || first.count++ > 0) continue;
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
static void follow(const gather_beams *b, int64_t batch, char *now, char *before, found *first) {
  char element[8] = {0};
  memset(now, 1, (size_t)b->width);
  for (int64_t t = gather_beams_len(b, batch) - 1; t > 0; t--) {
    memset(before, 0, (size_t)b->width);
    for (int64_t beam = 0; beam < b->width; beam++) {
      if (!now[beam]) continue;
      int64_t parent;
      memcpy(element, gather_beam_parent(b, t, batch, beam), element_bytes(b));
      const gather_beam_number number = gather_beam_read(b->type, element, b->parents_swapped);
      if (!gather_beam_find(b, number, &parent)) {
        note(first, t, batch, beam, element);
        parent = b->on_bad == GATHER_ON_BAD_ERROR ? GATHER_BEAM_FILL : gather_beam_repair(b, number);
      }
      if (parent >= 0) before[parent] = 1;
    }
    char *swap = now;
    now = before, before = swap;
  }
}

static gather_status follow_all(const gather_beams *b, found *first, gather_error *error) {
  enum { FEW = 1024 };
  char own[2 * FEW], *marks = b->width > FEW ? gather_alloc(2 * b->width) : own;
  if (!marks) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the parents out of range");
  for (int64_t batch = 0; batch < b->batch; batch++) follow(b, batch, marks, marks + b->width, first);
  if (marks != own) gather_free(marks);
  return GATHER_OK;
}

gather_status gather_tree_validate(const gather_op *op, const gather_beams *beams, const gather_executor *executor,
                                   int64_t *bad, gather_error *error) {
  found first = {{0}, {0}, 0};
  scan s = {.beams = beams};
  *bad = 0;
  GATHER_TRY(check_lengths(op, beams, error));
  atomic_init(&s.bad, 0);
  gather_split(executor, beams->batch * beams->width, beams->time * gather_type_row(beams->type)->bits / 8, 16,
               scan_lanes, &s);
  if (!atomic_load(&s.bad)) return GATHER_OK;
  GATHER_TRY(follow_all(beams, &first, error));
  *bad = first.count;
  if (first.count == 0 || beams->on_bad != GATHER_ON_BAD_ERROR) return GATHER_OK;
  return blame(op, beams, "parent_ids", 3, &first, beams->negative ? -beams->width : 0, beams->width - 1, error);
}
