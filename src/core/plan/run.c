/* SPDX-License-Identifier: MIT
 *
 * run.c: runs a plan on memory. Indices are validated first, or deferred; tasks move the rows.
 */
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "core/kernel/copy.h"
#include "core/kernel/dispatch.h"
#include "core/plan/execution.h"
#include "core/plan/plan_indices.h"
#include "core/plan/tasks.h"

/* ---- a few rows: checked and copied at once, without variants and tasks */

/* The number at an address of any alignment. */
static int64_t read_number(const char *at, bool wide) {
  int64_t number;
  int32_t narrow;
  if (!wide) {
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
  }
  memcpy(&number, at, sizeof number);
  return number;
}

/* Plain indices: dense, not negative, one number each. They need no memory in between. */

/* No branch depends on an index: a number below 0 or above len - 1 sets the sign. */
static bool all_plain(const char *indices, bool wide, int32_t count, int64_t len) {
  int64_t signs = 0;
  for (int32_t i = 0; i < count; i++) {
    const int64_t number = read_number(indices + (int64_t)i * (wide ? 8 : 4), wide);
    signs |= number | (len - 1 - (number & INT64_MAX));
  }
  return signs >= 0;
}

/* The copy is inlined where this is called: a loop for each range of sizes. */
GATHER_INLINE void copy_plain(const gather_few *few, const char *data, const char *indices, char *out, bool wide, gather_copy_fn copy) {
  const int64_t step = few->axes[0].step, data_step = few->loop.data, out_step = few->loop.out;
  const size_t bytes = (size_t)few->row_bytes;
  const int32_t count = few->count;
  for (int32_t i = 0; i < count; i++, data += data_step, out += out_step, indices += wide ? 8 : 4)
    copy(out, data + read_number(indices, wide) * step, bytes);
}

/* `wide` is a constant where this is inlined. */
GATHER_INLINE void run_numbers(const gather_few *few, const char *data, const char *indices, char *out, bool wide) {
  if (few->row_bytes == 4)
    copy_plain(few, data, indices, out, wide, gather_copy_4);
  else if (few->row_bytes == 8)
    copy_plain(few, data, indices, out, wide, gather_copy_8);
  else if (few->row_bytes == 16)
    copy_plain(few, data, indices, out, wide, gather_copy_16);
  else if (few->row_bytes == 64)
    copy_plain(few, data, indices, out, wide, gather_copy_64);
  else if (few->row_bytes > 64)
    copy_plain(few, data, indices, out, wide, gather_copy_long);
  else if (few->row_bytes >= 32)
    copy_plain(few, data, indices, out, wide, gather_copy_33_to_63);
  else
    copy_plain(few, data, indices, out, wide, gather_copy_row);
}

static void run_plain(const gather_few *few, const char *data, const char *indices, char *out) {
  if (few->wide)
    run_numbers(few, data, indices, out, true);
  else
    run_numbers(few, data, indices, out, false);
}

/* Where in data the row of an index begins, added to *offset. Returns false for an index out of range. */
GATHER_INLINE bool resolve_index(const gather_few *few, const char *index, int64_t *offset) {
  for (int32_t c = 0; c < few->columns; c++) {
    const int64_t len = few->axes[c].len;
    int64_t number = read_number(index + few->axes[c].index, few->wide);
    if (number < 0 && few->negative) number += len;
    if ((uint64_t)number >= (uint64_t)len) return false;
    *offset += number * few->axes[c].step;
  }
  return true;
}

/* The same for all rows. */
static bool resolve(const gather_few *few, const char *indices, int64_t *offsets) {
  for (int64_t i = 0; i < few->outer.len; i++, indices += few->outer.index)
    for (int64_t j = 0; j < few->loop.len; j++, offsets++) {
      *offsets = i * few->outer.data + j * few->loop.data;
      if (!resolve_index(few, indices + j * few->loop.index, offsets)) return false;
    }
  return true;
}

