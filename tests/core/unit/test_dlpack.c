/* SPDX-License-Identifier: MIT
 *
 * test_dlpack.c: DLPack structures and back, with literal values. tests/core/rules/test_dlpack.py does the same with NumPy's capsules.
 */
#include "gather/dlpack.h"

#include "support/unit.h"

static int64_t steps[GATHER_MAX_RANK], more_steps[GATHER_MAX_RANK];

static gather_dl_tensor dl_of(void *data, uint8_t code, uint8_t bits, int32_t ndim, int64_t *shape) {
  gather_dl_tensor tensor = {data, {1, 0}, ndim, {code, bits, 1}, shape, NULL, 0};
  return tensor;
}

static void take(const gather_dl_tensor *source, gather_tensor *tensor) {
  gather_error error;
  if (gather_tensor_from_dlpack(source, steps, tensor, &error) != GATHER_OK) fail_msg("%s", error.message);
}

/* The layout is DLPack's: what other libraries hand over is read through these structs. */
static void the_layout_is_dlpack_s(void **state) {
  assert_int_equal(sizeof(gather_dl_device), 8);
  assert_int_equal(sizeof(gather_dl_type), 4);
  if (sizeof(void *) != 8) return; /* the numbers below are those of 64-bit machines */
  assert_int_equal(sizeof(gather_dl_tensor), 48);
  assert_int_equal(offsetof(gather_dl_tensor, ndim), 16);
  assert_int_equal(offsetof(gather_dl_tensor, dtype), 20);
  assert_int_equal(offsetof(gather_dl_tensor, shape), 24);
  assert_int_equal(offsetof(gather_dl_tensor, byte_offset), 40);
  assert_int_equal(offsetof(gather_dl_managed, manager), 48);
  assert_int_equal(offsetof(gather_dl_managed, deleter), 56);
  assert_int_equal(offsetof(gather_dl_versioned, manager), 8);
  assert_int_equal(offsetof(gather_dl_versioned, deleter), 16);
  assert_int_equal(offsetof(gather_dl_versioned, flags), 24);
  assert_int_equal(offsetof(gather_dl_versioned, tensor), 32);
}

static void plain_and_strided(void **state) {
  int32_t cells[24] = {0};
  int64_t shape[2] = {2, 3}, strides[2] = {-4, 2};
  gather_tensor tensor;
  gather_dl_tensor source = dl_of(cells, 0, 32, 2, shape);
  take(&source, &tensor);
  assert_int_equal(tensor.type, GATHER_TYPE_INT32);
  assert_int_equal(tensor.rank, 2);
  assert_ptr_equal(tensor.data, cells);
  assert_ptr_equal(tensor.shape, shape);
  assert_int_equal(tensor.flags, 0);
  assert_true(!tensor.strides || (tensor.strides[0] == 12 && tensor.strides[1] == 4));
  source.strides = strides;
  source.byte_offset = 16;
  take(&source, &tensor);
  assert_ptr_equal(tensor.data, cells + 4);
  assert_ptr_equal(tensor.strides, steps);
  assert_int_equal(tensor.strides[0], -16);
  assert_int_equal(tensor.strides[1], 8);
}

static void a_scalar(void **state) {
  double cell = 1;
  gather_tensor tensor;
  gather_dl_tensor source = dl_of(&cell, 2, 64, 0, NULL);
  take(&source, &tensor);
  assert_int_equal(tensor.type, GATHER_TYPE_FLOAT64);
  assert_int_equal(tensor.rank, 0);
  assert_status(gather_tensor_check(&tensor, NULL), GATHER_OK);
}

static void types_without_a_name_become_opaque(void **state) {
  uint8_t cells[64] = {0};
  int64_t shape[1] = {2}, strides[1] = {2};
  gather_tensor tensor;
  gather_dl_tensor lanes = dl_of(cells, 2, 32, 1, shape);
  lanes.dtype.lanes = 4;
  lanes.strides = strides;
  take(&lanes, &tensor);
  assert_int_equal(tensor.type, GATHER_TYPE_OPAQUE);
  assert_int_equal(tensor.item_bytes, 16);
  assert_int_equal(tensor.strides[0], 32);
  gather_dl_tensor handles = dl_of(cells, 3, 64, 1, shape);
  take(&handles, &tensor);
  assert_int_equal(tensor.type, GATHER_TYPE_OPAQUE);
  assert_int_equal(tensor.item_bytes, 8);
  gather_dl_tensor wide = dl_of(cells, 0, 128, 1, shape);
  take(&wide, &tensor);
  assert_int_equal(tensor.type, GATHER_TYPE_OPAQUE);
  assert_int_equal(tensor.item_bytes, 16);
}

