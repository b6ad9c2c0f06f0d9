/* SPDX-License-Identifier: MIT
 *
 * test_combine.c: the slots that combine, beside loops that compute each element from the definitions in scatter.h: all types, few rows
 * that are written many times, numbers that are infinite, subnormal or no numbers, steps of both signs, everything flush against a
 * forbidden page.
 */
#include <inttypes.h>
#include <math.h>

#include "core/kernel/combine.h"
#include "core/kernel/trial.h"

enum { MOST_UPDATES = 24, MOST_LEN = 70, MOST_ROWS = 5 };

/* ---- elements as bits; of complex numbers a part */

typedef struct part_type {
  gather_type type;
  gather_kind kind;
  int width, parts; /* bytes of a part */
} part_type;

static part_type part_of(gather_type type) {
  const gather_type_info *info = gather_type_get(type);
  const bool complex = info->kind == GATHER_KIND_COMPLEX;
  part_type p = {type, complex ? GATHER_KIND_FLOAT : info->kind, info->bits / 8 / (complex ? 2 : 1), complex ? 2 : 1};
  if (complex) p.type = p.width == 4 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_FLOAT64;
  return p;
}

static double number_of(part_type p, uint64_t bits) {
  uint8_t element[8];
  double number = 0;
  trial_put(element, p.width, bits);
  assert_true(gather_float_read(p.type, element, &number));
  return number;
}

/* The bits of the nearest number with `fraction` bits after the point, of two that are equally near the even one. */
static uint64_t nearest_half(double number, int fraction, int bias) {
  const uint64_t sign = (uint64_t)(signbit(number) != 0) << 15, infinite = (uint64_t)(2 * bias + 1) << fraction;
  const double size = fabs(number);
  if (isnan(number)) return infinite | 1;
  if (isinf(number)) return sign | infinite;
  const int least = 1 - bias, exponent = size > 0 && ilogb(size) > least ? ilogb(size) : least;
  const double units = nearbyint(ldexp(size, fraction - exponent)); /* a carry goes into the exponent, as it should */
  const uint64_t bits = ((uint64_t)(exponent - least) << fraction) + (uint64_t)units;
  return sign | (bits < infinite ? bits : infinite);
}

static uint64_t bits_of(part_type p, double number) {
  const float four = (float)number;
  uint8_t element[8];
  if (p.type == GATHER_TYPE_FLOAT16) return nearest_half(number, 10, 15);
  if (p.type == GATHER_TYPE_BFLOAT16) return nearest_half(number, 7, 127);
  memcpy(element, p.width == 4 ? (const void *)&four : &number, (size_t)p.width);
  return trial_get(element, p.width);
}

static bool is_nan(part_type p, uint64_t bits) { return p.kind == GATHER_KIND_FLOAT && isnan(number_of(p, bits)); }

/* Rounded to float32, but for float64. */
static double rounded(part_type p, double number) {
  volatile float four = (float)number;
  return p.width == 8 ? number : (double)four;
}

/* ---- the definitions */

static double reduce_numbers(part_type p, gather_reduction reduction, double a, double b) {
  if (reduction == GATHER_REDUCTION_MIN) return isnan(a) || isnan(b) ? (double)NAN : b < a ? b : a;
  if (reduction == GATHER_REDUCTION_MAX) return isnan(a) || isnan(b) ? (double)NAN : b > a ? b : a;
  /* Of two float32 sum, difference and product are computed in float64 and rounded twice, which gives the nearest one too. */
  const volatile double result = reduction == GATHER_REDUCTION_ADD ? a + b : reduction == GATHER_REDUCTION_SUB ? a - b : a * b;
  return rounded(p, result);
}

static int64_t signed_of(part_type p, uint64_t bits) {
  const int shift = 64 - 8 * p.width;
  return (int64_t)(bits << shift) >> shift;
}

