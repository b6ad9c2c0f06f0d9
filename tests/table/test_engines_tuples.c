/* SPDX-License-Identifier: MIT
 *
 * test_engines_tuples.c: takes by tuples (GatherND) from tables, by every engine and setting, as gather_apply takes from memory: bytes,
 * errors, counts; from parts and warm or cold files, at once and as jobs.
 */
#include "table/test_engines.h"

enum { ROWS = 120, A = 6, B = 5, C = 8, ELEMENTS = ROWS * A * B * C, OFFSET = 7, PARTS = 3, MOST = 400 };

/* int16 in this machine's byte order: raw bytes are little-endian if the type does not say. */
static const char *native(void) {
  const uint16_t one = 1;
  char low;
  memcpy(&low, &one, 1);
  return low ? "<i2" : ">i2";
}

static known_file file;
static const int64_t SHAPE[4] = {ROWS, A, B, C};

static int make_table(void **unused) {
  file = make_file("tuples", OFFSET + (int64_t)ELEMENTS * 2 + 9);
  return 0;
}

static int remove_table(void **unused) {
  remove_file(&file);
  return 0;
}

/* The file's elements as a table of this shape: of one part, or of the same part several times. */
static gather_table *open_table(const setting *how, const char *type, int32_t rank, const int64_t *shape, int32_t parts) {
  const char *const paths[PARTS] = {file.path, file.path, file.path};
  const gather_raw raw = {type, rank, shape, OFFSET, true};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table *table = NULL;
  gather_error error = dirty_error();
  options.engine = how->engine, options.memory_bytes = how->memory_bytes, options.cache_bytes = how->cache_bytes;
  options.depth = how->depth, options.buffered = how->buffered, options.keep_signals = how->keep_signals;
  options.raw = &raw;
  if (gather_table_open_parts(paths, parts, &options, &table, &error) != GATHER_OK) fail_msg("%s: %s", setting_text(how), error.message);
  return table;
}

/* ---- one take, and what it must do ------------------------------------------------------------------------------------ */

/* A take by tuples of int32 numbers, all of which are at `numbers`; components and tuples may be apart. */
typedef struct tuple_take {
  int32_t components, rank; /* rank: of the indices */
  int64_t shape[3], strides[3];
  int32_t numbers[MOST * 8];
  bool shared, asynchronous;
  gather_table_take_options options;
} tuple_take;

static int64_t tuples_of(const tuple_take *take) {
  int64_t count = 1;
  for (int32_t d = 0; d < take->rank - 1; d++) count *= take->shape[d];
  return count;
}

static void draw_numbers(uint64_t *state, tuple_take *take, int64_t rows, bool bad) {
  for (int64_t i = 0; i < MOST * 8; i++) take->numbers[i] = 0;
  for (int64_t i = 0; i < tuples_of(take); i++)
    for (int32_t c = 0; c < take->components; c++) {
      const int64_t len = c == 0 ? rows : SHAPE[c];
      int64_t at = 0, rest = i;
      for (int32_t d = take->rank - 2; d >= 0; d--) at += rest % take->shape[d] * take->strides[d], rest /= take->shape[d];
      at += c * take->strides[take->rank - 1];
      int64_t number = below(state, 2 * len) - len;
      if (bad && below(state, 20) == 0) number = below(state, 2) ? len + below(state, 3) : -len - 1 - below(state, 3);
      take->numbers[at / (int64_t)sizeof(int32_t)] = (int32_t)number;
    }
}

static void draw(uint64_t *state, tuple_take *take, int64_t rows) {
  const bool apart = below(state, 3) == 0, planes = below(state, 3) == 0;
  static const gather_on_bad policies[] = {GATHER_ON_BAD_DEFAULT, GATHER_ON_BAD_ERROR, GATHER_ON_BAD_CLAMP,
                                           GATHER_ON_BAD_WRAP,    GATHER_ON_BAD_ZERO,  GATHER_ON_BAD_FILL};
  take->components = 1 + (int32_t)below(state, 4);
  take->rank = 1 + (int32_t)below(state, 3);
  int64_t step = sizeof(int32_t) * (apart ? 2 : 1);
  for (int32_t d = 0; d < take->rank - 1; d++) take->shape[d] = 1 + below(state, take->rank == 2 ? MOST / 2 : 19);
  take->shape[take->rank - 1] = take->components;
  if (!planes) take->strides[take->rank - 1] = step, step *= take->components;
  for (int32_t d = take->rank - 2; d >= 0; d--) take->strides[d] = step, step *= take->shape[d];
  if (planes) take->strides[take->rank - 1] = step;
  take->shared = below(state, 3) == 0, take->asynchronous = below(state, 2) == 0;
  take->options = (gather_table_take_options)GATHER_TABLE_TAKE_INIT;
  take->options.op = op_of("GatherND", below(state, 2) ? "onnx-13" : "openvino-5");
  take->options.on_bad = policies[below(state, 6)];
  take->options.negative = (gather_negative)below(state, 3);
  draw_numbers(state, take, rows, below(state, 2) == 0);
}

