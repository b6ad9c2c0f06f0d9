/* SPDX-License-Identifier: MIT
 *
 * scatter_stream.c: methods that run through the updates in their order, and need no memory. Tasks share the destination, never a row of
 * it: each takes the rounds of a loop that write apart, some columns of all rows, or the rows of a range.
 */
#include <string.h>

#include "core/kernel/copy.h"
#include "core/kernel/dispatch.h"
#include "core/kernel/tuning.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t magnitude(int64_t step) { return step < 0 ? -step : step; }

/* Whether some updates are skipped. */
static bool may_skip(const gather_scattering *s) {
  return s->e.form == GATHER_FORM_REPAIRED && s->plan->nest.rule.on_bad == GATHER_ON_BAD_ZERO;
}

static void resolve(const gather_scattering *s, const char *indices, int64_t step, int64_t count, int64_t *rows) {
  if (s->e.form == GATHER_FORM_REPAIRED)
    gather_columns_resolve(&s->plan->nest, indices, step, count, rows);
  else
    gather_resolve_rows(&s->e, indices, step, count, rows);
}

/* ---- blocks of places */

/* Whether rows can be read from the indices themselves. */
static bool is_plain(const gather_scattering *s, const char *indices, int64_t step) {
  const gather_plan *nest = &s->plan->nest;
  if (s->e.form != GATHER_FORM_PLAIN || nest->column_count > 1 || step != 8) return false;
  return gather_type_row(nest->rule.type)->bits == 64 && (uintptr_t)indices % sizeof(int64_t) == 0;
}

/* The rows of the next updates of a walk, of several rounds if these are short: resolved, or the indices themselves. */
static const int64_t *resolve_next(const gather_scattering *s, const gather_walk *walk, int64_t most, int64_t *rows, int64_t *rounds,
                                   int64_t *count) {
  const gather_loop *inner = &walk->loops[walk->count - 1];
  const char *indices = s->e.indices + walk->index;
  const int64_t whole = gather_walk_rounds_left(walk);
  *rounds = 0, *count = least(gather_walk_left(walk), most);
  if (whole > 1 && inner->len <= most / 2 && inner[-1].index == inner->index * inner->len && inner->index != 0) {
    *rounds = least(whole, most / inner->len);
    *count = *rounds * inner->len;
  }
  if (is_plain(s, indices, inner->index)) return (const int64_t *)(const void *)indices;
  resolve(s, indices, inner->index, *count, rows);
  return rows;
}

/* Adds part of one round. Loops without branches, which vector units run. */
static void add_places(const gather_plan *nest, const gather_walk *walk, const int64_t *restrict rows, int64_t count, int64_t number,
                       gather_places *restrict block) {
  const gather_loop *inner = &walk->loops[walk->count - 1];
  const int64_t place = nest->data_offset + walk->data, from = nest->out_offset + walk->out, axis_step = nest->axis_step;
  int64_t *restrict places = block->places + block->count, *restrict offsets = block->from + block->count;
  int64_t *restrict numbers = block->numbers + block->count;
  /* Vector units shift numbers of 8 bytes, but do not multiply them. */
  if (axis_step > 0 && (axis_step & (axis_step - 1)) == 0) {
    int shift = 0;
    while (INT64_C(1) << shift < axis_step) shift++;
    for (int64_t j = 0; j < count; j++) places[j] = place + (int64_t)((uint64_t)rows[j] << shift);
  } else {
    for (int64_t j = 0; j < count; j++) places[j] = place + rows[j] * axis_step;
  }
  if (inner->data != 0)
    for (int64_t j = 0; j < count; j++) places[j] += j * inner->data;
  for (int64_t j = 0; j < count; j++) offsets[j] = from + j * inner->out, numbers[j] = number + j;
  block->count += (int32_t)count;
}