static uint64_t reduce_integers(part_type p, gather_reduction reduction, uint64_t a, uint64_t b) {
  const bool smaller = p.kind == GATHER_KIND_INT ? signed_of(p, b) < signed_of(p, a) : b < a;
  switch (reduction) {
    case GATHER_REDUCTION_ADD:
      return a + b;
    case GATHER_REDUCTION_SUB:
      return a - b;
    case GATHER_REDUCTION_MUL:
      return a * b;
    case GATHER_REDUCTION_MIN:
      return smaller ? b : a;
    default:
      return smaller ? a : b;
  }
}

static uint64_t reduce_bools(gather_reduction reduction, bool a, bool b) {
  if (reduction == GATHER_REDUCTION_SUB) return a != b;
  return reduction == GATHER_REDUCTION_ADD || reduction == GATHER_REDUCTION_MAX ? a || b : a && b;
}

static void put_part(part_type p, uint8_t *at, double number) { trial_put(at, p.width, bits_of(p, number)); }

static void multiply_complex(part_type p, uint8_t *row, const uint8_t *update) {
  const uint64_t bits[4] = {trial_get(row, p.width), trial_get(row + p.width, p.width), trial_get(update, p.width),
                            trial_get(update + p.width, p.width)};
  const double a = number_of(p, bits[0]), b = number_of(p, bits[1]), c = number_of(p, bits[2]), d = number_of(p, bits[3]);
  const gather_reduction times = GATHER_REDUCTION_MUL;
  put_part(p, row, reduce_numbers(p, GATHER_REDUCTION_SUB, reduce_numbers(p, times, a, c), reduce_numbers(p, times, b, d)));
  put_part(p, row + p.width, reduce_numbers(p, GATHER_REDUCTION_ADD, reduce_numbers(p, times, a, d), reduce_numbers(p, times, b, c)));
}

static void reduce_element(part_type p, gather_reduction reduction, uint8_t *row, const uint8_t *update) {
  if (p.parts == 2 && reduction == GATHER_REDUCTION_MUL) {
    multiply_complex(p, row, update);
    return;
  }
  for (int part = 0; part < p.parts; part++, row += p.width, update += p.width) {
    const uint64_t a = trial_get(row, p.width), b = trial_get(update, p.width);
    if (p.kind == GATHER_KIND_FLOAT)
      put_part(p, row, reduce_numbers(p, reduction, number_of(p, a), number_of(p, b)));
    else
      trial_put(row, p.width, p.kind == GATHER_KIND_BOOL ? reduce_bools(reduction, a != 0, b != 0) : reduce_integers(p, reduction, a, b));
  }
}

/* ---- what is drawn */

/* One part: small numbers, any bits, or the ends of what there is. */
static uint64_t draw_part(part_type p) {
  const int bits = 8 * p.width;
  const uint64_t sign = UINT64_C(1) << (bits - 1), any = trial_bits(), all = sign | (sign - 1);
  const double small = (double)(trial_below(41) - 20) / 4;
  if (p.kind == GATHER_KIND_BOOL) return any % 16 == 0 ? any >> 8 & 255 : any & 1;
  if (p.kind != GATHER_KIND_FLOAT) {
    const uint64_t ends[] = {0, 1, all, sign, sign - 1, sign + 1, any & all, any & 3};
    return ends[any >> 61];
  }
  const double numbers[] = {0, -0.0, 1, -1, (double)INFINITY, -(double)INFINITY, (double)NAN, small};
  const uint64_t infinite = bits_of(p, (double)INFINITY),
                 ends[] = {1, sign | 1, infinite - 1, sign | (infinite - 1), any & 0x3ff, infinite + 1};
  switch (any >> 60) {
    case 0:
      return bits_of(p, numbers[trial_below(COUNT(numbers))]);
    case 1:
      return ends[trial_below(COUNT(ends))];
    case 2:
    case 3:
      return any & all;
    default:
      return bits_of(p, small);
  }
}

