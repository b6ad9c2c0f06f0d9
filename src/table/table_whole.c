/* SPDX-License-Identifier: MIT
 *
 * table_whole.c: a take from a table whose rows are all resident: the plan's kernels run on the mapping, each task in
 * its thread's guard.
 */
#include "core/plan/plan.h"
#include "table/system/guard.h"
#include "table/table_internal.h"

/* With so many indices per region, asking the system whether everything is resident pays off. */
enum { ROWS_PER_REGION = 16 };

/* Tasks of a plan that reads a mapping, each in its thread's guard. */
typedef struct guarded {
  gather_table *table;
  const gather_taking *taking;
  const gather_executor *inner;
  void (*task)(void *argument, int64_t i);
  void *argument;
  atomic_bool broken;
  int32_t source;
  int64_t offset;
  atomic_bool stale; /* a task waited for the disk: the others are skipped */
  const gather_plan *plan;
  const gather_run *run;
  gather_status status;
  gather_error *error;
} guarded;

typedef struct guarded_call {
  guarded *all;
  int64_t i;
} guarded_call;

static void call_task(void *argument) {
  guarded_call *call = argument;
  call->all->task(call->all->argument, call->i);
}

static void note_broken(guarded *all, int32_t source, int64_t offset) {
  if (!atomic_exchange(&all->broken, true)) all->source = source, all->offset = offset;
}

static void run_guarded(void *argument, int64_t i) {
  guarded_call call = {argument, i};
  guarded *all = call.all;
  gather_table *table = all->table;
  int32_t source;
  int64_t offset;
  if (atomic_load(&all->stale) || atomic_load(&all->broken) || gather_taking_stopped(all->taking)) return;
  gather_watch watch = gather_watch_start(all->taking->count);
  if (!gather_guard_run(table->sources, table->source_count, call_task, &call, &source, &offset))
    note_broken(all, source, offset);
  if (gather_watch_waited(&watch)) atomic_store(&all->stale, true);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  guarded *all = context;
  all->task = task, all->argument = argument;
  if (all->inner) {
    all->inner->parallel_for(all->inner->context, count, run_guarded, all);
    return;
  }
  for (int64_t i = 0; i < count; i++) run_guarded(all, i);
}

static void run_plan(void *argument) {
  guarded *all = argument;
  all->status = gather_plan_run(all->plan, all->run, all->error);
}

/* If all rows of a table are resident, the plan's kernels run on the mapping. */
gather_status gather_whole_take(const gather_taking *taking, const char *data, bool *done, gather_error *error) {
  gather_table *table = taking->table;
  guarded all = {.table = table, .taking = taking, .inner = taking->executor, .plan = taking->plan, .error = error};
  gather_executor executor = {&all, parallel_for, taking->executor ? taking->executor->threads : 1};
  gather_run run = GATHER_RUN_INIT;
  int64_t bad;
  gather_watch watch = gather_watch_start(taking->count);
  run.data = data, run.indices = taking->indices, run.out = taking->out, run.executor = &executor;
  run.bad_count = &bad, run.fresh_output = true; /* the indices were validated */
  all.run = &run;
  int32_t source;
  int64_t offset;
  if (!gather_guard_run(table->sources, table->source_count, run_plan, &all, &source, &offset))
    note_broken(&all, source, offset);
  if (all.stale || gather_watch_waited(&watch)) gather_table_doubt(table);
  *done = !all.stale;
  if (all.broken) return gather_table_fail_mapped(table, all.source, all.offset, error);
  GATHER_TRY(gather_taking_go_on(taking, error));
  return all.status;
}

const char *gather_whole_find(const gather_taking *taking) {
  gather_table *table = taking->table;
  const gather_part *part = table->parts;
  if (table->part_count != 1 || table->info.rows == 0) return NULL;
  if (part->memory) return part->memory;
  if (!table->residency || !table->sources[part->source].map) return NULL;
  gather_residency *residency = &table->residency[part->source];
  bool ask = taking->count / ROWS_PER_REGION >= residency->region_count;
  gather_table_expect(table, taking->count);
  bool all = gather_residency_is_all(residency, part->offset, part->rows * table->info.row_bytes, ask);
  return all ? residency->source->map + part->offset : NULL;
}
