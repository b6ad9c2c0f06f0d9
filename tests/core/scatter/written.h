/* SPDX-License-Identifier: MIT
 *
 * written.h: tensors by chance, between forbidden pages, and what scatter.h says of writing into them: a serial loop that reduces one
 * element with one update at a time, in float64, and rounds by the definition.
 */
#ifndef GATHER_TESTS_CORE_SCATTER_WRITTEN_H
#define GATHER_TESTS_CORE_SCATTER_WRITTEN_H

#include <float.h>
#include <math.h>

#include "core/base/tensor.h"
#include "gather/scatter.h"
#include "support/guard.h"
#include "support/packed.h"
#include "support/unit.h"

enum { WRITTEN_RANK = 6, WRITTEN_ROOM = 1 << 21, WRITTEN_CELLS = 8192, WRITTEN_UPDATES = 1 << 17, WRITTEN_ITEM = 32 };

/* Each tensor in memory of its own. */
enum { DATA, INDICES, UPDATES, OUT, HOLDERS };
static struct guard written_memory[HOLDERS];

typedef struct {
  gather_tensor tensor;
  int64_t shape[WRITTEN_RANK], strides[WRITTEN_RANK];
  unsigned char *first; /* of its memory, and how many bytes that are */
  int64_t bytes;
} holder;

static uint64_t state_of_random;
static inline int64_t below(int64_t limit) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state_of_random >> 33) % (uint64_t)limit);
}
#define PICK(array) (array)[below((int64_t)COUNT(array))]

static inline void tune(const char *name, int64_t value) { assert_status(gather_tuning_set(name, value, NULL), GATHER_OK); }

static inline int written_begin(void **state) {
  for (int i = 0; i < HOLDERS; i++) written_memory[i] = guard_create(WRITTEN_ROOM);
  return 0;
}
static inline int written_end(void **state) {
  for (int i = 0; i < HOLDERS; i++) guard_destroy(written_memory[i]);
  return 0;
}

/* ---- tensors */

static inline int64_t len_of(const holder *h) { return gather_tensor_len(&h->tensor); }
static inline const gather_type_info *info_of(const holder *h) { return gather_type_get(h->tensor.type); }
static inline bool is_packed(const holder *h) { return info_of(h)->packing != GATHER_PACKING_BYTES; }
static inline int64_t item_of(const holder *h) {
  return is_packed(h) ? 1 : h->tensor.type == GATHER_TYPE_OPAQUE ? h->tensor.item_bytes : info_of(h)->bits / 8;
}

/* How a tensor lies in memory. */
typedef enum { ROW_MAJOR = 0, WITH_GAPS, TURNED, BACKWARDS, REPEATING, LAYOUTS } arrangement;

/* Lays out a tensor whose lengths and item_bytes are set. REPEATING: some strides are 0, for inputs only. */
static inline void place(holder *h, int which, gather_type type, int32_t rank, arrangement how) {
  h->tensor = (gather_tensor){.type = type, .rank = rank, .item_bytes = h->tensor.item_bytes, .shape = h->shape};
  int64_t low = 0, step = item_of(h), high = 0;
  const int64_t gap = how == WITH_GAPS ? step * (1 + below(3)) : 0;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t d = how == TURNED ? i : rank - 1 - i;
    const int64_t len = h->shape[d] > 0 ? h->shape[d] : 1;
    const bool still = how == REPEATING && below(2) == 0;
    h->strides[d] = still ? 0 : how == BACKWARDS && below(2) ? -step : step;
    *(h->strides[d] < 0 ? &low : &high) += h->strides[d] * (len - 1);
    if (!still) step = step * len + gap;
  }
  h->bytes = high - low + item_of(h);
  if (is_packed(h)) {
    const int64_t group = info_of(h)->group_len, at = how == ROW_MAJOR ? 0 : below(3 * group);
    assert_status(gather_type_bytes(type, 0, high - low + 1 + at, &h->bytes), GATHER_OK);
    h->tensor.packed_offset = at - low, low = 0;
  }
  if (len_of(h) == 0) h->bytes = 0;
  if (h->bytes > WRITTEN_ROOM) fail_msg("a tensor of %d bytes", (int)h->bytes);
  h->first = guard_place(written_memory[which], (size_t)h->bytes, below(2) == 0);
  h->tensor.data = h->first - low;
  if (how != ROW_MAJOR) h->tensor.strides = h->strides;
}

