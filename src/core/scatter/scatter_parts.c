/* SPDX-License-Identifier: MIT
 *
 * scatter_parts.c: methods that bring the updates in the order of their places before they are applied: in parts of the destination that fit
 * a cache, or sorted, so that all updates of a row follow each other. Both keep the order of the updates of a place. Updates are
 * counted and written by as many tasks as there are threads, each with a run of the updates; then each part is a task.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/tensor.h"
#include "core/kernel/tuning.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int bits_of(uint64_t most) {
  int bits = 0;
  for (; most; most >>= 1) bits++;
  return bits;
}

/* ---- numbers of places */

/* Offsets of places are multiples of a step: divided exactly, by a shift or by a reciprocal, since they are below 2^52. */
typedef struct {
  int64_t low;
  int shift; /* -1: none */
  double reciprocal;
} numbering;

static numbering numbering_of(const gather_scatter_plan *plan) {
  numbering n = {plan->place_low, -1, 1.0 / (double)plan->place_step};
  if ((plan->place_step & (plan->place_step - 1)) == 0) n.shift = bits_of((uint64_t)plan->place_step) - 1;
  return n;
}

/* places[j] becomes the number of the place. */
static void number_places(const numbering *n, int64_t *places, int32_t count) {
  if (n->shift >= 0)
    for (int32_t j = 0; j < count; j++) places[j] = (places[j] - n->low) >> n->shift;
  else
    for (int32_t j = 0; j < count; j++) places[j] = (int64_t)((double)(places[j] - n->low) * n->reciprocal + 0.5);
}

/* ---- entries */

/* What is written for each update: its number, with which it is found again, or its value. */
typedef enum { NUMBERED, VALUE_4, VALUE_8 } entry_kind;

typedef struct {
  uint32_t place;
  unsigned char value[4];
} entry_4;

typedef struct {
  uint64_t place;
  unsigned char value[8];
} entry_8;

static int64_t entry_bytes(entry_kind kind) { return kind == VALUE_8 ? (int64_t)sizeof(entry_8) : 8; }

/* A partition of the updates. */
typedef struct {
  const gather_scattering *s;
  entry_kind kind;
  int shift, position_bits;    /* part of a place: place >> shift */
  int64_t parts, tasks, chunk; /* of the updates, for each task */
  char *entries;
  int64_t *at; /* [tasks][parts]: counts, then where the next entry goes; the last row has where each part ends */
  numbering n;
} partition;

static void count_chunk(void *argument, int64_t task) {
  const partition *p = argument;
  int64_t *counts = p->at + task * p->parts, at = task * p->chunk;
  int64_t left = least(p->chunk, p->s->plan->nest.row_count - at);
  gather_walk walk;
  gather_places block;
  gather_walk_start(&walk, p->s->plan->nest.loops, p->s->plan->nest.loop_count, at);
  while (left > 0) {
    left -= gather_places_next(p->s, &walk, left, 0, &block);
    number_places(&p->n, block.places, block.count);
    for (int32_t j = 0; j < block.count; j++) counts[block.places[j] >> p->shift]++;
  }
}

static void write_numbers(const partition *p, const gather_places *block, int64_t *at) {
  uint64_t *entries = (uint64_t *)(void *)p->entries;
  for (int32_t j = 0; j < block->count; j++)
    entries[at[block->places[j] >> p->shift]++] = (uint64_t)block->places[j] << p->position_bits | (uint64_t)block->numbers[j];
}

/* The bytes of a row are a constant where this is inlined. */
GATHER_INLINE void write_values_4(const partition *p, const gather_places *block, int64_t *at, size_t bytes) {
  entry_4 *entries = (entry_4 *)(void *)p->entries;
  for (int32_t j = 0; j < block->count; j++) {
    entry_4 *entry = &entries[at[block->places[j] >> p->shift]++];
    entry->place = (uint32_t)block->places[j];
    memcpy(entry->value, p->s->updates + block->from[j], bytes);
  }
}

