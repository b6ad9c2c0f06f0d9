/* SPDX-License-Identifier: MIT
 *
 * test_deferred.c: validation while rows move, with every instruction set and variant: whichever index is negative or out of range, each
 * row is what the policy says, and the first bad index is named. Rows of each size, indices of 4 and 8 bytes, one round and several.
 */
#include "support/machines.h"
#include "support/unit.h"

enum { LEN = 300, MOST_ROW = 64, ROUNDS = 5, ROUND = 333, ALL = ROUNDS * ROUND };

static uint8_t data[ROUNDS * LEN * MOST_ROW], out[ALL * MOST_ROW + 1];
static int32_t narrow[ALL];
static int64_t wide[ALL];

/* A gather of rows along axis 0, of all indices; or of elements along axis 1, a round of them for each row of the data. */
typedef struct {
  gather_type type;
  bool elements;
  int64_t row; /* bytes */
  bool unaligned;
} shape;

/* Where index number i is not a row as it stands; 0 = it is. */
typedef struct {
  int64_t at, value;
} odd;

static int64_t row_at(int64_t i, const odd *o) { return i == o->at ? o->value : i * 7919 % LEN; }

static void fill(const odd *o) {
  for (int64_t i = 0; i < ALL; i++) wide[i] = row_at(i, o), narrow[i] = (int32_t)wide[i];
}

static gather_status gather_all(const shape *s, gather_on_bad on_bad, int64_t *bad, gather_error *error) {
  const gather_op *op = op_of(s->elements ? "GatherElements" : "Gather", "onnx-13");
  const int64_t *data_shape = s->elements ? DIMS(ROUNDS, LEN) : DIMS(LEN, s->row),
                *out_shape = s->elements ? DIMS(ROUNDS, ROUND) : DIMS(ALL, s->row);
  const gather_type element = s->elements && s->row == 8   ? GATHER_TYPE_INT64
                              : s->elements && s->row == 4 ? GATHER_TYPE_INT32
                                                           : GATHER_TYPE_UINT8;
  const gather_tensor from = tensor_of(element, data, 2, data_shape);
  const gather_tensor index =
      tensor_of(s->type, s->type == GATHER_TYPE_INT64 || s->type == GATHER_TYPE_UINT64 ? (void *)wide : (void *)narrow, s->elements ? 2 : 1,
                s->elements ? out_shape : DIMS(ALL));
  gather_tensor to = tensor_of(element, out + s->unaligned, 2, out_shape);
  gather_options options = options_of(s->elements ? 1 : 0, 0);
  options.fresh_output = true, options.on_bad = on_bad, options.bad_count = bad;
  return gather_apply(op, &from, &index, &to, &options, error);
}

static void check_rows(const shape *s, const odd *o, int64_t odd_row) {
  for (int64_t i = 0; i < ALL; i++) {
    const int64_t row = i == o->at ? odd_row : row_at(i, o), table = s->elements ? i / ROUND * LEN : 0;
    if (memcmp(out + s->unaligned + i * s->row, data + (table + row) * s->row, (size_t)s->row) != 0)
      fail_msg("row %d of %d bytes is not row %d, the index of row %d is %d", (int)i, (int)s->row, (int)row, (int)o->at, (int)o->value);
  }
}

/* Negative numbers are large ones to unsigned types: only signed ones count from the end. */
static void try(const shape *s, const odd *o) {
  const bool counts = s->type == GATHER_TYPE_INT32 || s->type == GATHER_TYPE_INT64;
  const bool in_range = o->value < LEN && (o->value >= 0 || (counts && o->value >= -LEN));
  const int64_t clamped = counts && o->value < 0 ? 0 : LEN - 1;
  gather_error error = dirty_error();
  int64_t bad = -1;
  fill(o);
  const gather_status status = gather_all(s, GATHER_ON_BAD_ERROR, NULL, &error);
  assert_status(status, in_range ? GATHER_OK : GATHER_INDEX_OUT_OF_RANGE);
  if (in_range) {
    check_rows(s, o, o->value < 0 ? o->value + LEN : o->value);
    return;
  }
  assert_int_equal(error.bad_count, 1);
  assert_int_equal(s->elements ? error.position[0] * ROUND + error.position[1] : error.position[0], o->at);
  memset(out, 0, sizeof out);
  assert_status(gather_all(s, GATHER_ON_BAD_CLAMP, &bad, NULL), GATHER_OK);
  assert_int_equal(bad, 1);
  check_rows(s, o, clamped);
}

static void whichever_index_is_odd(void **state) {
  static const gather_type types[] = {GATHER_TYPE_INT32, GATHER_TYPE_UINT32, GATHER_TYPE_INT64, GATHER_TYPE_UINT64};
  static const int64_t rows[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64};
  static const int64_t places[] = {0,   1,   15,  16,  63,  64,   100,  127,  128,      129,      200,
                                   255, 256, 332, 333, 334, 1000, 1500, 1648, ALL - 17, ALL - 16, ALL - 1};
  static const int64_t values[] = {0, -1, -LEN, LEN, -LEN - 1, INT32_MAX, INT32_MIN};
  size_t count = 0;
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 2654435761u >> 13);
  for (int machine = 0; machine < MACHINES; machine++) {
    char text[100];
    if (!machine_runs(machine)) continue;
    machine_set(machine, text, sizeof text);
    for (size_t t = 0; t < COUNT(types); t++)
      for (size_t r = 0; r < COUNT(rows); r++)
        for (int elements = 0; elements < 1 + (rows[r] == 1 || rows[r] == 4 || rows[r] == 8); elements++)
          for (size_t end = count + 8; count < end; count++) {
            const odd o = {places[count % COUNT(places)], values[count / 3 % COUNT(values)]};
            try(&(shape){types[t], elements > 0, rows[r], count / 5 % 4 == 0}, &o);
          }
  }
  machine_reset();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whichever_index_is_odd)};
  return machine_skips() + cmocka_run_group_tests(tests, NULL, NULL);
}