/* The same tensor in another memory that has its bytes. */
static inline holder moved_to(const holder *h, unsigned char *memory) {
  holder other = *h;
  other.first = memory, other.tensor.data = memory + ((unsigned char *)h->tensor.data - h->first);
  other.tensor.shape = h->shape, other.tensor.strides = h->tensor.strides ? h->strides : NULL;
  return other;
}

/* The offset of element number `number`, in the unit of the strides. */
static inline int64_t offset_of(const holder *h, int64_t number) {
  int64_t offset = 0, step = item_of(h);
  for (int32_t d = h->tensor.rank - 1; d >= 0; d--) {
    offset += number % h->shape[d] * (h->tensor.strides ? h->strides[d] : step);
    step *= h->shape[d], number /= h->shape[d];
  }
  return offset;
}

static inline void get_element(const holder *h, int64_t number, unsigned char *element) {
  const unsigned char *memory = h->tensor.data;
  const int64_t offset = offset_of(h, number);
  if (is_packed(h))
    element[0] = (unsigned char)packed_get(info_of(h), memory, h->tensor.packed_offset + offset);
  else
    memcpy(element, memory + offset, (size_t)item_of(h));
}

static inline void put_element(const holder *h, int64_t number, const unsigned char *element) {
  unsigned char *memory = h->tensor.data;
  const int64_t offset = offset_of(h, number);
  if (is_packed(h))
    packed_put(info_of(h), memory, h->tensor.packed_offset + offset, element[0]);
  else
    memcpy(memory + offset, element, (size_t)item_of(h));
}

static inline void put_integer(const holder *h, int64_t number, int64_t value) {
  const int64_t width = item_of(h);
  const bool swapped = (h->tensor.flags & GATHER_TENSOR_BYTE_SWAPPED) != 0;
  unsigned char element[8];
  for (int64_t i = 0; i < width; i++)
    element[i] = (unsigned char)((uint64_t)value >> 8 * ((GATHER_BIG_ENDIAN != 0) != swapped ? width - 1 - i : i));
  put_element(h, number, element);
}

/* ---- numbers: of floats their value, of integers their bits; of complex numbers two */

typedef struct {
  double real[2];
  uint64_t bits;
} number;

/* The parts of an element, and how its sums are rounded. */
typedef struct {
  gather_type type, part; /* part: of a complex number; else the type */
  gather_kind kind;
  int parts, width; /* width: bytes of a part */
  gather_accumulate accumulate;
} number_kind;

static inline number_kind numbers_of(gather_type type, gather_accumulate accumulate) {
  const gather_type_info *info = gather_type_get(type);
  number_kind n = {type, type, info->kind, 1, info->bits / 8, accumulate};
  if (info->kind != GATHER_KIND_COMPLEX) return n;
  n.part = type == GATHER_TYPE_COMPLEX64 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_FLOAT64;
  n.parts = 2, n.width /= 2;
  return n;
}

static inline bool are_floats(const number_kind *n) { return n->kind == GATHER_KIND_FLOAT || n->kind == GATHER_KIND_COMPLEX; }

/* The bits of the nearest half, of two that are equally near the even one. */
static inline uint16_t nearest_half(gather_type type, double value) {
  const int fraction = type == GATHER_TYPE_FLOAT16 ? 10 : 7, bias = type == GATHER_TYPE_FLOAT16 ? 15 : 127, least = 1 - bias;
  const unsigned sign = signbit(value) ? 0x8000u : 0, infinite = (unsigned)(2 * bias + 1) << fraction;
  const double size = fabs(value);
  if (isnan(value)) return (uint16_t)(infinite | 1);
  if (isinf(value)) return (uint16_t)(sign | infinite);
  const int exponent = size > 0 && ilogb(size) > least ? ilogb(size) : least;
  const unsigned bits = ((unsigned)(exponent - least) << fraction) + (unsigned)nearbyint(ldexp(size, fraction - exponent));
  return (uint16_t)(sign | (bits < infinite ? bits : infinite));
}