/* The same, if some are skipped. */
static void add_some_places(const gather_plan *nest, const gather_walk *walk, const int64_t *rows, int64_t count, int64_t number,
                            gather_places *block) {
  const gather_loop *inner = &walk->loops[walk->count - 1];
  int64_t place = nest->data_offset + walk->data, from = nest->out_offset + walk->out;
  int32_t at = block->count;
  for (int64_t j = 0; j < count; j++, place += inner->data, from += inner->out) {
    block->places[at] = place + rows[j] * nest->axis_step, block->from[at] = from, block->numbers[at] = number + j;
    at += rows[j] != GATHER_ROW_FILL;
  }
  block->count = at;
}

int64_t gather_places_next(const gather_scattering *s, gather_walk *walk, int64_t most, int64_t number, gather_places *block) {
  int64_t rows[GATHER_SCATTER_BLOCK], done = 0;
  const bool skips = may_skip(s);
  block->count = 0;
  most = least(most, GATHER_SCATTER_BLOCK);
  while (done < most) {
    int64_t rounds, now;
    const int64_t *found = resolve_next(s, walk, most - done, rows, &rounds, &now);
    const int64_t len = rounds ? now / rounds : now;
    for (int64_t j = 0; j < now; j += len) {
      if (skips)
        add_some_places(&s->plan->nest, walk, found + j, len, number + done + j, block);
      else
        add_places(&s->plan->nest, walk, found + j, len, number + done + j, block);
      gather_walk_next(walk, len);
    }
    done += now;
  }
  return done;
}

void gather_places_keep(gather_places *block, int64_t low, int64_t span) {
  int32_t kept = 0;
  for (int32_t j = 0; j < block->count; j++) {
    const int64_t place = block->places[j], from = block->from[j];
    block->places[kept] = place, block->from[kept] = from;
    kept += (uint64_t)(place - low) < (uint64_t)span;
  }
  block->count = kept;
}

/* ---- prefetching */

enum {
  MOST_AHEAD = 256, /* rows */
  LINE = 64,
  MOST_LINES = 8, /* of a row; the CPU itself fetches the rest */
  LEAST_BLOCK = 16,
  SHORT_ROUND = 48
};

static int64_t between(int64_t low, int64_t value, int64_t high) { return value < low ? low : value > high ? high : value; }

/* bytes: of all places. */
void gather_scatter_set_prefetch(gather_combine_span *span, int64_t bytes) {
  span->prefetch_rows = span->prefetch_lines = 0;
  if (bytes <= gather_cache_bytes()) return;
  const int64_t rows = gather_tuned(GATHER_TUNING_prefetch_bytes) / span->row_bytes;
  span->prefetch_rows = between(2, rows, between(2, gather_tuned(GATHER_TUNING_prefetch_rows), MOST_AHEAD));
  span->prefetch_lines = least((span->row_bytes - 1) / LINE + 1, MOST_LINES);
}

int64_t gather_blocks_most(const gather_blocks *b, int64_t left) {
  if (b->span.prefetch_lines == 0) return left;
  const int64_t rows = gather_tuned(GATHER_TUNING_prefetch_bytes) / b->span.row_bytes;
  return least(left, rows < LEAST_BLOCK ? LEAST_BLOCK : rows);
}

static gather_combine_span span_of_block(const gather_blocks *b, int32_t which) {
  gather_combine_span span = b->span;
  const gather_places *block = &b->blocks[which];
  span.rows = block->places, span.places = block->from, span.count = block->count;
  return span;
}

static void apply_block(const gather_blocks *b, int32_t which) {
  const gather_combine_span span = span_of_block(b, which);
  if (span.count > 0) b->combine(&span);
}

void gather_blocks_put(gather_blocks *b) {
  const gather_combine_span span = span_of_block(b, b->at);
  gather_combine_fetch(&span, b->fetches_updates);
  b->at = 1 - b->at;
  apply_block(b, b->at);
}

void gather_blocks_end(gather_blocks *b) { apply_block(b, 1 - b->at); }

/* ---- updates in their order */

/* Columns [first, first + len) of the rows. */
typedef struct {
  int64_t first, len;
  gather_combine_fn combine;
} columns;

