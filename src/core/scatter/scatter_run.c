/* SPDX-License-Identifier: MIT
 *
 * scatter_run.c: runs a scatter. Indices are validated and memory is taken before the first element is written; then data is copied, and the
 * updates are applied by the method that suits their sizes.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/dispatch.h"
#include "core/op/op.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"
#include "core/scatter/scatter_plan.h"

/* ---- indices */

/* The indices of a run, which are validated: the caller's, or a private copy of those that others may write. */
typedef struct {
  char *copy; /* on the heap, or NULL */
  int64_t bad;
} indices_held;

/* Tuples without numbers: an index 0 serves every row. */
static const int64_t ZERO = 0;

static gather_status hold_indices(const gather_plan *nest, const void *indices, const gather_executor *executor, gather_execution *e,
                                  indices_held *held, gather_error *error) {
  gather_index_state state;
  held->copy = NULL, held->bad = 0;
  *e = (gather_execution){.plan = nest, .indices = indices};
  if (nest->index_count == 0 && nest->row_count > 0) e->indices = (const char *)&ZERO;
  if (nest->shared && nest->index_count > 0) {
    if (!indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
    held->copy = gather_alloc(nest->index_count * (gather_type_row(nest->rule.type)->bits / 8));
    if (!held->copy) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the indices");
    gather_shared_copy_all(nest, indices, executor, held->copy);
    e->indices = held->copy;
  }
  GATHER_TRY(gather_plan_check_indices(nest, e->indices, false, executor, &state, &held->bad, error));
  if (nest->row_count == 0) return GATHER_OK;
  if (!e->indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  e->form = gather_form_of(nest, state);
  const int64_t width = gather_type_row(nest->rule.type)->bits / 8;
  if (e->form == GATHER_FORM_WIDENED && nest->column_count == 1 && nest->loops[nest->loop_count - 1].index == width)
    e->widen = gather_kernel_widen(nest->rule.type);
  e->fold = gather_columns_fold(nest, &e->axes);
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
  return gather_plan_blame_repeated(nest, s->e.indices, index_of(nest, update), index_of(nest, find_first(s, place, update)), error);
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
  if (plan->nest.row_count < 2) return GATHER_OK;
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
  gather_free(sorted.entries);
  return status;
}

gather_status gather_scatter_check_indices(const gather_scatter_plan *plan, const void *indices, const gather_executor *executor,
                                           int64_t *bad, gather_error *error) {
  gather_scattering s = {.plan = plan, .executor = executor};
  indices_held held;
  gather_status status = hold_indices(&plan->nest, indices, executor, &s.e, &held, error);
  if (status == GATHER_OK && plan->options.unique) status = check_unique(&s, error);
  if (status == GATHER_OK) *bad = held.bad;
  gather_free(held.copy);
  return status;
}

static gather_status sort_held(const gather_scattering *s, gather_sorted *sorted, gather_error *error) {
  *sorted = (gather_sorted){NULL, 0, 0};
  if (s->plan->nest.row_count == 0) return GATHER_OK;
  if (!gather_scatter_sortable(s->plan))
    return gather_fail(error, GATHER_UNSUPPORTED, "the updates cannot be sorted: elements are packed, or they are too many");
  if (!gather_scatter_sort_all(s, sorted)) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the sorted updates");
  return GATHER_OK;
}

gather_status gather_scatter_sort(const gather_scatter_plan *plan, const void *indices, const gather_executor *executor,
                                  gather_sorted *sorted, int64_t *bad, gather_error *error) {
  gather_scattering s = {.plan = plan, .executor = executor};
  indices_held held;
  gather_status status = hold_indices(&plan->nest, indices, executor, &s.e, &held, error);
  if (status == GATHER_OK && plan->options.unique) status = check_unique(&s, error);
  if (status == GATHER_OK) status = sort_held(&s, sorted, error);
  if (status == GATHER_OK) *bad = held.bad;
  gather_free(held.copy);
  return status;
}

/* ---- data to the destination */

typedef struct {
  const char *data;
  char *out;
} copying;

static void copy_part(void *argument, int64_t first, int64_t last) {
  const copying *c = argument;
  memcpy(c->out + first, c->data + first, (size_t)(last - first));
}

static void clear_part(void *argument, int64_t first, int64_t last) {
  const copying *c = argument;
  memset(c->out + first, 0, (size_t)(last - first));
}

/* Sets the destination to data, or to zeros. Strided or packed tensors are copied by a gather that selects the whole: by a tuple without
 * numbers. */
static gather_status fill_out(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  enum { LINE = 64 };
  static const int64_t NO_NUMBER[1] = {0}, STRIDES[GATHER_MAX_RANK] = {0};
  static const double ZEROS[2] = {0};
  if ((run->data == run->out && !plan->clears) || plan->data_len == 0) return GATHER_OK;
  if (plan->dense) {
    copying c = {run->data, run->out};
    gather_split(run->executor, plan->data_extent.high, 1, LINE, plan->clears ? clear_part : copy_part, &c);
    return GATHER_OK;
  }
  gather_tensor data = {.data = (void *)(uintptr_t)run->data, .type = plan->type, .rank = plan->rank, .shape = plan->shape};
  data.item_bytes = plan->item_bytes;
  gather_tensor out = data, indices = {.data = (void *)(uintptr_t)&ZERO, .type = GATHER_TYPE_INT64, .rank = 1, .shape = NO_NUMBER};
  data.strides = plan->data_strides, data.packed_offset = plan->data_offset;
  if (plan->clears) data.data = (void *)(uintptr_t)ZEROS, data.strides = STRIDES;
  out.data = run->out, out.strides = plan->out_strides, out.packed_offset = plan->out_offset;
  gather_options options = GATHER_OPTIONS_INIT;
  options.executor = run->executor;
  return gather_apply(&gather_op_table[GATHER_OP_MICROSOFT_ND_1], &data, &indices, &out, &options, error);
}

/* ---- methods */

typedef enum { SERIALLY = 1, APART, OWNED, IN_PARTS, SORTED } method;

/* What a run needs before it writes. */
typedef struct {
  method method;
  void *memory; /* of the parts */
  gather_sorted sorted;
  bool sorted_here;
} preparation;

enum {
  SMALL = 1 << 16, /* bytes of updates and places: less is done before a thread is awake */
  FEW_FOR_PARTS = 1 << 16,
  LINE_BYTES = 64
};

/* Whether the places are so many that most updates miss the caches, and updates so many that parts repay. */
static bool parts_pay(const gather_scatter_plan *plan, int64_t threads) {
  const int64_t bytes = plan->places * plan->place_step, cache = gather_cache_bytes();
  if (plan->nest.row_count < FEW_FOR_PARTS || bytes < (threads > 1 ? 2 : 16) * cache) return false;
  return bytes / plan->nest.row_count < 64 * LINE_BYTES;
}

static method choose(const gather_scatter_plan *plan, const gather_executor *executor) {
  const int64_t threads = executor ? executor->threads : 1, forced = gather_tuned(GATHER_TUNING_scatter_method);
  const int64_t work = plan->nest.row_count * (plan->nest.row_bytes + LINE_BYTES / 8);
  if (plan->sorts || plan->kept) return SORTED;
  if (forced >= SERIALLY && forced <= SORTED) return (method)forced;
  if (plan->nest.packed) return SERIALLY;
  if (parts_pay(plan, threads) && gather_scatter_parts_bytes(plan, executor) >= 0) return IN_PARTS;
  if (threads < 2 || work < SMALL) return SERIALLY;
  return plan->nest.row_bytes >= LINE_BYTES ? OWNED : APART;
}

/* Takes the memory of the method, or chooses one that needs none. */
static gather_status prepare(const gather_scattering *s, preparation *p, gather_error *error) {
  const gather_scatter_plan *plan = s->plan;
  *p = (preparation){choose(plan, s->executor), NULL, plan->sorted, false};
  if (p->method == IN_PARTS) {
    const int64_t bytes = gather_scatter_parts_bytes(plan, s->executor);
    if (bytes >= 0 && bytes <= gather_tuned(GATHER_TUNING_scratch_bytes)) p->memory = gather_alloc_unset(bytes);
    if (!p->memory) p->method = APART;
  }
  if (p->method == SORTED && !plan->kept) {
    if (!plan->sorts && !gather_scatter_sortable(plan))
      p->method = SERIALLY;
    else
      GATHER_TRY(sort_held(s, &p->sorted, error));
    p->sorted_here = p->method == SORTED;
  }
  if (p->method == OWNED && (!s->executor || plan->nest.packed)) p->method = SERIALLY;
  return GATHER_OK;
}

static void apply(const gather_scattering *s, const preparation *p) {
  switch (p->method) {
    case IN_PARTS:
      gather_scatter_in_parts(s, p->memory);
      return;
    case SORTED:
      gather_scatter_sorted(s, &p->sorted);
      return;
    case APART:
      if (gather_scatter_apart(s)) return;
      break;
    case OWNED:
      if (gather_scatter_apart(s)) return;
      gather_scatter_owned(s);
      return;
    case SERIALLY:
      break;
  }
  gather_scatter_serially(s);
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
  if (nest->row_count > 0 && !run->updates) return gather_fail_input(error, GATHER_USAGE, "updates", "the updates' data pointer is NULL");
  return GATHER_OK;
}

/* Indices are validated. */
static gather_status write_all(const gather_scattering *s, const gather_scatter_run *run, gather_error *error) {
  preparation p = {SERIALLY, NULL, {NULL, 0, 0}, false};
  const bool any = s->plan->nest.row_count > 0;
  if (any) GATHER_TRY(prepare(s, &p, error));
  const gather_status status = fill_out(s->plan, run, error);
  if (status == GATHER_OK && any) apply(s, &p);
  gather_free(p.memory);
  if (p.sorted_here) gather_free(p.sorted.entries);
  return status;
}

gather_status gather_scatter_execute(const gather_scatter_plan *plan, const gather_scatter_run *run, gather_error *error) {
  gather_scattering s = {.plan = plan, .out = run->out, .updates = run->updates, .executor = run->executor};
  indices_held held = {NULL, plan->kept_bad};
  GATHER_TRY(gather_executor_check(run->executor, error));
  GATHER_TRY(check_memory(plan, run, error));
  gather_status status = plan->kept ? GATHER_OK : hold_indices(&plan->nest, run->indices, run->executor, &s.e, &held, error);
  if (status == GATHER_OK && plan->options.unique && !plan->kept) status = check_unique(&s, error);
  if (status == GATHER_OK) status = write_all(&s, run, error);
  if (status == GATHER_OK && run->bad_count) *run->bad_count = held.bad;
  gather_free(held.copy);
  return status;
}