static void draw(part_type p, uint8_t *at, int64_t len) {
  for (int64_t k = 0; k < len * p.parts; k++) trial_put(at + k * p.width, p.width, draw_part(p));
}

static int64_t either(int64_t value) { return trial_below(2) ? value : -value; }

static bool begins(const char *what, gather_reduction reduction, gather_type type) {
  snprintf(trial_text, sizeof trial_text, "%s, %s of %s, reduction %d", trial_isa->name, what, gather_type_get(type)->name, (int)reduction);
  trial_seed((uint64_t)type * 8 + (uint64_t)reduction);
  return true;
}

/* What is not a number may have any payload. */
static void excuse_nans(part_type p, const uint8_t *row, int64_t len) {
  uint8_t *wanted = trial_wanted(row);
  if (memcmp(wanted, row, (size_t)(len * p.parts * p.width)) == 0) return;
  for (int64_t at = 0; at < len * p.parts * p.width; at += p.width)
    if (is_nan(p, trial_get(row + at, p.width)) && is_nan(p, trial_get(wanted + at, p.width)))
      memcpy(wanted + at, row + at, (size_t)p.width);
}

/* Updates of `bytes` bytes, `step` apart, flush against a page or at any address. */
static const uint8_t *place_updates(int64_t bytes, int64_t step, int64_t count) {
  const int64_t where = trial_below(3);
  return trial_place(TRIAL_INDICES, trial_reach_of(bytes, step, count), where > 0, where == 2 ? trial_below(TRIAL_LINE) : -1);
}

/* Numbers of 8 bytes, the last one flush against the page: turn 0; turn 1: before these. */
static int64_t *place_numbers(int64_t count, int turn) {
  return (int64_t *)(void *)trial_place(TRIAL_ENTRIES, (trial_reach){0, count * 8 * (turn + 1)}, true, -1);
}

/* ---- rows */

typedef struct trial_rows {
  part_type part;
  gather_reduction reduction;
  int64_t row_count, item;
  gather_combine_span span;
} trial_rows;

static void draw_span(trial_rows *t, int64_t len, int64_t item) {
  gather_combine_span *s = &t->span;
  const int64_t bytes = len * item, turn = trial_below(2);
  *s = (gather_combine_span){.count = 1 + trial_below(MOST_UPDATES), .len = len, .row_bytes = bytes};
  t->item = item, t->row_count = 1 + trial_below(MOST_ROWS);
  s->more = trial_below(8), s->prefetch_rows = trial_below(2) ? trial_below(10) : 0, s->prefetch_lines = trial_below(4);
  s->axis_step = either(bytes + trial_below(2) * trial_below(20));
  s->out_step = trial_below(2) ? 0 : either(s->axis_step * trial_below(3));
  s->update_step = trial_below(4) ? either(bytes + trial_below(2) * trial_below(20)) : 0;
  int64_t *rows = place_numbers(s->count + s->more, (int)turn), *places = place_numbers(s->count + s->more, 1 - (int)turn);
  for (int64_t j = 0; j < s->count + s->more; j++) rows[j] = trial_below(t->row_count), places[j] = trial_below(s->count) * s->update_step;
  s->rows = rows, s->places = trial_below(2) ? places : NULL;
}

static trial_reach reach_of_rows(const trial_rows *t) {
  const trial_reach rows = trial_reach_of(t->span.row_bytes, t->span.axis_step, t->row_count);
  const trial_reach along = trial_reach_of(0, t->span.out_step, t->span.count);
  return (trial_reach){rows.low + along.low, rows.high + along.high};
}

