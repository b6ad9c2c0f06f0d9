/* SPDX-License-Identifier: MIT
 *
 * test_guard.c: no byte outside the three tensors is read or written, and no byte of the inputs is written: every buffer lies
 * flush against a forbidden page, for every row size, index type, packed type, policy and way to run.
 */
#include "support/guard.h"
#include "support/machines.h"
#include "support/packed.h"
#include "support/unit.h"

enum { DATA, INDICES, OUT, AREA = 1 << 20 };

static struct guard areas[3];
static char running[256]; /* the case at hand, for the message after a crash */

static const gather_type index_types[] = {GATHER_TYPE_INT8,  GATHER_TYPE_INT16,  GATHER_TYPE_INT32,  GATHER_TYPE_INT64,
                                          GATHER_TYPE_UINT8, GATHER_TYPE_UINT16, GATHER_TYPE_UINT32, GATHER_TYPE_UINT64};
static const int counts[] = {1, 2, 3, 5, 8, 9, 16, 17, 33, 64, 71};
static size_t counts_step = 1; /* the other machines take every third of them */

/* One gather of whole elements: data [outer, len, row] by indices [count] along the middle, or elements one by one. */
struct shape {
  int outer, len, row, count;
};

/* Index i; the bad ones fit the smallest index type. */
static int index_at(int i, int len, bool bad) {
  if (bad && i % 5 == 3) return len + i % (128 - len);
  return i == 0 ? len - 1 : i * 7 % len;
}

static void put_index(uint8_t *at, gather_type type, int value) {
  int64_t bytes = gather_type_get(type)->bits / 8;
  int8_t i8 = (int8_t)value;
  int16_t i16 = (int16_t)value;
  int32_t i32 = (int32_t)value;
  int64_t i64 = value;
  memcpy(at, bytes == 1 ? (void *)&i8 : bytes == 2 ? (void *)&i16 : bytes == 4 ? (void *)&i32 : (void *)&i64, (size_t)bytes);
}

static void backwards(void *context, int64_t count, void (*task)(void *argument, int64_t i), void *argument) {
  for (int64_t i = count; i-- > 0;) task(argument, i);
}

static const gather_executor executor = {NULL, backwards, 3};

/* Runs with locked inputs; the answer is OK or the test fails. Every other output is fresh: indices are looked at late. */
static void run(const gather_op *op, gather_tensor tensors[3], int64_t axis, bool parallel) {
  gather_options options = options_of(axis, 0);
  gather_error error;
  static bool fresh;
  options.executor = parallel ? &executor : NULL;
  options.fresh_output = fresh = !fresh;
  guard_lock(areas[DATA], true);
  guard_lock(areas[INDICES], true);
  gather_status status = gather_apply(op, &tensors[DATA], &tensors[INDICES], &tensors[OUT], &options, &error);
  guard_lock(areas[DATA], false);
  guard_lock(areas[INDICES], false);
  if (status != GATHER_OK) fail_msg("%s: %s", running, error.message);
}

static void fill_bytes(uint8_t *to, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)((i * 2654435761u + seed) >> 11);
}