static void write_values_8(const partition *p, const gather_places *block, int64_t *at) {
  entry_8 *entries = (entry_8 *)(void *)p->entries;
  for (int32_t j = 0; j < block->count; j++) {
    entry_8 *entry = &entries[at[block->places[j] >> p->shift]++];
    entry->place = (uint64_t)block->places[j];
    memcpy(entry->value, p->s->updates + block->from[j], sizeof entry->value);
  }
}

static void write_entries(const partition *p, const gather_places *block, int64_t *at) {
  if (p->kind == NUMBERED)
    write_numbers(p, block, at);
  else if (p->kind == VALUE_8)
    write_values_8(p, block, at);
  else if (p->s->plan->nest.row_bytes == 4)
    write_values_4(p, block, at, 4);
  else if (p->s->plan->nest.row_bytes == 2)
    write_values_4(p, block, at, 2);
  else
    write_values_4(p, block, at, 1);
}

static void write_chunk(void *argument, int64_t task) {
  const partition *p = argument;
  int64_t *at = p->at + task * p->parts, number = task * p->chunk;
  int64_t left = least(p->chunk, p->s->plan->nest.row_count - number);
  gather_walk walk;
  gather_places block;
  gather_walk_start(&walk, p->s->plan->nest.loops, p->s->plan->nest.loop_count, number);
  for (int64_t now; left > 0; left -= now, number += now) {
    now = gather_places_next(p->s, &walk, left, number, &block);
    number_places(&p->n, block.places, block.count);
    write_entries(p, &block, at);
  }
}

static void for_each(const gather_executor *executor, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  if (executor && count > 1)
    executor->parallel_for(executor->context, count, task, argument);
  else
    for (int64_t i = 0; i < count; i++) task(argument, i);
}

/* From counts to the place of each first entry: parts one after the other, and in each the tasks. */
static int64_t sum_counts(const partition *p) {
  int64_t at = 0;
  for (int64_t part = 0; part < p->parts; part++) {
    for (int64_t task = 0; task < p->tasks; task++) {
      int64_t *count = &p->at[task * p->parts + part], here = *count;
      *count = at;
      at += here;
    }
    p->at[p->tasks * p->parts + part] = at;
  }
  return at;
}

/* Writes the entries; returns how many there are. */
static int64_t partition_updates(partition *p) {
  memset(p->at, 0, (size_t)((p->tasks + 1) * p->parts) * sizeof *p->at);
  for_each(p->s->executor, p->tasks, count_chunk, p);
  const int64_t count = sum_counts(p);
  for_each(p->s->executor, p->tasks, write_chunk, p);
  return count;
}

/* The entries of a part: from the end of the one before. */
static int64_t part_start(const partition *p, int64_t part) { return part > 0 ? p->at[p->tasks * p->parts + part - 1] : 0; }
static int64_t part_end(const partition *p, int64_t part) { return p->at[p->tasks * p->parts + part]; }

enum {
  MOST_PARTS = 1024,
  CHUNK = 16384 /* updates, at least, for a task */
};

/* The shape of a partition into at most `parts` parts. */
static partition partition_of(const gather_scattering *s, entry_kind kind, int64_t parts) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t rows = plan->nest.row_count, threads = s->executor ? s->executor->threads : 1;
  partition p = {.s = s, .kind = kind, .n = numbering_of(plan)};
  const int all = bits_of((uint64_t)plan->places - 1), most = bits_of((uint64_t)least(parts, MOST_PARTS)) - 1;
  p.shift = all > most ? all - most : 0;
  p.parts = ((plan->places - 1) >> p.shift) + 1;
  p.position_bits = bits_of((uint64_t)rows - 1);
  p.tasks = least(threads, (rows - 1) / CHUNK + 1);
  p.chunk = (rows - 1) / p.tasks + 1;
  p.tasks = (rows - 1) / p.chunk + 1;
  return p;
}

static int64_t counts_bytes(const partition *p) { return (p->tasks + 1) * p->parts * (int64_t)sizeof *p->at; }

/* ---- parts that fit a cache */