static void codes_of_dlpack(void **state) {
  static const struct {
    uint8_t code, bits;
    gather_type type;
  } rows[] = {
      {6, 8, GATHER_TYPE_BOOL},
      {0, 8, GATHER_TYPE_INT8},
      {0, 16, GATHER_TYPE_INT16},
      {0, 32, GATHER_TYPE_INT32},
      {0, 64, GATHER_TYPE_INT64},
      {1, 8, GATHER_TYPE_UINT8},
      {1, 16, GATHER_TYPE_UINT16},
      {1, 32, GATHER_TYPE_UINT32},
      {1, 64, GATHER_TYPE_UINT64},
      {2, 16, GATHER_TYPE_FLOAT16},
      {2, 32, GATHER_TYPE_FLOAT32},
      {2, 64, GATHER_TYPE_FLOAT64},
      {4, 16, GATHER_TYPE_BFLOAT16},
      {5, 64, GATHER_TYPE_COMPLEX64},
      {5, 128, GATHER_TYPE_COMPLEX128},
      {10, 8, GATHER_TYPE_FLOAT8_E4M3FN},
      {11, 8, GATHER_TYPE_FLOAT8_E4M3FNUZ},
      {12, 8, GATHER_TYPE_FLOAT8_E5M2},
      {13, 8, GATHER_TYPE_FLOAT8_E5M2FNUZ},
      {14, 8, GATHER_TYPE_FLOAT8_E8M0FNU},
      {17, 4, GATHER_TYPE_FLOAT4_E2M1FN},
      {0, 4, GATHER_TYPE_INT4},
      {1, 4, GATHER_TYPE_UINT4},
      {0, 2, GATHER_TYPE_INT2},
      {1, 2, GATHER_TYPE_UINT2},
  };
  uint8_t cells[64] = {0};
  int64_t shape[1] = {2};
  for (size_t i = 0; i < COUNT(rows); i++) {
    gather_dl_tensor source = dl_of(cells, rows[i].code, rows[i].bits, 1, shape), back;
    gather_tensor tensor;
    take(&source, &tensor);
    assert_int_equal(tensor.type, rows[i].type);
    assert_status(gather_tensor_to_dlpack(&tensor, more_steps, &back, NULL), GATHER_OK);
    assert_int_equal(back.dtype.code, rows[i].code);
    assert_int_equal(back.dtype.bits, rows[i].bits);
    assert_int_equal(back.dtype.lanes, 1);
    assert_ptr_equal((char *)back.data + back.byte_offset, cells);
  }
}

static void memory_elsewhere(void **state) {
  static const struct {
    int32_t device;
    bool good;
  } rows[] = {{1, true}, {3, true}, {11, true}, {2, false}, {4, false}, {7, false}, {0, false}, {-1, false}, {14, false}};
  uint8_t cells[4] = {0};
  int64_t shape[1] = {4};
  gather_tensor tensor;
  for (size_t i = 0; i < COUNT(rows); i++) {
    gather_dl_tensor source = dl_of(cells, 1, 8, 1, shape);
    source.device.type = rows[i].device;
    gather_error error = dirty_error();
    assert_status(gather_tensor_from_dlpack(&source, steps, &tensor, &error), rows[i].good ? GATHER_OK : GATHER_UNSUPPORTED);
    if (!rows[i].good) assert_error(&error, GATHER_UNSUPPORTED);
  }
}

static void structures_that_do_not_fit(void **state) {
  uint8_t cells[4] = {0};
  int64_t shape[GATHER_MAX_RANK + 1], strides[1] = {INT64_MAX / 2};
  gather_tensor tensor;
  for (int d = 0; d <= GATHER_MAX_RANK; d++) shape[d] = 1;
  gather_dl_tensor source = dl_of(cells, 0, 32, GATHER_MAX_RANK + 1, shape);
  assert_status(gather_tensor_from_dlpack(&source, steps, &tensor, NULL), GATHER_RANK_MISMATCH);
  source.ndim = GATHER_MAX_RANK;
  assert_status(gather_tensor_from_dlpack(&source, steps, &tensor, NULL), GATHER_OK);
  shape[0] = 2;
  source.ndim = 1;
  source.strides = strides;
  assert_status(gather_tensor_from_dlpack(&source, steps, &tensor, NULL), GATHER_OVERFLOW);
}