GATHER_INLINE void copy_resolved(const gather_few *few, const char *data, const int64_t *offsets, char *out, gather_copy_fn copy) {
  const size_t bytes = (size_t)few->row_bytes;
  for (int64_t i = 0; i < few->outer.len; i++, out += few->outer.out)
    for (int64_t j = 0; j < few->loop.len; j++) copy(out + j * few->loop.out, data + *offsets++, bytes);
}

static bool run_resolved(const gather_few *few, const char *data, const char *indices, char *out) {
  int64_t offsets[GATHER_FEW_ROWS];
  if (!resolve(few, indices, offsets)) return false;
  if (few->row_bytes == 4)
    copy_resolved(few, data, offsets, out, gather_copy_4);
  else if (few->row_bytes == 8)
    copy_resolved(few, data, offsets, out, gather_copy_8);
  else
    copy_resolved(few, data, offsets, out, gather_copy_row);
  return true;
}

/* Returns false, having written nothing, if an index is out of range or something is unusual. */
static bool run_few(const gather_few *few, const gather_run *run) {
  if (run->executor || !run->data || !run->indices || !run->out) return false;
  if (!gather_extents_apart(run->out, &few->out, run->data, &few->data)) return false;
  if (!gather_extents_apart(run->out, &few->out, run->indices, &few->indices)) return false;
  const char *data = (const char *)run->data + few->data_offset;
  char *out = (char *)run->out + few->out_offset;
  if (!few->dense || !all_plain(run->indices, few->wide, few->count, few->axes[0].len)) return run_resolved(few, data, run->indices, out);
  run_plain(few, data, run->indices, out);
  return true;
}

bool gather_plan_execute_few(const gather_plan *plan, const gather_run *run) {
  if (plan->few.count == 0 || !run_few(&plan->few, run)) return false;
  if (run->bad_count) *run->bad_count = 0;
  return true;
}

/* ---- any number of them */

/* Rows [first, last), counted after the first e->moved. */
static void run_task(void *argument, int64_t first, int64_t last) {
  gather_execution *e = argument;
  const gather_plan *plan = e->plan;
  gather_walk walk;
  first += e->moved, last += e->moved;
  gather_walk_start(&walk, plan->loops, plan->loop_count, first);
  int variant = atomic_load_explicit(&e->variant, memory_order_relaxed);
  /* One task does the calibration run; the others use the first variant until it has a result. */
  if (variant < 0 && first == 0) {
    first += gather_calibrate(e, &walk, last - first);
    variant = atomic_load_explicit(&e->variant, memory_order_relaxed);
  }
  gather_move(e, &plan->variants[variant < 0 ? 0 : variant], &walk, last - first);
}

/* Clears the bits after the last element of a row-major packed output, which no row has. */
static void clear_padding(const gather_plan *plan, char *out) {
  if (!plan->packed || !plan->out_dense) return;
  int64_t end = plan->row_count * plan->row_bytes;
  int64_t rest = end % plan->layout.group_len;
  if (rest) gather_bits_fill(&plan->layout, out, end, 0, plan->layout.group_len - rest);
}

gather_status gather_plan_check_overlap(const gather_plan *plan, const gather_run *run, gather_error *error) {
  const char *input = NULL;
  if (gather_extents_meet(run->out, &plan->out_extent, run->data, &plan->data_extent)) input = "data";
  if (gather_extents_meet(run->out, &plan->out_extent, run->indices, &plan->index_extent)) input = "indices";
  if (!input) return GATHER_OK;
  return gather_fail_input(error, GATHER_USAGE, "output", "the output overlaps %s in memory", input);
}

/* Small gathers, and those with one variant, use the first. */
static int first_variant(const gather_execution *e) {
  const gather_plan *plan = e->plan;
  if (plan->variant_count < 2 || plan->row_count < plan->calibration_rows || e->staged) return 0;
  return !e->bad && e->form == GATHER_FORM_REPAIRED ? 0 : -1;
}

