/* SPDX-License-Identifier: MIT
 *
 * test_tree.c: gather_tree beside a loop written from the document: random cases of every type, stride, byte order, policy and number
 * of threads; the suite's worked examples; exact errors; shapes.
 */
#include <math.h>

#include "core/base/compiler.h"
#include "gather/tree.h"
#include "support/unit.h"

enum { MOST = 4096, ROUNDS = 24000 };

static const gather_type TYPES[] = {GATHER_TYPE_INT8,    GATHER_TYPE_INT16,   GATHER_TYPE_INT32,         GATHER_TYPE_INT64,
                                    GATHER_TYPE_UINT8,   GATHER_TYPE_UINT16,  GATHER_TYPE_UINT32,        GATHER_TYPE_UINT64,
                                    GATHER_TYPE_FLOAT16, GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT64,       GATHER_TYPE_BFLOAT16,
                                    GATHER_TYPE_INT32,   GATHER_TYPE_FLOAT32, GATHER_TYPE_FLOAT8_E4M3FN, GATHER_TYPE_FLOAT8_E5M2};

/* A tensor with memory of its own, whose elements are set by position. */
typedef struct {
  gather_tensor tensor;
  int64_t shape[3], strides[3];
  unsigned char *bytes, *first;
  size_t size;
} holder;

static uint64_t state_of_random;
static int64_t below(int64_t limit) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state_of_random >> 33) % (uint64_t)limit);
}

static int64_t width_of(gather_type type) { return gather_type_get(type)->bits / 8; }
static bool is_float(gather_type type) { return gather_type_get(type)->kind == GATHER_KIND_FLOAT; }

/* The code of a small integer in a type, found by trying all codes of a float of 8 or 16 bits. */
static void encode(gather_type type, int64_t number, unsigned char *to) {
  const int64_t width = width_of(type);
  uint64_t bits = (uint64_t)number;
  if (type == GATHER_TYPE_FLOAT32) {
    const float real = (float)number;
    memcpy(to, &real, sizeof real);
  } else if (type == GATHER_TYPE_FLOAT64) {
    const double real = (double)number;
    memcpy(to, &real, sizeof real);
  } else if (is_float(type)) {
    for (uint32_t code = 0; code < (width == 1 ? 256u : 65536u); code++) {
      const uint16_t wide = (uint16_t)code;
      const uint8_t narrow = (uint8_t)code;
      double real;
      memcpy(to, width == 1 ? (const void *)&narrow : (const void *)&wide, (size_t)width);
      if (gather_float_read(type, to, &real) && real == (double)number) return;
    }
    fail_msg("%s has no %d", gather_type_get(type)->name, (int)number);
  } else {
    for (int64_t i = 0; i < width; i++) {
      const int64_t byte = GATHER_BIG_ENDIAN ? width - 1 - i : i;
      to[i] = (unsigned char)(bits >> 8 * byte);
    }
  }
}