static inline void put_float(gather_type type, double value, unsigned char *element) {
  const float four = (float)value;
  const uint16_t half = type <= GATHER_TYPE_BFLOAT16 ? nearest_half(type, value) : 0;
  if (type == GATHER_TYPE_FLOAT64)
    memcpy(element, &value, sizeof value);
  else if (type == GATHER_TYPE_FLOAT32)
    memcpy(element, &four, sizeof four);
  else
    memcpy(element, &half, sizeof half);
}

static inline double rounded(gather_type type, double value) {
  unsigned char element[8];
  double result = 0;
  put_float(type, value, element);
  assert_true(gather_float_read(type, element, &result));
  return result;
}

static inline number read_number(const number_kind *n, const unsigned char *element) {
  number v = {{0, 0}, 0};
  for (int i = 0; are_floats(n) && i < n->parts; i++) assert_true(gather_float_read(n->part, element + i * n->width, &v.real[i]));
  for (int i = 0; !are_floats(n) && i < n->width; i++) v.bits |= (uint64_t)element[GATHER_BIG_ENDIAN ? n->width - 1 - i : i] << 8 * i;
  return v;
}

static inline void write_number(const number_kind *n, number v, unsigned char *element) {
  for (int i = 0; are_floats(n) && i < n->parts; i++) put_float(n->part, v.real[i], element + i * n->width);
  for (int i = 0; !are_floats(n) && i < n->width; i++) element[GATHER_BIG_ENDIAN ? n->width - 1 - i : i] = (unsigned char)(v.bits >> 8 * i);
}

/* The bits as a number. */
static inline int64_t signed_of(const number_kind *n, uint64_t bits) {
  const uint64_t top = UINT64_C(1) << (8 * n->width - 1), value = bits & (top | (top - 1));
  return (int64_t)((value ^ top) - top);
}
static inline uint64_t unsigned_of(const number_kind *n, uint64_t bits) { return bits << (64 - 8 * n->width) >> (64 - 8 * n->width); }
static inline bool is_less(const number_kind *n, number a, number b) {
  if (are_floats(n)) return a.real[0] < b.real[0];
  return n->kind == GATHER_KIND_INT ? signed_of(n, a.bits) < signed_of(n, b.bits) : unsigned_of(n, a.bits) < unsigned_of(n, b.bits);
}

/* The type that sums are rounded to at each step. */
static inline gather_type type_of_sum(const number_kind *n) {
  const bool half = n->part == GATHER_TYPE_FLOAT16 || n->part == GATHER_TYPE_BFLOAT16;
  if (n->accumulate == GATHER_ACCUMULATE_STEPS) return n->part;
  if (half) return GATHER_TYPE_FLOAT32;
  return n->accumulate == GATHER_ACCUMULATE_WIDE && n->type == GATHER_TYPE_FLOAT32 ? GATHER_TYPE_FLOAT64 : n->part;
}

static inline double step_of(const number_kind *n, gather_reduction reduction, double a, double b) {
  const volatile double result = reduction == GATHER_REDUCTION_MUL ? a * b : reduction == GATHER_REDUCTION_SUB ? a - b : a + b;
  return rounded(type_of_sum(n), result);
}

static inline number step_of_floats(const number_kind *n, gather_reduction reduction, number a, number b) {
  number v = a;
  for (int i = 0; i < n->parts; i++) v.real[i] = step_of(n, reduction, a.real[i], b.real[i]);
  if (n->parts < 2 || reduction != GATHER_REDUCTION_MUL) return v;
  const double imaginary[2] = {step_of(n, reduction, a.real[0], b.real[1]), step_of(n, reduction, a.real[1], b.real[0])};
  v.real[0] = step_of(n, GATHER_REDUCTION_SUB, v.real[0], v.real[1]);
  v.real[1] = step_of(n, GATHER_REDUCTION_ADD, imaginary[0], imaginary[1]);
  return v;
}