static void rows(struct shape s, gather_type itype, bool at_end, bool bad, bool parallel) {
  const gather_op *op = op_of("Gather", "openvino-8");
  int64_t ibytes = gather_type_get(itype)->bits / 8;
  size_t sizes[3] = {(size_t)(s.outer * s.len * s.row), (size_t)(s.count * ibytes), (size_t)(s.outer * s.count * s.row)};
  snprintf(running, sizeof running, "rows of %d: outer %d, len %d, count %d, %s, %s, bad %d, parallel %d", s.row, s.outer, s.len, s.count,
           gather_type_get(itype)->name, at_end ? "end" : "start", bad, parallel);
  uint8_t *memory[3];
  for (int t = 0; t < 3; t++) memory[t] = guard_place(areas[t], sizes[t], at_end);
  fill_bytes(memory[DATA], sizes[DATA], (unsigned)s.row);
  for (int i = 0; i < s.count; i++) put_index(memory[INDICES] + i * ibytes, itype, index_at(i, s.len, bad));
  gather_tensor tensors[3] = {tensor_of(GATHER_TYPE_OPAQUE, memory[DATA], 2, DIMS(s.outer, s.len)),
                              tensor_of(itype, memory[INDICES], 1, DIMS(s.count)),
                              tensor_of(GATHER_TYPE_OPAQUE, memory[OUT], 2, DIMS(s.outer, s.count))};
  tensors[DATA].item_bytes = tensors[OUT].item_bytes = s.row;
  run(op, tensors, 1, parallel);
  for (int o = 0; o < s.outer; o++)
    for (int i = 0; i < s.count; i++) {
      static const uint8_t zeros[4096];
      int index = index_at(i, s.len, bad);
      const uint8_t *want = index < s.len ? memory[DATA] + (o * s.len + index) * s.row : zeros;
      if (memcmp(memory[OUT] + (o * s.count + i) * s.row, want, (size_t)s.row) != 0) fail_msg("%s: row %d", running, i);
    }
}

static void every_row_size(void **state) {
  for (int row = 1; row <= 72; row++)
    for (size_t t = 0; t < COUNT(index_types); t++)
      for (size_t c = 0; c < COUNT(counts); c += counts_step)
        for (int flags = 0; flags < 4; flags++) {
          struct shape s = {1 + (int)c % 3, 1 + row % 6, row == 71 ? 128 : row == 72 ? 1000 : row, counts[c]};
          rows(s, index_types[t], flags & 1, flags & 2, c % 2);
        }
}

/* Long enough that the work is split and that wide loops run. */
static void many_rows(void **state) {
  static const int widths[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 33, 48, 64, 65, 100};
  for (size_t w = 0; w < COUNT(widths); w++)
    for (size_t t = 0; t < COUNT(index_types); t++)
      for (int flags = 0; flags < 8; flags++)
        rows((struct shape){1, 100, widths[w], 4003}, index_types[t], flags & 1, flags & 2, flags & 4);
}

/* Tables that some CPU keeps in one to four registers, whole and not. */
static void small_tables(void **state) {
  static const int bytes[] = {8, 16, 24, 32, 40, 64, 72, 128, 136, 256}, table_counts[] = {33, 71, 200};
  for (int row = 1; row <= 8; row *= 2)
    for (size_t b = 0; b < COUNT(bytes); b++)
      for (size_t t = 0; t < COUNT(index_types); t++)
        for (size_t c = 0; c < COUNT(table_counts); c++)
          for (int at_end = 0; at_end < 2; at_end++) {
            int len = bytes[b] / row;
            if (index_types[t] == GATHER_TYPE_INT8 && len > 128) continue;
            rows((struct shape){1, len, row, table_counts[c]}, index_types[t], at_end, false, false);
          }
}

