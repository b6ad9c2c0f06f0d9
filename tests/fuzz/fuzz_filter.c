/* SPDX-License-Identifier: MIT
 *
 * fuzz_filter.c: how many filters, three bytes for each of them (kind, bytes of an element, value), the length that the metadata promise
 * (2 bytes) and which filters are left out (1), then what is stored. Whatever it is, it becomes bytes of just this length, or an error that
 * says why; both times when it is asked twice, and also where memory held something else before.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "io/filter/filter.h"

enum { FILTERS = 3, EACH = 3, HEAD = 1 + FILTERS * EACH + 3, RAW_MAX = 1 << 14 };

static void describe(const uint8_t *bytes, gather_pipeline *p) {
  static const int64_t BLOCKS[] = {0, 8, 64, 1 << 13};
  static const gather_type DELTAS[] = {GATHER_TYPE_UINT8, GATHER_TYPE_INT16, GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT64};
  *p = (gather_pipeline){.count = bytes[0] % (FILTERS + 1)};
  for (int32_t i = 0; i < p->count; i++) {
    const uint8_t *one = bytes + 1 + i * EACH;
    gather_filter *f = &p->filters[i];
    f->kind = (gather_filter_kind)(one[0] % GATHER_FILTER_COUNT);
    f->item_bytes = 1 + one[1] % 64;
    if (f->kind == GATHER_FILTER_DELTA) f->value = DELTAS[one[2] % 4], f->item_bytes = 1 << one[2] % 4;
    if (f->kind == GATHER_FILTER_BITSHUFFLE) f->value = one[2] % 4 == 1 ? 0 : one[2] % 4, f->block_len = BLOCKS[one[2] >> 6];
  }
}

/* Runs it on memory of exactly its length, so that the sanitizer sees what is read behind it. */
static gather_status run(gather_unfilter *unfilter, const uint8_t *bytes, size_t count, uint32_t skipped, int64_t raw, char *out) {
  gather_plain plain = {0};
  gather_error error = {.message = ""};
  const gather_status status = gather_unfilter_run(unfilter, bytes, (int64_t)count, skipped, raw, &plain, &error);
  if (status != GATHER_OK) {
    fuzz_check(error.status == status && error.message[0], "a refusal says why");
    return status;
  }
  fuzz_check(plain.raw_bytes == raw, "as many bytes as were promised");
  gather_plain_copy(&plain, 0, raw, out);
  if (raw > 2) { /* a part is what it is in the whole */
    char part[RAW_MAX];
    gather_plain_copy(&plain, 1, raw - 2, part);
    fuzz_check(memcmp(part, out + 1, (size_t)raw - 2) == 0, "parts are equal to the whole");
  }
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  gather_pipeline pipeline;
  gather_unfilter *unfilter = NULL;
  gather_error error = {.message = ""};
  if (size < HEAD) return 0;
  describe(bytes, &pipeline);
  const int64_t raw = (bytes[HEAD - 3] | bytes[HEAD - 2] << 8) % (RAW_MAX + 1);
  if (gather_pipeline_check(&pipeline, &error) != GATHER_OK) {
    fuzz_check(error.message[0], "a refusal says why");
    return 0;
  }
  fuzz_check(gather_unfilter_bytes(&pipeline, raw) >= 0, "memory is known before");
  if (gather_unfilter_create(&pipeline, raw, &unfilter, &error) != GATHER_OK) return 0;
  const size_t count = size - HEAD;
  uint8_t *stored = malloc(count ? count : 1);
  char *out = malloc(2 * (size_t)raw + 1);
  if (!stored || !out) abort();
  if (count) memcpy(stored, bytes + HEAD, count);
  const gather_status first = run(unfilter, stored, count, bytes[HEAD - 1], raw, out);
  const gather_status second = run(unfilter, stored, count, bytes[HEAD - 1], raw, out + raw);
  fuzz_check(first == second && (first != GATHER_OK || memcmp(out, out + raw, (size_t)raw) == 0), "the answer is the same twice");
  gather_unfilter_destroy(unfilter);
  free(stored);
  free(out);
  return 0;
}