static gather_dl_versioned versioned_of(gather_dl_tensor tensor, uint64_t flags) {
  gather_dl_versioned versioned = {{1, 1}, NULL, NULL, flags, tensor};
  return versioned;
}

static void versions_and_flags(void **state) {
  uint8_t cells[4] = {0};
  int64_t shape[1] = {4};
  gather_tensor tensor;
  gather_dl_versioned source = versioned_of(dl_of(cells, 1, 8, 1, shape), GATHER_DL_READ_ONLY);
  assert_status(gather_tensor_from_dlpack_versioned(&source, steps, &tensor, NULL), GATHER_OK);
  assert_int_equal(tensor.flags, GATHER_TENSOR_READ_ONLY);
  source.flags = GATHER_DL_COPIED;
  source.version.minor = 99;
  assert_status(gather_tensor_from_dlpack_versioned(&source, steps, &tensor, NULL), GATHER_OK);
  assert_int_equal(tensor.flags, 0);
  source.version.major = 2;
  assert_status(gather_tensor_from_dlpack_versioned(&source, steps, &tensor, NULL), GATHER_UNSUPPORTED);
  source.version.major = 0;
  assert_status(gather_tensor_from_dlpack_versioned(&source, steps, &tensor, NULL), GATHER_UNSUPPORTED);
}

static void padded_sub_byte_types(void **state) {
  uint8_t cells[4] = {0};
  int64_t shape[1] = {4}, strides[1] = {1};
  gather_tensor tensor;
  gather_dl_versioned source = versioned_of(dl_of(cells, 0, 4, 1, shape), GATHER_DL_SUBBYTE_PADDED);
  source.tensor.strides = strides;
  assert_status(gather_tensor_from_dlpack_versioned(&source, steps, &tensor, NULL), GATHER_OK);
  assert_int_equal(tensor.type, GATHER_TYPE_OPAQUE);
  assert_int_equal(tensor.item_bytes, 1);
  assert_int_equal(tensor.strides[0], 1);
  source.flags = 0;
  assert_status(gather_tensor_from_dlpack_versioned(&source, steps, &tensor, NULL), GATHER_OK);
  assert_int_equal(tensor.type, GATHER_TYPE_INT4);
}

static void to_dlpack(void **state) {
  float cells[12] = {0};
  gather_dl_tensor target;
  gather_tensor source = tensor_of(GATHER_TYPE_FLOAT32, cells, 2, DIMS(2, 3));
  assert_status(gather_tensor_to_dlpack(&source, steps, &target, NULL), GATHER_OK);
  assert_ptr_equal((char *)target.data + target.byte_offset, cells);
  assert_int_equal(target.device.type, 1);
  assert_int_equal(target.ndim, 2);
  assert_int_equal(target.shape[1], 3);
  assert_ptr_equal(target.strides, steps);
  assert_int_equal(target.strides[0], 3);
  assert_int_equal(target.strides[1], 1);
  source.strides = DIMS(-4, 8);
  source.flags = GATHER_TENSOR_READ_ONLY;
  assert_status(gather_tensor_to_dlpack(&source, steps, &target, NULL), GATHER_OK);
  assert_int_equal(target.strides[0], -1);
  assert_int_equal(target.strides[1], 2);
}

static void refuse_to(gather_tensor *source) {
  gather_dl_tensor target;
  gather_error error = dirty_error();
  assert_status(gather_tensor_to_dlpack(source, steps, &target, &error), GATHER_UNSUPPORTED);
  assert_error(&error, GATHER_UNSUPPORTED);
}

static void what_dlpack_cannot_say(void **state) {
  static const gather_type without[] = {GATHER_TYPE_STRING, GATHER_TYPE_OPAQUE, GATHER_TYPE_UINT1,
                                        GATHER_TYPE_UINT3,  GATHER_TYPE_UINT6,  GATHER_TYPE_NF4};
  uint64_t cells[8] = {0};
  gather_dl_tensor target;
  for (size_t i = 0; i < COUNT(without); i++) {
    gather_tensor source = tensor_of(without[i], cells, 1, DIMS(2));
    source.item_bytes = 4;
    refuse_to(&source);
  }
  gather_tensor source = tensor_of(GATHER_TYPE_FLOAT32, cells, 1, DIMS(2));
  source.strides = DIMS(6);
  refuse_to(&source);
  source.strides = NULL;
  source.flags = GATHER_TENSOR_BYTE_SWAPPED;
  refuse_to(&source);
  gather_tensor nibbles = tensor_of(GATHER_TYPE_INT4, cells, 1, DIMS(4));
  nibbles.packed_offset = 3;
  refuse_to(&nibbles);
  nibbles.packed_offset = 4;
  assert_status(gather_tensor_to_dlpack(&nibbles, steps, &target, NULL), GATHER_OK);
  assert_ptr_equal((char *)target.data + target.byte_offset, (char *)cells + 2);
}