/* Small numbers are encoded once per type. */
static void put(holder *h, int64_t at, int64_t number) {
  static unsigned char codes[64][512][8];
  static bool known[64][512];
  const int64_t width = width_of(h->tensor.type);
  unsigned char own[8];
  const int t = (int)h->tensor.type;
  if (number >= -256 && number < 256) {
    if (!known[t][number + 256]) encode(h->tensor.type, number, codes[t][number + 256]);
    known[t][number + 256] = true;
    memcpy(own, codes[t][number + 256], sizeof own);
  } else {
    encode(h->tensor.type, number, own);
  }
  int64_t offset = 0, rest = at;
  for (int32_t d = h->tensor.rank - 1; d >= 0; d--) offset += rest % h->shape[d] * h->strides[d], rest /= h->shape[d];
  const bool swapped = (h->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  for (int64_t i = 0; i < width; i++) h->first[offset + i] = own[swapped ? width - 1 - i : i];
}

/* Dense, or with gaps, backwards, transposed. */
static void make(holder *h, gather_type type, int32_t rank, const int64_t *shape, bool plain, uint32_t flags) {
  int64_t order[3] = {0, 1, 2}, step = width_of(type), lowest = 0, total = step;
  memset(h, 0, sizeof *h);
  for (int32_t d = 0; d < rank; d++) h->shape[d] = shape[d];
  if (!plain)
    for (int32_t d = rank - 1; d > 0; d--) {
      const int64_t other = below(d + 1), keep = order[d];
      order[d] = order[other], order[other] = keep;
    }
  for (int32_t k = rank - 1; k >= 0; k--) {
    const int64_t d = order[k], gap = plain ? 0 : below(3);
    h->strides[d] = step;
    if (shape[d] > 0) total = step * shape[d] + (gap ? step : 0);
    step = total;
    if (!plain && below(4) == 0 && shape[d] > 0) {
      h->strides[d] = -h->strides[d];
      lowest += h->strides[d] * (shape[d] - 1);
    }
  }
  h->size = (size_t)(total > 0 ? total : 1);
  h->bytes = malloc(h->size);
  assert_non_null(h->bytes);
  memset(h->bytes, 0xA5, h->size);
  h->first = h->bytes - lowest;
  h->tensor = tensor_of(type, h->first, rank, h->shape);
  h->tensor.strides = plain ? NULL : h->strides;
  h->tensor.flags = flags;
}

typedef struct {
  gather_type type;
  int64_t shape[3], steps[MOST], parents[MOST], lens[64], end, fill;
  gather_on_bad on_bad;
  bool negative;
  /* The answer. */
  int64_t out[MOST], bad, position, value;
} beam_case;

static int64_t cell(const beam_case *c, int64_t t, int64_t b, int64_t w) { return (t * c->shape[1] + b) * c->shape[2] + w; }

/* The document's loop for one sequence; marks each parent out of range that it follows. */
static void follow(beam_case *c, int64_t b, int64_t w, bool *marked) {
  const int64_t width = c->shape[2];
  int64_t last = c->lens[b] < c->shape[0] ? c->lens[b] : c->shape[0], beam = w;
  bool filled = false, finished = false;
  for (int64_t t = 0; t < c->shape[0]; t++) c->out[cell(c, t, b, w)] = c->end;
  for (int64_t t = last - 1; t >= 0; t--) {
    c->out[cell(c, t, b, w)] = filled ? c->fill : c->steps[cell(c, t, b, beam)];
    if (t == 0 || filled) continue;
    const int64_t at = cell(c, t, b, beam);
    int64_t parent = c->parents[at];
    if (c->negative && parent < 0 && parent >= -width) parent += width;
    if (parent < 0 || parent >= width) {
      marked[at] = true;
      if (c->on_bad == GATHER_ON_BAD_ERROR) return;
      if (c->on_bad == GATHER_ON_BAD_WRAP) parent = (parent % width + width) % width;
      if (c->on_bad == GATHER_ON_BAD_CLAMP || c->on_bad == GATHER_ON_BAD_PROMISE) parent = parent < 0 ? 0 : width - 1;
      filled = c->on_bad == GATHER_ON_BAD_ZERO || c->on_bad == GATHER_ON_BAD_FILL;
    }
    beam = filled ? 0 : parent;
  }
  for (int64_t t = 0; t < last; t++) {
    int64_t *id = &c->out[cell(c, t, b, w)];
    if (finished)
      *id = c->end;
    else
      finished = *id == c->end;
  }
}

static void answer(beam_case *c) {
  static bool marked[MOST];
  const int64_t cells = c->shape[0] * c->shape[1] * c->shape[2];
  memset(marked, 0, sizeof marked);
  for (int64_t b = 0; b < c->shape[1]; b++)
    for (int64_t w = 0; w < c->shape[2]; w++) follow(c, b, w, marked);
  c->bad = 0;
  for (int64_t i = cells - 1; i >= 0; i--)
    if (marked[i]) c->bad++, c->position = i, c->value = c->parents[i];
}

static void draw(beam_case *c) {
  static const gather_on_bad POLICIES[] = {GATHER_ON_BAD_ERROR, GATHER_ON_BAD_ERROR, GATHER_ON_BAD_CLAMP,  GATHER_ON_BAD_WRAP,
                                           GATHER_ON_BAD_ZERO,  GATHER_ON_BAD_FILL,  GATHER_ON_BAD_PROMISE};
  c->type = TYPES[below(COUNT(TYPES))];
  const bool narrow = width_of(c->type) == 1 && is_float(c->type), is_signed = gather_type_get(c->type)->kind != GATHER_KIND_UINT;
  /* A float of 8 bits has all integers to 8. */
  const int64_t most = narrow ? 8 : 100;
  c->shape[0] = below(9), c->shape[1] = below(5), c->shape[2] = below(10) == 0 ? below(100) : below(8);
  if (narrow && c->shape[2] > 8) c->shape[2] = 8;
  c->on_bad = POLICIES[below(COUNT(POLICIES))];
  c->negative = is_signed && below(3) == 0;
  const int64_t tokens = 1 + below(6), one_in = below(3) == 0 ? 3 + below(40) : 0;
  c->end = below(tokens + 1), c->fill = c->on_bad == GATHER_ON_BAD_FILL ? below(tokens) : 0;
  for (int64_t i = 0; i < c->shape[0] * c->shape[1] * c->shape[2]; i++) {
    c->steps[i] = below(tokens + 1);
    c->parents[i] = below(c->shape[2]);
    if (one_in && below(one_in) == 0) c->parents[i] = below(2 * most) - (is_signed ? most : 0);
    if (narrow && c->parents[i] > 8) c->parents[i] = 8;
    if (narrow && c->parents[i] < -8) c->parents[i] = -8;
  }
  for (int64_t b = 0; b < c->shape[1]; b++) c->lens[b] = is_signed ? below(most > 12 ? 12 : most) - 1 : below(8);
}

static gather_pool *pools[3];

static void one_case(beam_case *c, bool plain) {
  holder in[4], out, want;
  const int64_t shape1[1] = {c->shape[1]};
  const uint32_t order = below(3) == 0 ? GATHER_TENSOR_BYTE_SWAPPED : 0;
  unsigned char fill[8];
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error = dirty_error();
  int64_t bad = -1;
  answer(c);
  make(&in[0], c->type, 3, c->shape, plain || below(2), order);
  make(&in[1], c->type, 3, c->shape, plain || below(2), below(3) == 0 ? GATHER_TENSOR_BYTE_SWAPPED : 0);
  make(&in[2], c->type, 1, shape1, plain || below(2), below(3) == 0 ? GATHER_TENSOR_BYTE_SWAPPED : 0);
  make(&in[3], c->type, 0, NULL, true, below(3) == 0 ? GATHER_TENSOR_BYTE_SWAPPED : 0);
  const uint64_t kept = state_of_random;
  const bool dense = plain || below(2);
  make(&out, c->type, 3, c->shape, dense, order);
  state_of_random = kept;
  (void)below(2);
  make(&want, c->type, 3, c->shape, dense, order);
  const int64_t cells = c->shape[0] * c->shape[1] * c->shape[2];
  for (int64_t i = 0; i < cells; i++) put(&in[0], i, c->steps[i]), put(&in[1], i, c->parents[i]);
  for (int64_t b = 0; b < c->shape[1]; b++) put(&in[2], b, c->lens[b]);
  put(&in[3], 0, c->end);
  holder filler;
  make(&filler, c->type, 0, NULL, true, order);
  put(&filler, 0, c->fill);
  memcpy(fill, filler.first, (size_t)width_of(c->type));
  options.on_bad = c->on_bad == GATHER_ON_BAD_ERROR && below(2) ? GATHER_ON_BAD_DEFAULT : c->on_bad;
  options.negative = c->negative ? GATHER_NEGATIVE_ON : below(2) ? GATHER_NEGATIVE_OFF : GATHER_NEGATIVE_DEFAULT;
  options.fill = fill, options.bad_count = &bad;
  const int64_t threads = below(4);
  if (threads) options.executor = gather_pool_executor(pools[threads - 1]);
  const bool fails = c->bad > 0 && c->on_bad == GATHER_ON_BAD_ERROR;
  const gather_status wanted = fails ? GATHER_INDEX_OUT_OF_RANGE : GATHER_OK;
  gather_status status = gather_tree(&in[0].tensor, &in[1].tensor, &in[2].tensor, &in[3].tensor, &out.tensor, &options, &error);
  if (status != wanted) fail_msg("%s, not %s: %s", gather_status_name(status), gather_status_name(wanted), error.message);
  for (int64_t i = 0; i < cells && !fails; i++) put(&want, i, c->out[i]);
  assert_int_equal(out.size, want.size);
  assert_memory_equal(out.bytes, want.bytes, out.size);
  if (!fails) assert_int_equal(bad, c->bad);
  bad = -1;
  status = gather_tree_check(&in[0].tensor, &in[1].tensor, &in[2].tensor, &in[3].tensor, &options, &error);
  assert_status(status, wanted);
  if (fails) {
    assert_error(&error, GATHER_INDEX_OUT_OF_RANGE);
    assert_string_equal(error.op, "GatherTree");
    assert_string_equal(error.rules, "openvino-1");
    assert_string_equal(error.input, "parent_ids");
    assert_int_equal(error.position_rank, 3);
    assert_int_equal(cell(c, error.position[0], error.position[1], error.position[2]), c->position);
    assert_int_equal(error.value, c->value);
    assert_int_equal(error.low, c->negative ? -c->shape[2] : 0);
    assert_int_equal(error.high, c->shape[2] - 1);
    assert_int_equal(error.bad_count, c->bad);
    assert_int_equal(error.axis, 2);
  } else {
    assert_int_equal(bad, c->bad);
  }
  for (int i = 0; i < 4; i++) free(in[i].bytes);
  free(out.bytes), free(want.bytes), free(filler.bytes);
}

static void random_cases(void **state) {
  static beam_case c;
  int failing = 0, repaired = 0, ended = 0;
  const char *seed = getenv("GATHER_TEST_SEED");
  state_of_random = seed ? (uint64_t)strtoull(seed, NULL, 10) : 18;
  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t before = state_of_random;
    draw(&c);
    one_case(&c, i % 3 == 0);
    failing += c.bad && c.on_bad == GATHER_ON_BAD_ERROR, repaired += c.bad && c.on_bad != GATHER_ON_BAD_ERROR;
    ended += c.shape[0] > 1;
    if (state_of_random == before) fail_msg("the random numbers stand still");
  }
  /* The cases are worth something: some fail, some are repaired. */
  assert_true(failing > ROUNDS / 50);
  assert_true(repaired > ROUNDS / 30);
  assert_true(ended > ROUNDS / 2);
}

