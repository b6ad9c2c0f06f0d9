/* SPDX-License-Identifier: MIT
 *
 * test_indices.c: the slots that take plain arrays: checking and widening indices, copying lines; and the radix partitioning of
 * radix.h.
 */
#include "core/kernel/radix.h"
#include "core/kernel/trial.h"

static bool aligns[TRIAL_LINE]; /* of the input that the slot at hand has seen */
static int64_t turn;

static trial_reach whole(int64_t bytes) { return (trial_reach){0, bytes}; }

/* Flush against a forbidden page, or at each alignment in turn. */
static uint8_t *place_input(int area, int64_t bytes) {
  const int64_t where = turn++ % 3;
  uint8_t *at = trial_place(area, whole(bytes), where == 1, where == 2 ? turn / 3 % TRIAL_LINE : -1);
  aligns[(uintptr_t)at % TRIAL_LINE] = true;
  return at;
}

static void begin_slot(const char *name, int64_t size) {
  snprintf(trial_text, sizeof trial_text, "%s, %s: %d", trial_isa->name, name, (int)size);
  memset(aligns, 0, sizeof aligns);
  trial_seed((uint64_t)size + 7);
}

static void end_slot(void) {
  for (int align = 0; align < TRIAL_LINE; align++)
    if (!aligns[align]) fail_msg("%s: no input %d behind a line", trial_text, align);
  trial_slots++;
}

/* All indices below the limit but perhaps one, number `odd`, which is at it, one more, or anything. */
static void within_one(gather_within_fn within, int width, int64_t count, int64_t odd) {
  const uint64_t top = (uint64_t)1 << (8 * width - 1), mask = top - 1 + top;
  /* Indices of 8 bytes may be compared by halves. */
  const uint64_t half = width == 8 ? (uint64_t)1 << 32 : 1, halves[] = {half - 1 + (width < 8), half, half + 1};
  const uint64_t limits[] = {1, 2, 100, top - 1, top, trial_bits() % top + 1, halves[trial_below(3)]};
  const uint64_t limit = limits[trial_below(7)];
  const uint64_t odds[] = {limit, limit + 1, mask, top, trial_bits() & mask, limit - 1, half, half + limit - 1};
  const uint8_t *indices = place_input(TRIAL_INDICES, count * width);
  bool want = true;
  for (int64_t j = 0; j < count; j++) {
    const uint64_t index = (j == odd ? odds[trial_below(8)] : trial_bits() % limit) & mask;
    trial_put(trial_view(indices + j * width), width, index);
    want = want && index < limit;
  }
  if (within((const char *)indices, count, turn % 2, limit) != want)
    fail_msg("%s bytes, %d indices, number %d below %llx or not: wrong", trial_text, (int)count, (int)odd, (unsigned long long)limit);
  trial_cases++;
}

/* The same for indices that become bytes, which may be anything if one is not below the limit. */
static void narrow_one(int64_t count, int64_t odd) {
  const uint64_t limit = 1 + (uint64_t)trial_below(256), odds[] = {limit, 255, 256, limit - 1, UINT64_MAX, (uint64_t)1 << 32};
  const uint8_t *indices = place_input(TRIAL_INDICES, count * 8);
  uint8_t *out = trial_place(TRIAL_OUT, whole(count), turn % 3 == 1, turn % 3 == 2 ? turn % TRIAL_LINE : -1);
  bool want = true;
  trial_mark(out, whole(count));
  for (int64_t j = 0; j < count; j++) {
    const uint64_t index = j == odd ? odds[trial_below(6)] : trial_bits() % limit;
    trial_put(trial_view(indices + j * 8), 8, index);
    want = want && index < limit;
    *trial_wanted(out + j) = (uint8_t)index;
  }
  if (trial_isa->narrow_indices((const char *)indices, count, limit, out) != want)
    fail_msg("%s bytes, %d indices, number %d below %d or not: wrong", trial_text, (int)count, (int)odd, (int)limit);
  for (int64_t j = 0; j < count && !want; j++) *trial_wanted(out + j) = out[j];
  trial_compare();
  trial_cases++;
}

void test_narrow_indices(void **state) {
  if (!trial_isa->narrow_indices) return;
  begin_slot("narrow_indices", 8);
  for (int64_t count = 1; count <= TRIAL_COUNT; count++)
    for (int64_t odd = -1; odd < count; odd += 1 + trial_below(2 * trial_step() - 1)) narrow_one(count, odd);
  end_slot();
}