/* What a careless or hostile caller hands over is refused before anything is read or written. */
static void what_is_refused(void **state) {
  int32_t cells[4] = {0};
  int64_t shape[1] = {2}, negative[1] = {-1};
  const gather_dl_tensor good = dl_of(cells, 0, 32, 1, shape);
  gather_dl_tensor rows[6];
  static const gather_status WANTED[6] = {GATHER_RANK_MISMATCH, GATHER_OVERFLOW,    GATHER_SHAPE_MISMATCH,
                                          GATHER_USAGE,         GATHER_UNSUPPORTED, GATHER_UNSUPPORTED};
  gather_tensor tensor = {.rank = 77}, source = tensor_of(GATHER_TYPE_INT32, cells, 1, shape);
  gather_dl_tensor target;
  gather_error error;
  for (int i = 0; i < 6; i++) rows[i] = good;
  rows[0].ndim = -1;
  rows[1].byte_offset = (uint64_t)PTRDIFF_MAX + 1;
  rows[2].shape = negative;
  rows[3].shape = NULL;
  rows[4].dtype.bits = 4, rows[4].dtype.lanes = 3; /* 12 bits */
  rows[5].dtype.bits = 7, rows[5].dtype.lanes = 3;
  for (int i = 0; i < 6; i++) {
    assert_status(gather_tensor_from_dlpack(&rows[i], steps, &tensor, &error), WANTED[i]);
    assert_error(&error, WANTED[i]);
    assert_int_equal(tensor.rank, 77);
  }
  assert_status(gather_tensor_from_dlpack(NULL, steps, &tensor, NULL), GATHER_USAGE);
  assert_status(gather_tensor_from_dlpack(&good, NULL, &tensor, NULL), GATHER_USAGE);
  assert_status(gather_tensor_from_dlpack(&good, steps, NULL, NULL), GATHER_USAGE);
  assert_status(gather_tensor_from_dlpack_versioned(NULL, steps, &tensor, NULL), GATHER_USAGE);
  assert_status(gather_tensor_to_dlpack(&source, NULL, &target, NULL), GATHER_USAGE);
  assert_status(gather_tensor_to_dlpack(&source, steps, NULL, NULL), GATHER_USAGE);
  source.shape = negative;
  assert_status(gather_tensor_to_dlpack(&source, steps, &target, NULL), GATHER_SHAPE_MISMATCH);
}

/* The largest offset, an element of bytes that have no order, and packed elements that have no memory, are none of that. */
static void what_is_just_allowed(void **state) {
  int8_t bytes[2] = {0};
  int64_t shape[1] = {2}, none[1] = {0};
  gather_tensor tensor, source = tensor_of(GATHER_TYPE_INT8, bytes, 1, shape);
  gather_dl_tensor target, empty = dl_of(NULL, 0, 8, 1, none);
  source.flags = GATHER_TENSOR_BYTE_SWAPPED;
  assert_status(gather_tensor_to_dlpack(&source, steps, &target, NULL), GATHER_OK);
  assert_ptr_equal(target.data, bytes);
  empty.byte_offset = PTRDIFF_MAX;
  assert_status(gather_tensor_from_dlpack(&empty, steps, &tensor, NULL), GATHER_OK);
  assert_null(tensor.data);
  source = tensor_of(GATHER_TYPE_INT4, NULL, 1, none);
  assert_status(gather_tensor_to_dlpack(&source, steps, &target, NULL), GATHER_OK);
  assert_null(target.data);
}

TESTS(the_layout_is_dlpack_s, plain_and_strided, a_scalar, types_without_a_name_become_opaque, codes_of_dlpack, memory_elsewhere,
      structures_that_do_not_fit, versions_and_flags, padded_sub_byte_types, to_dlpack, what_dlpack_cannot_say, what_is_refused,
      what_is_just_allowed)