/* Many beams and steps: several blocks of sequences, and tasks of several threads. */
static void large_cases(void **state) {
  static const int64_t SHAPES[][3] = {{3, 1, 1300}, {2, 7, 290}, {40, 60, 1}, {13, 3, 100}, {4, 1, 1024}, {3, 1, 1025}};
  static beam_case c;
  for (size_t s = 0; s < COUNT(SHAPES); s++)
    for (int64_t round = 0; round < 12; round++) {
      memcpy(c.shape, SHAPES[s], sizeof c.shape);
      c.type = round % 2 ? GATHER_TYPE_INT32 : round % 3 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_INT16;
      c.on_bad = round % 4 == 3 ? GATHER_ON_BAD_WRAP : GATHER_ON_BAD_ERROR, c.negative = round % 5 == 0;
      c.end = 200;
      const int64_t cells = c.shape[0] * c.shape[1] * c.shape[2];
      assert_true(cells <= MOST);
      for (int64_t i = 0; i < cells; i++) {
        c.steps[i] = below(201), c.parents[i] = below(c.shape[2]);
        if (round % 3 == 2 && below(200) == 0) c.parents[i] = c.shape[2] + below(9);
      }
      for (int64_t b = 0; b < c.shape[1]; b++) c.lens[b] = c.shape[0] - below(2);
      one_case(&c, round % 2 == 0);
    }
}

