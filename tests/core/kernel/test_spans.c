/* SPDX-License-Identifier: MIT
 *
 * test_spans.c: the slots that take a gather_span, each with what kernel.h demands for it; what it leaves open is drawn by chance.
 */
#include "core/kernel/trial.h"

/* A span, and what it reaches. */
typedef struct {
  gather_span span;
  int64_t len; /* rows of the table */
  trial_reach data, indices, out;
} trial;

/* What a slot saw of that which every slot must see. */
typedef struct {
  bool counts[TRIAL_COUNT + 1], aligns[TRIAL_ENTRIES][TRIAL_LINE], sizes[TRIAL_SIZES], lens[TRIAL_TABLE + 1];
  bool many[2], nontemporal[2], prefetch_rows[4], more[3], rounds[6];
  int64_t next_len, next_align[TRIAL_ENTRIES];
  int64_t moved; /* cases in which a row moved */
} coverage;

static int64_t either(int64_t step) { return trial_below(2) ? step : -step; }
static int64_t size_of(int64_t step) { return step < 0 ? -step : step; }

/* Rows stand apart or, one time in three, rounds are woven into each other. */
static void choose_out(gather_span *s, unsigned demands) {
  const int64_t row = s->row_bytes, dense = s->count * row;
  s->out_step = row, s->out_round = dense;
  if (demands & TRIAL_OUT_DENSE) {
    if (!(demands & TRIAL_OUT_FOLLOWS) && trial_below(2)) s->out_round = either(dense + trial_below(100));
  } else if (trial_below(3) == 0) {
    s->out_round = either(row + trial_below(50));
    s->out_step = either(s->rounds * size_of(s->out_round) + trial_below(50));
  } else if (trial_below(2)) {
    s->out_step = either(row + trial_below(100));
    s->out_round = either(s->count * size_of(s->out_step) + trial_below(100));
  }
}

static void choose_indices(gather_span *s, unsigned demands, int width) {
  s->index_step = width;
  if (!(demands & TRIAL_INDICES_DENSE) && trial_below(2)) s->index_step = either(trial_below(3) * (width + trial_below(20)));
  const int64_t round = s->count * (s->index_step ? size_of(s->index_step) : width);
  s->index_round = round;
  if (demands & TRIAL_INDICES_FOLLOW || trial_below(3) == 0) return;
  s->index_round = trial_below(2) ? 0 : either(round + trial_below(20));
}

static void choose_data(trial *t, unsigned demands) {
  gather_span *s = &t->span;
  const int64_t row = s->row_bytes, steps[] = {0, row, -row, either(row + trial_below(200))};
  s->data_step = 0, s->axis_step = row;
  if (!(demands & TRIAL_TABLE_DENSE)) {
    const int64_t axes[] = {row, either(row), either(row + trial_below(200)), either(10000 + trial_below(10000)), 0};
    s->data_step = steps[trial_below(4)], s->axis_step = axes[trial_below(5)];
  }
  const int64_t table = size_of(t->len * s->axis_step) < 20000 ? t->len * s->axis_step : 0;
  if (demands & TRIAL_ROUND_TABLES && s->rounds == 1 && trial_below(2)) s->data_step = either(table + trial_below(40));
  const int64_t rounds[] = {0, s->count * s->data_step, table, either(trial_below(3000))};
  s->data_round = demands & TRIAL_ONE_TABLE ? 0 : rounds[trial_below(4)];
}

/* Dense all through, which is what gathers mostly are; elements one time in four in short rounds. */
static void choose_usual(trial *t, int width) {
  gather_span *s = &t->span;
  if (s->row_bytes <= 8 && trial_below(4) == 0) s->count = (int64_t)2 << trial_below(3), s->rounds = 2 + trial_below(20), s->more = 0;
  s->out_step = s->row_bytes, s->out_round = s->count * s->row_bytes;
  s->index_step = width, s->index_round = s->count * width;
  s->data_step = trial_below(2) ? s->row_bytes : 0, s->data_round = s->count * s->data_step;
  s->axis_step = s->row_bytes * (s->data_step != 0 ? 1 + trial_below(8) : 1);
}

static int64_t choose_rounds(int64_t count, int64_t row) {
  static const int64_t usual[] = {1, 1, 1, 2, 3, 4, 5};
  int64_t rounds = count <= 16 && trial_below(2) ? 17 + trial_below(24) : usual[trial_below(COUNT(usual))];
  while (rounds > 1 && rounds * count * row > 32768) rounds--;
  return rounds;
}

/* Tables of all lengths, and more often those that are about as long as some registers. Vectors of bytes are so long that counts
 * up to TRIAL_COUNT hardly fill two: more are added, unless it is to be `exact`ly n. */
