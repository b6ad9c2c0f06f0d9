/* SPDX-License-Identifier: MIT
 *
 * take.c: one take: checked, then done at once if all rows are resident (table_whole.c), else chunk by chunk: the
 * sweep (sweep.c) copies resident and cached rows in the order of the indices and notes the misses, which miss.c
 * reads.
 */
#include <inttypes.h>

#include "core/base/struct.h"
#include "core/base/tensor.h"
#include "core/plan/plan.h"
#include "core/plan/tasks.h"
#include "core/system/clock.h"
#include "table/ids.h"
#include "table/table_internal.h"

/* ---- before anything is read */

static gather_status read_options(const gather_table_take_options *given, gather_table_take_options *options,
                                  gather_error *error) {
  *options = (gather_table_take_options)GATHER_TABLE_TAKE_INIT;
  GATHER_TRY(gather_struct_read(options, sizeof *options, given, "gather_table_take_options", "GATHER_TABLE_TAKE_INIT",
                                error));
  if (!options->op) options->op = gather_op_find("Gather", "onnx-13");
  const gather_family_info *family = gather_family_get(options->op->family);
  if (!family || (!family->whole_rows && options->op->tuples == GATHER_TUPLES_NONE))
    return gather_fail(error, GATHER_USAGE, "rows of a table are taken by a version of Gather or GatherND, not by %s",
                       options->op->name);
  return gather_executor_check(options->executor, error);
}

static gather_status check_memory(const gather_plan *plan, const gather_tensor *indices, const gather_tensor *out,
                                  gather_error *error) {
  if (!gather_tensor_is_row_major(out))
    return gather_fail_input(error, GATHER_UNSUPPORTED, "output", "the output for rows of a table must be dense");
  if (gather_tensor_bytes(out) == 0) return GATHER_OK;
  if (!out->data) return gather_fail_input(error, GATHER_USAGE, "output", "the output's data pointer is NULL");
  if (!indices->data) return gather_fail_input(error, GATHER_USAGE, "indices", "the indices' data pointer is NULL");
  gather_run run = GATHER_RUN_INIT;
  run.indices = indices->data, run.out = out->data;
  return gather_plan_check_overlap(plan, &run, error);
}

/* Rows that tuples select must be bytes of the file, like those of the table. */
static gather_status check_tuples(const gather_table *table, const gather_op *op, const gather_tensor *indices,
                                  gather_error *error) {
  const gather_tensor *tensor = &table->info.tensor;
  const gather_type_info *type = gather_type_row(tensor->type);
  if (op->tuples == GATHER_TUPLES_NONE) return GATHER_OK;
  const int64_t components = indices->shape[indices->rank - 1];
  if (components == 0)
    return gather_fail_input(error, GATHER_UNSUPPORTED, "indices",
                             "tuples without numbers would select the whole table each");
  if (components > 1 && table->info.codec)
    return gather_fail_input(
        error, GATHER_UNSUPPORTED, "indices",
        "tuples of %" PRId64 " numbers select parts of decoded rows; take the rows by one number each", components);
  int64_t len = 1;
  for (int32_t d = (int32_t)components; d < tensor->rank; d++) len *= tensor->shape[d]; /* at most a row */
  if (!gather_type_is_packed(type) || (len * type->bits % 8 == 0 && len % type->group_len == 0)) return GATHER_OK;
  return gather_fail_input(error, GATHER_UNSUPPORTED, "indices",
                           "rows of %" PRId64 " elements of %s, as tuples of %" PRId64
                           " numbers select, do not end on a whole byte",
                           len, type->name, components);
}

gather_status gather_taking_prepare(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                    const gather_table_take_options *given, gather_table_take_options *full,
                                    gather_plan **plan, int64_t *bad, gather_error *error) {
  gather_options attributes = GATHER_OPTIONS_INIT;
  if (!indices || !out) return gather_fail(error, GATHER_USAGE, "gather_table_take: indices or out is NULL");
  GATHER_TRY(read_options(given, full, error));
  attributes.on_bad = full->on_bad, attributes.negative = full->negative, attributes.fill = full->fill;
  GATHER_TRY(gather_plan_create(full->op, &table->info.tensor, indices, out, &attributes, plan, error));
  /* Radix partitioning allocates memory, which a guard's jump would leak. */
  (*plan)->radix_variant = -1;
  gather_run run = GATHER_RUN_INIT;
  run.indices = indices->data, run.executor = full->executor, run.bad_count = bad;
  gather_status status = check_tuples(table, full->op, indices, error);
  if (status == GATHER_OK) status = check_memory(*plan, indices, out, error);
  if (status == GATHER_OK) status = gather_plan_check(*plan, &run, error);
  if (status == GATHER_OK) return GATHER_OK;
  gather_plan_destroy(*plan);
  *plan = NULL;
  return status;
}

void gather_taking_init(gather_taking *taking, gather_table *table, const gather_plan *plan,
                        const gather_tensor *indices, const gather_tensor *out, int64_t bad) {
  *taking = (gather_taking){.table = table,
                            .plan = plan,
                            .row_bytes = table->info.row_bytes,
                            .fold = 1,
                            .count = plan->index_count / plan->column_count,
                            .indices = indices->data,
                            .out = out->data,
                            .bad = bad};
  for (int32_t d = 1; d < plan->column_count; d++) taking->fold *= table->shape[d];
  if (taking->fold > 1) taking->row_bytes /= taking->fold;
}