static void apply(const trial_rows *t, uint8_t *out, const uint8_t *updates) {
  const gather_combine_span *s = &t->span;
  for (int64_t j = 0; j < s->count; j++) {
    uint8_t *row = out + s->rows[j] * s->axis_step + j * s->out_step;
    const uint8_t *update = updates + (s->places ? s->places[j] : j * s->update_step);
    for (int64_t k = 0; k < s->len; k++)
      if (t->reduction == GATHER_REDUCTION_NONE)
        memcpy(row + k * t->item, update + k * t->item, (size_t)t->item);
      else
        reduce_element(t->part, t->reduction, row + k * t->item, update + k * t->item);
  }
}

static void rows_one(gather_combine_fn run, trial_rows *t, int64_t len, int64_t item, int64_t align) {
  draw_span(t, len, item);
  gather_combine_span *s = &t->span;
  const bool numbers = t->reduction != GATHER_REDUCTION_NONE;
  const trial_reach reach = reach_of_rows(t);
  const uint8_t *updates = place_updates(s->row_bytes, s->update_step, s->count);
  uint8_t *out = trial_place(TRIAL_OUT, reach, trial_below(2), align);
  trial_mark(out, reach);
  for (int64_t j = 0; j < s->count; j++)
    for (int64_t at = 0; at < s->row_bytes; at += item)
      if (numbers)
        draw(t->part, trial_view(updates + j * s->update_step + at), 1);
      else
        for (int64_t k = 0; k < item; k++) *trial_view(updates + j * s->update_step + at + k) = (uint8_t)trial_bits();
  for (int64_t j = 0; numbers && j < s->count; j++) draw(t->part, out + s->rows[j] * s->axis_step + j * s->out_step, len);
  memcpy(trial_wanted(out) + reach.low, out + reach.low, (size_t)(reach.high - reach.low));
  apply(t, trial_wanted(out), updates);
  s->out = (char *)out, s->updates = (const char *)updates;
  run(s);
  for (int64_t j = 0; numbers && j < s->count; j++) excuse_nans(t->part, out + s->rows[j] * s->axis_step + j * s->out_step, len);
  trial_compare();
}

/* Alignments from -1, flush, to 63; with the few numbers of the step. */
#define EACH_ALIGNMENT(align, few) for (int64_t align = -1; align < TRIAL_LINE; align += (few)*trial_step())

void test_combine_rows(void **state) {
  for (int reduction = GATHER_REDUCTION_ADD; trial_isa->combine && reduction <= GATHER_REDUCTION_KERNELS; reduction++)
    for (int type = GATHER_TYPE_BOOL; type <= GATHER_COMBINE_TYPES; type++) {
      trial_rows t = {.part = part_of((gather_type)type), .reduction = (gather_reduction)reduction};
      const int64_t item = t.part.width * t.part.parts;
      const gather_combine_fn one = trial_isa->combine->elements[reduction - 1][type - 1];
      const gather_combine_fn many = trial_isa->combine->rows[reduction - 1][type - 1];
      if (one && begins("elements", t.reduction, (gather_type)type)) {
        EACH_ALIGNMENT(align, 2) rows_one(one, &t, 1, item, align);
        trial_slots++;
      }
      if (many && begins("rows", t.reduction, (gather_type)type)) {
        for (int64_t len = 1; len <= MOST_LEN; len++)
          EACH_ALIGNMENT(align, 29) rows_one(many, &t, len, item, align < 0 ? -1 : (align + len) % 64);
        trial_slots++;
      }
    }
}

void test_combine_none(void **state) {
  static const struct {
    int64_t from, to; /* bytes of a row */
  } SIZES[GATHER_ROW_CLASSES] = {{1, 1},   {2, 2},   {3, 3},   {4, 4},   {5, 7},   {8, 8},   {9, 15},
                                 {16, 16}, {17, 31}, {32, 32}, {33, 63}, {64, 64}, {65, 300}};
  for (int class = 0; trial_isa->combine && class < GATHER_ROW_CLASSES; class ++) {
    const gather_combine_fn run = trial_isa->combine->none[class];
    trial_rows t = {.reduction = GATHER_REDUCTION_NONE};
    if (!run || !begins("rows replaced", t.reduction, GATHER_TYPE_OPAQUE)) continue;
    for (int64_t bytes = SIZES[class].from; bytes <= SIZES[class].to; bytes++) EACH_ALIGNMENT(align, 7) rows_one(run, &t, 1, bytes, align);
    trial_slots++;
  }
}