static void choose_table(const trial_slot *slot, bool exact, coverage *seen, trial *t) {
  gather_span *s = &t->span;
  const int64_t most = slot->table_bytes / s->row_bytes;
  t->len = 1 + seen->next_len % most;
  if (trial_below(2)) {
    const int64_t len = (((int64_t)16 << trial_below(5)) + s->row_bytes * (trial_below(3) - 1)) / s->row_bytes;
    t->len = len < 1 ? 1 : len > most ? most : len;
  } else {
    seen->next_len++;
  }
  if (!exact) s->count += 128 * trial_below(2) * (1 + trial_below(2));
}

/* n: rows, or rounds where the slot wants few rows. Indices that follow the last one are only known in the last round. */
static void choose(const trial_slot *slot, int64_t n, bool exact, coverage *seen, trial *t) {
  static const int64_t distances[] = {0, 1, 5, 128}, mores[] = {0, 3, 200};
  const bool tables = slot->demands & TRIAL_ROUND_TABLES;
  const bool few = slot->demands & TRIAL_FEW || (tables && trial_below(2));
  const int size = (int)trial_below(slot->size_count), prefetch_rows = (int)trial_below(4);
  gather_span *s = &t->span;
  *t = (trial){.span = {.row_bytes = slot->sizes[size]}, .len = 1 + trial_below(40)};
  s->count = few ? 1 + trial_below(16) : n, s->rounds = few ? n : choose_rounds(n, s->row_bytes);
  if (slot->table_bytes) choose_table(slot, exact || tables, seen, t);
  const int more = s->rounds == 1 ? (int)trial_below(3) : 0;
  s->prefetch_rows = distances[prefetch_rows], s->more = mores[more], s->prefetch_lines = 1 + trial_below(4);
  s->many = trial_below(2), s->nontemporal = trial_below(2);
  choose_out(s, slot->demands);
  choose_indices(s, slot->demands, slot->width);
  choose_data(t, slot->demands | (slot->declines && trial_below(4) ? TRIAL_TABLE_DENSE : 0));
  if (!(slot->demands & ~(unsigned)(TRIAL_OUT_DENSE | TRIAL_OUT_FOLLOWS)) && trial_below(2)) choose_usual(t, slot->width);
  s->table_bytes = t->len * s->row_bytes;
  if (few || s->count == n) seen->counts[n] = true;
  seen->sizes[size] = seen->prefetch_rows[prefetch_rows] = seen->more[more] = true;
  seen->many[s->many] = seen->nontemporal[s->nontemporal] = seen->rounds[s->rounds < 6 ? s->rounds : 0] = true;
  if (slot->table_bytes) seen->lens[t->len] = true;
}

static trial_reach reach_of(int64_t bytes, int64_t step, int64_t count, int64_t round, int64_t rounds) {
  const trial_reach one = trial_reach_of(bytes, step, count), all = trial_reach_of(0, round, rounds);
  return (trial_reach){one.low + all.low, one.high + all.high};
}

/* Inputs touch a forbidden page; every third case is for their alignment. */
static char *place_input(int area, trial_reach reach, coverage *seen) {
  const int64_t where = trial_below(3);
  uint8_t *at = trial_place(area, reach, where == 1, where == 2 ? seen->next_align[area]++ % TRIAL_LINE : -1);
  seen->aligns[area][(uintptr_t)at % TRIAL_LINE] = true;
  return (char *)at;
}

static void place(const trial_slot *slot, int64_t align, coverage *seen, trial *t) {
  gather_span *s = &t->span;
  const trial_reach table = trial_reach_of(s->row_bytes, s->axis_step, t->len);
  t->data = reach_of(0, s->data_step, s->count, s->data_round, s->rounds);
  t->data.low += table.low, t->data.high += table.high;
  t->indices = reach_of(slot->width, s->index_step, s->count + s->more, s->index_round, s->rounds);
  t->out = reach_of(s->row_bytes, s->out_step, s->count, s->out_round, s->rounds);
  s->data = place_input(TRIAL_DATA, t->data, seen), s->indices = place_input(TRIAL_INDICES, t->indices, seen);
  s->out = (char *)trial_place(TRIAL_OUT, t->out, align < 0 || trial_below(2), align);
  seen->aligns[TRIAL_OUT][(uintptr_t)s->out % TRIAL_LINE] = true;
}