/* For a few rows, checks and preparation would take most of the time: they are one call of a kernel. */
static bool is_small(const gather_plan *plan) {
  enum { SMALL = 1024 /* rows: some microseconds, of which tasks and walks would be a share that shows */ };
  if (plan->row_count > SMALL || plan->packed || plan->loop_count > 2) return false;
  return !plan->variants[0].nontemporal && !plan->variants[0].radix;
}

/* All rows of a nest of one or two loops, for the first variant. */
static gather_span span_of_all(const gather_execution *e, const char *data, char *out) {
  const gather_plan *plan = e->plan;
  const int32_t outer = plan->loop_count - 2;
  gather_span span;
  gather_span_set(&span, e, &plan->variants[0]);
  span.data = data, span.indices = e->indices, span.out = out;
  if (outer >= 0) span.rounds = plan->loops[outer].len;
  return span;
}

static void run_rows(const gather_plan *plan, gather_execution *e, const gather_executor *executor) {
  const gather_type_info *index = gather_type_row(plan->rule.type);
  if ((e->bad || e->form == GATHER_FORM_WIDENED || plan->packed) && plan->column_count == 1 &&
      plan->loops[plan->loop_count - 1].index == index->bits / 8)
    e->widen = gather_kernel_widen(plan->rule.type);
  e->fold = gather_columns_fold(plan, &e->axes);
  atomic_init(&e->variant, first_variant(e));
  if (plan->packed) {
    /* Tasks start at multiples of 8 rows: they share no byte of a row-major output. In other outputs they might. */
    if (!plan->out_dense) executor = NULL;
  } else {
    e->out += plan->out_offset;
    if (e->data) e->data += plan->data_offset; /* NULL where data has no elements: then every row is filled */
  }
  if (!executor && !e->bad && e->form == GATHER_FORM_PLAIN && is_small(plan) && first_variant(e) == 0) {
    const gather_span span = span_of_all(e, e->data, e->out);
    plan->variants[0].rows(&span);
    return;
  }
  gather_calibrate_before(e, executor);
  const int64_t left = plan->row_count - e->moved;
  if (!executor && atomic_load_explicit(&e->variant, memory_order_relaxed) == 0) {
    if (left > 0) run_task(e, 0, left);
    return;
  }
  /* 64 rows are whole lines: no two tasks write the same line. */
  gather_split(executor, left, plan->row_cost + index->bits / 8, 64, run_task, e);
}

static gather_status check_memory(const gather_plan *plan, const gather_run *run, gather_error *error) {
  if (!run->out) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  if (!run->indices) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  if (!run->data && plan->rule.axis_len > 0) return gather_fail_input(error, GATHER_USAGE, "data", "the data pointer is NULL");
  return GATHER_OK;
}

/* Whether each index is used once and in order, so that it can be validated when its row moves. */
static bool is_deferrable(const gather_plan *plan) { return plan->in_order && !plan->rule.swapped && plan->rule.axis_len > 0; }

/* Whether validation may be deferred: rows may have moved when an index out of range is found. */
static bool may_defer(const gather_plan *plan, const gather_run *run) {
  return is_deferrable(plan) && (run->fresh_output || gather_plan_can_repair(plan));
}

/* Whether all indices are validated before the first row moves, for no other reason than that the output must not change if one is bad. */
static bool is_all_or_nothing(const gather_plan *plan, const gather_run *run) {
  return is_deferrable(plan) && !may_defer(plan, run) && gather_plan_must_check(plan);
}

/* How many rows and more defer. A kernel that validates as it moves repays the tasks from some microseconds on. Others are called once for
 * each block, and only many indices have left the cache when they are read again. */
static int64_t deferred_rows(const gather_plan *plan) {
  enum { CHECKED_ROWS = 1024 /* fewer are run_checked */ };
  const int64_t rows = gather_tuned(GATHER_TUNING_deferred_bytes) / gather_index_bytes(plan);
  return plan->variants[0].checked && rows > CHECKED_ROWS ? CHECKED_ROWS : rows;
}

