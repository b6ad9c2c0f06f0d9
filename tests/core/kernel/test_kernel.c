/* SPDX-License-Identifier: MIT
 *
 * test_kernel.c: every kernel of every instruction set that this CPU has gives the bytes that a plain loop gives, for all counts
 * from 1 to 130 and all alignments, and touches no other byte. What this CPU lacks is said.
 */
#include "core/kernel/combine.h"
#include "core/kernel/trial.h"
#include "support/machines.h"

/* How many members of an array of functions are set. */
#define SET(slots)                                                    \
  for (size_t k = 0; k < sizeof(slots) / sizeof(gather_rows_fn); k++) \
  set += ((const gather_rows_fn *)(const void *)(slots))[k] != NULL, known++

/* Every slot that is set was tried; and gather_isa has none that this test does not know. */
static void every_slot(void **state) {
  const gather_isa *isa = trial_isa;
  int64_t set = (isa->nontemporal_copy != NULL) + (isa->narrow_indices != NULL), known = 6; /* and `fence`, `decode`, `combine`, `bag` */
  SET(isa->rows);
  SET(isa->gather_instruction);
  SET(isa->gather_instruction_rounds);
  SET(isa->table);
  SET(isa->round_table);
  SET(isa->nontemporal);
  SET(isa->checked);
  SET(isa->checked_nontemporal);
  SET(isa->checked_instruction);
  SET(isa->checked_table);
  SET(isa->checked_round_table);
  SET(isa->interleaved);
  SET(isa->runs);
  SET(isa->nontemporal_runs);
  SET(isa->within);
  SET(isa->fold);
  SET(isa->widen);
  SET(isa->pick);
  SET(isa->tuples_within);
  SET(isa->tuples_fold);
  const int64_t here = known;
  if (isa->decode) {
    SET(isa->decode->blocks);
    SET(isa->decode->codes);
    SET(isa->decode->narrow);
    assert_int_equal(sizeof *isa->decode, (size_t)(known - here) * sizeof(void *));
  }
  if (isa->combine) {
    const int64_t so_far = known;
    SET(isa->combine->none);
    SET(isa->combine->elements);
    SET(isa->combine->rows);
    SET(isa->combine->divide);
    for (int of = 0; of < GATHER_WIDE_TYPES; of++) {
      const gather_wide *wide = &isa->combine->wide[of];
      SET(wide->fold);
      set += (wide->load != NULL) + (wide->set != NULL) + (wide->divide != NULL) + (wide->store != NULL), known += 4;
    }
    if (sizeof(void *) == 8) assert_int_equal(sizeof *isa->combine, (size_t)(known - so_far + GATHER_WIDE_TYPES) * sizeof(void *));
  }
  print_message("%s: %d slots, %d cases\n", isa->name, (int)trial_slots, (int)trial_cases);
  assert_true(set > 0);
  assert_int_equal(trial_slots, set);
  const size_t rest = sizeof isa->name + 2 * sizeof isa->table_bytes + sizeof isa->vectors_nontemporal;
  if (sizeof(void *) == 8) assert_in_range(sizeof *isa, 0, (size_t)here * sizeof(void *) + rest + 7);
}

static int create_areas(void **state) {
  trial_create(1 << 22);
  return 0;
}

static int destroy_areas(void **state) {
  trial_destroy();
  return 0;
}

/* After each test: which case ran last, which is the one that crashed where it did. */
static int say_where(void **state) {
  trial_say();
  return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, say_where)

static int try_isa(const gather_isa *isa) {
  const struct CMUnitTest tests[] = {
      TEST(test_rows),         TEST(test_checked),      TEST(test_stream),         TEST(test_together),
      TEST(test_by_vector),    TEST(test_by_rounds),    TEST(test_table),          TEST(test_round_table),
      TEST(test_runs),         TEST(test_stream_copy),  TEST(test_within),         TEST(test_narrow_indices),
      TEST(test_fold),         TEST(test_widen),        TEST(test_tuples),         TEST(test_blocks),
      TEST(test_codes),        TEST(test_narrow),       TEST(test_pick),           TEST(test_combine_none),
      TEST(test_combine_rows), TEST(test_combine_wide), TEST(test_combine_divide), cmocka_unit_test(every_slot)};
  trial_isa = isa, trial_slots = trial_cases = 0;
  return cmocka_run_group_tests_name(isa->name, tests, create_areas, destroy_areas);
}

int main(void) {
  const struct CMUnitTest parts[] = {TEST(test_radix), TEST(test_bit_ranges), TEST(test_neutral_numbers)};
  int failed = machine_skips();
  for (int i = 0; i < MACHINE_ISAS; i++) {
    bool built = false, runs = false;
    const char *name = machine_isa_at(i, &built, &runs);
    if (!built) print_message("%s: not of this CPU's family, or not in this build\n", name);
    if (runs) failed += try_isa(gather_isa_rows[i].isa);
  }
  trial_isa = gather_isa_rows[0].isa;
  return failed + cmocka_run_group_tests_name("the same for all", parts, create_areas, destroy_areas);
}
