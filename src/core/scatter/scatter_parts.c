/* SPDX-License-Identifier: MIT
 *
 * scatter_parts.c: methods that bring the updates in the order of their places before they are applied: in parts of the destination that
 * fit a cache, or sorted, so that all updates of a row follow each other. Both keep the order of the updates of a place. Updates are
 * counted and written by as many tasks as there are threads, each with a run of the updates; then each part is a task.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/tensor.h"
#include "core/kernel/copy.h"
#include "core/kernel/dispatch.h"
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

/* Offsets of places are multiples of a step: divided by a shift; or by a reciprocal, which is exact for offsets below 2^52, as those of all
 * memory are. A gradient in sparse form may be of data that has no memory. */
typedef struct {
  int64_t low, step;
  int shift;         /* -1: none */
  double reciprocal; /* 0: none */
} place_numbers;

static place_numbers numbers_of_places(const gather_scatter_plan *plan) {
  place_numbers n = {plan->place_low, plan->place_step, -1, 0};
  if (plan->places <= (INT64_C(1) << 52) / plan->place_step) n.reciprocal = 1.0 / (double)plan->place_step;
  if ((plan->place_step & (plan->place_step - 1)) == 0) n.shift = bits_of((uint64_t)plan->place_step) - 1;
  return n;
}

/* places[j] becomes the number of the place. */
static void number_places(const place_numbers *n, int64_t *places, int32_t count) {
  if (n->shift >= 0)
    for (int32_t j = 0; j < count; j++) places[j] = (int64_t)((uint64_t)(places[j] - n->low) >> n->shift);
  else if (n->reciprocal > 0)
    for (int32_t j = 0; j < count; j++) places[j] = (int64_t)((double)(places[j] - n->low) * n->reciprocal + 0.5);
  else
    for (int32_t j = 0; j < count; j++) places[j] = (places[j] - n->low) / n->step;
}

void gather_scatter_number_places(const gather_scatter_plan *plan, int64_t *places, int32_t count) {
  const place_numbers n = numbers_of_places(plan);
  number_places(&n, places, count);
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
  int64_t first, rows;         /* the updates */
  int64_t parts, tasks, chunk; /* of the updates, for each task */
  char *entries, *lines;       /* on lines; lines: one for each task and part */
  int64_t *at;                 /* [tasks][parts]: counts, then where the next entry goes; the last row has where each part ends */
  int64_t *from;               /* [tasks][parts]: where the first one goes */
  place_numbers n;
} partition;

static void count_chunk(void *argument, int64_t task) {
  const partition *p = argument;
  int64_t *counts = p->at + task * p->parts, left = least(p->chunk, p->rows - task * p->chunk);
  gather_walk walk;
  gather_places block;
  gather_walk_start(&walk, p->s->plan->nest.loops, p->s->plan->nest.loop_count, p->first + task * p->chunk);
  while (left > 0) {
    left -= gather_places_next(p->s, &walk, left, 0, &block);
    number_places(&p->n, block.places, block.count);
    for (int32_t j = 0; j < block.count; j++) counts[block.places[j] >> p->shift]++;
  }
}

/* Where a task writes: a line for each part is filled first, and written as a whole, past the caches. */
enum { LINE = 64 };

typedef struct {
  const partition *p;
  char *lines;   /* one for each part */
  int64_t *at;   /* where the next entry of each part goes; entries are counted from the start of a line */
  int64_t *from; /* where the first one went */
  void (*copy)(char *out, const char *in, int64_t bytes);
} part_writer;

/* Writes what a line has before entry number `end` of a part. per_line: entries in a line. */
static void flush_line(const part_writer *w, int64_t part, int64_t end, int64_t per_line) {
  const int64_t bytes = LINE / per_line, start = (end - 1) / per_line * per_line;
  const int64_t first = w->from[part] > start ? w->from[part] : start;
  const char *line = w->lines + part * LINE;
  char *out = w->p->entries + first * bytes;
  if (end - first == per_line)
    w->copy(out, line, LINE);
  else
    memcpy(out, line + (first - start) * bytes, (size_t)((end - first) * bytes));
}

static void flush_all(const part_writer *w, int64_t per_line) {
  for (int64_t part = 0; part < w->p->parts; part++)
    if (w->at[part] > w->from[part] && w->at[part] % per_line != 0) flush_line(w, part, w->at[part], per_line);
}

/* The place of the next entry of a part, and, when the line is full, what follows. per_line is a constant where these are inlined. */
GATHER_INLINE char *next_entry(const part_writer *w, int64_t part, int64_t per_line) {
  return w->lines + part * LINE + (w->at[part] & (per_line - 1)) * (LINE / per_line);
}
GATHER_INLINE void end_entry(const part_writer *w, int64_t part, int64_t per_line) {
  if ((++w->at[part] & (per_line - 1)) == 0) flush_line(w, part, w->at[part], per_line);
}