/* Whether deferring pays for memory that nobody writes. Radix partitioning needs all indices validated; it is for random ones. */
static bool defers(const gather_plan *plan, const gather_run *run, gather_execution *e) {
  if (plan->row_count <= deferred_rows(plan) || !may_defer(plan, run)) return false;
  if (plan->rule.on_bad == GATHER_ON_BAD_PROMISE || gather_columns_cannot_fail(plan)) return false;
  if (plan->radix_variant < 0) return true;
  e->order = gather_order_sample(e);
  return plan->radix_variant > 0 && e->order != GATHER_ORDER_RANDOM;
}

/* Validates each block of indices just before its rows move. */
static gather_status run_deferred(const gather_plan *plan, const gather_run *run, gather_execution *e, int64_t *count,
                                  gather_error *error) {
  gather_bad bad;
  gather_bad_init(&bad);
  e->bad = &bad;
  run_rows(plan, e, run->executor);
  *count = gather_bad_count(&bad);
  if (*count > 0 && !gather_plan_can_repair(plan)) return gather_plan_blame(plan, error, bad.position, bad.value, *count);
  clear_padding(plan, run->out);
  return GATHER_OK;
}

/* ---- staged output */

/* Whether the rows are gathered into memory of the library, and to the output when all indices are known to be in range.
 * Moving them once more costs less than reading the indices again if these are much longer and have left the cache. */
static bool is_staged(const gather_plan *plan, const gather_run *run) {
  enum { SHARE = 4 }; /* of the bytes of an index, for a row; at half of them there is no gain */
  const int64_t bytes = gather_index_bytes(plan);
  if (!is_all_or_nothing(plan, run) || plan->out_of_cache) return false;
  if (plan->packed || plan->radix_variant >= 0) return false; /* radix partitioning needs all indices validated */
  if (!plan->linear || plan->out_offset != 0 || plan->row_bytes > bytes / SHARE) return false;
  if (plan->cache_bytes == 0 || plan->row_count <= plan->cache_bytes / bytes) return false;
  return plan->row_count <= gather_tuned(GATHER_TUNING_staged_bytes) / plan->row_bytes;
}

typedef struct staging {
  const char *staged;
  char *out;
} staging;

static void copy_part(void *argument, int64_t first, int64_t last) {
  const staging *s = argument;
  memcpy(s->out + first, s->staged + first, (size_t)(last - first));
}

/* *done: false if there is no memory for it. */
static gather_status run_staged(const gather_plan *plan, const gather_run *run, gather_execution *e, bool *done, int64_t *bad,
                                gather_error *error) {
  enum { LINE = 64 };
  const int64_t bytes = plan->row_count * plan->row_bytes;
  char *memory = gather_alloc_unset(bytes + LINE);
  *done = memory != NULL;
  if (!memory) return GATHER_OK;
  char *staged = memory + (-(uintptr_t)memory & (LINE - 1));
  staging s = {staged, run->out};
  e->out = staged, e->staged = true;
  gather_status status = run_deferred(plan, run, e, bad, error);
  if (status == GATHER_OK) gather_split(run->executor, bytes, 1, LINE, copy_part, &s);
  gather_free(memory);
  return status;
}

/* ---- narrowed indices */

/* Whether indices of 8 bytes are validated into bytes, which are read again: a register table has few rows, and reading the indices twice
 * takes most of the time if they come from memory. */
static bool is_narrowed(const gather_plan *plan, const gather_run *run) {
  const int64_t bytes = gather_index_bytes(plan);
  if (GATHER_SMALL) return false; /* no register tables */
  if (!is_all_or_nothing(plan, run)) return false;
  if (plan->packed || plan->column_count > 1 || bytes != 8 || plan->rule.axis_len > UINT8_MAX + 1) return false;
  if (!plan->rule.many || plan->row_count > gather_tuned(GATHER_TUNING_staged_bytes)) return false;
  for (int32_t v = 0; v < plan->variant_count; v++)
    if (!plan->variants[v].rows_bytes) return false;
  return true;
}