/* ---- chunk by chunk */

static gather_status take_chunk(gather_sweep *sweep, int64_t count, gather_rows_count *rows, gather_error *error) {
  GATHER_TRY(gather_sweep_run(sweep, count, error));
  const int64_t misses = sweep->misses;
  if (misses > 0) GATHER_TRY(gather_taking_read(sweep->taking, sweep->worker, misses, error));
  rows->resident += sweep->resident, rows->cached += sweep->cached, rows->read += misses;
  return gather_table_check_cut(sweep->taking, sweep->first, count, error);
}

/* The worker is obtained for the first row that must be read, and kept to the end. */
static gather_status take_chunks(const gather_taking *taking, gather_rows_count *rows, gather_error *error) {
  gather_table *table = taking->table;
  gather_sweep sweep = {.taking = taking};
  gather_status status = GATHER_OK;
  const int64_t all = taking->count, most = table->budget.entries;
  for (; sweep.first < all && status == GATHER_OK; sweep.first += most)
    status = take_chunk(&sweep, all - sweep.first < most ? all - sweep.first : most, rows, error);
  if (sweep.worker) gather_worker_put(table, sweep.worker);
  return status;
}

/* How many rows are filled. A tuple may have several bad numbers. */
static int64_t count_filled(const gather_taking *taking) {
  enum { BLOCK = 256 };
  const gather_on_bad on_bad = taking->plan->rule.on_bad;
  int64_t rows[BLOCK], filled = 0;
  if (on_bad != GATHER_ON_BAD_ZERO && on_bad != GATHER_ON_BAD_FILL) return 0;
  if (taking->plan->column_count == 1 || taking->bad <= 1) return taking->bad;
  for (int64_t first = 0, now; first < taking->count; first += now) {
    now = taking->count - first < BLOCK ? taking->count - first : BLOCK;
    gather_ids_rows(taking->plan, taking->row_bytes, taking->indices, first, now, rows, NULL);
    for (int64_t j = 0; j < now; j++) filled += rows[j] == GATHER_ROW_FILL;
  }
  return filled;
}

static gather_status take_rows(const gather_taking *taking, gather_rows_count *rows, gather_error *error) {
  const char *whole = gather_whole_find(taking);
  bool done = false;
  if (whole) GATHER_TRY(gather_whole_take(taking, whole, &done, error));
  if (!done) return take_chunks(taking, rows, error);
  rows->resident = taking->count - count_filled(taking);
  return gather_table_check_cut(taking, 0, taking->count, error);
}

void gather_taking_count(const gather_taking *taking, int64_t start, gather_status status,
                         const gather_rows_count *rows, int64_t bytes_useful) {
  gather_table_counts *counts = &taking->table->counts;
  atomic_fetch_add_explicit(&counts->nanoseconds, gather_clock() - start, memory_order_relaxed);
  if (status != GATHER_OK) return;
  atomic_fetch_add_explicit(&counts->takes, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows, taking->count, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_resident, rows->resident, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_cached, rows->cached, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->rows_read, rows->read, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->bytes_useful, bytes_useful, memory_order_relaxed);
}

static gather_status run_counted(gather_taking *taking, gather_rows_count *rows, gather_error *error) {
  const int64_t all = taking->count, row_bytes = taking->row_bytes, start = gather_clock();
  *rows = (gather_rows_count){0};
  gather_status status = gather_taking_go_on(taking, error);
  if (status == GATHER_OK && all > 0 && row_bytes > 0) status = take_rows(taking, rows, error);
  gather_taking_count(taking, start, status, rows, all * row_bytes);
  return status;
}

gather_status gather_taking_run(gather_taking *taking, gather_error *error) {
  gather_rows_count rows;
  return taking->table->run ? taking->table->run(taking, error) : run_counted(taking, &rows, error);
}

gather_status gather_table_take_counted(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                        const gather_table_take_options *options, gather_rows_count *rows,
                                        gather_error *error) {
  if (!table) return gather_fail(error, GATHER_USAGE, "gather_table_take: table is NULL");
  gather_table_take_options full;
  gather_plan *plan = NULL;
  int64_t bad = 0;
  gather_table_enter(table);
  GATHER_TRY(gather_taking_prepare(table, indices, out, options, &full, &plan, &bad, error));
  if (full.bad_count) *full.bad_count = bad;
  gather_cancel cancel = {.stop = full.stop, .context = full.stop_context};
  gather_taking taking;
  gather_taking_init(&taking, table, plan, indices, out, bad);
  taking.executor = full.executor;
  taking.cancel = cancel.stop ? &cancel : NULL;
  gather_status status = table->run ? table->run(&taking, error) : run_counted(&taking, rows, error);
  gather_plan_destroy(plan);
  return status;
}

gather_status gather_table_take(gather_table *table, const gather_tensor *indices, const gather_tensor *out,
                                const gather_table_take_options *options, gather_error *error) {
  gather_rows_count rows;
  return gather_table_take_counted(table, indices, out, options, &rows, error);
}