void test_within(void **state) {
  for (int log2_width = 0; log2_width < 4; log2_width++) {
    const gather_within_fn within = trial_isa->within[log2_width];
    if (!within) continue;
    begin_slot("within", 1 << log2_width);
    for (int64_t count = 0; count <= TRIAL_COUNT; count++)
      for (int64_t odd = -1; odd < count; odd += 1 + trial_below(2 * trial_step() - 1)) within_one(within, 1 << log2_width, count, odd);
    for (int64_t count = 200; count < 5000; count += 97) within_one(within, 1 << log2_width, count, trial_below(count));
    /* Kernels take blocks of a few lines: each place in two, and in the rest after them. */
    const int64_t blocks = 2100 >> log2_width;
    for (int64_t odd = 0; odd < blocks; odd += trial_step()) within_one(within, 1 << log2_width, blocks, odd);
    end_slot();
  }
}

/* One index differs from the others, as the greatest or by its sign, so that none can be passed over. */
static void fill_fold(uint8_t *indices, int width, int64_t count, int64_t peak) {
  const int kind = (int)trial_below(4), top = 8 * width - 1;
  for (int64_t j = 0; j < count; j++) trial_put(indices + j * width, width, kind == 0 ? trial_bits() : trial_bits() % 32);
  const uint64_t peaks[] = {trial_bits(), UINT64_MAX, (uint64_t)1 << top, ((uint64_t)1 << top) - 1};
  if (count > 0) trial_put(indices + peak * width, width, peaks[kind]);
}

static void fold_one(gather_fold_fn fold, int width, int64_t count, int64_t peak) {
  const uint64_t mask = UINT64_MAX >> (64 - 8 * width), shifts[] = {0, 1000, trial_bits(), mask};
  const uint8_t *indices = place_input(TRIAL_INDICES, count * width);
  const uint64_t shift = shifts[trial_below(4)], before = trial_below(2) ? trial_bits() & mask : 0;
  uint64_t most = before, signs = before >> 1, want_most = most, want_signs = signs;
  fill_fold(trial_view(indices), width, count, peak);
  for (int64_t j = 0; j < count; j++) {
    const uint64_t index = trial_get(indices + j * width, width), moved = (index + shift) & mask;
    want_most = moved > want_most ? moved : want_most, want_signs |= index;
  }
  fold((const char *)indices, count, shift, &most, &signs);
  if (most != want_most || signs != want_signs)
    fail_msg("%s bytes, %d indices, number %d differs: %llx and %llx, not %llx and %llx", trial_text, (int)count, (int)peak,
             (unsigned long long)most, (unsigned long long)signs, (unsigned long long)want_most, (unsigned long long)want_signs);
  trial_cases++;
}

void test_fold(void **state) {
  static const int64_t longer[] = {255, 256, 257, 511, 1023, 1024, 1025, 2048, 4999};
  for (int log2_width = 0; log2_width < 4; log2_width++) {
    const gather_fold_fn fold = trial_isa->fold[log2_width];
    if (!fold) continue;
    begin_slot("fold", 1 << log2_width);
    for (int64_t count = 0; count <= TRIAL_COUNT; count++)
      for (int64_t peak = 0; peak == 0 || peak < count; peak += 1 + trial_below(2 * trial_step() - 1))
        fold_one(fold, 1 << log2_width, count, peak);
    for (int again = 0; again < 20; again++)
      for (size_t l = 0; l < COUNT(longer); l++) fold_one(fold, 1 << log2_width, longer[l], trial_below(longer[l]));
    end_slot();
  }
}

/* The type's ends, and what stands round 0. */
static uint64_t index_of(int width, bool is_signed) {
  const uint64_t top = (uint64_t)1 << (8 * width - 1), ends[] = {0, 1, top - 1, top, top + 1, 2 * top - 1, trial_bits()};
  const uint64_t index = ends[trial_below(COUNT(ends))];
  return width == 8 && !is_signed ? index & INT64_MAX : index;
}

