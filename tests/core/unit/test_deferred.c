/* SPDX-License-Identifier: MIT
 *
 * test_deferred.c: the ways to validate that read indices from memory once, with every instruction set. While rows move, also with every
 * variant, rows of each size, one round and several: each row is what the policy says, and the first bad index is named. And into bytes.
 */
#include "support/machines.h"
#include "support/unit.h"

enum { ALL = 5 * 333 /* indices */ };

static uint8_t data[300 * 333 * 8], out[ALL * 100 + 1];
static int8_t bytes[ALL];
static int32_t narrow[ALL];
static int64_t wide[ALL];

/* Gather of rows of `row` bytes along axis 0, or GatherElements of elements of `row` bytes by indices of the shape [ALL / round, round]. */
typedef struct {
  enum { ROWS, ALONG_0, ALONG_1 } how;
  int64_t len, round, row;
} shape;

static const shape shapes[] = {{ROWS, 300, ALL, 1},   {ROWS, 300, ALL, 2},    {ROWS, 300, ALL, 4},    {ROWS, 300, ALL, 8},
                               {ROWS, 300, ALL, 12},  {ROWS, 300, ALL, 16},   {ROWS, 300, ALL, 24},   {ROWS, 300, ALL, 32},
                               {ROWS, 300, ALL, 48},  {ROWS, 300, ALL, 64},   {ROWS, 300, ALL, 100},  {ROWS, 12, ALL, 1},
                               {ROWS, 200, ALL, 1},   {ROWS, 40, ALL, 4},     {ALONG_0, 300, 333, 1}, {ALONG_0, 300, 333, 4},
                               {ALONG_0, 12, 333, 8}, {ALONG_1, 300, 333, 1}, {ALONG_1, 300, 333, 4}, {ALONG_1, 300, 333, 8},
                               {ALONG_1, 12, 333, 1}, {ALONG_1, 12, 333, 4},  {ALONG_1, 12, 9, 1},    {ALONG_1, 12, 9, 4},
                               {ALONG_1, 8, 5, 8},    {ALONG_1, 5, 3, 4}};

/* A case: the one index that is odd, and whether the output stands a byte behind a line. */
typedef struct {
  const shape *s;
  gather_type type;
  int64_t at, value;
  bool unaligned;
} odd;

static bool is_signed(gather_type type) { return type <= GATHER_TYPE_INT64; }
static int64_t row_of(const odd *o, int64_t i) { return i * 7919 % o->s->len; }

static gather_status gather_all(const odd *o, gather_on_bad on_bad, int64_t *bad, gather_error *error) {
  const shape *s = o->s;
  const bool is_wide = o->type == GATHER_TYPE_INT64 || o->type == GATHER_TYPE_UINT64, is_byte = o->type == GATHER_TYPE_INT8;
  const gather_type element = s->how == ROWS || s->row == 1 ? GATHER_TYPE_UINT8 : s->row == 4 ? GATHER_TYPE_INT32 : GATHER_TYPE_INT64;
  const int64_t index_shape[2] = {ALL / s->round, s->round}, out_shape[2] = {ALL, s->row}, rows_shape[2] = {s->len, s->row};
  const int64_t table_shape[2] = {s->how == ALONG_0 ? s->len : ALL / s->round, s->how == ALONG_0 ? s->round : s->len};
  const gather_tensor from = tensor_of(element, data, 2, s->how == ROWS ? rows_shape : table_shape);
  const gather_tensor index = tensor_of(o->type,
                                        is_byte   ? (void *)bytes
                                        : is_wide ? (void *)wide
                                                  : (void *)narrow,
                                        s->how == ROWS ? 1 : 2, s->how == ROWS ? out_shape : index_shape);
  gather_tensor to = tensor_of(element, out + o->unaligned, 2, s->how == ROWS ? out_shape : index_shape);
  gather_options options = options_of(s->how == ALONG_1, 0);
  options.fresh_output = true, options.on_bad = on_bad, options.bad_count = bad;
  return gather_apply(op_of(s->how == ROWS ? "Gather" : "GatherElements", "onnx-13"), &from, &index, &to, &options, error);
}

/* Where row number i, which is row `row` of its table, begins in data. */
static int64_t place_of(const shape *s, int64_t i, int64_t row) {
  if (s->how == ALONG_0) return (row * s->round + i % s->round) * s->row;
  return s->how == ALONG_1 ? (i / s->round * s->len + row) * s->row : row * s->row;
}

