/* SPDX-License-Identifier: MIT
 *
 * codec_stores.c: ordinary or non-temporal stores. An ordinary store reads the line that it writes; a non-temporal one does not, but
 * writes to memory also where the output is in a cache. Nobody knows where it is: so a large gather times both on its first rows.
 */
#include "core/codec/codec_stores.h"

#include "core/kernel/kernel.h"
#include "core/kernel/tuning.h"
#include "core/system/clock.h"

enum {
  TRIALS = 2, /* of each; the shorter time counts, which no interruption prolongs */
  TRIAL_BYTES =
      524288, /* of the output: with a quarter, ordinary stores to lines in no cache looked slower than they are */
  SHARE = 4,  /* of an output of this many times nontemporal_bytes the trials are a small part */
  MOST = 8    /* all trials together take at most this part of the rows */
};

bool gather_stores_are_tried(int64_t bytes) { return bytes / SHARE >= gather_tuned(GATHER_TUNING_nontemporal_bytes); }

bool gather_stores_nontemporal(gather_decoder *decoder) {
  const char *isa;
  if (decoder->type != GATHER_DECODE_FLOAT32 || decoder->wide || !gather_kernel_nontemporal_copy()) return false;
  if (decoder->info.kind == GATHER_CODEC_BLOCKS) {
    const gather_blocks_fn blocks = gather_kernel_blocks(decoder->info.codec, GATHER_DECODE_FLOAT32_PAST, &isa);
    if (blocks) decoder->blocks = blocks;
    return blocks != NULL;
  }
  const gather_codes_fn codes = gather_kernel_codes(gather_decoder_kind(decoder), GATHER_DECODE_FLOAT32_PAST, &isa);
  if (codes) decoder->codes = codes;
  return codes != NULL;
}

void gather_stores_fence(void) { gather_kernel_nontemporal_copy()->fence(); }

int64_t gather_stores_try(gather_stores_run run, void *ordinary, void *nontemporal, int64_t count, int64_t row_bytes,
                          int32_t threads, void **faster) {
  /* Several threads share the bandwidth of memory, by which the two ways differ: each has a task. */
  const int64_t bytes = threads > 1 ? threads * gather_tuned(GATHER_TUNING_task_bytes) : TRIAL_BYTES;
  const int64_t wanted = bytes / row_bytes + 1, most = count / (2 * TRIALS * MOST);
  const int64_t slice = wanted < most ? wanted : threads > 1 ? 0 : most;
  void *const ways[] = {ordinary, nontemporal};
  int64_t best[2] = {INT64_MAX, INT64_MAX}, done = 0;
  *faster = ordinary;
  if (slice == 0) return 0;
  for (int trial = 0; trial < 2 * TRIALS; trial++, done += slice) {
    const int64_t start = gather_clock();
    run(ways[trial % 2], done, slice);
    const int64_t took = gather_clock() - start;
    if (took < best[trial % 2]) best[trial % 2] = took;
  }
  if (best[1] < best[0]) *faster = nontemporal;
  return done;
}