static entry_kind kind_of(const gather_scatter_plan *plan) {
  if (plan->nest.row_bytes == 8) return VALUE_8;
  return plan->nest.row_bytes <= 4 && plan->nest.row_bytes != 3 && plan->places <= UINT32_MAX ? VALUE_4 : NUMBERED;
}

/* How many parts a destination has that is worked on part by part. */
static partition parts_of(const gather_scattering *s) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t share = gather_cache_bytes() / 2, bytes = plan->places * plan->place_step;
  int64_t parts = 2;
  while (parts < MOST_PARTS && bytes / parts > share) parts *= 2;
  return partition_of(s, kind_of(plan), parts);
}

int64_t gather_scatter_parts_bytes(const gather_scatter_plan *plan, const gather_executor *executor) {
  const gather_scattering s = {.plan = plan, .executor = executor};
  int64_t bytes;
  if (plan->nest.packed || plan->places < 2 || kind_of(plan) == NUMBERED) return -1;
  const partition p = parts_of(&s);
  if (!gather_mul(plan->nest.row_count, entry_bytes(p.kind), &bytes)) return -1;
  return bytes + counts_bytes(&p);
}

/* Applies entries that have values. The places of a block are widened for the kernel. */
static void apply_part(void *argument, int64_t part) {
  const partition *p = argument;
  const gather_scatter_plan *plan = p->s->plan;
  int64_t rows[GATHER_SCATTER_BLOCK];
  const int64_t bytes = entry_bytes(p->kind), end = part_end(p, part);
  gather_combine_span span = {.out = p->s->out + plan->place_low, .rows = rows, .axis_step = plan->place_step, .update_step = bytes};
  span.len = plan->len, span.row_bytes = plan->nest.row_bytes;
  for (int64_t i = part_start(p, part), now; i < end; i += now) {
    now = least(end - i, GATHER_SCATTER_BLOCK);
    if (p->kind == VALUE_4) {
      const entry_4 *entries = (const entry_4 *)(const void *)p->entries + i;
      for (int64_t j = 0; j < now; j++) rows[j] = entries[j].place;
      span.updates = (const char *)entries->value;
    } else {
      const entry_8 *entries = (const entry_8 *)(const void *)p->entries + i;
      for (int64_t j = 0; j < now; j++) rows[j] = (int64_t)entries[j].place;
      span.updates = (const char *)entries->value;
    }
    span.count = now;
    plan->combine(&span);
  }
}

void gather_scatter_in_parts(const gather_scattering *s, void *memory) {
  partition p = parts_of(s);
  p.entries = memory;
  p.at = (int64_t *)(void *)((char *)memory + s->plan->nest.row_count * entry_bytes(p.kind));
  (void)partition_updates(&p);
  for_each(s->executor, p.parts, apply_part, &p);
}

/* ---- sorted */

bool gather_scatter_sortable(const gather_scatter_plan *plan) {
  if (plan->nest.packed || plan->nest.row_count == 0) return false;
  return bits_of((uint64_t)plan->places - 1) + bits_of((uint64_t)plan->nest.row_count - 1) <= 64;
}

/* Entries that differ in bits [low, low + bits) only. Short runs are sorted by insertion, long ones digit by digit: from -> to -> from. */
static void sort_run(uint64_t *from, uint64_t *to, int64_t count, int low, int bits) {
  enum { SHORT = 24, DIGIT = 8 };
  if (count <= SHORT) {
    for (int64_t i = 1; i < count; i++) {
      const uint64_t entry = from[i];
      int64_t k = i;
      for (; k > 0 && from[k - 1] > entry; k--) from[k] = from[k - 1];
      from[k] = entry;
    }
    return;
  }
  for (int done = 0; done < bits; done += DIGIT) {
    int64_t at[(1 << DIGIT) + 1] = {0};
    const int shift = low + done;
    const uint64_t mask = (1u << (bits - done < DIGIT ? bits - done : DIGIT)) - 1;
    for (int64_t i = 0; i < count; i++) at[(from[i] >> shift & mask) + 1]++;
    for (uint64_t digit = 1; digit <= mask; digit++) at[digit] += at[digit - 1];
    for (int64_t i = 0; i < count; i++) to[at[from[i] >> shift & mask]++] = from[i];
    memcpy(from, to, (size_t)count * sizeof *from);
  }
}