/* reduce(a, b): of a mean its sum. */
static inline number reduced(const number_kind *n, gather_reduction reduction, number a, number b) {
  const bool least = reduction == GATHER_REDUCTION_MIN, most = reduction == GATHER_REDUCTION_MAX;
  if (n->kind == GATHER_KIND_BOOL) {
    a.bits = reduction == GATHER_REDUCTION_ADD || most    ? a.bits | b.bits
             : reduction == GATHER_REDUCTION_MUL || least ? a.bits & b.bits
                                                          : a.bits ^ b.bits;
    return a;
  }
  if (least || most) {
    const bool no_number = are_floats(n) && isnan(b.real[0]);
    return no_number || is_less(n, least ? b : a, least ? a : b) ? b : a;
  }
  if (are_floats(n)) return step_of_floats(n, reduction, a, b);
  a.bits = reduction == GATHER_REDUCTION_MUL ? a.bits * b.bits : reduction == GATHER_REDUCTION_SUB ? a.bits - b.bits : a.bits + b.bits;
  return a;
}

static inline number mean_of(const number_kind *n, number sum, int64_t count) {
  for (int i = 0; are_floats(n) && i < n->parts; i++) {
    const volatile double quotient = sum.real[i] / (double)count;
    const bool half = n->part == GATHER_TYPE_FLOAT16 || n->part == GATHER_TYPE_BFLOAT16;
    sum.real[i] = rounded(half ? GATHER_TYPE_FLOAT32 : type_of_sum(n), quotient);
  }
  if (are_floats(n)) return sum;
  const int64_t value = signed_of(n, sum.bits);
  if (n->kind == GATHER_KIND_UINT)
    sum.bits = unsigned_of(n, sum.bits) / (uint64_t)count;
  else
    sum.bits = (uint64_t)(value / count - (value % count < 0));
  return sum;
}

/* finite: of minima and maxima the largest or lowest finite number. */
static inline number neutral_of(const number_kind *n, gather_reduction reduction, bool finite) {
  const bool least = reduction == GATHER_REDUCTION_MIN;
  number v = {{0, 0}, 0};
  if (reduction == GATHER_REDUCTION_MUL) {
    v.real[0] = 1, v.bits = 1;
  } else if (least || reduction == GATHER_REDUCTION_MAX) {
    const double most = n->part == GATHER_TYPE_FLOAT16    ? 65504
                        : n->part == GATHER_TYPE_BFLOAT16 ? ldexp(255, 120)
                        : n->part == GATHER_TYPE_FLOAT32  ? (double)FLT_MAX
                                                          : DBL_MAX;
    v.real[0] = (finite ? most : (double)INFINITY) * (least ? 1 : -1);
    const uint64_t lowest = n->kind == GATHER_KIND_INT ? UINT64_C(1) << (8 * n->width - 1) : 0;
    v.bits = n->kind == GATHER_KIND_BOOL ? least : least ? ~lowest : lowest;
  }
  return v;
}

/* Any element: of floats numbers of some size, now and then a special one. */
static inline void random_element(const number_kind *n, int64_t item, unsigned char *element) {
  const double special[] = {(double)INFINITY, -(double)INFINITY, (double)NAN, -0.0, 0.0, 1.0};
  for (int64_t i = 0; i < item; i++) element[i] = (unsigned char)below(256);
  if (n->kind == GATHER_KIND_BOOL) element[0] &= 1;
  for (int i = 0; are_floats(n) && n->part >= GATHER_TYPE_FLOAT16 && n->part <= GATHER_TYPE_FLOAT64 && i < n->parts; i++) {
    double value = (double)(below(INT64_C(1) << 31) - (INT64_C(1) << 30)) / (double)(1 << 28);
    value = below(150) == 0 ? PICK(special) : value + value / 3;
    put_float(n->part, value, element + i * n->width);
  }
}

static inline void fill_random(const holder *h) {
  const number_kind n = numbers_of(h->tensor.type, GATHER_ACCUMULATE_DEFAULT);
  unsigned char element[WRITTEN_ITEM];
  for (int64_t i = 0; i < len_of(h); i++) {
    random_element(&n, item_of(h), element);
    if (is_packed(h)) element[0] &= (unsigned char)((1u << info_of(h)->bits) - 1);
    put_element(h, i, element);
  }
}