typedef struct narrowing {
  const char *indices;
  uint8_t *bytes;
  uint64_t limit;
  gather_narrow_indices_fn narrow;
  atomic_bool fails;
} narrowing;

static void narrow_part(void *argument, int64_t first, int64_t last) {
  narrowing *n = argument;
  if (!n->narrow(n->indices + first * 8, last - first, n->limit, n->bytes + first))
    atomic_store_explicit(&n->fails, true, memory_order_relaxed);
}

/* The same gather by bytes. */
static void narrow_plan(const gather_plan *plan, gather_plan *narrowed) {
  *narrowed = *plan;
  narrowed->rule.type = GATHER_TYPE_UINT8, narrowed->takes_bytes = true;
  for (int32_t i = 0; i < plan->loop_count; i++) narrowed->loops[i].index /= 8;
  for (int32_t v = 0; v < plan->variant_count; v++)
    narrowed->variants[v].rows = plan->variants[v].rows_bytes, narrowed->variants[v].checked = NULL;
}

/* Returns false, having written nothing, if there is no memory for it, or an index is no row as it stands. */
static bool run_narrowed(const gather_plan *plan, const gather_run *run, const gather_execution *e) {
  enum { LINE = 64 };
  uint8_t *bytes = gather_alloc_unset(plan->row_count);
  if (!bytes) return false;
  narrowing n = {e->indices, bytes, gather_indices_plain_below(&plan->rule), gather_kernel_narrow_indices(), false};
  gather_split(run->executor, plan->row_count, 8, LINE, narrow_part, &n);
  const bool fine = !atomic_load(&n.fails);
  if (fine) {
    gather_plan narrowed;
    narrow_plan(plan, &narrowed);
    gather_execution by_bytes = {.plan = &narrowed, .data = e->data, .indices = (const char *)bytes, .out = e->out};
    run_rows(&narrowed, &by_bytes, run->executor);
  }
  gather_free(bytes);
  return fine;
}

/* Validates all indices, then moves the rows. */
static gather_status run_validated(const gather_plan *plan, const gather_run *run, gather_execution *e, int64_t *bad, gather_error *error) {
  gather_index_state state;
  GATHER_TRY(gather_plan_check_indices(plan, e->indices, false, run->executor, &state, bad, error));
  if (plan->row_count == 0) return GATHER_OK;
  GATHER_TRY(check_memory(plan, run, error));
  e->form = gather_form_of(plan, state);
  run_rows(plan, e, run->executor);
  clear_padding(plan, run->out);
  return GATHER_OK;
}

/* ---- indices that others may write */

/* Runs on a private copy of all of them. *done: false if there is no memory for it. */
static gather_status run_copied(const gather_plan *plan, const gather_run *run, gather_execution *e, bool *done, int64_t *bad,
                                gather_error *error) {
  char small[GATHER_COPY_BYTES];
  const int64_t bytes = plan->index_count * (gather_type_row(plan->rule.type)->bits / 8);
  char *copy = bytes <= GATHER_COPY_BYTES ? small : gather_alloc(bytes);
  *done = copy != NULL;
  if (!copy) return GATHER_OK;
  gather_shared_copy_all(plan, run->indices, run->executor, copy);
  e->indices = copy, e->shared = false;
  gather_status status = run_validated(plan, run, e, bad, error);
  if (copy != small) gather_free(copy);
  return status;
}

/* Whether radix partitioning may be the fastest variant, and scratch_bytes allows the copy that it needs. */
static bool wants_copy(const gather_plan *plan, gather_execution *e) {
  const int64_t bytes = plan->index_count * (gather_type_row(plan->rule.type)->bits / 8);
  if (plan->radix_variant < 0 || bytes > gather_tuned(GATHER_TUNING_scratch_bytes)) return false;
  e->order = gather_order_sample(e);
  return e->order == GATHER_ORDER_RANDOM;
}

