/* SPDX-License-Identifier: MIT
 *
 * test_tensor.c: which descriptions of tensors are sane, and how many elements and bytes they have.
 */
#include "core/base/error.h"
#include "core/base/tensor.h"
#include "support/unit.h"

static void check(const gather_tensor *tensor, bool good) {
  gather_error error = dirty_error();
  gather_status status = gather_tensor_check(tensor, &error);
  if (good != (status == GATHER_OK)) fail_msg("%s: %s", gather_status_name(status), error.message);
  if (!good) assert_error(&error, status);
  assert_status(gather_tensor_check(tensor, NULL), status);
}

static void sane(void **state) {
  float cell = 0;
  gather_tensor scalar = {.data = &cell, .type = GATHER_TYPE_FLOAT32};
  check(&scalar, true);
  assert_int_equal(gather_tensor_len(&scalar), 1);
  assert_int_equal(gather_tensor_bytes(&scalar), 4);
  gather_tensor matrix = tensor_of(GATHER_TYPE_FLOAT32, &cell, 2, DIMS(3, 5));
  check(&matrix, true);
  assert_int_equal(gather_tensor_len(&matrix), 15);
  assert_int_equal(gather_tensor_bytes(&matrix), 60);
  gather_tensor packed = tensor_of(GATHER_TYPE_INT4, &cell, 2, DIMS(3, 5));
  check(&packed, true);
  assert_int_equal(gather_tensor_bytes(&packed), 8);
  gather_tensor opaque = tensor_of(GATHER_TYPE_OPAQUE, &cell, 1, DIMS(4));
  opaque.item_bytes = 7;
  check(&opaque, true);
  assert_int_equal(gather_tensor_bytes(&opaque), 28);
}

static void strides_do_not_change_the_bytes(void **state) {
  float cells[40] = {0};
  gather_tensor tensor = tensor_of(GATHER_TYPE_FLOAT32, &cells[8], 2, DIMS(2, 3));
  tensor.strides = DIMS(-12, 0);
  check(&tensor, true);
  assert_int_equal(gather_tensor_len(&tensor), 6);
  assert_int_equal(gather_tensor_bytes(&tensor), 24);
}

static void nothing_needs_no_memory(void **state) {
  gather_tensor empty = tensor_of(GATHER_TYPE_FLOAT32, NULL, 2, DIMS(0, 5));
  check(&empty, true);
  assert_int_equal(gather_tensor_len(&empty), 0);
  assert_int_equal(gather_tensor_bytes(&empty), 0);
  gather_tensor huge = tensor_of(GATHER_TYPE_FLOAT64, NULL, 4, DIMS(INT64_MAX, INT64_MAX, 0, INT64_MAX));
  check(&huge, true);
  assert_int_equal(gather_tensor_len(&huge), 0);
}

/* The fast measure accepts nothing that the other one refuses, finds the same, and leaves unusual tensors to it. */
static void plain(void **state) {
  static const int64_t lengths[] = {-1, 0, 1, 2, 5, INT64_C(1) << 31, INT64_MAX / 8, INT64_MAX};
  enum { LENGTHS = sizeof lengths / sizeof *lengths };
  for (int i = 0; i < LENGTHS * LENGTHS * LENGTHS; i++)
    for (int rank = 0; rank <= 3; rank++) {
      gather_size quick, size;
      int64_t steps[GATHER_MAX_RANK], wanted[GATHER_MAX_RANK];
      gather_tensor tensor = tensor_of(GATHER_TYPE_FLOAT64, NULL, rank,
                                       DIMS(lengths[i % LENGTHS], lengths[i / LENGTHS % LENGTHS], lengths[i / LENGTHS / LENGTHS]));
      const bool good = gather_tensor_measure(&tensor, NULL, &size, NULL) == GATHER_OK;
      assert_int_equal(gather_tensor_measure_plain(&tensor, &quick, steps), good && size.len > 0);
      if (!good || size.len == 0) continue;
      assert_int_equal(quick.len, size.len);
      assert_int_equal(quick.bytes, size.bytes);
      gather_tensor_strides(&tensor, wanted);
      if (rank > 0) assert_memory_equal(steps, wanted, (size_t)rank * sizeof *steps);
    }
}

static void not_plain(void **state) {
  gather_size size;
  int64_t steps[GATHER_MAX_RANK];
  gather_tensor strided = tensor_of(GATHER_TYPE_INT32, NULL, 1, DIMS(3)), packed = strided, opaque = strided;
  gather_tensor typeless = strided, deep = strided, shapeless = strided;
  assert_true(gather_tensor_measure_plain(&strided, &size, steps));
  strided.strides = DIMS(4), packed.type = GATHER_TYPE_INT4, opaque.type = GATHER_TYPE_OPAQUE;
  typeless.type = GATHER_TYPE_NONE, deep.rank = GATHER_MAX_RANK + 1, shapeless.shape = NULL;
  const gather_tensor *others[] = {NULL, &strided, &packed, &opaque, &typeless, &deep, &shapeless};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(gather_tensor_measure_plain(others[i], &size, steps));
  opaque.item_bytes = -4;
  assert_false(gather_tensor_measure_plain(&opaque, &size, steps));
}

#define CHECK(good, ...) check(&(gather_tensor[]){__VA_ARGS__}[0], good)