/* What memory gives. */
static gather_status take_from_memory(const tuple_take *take, const gather_tensor *indices, const gather_tensor *rows, int64_t parts,
                                      gather_error *error) {
  static uint8_t whole[PARTS * ELEMENTS * 2];
  const int64_t shape[4] = {parts * ROWS, A, B, C};
  for (int64_t p = 0; p < parts; p++) memcpy(whole + p * ELEMENTS * 2, file.data + OFFSET, (size_t)ELEMENTS * 2);
  const gather_tensor data = tensor_of(GATHER_TYPE_INT16, whole, 4, shape);
  gather_options options = GATHER_OPTIONS_INIT;
  options.on_bad = take->options.on_bad, options.negative = take->options.negative, options.fill = take->options.fill;
  options.bad_count = take->options.bad_count;
  return gather_apply(take->options.op, &data, indices, rows, &options, error);
}

static gather_status take_from_table(gather_table *table, const tuple_take *take, const gather_tensor *indices, const gather_tensor *rows,
                                     gather_error *error) {
  gather_table_job *job = NULL;
  if (!take->asynchronous) return gather_table_take(table, indices, rows, &take->options, error);
  gather_status status = gather_table_submit(table, indices, rows, &take->options, &job, error);
  return status == GATHER_OK ? gather_table_wait(job, error) : status;
}

static void check_take(gather_table *table, tuple_take *take, int64_t parts, const setting *how) {
  static uint8_t out[MOST * A * B * C * 2], want[sizeof out];
  static const int16_t filler = 0x4B5A;
  gather_error error = dirty_error(), wanted = dirty_error();
  int64_t shape[8], bad = -3, bad_wanted = -3;
  int32_t rank = 0;
  for (int32_t d = 0; d < take->rank - 1; d++) shape[rank++] = take->shape[d];
  for (int32_t d = take->components; d < 4; d++) shape[rank++] = SHAPE[d];
  gather_tensor indices = tensor_of(GATHER_TYPE_INT32, take->numbers, take->rank, take->shape);
  gather_tensor rows = tensor_of(GATHER_TYPE_INT16, out, rank, shape), memory = tensor_of(GATHER_TYPE_INT16, want, rank, shape);
  indices.strides = take->strides;
  indices.flags = take->shared ? GATHER_TENSOR_SHARED : 0;
  take->options.fill = take->options.on_bad == GATHER_ON_BAD_FILL ? &filler : NULL;
  assert_true(gather_tensor_bytes(&rows) <= (int64_t)sizeof out);
  memset(out, 0xEE, sizeof out);
  memset(want, 0xEE, sizeof want);
  take->options.bad_count = &bad_wanted;
  const gather_status expected = take_from_memory(take, &indices, &memory, parts, &wanted);
  take->options.bad_count = &bad;
  const gather_status status = take_from_table(table, take, &indices, &rows, &error);
  if (status != expected) fail_msg("%s: status %d, not %d: %s", setting_text(how), status, expected, error.message);
  if (memcmp(out, want, sizeof out) != 0) fail_msg("%s: other bytes than from memory", setting_text(how));
  if (status == GATHER_OK) assert_int_equal(bad, bad_wanted);
  if (status == GATHER_OK) return;
  assert_string_equal(error.message, wanted.message);
  assert_memory_equal(error.position, wanted.position, (size_t)take->rank * sizeof *error.position);
  assert_true(error.axis == wanted.axis && error.value == wanted.value && error.bad_count == wanted.bad_count);
  assert_true(error.low == wanted.low && error.high == wanted.high && error.position_rank == take->rank);
}

static void as_from_memory(void **unused) {
  uint64_t state = (uint64_t)number_from("GATHER_TEST_SEED", 11);
  for (int64_t round = 0; round < number_from("GATHER_TEST_ROUNDS", 60); round++) {
    static tuple_take take;
    setting how = some_setting(&state, 0);
    if (below(&state, 2)) how.memory_bytes = least_memory(file.path, A * B * C * 2, &how);
    const int32_t parts = below(&state, 2) ? 1 : PARTS;
    gather_table *table = open_table(&how, native(), 4, SHAPE, parts);
    for (int i = 0; i < 12; i++) {
      if (below(&state, 3) == 0) evict(file.path);
      draw(&state, &take, ROWS * (int64_t)parts);
      check_take(table, &take, parts, &how);
    }
    gather_table_close(table);
  }
}