static void widen_one(gather_widen_fn run, int width, bool is_signed, int64_t count, int64_t align) {
  const int64_t lens[] = {0, 1, 127, INT64_MAX, (int64_t)(trial_bits() >> 1)}, len = lens[trial_below(5)];
  const trial_reach reach = whole(count * 8);
  const uint8_t *indices = place_input(TRIAL_INDICES, count * width);
  uint8_t *out = trial_place(TRIAL_OUT, reach, turn % 2, align);
  trial_mark(out, reach);
  for (int64_t j = 0; j < count; j++) {
    trial_put(trial_view(indices + j * width), width, index_of(width, is_signed));
    const uint64_t index = trial_get(indices + j * width, width), sign = index >> (8 * width - 1);
    const uint64_t above = width < 8 && is_signed && sign ? UINT64_MAX << (8 * width) : 0;
    trial_put(trial_wanted(out + j * 8), 8, (index | above) + (is_signed && sign ? (uint64_t)len : 0));
  }
  run((const char *)indices, count, len, (int64_t *)(void *)out);
  trial_compare();
}

void test_widen(void **state) {
  for (int type = 0; type < 8; type++) {
    const gather_widen_fn run = trial_isa->widen[type];
    if (!run) continue;
    begin_slot("widen", type);
    for (int64_t count = 0; count <= TRIAL_COUNT; count++)
      for (int64_t align = -8; align < TRIAL_LINE; align += 8) widen_one(run, 1 << type % 4, type < 4, count, align);
    end_slot();
  }
}

void test_stream_copy(void **state) {
  if (!trial_isa->nontemporal_copy) return;
  begin_slot("nontemporal_copy", TRIAL_LINE);
  for (int64_t lines = 0; lines <= TRIAL_COUNT; lines++)
    for (int again = 0; again < TRIAL_LINE; again += trial_step()) {
      const trial_reach reach = whole(lines * TRIAL_LINE);
      const uint8_t *in = place_input(TRIAL_DATA, reach.high);
      uint8_t *out = trial_place(TRIAL_OUT, reach, again % 2, 0);
      trial_mark(out, reach);
      memcpy(trial_wanted(out), in, (size_t)reach.high);
      trial_isa->nontemporal_copy((char *)out, (const char *)in, reach.high);
      trial_isa->fence();
      trial_compare();
    }
  end_slot();
}

/* Negative indices count from the end where axis_len is given. */
static void radix_one(const gather_radix_kernel *kernel, int width, int64_t row, int64_t count, int64_t align) {
  const int64_t len = 1 + trial_below(trial_below(2) ? 9 : 20000), entries = count * kernel->entry_bytes;
  gather_radix r = {.axis_step = row + trial_below(2) * trial_below(100),
                    .count = count,
                    .axis_len = trial_below(2) ? len : 0,
                    .shift = (int)trial_below(2)};
  while ((len - 1) >> r.shift >= GATHER_RADIX_PARTS) r.shift++;
  r.data = (const char *)trial_place(TRIAL_DATA, whole((len - 1) * r.axis_step + row), trial_below(2), -1);
  r.entries = trial_place(TRIAL_ENTRIES, whole(entries), trial_below(2), -1);
  const uint8_t *indices = place_input(TRIAL_INDICES, count * width);
  uint8_t *out = trial_place(TRIAL_OUT, whole(count * row), align < 0 || trial_below(2), align);
  r.indices = (const char *)indices;
  trial_mark(out, whole(count * row));
  for (int64_t j = 0; j < count; j++) {
    const int64_t at = j == 0 ? len - 1 : trial_below(len), back = r.axis_len > 0 && trial_below(2) ? len : 0;
    trial_put(trial_view(indices + j * width), width, (uint64_t)(at - back));
    memcpy(trial_wanted(out + j * row), r.data + at * r.axis_step, (size_t)row);
  }
  kernel->part(&r);
  kernel->fetch(&r);
  for (int64_t done = 0, now; done < count; done += now) {
    now = 1 + trial_below(count - done);
    kernel->join(&r, done, now, (char *)out + done * row);
  }
  trial_compare();
}

void test_radix(void **state) {
  for (int wide = 0; wide < 2; wide++)
    for (int64_t row = 1; row <= 8; row *= 2) {
      const gather_radix_kernel *kernel = gather_kernel_radix(wide, row);
      begin_slot("radix", row);
      for (int shift = 0; shift < TRIAL_LINE; shift += trial_step())
        for (int64_t count = 1; count <= TRIAL_COUNT; count++) radix_one(kernel, wide ? 8 : 4, row, count, (count + shift) % TRIAL_LINE);
      for (int64_t count = 1; count <= 1000; count += 13) radix_one(kernel, wide ? 8 : 4, row, count, -1);
      end_slot();
    }
}
