/* SPDX-License-Identifier: MIT
 *
 * test_shuffle_inputs.c: unusual tables, orders and outputs; what changes while a shuffle works; journals and folders that others changed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/open_file.h"
#include "table/shuffle/shuffled.h"

static void nothing_is_left(void) {
  assert_false(shuffled_exists(FOLDER));
  assert_false(shuffled_exists(FOLDER ".done"));
}

/* Shuffles a file to an output. */
static gather_status run(const char *path, const char *output, const gather_shuffle_options *options, const gather_tensor *order,
                         const gather_file *order_file, gather_shuffle_info *info, gather_error *error) {
  gather_shuffle *shuffle = NULL;
  gather_status status = gather_shuffle_create(&path, 1, output, options, &shuffle, error);
  if (status != GATHER_OK) return status;
  status = gather_shuffle_plan(shuffle, order, order_file, error);
  if (status == GATHER_OK) status = gather_shuffle_run(shuffle, NULL, error);
  if (info) *info = *gather_shuffle_describe(shuffle);
  gather_shuffle_close(shuffle);
  return status;
}

static size_t get(const char *path, char *text, size_t room) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t bytes = fread(text, 1, room, file);
  assert_int_equal(fclose(file), 0);
  assert_true(bytes < room);
  return bytes;
}

/* A .npy of three rows of two bytes. */
static void put_small(const char *path, const char *fortran) {
  char text[128 + 6 + 1] = "\x93NUMPY\1\0\x76\0";
  int at = 10 + sprintf(text + 10, "{'descr': '|u1', 'fortran_order': %s, 'shape': (3, 2), }", fortran);
  memset(text + at, ' ', (size_t)(127 - at));
  text[127] = '\n';
  memcpy(text + 128, "abcdef", 6);
  put_content(path, text, 128 + 6);
}

/* ---- tables and orders */

/* Rows whose length asks for more memory, for one pass, or for none. */
static void lengths_of_rows(void **state) {
  static const struct {
    int64_t row_bytes, rows, memory_bytes;
    int32_t passes_asked, passes; /* 0 = it is refused */
    const char *words;
  } CASES[] = {{65536, 97, 1 << 23, 0, 1, NULL}, /* long ones are read at random as fast */
               {65536, 97, 1 << 23, 2, 2, NULL},
               {32768, 195, 1 << 23, 0, 1, NULL}, /* two times reading all of it costs no more than two passes */
               {32768, 195, 5300000, 0, 2, NULL},
               {3200000, 2, MEMORY, 0, 0, "memory 4.10 MiB is too little for rows of 3200000 bytes; use at least 102 MiB"},
               {65536, 97, 1 << 22, 0, 0, "memory 4.00 MiB is too little for rows of 65536 bytes; use at least 6.00 MiB"},
               {160, ROWS, -1, 0, 0, "memory is below 0"},
               {0, 5, MEMORY, 0, 1, NULL},
               {0, 5, MEMORY, 1, 1, NULL},
               {0, 5, MEMORY, 2, 1, NULL},
               {160, ROWS, 0, 0, 1, NULL}}; /* a share of what the machine has */
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_shuffle_options options = shuffled_options(15, CASES[i].passes_asked);
    const gather_raw raw = {"uint8", 2, DIMS(CASES[i].rows, CASES[i].row_bytes), 128, true};
    gather_error error = dirty_error();
    gather_shuffle_info info;
    options.memory_bytes = CASES[i].memory_bytes;
    options.raw = &raw;
    const gather_status status = run("x.npy", "o.npy", &options, NULL, NULL, &info, &error);
    if (!CASES[i].passes) {
      assert_status(status, GATHER_USAGE);
      if (!strstr(error.message, CASES[i].words)) fail_msg("case %zu: %s", i, error.message);
      continue;
    }
    if (status != GATHER_OK) fail_msg("case %zu: %s", i, error.message);
    if (CASES[i].memory_bytes > 0) assert_int_equal(info.passes, CASES[i].passes);
    assert_true(info.memory_bytes >= 4 << 20);
    gather_file *file = NULL;
    static int64_t rows[ROWS];
    assert_status(gather_shuffle_rows(15, CASES[i].rows, 0, CASES[i].rows, rows, NULL), GATHER_OK);
    assert_status(file_open(file_at("o.npy"), &file, &error), GATHER_OK);
    const gather_tensor *out = &gather_file_at(file, 0)->tensor;
    assert_int_equal(out->shape[0], CASES[i].rows);
    assert_int_equal(out->shape[1], CASES[i].row_bytes);
    for (int64_t k = 0; k < CASES[i].rows && CASES[i].row_bytes > 0; k++) {
      const int64_t at = rows[k] * CASES[i].row_bytes / 4; /* the first byte of an int32 */
      assert_int_equal(((const uint8_t *)out->data)[k * CASES[i].row_bytes], ((const uint8_t *)&(const int32_t){(int32_t)at})[0]);
    }
    gather_file_close(file);
    assert_int_equal(unlink("o.npy"), 0);
  }
  nothing_is_left();
}