static void broken_descriptions(void **state) {
  float cell = 0;
  int64_t ones[GATHER_MAX_RANK + 1];
  for (int d = 0; d <= GATHER_MAX_RANK; d++) ones[d] = 1;
  CHECK(false, tensor_of(GATHER_TYPE_FLOAT32, &cell, 2, DIMS(3, -1)));
  CHECK(false, tensor_of(GATHER_TYPE_FLOAT32, &cell, 2, DIMS(0, INT64_MIN)));
  CHECK(false, tensor_of(GATHER_TYPE_FLOAT32, &cell, -1, ones));
  CHECK(true, tensor_of(GATHER_TYPE_FLOAT32, &cell, GATHER_MAX_RANK, ones));
  CHECK(false, tensor_of(GATHER_TYPE_FLOAT32, &cell, GATHER_MAX_RANK + 1, ones));
  CHECK(false, tensor_of(GATHER_TYPE_FLOAT32, &cell, INT32_MAX, ones));
  CHECK(false, tensor_of(GATHER_TYPE_NONE, &cell, 1, ones));
  CHECK(false, tensor_of((gather_type)77, &cell, 1, ones));
  CHECK(false, tensor_of(GATHER_TYPE_FLOAT32, &cell, 1, NULL));
  gather_tensor tensor = tensor_of(GATHER_TYPE_OPAQUE, &cell, 1, ones);
  tensor.item_bytes = -1;
  check(&tensor, false);
  check(NULL, false);
}

static void sizes_that_do_not_fit(void **state) {
  float cell = 0;
  gather_error error;
  gather_tensor tensor = tensor_of(GATHER_TYPE_FLOAT32, &cell, 2, DIMS(INT64_C(1) << 31, INT64_C(1) << 31));
  assert_status(gather_tensor_check(&tensor, &error), GATHER_OVERFLOW);
  tensor = tensor_of(GATHER_TYPE_INT8, &cell, 2, DIMS(INT64_C(1) << 31, INT64_C(1) << 32));
  assert_status(gather_tensor_check(&tensor, &error), GATHER_OVERFLOW);
  tensor = tensor_of(GATHER_TYPE_FLOAT32, &cell, 3, DIMS(INT64_MAX, INT64_MAX, INT64_MAX));
  assert_status(gather_tensor_check(&tensor, &error), GATHER_OVERFLOW);
  tensor = tensor_of(GATHER_TYPE_INT8, &cell, 1, DIMS(3));
  tensor.strides = DIMS(INT64_MAX);
  assert_status(gather_tensor_check(&tensor, &error), GATHER_OVERFLOW);
  tensor.strides = DIMS(INT64_MIN);
  assert_status(gather_tensor_check(&tensor, &error), GATHER_OVERFLOW);
  tensor = tensor_of(GATHER_TYPE_INT8, &cell, 2, DIMS(2, 2));
  tensor.strides = DIMS(INT64_MAX - 1, INT64_MAX - 1);
  assert_status(gather_tensor_check(&tensor, &error), GATHER_OVERFLOW);
  tensor = tensor_of(GATHER_TYPE_INT4, &cell, 1, DIMS(2));
  tensor.packed_offset = INT64_MAX;
  assert_status(gather_tensor_check(&tensor, &error), GATHER_OVERFLOW);
}

static void row_major(void **state) {
  static const struct {
    int64_t shape[3], strides[3];
    bool has_strides, expected;
  } CASES[] = {
      {{2, 3, 4}, {0}, false, true},          {{2, 3, 4}, {48, 16, 4}, true, true}, {{2, 1, 4}, {16, -999, 4}, true, true},
      {{2, 3, 4}, {48, 16, 8}, true, false},  {{2, 3, 4}, {4, 8, 24}, true, false}, {{2, 3, 4}, {96, 16, 4}, true, false},
      {{2, 3, 4}, {-48, 16, 4}, true, false}, {{0, 3, 4}, {7, 7, 7}, true, true},   {{1, 1, 1}, {7, 7, 7}, true, true},
  };
  float cell = 0;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    gather_tensor tensor = tensor_of(GATHER_TYPE_FLOAT32, &cell, 3, CASES[i].shape);
    if (CASES[i].has_strides) tensor.strides = CASES[i].strides;
    if (gather_tensor_is_row_major(&tensor) != CASES[i].expected) fail_msg("case %zu", i);
  }
}

/* A shape that is longer than its text is cut at a length, never within one. */
static void shapes_as_text(void **state) {
  const int64_t shape[] = {INT64_MAX, INT64_MAX, 7};
  static const struct {
    size_t bytes;
    int32_t rank;
    const char *expected;
  } CASES[] = {
      {64, 0, "[]"},
      {64, 1, "[9223372036854775807]"},
      {80, 3, "[9223372036854775807, 9223372036854775807, 7]"},
      {60, 3, "[9223372036854775807, 9223372036854775807...]"},
      {40, 3, "[9223372036854775807...]"},
      {28, 3, "[...]"},
  };
  char text[96];
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    memset(text, 'x', sizeof text);
    assert_ptr_equal(gather_shape_text(text, CASES[i].bytes, CASES[i].rank, shape), text);
    assert_string_equal(text, CASES[i].expected);
    assert_int_equal(text[CASES[i].bytes], 'x');
  }
}

TESTS(sane, strides_do_not_change_the_bytes, nothing_needs_no_memory, plain, not_plain, broken_descriptions, sizes_that_do_not_fit,
      row_major, shapes_as_text)
