/* SPDX-License-Identifier: MIT
 *
 * test_tuple_kernels.c: the slots for tuples of indices, beside a plain loop: axes of one element and of 2^31, negative numbers, steps
 * of both signs, one number out of range wherever it may be; the input flush against a forbidden page.
 */
#include <inttypes.h>

#include "core/kernel/trial.h"

static const int WIDTHS[GATHER_WIDTHS] = {4, 8};

static int64_t either(int64_t value) { return trial_below(2) ? value : -value; }

static void choose_axes(gather_tuple_axes *a, int len) {
  const int64_t top = INT64_C(1) << 31;
  a->base = either(trial_below(1000));
  for (int c = 0; c < len; c++) {
    const int64_t lens[] = {1, 2, 1000, top - 1, top, 1 + trial_below(top)};
    const int64_t steps[] = {0, 1, 12, top - 1, trial_below(top)};
    a->len[c] = lens[trial_below(6)];
    const int64_t step = steps[trial_below(5)], most = (INT64_C(1) << 60) / a->len[c]; /* all offsets are in memory */
    a->step[c] = either(step < most ? step : most);
    a->back[c] = trial_below(2) ? a->len[c] : 0;
  }
}

static const uint8_t *place(int64_t bytes) {
  const int64_t where = trial_below(3);
  return trial_place(TRIAL_INDICES, (trial_reach){0, bytes}, where > 0, where == 2 ? trial_below(TRIAL_LINE) : -1);
}

/* Numbers in range, often at its ends. */
static int64_t choose_number(const gather_tuple_axes *a, int c, int width) {
  const int64_t n = a->len[c], back = a->back[c] && trial_below(2) ? n : 0;
  const int64_t places[] = {0, n - 1, trial_below(n)};
  const int64_t number = places[trial_below(3)] - back;
  return width == 4 && (number > INT32_MAX || number < INT32_MIN) ? 0 : number;
}

static int64_t sign_extended(const uint8_t *at, int width) {
  const uint64_t bits = trial_get(at, width);
  return width == 8 ? (int64_t)bits : (int64_t)(int32_t)(uint32_t)bits;
}

/* Number `odd` is out of range, by little or by much; -1 = none is. */
static bool fill(const gather_tuple_axes *a, const uint8_t *indices, int width, int len, int64_t count, int64_t odd) {
  bool right = true;
  for (int64_t i = 0; i < count * len; i++) {
    const int c = (int)(i % len);
    const int64_t outs[] = {a->len[c], -a->back[c] - 1, INT64_MIN, INT64_MAX, (int64_t)trial_bits()};
    uint8_t *at = trial_view(indices + i * width);
    trial_put(at, width, (uint64_t)(i == odd ? outs[trial_below(5)] : choose_number(a, c, width)));
    const int64_t number = sign_extended(at, width);
    right = right && number >= -a->back[c] && number < a->len[c];
  }
  return right;
}

static void within_one(gather_tuples_within_fn run, int width, int len, int64_t count, int64_t odd) {
  gather_tuple_axes axes;
  choose_axes(&axes, len);
  const uint8_t *indices = place(count * len * width);
  const bool right = fill(&axes, indices, width, len, count, odd);
  if (run(&axes, (const char *)indices, count) != right)
    fail_msg("%s: %d tuples, number %d: in range or not: wrong", trial_text, (int)count, (int)odd);
  trial_cases++;
}

static void fold_one(gather_tuples_fold_fn run, int width, int len, int64_t count, int64_t align) {
  gather_tuple_axes axes;
  const trial_reach reach = {0, count * 8};
  choose_axes(&axes, len);
  const uint8_t *indices = place(count * len * width);
  uint8_t *out = trial_place(TRIAL_OUT, reach, trial_below(2), align);
  (void)fill(&axes, indices, width, len, count, -1);
  trial_mark(out, reach);
  for (int64_t j = 0; j < count; j++) {
    int64_t offset = axes.base;
    for (int c = 0; c < len; c++) {
      const int64_t number = sign_extended(indices + (j * len + c) * width, width);
      offset += (number < 0 ? number + axes.back[c] : number) * axes.step[c];
    }
    trial_put(trial_wanted(out + j * 8), 8, (uint64_t)offset);
  }
  run(&axes, (const char *)indices, count, (int64_t *)(void *)out);
  trial_compare();
}

void test_tuples(void **state) {
  for (int w = 0; w < GATHER_WIDTHS; w++)
    for (int len = 2; len <= GATHER_TUPLE_MOST; len++) {
      const gather_tuples_within_fn within = trial_isa->tuples_within[w][len - 2];
      const gather_tuples_fold_fn fold = trial_isa->tuples_fold[w][len - 2];
      snprintf(trial_text, sizeof trial_text, "%s, tuples of %d numbers of %d bytes", trial_isa->name, len, WIDTHS[w]);
      trial_seed((uint64_t)(10 * len + w));
      for (int64_t count = 0; within && count <= TRIAL_COUNT; count++)
        for (int64_t odd = -1; odd < count * len; odd += 1 + trial_below(2 * trial_step() - 1))
          within_one(within, WIDTHS[w], len, count, odd);
      for (int64_t count = 0; fold && count <= TRIAL_COUNT; count++)
        for (int64_t align = -8; align < TRIAL_LINE; align += 8) fold_one(fold, WIDTHS[w], len, count, align);
      trial_slots += (within != NULL) + (fold != NULL);
    }
}