/* A table of 1 GiB without a byte on the disk, which needs more buckets than little memory has buffers for. */
static void too_many_buckets(void **state) {
  const gather_raw raw = {"uint8", 2, DIMS(-1, 160), 0, true};
  gather_shuffle_options options = shuffled_options(1, 2);
  gather_error error = dirty_error();
  put_content("big.raw", "", 0);
  assert_int_equal(truncate("big.raw", 1 << 30), 0);
  options.raw = &raw;
  gather_shuffle *shuffle = NULL;
  assert_status(gather_shuffle_create((const char *const[]){"big.raw"}, 1, NULL, &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "passes 2 needs more memory"));
  gather_shuffle_close(shuffle);
  options.passes = 0, options.resume = true; /* without an output there is nothing to resume */
  assert_status(gather_shuffle_create((const char *const[]){"big.raw"}, 1, NULL, &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, &error), GATHER_OK);
  assert_int_equal(gather_shuffle_describe(shuffle)->passes, 1);
  gather_shuffle_close(shuffle);
  assert_int_equal(unlink("big.raw"), 0);
}

static void orders_that_are_none(void **state) {
  int64_t zero = 0;
  static const struct {
    int64_t len, stride;
    bool no_data;
    gather_status status;
    const char *words;
  } CASES[] = {{0, 8, true, GATHER_OK, NULL},
               {1, 8, true, GATHER_USAGE, "data pointer is NULL"},
               {7, 0, false, GATHER_OK, NULL},
               {INT64_C(1) << 57, 0, false, GATHER_OVERFLOW, "larger than any file"}}; /* with rows of a byte */
  for (size_t i = 0; i < COUNT(CASES); i++) {
    if (sizeof(size_t) < 8 && CASES[i].status == GATHER_OVERFLOW) continue; /* its own size is refused before */
    gather_tensor order = {.data = CASES[i].no_data ? NULL : &zero,
                           .type = GATHER_TYPE_INT64,
                           .rank = 1,
                           .shape = DIMS(CASES[i].len),
                           .strides = DIMS(CASES[i].stride)};
    const gather_raw raw = {"uint8", 2, DIMS(-1, 1), 0, true};
    gather_shuffle_options options = shuffled_options(-1, 0);
    gather_error error = dirty_error();
    if (CASES[i].status == GATHER_OVERFLOW) options.raw = &raw;
    const gather_status status = run("x.npy", "o.npy", &options, &order, NULL, NULL, &error);
    if (status != CASES[i].status) fail_msg("case %zu: status %d, %s", i, (int)status, error.message);
    if (CASES[i].words && !strstr(error.message, CASES[i].words)) fail_msg("case %zu: %s", i, error.message);
    if (status == GATHER_OK) shuffled_check((const int64_t[7]){0}, CASES[i].len);
  }
  nothing_is_left();
}