/* Tuples without numbers: an index 0 serves every row, and selects all of it. */
static gather_status run_without_indices(const gather_plan *plan, const gather_run *run, int64_t *bad, gather_error *error) {
  static const int64_t zero = 0;
  gather_run whole = *run;
  whole.indices = &zero;
  gather_execution e = {.plan = plan, .data = run->data, .indices = (const char *)&zero, .out = run->out};
  return run_validated(plan, &whole, &e, bad, error);
}

static gather_status execute_shared(const gather_plan *plan, const gather_run *run, int64_t *bad, gather_error *error) {
  gather_execution e = {.plan = plan, .data = run->data, .indices = run->indices, .out = run->out, .shared = true};
  bool done = false;
  gather_index_state state;
  if (plan->row_count == 0) return gather_plan_check_indices(plan, run->indices, true, run->executor, &state, bad, error);
  if (plan->index_count == 0) return run_without_indices(plan, run, bad, error);
  GATHER_TRY(check_memory(plan, run, error));
  if (is_staged(plan, run)) {
    GATHER_TRY(run_staged(plan, run, &e, &done, bad, error));
    if (done) return GATHER_OK;
  }
  const bool may = may_defer(plan, run);
  if (!may || wants_copy(plan, &e)) GATHER_TRY(run_copied(plan, run, &e, &done, bad, error));
  if (done) return GATHER_OK;
  if (may) return run_deferred(plan, run, &e, bad, error);
  return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a copy of the shared indices");
}

/* ---- the whole */

/* Moves a few rows, which are validated as they move. Returns false, and may have written to the output, if an index is no row as it
 * stands or something is unusual. */
static bool run_checked(const gather_plan *plan, const gather_run *run, const gather_execution *e) {
  const uint64_t limit = gather_indices_plain_below(&plan->rule);
  if (GATHER_SMALL || !plan->variants[0].checked || limit == 0 || !is_small(plan)) return false;
  if (run->executor || !may_defer(plan, run) || !run->data || !run->out) return false;
  const gather_span span = span_of_all(e, e->data + plan->data_offset, e->out + plan->out_offset);
  return plan->variants[0].checked(&span, limit) == plan->row_count;
}

static gather_status execute(const gather_plan *plan, const gather_run *run, int64_t *bad, gather_error *error) {
  if (plan->shared) return execute_shared(plan, run, bad, error);
  gather_execution e = {.plan = plan, .data = run->data, .indices = run->indices, .out = run->out};
  if (plan->row_count == 0 || !run->indices) return run_validated(plan, run, &e, bad, error);
  if (is_staged(plan, run)) {
    bool done;
    GATHER_TRY(check_memory(plan, run, error));
    GATHER_TRY(run_staged(plan, run, &e, &done, bad, error));
    if (done) return GATHER_OK;
  }
  if (is_narrowed(plan, run)) {
    GATHER_TRY(check_memory(plan, run, error));
    if (run_narrowed(plan, run, &e)) return GATHER_OK;
  }
  if (run_checked(plan, run, &e)) return GATHER_OK;
  if (!defers(plan, run, &e)) return run_validated(plan, run, &e, bad, error);
  GATHER_TRY(check_memory(plan, run, error));
  return run_deferred(plan, run, &e, bad, error);
}

gather_status gather_plan_execute(const gather_plan *plan, const gather_run *run, gather_error *error) {
  int64_t bad = 0;
  if (gather_plan_execute_few(plan, run)) return GATHER_OK;
  GATHER_TRY(gather_executor_check(run->executor, error));
  GATHER_TRY(gather_plan_check_overlap(plan, run, error));
  GATHER_TRY(execute(plan, run, &bad, error));
  if (run->bad_count) *run->bad_count = bad;
  return GATHER_OK;
}
