/* SPDX-License-Identifier: MIT
 *
 * shuffle_layout.c: sizes and offsets that follow from the plan.
 */
#include "table/shuffle/shuffle_internal.h"

int64_t gather_shuffle_bucket_offset(const gather_shuffle *job, int64_t bucket) {
  return job->header_bytes + bucket * job->bucket_rows * job->row_bytes;
}

int64_t gather_shuffle_bucket_len(const gather_shuffle *job, int64_t bucket) {
  int64_t left = job->out_rows - bucket * job->bucket_rows;
  return left < job->bucket_rows ? left : job->bucket_rows;
}

int64_t gather_shuffle_out_bytes(const gather_shuffle *job) {
  return job->header_bytes + job->out_rows * job->row_bytes;
}

int64_t gather_shuffle_temporary_bytes(const gather_shuffle *job) {
  if (job->passes == 1) return 0;
  int64_t pairs = job->given ? job->out_rows * (int64_t)sizeof(gather_shuffle_pair) : 0;
  return job->bucket_rows * job->row_bytes + job->out_rows * (int64_t)sizeof(uint32_t) + pairs;
}

int64_t gather_shuffle_disk_bytes(const gather_shuffle *job) {
  return gather_shuffle_out_bytes(job) + gather_shuffle_temporary_bytes(job);
}