static columns all_columns(const gather_scatter_plan *plan) { return (columns){0, plan->len, plan->combine}; }

static gather_combine_span span_of(const gather_scattering *s, const columns *c) {
  const gather_scatter_plan *plan = s->plan;
  gather_combine_span span = {0};
  span.out = s->out + c->first * plan->item_bytes, span.updates = s->updates + c->first * plan->item_bytes;
  span.len = c->len, span.row_bytes = c->len * plan->item_bytes, span.axis_step = 1;
  gather_scatter_set_prefetch(&span, plan->places * plan->place_step);
  return span;
}

/* Part of a long round: its rows and updates have one step each. */
static void stream_round(const gather_scattering *s, const gather_walk *walk, int64_t count, gather_combine_span span,
                         gather_combine_fn combine) {
  const gather_plan *nest = &s->plan->nest;
  const gather_loop *inner = &walk->loops[walk->count - 1];
  const char *indices = s->e.indices + walk->index;
  const bool plain = is_plain(s, indices, inner->index);
  int64_t rows[GATHER_SCATTER_BLOCK + MOST_AHEAD], known = 0;
  span.out += nest->data_offset + walk->data, span.updates += nest->out_offset + walk->out;
  span.axis_step = nest->axis_step, span.out_step = inner->data, span.update_step = inner->out;
  for (int64_t now; count > 0; count -= now) {
    now = least(count, plain ? count : GATHER_SCATTER_BLOCK);
    span.count = now, span.more = least(count - now, span.prefetch_rows);
    span.rows = plain ? (const void *)indices : rows;
    if (!plain) {
      const int64_t wanted = now + span.more - known;
      resolve(s, indices + known * inner->index, inner->index, wanted, rows + known);
    }
    combine(&span);
    if (!plain) memmove(rows, rows + now, (size_t)span.more * sizeof *rows), known = span.more;
    indices += now * inner->index;
    span.out += now * inner->data, span.updates += now * inner->out;
  }
}

/* The places of a round. */
typedef struct {
  int64_t low, bytes; /* from the place of an index 0 on */
  int64_t lines;      /* 0: they are not worth fetching as a whole */
} round_places;

/* Rounds that write most lines of their places, which fit L2: to fetch them in order, a round ahead, is faster than one by one. */
static round_places places_of_rounds(const gather_plan *nest, const gather_loop *inner) {
  enum { MOST_BYTES = 1 << 16 };
  const int64_t axis = (nest->rule.axis_len - 1) * nest->axis_step, along = (inner->len - 1) * inner->data;
  const int64_t bytes = magnitude(axis) + magnitude(along) + nest->row_bytes, lines = (bytes - 1) / LINE + 1;
  round_places places = {(axis < 0 ? axis : 0) + (along < 0 ? along : 0), bytes, 0};
  if (nest->column_count == 1 && bytes <= MOST_BYTES && inner->len >= lines / 2) places.lines = lines;
  return places;
}

static void fetch_round(const gather_scattering *s, const gather_walk *walk, const round_places *places) {
  gather_prefetch_row(s->out + s->plan->nest.data_offset + walk->data + places->low, places->lines);
}

bool gather_scatter_fills_rounds(const gather_scattering *s) {
  const gather_scatter_plan *plan = s->plan;
  const gather_plan *nest = &plan->nest;
  if (!plan->dense || nest->loop_count < 2 || may_skip(s) || plan->places * plan->place_step <= gather_cache_bytes()) return false;
  const gather_loop *inner = &nest->loops[nest->loop_count - 1];
  if (inner->len < SHORT_ROUND || inner->data != 0) return false;
  const round_places places = places_of_rounds(nest, inner);
  for (const gather_loop *loop = nest->loops; loop < inner; loop++)
    if (magnitude(loop->data) < places.bytes) return false;
  return places.lines > 0 && nest->row_count / inner->len == plan->data_extent.high / places.bytes &&
         plan->data_extent.high % places.bytes == 0;
}