static void rows_that_do_not_lie_together(void **state) {
  gather_shuffle_options options = shuffled_options(1, 0);
  gather_error error = dirty_error();
  put_small("f.npy", "True");
  const gather_status status = run("f.npy", "o.npy", &options, NULL, NULL, NULL, &error);
  if (status != GATHER_UNSUPPORTED) fail_msg("status %d: %s", (int)status, error.message);
  assert_non_null(strstr(error.message, "Fortran order"));
  assert_string_equal(error.file, "f.npy");
  assert_int_equal(unlink("f.npy"), 0);
  nothing_is_left();
}

/* ---- outputs */

/* Inputs are kept, unless the caller says that the output replaces the table. */
static void outputs_that_are_inputs(void **state) {
  static const struct {
    int64_t raw_offset; /* -1 = not as raw bytes */
    bool in_place;
    gather_status status;
    gather_shuffle_remedy remedy;
    const char *words;
  } CASES[] = {{-1, false, GATHER_FILE_EXISTS, GATHER_SHUFFLE_REMEDY_IN_PLACE, "a file of the table that is shuffled"},
               {-1, true, GATHER_OK, GATHER_SHUFFLE_REMEDY_NONE, NULL},
               {130, true, GATHER_FILE_EXISTS, GATHER_SHUFFLE_REMEDY_NONE, "it has more than these rows"}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const gather_raw raw = {"uint8", 2, DIMS(-1, 2), CASES[i].raw_offset, true};
    gather_shuffle_options options = shuffled_options(16, 0);
    gather_shuffle_info info;
    gather_error error = dirty_error();
    char text[256] = "";
    put_small("y.npy", "False");
    options.in_place = CASES[i].in_place;
    if (CASES[i].raw_offset >= 0) options.raw = &raw;
    const gather_status status = run("y.npy", "y.npy", &options, NULL, NULL, &info, &error);
    if (status != CASES[i].status) fail_msg("case %zu: status %d: %s", i, (int)status, error.message);
    assert_int_equal(info.remedy, CASES[i].remedy);
    assert_int_equal(get("y.npy", text, sizeof text), 128 + 6);
    int64_t rows[3] = {0, 1, 2};
    if (status == GATHER_OK)
      assert_status(gather_shuffle_rows(16, 3, 0, 3, rows, NULL), GATHER_OK);
    else
      assert_non_null(strstr(error.message, CASES[i].words));
    for (size_t k = 0; k < 3; k++) assert_memory_equal(text + 128 + 2 * k, &"abcdef"[2 * rows[k]], 2);
    assert_int_equal(unlink("y.npy"), 0);
    assert_false(shuffled_exists(".gather-shuffle-y.npy"));
  }
  gather_shuffle_options options = shuffled_options(-1, 0);
  const gather_writing what = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(2)};
  const gather_file_target target = file_to("order.npy", &what);
  gather_writer *writer = NULL;
  gather_file *file = NULL;
  gather_error error = dirty_error();
  assert_status(gather_writer_create(&target, &writer, NULL), GATHER_OK);
  memset(gather_writer_data_at(writer, 0), 0, 16);
  assert_status(gather_writer_commit(writer, NULL), GATHER_OK);
  assert_status(file_open(file_at("order.npy"), &file, NULL), GATHER_OK);
  options.replace = true;
  assert_status(run("x.npy", "order.npy", &options, &gather_file_at(file, 0)->tensor, file, NULL, &error), GATHER_FILE_EXISTS);
  assert_non_null(strstr(error.message, "the file of the order, which is kept"));
  assert_int_equal(*(const int64_t *)gather_file_at(file, 0)->tensor.data, 0);
  gather_file_close(file);
  assert_int_equal(unlink("order.npy"), 0);
}

/* ---- what changes meanwhile */

typedef struct meanwhile {
  gather_shuffle_step step;
  void (*change)(int64_t *rows);
  int64_t *rows;
  int stops; /* after the change */
} meanwhile;

