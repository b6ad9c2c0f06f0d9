/* SPDX-License-Identifier: MIT
 *
 * mapped.c: the guard of tables for mapped memory of others: what a plug-in reads in a file that its host has mapped.
 */
#include <stdatomic.h>

#include "core/base/error.h"
#include "gather/table.h"
#include "table/system/table_system.h"

typedef struct mapped_call {
  gather_table_source sources[GATHER_MAPPED_MOST]; /* only the mappings: what the handler looks for */
  int32_t count;
  const gather_executor *inner;
  gather_mapped_body body;
  void *argument;
  const gather_executor *executor;
  gather_error *error;
  gather_status status;
  atomic_bool broken; /* the other tasks are skipped */
  int32_t source;
  int64_t offset;
} mapped_call;

/* Tasks, each in its thread's guard. */
typedef struct mapped_tasks {
  mapped_call *call;
  void (*task)(void *argument, int64_t i);
  void *argument;
} mapped_tasks;

typedef struct mapped_task {
  const mapped_tasks *tasks;
  int64_t i;
} mapped_task;

static void note_broken(mapped_call *call, int32_t source, int64_t offset) {
  if (!atomic_exchange(&call->broken, true)) call->source = source, call->offset = offset;
}

static void call_task(void *argument) {
  const mapped_task *task = argument;
  task->tasks->task(task->tasks->argument, task->i);
}

static void run_guarded(void *argument, int64_t i) {
  mapped_task task = {argument, i};
  mapped_call *call = task.tasks->call;
  int32_t source;
  int64_t offset;
  if (atomic_load(&call->broken)) return;
  if (!gather_guard_run(call->sources, call->count, call_task, &task, &source, &offset)) note_broken(call, source, offset);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  mapped_call *call = context;
  mapped_tasks tasks = {call, task, argument};
  call->inner->parallel_for(call->inner->context, count, run_guarded, &tasks);
}

static void call_body(void *argument) {
  mapped_call *call = argument;
  call->status = call->body(call->argument, call->executor, call->error);
}

static gather_status blame(const gather_mapped *mapped, const mapped_call *call, gather_error *error) {
  if (call->source < 0) return gather_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for the guard of a mapped file");
  const gather_mapped *from = &mapped[call->source];
  return gather_fail_file(error, GATHER_IO_ERROR, from->path ? from->path : "a mapped file", from->offset + call->offset,
                          "the mapped file cannot be read: it was truncated while it was open, or the disk failed");
}

gather_status gather_mapped_call(const gather_mapped *mapped, int32_t count, const gather_executor *executor, gather_mapped_body body,
                                 void *argument, gather_error *error) {
  mapped_call call = {.count = count, .inner = executor, .body = body, .argument = argument, .error = error};
  int32_t source;
  int64_t offset;
  if (!mapped || count < 1 || count > GATHER_MAPPED_MOST)
    return gather_fail(error, GATHER_USAGE, "`count` must be 1 to %d", GATHER_MAPPED_MOST);
  for (int32_t i = 0; i < count; i++) call.sources[i].map = (char *)(uintptr_t)mapped[i].memory, call.sources[i].size = mapped[i].bytes;
  GATHER_TRY(gather_guard_install(error)); /* each time: the program may have set a handler of its own since */
  const gather_executor guarded = {&call, parallel_for, executor ? executor->threads : 1};
  call.executor = executor ? &guarded : NULL;
  if (!gather_guard_run(call.sources, count, call_body, &call, &source, &offset)) note_broken(&call, source, offset);
  return atomic_load(&call.broken) ? blame(mapped, &call, error) : call.status;
}