static void fill_round(const gather_scattering *s, const gather_walk *walk, const round_places *places) {
  const int64_t at = s->plan->nest.data_offset + walk->data + places->low;
  if (s->fill)
    memcpy(s->out + at, s->fill + at, (size_t)places->bytes);
  else
    memset(s->out + at, 0, (size_t)places->bytes);
}

/* The next `count` updates of a walk, a round at a time. */
static void stream_rounds(const gather_scattering *s, gather_walk *walk, int64_t count, const columns *c) {
  gather_combine_span span = span_of(s, c);
  round_places places = {0, 0, 0};
  if (span.prefetch_rows > 0 && (s->fills || count > walk->loops[walk->count - 1].len))
    places = places_of_rounds(&s->plan->nest, &walk->loops[walk->count - 1]);
  if (places.lines > 0) span.prefetch_rows = 0;
  if (places.lines > 0 && !s->fills) fetch_round(s, walk, &places);
  for (int64_t now; count > 0; count -= now) {
    gather_walk next = *walk;
    now = least(gather_walk_left(walk), count);
    gather_walk_next(&next, now);
    if (s->fills)
      fill_round(s, walk, &places);
    else if (places.lines > 0 && count > now)
      fetch_round(s, &next, &places);
    stream_round(s, walk, now, span, c->combine);
    *walk = next;
  }
}

/* The same for short rounds, and where some are skipped. */
static void stream_blocks(const gather_scattering *s, gather_walk *walk, int64_t count, const columns *c) {
  gather_blocks b;
  gather_blocks_start(&b, span_of(s, c), c->combine, !s->plan->linear);
  while (count > 0) {
    count -= gather_places_next(s, walk, gather_blocks_most(&b, count), 0, &b.blocks[b.at]);
    gather_blocks_put(&b);
  }
  gather_blocks_end(&b);
}

/* The next `count` updates of a walk. */
static void stream(const gather_scattering *s, gather_walk *walk, int64_t count, const columns *c) {
  (!may_skip(s) && walk->loops[walk->count - 1].len >= SHORT_ROUND ? stream_rounds : stream_blocks)(s, walk, count, c);
}

/* Rows that do not start or end on whole bytes. */
static void stream_bits(const gather_scattering *s, gather_walk *walk, int64_t count) {
  const gather_plan *nest = &s->plan->nest;
  gather_places block;
  while (count > 0) {
    count -= gather_places_next(s, walk, count, 0, &block);
    for (int32_t j = 0; j < block.count; j++)
      gather_bits_copy(&nest->layout, s->out, block.places[j], s->updates, block.from[j], nest->row_bytes);
  }
}

void gather_scatter_serially(const gather_scattering *s, int64_t first, int64_t count) {
  const gather_plan *nest = &s->plan->nest;
  const columns all = all_columns(s->plan);
  gather_walk walk;
  gather_walk_start(&walk, nest->loops, nest->loop_count, first);
  if (nest->packed)
    stream_bits(s, &walk, count);
  else
    stream(s, &walk, count, &all);
}

/* ---- loops whose rounds write apart */

/* A loop whose step is at least as long as what a round of it spans: the longest one; -1: none. */
static int32_t find_apart(const gather_scatter_plan *plan, int64_t threads) {
  const gather_plan *nest = &plan->nest;
  const int64_t all = (plan->places - 1) * plan->place_step + nest->row_bytes;
  int32_t best = -1;
  for (int32_t i = 0; i < nest->loop_count; i++) {
    const gather_loop *loop = &nest->loops[i];
    if (loop->len < 2 || magnitude(loop->data) < all - magnitude(loop->data) * (loop->len - 1)) continue;
    if (loop->len >= 2 * threads) return i;
    if (best < 0 || loop->len > nest->loops[best].len) best = i;
  }
  return best >= 0 && nest->loops[best].len >= threads ? best : -1;
}

typedef struct {
  const gather_scattering *s;
  int32_t loop;
} rounds_apart;

