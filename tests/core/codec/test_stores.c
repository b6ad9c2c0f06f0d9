/* SPDX-License-Identifier: MIT
 *
 * test_stores.c: large outputs, of which trials write some rows with ordinary and some with non-temporal stores: the same bytes as
 * without trials, for every codec of blocks and for codes with scales, aligned and unaligned outputs, filled rows, and threads.
 */
#include <math.h>

#include "gather/codec.h"
#include "support/unit.h"

enum { ROWS = 40, TAKEN = 300, MOST_LEN = 512, MOST_BYTES = MOST_LEN * 4, LINE = 64 };

static _Alignas(64) unsigned char data[ROWS * MOST_BYTES];
static float scales[ROWS * MOST_LEN];
static int64_t ids[TAKEN];
static _Alignas(64) float out[TAKEN * MOST_LEN + 2 * LINE], want[TAKEN * MOST_LEN];
static gather_pool *pool;

static uint32_t drawn(void) {
  static uint64_t seed = 18;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}

typedef struct {
  gather_quantized q;
  gather_tensor data, scale;
  int64_t data_shape[2], scale_shape[2], len;
} table;

/* Rows of at least two blocks, or of 16 to 512 codes of four bits in groups of `group`. */
static void make(table *t, const gather_codec_info *info, int64_t len, int64_t group) {
  const bool blocks = info->kind == GATHER_CODEC_BLOCKS;
  *t = (table){.q = GATHER_QUANTIZED_INIT, .len = len};
  t->data_shape[0] = t->scale_shape[0] = ROWS;
  t->data_shape[1] = blocks ? len / info->block_len * info->block_bytes : len / 2;
  t->scale_shape[1] = (len - 1) / group + 1;
  t->data = (gather_tensor){data, GATHER_TYPE_UINT8, 2, 0, t->data_shape, NULL, 0, 0};
  t->scale = (gather_tensor){scales, GATHER_TYPE_FLOAT32, 2, 0, t->scale_shape, NULL, 0, 0};
  t->q.codec = info->codec, t->q.data = &t->data;
  if (blocks) return;
  t->q.code_type = GATHER_TYPE_UINT4, t->q.group_len = group, t->q.scale = &t->scale, t->q.code_offset = 8;
}

static void take(const table *t, float *to, bool fills, const gather_executor *executor, int64_t nontemporal_bytes) {
  const float fill = 7;
  const int64_t ids_shape[] = {TAKEN}, out_shape[] = {TAKEN, t->len};
  const gather_tensor indices = {ids, GATHER_TYPE_INT64, 1, 0, ids_shape, NULL, 0, 0};
  const gather_tensor rows = {to, GATHER_TYPE_FLOAT32, 2, 0, out_shape, NULL, 0, 0};
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error;
  options.executor = executor;
  if (fills) options.on_bad = GATHER_ON_BAD_FILL, options.fill = &fill;
  assert_status(gather_tuning_set("nontemporal_bytes", nontemporal_bytes, NULL), GATHER_OK);
  if (gather_take_quantized(NULL, &t->q, &indices, &rows, &options, &error) != GATHER_OK) fail_msg("%s", error.message);
}

static void compare(const table *t, const float *got, const char *name) {
  for (int64_t i = 0; i < TAKEN * t->len; i++)
    if (memcmp(got + i, want + i, sizeof *want) != 0 && !(isnan(got[i]) && isnan(want[i])))
      fail_msg("%s, rows of %d: element %d is %g, not %g", name, (int)t->len, (int)i, (double)got[i], (double)want[i]);
}

static void try_table(const table *t, const char *name) {
  for (int turn = 0; turn < 12; turn++) {
    const bool fills = turn & 1;
    float *to = out + LINE + (turn & 2 ? 5 : 0); /* at a line, or not */
    for (int64_t i = 0; i < TAKEN; i++) ids[i] = (int64_t)(drawn() % (2 * ROWS)) - ROWS;
    for (int64_t i = 0; fills && i < TAKEN; i += 7) ids[i] = ROWS + 3;
    memset(out, 0x5A, sizeof out);
    assert_status(gather_tuning_set("cache_bytes", turn & 8 ? 1 : 0, NULL), GATHER_OK); /* 1: rows are prefetched */
    take(t, want, fills, NULL, INT64_MAX);
    take(t, to, fills, turn & 4 ? gather_pool_executor(pool) : NULL, 1);
    compare(t, to, name);
    const unsigned char *bytes = (const unsigned char *)out, *end = (const unsigned char *)(to + TAKEN * t->len);
    for (const unsigned char *at = bytes; at < (const unsigned char *)to; at++) assert_int_equal(*at, 0x5A);
    for (const unsigned char *at = end; at < bytes + sizeof out; at++) assert_int_equal(*at, 0x5A);
  }
}

static void every_codec_of_blocks(void **state) {
  int tried = 0;
  for (int c = 1; gather_codec_get((gather_codec)c); c++) {
    const gather_codec_info *info = gather_codec_get((gather_codec)c);
    table t;
    if (info->kind != GATHER_CODEC_BLOCKS) continue;
    make(&t, info, info->block_len > MOST_LEN / 2 ? info->block_len : 2 * info->block_len, 1);
    try_table(&t, info->name);
    tried++;
  }
  assert_true(tried >= 26);
}

static void codes_with_scales(void **state) {
  static const int64_t LENGTHS[] = {16, 32, 62, 64, 512}, GROUPS[] = {16, 32, 5};
  for (size_t i = 0; i < COUNT(LENGTHS); i++)
    for (size_t k = 0; k < COUNT(GROUPS); k++) {
      table t;
      make(&t, gather_codec_get(GATHER_CODEC_AFFINE), LENGTHS[i], GROUPS[k]);
      try_table(&t, "affine");
    }
}

int main(void) {
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)drawn();
  for (size_t i = 0; i < COUNT(scales); i++) scales[i] = (float)(drawn() % 1000) / 64;
  if (gather_pool_create(3, &pool, NULL) != GATHER_OK) return 1;
  const int failed = RUN_TESTS(every_codec_of_blocks, codes_with_scales);
  gather_pool_destroy(pool);
  return failed;
}