/* ---- sums that are rounded once */

static double wide_number(const void *acc, int64_t k, int64_t bytes) {
  float four;
  double eight;
  memcpy(bytes == 4 ? (void *)&four : &eight, (const char *)acc + k * bytes, (size_t)bytes);
  return bytes == 4 ? (double)four : eight;
}

static void wide_one(const gather_wide *wide, trial_rows *t, int64_t len, int64_t align) {
  static double acc[MOST_LEN];
  double wanted[MOST_LEN];
  const part_type p = t->part, sums = part_of(wide->acc_bytes == 4 ? GATHER_TYPE_FLOAT32 : GATHER_TYPE_FLOAT64);
  const int64_t divisor = 1 + trial_below(9);
  const bool starts = trial_below(4) == 0, divides = trial_below(4) == 0;
  draw_span(t, len, p.width);
  gather_combine_span *s = &t->span;
  const trial_reach reach = {0, s->row_bytes};
  const uint8_t *updates = place_updates(s->row_bytes, s->update_step, s->count);
  uint8_t *row = trial_place(TRIAL_OUT, reach, trial_below(2), align);
  trial_mark(row, reach);
  for (int64_t j = 0; j < s->count; j++) draw(p, trial_view(updates + j * s->update_step), len);
  draw(p, row, len);
  wide->load(acc, (const char *)row, len);
  if (starts) wide->set(acc, 1, len);
  wide->fold[t->reduction](acc, (const char *)updates, s->places, s->update_step, s->count, len);
  if (divides) wide->divide(acc, divisor, len);
  for (int64_t k = 0; k < len; k++) {
    wanted[k] = starts ? 1 : number_of(p, trial_get(row + k * p.width, p.width));
    for (int64_t j = 0; j < s->count; j++) {
      const uint8_t *update = updates + (s->places ? s->places[j] : j * s->update_step) + k * p.width;
      wanted[k] = reduce_numbers(sums, t->reduction, wanted[k], number_of(p, trial_get(update, p.width)));
    }
    if (divides) wanted[k] = rounded(sums, wanted[k] / (double)divisor);
    put_part(p, trial_wanted(row) + k * p.width, wanted[k]);
    const double got = wide_number(acc, k, wide->acc_bytes);
    if (memcmp(&got, &wanted[k], sizeof got) != 0 && !(isnan(got) && isnan(wanted[k])))
      fail_msg("%s: sum %d of %d is %.17g, not %.17g", trial_text, (int)k, (int)len, got, wanted[k]);
  }
  wide->store(acc, (char *)row, len);
  excuse_nans(p, row, len);
  trial_compare();
}

void test_combine_wide(void **state) {
  for (int of = 0; trial_isa->combine && of < GATHER_WIDE_TYPES; of++) {
    const gather_wide *wide = &trial_isa->combine->wide[of];
    const gather_type type = (gather_type)(GATHER_TYPE_FLOAT16 + of);
    if (!wide->load) continue;
    assert_int_equal(wide->acc_bytes, type == GATHER_TYPE_FLOAT32 ? 8 : 4);
    assert_null(wide->fold[0]);
    trial_slots += 4;
    for (int reduction = GATHER_REDUCTION_ADD; reduction <= GATHER_REDUCTION_MUL; reduction++, trial_slots++) {
      trial_rows t = {.part = part_of(type), .reduction = (gather_reduction)reduction};
      begins("wide", t.reduction, type);
      for (int64_t len = 1; len <= MOST_LEN; len++) EACH_ALIGNMENT(align, 7) wide_one(wide, &t, len, align);
    }
  }
}