/* Runs of rows and single ones; at the ends of rounds mostly the table's ends. What is no index would name a row far outside. */
static void fill_indices(const trial *t, int width) {
  static const uint64_t breaks[] = {1, 2, 16, 64};
  const gather_span *s = &t->span;
  uint8_t *first = trial_view(s->indices);
  const uint64_t often = breaks[trial_below(4)];
  const int64_t all = s->count + s->more;
  const bool ends = trial_below(4) > 0;
  memset(first + t->indices.low, 0xFF, (size_t)(t->indices.high - t->indices.low));
  for (int64_t i = 0, row = 0; i < s->rounds; i++)
    for (int64_t j = 0; j < all; j++) {
      const uint64_t bits = trial_bits();
      row = bits % often == 0 || row + 1 >= t->len ? (int64_t)(bits >> 32) % t->len : row + 1;
      if (ends && (j == 0 || j == s->count - 1)) row = trial_below(2) ? t->len - 1 : 0;
      trial_put(first + i * s->index_round + j * s->index_step, width, (uint64_t)row);
    }
}

/* The whole of what kernels are for; the first `rows` rows. */
static void plainly(const gather_span *s, int64_t rows, int width, uint8_t *wanted) {
  for (int64_t i = 0; i < s->rounds; i++)
    for (int64_t j = 0; j < s->count && i * s->count + j < rows; j++) {
      const char *index = s->indices + i * s->index_round + j * s->index_step;
      const int64_t row = (int64_t)trial_get((const uint8_t *)index, width);
      memcpy(wanted + i * s->out_round + j * s->out_step, s->data + i * s->data_round + j * s->data_step + row * s->axis_step,
             (size_t)s->row_bytes);
    }
}

/* Puts indices out of range into two cases of three, and says before which row kernels must have stopped. */
static int64_t spoil(const trial *t, int width) {
  const gather_span *s = &t->span;
  const uint64_t len = (uint64_t)t->len, bad[] = {len, len + 1, UINT64_MAX, UINT64_MAX - len, (uint64_t)1 << (8 * width - 1)};
  if (trial_below(3) > 0) {
    uint8_t *round = trial_view(s->indices) + trial_below(s->rounds) * s->index_round;
    trial_put(round + trial_below(s->count + s->more) * s->index_step, width, bad[trial_below(COUNT(bad))]);
  }
  for (int64_t row = 0; row < s->rounds * s->count; row++) {
    const char *index = s->indices + row / s->count * s->index_round + row % s->count * s->index_step;
    if (trial_get((const uint8_t *)index, width) >= len) return row;
  }
  return s->rounds * s->count;
}

/* Returns how many rows moved. */
static int64_t run_checked(const trial_slot *slot, const trial *t) {
  const int64_t end = spoil(t, slot->width), moved = slot->checked(&t->span, (uint64_t)t->len);
  const int64_t least = end - t->span.prefetch_rows - 128 - (slot->writes_on ? t->span.count : 0);
  if (moved > end || (moved < least && !(slot->declines && moved == 0)))
    fail_msg("%s: %d rows moved, the index of row %d is out of range", trial_text, (int)moved, (int)end);
  return moved;
}

/* Accepts any content of row number `row` and the 63 after it. */
static void accept(const gather_span *s, int64_t row) {
  for (int64_t end = row + 64; row < end && row < s->rounds * s->count; row++) {
    const uint8_t *out = (const uint8_t *)s->out + row / s->count * s->out_round + row % s->count * s->out_step;
    memcpy(trial_wanted(out), out, (size_t)s->row_bytes);
  }
}

/* align: of the output; -1 = it touches the forbidden page behind it. */
static void try(const trial_slot *slot, int64_t n, int64_t align, coverage *seen) {
  trial t;
  choose(slot, n, align < 0, seen, &t);
  place(slot, align, seen, &t);
  fill_indices(&t, slot->width);
  trial_span = t.span;
  trial_mark((const uint8_t *)t.span.out, t.out);
  int64_t moved = t.span.rounds * t.span.count;
  if (slot->checked)
    moved = run_checked(slot, &t);
  else
    slot->run(&t.span);
  if (moved > 0) seen->moved++;
  plainly(&t.span, moved, slot->width, trial_wanted((const uint8_t *)t.span.out));
  if (slot->writes_on) accept(&t.span, moved);
  if (trial_isa->fence) trial_isa->fence();
  trial_compare();
}