/* ---- the loop */

/* What is reduced how. places[u]: the number of the element that update number u goes to; -1: it is skipped. */
typedef struct {
  number_kind numbers;
  gather_reduction reduction;
  bool neutral, finite;
  const int64_t *places;
} reducing;

/* out = copy of data; for each update: out[its place] = reduce(out[its place], update) */
static inline void scatter_loop(const reducing *r, const holder *data, const holder *updates, const holder *out) {
  static number acc[WRITTEN_CELLS];
  static int64_t counts[WRITTEN_CELLS];
  unsigned char element[WRITTEN_ITEM] = {0};
  const int64_t cells = len_of(data), many = len_of(updates);
  assert_true(cells <= WRITTEN_CELLS && many <= WRITTEN_UPDATES);
  for (int64_t i = 0; i < cells; i++) {
    get_element(data, i, element);
    put_element(out, i, element);
    if (r->reduction) acc[i] = r->neutral ? neutral_of(&r->numbers, r->reduction, r->finite) : read_number(&r->numbers, element);
    counts[i] = 0;
  }
  for (int64_t u = 0; u < many; u++) {
    const int64_t at = r->places[u];
    if (at < 0) continue;
    get_element(updates, u, element);
    counts[at]++;
    if (r->reduction)
      acc[at] = reduced(&r->numbers, r->reduction, acc[at], read_number(&r->numbers, element));
    else
      put_element(out, at, element);
  }
  for (int64_t i = 0; r->reduction && i < cells; i++) {
    if (counts[i] == 0) continue;
    if (r->reduction == GATHER_REDUCTION_MEAN) acc[i] = mean_of(&r->numbers, acc[i], counts[i] + !r->neutral);
    write_number(&r->numbers, acc[i], element);
    put_element(out, i, element);
  }
}

/* Which NaN a result is, is not promised. */
static inline bool are_equal(const number_kind *n, int64_t item, const unsigned char *a, const unsigned char *b) {
  if (memcmp(a, b, (size_t)item) == 0) return true;
  if (!are_floats(n) || n->part < GATHER_TYPE_FLOAT16 || n->part > GATHER_TYPE_FLOAT64) return false;
  const number left = read_number(n, a), right = read_number(n, b);
  bool same = true;
  for (int i = 0; i < n->parts; i++)
    same &= memcmp(a + i * n->width, b + i * n->width, (size_t)n->width) == 0 || (isnan(left.real[i]) && isnan(right.real[i]));
  return same;
}

/* Whether two memories of a tensor have the same elements, and the same bytes beside them. what: for the message. */
static inline void assert_same(const char *what, const holder *got, const holder *want) {
  static unsigned char images[2][WRITTEN_ROOM];
  const number_kind n = numbers_of(got->tensor.type, GATHER_ACCUMULATE_DEFAULT);
  unsigned char a[WRITTEN_ITEM], b[WRITTEN_ITEM];
  static const unsigned char none[WRITTEN_ITEM];
  memcpy(images[0], got->first, (size_t)got->bytes), memcpy(images[1], want->first, (size_t)got->bytes);
  const holder left = moved_to(got, images[0]), right = moved_to(got, images[1]);
  for (int64_t i = 0; i < len_of(got); i++) {
    get_element(&left, i, a), get_element(&right, i, b);
    if (!are_equal(&n, item_of(got), a, b))
      fail_msg("%s: element %d begins with the bytes %02x %02x %02x %02x, not %02x %02x %02x %02x", what, (int)i, a[0], a[1], a[2], a[3],
               b[0], b[1], b[2], b[3]);
    put_element(&left, i, none), put_element(&right, i, none);
  }
  /* The last group of a packed tensor without gaps has bits that nobody reads. */
  const bool pads = is_packed(got) && got->tensor.packed_offset == 0 && gather_tensor_is_row_major(&got->tensor);
  const int64_t padding = pads ? info_of(got)->group_bytes : 0;
  if (memcmp(images[0], images[1], (size_t)(got->bytes > padding ? got->bytes - padding : 0)) != 0)
    fail_msg("%s: bytes beside the elements have changed", what);
}

#endif