/* GatherElements: data [outer, len] by indices [outer, count], elements of `row` bytes. */
static void elements(struct shape s, gather_type itype, int axis, bool at_end, bool parallel) {
  const gather_op *op = op_of("GatherElements", "onnx-13");
  int64_t ibytes = gather_type_get(itype)->bits / 8;
  int cells = s.outer * s.count;
  size_t sizes[3] = {(size_t)(s.outer * s.len * s.row), (size_t)(cells * ibytes), (size_t)(cells * s.row)};
  int64_t shape[2] = {axis ? s.outer : s.len, axis ? s.len : s.outer}, ishape[2] = {axis ? s.outer : s.count, axis ? s.count : s.outer};
  snprintf(running, sizeof running, "elements of %d: axis %d, outer %d, len %d, count %d, %s, %s", s.row, axis, s.outer, s.len, s.count,
           gather_type_get(itype)->name, at_end ? "end" : "start");
  uint8_t *memory[3];
  for (int t = 0; t < 3; t++) memory[t] = guard_place(areas[t], sizes[t], at_end);
  fill_bytes(memory[DATA], sizes[DATA], (unsigned)s.row + 9);
  for (int i = 0; i < cells; i++) put_index(memory[INDICES] + i * ibytes, itype, index_at(i, s.len, false));
  gather_tensor tensors[3] = {tensor_of(GATHER_TYPE_OPAQUE, memory[DATA], 2, shape), tensor_of(itype, memory[INDICES], 2, ishape),
                              tensor_of(GATHER_TYPE_OPAQUE, memory[OUT], 2, ishape)};
  tensors[DATA].item_bytes = tensors[OUT].item_bytes = s.row;
  run(op, tensors, axis, parallel);
  for (int i = 0; i < cells; i++) {
    int j = index_at(i, s.len, false);
    int from = axis ? i / s.count * s.len + j : j * s.outer + i % s.outer;
    if (memcmp(memory[OUT] + i * s.row, memory[DATA] + from * s.row, (size_t)s.row) != 0) fail_msg("%s: %d", running, i);
  }
}

static void every_element_size(void **state) {
  for (int row = 1; row <= 40; row++)
    for (size_t t = 0; t < COUNT(index_types); t++)
      for (size_t c = 0; c < COUNT(counts); c += counts_step)
        for (int flags = 0; flags < 4; flags++)
          elements((struct shape){1 + (int)c % 4, 1 + row % 9, row, counts[c]}, index_types[t], flags & 1, flags & 2, c % 2);
  for (int row = 1; row <= 16; row *= 2)
    for (int flags = 0; flags < 8; flags++) elements((struct shape){37, 90, row, 113}, GATHER_TYPE_INT64, flags & 1, flags & 2, flags & 4);
}

/* Packed rows of `row` elements: data [len, row], first element number `first` within its memory. */
static void packed_rows(const gather_type_info *type, struct shape s, int first, bool at_end) {
  const gather_op *op = op_of("Gather", "openvino-8");
  int64_t bytes[2];
  assert_status(gather_type_bytes(type->type, 0, first + s.len * s.row, &bytes[0]), GATHER_OK);
  assert_status(gather_type_bytes(type->type, 0, s.count * s.row, &bytes[1]), GATHER_OK);
  snprintf(running, sizeof running, "%s rows of %d from %d: len %d, count %d, %s", type->name, s.row, first, s.len, s.count,
           at_end ? "end" : "start");
  uint8_t *data = guard_place(areas[DATA], (size_t)bytes[0], at_end), *out = guard_place(areas[OUT], (size_t)bytes[1], at_end);
  uint8_t *indices = guard_place(areas[INDICES], (size_t)s.count * 4, at_end);
  fill_bytes(data, (size_t)bytes[0], (unsigned)s.row);
  memset(out, 0xFF, (size_t)bytes[1]);
  for (int i = 0; i < s.count; i++) put_index(indices + 4 * i, GATHER_TYPE_INT32, index_at(i, s.len, s.row % 2));
  gather_tensor tensors[3] = {tensor_of(type->type, data, 2, DIMS(s.len, s.row)), tensor_of(GATHER_TYPE_INT32, indices, 1, DIMS(s.count)),
                              tensor_of(type->type, out, 2, DIMS(s.count, s.row))};
  tensors[DATA].packed_offset = first;
  run(op, tensors, 0, false);
  for (int i = 0; i < s.count * s.row; i++) {
    int j = index_at(i / s.row, s.len, s.row % 2);
    unsigned want = j < s.len ? packed_get(type, data, first + j * s.row + i % s.row) : 0;
    if (packed_get(type, out, i) != want) fail_msg("%s: element %d", running, i);
  }
}