enum { LINE_8 = LINE / 8, LINE_16 = LINE / 16 };

static void write_numbers(const part_writer *w, const gather_places *block) {
  for (int32_t j = 0; j < block->count; j++) {
    const int64_t part = block->places[j] >> w->p->shift;
    const uint64_t entry = (uint64_t)block->places[j] << w->p->position_bits | (uint64_t)block->numbers[j];
    memcpy(next_entry(w, part, LINE_8), &entry, sizeof entry);
    end_entry(w, part, LINE_8);
  }
}

/* The bytes of a row are a constant where this is inlined. */
GATHER_INLINE void write_values_4(const part_writer *w, const gather_places *block, size_t bytes) {
  const char *updates = w->p->s->updates;
  for (int32_t j = 0; j < block->count; j++) {
    const int64_t part = block->places[j] >> w->p->shift;
    entry_4 entry = {(uint32_t)block->places[j], {0}};
    memcpy(entry.value, updates + block->from[j], bytes);
    memcpy(next_entry(w, part, LINE_8), &entry, sizeof entry);
    end_entry(w, part, LINE_8);
  }
}

static void write_values_8(const part_writer *w, const gather_places *block) {
  for (int32_t j = 0; j < block->count; j++) {
    const int64_t part = block->places[j] >> w->p->shift;
    entry_8 entry = {(uint64_t)block->places[j], {0}};
    memcpy(entry.value, w->p->s->updates + block->from[j], sizeof entry.value);
    memcpy(next_entry(w, part, LINE_16), &entry, sizeof entry);
    end_entry(w, part, LINE_16);
  }
}

static void write_entries(const part_writer *w, const gather_places *block) {
  const partition *p = w->p;
  if (p->kind == NUMBERED)
    write_numbers(w, block);
  else if (p->kind == VALUE_8)
    write_values_8(w, block);
  else if (p->s->plan->nest.row_bytes == 4)
    write_values_4(w, block, 4);
  else if (p->s->plan->nest.row_bytes == 2)
    write_values_4(w, block, 2);
  else
    write_values_4(w, block, 1);
}

static void copy_line(char *out, const char *in, int64_t bytes) { memcpy(out, in, (size_t)bytes); }

static void write_chunk(void *argument, int64_t task) {
  const partition *p = argument;
  const gather_isa *isa = gather_kernel_nontemporal_copy();
  int64_t number = p->first + task * p->chunk, left = least(p->chunk, p->rows - task * p->chunk);
  part_writer w = {p, p->lines + task * p->parts * LINE, p->at + task * p->parts, p->from + task * p->parts,
                   isa ? isa->nontemporal_copy : copy_line};
  gather_walk walk;
  gather_places block;
  memcpy(w.from, w.at, (size_t)p->parts * sizeof *w.at);
  gather_walk_start(&walk, p->s->plan->nest.loops, p->s->plan->nest.loop_count, number);
  for (int64_t now; left > 0; left -= now, number += now) {
    now = gather_places_next(p->s, &walk, left, number, &block);
    number_places(&p->n, block.places, block.count);
    write_entries(&w, &block);
  }
  flush_all(&w, LINE / entry_bytes(p->kind));
  if (isa) isa->fence();
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
static partition partition_of(const gather_scattering *s, int64_t first, int64_t rows, entry_kind kind, int64_t parts) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t threads = s->executor ? s->executor->threads : 1;
  partition p = {.s = s, .first = first, .rows = rows, .kind = kind, .n = numbers_of_places(plan)};
  const int all = bits_of((uint64_t)plan->places - 1), most = bits_of((uint64_t)least(parts, MOST_PARTS)) - 1;
  p.shift = all > most ? all - most : 0;
  p.parts = ((plan->places - 1) >> p.shift) + 1;
  p.position_bits = bits_of((uint64_t)plan->nest.row_count - 1);
  p.tasks = least(threads, (rows - 1) / CHUNK + 1);
  p.chunk = (rows - 1) / p.tasks + 1;
  p.tasks = (rows - 1) / p.chunk + 1;
  return p;
}

/* What a partition needs besides its entries. */
static int64_t side_bytes(const partition *p) {
  return p->tasks * p->parts * LINE + (2 * p->tasks + 1) * p->parts * (int64_t)sizeof *p->at + LINE;
}

/* memory: side_bytes of it. */
static void set_side(partition *p, char *memory) {
  p->lines = memory + (-(uintptr_t)memory & (LINE - 1));
  p->at = (int64_t *)(void *)(p->lines + p->tasks * p->parts * LINE);
  p->from = p->at + (p->tasks + 1) * p->parts;
}

/* ---- parts that fit a cache */