static void run_rounds(void *argument, int64_t first, int64_t last) {
  const rounds_apart *a = argument;
  const gather_plan *nest = &a->s->plan->nest;
  const columns all = all_columns(a->s->plan);
  gather_loop loops[GATHER_MAX_RANK];
  gather_walk walk;
  memcpy(loops, nest->loops, (size_t)nest->loop_count * sizeof *loops);
  const gather_loop *part = &loops[a->loop];
  loops[a->loop].len = last - first;
  gather_walk_start(&walk, loops, nest->loop_count, 0);
  walk.data += first * part->data, walk.index += first * part->index, walk.out += first * part->out;
  stream(a->s, &walk, nest->row_count / nest->loops[a->loop].len * (last - first), &all);
}

bool gather_scatter_apart(const gather_scattering *s) {
  const gather_plan *nest = &s->plan->nest;
  if (!s->executor || s->executor->threads < 2 || nest->packed) return false;
  rounds_apart a = {s, find_apart(s->plan, s->executor->threads)};
  if (a.loop < 0) return false;
  const int64_t len = nest->loops[a.loop].len;
  gather_split(s->executor, len, nest->row_count / len * (nest->row_bytes + LINE), 1, run_rounds, &a);
  return true;
}

/* ---- columns, and ranges of the destination: each task reads all indices of [first, first + count) */

typedef struct {
  const gather_scattering *s;
  int64_t first, count, piece; /* columns, or bytes of the destination, for each task */
} update_shares;

enum { COLUMN_BYTES = 128 /* at least, for a task */ };

static void run_columns(void *argument, int64_t i) {
  const update_shares *c = argument;
  const gather_scatter_plan *plan = c->s->plan;
  const char *isa;
  columns some = {i * c->piece, least(c->piece, plan->len - i * c->piece), NULL};
  gather_walk walk;
  some.combine = gather_kernel_combine(plan->options.reduction, plan->type, plan->item_bytes, some.len, &isa);
  gather_walk_start(&walk, plan->nest.loops, plan->nest.loop_count, c->first);
  stream(c->s, &walk, c->count, &some);
}

bool gather_scatter_has_columns(const gather_scattering *s) {
  return s->executor && !s->plan->nest.packed && s->plan->nest.row_bytes / COLUMN_BYTES >= s->executor->threads;
}

/* Pieces are whole lines, so that no two tasks write the same one if the rows begin on lines. */
void gather_scatter_by_columns(const gather_scattering *s, int64_t first, int64_t count) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t unit = plan->item_bytes < LINE ? LINE / plan->item_bytes : 1;
  update_shares c = {s, first, count, ((plan->len - 1) / s->executor->threads / unit + 1) * unit};
  s->executor->parallel_for(s->executor->context, (plan->len - 1) / c.piece + 1, run_columns, &c);
}

static void run_owner(void *argument, int64_t i) {
  const update_shares *o = argument;
  const gather_scattering *s = o->s;
  const gather_plan *nest = &s->plan->nest;
  const columns all = all_columns(s->plan);
  const int64_t low = s->plan->place_low + i * o->piece;
  gather_blocks b;
  gather_walk walk;
  gather_blocks_start(&b, span_of(s, &all), all.combine, true);
  gather_walk_start(&walk, nest->loops, nest->loop_count, o->first);
  for (int64_t left = o->count; left > 0;) {
    left -= gather_places_next(s, &walk, left, 0, &b.blocks[b.at]);
    gather_places_keep(&b.blocks[b.at], low, o->piece);
    gather_blocks_put(&b);
  }
  gather_blocks_end(&b);
}

void gather_scatter_owned(const gather_scattering *s, int64_t first, int64_t count) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t places = (plan->places - 1) / s->executor->threads + 1;
  update_shares o = {s, first, count, places * plan->place_step};
  s->executor->parallel_for(s->executor->context, (plan->places - 1) / places + 1, run_owner, &o);
}
