/* SPDX-License-Identifier: MIT
 *
 * index_part.c: indices part by part. Files of indices are mapped, and may be larger than memory: pages that were read are
 * released.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "index_part.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail.h"

/* A large number of tasks, so that each is as short as possible. */
enum { MANY_THREADS = 1 << 24 };

static bool is_dense(const gather_tensor *tensor, int64_t item_bytes) {
  if (!tensor->strides) return true;
  int64_t step = item_bytes;
  for (int32_t i = tensor->rank - 1; i >= 0; i--) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != step) return false;
    step *= tensor->shape[i];
  }
  return true;
}

/* Index types are never packed. */
gather_status gather_cli_index_parts_start(const gather_tensor *tensor, int64_t most, gather_cli_index_parts *parts, gather_error *error) {
  *parts = (gather_cli_index_parts){.tensor = *tensor, .item_bytes = gather_type_get(tensor->type)->bits / 8};
  parts->dense = is_dense(tensor, parts->item_bytes);
  if (parts->dense || most == 0) return GATHER_OK;
  if (most <= PTRDIFF_MAX / parts->item_bytes) parts->copy = malloc((size_t)(most * parts->item_bytes));
  if (!parts->copy) return gather_cli_fail(error, GATHER_OUT_OF_MEMORY, "out of memory for a part of the indices");
  return GATHER_OK;
}

/* Copies indices number first to first + len - 1 one by one. */
static void copy_part(const gather_cli_index_parts *parts, int64_t first, int64_t len) {
  const gather_tensor *tensor = &parts->tensor;
  const size_t item = (size_t)parts->item_bytes;
  int64_t at[GATHER_MAX_RANK], left = first;
  for (int32_t i = tensor->rank - 1; i >= 0; i--) {
    at[i] = left % tensor->shape[i];
    left /= tensor->shape[i];
  }
  for (int64_t k = 0; k < len; k++) {
    const char *from = tensor->data;
    for (int32_t i = 0; i < tensor->rank; i++) from += at[i] * tensor->strides[i];
    memcpy(parts->copy + (size_t)k * item, from, item);
    for (int32_t i = tensor->rank - 1; i >= 0 && ++at[i] == tensor->shape[i]; i--) at[i] = 0;
  }
}

gather_tensor gather_cli_index_part(const gather_cli_index_parts *parts, int64_t first, const int64_t *len) {
  gather_tensor part = parts->tensor;
  part.rank = 1;
  part.shape = len;
  part.strides = NULL;
  if (parts->dense) {
    part.data = (char *)part.data + first * parts->item_bytes;
  } else {
    copy_part(parts, first, *len);
    part.data = parts->copy;
  }
  return part;
}

void gather_cli_index_parts_end(gather_cli_index_parts *parts) {
  free(parts->copy);
  parts->copy = NULL;
}

void gather_cli_drop_pages(const void *memory, int64_t bytes) {
#if defined(MADV_DONTNEED)
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)memory;
  uintptr_t first = (begin + page - 1) / page * page, last = (begin + (uintptr_t)bytes) / page * page;
  if (memory && first < last) (void)madvise((char *)memory + (first - begin), last - first, MADV_DONTNEED);
#else
  (void)memory, (void)bytes;
#endif
}

static void run_and_drop(void *argument, int64_t i) {
  gather_cli_dropping *dropping = argument;
  dropping->task(dropping->argument, i);
  int64_t task_bytes = dropping->bytes / dropping->tasks + 1, every = dropping->step_bytes / task_bytes;
  if (every <= 1 || i % every == 0) gather_cli_drop_pages(dropping->memory, dropping->bytes);
}

static void parallel_for(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  gather_cli_dropping *dropping = context;
  dropping->task = task;
  dropping->argument = argument;
  dropping->tasks = count;
  if (dropping->inner)
    dropping->inner->parallel_for(dropping->inner->context, count, run_and_drop, dropping);
  else
    for (int64_t i = 0; i < count; i++) run_and_drop(dropping, i);
}

void gather_cli_dropping_start(gather_cli_dropping *dropping, const gather_executor *inner, const void *memory, int64_t bytes,
                               int64_t step_bytes) {
  *dropping = (gather_cli_dropping){.inner = inner, .memory = memory, .bytes = bytes, .step_bytes = step_bytes, .tasks = 1};
  dropping->executor = (gather_executor){dropping, parallel_for, MANY_THREADS};
}
