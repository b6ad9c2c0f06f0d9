/* SPDX-License-Identifier: MIT
 *
 * shuffle_order.c: a given order as row numbers, of any integer type.
 */
#include "io/format/format.h"
#include "table/ids.h"
#include "table/shuffle/shuffle_internal.h"
#include "table/system/shuffle_advice.h"

enum { BLOCK = 4096 };

/* Shared memory may have changed since it was checked. Whatever is in it, no number outside of the table passes (kernel/resolve.c). */
static gather_status check_rows(const gather_bad *bad, gather_error *error) {
  if (gather_bad_count(bad) == 0) return GATHER_OK;
  return gather_fail(error, GATHER_IO_ERROR, "the indices changed while they were in use");
}

/* Whether the whole order is in the mapping of its file: other memory would lose its content. */
static bool is_mapped(const gather_shuffle *job) {
  if (!job->order_file || !job->order_file->map.owned) return false;
  const uintptr_t map = (uintptr_t)job->order_file->map.bytes, order = (uintptr_t)job->order;
  const uint64_t map_bytes = (uint64_t)job->order_file->map.size, bytes = (uint64_t)job->order_bytes;
  return order >= map && order - map <= map_bytes && bytes <= map_bytes - (order - map);
}

gather_status gather_shuffle_order_read(const gather_shuffle *job, int64_t first, int64_t len, int64_t *rows,
                                        gather_error *error) {
  gather_status status = GATHER_OK;
  for (int64_t done = 0; done < len && status == GATHER_OK; done += BLOCK) {
    const int64_t now = len - done < BLOCK ? len - done : BLOCK;
    gather_bad bad;
    gather_bad_init(&bad);
    status = gather_shuffle_go_on(job, error);
    if (status != GATHER_OK) break;
    gather_ids_rows(job->plan, job->row_bytes, job->order, first + done, now, rows + done, &bad);
    status = check_rows(&bad, error);
  }
  if (is_mapped(job)) gather_shuffle_drop_pages(job->order, job->order_bytes);
  return status;
}

gather_status gather_shuffle_order_check(gather_shuffle *job, gather_error *error) {
  int64_t rows[BLOCK];
  uint64_t hash = 1;
  for (int64_t first = 0; first < job->out_rows; first += BLOCK) {
    int64_t len = job->out_rows - first < BLOCK ? job->out_rows - first : BLOCK;
    GATHER_TRY(gather_shuffle_order_read(job, first, len, rows, error));
    for (int64_t i = 0; i < len; i++) {
      hash = (hash ^ (uint64_t)rows[i]) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
  }
  job->order_hash = hash;
  return GATHER_OK;
}
