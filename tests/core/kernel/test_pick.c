/* SPDX-License-Identifier: MIT
 *
 * test_pick.c: packed elements: the slots that pick them by their numbers, and ranges of them, in every layout, between forbidden pages.
 */
#include "core/kernel/trial.h"
#include "support/packed.h"

extern const gather_isa gather_isa_portable;

static const gather_bit_layout LAYOUTS[GATHER_LAYOUTS] = {
#define GATHER_LAYOUT(name, packing, bits, group_len, group_bytes, group_shift) \
  {GATHER_PACKING_##packing, bits, group_len, group_bytes, group_shift},
    GATHER_LAYOUTS_LIST(GATHER_LAYOUT)
#undef GATHER_LAYOUT
};

enum { MOST_BEFORE = 9 /* elements before the first one of a tensor */ };

static gather_type_info type_of(const gather_bit_layout *l) {
  return (gather_type_info){.packing = l->packing, .bits = l->bits, .group_len = l->group_len, .group_bytes = l->group_bytes};
}

/* The bytes that contain elements [0, last). */
static trial_reach groups(const gather_bit_layout *l, int64_t last) {
  return (trial_reach){0, (last + l->group_len - 1) / l->group_len * l->group_bytes};
}

/* Numbers are counted from a group within the table: some are negative. */
static void pick_one(gather_pick_fn pick, const gather_bit_layout *l, int64_t count, int64_t align) {
  const gather_type_info type = type_of(l);
  const int64_t len = 1 + trial_below(trial_below(2) ? 20 : 3000);
  const int64_t first = trial_below(2) * trial_below(len) / l->group_len;
  const trial_reach table = groups(l, len), out_reach = {0, count / 8 * l->bits};
  const uint8_t *data = trial_place(TRIAL_DATA, table, trial_below(2), -1);
  const int64_t *elements = (const int64_t *)(const void *)trial_place(TRIAL_INDICES, (trial_reach){0, count * 8}, trial_below(2), -1);
  uint8_t *out = trial_place(TRIAL_OUT, out_reach, trial_below(2), align);
  trial_mark(out, out_reach);
  for (int64_t j = 0; j < count; j++) {
    const int64_t element = trial_below(len);
    trial_put(trial_view(elements + j), 8, (uint64_t)(element - first * l->group_len));
    packed_put(&type, trial_wanted(out), j, packed_get(&type, data, element));
  }
  pick((const char *)data + first * l->group_bytes, elements, count, (char *)out);
  trial_compare();
}

void test_pick(void **state) {
  for (int n = 0; n < GATHER_LAYOUTS; n++) {
    const gather_pick_fn pick = trial_isa->pick[n];
    if (!pick) continue;
    trial_seed((uint64_t)n + 7);
    for (int64_t count = 0; count <= 4 * TRIAL_COUNT; count += 8) {
      snprintf(trial_text, sizeof trial_text, "%s, pick of layout %d: %d", trial_isa->name, n, (int)count);
      for (int64_t align = -1; align < TRIAL_LINE; align += trial_step()) pick_one(pick, &LAYOUTS[n], count, align);
    }
    trial_slots++;
  }
}

/* A range to element `to` from element `from`; inputs and output next to a forbidden page on either side. */
static void range_one(const gather_bit_layout *l, int64_t to, int64_t from, int64_t len) {
  const gather_type_info type = type_of(l);
  const trial_reach in_reach = groups(l, from + len), out_reach = groups(l, to + len);
  const uint8_t *data = trial_place(TRIAL_DATA, in_reach, trial_below(2), -1);
  uint8_t *out = trial_place(TRIAL_OUT, out_reach, trial_below(2), -1);
  trial_mark(out, out_reach);
  for (int64_t j = 0; j < len; j++) packed_put(&type, trial_wanted(out), to + j, packed_get(&type, data, from + j));
  gather_bits_copy(l, (char *)out, to, (const char *)data, from, len);
  trial_compare();
}

/* The same elements by their numbers, and as many of one value. */
static void numbers_one(const gather_bit_layout *l, int n, int64_t to, int64_t count, unsigned value) {
  const gather_type_info type = type_of(l);
  const trial_reach out_reach = groups(l, to + count);
  const uint8_t *data = trial_place(TRIAL_DATA, groups(l, 100), true, -1);
  int64_t elements[TRIAL_COUNT];
  uint8_t *out = trial_place(TRIAL_OUT, out_reach, trial_below(2), -1);
  trial_mark(out, out_reach);
  for (int64_t j = 0; j < count; j++) elements[j] = trial_below(100);
  for (int64_t j = 0; j < count; j++) packed_put(&type, trial_wanted(out), to + j, packed_get(&type, data, elements[j]));
  gather_bits_pick(l, gather_isa_portable.pick[n], (char *)out, to, (const char *)data, elements, count);
  trial_compare();
  for (int64_t j = 0; j < count; j++) packed_put(&type, trial_wanted(out), to + j, value);
  gather_bits_fill(l, (char *)out, to, value, count);
  trial_compare();
}

void test_bit_ranges(void **state) {
  for (int n = 0; n < GATHER_LAYOUTS; n++) {
    const gather_bit_layout *l = &LAYOUTS[n];
    assert_int_equal(gather_bit_layout_number(l), n);
    assert_int_equal(1 << l->group_shift, l->group_len);
    assert_int_equal(l->group_len * l->bits, l->group_bytes * 8);
    trial_seed((uint64_t)n + 7);
    for (int64_t len = 0; len < TRIAL_COUNT; len++) {
      snprintf(trial_text, sizeof trial_text, "range of layout %d: %d elements", n, (int)len);
      for (int64_t to = 0; to < MOST_BEFORE; to += trial_step()) {
        for (int64_t from = 0; from < MOST_BEFORE; from++) range_one(l, to, from, len);
        numbers_one(l, n, to, len, (unsigned)trial_below(1 << l->bits));
      }
    }
  }
}