/* ---- what only tables have --------------------------------------------------------------------------------------------- */

static void by_each_engine(void (*check)(gather_table *table), const char *type, int32_t rank, const int64_t *shape) {
  for (int engine = 0; engine < 4; engine++) {
    if (!engine_works((gather_engine)engine)) continue;
    const setting how = {(gather_engine)engine, false, false, 0, -1, 0};
    gather_table *table = open_table(&how, type, rank, shape, 1);
    check(table);
    gather_table_close(table);
  }
}

/* A tuple with two bad numbers is one filled row. Only what the tuples select is useful. */
static void counts_rows(gather_table *table) {
  const int64_t ids[4][3] = {{0, 1, 2}, {ROWS, A, 0}, {5, A, 1}, {ROWS - 1, 0, -1}};
  uint8_t out[4 * C * 2];
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_table_statistics is;
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 2, DIMS(4, 3)), rows = tensor_of(GATHER_TYPE_INT16, out, 2, DIMS(4, C));
  int64_t bad = 0;
  options.op = op_of("GatherND", "onnx-13"), options.on_bad = GATHER_ON_BAD_ZERO, options.bad_count = &bad;
  for (int again = 0; again < 3; again++) assert_status(gather_table_take(table, &indices, &rows, &options, NULL), GATHER_OK);
  gather_table_statistics_get(table, &is);
  assert_int_equal(bad, 3);
  assert_true(is.takes == 3 && is.rows == 12 && is.bytes_useful == 12 * C * 2);
  assert_int_equal(is.rows_resident + is.rows_cached + is.rows_read, 6);
  assert_int_equal(is.rows_cached, 0);
}

/* The same where so many tuples are taken that a resident table is read as a whole. */
static void counts_many_rows(gather_table *table) {
  enum { LEN = 600 };
  static int64_t ids[LEN][3];
  static uint8_t out[LEN * C * 2];
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_table_statistics is;
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 2, DIMS(LEN, 3)), rows = tensor_of(GATHER_TYPE_INT16, out, 2, DIMS(LEN, C));
  for (int i = 0; i < LEN; i++) ids[i][0] = i % 10 == 0 ? ROWS : i % ROWS, ids[i][1] = i % 10 == 0 ? -A - 1 : i % A;
  options.op = op_of("GatherND", "onnx-13"), options.on_bad = GATHER_ON_BAD_ZERO;
  for (int again = 0; again < 3; again++) assert_status(gather_table_take(table, &indices, &rows, &options, NULL), GATHER_OK);
  gather_table_statistics_get(table, &is);
  assert_int_equal(is.rows_resident + is.rows_cached + is.rows_read, 3 * (LEN - LEN / 10));
}

static void rows_are_counted(void **unused) {
  by_each_engine(counts_rows, native(), 4, SHAPE);
  by_each_engine(counts_many_rows, native(), 4, SHAPE);
}

/* The cache has whole rows: takes by tuples neither fill it with anything else nor are answered from it. */
static void leaves_the_cache(gather_table *table) {
  enum { LEN = 40 };
  static uint8_t out[LEN * A * B * C * 2], part[LEN * C * 2];
  int64_t ids[LEN], tuples[LEN][3];
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(LEN)), rows = tensor_of(GATHER_TYPE_INT16, out, 4, DIMS(LEN, A, B, C));
  gather_tensor by = tensor_of(GATHER_TYPE_INT64, tuples, 2, DIMS(LEN, 3)), parts = tensor_of(GATHER_TYPE_INT16, part, 2, DIMS(LEN, C));
  options.op = op_of("GatherND", "onnx-13");
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < LEN; i++) ids[i] = i * 3, tuples[i][0] = i * 3, tuples[i][1] = (i + round) % A, tuples[i][2] = i % B;
    evict(file.path);
    assert_status(gather_table_take(table, &by, &parts, &options, NULL), GATHER_OK);
    assert_status(gather_table_take(table, &indices, &rows, NULL, NULL), GATHER_OK);
    for (int i = 0; i < LEN; i++) {
      const int64_t at = ((tuples[i][0] * A + tuples[i][1]) * B + tuples[i][2]) * C * 2;
      assert_memory_equal(part + i * C * 2, file.data + OFFSET + at, C * 2);
      assert_memory_equal(out + i * A * B * C * 2, file.data + OFFSET + ids[i] * A * B * C * 2, A * B * C * 2);
    }
  }
}

