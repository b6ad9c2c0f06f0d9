/* SPDX-License-Identifier: MIT
 *
 * test_hostile.c: descriptions drawn by chance, most of them nonsense: numbers that are no type, lengths and strides of every size,
 * side tensors of any shape. Each is accepted or refused with one sentence; nothing else happens. What is accepted and is small is
 * decoded from memory that ends where the description says. For the sanitizers above all. GATHER_TEST_HOSTILE=n, for slow emulators:
 * every n-th description only.
 */
#include "core/base/tensor.h"
#include "gather/codec.h"
#include "support/unit.h"

enum { CASES = 200000, RANK = 5, ROOM = 1 << 16 };

static uint64_t state;
static uint64_t bits(void) {
  state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ (z >> 27);
}
static int64_t below(int64_t limit) { return (int64_t)(bits() % (uint64_t)limit); }
static bool often(int percent) { return below(100) < percent; }

static int64_t length(void) {
  static const int64_t EDGES[] = {0, 1, 2, INT64_MAX, INT64_MIN, -1, INT32_MAX, INT64_C(1) << 40, INT64_C(1) << 61, 18, 144, 32, 256};
  return often(85) ? 1 + below(6) : EDGES[below(COUNT(EDGES))];
}

static struct {
  gather_tensor tensor;
  int64_t shape[RANK], strides[RANK];
} tensors[8];

/* A tensor of anything; its memory is of the right size if it is small, else NULL or nowhere. */
static gather_tensor *draw(int number, int32_t rank, int64_t last, bool bytes) {
  gather_tensor *t = &tensors[number].tensor;
  static unsigned char memory[8][ROOM];
  memset(t, 0, sizeof *t);
  t->type = (gather_type)(often(60) ? (often(50) ? GATHER_TYPE_UINT8 : GATHER_TYPE_FLOAT32) : below(40) - 2);
  if (bytes) t->type = GATHER_TYPE_UINT8;
  t->rank = often(97) ? rank : (int32_t)below(70) - 2;
  if (t->rank > RANK || t->rank < 0) t->rank = often(50) ? -1 : 65; /* refused before the shape is read */
  t->item_bytes = often(90) ? 18 : length();
  for (int d = 0; d < RANK; d++) tensors[number].shape[d] = length();
  if (rank > 0 && rank <= RANK && last > 0) tensors[number].shape[rank - 1] = last;
  t->shape = tensors[number].shape;
  if (often(15)) {
    for (int d = 0; d < RANK; d++) tensors[number].strides[d] = often(80) ? below(40) - 20 : length();
    t->strides = tensors[number].strides;
  }
  t->packed_offset = often(95) ? 0 : below(50) - 20;
  t->flags = (uint32_t)below(8);
  t->data = memory[number];
  if (gather_tensor_check(t, NULL) != GATHER_OK) return t;
  gather_size size = {gather_tensor_len(t), gather_tensor_bytes(t)};
  int64_t low, high;
  gather_tensor_extent(t, &size, &low, &high);
  if (low < -ROOM / 2 || high > ROOM / 2)
    t->strides = NULL, tensors[number].shape[0] = t->rank ? 0 : 1; /* nothing is read there */
  else
    t->data = memory[number] + ROOM / 2;
  return t;
}

static void draw_description(gather_quantized *q, int32_t rank, int64_t *groups, int64_t *shape) {
  q->codec = (gather_codec)(often(95) ? 1 + below(38) : below(60) - 5);
  const gather_codec_info *info = gather_codec_get(q->codec);
  const int64_t block = info && info->kind == GATHER_CODEC_BLOCKS ? info->block_bytes * (1 + below(3)) : 0;
  q->data = draw(0, rank, block, block > 0 && often(80));
  if (often(60)) q->code_type = (gather_type)(often(80) ? (often(50) ? GATHER_TYPE_UINT4 : GATHER_TYPE_UINT8) : below(40) - 2);
  if (often(20)) q->code_bits = (int32_t)below(12) - 2;
  if (often(20)) q->order = (gather_code_order)below(3);
  if (often(20)) q->rank = rank, q->shape = often(95) ? shape : NULL;
  for (int d = 0; d < RANK; d++) {
    groups[d] = often(70) ? below(4) : length();
    shape[d] = often(80) ? tensors[0].shape[d] : length();
  }
  if (often(20)) q->groups = groups;
  q->group_axis = often(80) ? -1 : below(12) - 6;
  q->group_len = often(70) ? below(5) : length();
  q->flat_groups = often(10);
  const uint32_t sides = info ? info->sides : 0;
  const bool any = often(5);
  if (any || (sides & (GATHER_NEEDS_SCALE | GATHER_MAY_SCALE) && often(80))) q->scale = draw(1, often(50) ? rank : 0, 0, false);
  if (any || (sides & GATHER_MAY_ZERO_POINT && often(50))) q->zero_point = draw(2, often(50) ? rank : 0, 0, false);
  if (any || (sides & GATHER_NEEDS_BIAS && often(95))) q->bias = draw(3, often(50) ? rank : 0, 0, false);
  if (any || (sides & GATHER_NEEDS_TABLE && often(95))) q->table = draw(4, 1, often(50) ? 16 : 256, false);
  if (any || (sides & GATHER_MAY_SCALE2 && often(20))) q->scale2 = draw(5, 0, 0, false);
  if (q->scale && often(10)) q->scale_table = draw(6, 1, 256, false), q->scale_scale = draw(7, 1, 0, false), q->scale_group_len = below(4);
  if (often(15)) q->scale_type = (gather_type)(below(40) - 2);
  if (often(15)) q->zero_point_type = often(50) ? GATHER_TYPE_UINT4 : (gather_type)(below(40) - 2);
  q->code_offset = often(80) ? 0 : (int32_t)bits();
}

static void nonsense(void **unused) {
  static float out[ROOM];
  int64_t accepted = 0, decoded = 0, cases = 0;
  const char *sparse = getenv("GATHER_TEST_HOSTILE");
  const int64_t step = sparse && atoi(sparse) > 1 ? atoi(sparse) : 1;
  for (int64_t i = 0; i < CASES; i += step, cases++) {
    gather_quantized q = GATHER_QUANTIZED_INIT;
    gather_error error;
    gather_decoder *decoder;
    int64_t groups[RANK], given[RANK], shape[GATHER_MAX_RANK], len = 1;
    int32_t rank;
    state = (uint64_t)i * 977;
    draw_description(&q, 1 + (int32_t)below(3), groups, given);
    const gather_status status = gather_quantized_shape(&q, shape, &rank, &error);
    if (status != GATHER_OK) {
      assert_error(&error, status);
      continue;
    }
    accepted++;
    if (gather_decoder_create(&q, GATHER_TYPE_FLOAT16, &decoder, &error) == GATHER_OK) gather_decoder_destroy(decoder);
    for (int32_t d = 0; d < rank && len <= ROOM; d++) len = shape[d] > ROOM ? ROOM + 1 : len * shape[d];
    if (len > ROOM) continue;
    const gather_tensor to = tensor_of(GATHER_TYPE_FLOAT32, out, rank, shape);
    const gather_status done = gather_dequantize(&q, &to, NULL, &error);
    if (done == GATHER_OK)
      decoded += len > 0;
    else
      assert_error(&error, done);
  }
  assert_true(accepted > cases / 50); /* not all is refused at the door */
  assert_true(decoded > cases / 100);
}

TESTS(nonsense)