static void every_packed_type(void **state) {
  int seen = 0;
  for (int t = 1; gather_type_get((gather_type)t); t++) {
    const gather_type_info *type = gather_type_get((gather_type)t);
    if (type->packing == GATHER_PACKING_BYTES) continue;
    seen++;
    for (int row = 1; row <= 70; row++)
      for (int flags = 0; flags < 4; flags++)
        for (int count = 1; count <= 9; count += 4)
          packed_rows(type, (struct shape){0, 1 + row % 4, row, count}, flags & 2 ? row % 9 : 0, flags & 1);
  }
  assert_int_equal(seen, 11);
}

/* Views that run backwards, with gaps, so that the elements' outermost bytes are the buffers' first and last. */
static void strided_views(void **state) {
  const gather_op *op = op_of("Gather", "onnx-13");
  for (int item = 1; item <= 16; item++)
    for (int flags = 0; flags < 8; flags++) {
      int64_t gap = item + (flags & 4 ? 3 : 0), sign = flags & 2 ? -1 : 1;
      size_t bytes = (size_t)(8 * gap + item), ibytes = 6 * 5 + 2;
      uint8_t *data = guard_place(areas[DATA], bytes, flags & 1), *out = guard_place(areas[OUT], bytes, flags & 1);
      uint8_t *indices = guard_place(areas[INDICES], ibytes, flags & 1);
      snprintf(running, sizeof running, "strided: item %d, flags %d", item, flags);
      fill_bytes(data, bytes, (unsigned)item);
      for (int i = 0; i < 7; i++) put_index(indices + 5 * i, GATHER_TYPE_INT16, 8 - i);
      size_t start = sign < 0 ? (size_t)(8 * gap) : 0;
      gather_tensor tensors[3] = {tensor_of(GATHER_TYPE_OPAQUE, data + start, 1, DIMS(9)),
                                  tensor_of(GATHER_TYPE_INT16, indices, 1, DIMS(7)),
                                  tensor_of(GATHER_TYPE_OPAQUE, out + start, 1, DIMS(7))};
      tensors[DATA].item_bytes = tensors[OUT].item_bytes = item;
      tensors[DATA].strides = tensors[OUT].strides = DIMS(sign * gap);
      tensors[INDICES].strides = DIMS(5);
      run(op, tensors, 0, false);
      for (int i = 0; i < 7; i++)
        assert_memory_equal(out + (int64_t)start + sign * gap * i, data + (int64_t)start + sign * gap * (8 - i), (size_t)item);
    }
}

static int create_areas(void **state) {
  for (int t = 0; t < 3; t++) areas[t] = guard_create(AREA);
  return 0;
}

static int destroy_areas(void **state) {
  for (int t = 0; t < 3; t++) guard_destroy(areas[t]);
  return 0;
}

/* After each test: which case ran last, which is the one that crashed where it did. */
static int say_where(void **state) {
  print_message("last case: %s\n", running);
  return 0;
}

/* GATHER_TEST_MACHINES=n, for slow emulators: every n-th machine only. */
static int machine_step(void) {
  const char *text = getenv("GATHER_TEST_MACHINES");
  int step = text ? atoi(text) : 1;
  return step > 1 ? step : 1;
}

/* Everything on this machine as it is, then what kernels differ in on every machine that it can play. */
int main(void) {
  int failed = RUN_TESTS_IN(create_areas, destroy_areas, NULL, say_where, every_row_size, many_rows, every_element_size, every_packed_type,
                            strided_views);
  failed += machine_skips();
  counts_step = 3;
  for (int i = 0; i < MACHINES && !failed; i += machine_step()) {
    char text[100];
    if (!machine_runs(i)) continue;
    machine_set(i, text, sizeof text);
    print_message("on a machine with %s\n", text);
    failed = RUN_TESTS_IN(create_areas, destroy_areas, NULL, say_where, every_row_size, many_rows, small_tables, every_element_size);
  }
  return failed;
}