/* ---- means */

static uint64_t divide_integer(part_type p, uint64_t bits, int64_t number) {
  if (p.kind == GATHER_KIND_UINT) return bits / (uint64_t)number;
  const int64_t sum = signed_of(p, bits);
  int64_t quotient = sum / number;
  if (quotient * number > sum) quotient--;
  return (uint64_t)quotient;
}

static void divide_one(gather_divide_fn run, part_type p, int64_t len, int64_t align) {
  const trial_reach reach = {0, len * p.parts * p.width};
  const int64_t numbers[] = {1, 2, 3, 7, 1000, 1 + trial_below(100)}, number = numbers[trial_below(COUNT(numbers))];
  uint8_t *row = trial_place(TRIAL_OUT, reach, trial_below(2), align);
  trial_mark(row, reach);
  draw(p, row, len);
  for (int64_t at = 0; at < reach.high; at += p.width) {
    const uint64_t bits = trial_get(row + at, p.width);
    uint8_t *wanted = trial_wanted(row) + at;
    if (p.kind == GATHER_KIND_FLOAT)
      put_part(p, wanted, rounded(p, number_of(p, bits) / (double)number));
    else
      trial_put(wanted, p.width, divide_integer(p, bits, number));
  }
  run((char *)row, number, len);
  excuse_nans(p, row, len);
  trial_compare();
}

void test_combine_divide(void **state) {
  for (int type = GATHER_TYPE_BOOL; trial_isa->combine && type <= GATHER_COMBINE_TYPES; type++) {
    const gather_divide_fn run = trial_isa->combine->divide[type - 1];
    if (!run) continue;
    begins("mean", GATHER_REDUCTION_MEAN, (gather_type)type);
    for (int64_t len = 1; len <= MOST_LEN; len++) EACH_ALIGNMENT(align, 17) divide_one(run, part_of((gather_type)type), len, align);
    trial_slots++;
  }
}

/* ---- what is the same for all instruction sets */

/* There is a kernel of each reduction that a type has, and only of these; the neutral number changes nothing. */
void test_neutral_numbers(void **state) {
  trial_seed(7);
  for (int type = GATHER_TYPE_BOOL; type <= GATHER_TYPE_COMPLEX128; type++)
    for (int reduction = GATHER_REDUCTION_ADD; reduction <= GATHER_REDUCTION_MAX; reduction++) {
      const part_type p = part_of((gather_type)type);
      const int64_t item = p.width * p.parts, row = 0;
      const char *isa = NULL;
      const gather_combine_fn run = gather_kernel_combine((gather_reduction)reduction, (gather_type)type, item, 1, &isa);
      assert_int_equal(run != NULL, gather_reduction_supports((gather_reduction)reduction, (gather_type)type));
      for (int i = 0; run && i < 1000; i++) {
        uint8_t element[16], update[16], wanted[16];
        gather_neutral_number((gather_reduction)reduction, (gather_type)type, false, element);
        do draw(p, update, 1);
        while (is_nan(p, trial_get(update, p.width)) || (p.parts == 2 && is_nan(p, trial_get(update + p.width, p.width))));
        memcpy(wanted, update, sizeof wanted);
        reduce_element(p, (gather_reduction)reduction, memcpy(wanted, element, sizeof wanted), update);
        const gather_combine_span s = {
            .out = (char *)element, .updates = (const char *)update, .rows = &row, .count = 1, .len = 1, .row_bytes = item};
        run(&s);
        /* The product of an infinity and 0 is a NaN, whose sign differs from CPU to CPU. */
        for (int64_t at = 0; at < item; at += p.width)
          if (is_nan(p, trial_get(element + at, p.width)) && is_nan(p, trial_get(wanted + at, p.width)))
            memcpy(element + at, wanted + at, (size_t)p.width);
        assert_memory_equal(element, wanted, (size_t)item);
      }
    }
}