static entry_kind kind_of(const gather_scatter_plan *plan) {
  if (plan->nest.row_bytes == 8) return VALUE_8;
  return plan->nest.row_bytes <= 4 && plan->nest.row_bytes != 3 && plan->places <= UINT32_MAX ? VALUE_4 : NUMBERED;
}

/* How many parts a destination has that is worked on part by part. */
static partition parts_of(const gather_scattering *s, int64_t first, int64_t count) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t share = gather_cache_bytes() / 4, bytes = plan->places * plan->place_step;
  int64_t parts = 2;
  while (parts < MOST_PARTS && bytes / parts > share) parts *= 2;
  return partition_of(s, first, count, kind_of(plan), parts);
}

int64_t gather_scatter_parts_bytes(const gather_scatter_plan *plan, const gather_executor *executor) {
  const gather_scattering s = {.plan = plan, .executor = executor};
  int64_t bytes;
  if (plan->nest.packed || plan->places < 2 || kind_of(plan) == NUMBERED) return -1;
  const partition p = parts_of(&s, 0, plan->nest.row_count);
  if (!gather_mul(plan->nest.row_count, entry_bytes(p.kind), &bytes)) return -1;
  return bytes + LINE + side_bytes(&p);
}

/* The destination of a part that most lines of are written: in order, which is faster than as the updates come. */
GATHER_INLINE void fetch_part(const partition *p, int64_t part, int64_t count) {
  const gather_scatter_plan *plan = p->s->plan;
  const int64_t first = part << p->shift, places = least(plan->places - first, INT64_C(1) << p->shift);
  if (count < places * plan->place_step / LINE / 2) return;
  const char *at = p->s->out + plan->place_low + first * plan->place_step;
  for (int64_t byte = 0; byte < places * plan->place_step; byte += LINE) GATHER_PREFETCH(at + byte);
}

/* Applies entries that have values. The places of a block are widened for the kernel. */
static void apply_part(void *argument, int64_t part) {
  const partition *p = argument;
  const gather_scatter_plan *plan = p->s->plan;
  int64_t rows[GATHER_SCATTER_BLOCK];
  const int64_t bytes = entry_bytes(p->kind), end = part_end(p, part);
  gather_combine_span span = {.out = p->s->out + plan->place_low, .rows = rows, .axis_step = plan->place_step, .update_step = bytes};
  span.len = plan->len, span.row_bytes = plan->nest.row_bytes;
  int64_t i = part_start(p, part);
  fetch_part(p, part, end - i);
  for (int64_t now; i < end; i += now) {
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

void gather_scatter_in_parts(const gather_scattering *s, int64_t first, int64_t count, void *memory) {
  partition p = parts_of(s, first, count);
  p.entries = (char *)memory + (-(uintptr_t)memory & (LINE - 1));
  set_side(&p, p.entries + count * entry_bytes(p.kind));
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
} part_sorting;

static void sort_part(void *argument, int64_t part) {
  const part_sorting *s = argument;
  const int64_t first = part_start(s->p, part);
  sort_run(s->entries + first, s->scratch + first, part_end(s->p, part) - first, s->p->position_bits, s->p->shift);
}

bool gather_scatter_sort_all(const gather_scattering *s, gather_sorted *sorted) {
  enum { PART = 8192 /* entries, of which two copies fit a cache */ };
  const int64_t rows = s->plan->nest.row_count;
  partition p = partition_of(s, 0, rows, NUMBERED, rows / PART + 1);
  const int64_t bytes = rows * (int64_t)sizeof(uint64_t);
  if (rows > INT64_MAX / 32) return false;
  sorted->memory = gather_alloc_unset(bytes + LINE);
  char *more = gather_alloc_unset(bytes + side_bytes(&p));
  if (!sorted->memory || !more) {
    gather_free(sorted->memory);
    gather_free(more);
    sorted->memory = NULL;
    return false;
  }
  p.entries = (char *)sorted->memory + (-(uintptr_t)sorted->memory & (LINE - 1));
  set_side(&p, more + bytes);
  sorted->entries = (uint64_t *)(void *)p.entries;
  sorted->count = partition_updates(&p), sorted->position_bits = p.position_bits;
  part_sorting job = {&p, sorted->entries, (uint64_t *)(void *)more};
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

/* The rows of updates are not in the order of their places: those of the entries behind [first, end) are fetched ahead. */
GATHER_INLINE void fetch_updates(const segments *g, int64_t first, int64_t end) {
  enum { BEHIND = 4, MOST = 64, LINES = 8 };
  const int64_t bytes = g->s->plan->nest.row_bytes, last = least(end + BEHIND + least(end - first, MOST), g->sorted->count);
  for (int64_t i = end + BEHIND; i < last; i++)
    gather_prefetch_row(g->s->updates + offset_of(g->s->plan, number_of(g->sorted, i)), least((bytes - 1) / LINE + 1, LINES));
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
    fetch_updates(g, i, end);
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
