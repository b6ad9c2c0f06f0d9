/* SPDX-License-Identifier: MIT
 *
 * scatter_run.c: runs a scatter. Indices are validated and memory is taken before the first element is written; then data is copied, and
 * the updates are applied by the method that suits their sizes.
 */
#include <stdatomic.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/dispatch.h"
#include "core/op/op.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"
#include "core/system/clock.h"

/* What decides how a scatter is run. */
enum {
  LINE_BYTES = 64,
  SMALL = 1 << 16,      /* bytes of updates and places: less is done before a thread is awake */
  TRIED = 1 << 22,      /* the same: from here on methods are timed */
  TRIAL_SHARE = 16,     /* of the updates, for the trial of a method */
  TRIED_ROWS = 1 << 16, /* of these, at most */
  GAIN = 10,            /* per cent, that another method must be faster than the first */
  FEW_PLACES = 64,      /* for a thread: ranges of fewer are uneven */
  MANY_THREADS = 4,
  LONG_ROW = 1024, /* bytes: threads wait for memory all the time, but for a trial's noise */
  FEW_FOR_PARTS = 1 << 18
};

/* ---- indices */

/* The indices of a run, which are validated: the caller's, or a private copy of those that others may write. */
typedef struct {
  char *copy; /* on the heap, or NULL */
  int64_t bad;
  gather_index_state state;
} indices_held;

/* Tuples without numbers: an index 0 serves every row. */
static const int64_t ZERO = 0;