/* OpenVINO's reference tests of GatherTree: gather_tree_1 and gather_tree_5. */
static void worked_examples(void **state) {
  static const int32_t ids[50] = {1, 4, 9, 7, 9, 1, 2, 3, 9, 2, 3, 1, 4, 2, 4, 4, 7, 4, 9, 5, 8, 4, 3, 7, 5,
                                  2, 4, 8, 3, 1, 5, 7, 9, 4, 5, 6, 4, 2, 9, 2, 8, 8, 7, 9, 8, 3, 1, 7, 5, 9};
  static const int32_t want[50] = {4, 4, 9, 9, 4, 9, 2, 9, 9, 9, 1, 1, 9, 9, 1, 9, 9, 9, 9, 9, 1, 1, 9, 9, 1,
                                   9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  static const int32_t one[10] = {1, 4, 9, 7, 9, 1, 2, 3, 9, 9};
  const int32_t len = 9, end = 9;
  int32_t out[50];
  gather_tensor steps = tensor_of(GATHER_TYPE_INT32, ids, 3, DIMS(5, 1, 10)), lens = tensor_of(GATHER_TYPE_INT32, &len, 1, DIMS(1));
  gather_tensor token = tensor_of(GATHER_TYPE_INT32, &end, 0, NULL), to = tensor_of(GATHER_TYPE_INT32, out, 3, DIMS(5, 1, 10));
  assert_status(gather_tree(&steps, &steps, &lens, &token, &to, NULL, NULL), GATHER_OK);
  assert_memory_equal(out, want, sizeof want);
  steps = tensor_of(GATHER_TYPE_INT32, one, 3, DIMS(1, 1, 10)), to = tensor_of(GATHER_TYPE_INT32, out, 3, DIMS(1, 1, 10));
  assert_status(gather_tree(&steps, &steps, &lens, &token, &to, NULL, NULL), GATHER_OK);
  assert_memory_equal(out, one, sizeof one);
}

/* Floats: zeros are equal, NaN equals nothing, and a number that is not an integer is out of range. */
static void floats(void **state) {
  const float steps[6] = {1, 0, -0.0f, 3, 5, 6}, parents[6] = {9, 9, 0, 1, 0, 1.5f}, len[1] = {3}, zero[1] = {0};
  const float nan[1] = {NAN};
  float out[6], half[1] = {2.5f};
  gather_tensor s = tensor_of(GATHER_TYPE_FLOAT32, steps, 3, DIMS(3, 1, 2)), p = tensor_of(GATHER_TYPE_FLOAT32, parents, 3, DIMS(3, 1, 2));
  gather_tensor l = tensor_of(GATHER_TYPE_FLOAT32, len, 1, DIMS(1)), e = tensor_of(GATHER_TYPE_FLOAT32, zero, 0, NULL);
  gather_tensor o = tensor_of(GATHER_TYPE_FLOAT32, out, 3, DIMS(3, 1, 2));
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error = dirty_error();
  int64_t bad = 0;
  memset(out, 0x5A, sizeof out);
  assert_status(gather_tree(&s, &p, &l, &e, &o, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(error.message,
                      "parent_ids[2, 0, 1] = 1.5 is outside [0, 1] of axis 2 (GatherTree openvino-1); 1 of 6 parents is bad");
  assert_int_equal(error.value, 1);
  for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((unsigned char *)out)[i], 0x5A);
  options.on_bad = GATHER_ON_BAD_CLAMP, options.bad_count = &bad;
  assert_status(gather_tree(&s, &p, &l, &e, &o, &options, &error), GATHER_OK);
  assert_int_equal(bad, 1);
  const float both[6] = {1, 0, -0.0f, 0, 0, 0}; /* -0 ends a sequence as 0 does, and stays as it is */
  assert_memory_equal(out, both, sizeof both);
  e.data = (union {
             const float *from;
             void *to;
           }){nan}
               .to;
  assert_status(gather_tree(&s, &p, &l, &e, &o, &options, &error), GATHER_OK);
  const float all[6] = {1, 0, -0.0f, 3, 5, 6};
  assert_memory_equal(out, all, sizeof all);
  l.data = half;
  assert_status(gather_tree(&s, &p, &l, &e, &o, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_string_equal(error.input, "max_seq_len");
  assert_string_equal(error.message, "max_seq_len[0] = 2.5 is not an integer (GatherTree openvino-1); 1 of 1 lengths is bad");
  half[0] = -1e30f;
  assert_status(gather_tree_check(&s, &p, &l, &e, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.value, INT64_MIN);
}

/* A uint64 above every int64 is neither negative nor small. */
static void large_numbers(void **state) {
  const uint64_t steps[4] = {1, 2, 3, 4}, parents[4] = {0, 0, UINT64_MAX, UINT64_MAX - 1}, len[1] = {UINT64_MAX}, end[1] = {9};
  uint64_t out[4];
  gather_tensor s = tensor_of(GATHER_TYPE_UINT64, steps, 3, DIMS(2, 1, 2)), p = tensor_of(GATHER_TYPE_UINT64, parents, 3, DIMS(2, 1, 2));
  gather_tensor l = tensor_of(GATHER_TYPE_UINT64, len, 1, DIMS(1)), e = tensor_of(GATHER_TYPE_UINT64, end, 0, NULL);
  gather_tensor o = tensor_of(GATHER_TYPE_UINT64, out, 3, DIMS(2, 1, 2));
  gather_options options = GATHER_OPTIONS_INIT;
  gather_error error = dirty_error();
  assert_status(gather_tree(&s, &p, &l, &e, &o, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_true(error.value_is_unsigned);
  assert_int_equal(error.bad_count, 2);
  assert_non_null(strstr(error.message, "parent_ids[1, 0, 0] = 18446744073709551615 is outside [0, 1]"));
  options.negative = GATHER_NEGATIVE_ON;
  assert_status(gather_tree(&s, &p, &l, &e, &o, &options, &error), GATHER_INDEX_OUT_OF_RANGE);
  options.on_bad = GATHER_ON_BAD_WRAP;
  assert_status(gather_tree(&s, &p, &l, &e, &o, &options, &error), GATHER_OK);
  assert_int_equal(out[0], 2);
  assert_int_equal(out[1], 1);
  options.on_bad = GATHER_ON_BAD_CLAMP;
  assert_status(gather_tree(&s, &p, &l, &e, &o, &options, &error), GATHER_OK);
  assert_int_equal(out[0], 2);
  assert_int_equal(out[1], 2);
}

/* Each argument that does not fit, and the argument that the error names. */
static void wrong_arguments(void **state) {
  int32_t ids[8] = {0}, out[8];
  int64_t wide[8] = {0};
  gather_tensor s = tensor_of(GATHER_TYPE_INT32, ids, 3, DIMS(2, 2, 2)), l = tensor_of(GATHER_TYPE_INT32, ids, 1, DIMS(2));
  gather_tensor e = tensor_of(GATHER_TYPE_INT32, ids, 0, NULL), o = tensor_of(GATHER_TYPE_INT32, out, 3, DIMS(2, 2, 2)), t;
  gather_error error = dirty_error();
  gather_options options = GATHER_OPTIONS_INIT;
#define REFUSED(status, name, ...)                                    \
  do {                                                                \
    error = dirty_error();                                            \
    assert_status(gather_tree(__VA_ARGS__, &error), GATHER_##status); \
    assert_error(&error, GATHER_##status);                            \
    assert_string_equal(error.input ? error.input : "", name);        \
    assert_string_equal(error.op, "GatherTree");                      \
  } while (0)
  assert_status(gather_tree(&s, &s, &l, &e, &o, NULL, &error), GATHER_OK);
  REFUSED(USAGE, "step_ids", NULL, &s, &l, &e, &o, NULL);
  REFUSED(USAGE, "parent_ids", &s, NULL, &l, &e, &o, NULL);
  REFUSED(USAGE, "max_seq_len", &s, &s, NULL, &e, &o, NULL);
  REFUSED(USAGE, "end_token", &s, &s, &l, NULL, &o, NULL);
  REFUSED(USAGE, "output", &s, &s, &l, &e, NULL, NULL);
  REFUSED(USAGE, "output", &s, &s, &l, &e, &s, NULL);
  t = tensor_of(GATHER_TYPE_INT64, wide, 3, DIMS(2, 2, 2));
  REFUSED(TYPE_MISMATCH, "parent_ids", &s, &t, &l, &e, &o, NULL);
  REFUSED(TYPE_MISMATCH, "output", &s, &s, &l, &e, &t, NULL);
  t = tensor_of(GATHER_TYPE_BOOL, wide, 3, DIMS(2, 2, 2));
  REFUSED(TYPE_UNSUPPORTED, "step_ids", &t, &s, &l, &e, &o, NULL);
  t = tensor_of(GATHER_TYPE_INT4, wide, 3, DIMS(2, 2, 2));
  REFUSED(TYPE_UNSUPPORTED, "step_ids", &t, &s, &l, &e, &o, NULL);
  t = tensor_of(GATHER_TYPE_INT32, ids, 2, DIMS(2, 4));
  REFUSED(RANK_MISMATCH, "step_ids", &t, &s, &l, &e, &o, NULL);
  REFUSED(RANK_MISMATCH, "parent_ids", &s, &t, &l, &e, &o, NULL);
  REFUSED(RANK_MISMATCH, "max_seq_len", &s, &s, &t, &e, &o, NULL);
  t = tensor_of(GATHER_TYPE_INT32, ids, 1, DIMS(1));
  REFUSED(RANK_MISMATCH, "end_token", &s, &s, &l, &t, &o, NULL);
  REFUSED(SHAPE_MISMATCH, "max_seq_len", &s, &s, &t, &e, &o, NULL);
  t = tensor_of(GATHER_TYPE_INT32, ids, 3, DIMS(2, 1, 2));
  REFUSED(SHAPE_MISMATCH, "parent_ids", &s, &t, &l, &e, &o, NULL);
  REFUSED(SHAPE_MISMATCH, "output", &s, &s, &l, &e, &t, NULL);
  t = tensor_of(GATHER_TYPE_INT32, NULL, 3, DIMS(2, 2, 2));
  REFUSED(USAGE, "step_ids", &t, &s, &l, &e, &o, NULL);
  REFUSED(USAGE, "parent_ids", &s, &t, &l, &e, &o, NULL);
  options.axis = 1;
  REFUSED(AXIS_OUT_OF_RANGE, "axis", &s, &s, &l, &e, &o, &options);
  options.axis = 0, options.batch_dims = 1;
  REFUSED(BATCH_DIMS_OUT_OF_RANGE, "", &s, &s, &l, &e, &o, &options);
  /* Nothing is read or written without elements. */
  t = tensor_of(GATHER_TYPE_INT32, NULL, 3, DIMS(0, 2, 2));
  assert_status(gather_tree(&t, &t, &l, &e, &t, NULL, &error), GATHER_OK);
}

/* The generic functions name the function to call. */
static void other_functions_refuse_it(void **state) {
  const gather_op *op = op_of("GatherTree", "openvino-1");
  int32_t ids[8] = {0}, out[8];
  gather_tensor s = tensor_of(GATHER_TYPE_INT32, ids, 3, DIMS(2, 2, 2)), o = tensor_of(GATHER_TYPE_INT32, out, 3, DIMS(2, 2, 2));
  gather_shape known = {.rank = 1, .dims = {{3, 3, NULL}}}, inferred;
  gather_dim_source sources[GATHER_MAX_RANK];
  gather_error error = dirty_error();
  gather_plan *plan;
  int64_t shape[GATHER_MAX_RANK];
  int32_t rank;
  assert_int_equal(op->family, GATHER_FAMILY_TREE);
  assert_string_equal(gather_family_get(GATHER_FAMILY_TREE)->function, "gather_tree");
  assert_null(gather_family_get(GATHER_FAMILY_GATHER)->function);
  assert_status(gather_apply(op, &s, &s, &o, NULL, &error), GATHER_UNSUPPORTED);
  assert_string_equal(error.message, "GatherTree has a separate function: call gather_tree");
  assert_string_equal(error.rules, "openvino-1");
  assert_status(gather_plan_create(op, &s, &s, NULL, NULL, &plan, &error), GATHER_UNSUPPORTED);
  assert_status(gather_output_shape(op, &s, &s, NULL, shape, &rank, &error), GATHER_UNSUPPORTED);
  assert_status(gather_infer_shape(op, &known, &known, NULL, &inferred, &error), GATHER_UNSUPPORTED);
  assert_status(gather_output_sources(op, 1, 1, -1, NULL, sources, &rank, &error), GATHER_UNSUPPORTED);
}

static void inferred_shapes(void **state) {
  const gather_dim any = {0, GATHER_DIM_UNBOUNDED, NULL};
  const gather_shape unknown = {.rank = -1};
  gather_shape steps = {.rank = 3, .dims = {{0, 9, "T"}, any, {4, 4, NULL}}}, parents = {.rank = 3, .dims = {{2, 20, NULL}, any, any}};
  gather_shape lens = {.rank = 1, .dims = {{5, 5, "B"}}}, scalar = {.rank = 0}, out;
  gather_error error = dirty_error();
  assert_status(gather_tree_infer_shape(&steps, &parents, &lens, &scalar, &out, &error), GATHER_OK);
  assert_int_equal(out.rank, 3);
  assert_int_equal(out.dims[0].min, 2);
  assert_int_equal(out.dims[0].max, 9);
  assert_string_equal(out.dims[0].symbol, "T");
  assert_int_equal(out.dims[1].min, 5);
  assert_string_equal(out.dims[1].symbol, "B");
  assert_int_equal(out.dims[2].max, 4);
  assert_status(gather_tree_infer_shape(&unknown, &unknown, &unknown, &unknown, &out, &error), GATHER_OK);
  assert_int_equal(out.rank, 3);
  assert_int_equal(out.dims[2].max, GATHER_DIM_UNBOUNDED);
  assert_status(gather_tree_infer_shape(&steps, &lens, &lens, &scalar, &out, &error), GATHER_RANK_MISMATCH);
  assert_string_equal(error.input, "parent_ids");
  assert_status(gather_tree_infer_shape(&steps, &parents, &lens, &lens, &out, &error), GATHER_RANK_MISMATCH);
  parents.dims[2] = (gather_dim){5, 6, NULL};
  assert_status(gather_tree_infer_shape(&steps, &parents, &lens, &scalar, &out, &error), GATHER_SHAPE_MISMATCH);
  assert_error(&error, GATHER_SHAPE_MISMATCH);
  assert_status(gather_tree_infer_shape(&steps, NULL, &lens, &scalar, &out, &error), GATHER_USAGE);
}

int main(void) {
  int64_t before;
  if (gather_tuning_get("task_bytes", &before, NULL) != GATHER_OK || gather_tuning_set("task_bytes", 64, NULL) != GATHER_OK) return 1;
  for (int32_t i = 0; i < 3; i++)
    if (gather_pool_create(i + 1, &pools[i], NULL) != GATHER_OK) return 1;
  const int failed = RUN_TESTS(random_cases, large_cases, worked_examples, floats, large_numbers, wrong_arguments, inferred_shapes,
                               other_functions_refuse_it);
  for (int32_t i = 0; i < 3; i++) gather_pool_destroy(pools[i]);
  return failed;
}