static void on_progress(void *context, const gather_shuffle_progress *progress) {
  meanwhile *what = context;
  if (progress->step != what->step || !what->change) return;
  what->change(what->rows);
  what->change = NULL;
}

static bool is_stopped(void *context) {
  const meanwhile *what = context;
  return what->stops && !what->change;
}

static void touch_table(int64_t *rows) {
  (void)rows;
  char first;
  FILE *table = fopen("x.npy", "r+b");
  assert_non_null(table);
  assert_int_equal(fread(&first, 1, 1, table), 1);
  assert_int_equal(fseek(table, 0, SEEK_SET), 0);
  assert_int_equal(fwrite(&first, 1, 1, table), 1);
  assert_int_equal(fclose(table), 0);
}

static void cut_table(int64_t *rows) {
  (void)rows;
  assert_int_equal(truncate("x.npy", 1000), 0);
}

static void raise_row(int64_t *rows) { rows[ROWS - 2] = ROWS; }
static void lower_row(int64_t *rows) { rows[ROWS - 1] = -ROWS - 1; }
static void do_nothing(int64_t *rows) { (void)rows; }

static void what_changes_is_noticed(void **state) {
  static int64_t rows[ROWS];
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS), .flags = GATHER_TENSOR_SHARED};
  static const struct {
    int32_t passes;
    gather_shuffle_step step;
    void (*change)(int64_t *rows);
    bool given;
    const char *words;
  } CASES[] = {{2, GATHER_SHUFFLE_FIRST_PASS, touch_table, false, "changed during the shuffle"},
               {1, GATHER_SHUFFLE_ONLY_PASS, touch_table, false, "changed during the shuffle"},
               {2, GATHER_SHUFFLE_FIRST_PASS, touch_table, true, "changed during the shuffle"},
               {2, GATHER_SHUFFLE_FIRST_PASS, cut_table, false, "truncated while it was in use"},
               {1, GATHER_SHUFFLE_ONLY_PASS, cut_table, false, "x.npy"},
               {1, GATHER_SHUFFLE_ONLY_PASS, raise_row, true, "the indices changed"},
               {1, GATHER_SHUFFLE_ONLY_PASS, lower_row, true, "the indices changed"},
               {2, GATHER_SHUFFLE_SORT_ORDER, lower_row, true, "the indices changed"}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    for (int64_t k = 0; k < ROWS; k++) rows[k] = k * 13 % ROWS;
    meanwhile what = {CASES[i].step, CASES[i].change, rows, 0};
    gather_shuffle_options options = shuffled_options(CASES[i].given ? -1 : 17, CASES[i].passes);
    gather_shuffle_info info;
    gather_error error = dirty_error();
    options.progress = on_progress, options.progress_context = &what;
    const gather_status status = shuffled_run(&options, CASES[i].given ? &order : NULL, &info, &error);
    if (status != GATHER_IO_ERROR || !(strstr(error.message, CASES[i].words) || strcmp(error.file, CASES[i].words) == 0))
      fail_msg("case %zu: status %d: %s", i, (int)status, status == GATHER_OK ? "" : error.message);
    if (CASES[i].change == cut_table) {
      assert_int_equal(unlink("x.npy"), 0);
      shuffled_make("x.npy", 0, ROWS);
    }
    if (CASES[i].change == touch_table) assert_int_equal(info.remedy, GATHER_SHUFFLE_REMEDY_REPLACE);
    assert_false(shuffled_exists("o.npy"));
    shuffled_clean();
  }
}

/* ---- journals and folders */

/* Leaves a shuffle that was stopped in the second pass, as safetensors. */
static gather_shuffle_options leave(gather_shuffle_step step, const gather_tensor *order) {
  meanwhile what = {step, do_nothing, NULL, 1};
  gather_shuffle_options options = shuffled_options(order ? -1 : 18, 2);
  options.format = "safetensors", options.name = "t%", options.align_bytes = 512;
  options.progress = on_progress, options.progress_context = &what;
  options.stop = is_stopped, options.stop_context = &what;
  assert_status(run("x.npy", "o.npy", &options, order, NULL, NULL, NULL), GATHER_CANCELLED);
  assert_true(shuffled_exists(FOLDER "/journal"));
  options.progress = NULL, options.stop = NULL;
  options.progress_context = options.stop_context = NULL;
  options.resume = true;
  return options;
}

