/* SPDX-License-Identifier: MIT
 *
 * test_spans.c: the slots that take a gather_span, each with what kernel.h demands for it.
 */
#include "core/kernel/trial.h"

static const int widths[GATHER_WIDTHS] = {4, 8}, table_widths[GATHER_TABLE_WIDTHS] = {1, 4, 8};
static const int64_t long_rows[] = {65, 66, 127, 128, 129, 130, 192, 255, 256, 257, 320, 383, 512, 1000};

/* The sizes of one class of rows. */
static void set_sizes(trial_slot *slot, int class) {
  slot->size_count = 0;
  for (int64_t row = 1; row <= 64; row++)
    if (gather_row_class(row) == class) slot->sizes[slot->size_count++] = row;
  if (slot->size_count > 0) return;
  for (size_t i = 0; i < COUNT(long_rows); i++) slot->sizes[slot->size_count++] = long_rows[i];
  slot->slow = true;
}

static void by_class(gather_rows_fn const slots[GATHER_WIDTHS][GATHER_ROW_CLASSES], const char *name, unsigned demands) {
  for (int w = 0; w < GATHER_WIDTHS; w++)
    for (int class = 0; class < GATHER_ROW_CLASSES; class ++) {
      trial_slot slot = {.name = name, .run = slots[w][class], .width = widths[w], .demands = demands};
      set_sizes(&slot, class);
      if (slot.run) trial_of_spans(&slot);
    }
}

void test_rows(void **state) { by_class(trial_isa->rows, "rows", 0); }

/* Of rows that a kernel moves otherwise than the rest of their class, every count and alignment. */
static void alone(gather_rows_fn const slots[GATHER_WIDTHS][GATHER_ROW_CLASSES], int64_t row, const char *name, unsigned demands) {
  for (int w = 0; w < GATHER_WIDTHS; w++) {
    const trial_slot slot = {
        .name = name, .run = slots[w][gather_row_class(row)], .width = widths[w], .demands = demands, .size_count = 1, .sizes = {row}};
    if (!slot.run) continue;
    trial_of_spans(&slot);
    trial_slots--; /* which was counted as that of its class */
  }
}

void test_stream(void **state) {
  const unsigned demands = TRIAL_OUT_DENSE | TRIAL_OUT_FOLLOWS;
  by_class(trial_isa->nontemporal, "nontemporal", demands);
  alone(trial_isa->nontemporal, 12, "nontemporal", demands);
  alone(trial_isa->nontemporal, 24, "nontemporal", demands);
}

/* Whole lines: what one row lacks before a line, all lack. */
void test_together(void **state) {
  for (int w = 0; w < GATHER_WIDTHS; w++) {
    const trial_slot slot = {ITEMS(.name = "interleaved", .run = trial_isa->interleaved[w], .width = widths[w],
                                   .demands = TRIAL_OUT_DENSE | TRIAL_OUT_FOLLOWS, .slow = true, .size_count = 6,
                                   .sizes = {64, 128, 192, 256, 320, 1024})};
    if (slot.run) trial_of_spans(&slot);
  }
}

static void by_element(gather_rows_fn const slots[GATHER_WIDTHS][2], const char *name, unsigned demands) {
  for (int w = 0; w < GATHER_WIDTHS; w++)
    for (int size = 0; size < 2; size++) {
      const trial_slot slot = {
          .name = name, .run = slots[w][size], .width = widths[w], .demands = demands, .size_count = 1, .sizes = {size ? 8 : 4}};
      if (slot.run) trial_of_spans(&slot);
    }
}

void test_by_vector(void **state) {
  by_element(trial_isa->gather_instruction, "gather_instruction", TRIAL_OUT_DENSE | TRIAL_INDICES_DENSE);
}

void test_by_rounds(void **state) {
  by_element(trial_isa->gather_instruction_rounds, "gather_instruction_rounds",
             TRIAL_OUT_DENSE | TRIAL_OUT_FOLLOWS | TRIAL_INDICES_DENSE | TRIAL_INDICES_FOLLOW | TRIAL_FEW);
}

static void by_table(gather_rows_fn const slots[4], const int64_t table_bytes[4], const char *name, int width, unsigned demands) {
  for (int size = 0; size < 4; size++) {
    const trial_slot slot = {ITEMS(.name = name, .run = slots[size], .width = width, .demands = demands, .table_bytes = table_bytes[size],
                                   .size_count = 1, .sizes = {(int64_t)1 << size})};
    if (!slot.run) continue;
    if (slot.table_bytes < slot.sizes[0]) fail_msg("%s: no room in tables of %d", trial_isa->name, 1 << size);
    trial_of_spans(&slot);
  }
}

void test_table(void **state) {
  const unsigned demands = TRIAL_OUT_DENSE | TRIAL_INDICES_DENSE | TRIAL_TABLE_DENSE | TRIAL_ONE_TABLE;
  for (int w = 0; w < GATHER_TABLE_WIDTHS; w++) by_table(trial_isa->table[w], trial_isa->table_bytes, "table", table_widths[w], demands);
}

void test_round_table(void **state) {
  const unsigned demands =
      TRIAL_OUT_DENSE | TRIAL_OUT_FOLLOWS | TRIAL_INDICES_DENSE | TRIAL_INDICES_FOLLOW | TRIAL_TABLE_DENSE | TRIAL_ROUND_TABLES;
  for (int w = 0; w < GATHER_WIDTHS; w++)
    by_table(trial_isa->round_table[w], trial_isa->round_table_bytes, "round_table", widths[w], demands);
}

/* Rows of any size. */
static void by_runs(gather_rows_fn const slots[GATHER_WIDTHS], const char *name, unsigned demands) {
  for (int w = 0; w < GATHER_WIDTHS; w++) {
    trial_slot slot = {ITEMS(.name = name, .run = slots[w], .width = widths[w], .demands = demands, .slow = true, .size_count = 24,
                             .sizes = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 24, 31, 32, 33, 48, 63, 64, 65, 100, 128, 192, 1000})};
    if (slot.run) trial_of_spans(&slot);
  }
}

void test_runs(void **state) {
  const unsigned demands = TRIAL_OUT_DENSE | TRIAL_INDICES_DENSE | TRIAL_TABLE_DENSE;
  by_runs(trial_isa->runs, "runs", demands);
  by_runs(trial_isa->nontemporal_runs, "nontemporal_runs", demands | TRIAL_OUT_FOLLOWS);
}