static void check_rows(const odd *o, int64_t odd_row) {
  for (int64_t i = 0; i < ALL; i++) {
    const int64_t row = i == o->at ? odd_row : row_of(o, i);
    if (memcmp(out + o->unaligned + i * o->s->row, data + place_of(o->s, i, row), (size_t)o->s->row) != 0)
      fail_msg("row %d of %d bytes is not row %d, the index of row %d is %d", (int)i, (int)o->s->row, (int)row, (int)o->at, (int)o->value);
  }
}

/* Negative numbers are large ones to unsigned types: only signed ones count from the end. */
static void try(const odd *o) {
  const int64_t len = o->s->len;
  const bool back = is_signed(o->type) && o->value < 0, in_range = back ? o->value >= -len : o->value >= 0 && o->value < len;
  gather_error error = dirty_error();
  int64_t bad = -1;
  for (int64_t i = 0; i < ALL; i++)
    wide[i] = i == o->at ? o->value : row_of(o, i), narrow[i] = (int32_t)wide[i], bytes[i] = (int8_t)wide[i];
  memset(out, 0, sizeof out);
  assert_status(gather_all(o, GATHER_ON_BAD_ERROR, NULL, &error), in_range ? GATHER_OK : GATHER_INDEX_OUT_OF_RANGE);
  if (in_range) {
    check_rows(o, back ? o->value + len : o->value);
    return;
  }
  assert_int_equal(error.bad_count, 1);
  assert_int_equal(o->s->how == ROWS ? error.position[0] : error.position[0] * o->s->round + error.position[1], o->at);
  memset(out, 0, sizeof out);
  assert_status(gather_all(o, GATHER_ON_BAD_CLAMP, &bad, NULL), GATHER_OK);
  assert_int_equal(bad, 1);
  check_rows(o, back ? 0 : len - 1);
}

/* Whichever index is negative or out of range: every place with every shape, types and values in turns. */
static void whichever_index_is_odd(void **state) {
  static const gather_type types[] = {GATHER_TYPE_INT32, GATHER_TYPE_UINT32, GATHER_TYPE_INT64, GATHER_TYPE_UINT64, GATHER_TYPE_INT8};
  static const int64_t places[] = {0, 1, 15, 16, 63, 64, 127, 128, 129, 256, 332, 333, 334, 1000, 1500, ALL - 17, ALL - 16, ALL - 1};
  size_t count = 0;
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 2654435761u >> 13);
  for (int machine = 0; machine < MACHINES; machine++) {
    char text[100];
    if (!machine_runs(machine)) continue;
    machine_set(machine, text, sizeof text);
    for (size_t s = 0; s < COUNT(shapes); s++)
      for (size_t p = 0; p < COUNT(places); p++, count++) {
        const int64_t len = shapes[s].len, values[] = {0, -1, -len, len, -len - 1, INT32_MAX, INT32_MIN};
        const odd o = {&shapes[s], types[count % COUNT(types)], places[p], values[count / 4 % COUNT(values)], count / 5 % 4 == 0};
        if (o.type != GATHER_TYPE_INT8 || (len <= INT8_MAX && o.value >= INT8_MIN && o.value <= INT8_MAX)) try(&o);
      }
  }
  machine_reset();
}

/* ---- many indices of 8 bytes into few rows, which are validated into bytes */

enum { MANY = 35000 /* more than 256 KiB of indices */, MOST_LEN = 20 };

static int64_t many[MANY];
static uint64_t tables[MANY * MOST_LEN], gathered[MANY];

/* Elements of `row` bytes of one table of `len`, or of a table for each `round` of indices. */
static gather_status gather_many(int64_t len, int64_t round, int64_t row, gather_error *error) {
  const gather_type type = row == 8 ? GATHER_TYPE_INT64 : row == 4 ? GATHER_TYPE_INT32 : GATHER_TYPE_INT16;
  const int64_t data_shape[2] = {MANY / round, len}, index_shape[2] = {MANY / round, round};
  const bool one = round == MANY;
  const gather_tensor from = tensor_of(type, tables, 1 + !one, data_shape + one);
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, many, 1 + !one, index_shape + one);
  gather_tensor to = tensor_of(type, gathered, 1 + !one, index_shape + one);
  gather_options options = options_of(!one, 0);
  return gather_apply(op_of(one ? "Gather" : "GatherElements", "onnx-13"), &from, &indices, &to, &options, error);
}

