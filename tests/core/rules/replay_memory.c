/* SPDX-License-Identifier: MIT
 *
 * replay_memory.c: where the tensors of a case are, and what memory must look like after a call.
 */
#include <inttypes.h>

#include "core/rules/replay.h"
#include "support/guard.h"

enum { MARGIN = 64 /* marked bytes before and behind the output */, LINE = 64 };

static struct guard areas[REPLAY_TENSORS];
static uint8_t *spans[REPLAY_TENSORS]; /* the first byte of each tensor */

void replay_areas_create(int64_t bytes) {
  for (int t = 0; t < REPLAY_TENSORS; t++) areas[t] = guard_create((size_t)bytes + 2 * LINE);
}

void replay_areas_destroy(void) {
  for (int t = 0; t < REPLAY_TENSORS; t++) guard_destroy(areas[t]);
}

uint8_t *replay_output(void) { return spans[REPLAY_OUT]; }

/* Next to the forbidden page behind the area or before it, or at any alignment. */
static void place(replay_tensor *t, int which) {
  const int64_t where = replay_below(3);
  uint8_t *first = guard_place(areas[which], (size_t)t->size, where == 0);
  if (where == 2) first += replay_below(LINE);
  spans[which] = first;
  t->tensor.data = first + t->base;
  if (t->bytes && t->size > 0) memcpy(first, t->bytes, (size_t)t->size);
}

/* What is at `at` of the output before a call. */
static uint8_t mark_at(const replay_case *c, int64_t at) { return (uint8_t)(c->mark + 73 * at); }

/* The marked bytes: [*from, *to), counted from the first byte of the output. */
static void find_marked(const replay_case *c, int64_t *from, int64_t *to) {
  const struct guard area = areas[REPLAY_OUT];
  const int64_t before = spans[REPLAY_OUT] - area.first, all = (int64_t)area.bytes - before;
  *from = before < MARGIN ? -before : -MARGIN;
  *to = c->tensors[REPLAY_OUT].size + MARGIN;
  if (*to > all) *to = all;
}

void replay_mark(const replay_case *c, bool complement) {
  int64_t from, to;
  find_marked(c, &from, &to);
  for (int64_t at = from; at < to; at++) spans[REPLAY_OUT][at] = complement ? (uint8_t)~mark_at(c, at) : mark_at(c, at);
}

void replay_place(replay_case *c) {
  for (int t = 0; t < REPLAY_TENSORS; t++) place(&c->tensors[t], t);
  replay_mark(c, false);
}

/* The byte that must be at `at` of the output, where `loose` are bits that may be anything. */
static uint8_t wanted_at(const replay_case *c, const replay_result *r, int64_t at, uint8_t *loose) {
  const bool inside = at >= 0 && at < c->tensors[REPLAY_OUT].size;
  *loose = 0;
  if (inside && r->status == GATHER_OK) return c->wanted[at];
  if (inside && r->fresh && c->wanted) *loose = c->wanted[at];
  return mark_at(c, at);
}

static void compare_output(const replay_case *c, const replay_result *r) {
  const uint8_t *out = spans[REPLAY_OUT];
  int64_t from, to;
  find_marked(c, &from, &to);
  for (int64_t at = from; at < to; at++) {
    uint8_t loose;
    const uint8_t wanted = wanted_at(c, r, at, &loose);
    if ((out[at] ^ wanted) & ~loose & 0xFF)
      fail_msg("byte %" PRId64 " of the %" PRId64 " that the output spans is 0x%02x, not 0x%02x", at, c->tensors[REPLAY_OUT].size, out[at],
               wanted);
  }
}

void replay_compare_error(const replay_case *c, const gather_error *error) {
  assert_error(error, c->status);
  assert_string_equal(error->op, c->op->name);
  assert_string_equal(error->rules, c->op->rules);
  if (c->status != GATHER_INDEX_OUT_OF_RANGE) return;
  assert_int_equal(error->axis, c->bad_axis);
  assert_int_equal(error->position_rank, c->position_rank);
  for (int32_t d = 0; d < c->position_rank; d++) assert_int_equal(error->position[d], c->position[d]);
  const gather_kind kind = gather_type_get(c->tensors[REPLAY_INDICES].tensor.type)->kind;
  assert_int_equal(error->value_is_unsigned, kind == GATHER_KIND_UINT);
  assert_int_equal(error->value, c->value);
  assert_int_equal(error->low, c->low);
  assert_int_equal(error->high, c->high);
  assert_int_equal(error->bad_count, c->bad_count);
}

void replay_compare(const replay_case *c, const replay_result *r) {
  if (r->status != c->status)
    fail_msg("returned %s (%s), not %s", gather_status_name(r->status), r->status == GATHER_OK ? "" : r->error.message,
             gather_status_name(c->status));
  for (int t = REPLAY_DATA; t <= REPLAY_INDICES; t++)
    if (c->tensors[t].size > 0 && memcmp(spans[t], c->tensors[t].bytes, (size_t)c->tensors[t].size) != 0) fail_msg("an input was written");
  compare_output(c, r);
  if (r->status == GATHER_OK)
    assert_int_equal(r->bad_count, c->bad_count);
  else
    replay_compare_error(c, &r->error);
}