typedef struct {
  const partition *p;
  uint64_t *entries, *scratch;
} sorting;

static void sort_part(void *argument, int64_t part) {
  const sorting *s = argument;
  const int64_t first = part_start(s->p, part);
  sort_run(s->entries + first, s->scratch + first, part_end(s->p, part) - first, s->p->position_bits, s->p->shift);
}

bool gather_scatter_sort_all(const gather_scattering *s, gather_sorted *sorted) {
  enum { PART = 8192 /* entries, of which two copies fit a cache */ };
  const int64_t rows = s->plan->nest.row_count;
  partition p = partition_of(s, NUMBERED, rows / PART + 1);
  const int64_t bytes = rows * (int64_t)sizeof(uint64_t);
  if (rows > INT64_MAX / 32) return false;
  sorted->entries = gather_alloc_unset(bytes);
  char *more = gather_alloc_unset(bytes + counts_bytes(&p));
  if (!sorted->entries || !more) {
    gather_free(sorted->entries);
    gather_free(more);
    return false;
  }
  p.entries = (char *)sorted->entries, p.at = (int64_t *)(void *)(more + bytes);
  sorted->count = partition_updates(&p), sorted->position_bits = p.position_bits;
  sorting job = {&p, sorted->entries, (uint64_t *)(void *)more};
  for_each(s->executor, p.parts, sort_part, &job);
  gather_free(more);
  return true;
}

/* Most segments are short; the end of a long one is searched for by halves. */
int64_t gather_sorted_end(const gather_sorted *sorted, int64_t i) {
  enum { NEAR = 16 };
  const uint64_t place = sorted->entries[i] >> sorted->position_bits;
  for (int64_t near = i + NEAR; i < sorted->count && i < near; i++)
    if (sorted->entries[i] >> sorted->position_bits != place) return i;
  int64_t end = sorted->count;
  while (i < end) {
    const int64_t middle = i + (end - i) / 2;
    if (sorted->entries[middle] >> sorted->position_bits == place)
      i = middle + 1;
    else
      end = middle;
  }
  return i;
}

/* ---- rows whose updates are known together */

typedef struct {
  const gather_scattering *s;
  const gather_sorted *sorted;
} segments;

static int64_t number_of(const gather_sorted *sorted, int64_t i) {
  return (int64_t)(sorted->entries[i] & ((UINT64_C(1) << sorted->position_bits) - 1));
}

/* Where update number `number` is. */
static int64_t offset_of(const gather_scatter_plan *plan, int64_t number) {
  const gather_plan *nest = &plan->nest;
  int64_t offset = nest->out_offset;
  if (plan->linear) return offset + number * nest->row_bytes;
  for (int32_t i = nest->loop_count - 1; i >= 0; i--) {
    offset += number % nest->loops[i].len * nest->loops[i].out;
    number /= nest->loops[i].len;
  }
  return offset;
}

/* The offsets of the next updates of entries [first, end). */
static int32_t take_offsets(const segments *g, int64_t first, int64_t end, int64_t *from) {
  const int32_t count = (int32_t)least(end - first, GATHER_SCATTER_BLOCK);
  for (int32_t j = 0; j < count; j++) from[j] = offset_of(g->s->plan, number_of(g->sorted, first + j));
  return count;
}

static void fill_neutral(const gather_scatter_plan *plan, char *row) {
  unsigned char element[16];
  gather_neutral_number(plan->options.reduction, plan->type, plan->finite, element);
  for (int64_t k = 0; k < plan->len; k++) memcpy(row + k * plan->item_bytes, element, (size_t)plan->item_bytes);
}

/* How many numbers a mean is of. */
static int64_t mean_count(const gather_scatter_plan *plan, int64_t updates) { return updates + !plan->options.neutral; }