#define ALL_OF(what, from, to)        \
  for (int k = (from); k < (to); k++) \
    if (!seen->what[k]) fail_msg("%s: not tried: " #what " %d", trial_text, k)

static void check_coverage(const trial_slot *slot, const coverage *seen) {
  if (seen->moved < TRIAL_COUNT / 8) fail_msg("%s: moved rows in %d cases only", trial_text, (int)seen->moved);
  ALL_OF(counts, 1, TRIAL_COUNT + 1);
  ALL_OF(sizes, 0, slot->size_count);
  for (int area = 0; area < TRIAL_ENTRIES; area++) ALL_OF(aligns[area], 0, TRIAL_LINE);
  ALL_OF(lens, 1, slot->table_bytes ? (int)(slot->table_bytes / slot->sizes[0]) + 1 : 1);
  ALL_OF(many, 0, 2);
  ALL_OF(nontemporal, 0, 2);
  ALL_OF(prefetch_rows, 0, 4);
  ALL_OF(more, 0, slot->demands & TRIAL_FEW ? 1 : 3);
  ALL_OF(rounds, 1, 6);
}

static void trial_of_spans(const trial_slot *slot) {
  coverage seen = {.next_len = 0};
  snprintf(trial_text, sizeof trial_text, "%s, %s: indices of %d bytes, rows of %d to %d", trial_isa->name, slot->name, slot->width,
           (int)slot->sizes[0], (int)slot->sizes[slot->size_count - 1]);
  trial_seed((uint64_t)slot->width * 1000 + (uint64_t)slot->sizes[0]);
  for (int shift = 0; shift < TRIAL_LINE; shift += trial_step() * (slot->slow ? 4 : 1))
    for (int64_t n = 1; n <= TRIAL_COUNT; n++) try(slot, n, (n + shift) % TRIAL_LINE, &seen);
  for (int64_t n = 1; n <= TRIAL_COUNT; n++) try(slot, n, -1, &seen);
  check_coverage(slot, &seen);
  trial_span.count = 0, trial_slots++;
}

/* ---- the slots */

static const int widths[GATHER_WIDTHS] = {4, 8}, table_widths[GATHER_TABLE_WIDTHS] = {1, 4, 8};
static const int64_t long_rows[] = {65, 66, 96, 97, 127, 128, 129, 130, 160, 161, 192, 224, 255, 256, 257, 320, 383, 512, 1000};

enum {
  ROUND_TABLE_DEMANDS =
      TRIAL_OUT_DENSE | TRIAL_OUT_FOLLOWS | TRIAL_INDICES_DENSE | TRIAL_INDICES_FOLLOW | TRIAL_TABLE_DENSE | TRIAL_ROUND_TABLES
};

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

/* Each case is tried with indices out of range as well. */
static void try_checked(gather_checked_fn checked, const char *name, int width, int class, bool declines) {
  trial_slot slot = {ITEMS(.name = name, .checked = checked, .declines = declines, .width = width,
                           .demands = TRIAL_OUT_DENSE | TRIAL_INDICES_DENSE | (declines ? TRIAL_OUT_FOLLOWS : 0))};
  set_sizes(&slot, class);
  slot.writes_on = slot.sizes[0] < 16;
  if (checked) trial_of_spans(&slot);
}

void test_checked(void **state) {
  const gather_isa *isa = trial_isa;
  for (int w = 0; w < GATHER_WIDTHS; w++) {
    for (int class = 0; class < GATHER_ROW_CLASSES; class ++) {
      try_checked(isa->checked[w][class], "checked", widths[w], class, false);
      try_checked(isa->checked_nontemporal[w][class], "checked_nontemporal", widths[w], class, true);
    }
    for (int size = 0; size < 4; size++) {
      const trial_slot slot = {ITEMS(.name = "checked_table", .checked = isa->checked_table[w][size], .width = widths[w],
                                     .demands = TRIAL_OUT_DENSE | TRIAL_INDICES_DENSE | TRIAL_TABLE_DENSE | TRIAL_ONE_TABLE,
                                     .table_bytes = isa->table_bytes[size], .size_count = 1, .sizes = {(int64_t)1 << size})};
      if (slot.checked) trial_of_spans(&slot);
      const trial_slot rounds = {ITEMS(.name = "checked_round_table", .checked = isa->checked_round_table[w][size], .writes_on = true,
                                       .width = widths[w], .demands = ROUND_TABLE_DEMANDS, .table_bytes = isa->round_table_bytes[size],
                                       .size_count = 1, .sizes = {(int64_t)1 << size})};
      if (rounds.checked) trial_of_spans(&rounds);
    }
    try_checked(isa->checked_instruction[w][0], "checked_instruction", widths[w], gather_row_class(4), false);
    try_checked(isa->checked_instruction[w][1], "checked_instruction", widths[w], gather_row_class(8), false);
  }
}

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
  for (int w = 0; w < GATHER_TABLE_WIDTHS; w++)
    by_table(trial_isa->round_table[w], trial_isa->round_table_bytes, "round_table", table_widths[w], ROUND_TABLE_DEMANDS);
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