static void try_many(int64_t len, int64_t round, int64_t row, int64_t at, int64_t value) {
  gather_error error = dirty_error();
  for (int64_t i = 0; i < MANY; i++) many[i] = i * 7919 % len;
  many[at] = value;
  memset(gathered, 0x5A, sizeof gathered);
  const bool in_range = value >= -len && value < len;
  assert_status(gather_many(len, round, row, &error), in_range ? GATHER_OK : GATHER_INDEX_OUT_OF_RANGE);
  if (!in_range) {
    assert_int_equal(error.value, value);
    for (size_t i = 0; i < sizeof gathered; i++) assert_int_equal(((const uint8_t *)gathered)[i], 0x5A);
    return;
  }
  for (int64_t i = 0; i < MANY; i++) {
    const int64_t from = (round == MANY ? 0 : i / round * len) + (many[i] < 0 ? many[i] + len : many[i]);
    if (memcmp((const char *)gathered + i * row, (const char *)tables + from * row, (size_t)row) != 0)
      fail_msg("element %d of %d bytes, tables of %d for %d: wrong", (int)i, (int)row, (int)len, (int)round);
  }
}

/* All or nothing, whichever instruction set and number of rounds. */
static void many_indices_of_few_rows(void **state) {
  static const int64_t rounds[] = {MANY, 1, 5, 8, 70, 700}, places[] = {0, 1, 12345, MANY - 1};
  for (size_t i = 0; i < COUNT(tables); i++) tables[i] = i * 0x9E3779B97F4A7C15u;
  for (int isa = 0; isa < MACHINE_ISAS; isa++) {
    if (!machine_runs(isa)) continue;
    assert_status(gather_tuning_set("isa", isa, NULL), GATHER_OK);
    for (size_t r = 0; r < COUNT(rounds); r++)
      for (int64_t len = 1; len <= MOST_LEN; len += 3)
        for (int64_t row = 2; row <= 8; row *= 2) {
          const int64_t values[] = {0, -1, len, len - 1, INT64_MAX, -len - 1, len + 256};
          try_many(len, rounds[r], row, places[(size_t)len % COUNT(places)], values[(size_t)(len + row) % COUNT(values)]);
        }
  }
  machine_reset();
}

/* Unsigned indices of 4 bytes into so long an axis that no limit divides their range: no row is read outside of it. */
static void an_axis_of_more_than_half_of_the_range(void **state) {
  enum { FEW = 200 };
  const int64_t len = INT64_C(0x80000000) + 10, longer[1] = {len}, lens[] = {FEW, ALL};
  uint8_t *table = SIZE_MAX > UINT32_MAX ? calloc((size_t)len, 1) : NULL; /* pages that nobody touches */
  if (!table) {
    printf("SKIPPED: no 2 GiB of addresses\n");
    return;
  }
  for (size_t i = 0; i < COUNT(lens); i++)
    for (int clamps = 0; clamps < 2; clamps++) {
      const gather_tensor from = tensor_of(GATHER_TYPE_UINT8, table, 1, longer);
      const gather_tensor indices = tensor_of(GATHER_TYPE_UINT32, narrow, 1, &lens[i]);
      gather_tensor to = tensor_of(GATHER_TYPE_UINT8, out, 1, &lens[i]);
      gather_options options = options_of(0, 0);
      gather_error error = dirty_error();
      memset(narrow, 0, sizeof narrow);
      narrow[70] = -1, table[len - 1] = 7;
      options.fresh_output = true, options.on_bad = clamps ? GATHER_ON_BAD_CLAMP : GATHER_ON_BAD_ERROR;
      const gather_status status = gather_apply(op_of("Gather", "openvino-8"), &from, &indices, &to, &options, &error);
      assert_status(status, clamps ? GATHER_OK : GATHER_INDEX_OUT_OF_RANGE);
      if (clamps) assert_int_equal(out[70], 7);
    }
  free(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whichever_index_is_odd), cmocka_unit_test(many_indices_of_few_rows),
                                     cmocka_unit_test(an_axis_of_more_than_half_of_the_range)};
  return machine_skips() + cmocka_run_group_tests(tests, NULL, NULL);
}