static void the_cache_has_whole_rows(void **unused) { by_each_engine(leaves_the_cache, native(), 4, SHAPE); }

static void refuses(gather_table *table) {
  int64_t ids[5] = {1, 2, 3, 0, 0};
  uint8_t out[8 * A * B * C * 2];
  gather_error error;
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_tensor none = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(0)), whole = tensor_of(GATHER_TYPE_INT16, out, 4, SHAPE);
  gather_tensor many = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(5)), one = tensor_of(GATHER_TYPE_INT16, out, 0, NULL);
  gather_tensor pair = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(2)), wrong = tensor_of(GATHER_TYPE_INT16, out, 2, DIMS(C, B));
  gather_tensor right = tensor_of(GATHER_TYPE_INT16, out, 2, DIMS(B, C)), number = tensor_of(GATHER_TYPE_INT64, ids, 0, NULL);
  options.op = op_of("GatherND", "microsoft-1");
  assert_status(gather_table_take(table, &none, &whole, &options, &error), GATHER_UNSUPPORTED);
  assert_status(gather_table_take(table, &many, &one, &options, &error), GATHER_SHAPE_MISMATCH);
  assert_status(gather_table_take(table, &number, &right, &options, &error), GATHER_RANK_MISMATCH);
  assert_status(gather_table_take(table, &pair, &wrong, &options, &error), GATHER_SHAPE_MISMATCH);
  assert_status(gather_table_take(table, &pair, &right, &options, &error), GATHER_OK);
  assert_memory_equal(out, file.data + OFFSET + (1 * A + 2) * B * C * 2, B * C * 2);
}

static void wrong_tuples_are_refused(void **unused) { by_each_engine(refuses, native(), 4, SHAPE); }

/* Elements of four bits: what a tuple selects ends on a whole byte, or it is refused. */
static void takes_nibbles(gather_table *table) {
  const int64_t pair[2][2] = {{7, 1}, {99, 5}}, triple[3] = {7, 1, 1};
  uint8_t out[2 * 7];
  gather_error error;
  gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
  gather_tensor by = tensor_of(GATHER_TYPE_INT64, pair, 2, DIMS(2, 2)), rows = tensor_of(GATHER_TYPE_UINT4, out, 3, DIMS(2, 2, 7));
  gather_tensor three = tensor_of(GATHER_TYPE_INT64, triple, 1, DIMS(3)), row = tensor_of(GATHER_TYPE_UINT4, out, 1, DIMS(7));
  options.op = op_of("GatherND", "onnx-13");
  assert_status(gather_table_take(table, &by, &rows, &options, &error), GATHER_OK);
  assert_memory_equal(out, file.data + OFFSET + (7 * A + 1) * 7, 7);
  assert_memory_equal(out + 7, file.data + OFFSET + (99 * A + 5) * 7, 7);
  assert_status(gather_table_take(table, &three, &row, &options, &error), GATHER_UNSUPPORTED);
}

static void packed_rows_are_whole_bytes(void **unused) { by_each_engine(takes_nibbles, "uint4", 4, DIMS(ROWS, A, 2, 7)); }

/* A truncated file: the row of the table and the byte. */
static void names_the_row(void **unused) {
  for (int engine = 0; engine < 4; engine++) {
    if (!engine_works((gather_engine)engine)) continue;
    known_file cut = make_file("tuples-cut", (int64_t)ELEMENTS * 2);
    const setting how = {(gather_engine)engine, false, false, 0, -1, 0};
    const gather_raw raw = {native(), 4, SHAPE, 0, true};
    gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
    gather_table *table = NULL;
    const int64_t ids[3][2] = {{1, 2}, {ROWS - 2, 3}, {3, 0}};
    uint8_t out[3 * B * C * 2];
    gather_error error = dirty_error();
    gather_table_take_options by = GATHER_TABLE_TAKE_INIT;
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 2, DIMS(3, 2)), rows = tensor_of(GATHER_TYPE_INT16, out, 3, DIMS(3, B, C));
    by.op = op_of("GatherND", "onnx-13");
    options.engine = how.engine, options.raw = &raw;
    assert_status(gather_table_open(cut.path, &options, &table, &error), GATHER_OK);
    assert_status(gather_table_take(table, &indices, &rows, &by, &error), GATHER_OK); /* its pages are known then */
    /* Within the row that is wanted: a mapping reads as zeros there. */
    const int cannot = truncate(cut.path, ((off_t)(ROWS - 2) * A + 3) * B * C * 2 + 9);
#if defined(_WIN32) /* which does not truncate what is mapped */
    assert_int_equal(cannot, -1);
    assert_status(gather_table_take(table, &indices, &rows, &by, &error), GATHER_OK);
#else
    assert_int_equal(cannot, 0);
    assert_status(gather_table_take(table, &indices, &rows, &by, &error), GATHER_IO_ERROR);
    assert_int_equal(error.row, ROWS - 2);
#endif
    gather_table_close(table);
    remove_file(&cut);
  }
}