/* Indices in memory that nobody writes. */
static gather_status copy_shared(const gather_plan *nest, const void *indices, const gather_executor *executor, indices_held *held,
                                 gather_error *error) {
  if (!indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  held->copy = gather_alloc(nest->index_count * (gather_type_row(nest->rule.type)->bits / 8));
  if (!held->copy) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the indices");
  gather_shared_copy_all(nest, indices, executor, held->copy);
  return GATHER_OK;
}

typedef struct {
  const gather_plan *nest;
  const char *indices;
  atomic_bool differ;
} rounds_seen;

static void compare_rounds(void *argument, int64_t first, int64_t last) {
  rounds_seen *r = argument;
  const gather_loop *inner = &r->nest->loops[r->nest->loop_count - 1];
  gather_walk walk;
  gather_walk_start(&walk, r->nest->loops, r->nest->loop_count - 1, first);
  for (; first < last && !atomic_load_explicit(&r->differ, memory_order_relaxed); first++) {
    const char *at = r->indices + walk.index;
    if (memcmp(at, at + inner->index, (size_t)((inner->len - 1) * inner->index)) != 0) atomic_store(&r->differ, true);
    gather_walk_next(&walk, 1);
  }
}

/* Whether indices are equal in each round of the innermost loop: a look at three rounds, then at all. */
static bool are_rounds_equal(const gather_plan *nest, const char *indices, const gather_executor *executor) {
  const gather_loop *inner = &nest->loops[nest->loop_count - 1];
  const int64_t rounds = nest->row_count / inner->len;
  rounds_seen r = {.nest = nest, .indices = indices};
  atomic_init(&r.differ, false);
  compare_rounds(&r, 0, 1), compare_rounds(&r, rounds / 2, rounds / 2 + 1), compare_rounds(&r, rounds - 1, rounds);
  if (!atomic_load(&r.differ)) gather_split(executor, rounds, inner->len * inner->index, 1, compare_rounds, &r);
  return !atomic_load(&r.differ);
}

/* How validated indices are read. */
static void set_execution(gather_execution *e, const gather_plan *nest, const char *indices, gather_index_state state) {
  const int64_t width = gather_type_row(nest->rule.type)->bits / 8;
  *e = (gather_execution){.plan = nest, .indices = indices, .form = gather_form_of(nest, state)};
  if (e->form != GATHER_FORM_REPAIRED && nest->column_count == 1 && nest->loops[nest->loop_count - 1].index == width)
    e->widen = gather_kernel_widen(nest->rule.type);
  e->fold = gather_columns_fold(nest, &e->axes);
}

/* Validates the indices of a run. *plan: becomes `wider`, the scatter of whole rows, if that is what it is. */
static gather_status hold_indices(const gather_scatter_plan **plan, gather_scatter_plan *wider, const void *indices,
                                  const gather_executor *executor, gather_execution *e, indices_held *held, gather_error *error) {
  const gather_plan *nest = &(*plan)->nest;
  gather_index_state state;
  gather_status status = GATHER_INDEX_OUT_OF_RANGE;
  *held = (indices_held){.bad = 0};
  *e = (gather_execution){.plan = nest, .indices = indices};
  if (nest->index_count == 0 && nest->row_count > 0) e->indices = (const char *)&ZERO;
  if (nest->shared && nest->index_count > 0) {
    GATHER_TRY(copy_shared(nest, indices, executor, held, error));
    e->indices = held->copy;
  }
  if (e->indices && wider && gather_scatter_may_widen(*plan) && are_rounds_equal(nest, e->indices, executor)) {
    const int64_t len = nest->loops[nest->loop_count - 1].len;
    gather_scatter_widen(*plan, wider);
    status = gather_plan_check_indices(&wider->nest, e->indices, false, executor, &state, &held->bad, NULL);
    held->bad *= len;
    if (status == GATHER_OK) *plan = wider, e->plan = nest = &wider->nest;
  }
  /* Also for an error, which is about the caller's indices. */
  if (status != GATHER_OK) GATHER_TRY(gather_plan_check_indices(nest, e->indices, false, executor, &state, &held->bad, error));
  if ((*plan)->empty) held->bad = 0; /* of updates without elements none is repaired */
  if (nest->row_count == 0) return GATHER_OK;
  if (!e->indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  held->state = state;
  set_execution(e, nest, e->indices, state);
  return GATHER_OK;
}

/* ---- repeated indices */

/* Among those before update number `end`, the first one with this place. */
static int64_t find_first(const gather_scattering *s, int64_t place, int64_t end) {
  const gather_plan *nest = &s->plan->nest;
  gather_places block;
  gather_walk walk;
  gather_walk_start(&walk, nest->loops, nest->loop_count, 0);
  for (int64_t at = 0, now; at < end; at += now) {
    now = gather_places_next(s, &walk, end - at, at, &block);
    for (int32_t j = 0; j < block.count; j++)
      if (block.places[j] == place) return block.numbers[j];
  }
  return -1;
}

/* The number of the index of an update, in row-major order. Its indices are dense. */
static int64_t index_of(const gather_plan *nest, int64_t update) {
  gather_walk walk;
  gather_walk_start(&walk, nest->loops, nest->loop_count, update);
  return walk.index / (gather_type_row(nest->rule.type)->bits / 8);
}

static gather_status blame(const gather_scattering *s, int64_t place, int64_t update, gather_error *error) {
  const gather_plan *nest = &s->plan->nest;
  const int64_t first = index_of(nest, find_first(s, place, update));
  return gather_plan_blame_repeated(&s->given->nest, s->e.indices, index_of(nest, update), first, error);
}

/* Marks each place that an update goes to. */
static gather_status mark_places(const gather_scattering *s, unsigned char *marks, gather_error *error) {
  const gather_scatter_plan *plan = s->plan;
  gather_places block;
  gather_walk walk;
  gather_walk_start(&walk, plan->nest.loops, plan->nest.loop_count, 0);
  for (int64_t at = 0, now; at < plan->nest.row_count; at += now) {
    now = gather_places_next(s, &walk, plan->nest.row_count - at, at, &block);
    for (int32_t j = 0; j < block.count; j++) {
      const uint64_t place = (uint64_t)(block.places[j] - plan->place_low) / (uint64_t)plan->place_step;
      unsigned char *mark = &marks[place >> 3];
      const unsigned bit = 1u << (place & 7);
      if (*mark & bit) return blame(s, block.places[j], block.numbers[j], error);
      *mark = (unsigned char)(*mark | bit);
    }
  }
  return GATHER_OK;
}

/* The first update, in their order, that repeats a place: the least second one of all segments. */
static gather_status check_sorted(const gather_scattering *s, const gather_sorted *sorted, gather_error *error) {
  const uint64_t mask = (UINT64_C(1) << sorted->position_bits) - 1;
  uint64_t repeated = UINT64_MAX, place = 0;
  for (int64_t i = 1; i < sorted->count; i++) {
    const uint64_t entry = sorted->entries[i], before = sorted->entries[i - 1];
    if (entry >> sorted->position_bits != before >> sorted->position_bits || (entry & mask) >= repeated) continue;
    repeated = entry & mask, place = entry >> sorted->position_bits;
  }
  if (repeated == UINT64_MAX) return GATHER_OK;
  return blame(s, s->plan->place_low + (int64_t)place * s->plan->place_step, (int64_t)repeated, error);
}

/* By a bit for each place, or, where that is much more than the updates, by sorting them. */
static gather_status check_unique(const gather_scattering *s, gather_error *error) {
  enum { FREE = 1 << 20, UPDATE = 16 }; /* bytes: always, and for each update */
  const gather_scatter_plan *plan = s->plan;
  gather_status status;
  gather_sorted sorted;
  if (plan->nest.row_count < 2 || (plan->data_len == 0 && !plan->empty)) return GATHER_OK; /* without data all updates are skipped */
  if (plan->places / 8 / UPDATE <= plan->nest.row_count + FREE / UPDATE) {
    unsigned char *marks = gather_alloc(plan->places / 8 + 1);
    if (!marks) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the places that are written");
    status = mark_places(s, marks, error);
    gather_free(marks);
    return status;
  }
  if (!gather_scatter_sortable(plan) || !gather_scatter_sort_all(s, &sorted))
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the places that are written");
  status = check_sorted(s, &sorted, error);
  gather_free(sorted.memory);
  return status;
}

gather_status gather_scatter_check_indices(const gather_scatter_plan *plan, const void *indices, const gather_executor *executor,
                                           int64_t *bad, gather_error *error) {
  gather_scattering s = {.plan = plan, .given = plan, .executor = executor};
  gather_scatter_plan wider;
  indices_held held;
  gather_status status = hold_indices(&s.plan, &wider, indices, executor, &s.e, &held, error);
  const bool partial = plan->windows.partial && held.bad > 0;
  if (status == GATHER_OK && plan->options.unique)
    status = partial ? plan->windows.scatter(&s, NULL, NULL, error) : check_unique(&s, error);
  if (status == GATHER_OK) *bad = held.bad;
  gather_free(held.copy);
  return status;
}

void gather_sorted_free(const gather_sorted *sorted) {
  if (sorted->instead) gather_sorted_free(&sorted->instead->sorted);
  gather_free(sorted->instead);
  gather_free(sorted->indices);
  gather_free(sorted->memory);
}

static gather_status sort_held(const gather_scattering *s, gather_sorted *sorted, gather_error *error) {
  *sorted = (gather_sorted){.count = 0};
  if (s->plan->nest.row_count == 0 || s->plan->empty) return GATHER_OK;
  if (!gather_scatter_sortable(s->plan))
    return gather_fail(error, GATHER_UNSUPPORTED, "the updates cannot be sorted: their elements are packed, or there are too many");
  if (!gather_scatter_sort_all(s, sorted)) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the sorted updates");
  return GATHER_OK;
}

static bool has_few_threads(const gather_executor *executor) { return !executor || executor->threads < MANY_THREADS; }

/* Whether a plan keeps its indices in their order, so that a run only saves the validation. Of sorted updates the rows are read at random,
 * which pays only where many threads share them. */
static bool keeps_order(const gather_scatter_plan *plan, const gather_executor *executor) {
  const gather_plan *nest = &plan->nest;
  const int64_t width = gather_type_row(nest->rule.type)->bits / 8;
  const int64_t bytes = nest->index_extent.high - nest->index_extent.low;
  int64_t wide_bytes;
  if (plan->empty || nest->row_count == 0 || (plan->sorts && !gather_scatter_wide_pays(plan, &wide_bytes))) return false;
  if (nest->index_count > 0 && (nest->shared || bytes / 2 > nest->index_count * width)) return false; /* or they are far apart */
  return has_few_threads(executor) || !gather_scatter_sortable(plan);
}

static gather_status copy_indices(const gather_plan *nest, const char *indices, gather_index_state state, gather_sorted *sorted,
                                  gather_error *error) {
  const gather_extent none = {0, (int64_t)sizeof ZERO}, extent = nest->index_count > 0 ? nest->index_extent : none;
  *sorted = (gather_sorted){.state = state, .indices = gather_alloc_unset(extent.high - extent.low)};
  if (!sorted->indices) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the indices");
  memcpy(sorted->indices, indices + extent.low, (size_t)(extent.high - extent.low));
  return GATHER_OK;
}

/* One index for each row, in their order. */
static void take_row_indices(gather_plan *nest, const char *indices, char *taken) {
  const int64_t width = gather_type_row(nest->rule.type)->bits / 8;
  gather_walk walk;
  gather_walk_start(&walk, nest->loops, nest->loop_count, 0);
  for (int64_t row = 0; row < nest->row_count; row++, gather_walk_next(&walk, 1))
    memcpy(taken + row * width, indices + walk.index, (size_t)width);
  for (int64_t i = nest->loop_count - 1, step = width; i >= 0; i--) {
    nest->loops[i].index = step;
    step *= nest->loops[i].len;
  }
  nest->index_extent = (gather_extent){0, nest->row_count * width}, nest->index_count = nest->row_count;
}

/* Keeps the scatter of whole rows that a plan is, if it is one. */
static gather_status keep_rows(const gather_scattering *s, gather_index_state state, gather_sorted *sorted, gather_error *error) {
  const gather_plan *nest = &s->plan->nest;
  const int64_t width = gather_type_row(nest->rule.type)->bits / 8;
  if (!gather_scatter_may_widen(s->plan) || nest->shared || s->plan->sorts || !are_rounds_equal(nest, s->e.indices, s->executor))
    return GATHER_OK;
  gather_scatter_plan *rows = gather_alloc(sizeof *rows);
  if (rows) gather_scatter_widen(s->plan, rows);
  char *taken = rows ? gather_alloc_unset(rows->nest.row_count * width) : NULL;
  if (!taken) {
    gather_free(rows);
    return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the indices");
  }
  take_row_indices(&rows->nest, s->e.indices, taken);
  rows->kept = true, rows->sorted = (gather_sorted){.indices = taken, .state = state};
  sorted->instead = rows;
  return GATHER_OK;
}

gather_status gather_scatter_sort(const gather_scatter_plan *plan, const void *indices, const gather_executor *executor, bool keeps,
                                  gather_sorted *sorted, int64_t *bad, gather_error *error) {
  gather_scattering s = {.plan = plan, .given = plan, .executor = executor};
  indices_held held;
  *sorted = (gather_sorted){.count = 0};
  gather_status status = hold_indices(&s.plan, NULL, indices, executor, &s.e, &held, error);
  const bool partial = plan->windows.partial && held.bad > 0;
  if (status == GATHER_OK && plan->options.unique && !partial) status = check_unique(&s, error);
  if (status == GATHER_OK && partial) {
    status = plan->windows.scatter(&s, NULL, &sorted->instead, error);
  } else if (status == GATHER_OK) {
    if (keeps && has_few_threads(executor)) status = keep_rows(&s, held.state, sorted, error);
    if (status == GATHER_OK && !sorted->instead)
      status = keeps && keeps_order(plan, executor) ? copy_indices(&plan->nest, s.e.indices, held.state, sorted, error)
                                                    : sort_held(&s, sorted, error);
  }
  if (status == GATHER_OK) *bad = held.bad;
  gather_free(held.copy);
  return status;
}

/* ---- data to the destination */

/* Sets the destination to data, or to zeros. */
static gather_status fill_out(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  static const int64_t STRIDES[GATHER_MAX_RANK] = {0};
  static const double ZEROS[2] = {0};
  if ((run->data == run->out && !plan->clears) || plan->data_len == 0) return GATHER_OK;
  if (plan->clears && plan->dense) {
    gather_whole_clear(run->out, plan->data_extent.high, run->executor);
    return GATHER_OK;
  }
  gather_tensor data = {.data = (void *)(uintptr_t)run->data, .type = plan->type, .rank = plan->rank, .shape = plan->shape};
  data.item_bytes = plan->item_bytes;
  gather_tensor out = data;
  data.strides = plan->data_strides, data.packed_offset = plan->data_offset;
  if (plan->clears) data.data = (void *)(uintptr_t)ZEROS, data.strides = STRIDES;
  out.data = run->out, out.strides = plan->out_strides, out.packed_offset = plan->out_offset;
  return gather_whole_copy(&data, &out, run->executor, error);
}

/* ---- methods. Updates are applied in consecutive ranges, each by any method: so each method that may be the fastest takes the next range,
 * is timed, and the fastest takes the rest. No update is applied twice. */

typedef enum { BY_SIZES = 0, SERIALLY, APART, OWNED, IN_PARTS, SORTED, BY_COLUMNS, WIDELY, METHODS } method;

/* What a run needs before it writes. */
typedef struct {
  method candidates[METHODS];
  int count;
  void *memory; /* of the parts, or of the wider copy */
  gather_sorted sorted;
  bool sorted_here;
} preparation;

/* Whether the places have more pages than a TLB covers, and updates are dense among them: fewer are faster to fetch ahead. */
static bool parts_may_pay(const gather_scatter_plan *plan) {
  const int64_t bytes = plan->places * plan->place_step;
  if (plan->nest.row_count < FEW_FOR_PARTS || bytes < gather_tuned(GATHER_TUNING_radix_bytes)) return false;
  return bytes / plan->nest.row_count < LINE_BYTES;
}

static bool is_out_of_cache(const gather_scatter_plan *plan) { return plan->places * plan->place_step > gather_cache_bytes(); }

/* Whether threads may gain: each reads all indices, which takes about a third as long as one thread takes to fetch and write short rows. */
static bool threads_may_pay(const gather_scatter_plan *plan, int64_t threads) {
  return plan->nest.row_bytes >= LINE_BYTES || (threads >= MANY_THREADS && is_out_of_cache(plan));
}

static void add(preparation *p, method candidate) { p->candidates[p->count++] = candidate; }

/* The methods that may be the fastest. */
static void choose(const gather_scattering *s, preparation *p) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t threads = s->executor ? s->executor->threads : 1, forced = gather_tuned(GATHER_TUNING_scatter_method);
  const int64_t work = plan->nest.row_count * (plan->nest.row_bytes + LINE_BYTES / 8);
  int64_t bytes;
  const bool are_sorted = plan->kept && !plan->sorted.indices;
  if (plan->sorts || are_sorted) {
    if (forced != SORTED && !are_sorted && gather_scatter_wide_pays(plan, &bytes)) p->memory = gather_alloc_unset(bytes);
    add(p, p->memory ? WIDELY : SORTED);
  } else if (plan->nest.packed) {
    add(p, SERIALLY);
  } else if (s->fills) {
    add(p, APART), add(p, SERIALLY);
  } else if (forced > BY_SIZES && forced < WIDELY) {
    add(p, (method)forced);
  } else {
    if (threads > 1 && work >= SMALL) add(p, APART);
    if (threads > 1 && work >= TRIED && plan->nest.row_bytes >= LONG_ROW && is_out_of_cache(plan) && plan->places >= FEW_PLACES * threads) {
      add(p, OWNED);
      return;
    }
    add(p, SERIALLY);
    if (work < TRIED) return;
    if (threads > 1 && threads_may_pay(plan, threads))
      add(p, gather_scatter_has_columns(s) && plan->places < FEW_PLACES * threads ? BY_COLUMNS : OWNED);
    if (parts_may_pay(plan)) add(p, IN_PARTS);
  }
}

/* Whether this run can use a method; takes its memory. */
static gather_status prepare_method(const gather_scattering *s, preparation *p, method m, bool *usable, gather_error *error) {
  const gather_scatter_plan *plan = s->plan;
  *usable = true;
  if (m == OWNED) *usable = s->executor != NULL;
  if (m == BY_COLUMNS) *usable = gather_scatter_has_columns(s);
  if (m == IN_PARTS) {
    const int64_t bytes = gather_scatter_parts_bytes(plan, s->executor);
    if (bytes >= 0 && bytes <= gather_tuned(GATHER_TUNING_scratch_bytes)) p->memory = gather_alloc_unset(bytes);
    *usable = p->memory != NULL;
  }
  if (m == SORTED && (!plan->kept || plan->sorted.indices)) {
    if (!plan->sorts && !gather_scatter_sortable(plan))
      *usable = false;
    else
      GATHER_TRY(sort_held(s, &p->sorted, error));
    p->sorted_here = *usable;
  }
  return GATHER_OK;
}

static gather_status prepare(const gather_scattering *s, preparation *p, gather_error *error) {
  int kept = 0;
  *p = (preparation){.sorted = s->plan->sorted};
  choose(s, p);
  for (int i = 0; i < p->count; i++) {
    bool usable;
    GATHER_TRY(prepare_method(s, p, p->candidates[i], &usable, error));
    if (usable) p->candidates[kept++] = p->candidates[i];
  }
  p->count = kept;
  return GATHER_OK;
}

static void apply_range(const gather_scattering *s, const preparation *p, method m, int64_t first, int64_t count) {
  if (m == BY_COLUMNS)
    gather_scatter_by_columns(s, first, count);
  else if (m == OWNED)
    gather_scatter_owned(s, first, count);
  else if (m == IN_PARTS)
    gather_scatter_in_parts(s, first, count, p->memory);
  else
    gather_scatter_serially(s, first, count);
}

static void apply(const gather_scattering *s, const preparation *p) {
  const int64_t all = s->plan->nest.row_count, share = all / TRIAL_SHARE, trial = share < TRIED_ROWS ? share : TRIED_ROWS;
  int64_t done = 0, least = INT64_MAX;
  if (p->count == 0) {
    gather_scatter_serially(s, 0, all);
    return;
  }
  if (p->candidates[0] == SORTED) {
    gather_scatter_sorted(s, &p->sorted);
    return;
  }
  if (p->candidates[0] == WIDELY) {
    gather_scatter_widely(s, p->memory);
    return;
  }
  const int from = p->candidates[0] == APART;
  if (from && gather_scatter_apart(s)) return;
  method fastest = from < p->count ? p->candidates[from] : SERIALLY;
  for (int i = from; i < p->count && p->count - from > 1; i++, done += trial) {
    const int64_t start = gather_clock();
    apply_range(s, p, p->candidates[i], done, trial);
    const int64_t time = (gather_clock() - start) * (i > from ? 100 + GAIN : 100);
    if (time < least) least = time, fastest = p->candidates[i];
  }
  apply_range(s, p, fastest, done, all - done);
}

/* ---- the whole */

static gather_status check_memory(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  const gather_plan *nest = &plan->nest;
  const bool in_place = run->data == run->out && plan->same_layout;
  const char *input = NULL;
  if (gather_extents_meet(run->out, &nest->data_extent, run->data, &plan->data_extent) && !in_place) input = "data";
  if (!plan->kept && gather_extents_meet(run->out, &nest->data_extent, run->indices, &nest->index_extent)) input = "indices";
  if (gather_extents_meet(run->out, &nest->data_extent, run->updates, &nest->out_extent)) input = "updates";
  if (input) return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", input);
  if (plan->data_len > 0 && nest->data_extent.high > nest->data_extent.low) {
    if (!run->data) return gather_fail_input(error, GATHER_USAGE, "data", "the data pointer is NULL");
    if (!run->out) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  }
  if (nest->row_count > 0 && !plan->empty && !run->updates)
    return gather_fail_input(error, GATHER_USAGE, "updates", "the updates' data pointer is NULL");
  return GATHER_OK;
}

/* Indices are validated. */
/* Whether what is in the destination at first is put there round by round, and what that is. */
static void set_fill(gather_scattering *s, const gather_scatter_run *run) {
  const gather_scatter_plan *plan = s->plan;
  const int64_t forced = gather_tuned(GATHER_TUNING_scatter_method);
  const bool in_place = run->data == run->out && !plan->clears;
  if (in_place || !plan->same_layout || plan->sorts || plan->empty || plan->nest.packed || forced > APART) return;
  if (plan->kept && !plan->sorted.indices) return;
  s->fills = gather_scatter_fills_rounds(s);
  s->fill = plan->clears ? NULL : run->data;
}

static gather_status write_all(gather_scattering *s, const gather_scatter_run *run, gather_error *error) {
  preparation p = {.count = 0};
  /* Without data all updates are skipped: the axis has no place. */
  const bool any = s->plan->nest.row_count > 0 && s->plan->data_len > 0 && !s->plan->empty;
  if (any) set_fill(s, run);
  if (any) GATHER_TRY(prepare(s, &p, error));
  const gather_status status = s->fills ? GATHER_OK : fill_out(s->plan, run, error);
  if (status == GATHER_OK && any) apply(s, &p);
  gather_free(p.memory);
  if (p.sorted_here) gather_free(p.sorted.memory);
  return status;
}

/* Of a plan that keeps another scatter. */
static gather_status execute_other(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  gather_scatter_run inner = *run;
  inner.bad_count = NULL;
  GATHER_TRY(gather_scatter_execute(plan->sorted.instead, &inner, error));
  if (run->bad_count) *run->bad_count = plan->kept_bad;
  return GATHER_OK;
}

gather_status gather_scatter_execute(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  gather_scattering s = {.plan = plan, .given = plan, .out = run->out, .updates = run->updates, .executor = run->executor};
  gather_scatter_plan wider;
  indices_held held = {.bad = plan->kept_bad};
  GATHER_TRY(gather_executor_check(run->executor, error));
  GATHER_TRY(check_memory(plan, run, error));
  if (plan->kept && plan->sorted.instead) return execute_other(plan, run, error);
  if (plan->kept && plan->sorted.indices)
    set_execution(&s.e, &plan->nest, plan->sorted.indices - plan->nest.index_extent.low, plan->sorted.state);
  gather_status status = plan->kept ? GATHER_OK : hold_indices(&s.plan, &wider, run->indices, run->executor, &s.e, &held, error);
  const bool partial = plan->windows.partial && held.bad > 0;
  if (status == GATHER_OK && plan->options.unique && !plan->kept && !partial) status = check_unique(&s, error);
  if (status == GATHER_OK) status = partial ? plan->windows.scatter(&s, run, NULL, error) : write_all(&s, run, error);
  if (status == GATHER_OK && run->bad_count) *run->bad_count = held.bad;
  gather_free(held.copy);
  return status;
}