static uint64_t sum_of(const char *text, size_t bytes) {
  uint64_t sum = bytes;
  for (size_t i = 0; i < bytes; i++) {
    sum = (sum ^ (uint8_t)text[i]) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

/* Replaces one text of the journal by another, and gives it the right sum. */
static void edit(const char *old, const char *new) {
  static char text[1 << 16], made[1 << 16];
  size_t bytes = get(FOLDER "/journal", text, sizeof text) - 21;
  text[bytes] = 0;
  char *at = strstr(text, old);
  if (!at) fail_msg("'%s' is not in '%s'", old, text);
  *at = 0;
  bytes = (size_t)sprintf(made, "%s%s%s", text, new, at + strlen(old));
  bytes += (size_t)sprintf(made + bytes, "sum %016" PRIx64 "\n", sum_of(made, bytes));
  put_content(FOLDER "/journal", made, bytes);
}

/* An int32 of a safetensors file. */
static int64_t little(const unsigned char *at) {
  return (int64_t)at[0] | (int64_t)at[1] << 8 | (int64_t)at[2] << 16 | (int64_t)at[3] << 24;
}

static void journals_that_others_wrote(void **state) {
  static int64_t rows[ROWS];
#define STATE "step collect\nat 0\nfills 0\n" /* of three buckets */
  static const struct {
    const char *old, *new;
    gather_status status;
    const char *words;
  } CASES[] = {{"\nseed 18\n", "\nseed 18\n", GATHER_OK, NULL},
               {"step collect", "step collector", GATHER_FILE_MALFORMED, "has an invalid step"},
               {"step collect", "step take", GATHER_FILE_MALFORMED, "has an invalid step"},
               {"step collect", "step pairs", GATHER_FILE_MALFORMED, "has an invalid step"},
               {"step collect", "steps collect", GATHER_FILE_MALFORMED, "has no step"},
               {"\nat ", "\nat: ", GATHER_FILE_MALFORMED, "has no step"},
               {"\nfills ", "\nfill ", GATHER_FILE_MALFORMED, "has no step"},
               {"\nat ", "\nat 1", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {"\nat ", "\nat x", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {"\nat ", "\nat -", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {"\nfills", "x\nfills", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {"\ntensor t%25\n", "\ntensor u\n", GATHER_USAGE, "'tensor u' there, 'tensor t%25' here"},
               {"\nalign 512\n", "\nalign 8\n", GATHER_USAGE, "'align 8' there, 'align 512' here"},
               {"passes 2", "passes 1", GATHER_USAGE, "'passes 1' there, 'passes 2' here"},
               {"memory ", "memory 9", GATHER_USAGE, "there, 'memory 4300000' here"},
               {STATE, "step spread\nat 0\nfills 0 0 0\n", GATHER_OK, NULL},
               {STATE, "step spread\nat 0\nfills 0 0\n", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {STATE, "step spread\nat 0\nfills 0 0 0 0\n", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {STATE, "step spread\nat 4\nfills 1 1 1\n", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {STATE, "step spread\nat 13438\nfills 13438 0 0\n", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {STATE, "step spread\nat 0\nfills 0 x 0\n", GATHER_FILE_MALFORMED, "has invalid numbers"},
               {STATE, "step collect\nat 4\nfills 0\n", GATHER_FILE_MALFORMED, "has invalid numbers"}};
#undef STATE
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_shuffle_options options = leave(GATHER_SHUFFLE_SECOND_PASS, NULL);
    gather_shuffle_info info;
    gather_error error = dirty_error();
    edit(CASES[i].old, CASES[i].new);
    const gather_status status = run("x.npy", "o.npy", &options, NULL, NULL, &info, &error);
    if (status != CASES[i].status) fail_msg("case %zu: status %d: %s", i, (int)status, error.message);
    if (status == GATHER_OK) {
      gather_file *file = NULL;
      const gather_file_tensor *tensor = NULL;
      assert_true(info.resumed);
      assert_status(file_open(file_at("o.npy"), &file, &error), GATHER_OK);
      assert_status(gather_file_find(file, "t%", &tensor, &error), GATHER_OK);
      assert_int_equal(tensor->offset % 512, 0);
      assert_status(gather_shuffle_rows(18, ROWS, 0, ROWS, rows, NULL), GATHER_OK);
      for (int64_t k = 0; k < ROWS; k++)
        assert_int_equal(little((const unsigned char *)tensor->tensor.data + k * WIDTH * 4), rows[k] * WIDTH);
      gather_file_close(file);
    } else {
      if (!strstr(error.message, CASES[i].words)) fail_msg("case %zu: %s", i, error.message);
      assert_int_equal(info.remedy, GATHER_SHUFFLE_REMEDY_REPLACE);
      assert_true(shuffled_exists(FOLDER "/journal"));
    }
    shuffled_clean();
  }
}

/* The number of passes of a journal, where the caller leaves it open. */
static void passes_of_a_journal(void **state) {
  static const struct {
    const char *passes;
    gather_status status;
  } CASES[] = {{"passes 2", GATHER_OK},
               {"passes 3", GATHER_USAGE},
               {"passes 99999999999", GATHER_USAGE},
               {"passes 9223372036854775808", GATHER_USAGE}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    gather_shuffle_options options = leave(GATHER_SHUFFLE_SECOND_PASS, NULL);
    gather_shuffle_info info;
    gather_error error = dirty_error();
    edit("passes 2", CASES[i].passes);
    options.passes = 0;
    assert_status(run("x.npy", "o.npy", &options, NULL, NULL, &info, &error), CASES[i].status);
    if (i == 0) assert_true(info.passes == 2 && info.resumed);
    if (i > 0) assert_non_null(strstr(error.message, CASES[i].passes));
    shuffled_clean();
  }
}

static void cut_rows(void) { assert_int_equal(truncate(FOLDER "/rows", 1000000), 0); }
static void cut_places(void) { assert_int_equal(truncate(FOLDER "/places", 100), 0); }

static void remove_places(void) { assert_int_equal(unlink(FOLDER "/places"), 0); }

static void folder_for_rows(void) {
  assert_int_equal(unlink(FOLDER "/rows"), 0);
  assert_int_equal(mkdir(FOLDER "/rows", 0700), 0);
}

static void pipe_for_rows(void) {
  assert_int_equal(unlink(FOLDER "/rows"), 0);
  assert_int_equal(mkfifo(FOLDER "/rows", 0600), 0);
}

static void long_journal(void) { assert_int_equal(truncate(FOLDER "/journal", (256 << 20) + 1), 0); }

static void folder_for_journal(void) {
  assert_int_equal(unlink(FOLDER "/journal"), 0);
  assert_int_equal(mkdir(FOLDER "/journal", 0700), 0);
}

static void pipe_for_journal(void) {
  assert_int_equal(unlink(FOLDER "/journal"), 0);
  assert_int_equal(mkfifo(FOLDER "/journal", 0600), 0);
}

static void short_journal(void) { put_content(FOLDER "/journal", "sum 0\n", 6); }
static void zero_in_journal(void) { put_content(FOLDER "/journal", "gather\0 shuffle, journal 1\nsum 0123456789abcdef\n", 48); }

static void second_name_for_rows(void) { assert_int_equal(link(FOLDER "/rows", "second"), 0); }

/* Writes over the beginning of a file. */
static void overwrite(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void wrong_pairs(void) { overwrite(FOLDER "/pairs", (const int64_t[]){ROWS, 0}, 16); }
static void wrong_places_of_pairs(void) { overwrite(FOLDER "/pairs", (const int64_t[]){0, -1}, 16); }
static void far_place(void) { overwrite(FOLDER "/places", &(const uint32_t){UINT32_MAX}, 4); }
static void place_behind_the_last(void) { overwrite(FOLDER "/places", &(const uint32_t){13437}, 4); }
static void one_place_for_two(void) { overwrite(FOLDER "/places", (const uint32_t[]){5, 5}, 8); }

static void folders_that_others_changed(void **state) {
  static int64_t rows[ROWS];
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  for (int64_t k = 0; k < ROWS; k++) rows[k] = k * 13 % ROWS;
  static const struct {
    void (*change)(void);
    bool given;
    gather_status status;
    const char *words;
  } CASES[] = {{cut_rows, false, GATHER_FILE_MALFORMED, "its file rows is truncated"},
               {cut_places, false, GATHER_FILE_MALFORMED, "its file places is truncated"},
               {remove_places, false, GATHER_IO_ERROR, "cannot open a file in it"},
               {folder_for_rows, false, GATHER_IO_ERROR, "cannot open a file in it"},
               {pipe_for_rows, false, GATHER_FILE_MALFORMED, "its file rows does not belong to a shuffle"},
               {long_journal, false, GATHER_FILE_MALFORMED, "its journal is not a journal"},
               {second_name_for_rows, false, GATHER_FILE_MALFORMED, "its file rows does not belong to a shuffle"},
               {folder_for_journal, false, GATHER_FILE_MALFORMED, "its journal is not a journal"},
               {pipe_for_journal, false, GATHER_FILE_MALFORMED, "its journal is not a journal"},
               {short_journal, false, GATHER_FILE_MALFORMED, "its journal is corrupt"},
               {zero_in_journal, false, GATHER_FILE_MALFORMED, "its journal is corrupt"},
               {far_place, false, GATHER_FILE_MALFORMED, "its file places does not belong to a shuffle"},
               {place_behind_the_last, false, GATHER_FILE_MALFORMED, "its file places does not belong to a shuffle"},
               {one_place_for_two, false, GATHER_FILE_MALFORMED, "its file places does not belong to a shuffle"},
               {wrong_pairs, true, GATHER_FILE_MALFORMED, "its file pairs does not belong to a shuffle"},
               {wrong_places_of_pairs, true, GATHER_FILE_MALFORMED, "its file pairs does not belong to a shuffle"}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const gather_tensor *given = CASES[i].given ? &order : NULL;
    gather_shuffle_options options = leave(given ? GATHER_SHUFFLE_FIRST_PASS : GATHER_SHUFFLE_SECOND_PASS, given);
    gather_error error = dirty_error();
    CASES[i].change();
    const gather_status status = run("x.npy", "o.npy", &options, given, NULL, NULL, &error);
    if (status != CASES[i].status || !strstr(error.message, CASES[i].words))
      fail_msg("case %zu: status %d: %s", i, (int)status, status == GATHER_OK ? "" : error.message);
    assert_false(shuffled_exists("o.npy"));
    (void)rmdir(FOLDER "/rows");
    (void)unlink(FOLDER "/rows");
    (void)rmdir(FOLDER "/journal");
    (void)unlink("second");
    shuffled_clean();
  }
  put_content(FOLDER, "x", 1); /* a file in the folder's place */
  for (int again = 0; again < 3; again++) {
    gather_shuffle_options options = shuffled_options(1, 1);
    gather_error error = dirty_error();
    options.resume = again == 1, options.replace = again == 2;
    assert_status(shuffled_run(&options, NULL, NULL, &error), again ? GATHER_IO_ERROR : GATHER_FILE_EXISTS);
    assert_string_equal(error.file, FOLDER);
  }
  assert_int_equal(unlink(FOLDER), 0);
}

enum { LONG = 100000 };

static void stop_late(void *context, const gather_shuffle_progress *progress) {
  meanwhile *what = context;
  if (progress->step == what->step && progress->done > LONG / 4 * 3) what->change = NULL;
}

static void begins_late(void *context, const gather_shuffle_progress *progress) {
  meanwhile *what = context;
  if (progress->step == what->step && progress->done > LONG / 2 && what->stops < 2) what->stops = 1;
  if (progress->step == what->step && what->stops == 0 && progress->done > 0) what->stops = 2; /* it begins anew */
}

/* Of a long pass, what was done before is kept. */
static void the_middle_of_a_pass(void **state) {
  static int64_t rows[LONG];
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(LONG)};
  for (int64_t k = 0; k < LONG; k++) rows[k] = k * 13 % ROWS;
  for (int32_t passes = 1; passes <= 2; passes++) {
    const gather_shuffle_step step = passes == 1 ? GATHER_SHUFFLE_ONLY_PASS : GATHER_SHUFFLE_FIRST_PASS;
    meanwhile what = {step, do_nothing, NULL, 1};
    gather_shuffle_options options = shuffled_options(-1, passes);
    gather_shuffle_info info;
    options.progress = stop_late, options.progress_context = &what;
    options.stop = is_stopped, options.stop_context = &what;
    assert_status(shuffled_run(&options, &order, &info, NULL), GATHER_CANCELLED);
    assert_non_null(info.folder);
    what = (meanwhile){.step = step};
    options.resume = true, options.stop = NULL, options.progress = begins_late;
    assert_status(shuffled_run(&options, &order, &info, NULL), GATHER_OK);
    assert_true(info.resumed);
    assert_int_equal(what.stops, 1);
    shuffled_check(rows, LONG);
    nothing_is_left();
  }
}

/* A program that was killed when the output had its name: the journal is left beside it. */
static void finished_but_not_closed(void **state) {
  static char journal[1 << 16];
  enum { SAME, GONE, OTHER, LONGER, WAYS };
  for (int way = SAME; way < WAYS; way++) {
    gather_shuffle_options options = shuffled_options(19, 1);
    gather_shuffle *shuffle = NULL;
    gather_shuffle_info info;
    gather_error error = dirty_error();
    assert_status(gather_shuffle_create((const char *const[]){"x.npy"}, 1, "o.npy", &options, &shuffle, NULL), GATHER_OK);
    assert_status(gather_shuffle_plan(shuffle, NULL, NULL, NULL), GATHER_OK);
    assert_status(gather_shuffle_run(shuffle, NULL, NULL), GATHER_OK);
    const size_t bytes = get(FOLDER ".done", journal, sizeof journal);
    gather_shuffle_close(shuffle);
    put_content(FOLDER ".done", journal, bytes);
    if (way == OTHER || way == GONE) assert_int_equal(unlink("o.npy"), 0);
    if (way == OTHER) put_content("o.npy", "other", 5);
    if (way == LONGER) assert_int_equal(truncate("o.npy", ROWS * WIDTH * 4 + 129), 0);
    options.resume = true;
    const gather_status status = shuffled_run(&options, NULL, &info, &error);
    assert_status(status, way == OTHER || way == LONGER ? GATHER_FILE_EXISTS : GATHER_OK);
    assert_int_equal(info.resumed, way == SAME);
    if (status == GATHER_OK) shuffled_check_seed(19);
    if (status == GATHER_OK) nothing_is_left();
    shuffled_clean();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lengths_of_rows),
                                     cmocka_unit_test(too_many_buckets),
                                     cmocka_unit_test(orders_that_are_none),
                                     cmocka_unit_test(rows_that_do_not_lie_together),
                                     cmocka_unit_test(outputs_that_are_inputs),
                                     cmocka_unit_test(what_changes_is_noticed),
                                     cmocka_unit_test(journals_that_others_wrote),
                                     cmocka_unit_test(passes_of_a_journal),
                                     cmocka_unit_test(folders_that_others_changed),
                                     cmocka_unit_test(the_middle_of_a_pass),
                                     cmocka_unit_test(finished_but_not_closed)};
  return cmocka_run_group_tests(tests, shuffled_begin, shuffled_end);
}