static bool at_once(void *context) {
  ++*(int *)context;
  return true;
}

static void a_take_can_be_cancelled(void **unused) {
  const setting how = {GATHER_ENGINE_PREAD, false, false, 0, 0, 0};
  gather_table *table = open_table(&how, native(), 4, SHAPE, 1);
  const int64_t ids[3][2] = {{1, 2}, {2, 3}, {3, 0}};
  uint8_t out[3 * B * C * 2];
  gather_error error;
  int calls = 0;
  gather_table_take_options by = GATHER_TABLE_TAKE_INIT;
  gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 2, DIMS(3, 2)), rows = tensor_of(GATHER_TYPE_INT16, out, 3, DIMS(3, B, C));
  by.op = op_of("GatherND", "onnx-13"), by.stop = at_once, by.stop_context = &calls;
  assert_status(gather_table_take(table, &indices, &rows, &by, &error), GATHER_CANCELLED);
  assert_true(calls > 0);
  gather_table_close(table);
}

/* ---- indices that another process writes while they are read ------------------------------------------------------------- */

typedef struct spoiler {
  int64_t *number, value;
} spoiler;

/* Asked first when the indices were looked at once, and before they are read. */
static bool spoil(void *context) {
  const spoiler *s = context;
  *s->number = s->value;
  return false;
}

/* One number goes bad between the look at all of them and the reads: the error names it, wherever it is, and counts no other. */
static void notices_changes(gather_table *table) {
  enum { LEN = 700 };
  static const int PLACES[] = {0, 1, 64, 100, 127, 128, 129, 255, 256, 500, LEN - 1};
  static int64_t ids[LEN * 3];
  static uint8_t out[(int64_t)LEN * A * B * C * 2];
  const gather_op *ops[] = {op_of("Gather", "onnx-13"), op_of("GatherND", "onnx-13"), op_of("GatherND", "onnx-13"),
                            op_of("GatherND", "onnx-13")};
  for (int columns = 0; columns <= 3; columns++) /* 0: not in tuples */
    for (size_t p = 0; p < COUNT(PLACES); p++) {
      const int each = columns > 0 ? columns : 1, last = PLACES[p] * each + each - 1;
      spoiler bad = {&ids[last], 1000 + PLACES[p]};
      gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
      gather_error error = dirty_error();
      for (int i = 0; i < LEN * each; i++) ids[i] = i % 5;
      gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, columns > 0 ? 2 : 1, DIMS(LEN, each)),
                    rows = tensor_of(GATHER_TYPE_INT16, out, 5 - each, DIMS(LEN, SHAPE[each], SHAPE[each < 3 ? each + 1 : 3], C));
      indices.flags = GATHER_TENSOR_SHARED;
      options.op = ops[columns], options.stop = spoil, options.stop_context = &bad;
      const gather_status status = gather_table_take(table, &indices, &rows, &options, &error);
      if (status != GATHER_INDEX_OUT_OF_RANGE || error.value != bad.value || error.bad_count != 1 || error.position[0] != PLACES[p])
        fail_msg("%d columns, %d: status %d, %s", columns, PLACES[p], (int)status, error.message);
    }
}

static void changed_indices_are_noticed(void **unused) { by_each_engine(notices_changes, native(), 4, SHAPE); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_from_memory),
                                     cmocka_unit_test(rows_are_counted),
                                     cmocka_unit_test(the_cache_has_whole_rows),
                                     cmocka_unit_test(wrong_tuples_are_refused),
                                     cmocka_unit_test(packed_rows_are_whole_bytes),
                                     cmocka_unit_test(names_the_row),
                                     cmocka_unit_test(changed_indices_are_noticed),
                                     cmocka_unit_test(a_take_can_be_cancelled)};
  int failed = engine_skips();
  return failed + cmocka_run_group_tests(tests, make_table, remove_table);
}