static void reduce_steps(const segments *g, char *row, int64_t first, int64_t end) {
  const gather_scatter_plan *plan = g->s->plan;
  static const int64_t ROWS[GATHER_SCATTER_BLOCK] = {0};
  int64_t from[GATHER_SCATTER_BLOCK];
  gather_combine_span span = {.out = row, .updates = g->s->updates, .rows = ROWS, .places = from, .axis_step = 1};
  span.len = plan->len, span.row_bytes = plan->nest.row_bytes;
  if (plan->options.neutral) fill_neutral(plan, row);
  for (int64_t i = first; i < end; i += span.count) {
    span.count = take_offsets(g, i, end, from);
    plan->combine(&span);
  }
  if (plan->divide) plan->divide(row, mean_count(plan, end - first), plan->len);
}

enum { WIDE_LEN = 1024 /* columns at a time, 8 KiB on the stack */ };

static void reduce_wide(const segments *g, char *row, int64_t first, int64_t end) {
  const gather_scatter_plan *plan = g->s->plan;
  const gather_wide *wide = plan->wide;
  const gather_reduction reduction = plan->divide ? GATHER_REDUCTION_ADD : plan->options.reduction;
  double acc[WIDE_LEN];
  int64_t from[GATHER_SCATTER_BLOCK];
  for (int64_t k = 0; k < plan->len; k += WIDE_LEN) {
    const int64_t len = least(plan->len - k, WIDE_LEN), column = k * plan->item_bytes;
    if (plan->options.neutral)
      wide->set(acc, reduction == GATHER_REDUCTION_MUL ? 1 : 0, len);
    else
      wide->load(acc, row + column, len);
    for (int64_t i = first, now; i < end; i += now) {
      now = take_offsets(g, i, end, from);
      wide->fold[reduction](acc, g->s->updates + column, from, 0, now, len);
    }
    if (plan->divide) wide->divide(acc, mean_count(plan, end - first), len);
    wide->store(acc, row + column, len);
  }
}

/* Updates of rows that are reduced one by one: many rows at a time. */
static void apply_entries(const segments *g, int64_t first, int64_t end) {
  const gather_scatter_plan *plan = g->s->plan;
  int64_t rows[GATHER_SCATTER_BLOCK], from[GATHER_SCATTER_BLOCK];
  gather_combine_span span = {.out = g->s->out + plan->place_low, .updates = g->s->updates, .rows = rows, .places = from};
  span.axis_step = plan->place_step, span.len = plan->len, span.row_bytes = plan->nest.row_bytes;
  for (int64_t i = first; i < end; i += span.count) {
    span.count = take_offsets(g, i, end, from);
    for (int64_t j = 0; j < span.count; j++) rows[j] = (int64_t)(g->sorted->entries[i + j] >> g->sorted->position_bits);
    plan->combine(&span);
  }
}

/* The first entry from number i on whose place is not that of the entry before. */
static int64_t next_place(const gather_sorted *sorted, int64_t i) {
  return i > 0 && i < sorted->count && sorted->entries[i] >> sorted->position_bits == sorted->entries[i - 1] >> sorted->position_bits
             ? gather_sorted_end(sorted, i)
             : i;
}

/* Places belong to the task of their first entry. */
static void apply_segments(void *argument, int64_t first, int64_t last) {
  const segments *g = argument;
  const gather_scatter_plan *plan = g->s->plan;
  first = next_place(g->sorted, first), last = next_place(g->sorted, last);
  if (!plan->sorts) {
    apply_entries(g, first, last);
    return;
  }
  for (int64_t i = first, end; i < last; i = end) {
    end = gather_sorted_end(g->sorted, i);
    char *row = g->s->out + plan->place_low + (int64_t)(g->sorted->entries[i] >> g->sorted->position_bits) * plan->place_step;
    if (plan->wide)
      reduce_wide(g, row, i, end);
    else
      reduce_steps(g, row, i, end);
  }
}

void gather_scatter_sorted(const gather_scattering *s, const gather_sorted *sorted) {
  segments g = {s, sorted};
  gather_split(s->executor, sorted->count, s->plan->nest.row_bytes + 64, 1, apply_segments, &g);
}
