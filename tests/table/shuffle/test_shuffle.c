/* SPDX-License-Identifier: MIT
 *
 * test_shuffle.c: shuffling by the public header: results, progress, cancelling, resuming, and calls that are refused.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/open_file.h"
#include "table/shuffle/shuffled.h"

static const char *const PATHS[] = {"x.npy"};

static void nothing_is_left(void) {
  assert_false(shuffled_exists(FOLDER));
  assert_false(shuffled_exists(FOLDER ".done"));
}

/* ---- results */

static void a_seed_is_an_order(void **state) {
  for (int32_t passes = 0; passes <= 2; passes++) {
    gather_shuffle_options options = shuffled_options(7, passes);
    gather_shuffle_info info;
    options.depth = 0;
    assert_status(shuffled_run(&options, NULL, &info, NULL), GATHER_OK);
    shuffled_check_seed(7);
    nothing_is_left();
    assert_int_equal(info.seed, 7);
    assert_int_equal(info.rows, ROWS);
    assert_int_equal(info.row_bytes, WIDTH * 4);
    assert_int_equal(info.memory_bytes, MEMORY);
    assert_int_equal(info.rank, 2);
    assert_int_equal(info.passes, passes == 1 ? 1 : 2);
    assert_true(passes == 1 ? info.part_rows > 0 && info.buckets == 0 : info.buckets > 2 && info.temporary_bytes > 0);
    assert_false(info.resumed || info.given || info.remedy != GATHER_SHUFFLE_REMEDY_NONE);
  }
}

static void a_new_seed_is_told(void **state) {
  gather_shuffle_options options = shuffled_options(-1, 0);
  gather_shuffle_info first, second;
  assert_status(shuffled_run(&options, NULL, &first, NULL), GATHER_OK);
  shuffled_check_seed(first.seed);
  assert_status(shuffled_run(&options, NULL, &second, NULL), GATHER_OK);
  assert_true(first.seed >= 0 && second.seed >= 0 && first.seed != second.seed);
  shuffled_check_seed(second.seed);
}

static void many_threads_give_the_same(void **state) {
  gather_shuffle_options options = shuffled_options(8, 2);
  gather_shuffle *shuffle = NULL;
  gather_pool *pool = NULL;
  assert_status(gather_pool_create(4, &pool, NULL), GATHER_OK);
  assert_status(gather_shuffle_create(PATHS, 1, "o.npy", &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_open(shuffle, NULL), GATHER_OK);
  assert_int_equal(gather_table_describe(gather_shuffle_describe(shuffle)->table)->rows, ROWS);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, NULL), GATHER_OK);
  assert_status(gather_shuffle_run(shuffle, gather_pool_executor(pool), NULL), GATHER_OK);
  assert_true(shuffled_exists(FOLDER ".done")); /* until it is closed, a program that is killed can resume */
  gather_shuffle_close(shuffle);
  gather_pool_destroy(pool);
  shuffled_check_seed(8);
  nothing_is_left();
}

/* An order with negative numbers, repeated rows, and gaps between its elements. */
static void an_order_is_taken(void **state) {
  static int32_t given[2 * 50000];
  static int64_t rows[50000];
  for (int64_t i = 0; i < 50000; i++) {
    rows[i] = (i * 7919 + i / 3) % ROWS;
    given[2 * i] = (int32_t)(i % 2 ? rows[i] : rows[i] - ROWS);
    given[2 * i + 1] = -1000000;
  }
  gather_tensor order = {.data = given, .type = GATHER_TYPE_INT32, .rank = 2, .shape = DIMS(25000, 2), .strides = DIMS(16, 8)};
  for (int32_t passes = 1; passes <= 2; passes++) {
    gather_shuffle_options options = shuffled_options(-1, passes);
    gather_shuffle_info info;
    assert_status(shuffled_run(&options, &order, &info, NULL), GATHER_OK);
    assert_true(info.given && info.seed == -1 && info.rank == 3 && info.rows == 50000);
    shuffled_check(rows, 50000);
    nothing_is_left();
  }
}

/* The order as a tensor of a mapped file. */
static void an_order_in_a_file(void **state) {
  static int64_t rows[ROWS];
  const gather_writing what = {.type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  const gather_file_target target = file_to("order.npy", &what);
  gather_shuffle_options options = shuffled_options(-1, 2);
  gather_writer *writer = NULL;
  gather_file *file = NULL;
  gather_shuffle *shuffle = NULL;
  for (int64_t i = 0; i < ROWS; i++) rows[i] = ROWS - 1 - i;
  assert_status(gather_writer_create(&target, &writer, NULL), GATHER_OK);
  memcpy(gather_writer_data_at(writer, 0), rows, sizeof rows);
  assert_status(gather_writer_commit(writer, NULL), GATHER_OK);
  assert_status(file_open(file_at("order.npy"), &file, NULL), GATHER_OK);
  assert_status(gather_shuffle_create(PATHS, 1, "o.npy", &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, &gather_file_at(file, 0)->tensor, file, NULL), GATHER_OK);
  assert_status(gather_shuffle_run(shuffle, NULL, NULL), GATHER_OK);
  gather_shuffle_close(shuffle);
  gather_file_close(file);
  shuffled_check(rows, ROWS);
  assert_int_equal(unlink("order.npy"), 0);
}

/* Memory of another kind than the file's mapping keeps what it holds, whatever the caller says. */
static void memory_is_no_mapping(void **state) {
  static int64_t rows[ROWS];
  gather_shuffle_options options = shuffled_options(-1, 2);
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  gather_file *file = NULL;
  gather_shuffle *shuffle = NULL;
  for (int64_t i = 0; i < ROWS; i++) rows[i] = i * 3 % ROWS;
  assert_status(file_open(file_at("x.npy"), &file, NULL), GATHER_OK);
  assert_status(gather_shuffle_create(PATHS, 1, "o.npy", &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, &order, file, NULL), GATHER_OK);
  assert_status(gather_shuffle_run(shuffle, NULL, NULL), GATHER_OK);
  gather_shuffle_close(shuffle);
  gather_file_close(file);
  for (int64_t i = 0; i < ROWS; i++) assert_int_equal(rows[i], i * 3 % ROWS);
  shuffled_check(rows, ROWS);
}

static void rows_and_places(void **state) {
  static int64_t rows[ROWS], places[ROWS], part[10];
  assert_status(gather_shuffle_rows(3, ROWS, 0, ROWS, rows, NULL), GATHER_OK);
  assert_status(gather_shuffle_places(3, ROWS, 0, ROWS, places, NULL), GATHER_OK);
  for (int64_t i = 0; i < ROWS; i++) assert_int_equal(places[rows[i]], i);
  assert_status(gather_shuffle_rows(3, ROWS, ROWS - 10, 10, part, NULL), GATHER_OK);
  assert_memory_equal(part, rows + ROWS - 10, sizeof part);
  assert_status(gather_shuffle_rows(0, 0, 0, 0, NULL, NULL), GATHER_OK);
  assert_status(gather_shuffle_rows(-1, ROWS, 0, 1, part, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_rows(1, ROWS, ROWS - 9, 10, part, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_places(1, ROWS, -1, 1, part, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_places(1, ROWS, INT64_MAX, INT64_MAX, part, NULL), GATHER_USAGE);
}

/* The same table in parts, of which one has no rows; their names are in the journal, each on a line of its own. */
static const char *const PARTS[] = {"a.npy", "b.npy", "c %\x7f~!.npy"};

static void make_parts(void) {
  shuffled_make(PARTS[0], 0, ROWS / 3);
  shuffled_make(PARTS[1], 0, 0);
  shuffled_make(PARTS[2], ROWS / 3, ROWS - ROWS / 3);
}

static void remove_parts(void) {
  for (size_t i = 0; i < COUNT(PARTS); i++) assert_int_equal(unlink(PARTS[i]), 0);
}

static gather_status run_parts(const gather_shuffle_options *options, const gather_tensor *order) {
  gather_shuffle *shuffle = NULL;
  assert_status(gather_shuffle_create(PARTS, COUNT(PARTS), "o.npy", options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, order, NULL, NULL), GATHER_OK);
  const gather_status status = gather_shuffle_run(shuffle, NULL, NULL);
  gather_shuffle_close(shuffle);
  return status;
}

static void parts_are_one_table(void **state) {
  static int64_t rows[ROWS];
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  make_parts();
  for (int64_t i = 0; i < ROWS; i++) rows[i] = i * 11 % ROWS;
  for (int32_t passes = 1; passes <= 2; passes++) {
    gather_shuffle_options options = shuffled_options(12, passes);
    assert_status(run_parts(&options, NULL), GATHER_OK);
    shuffled_check_seed(12);
    options.seed = -1;
    assert_status(run_parts(&options, &order), GATHER_OK);
    shuffled_check(rows, ROWS);
    nothing_is_left();
  }
  remove_parts();
}

/* ---- progress and stopping */

typedef struct watch {
  gather_shuffle_step steps[16];
  int count;
  int64_t done;
  gather_shuffle_step stop_in; /* that step stops, from so many rows on */
  int64_t stop_from;
  atomic_long asked, stop_at; /* or question number stop_at */
  atomic_bool stop;
} watch;

static void on_progress(void *context, const gather_shuffle_progress *progress) {
  watch *seen = context;
  if (seen->count == 0 || seen->steps[seen->count - 1] != progress->step) {
    assert_in_range(seen->count, 0, 15);
    seen->steps[seen->count++] = progress->step;
    seen->done = 0;
  }
  assert_true(progress->done >= seen->done && progress->done <= progress->total);
  assert_true((progress->folder == NULL) == (progress->step == GATHER_SHUFFLE_PUBLISH));
  if (progress->folder) assert_string_equal(progress->folder, FOLDER);
  seen->done = progress->done;
  if (seen->stop_in && progress->step == seen->stop_in && progress->done >= seen->stop_from) atomic_store(&seen->stop, true);
}

static bool is_stopped(void *context) {
  watch *seen = context;
  const long number = atomic_fetch_add(&seen->asked, 1);
  return atomic_load(&seen->stop) || (atomic_load(&seen->stop_at) >= 0 && number == atomic_load(&seen->stop_at));
}

static gather_shuffle_options watched(int64_t seed, int32_t passes, watch *seen) {
  gather_shuffle_options options = shuffled_options(seed, passes);
  memset(seen, 0, sizeof *seen);
  atomic_init(&seen->stop_at, -1);
  options.progress = on_progress;
  options.stop = is_stopped;
  options.progress_context = options.stop_context = seen;
  return options;
}

static void progress_names_the_steps(void **state) {
  static const gather_shuffle_step ONE[] = {GATHER_SHUFFLE_PREPARE, GATHER_SHUFFLE_ONLY_PASS, GATHER_SHUFFLE_PUBLISH},
                                   TWO[] = {GATHER_SHUFFLE_PREPARE, GATHER_SHUFFLE_FIRST_PASS, GATHER_SHUFFLE_SECOND_PASS,
                                            GATHER_SHUFFLE_PUBLISH};
  watch seen;
  gather_shuffle_options options = watched(2, 1, &seen);
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_OK);
  assert_int_equal(seen.count, COUNT(ONE));
  assert_memory_equal(seen.steps, ONE, sizeof ONE);
  shuffled_check_seed(2);
  options = watched(2, 2, &seen);
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_OK);
  assert_int_equal(seen.count, COUNT(TWO));
  assert_memory_equal(seen.steps, TWO, sizeof TWO);
  assert_int_equal(seen.done, ROWS);
  shuffled_check_seed(2);
}

/* The run of `options` ends by a stop; a later one resumes, with what the journal says, to the same bytes. */
static void stop_and_resume(gather_shuffle_options *options, const gather_tensor *order) {
  gather_error error = dirty_error();
  gather_shuffle_info info;
  assert_status(shuffled_run(options, order, &info, &error), GATHER_CANCELLED);
  assert_error(&error, GATHER_CANCELLED);
  assert_false(shuffled_exists("o.npy"));
  assert_int_equal(shuffled_exists(FOLDER), info.folder != NULL);
  const bool left = info.folder != NULL;
  gather_shuffle_options again = GATHER_SHUFFLE_OPTIONS_INIT;
  again.resume = true;
  if (!left) again.memory_bytes = MEMORY, again.seed = options->seed;
  assert_status(shuffled_run(&again, order, &info, NULL), GATHER_OK);
  assert_int_equal(info.resumed, left);
  nothing_is_left();
}

static void what_is_stopped_can_be_resumed(void **state) {
  watch seen;
  gather_shuffle_options options = watched(5, 2, &seen);
  seen.stop_in = GATHER_SHUFFLE_SECOND_PASS, seen.stop_from = 1;
  stop_and_resume(&options, NULL);
  shuffled_check_seed(5);
  options = watched(5, 2, &seen);
  seen.stop_in = GATHER_SHUFFLE_FIRST_PASS, seen.stop_from = ROWS / 2;
  stop_and_resume(&options, NULL);
  shuffled_check_seed(5);
  options = watched(5, 2, &seen);
  seen.stop_in = GATHER_SHUFFLE_FIRST_PASS;
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_CANCELLED);
  nothing_is_left(); /* nothing was done */
  stop_and_resume(&options, NULL);
  shuffled_check_seed(5);
}

/* Whichever question is answered with a stop, nothing is lost, and nothing is wrong. */
static void every_question_may_stop(void **state) {
  watch seen;
  (void)state;
  for (int32_t passes = 1; passes <= 2; passes++) {
    gather_shuffle_options options = watched(6, passes, &seen);
    assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_OK);
    const long asked = atomic_load(&seen.asked);
    shuffled_check_seed(6);
    assert_true(asked > 20);
    for (long k = 0; k < asked; k += asked / 12 + 1) {
      options = watched(6, passes, &seen);
      atomic_store(&seen.stop_at, k);
      stop_and_resume(&options, NULL);
      shuffled_check_seed(6);
    }
  }
}

static void every_question_of_any_thread(void **state) {
  gather_pool *pool = NULL;
  assert_status(gather_pool_create(4, &pool, NULL), GATHER_OK);
  shuffled_executor = gather_pool_executor(pool);
  every_question_may_stop(state);
  shuffled_executor = NULL;
  gather_pool_destroy(pool);
}

static void an_order_may_be_stopped(void **state) {
  static int64_t rows[ROWS];
  watch seen;
  gather_tensor order = {.data = rows, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(ROWS)};
  for (int64_t i = 0; i < ROWS; i++) rows[i] = i * 7 % ROWS;
  gather_shuffle_options options = watched(-1, 2, &seen);
  atomic_store(&seen.stop_at, 0); /* while it is checked */
  assert_status(shuffled_run(&options, &order, NULL, NULL), GATHER_CANCELLED);
  nothing_is_left();
  options = watched(-1, 2, &seen);
  seen.stop_in = GATHER_SHUFFLE_FIRST_PASS;
  gather_shuffle_info info;
  assert_status(shuffled_run(&options, &order, &info, NULL), GATHER_CANCELLED);
  assert_non_null(info.folder); /* the sorted order is durable */
  options = watched(-1, 0, &seen);
  options.resume = true;
  assert_status(shuffled_run(&options, &order, &info, NULL), GATHER_OK);
  assert_true(info.resumed && info.passes == 2 && seen.steps[1] == GATHER_SHUFFLE_FIRST_PASS);
  shuffled_check(rows, ROWS);
}

static void close_first(void *context, const gather_shuffle_progress *progress) {
  watch *seen = context;
  if (progress->step == seen->stop_in && seen->count++ == seen->stop_from) assert_int_equal(close(0), 0);
}

/* A program may have no standard input: then a file of the library gets descriptor 0, at any time. */
static void descriptor_0_is_one_like_others(void **state) {
  static const gather_shuffle_step STEPS[] = {GATHER_SHUFFLE_PREPARE, GATHER_SHUFFLE_FIRST_PASS, GATHER_SHUFFLE_SECOND_PASS,
                                              GATHER_SHUFFLE_ONLY_PASS, GATHER_SHUFFLE_PUBLISH};
  make_parts();
  for (size_t step = 0; step < COUNT(STEPS); step++)
    for (int64_t from = 0; from < 4; from += 1 + from) {
      watch seen;
      gather_shuffle_options options = watched(13, STEPS[step] == GATHER_SHUFFLE_ONLY_PASS ? 1 : 2, &seen);
      options.progress = close_first;
      options.stop = NULL;
      seen.stop_in = STEPS[step], seen.stop_from = from;
      const int input = dup(0);
      assert_true(input > 0);
      const gather_status status = run_parts(&options, NULL);
      if (seen.count > from) assert_int_equal(dup(input), 0); /* the least that is free again */
      assert_int_equal(close(input), 0);
      assert_status(status, GATHER_OK);
      assert_true(seen.count > 0);
      shuffled_check_seed(13);
      nothing_is_left();
    }
  remove_parts();
}

/* ---- what an earlier run left */

static void leave(int64_t seed) {
  watch seen;
  gather_shuffle_options options = watched(seed, 2, &seen);
  seen.stop_in = GATHER_SHUFFLE_SECOND_PASS, seen.stop_from = 1;
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_CANCELLED);
  assert_true(shuffled_exists(FOLDER "/journal"));
}

static void what_is_left_is_respected(void **state) {
  gather_error error = dirty_error();
  gather_shuffle_info info;
  leave(9);
  gather_shuffle_options options = shuffled_options(9, 2);
  assert_status(shuffled_run(&options, NULL, &info, &error), GATHER_FILE_EXISTS);
  assert_int_equal(info.remedy, GATHER_SHUFFLE_REMEDY_RESUME);
  assert_string_equal(error.file, FOLDER);
  options.seed = 10, options.resume = true;
  assert_status(shuffled_run(&options, NULL, &info, &error), GATHER_USAGE);
  assert_int_equal(info.remedy, GATHER_SHUFFLE_REMEDY_REPLACE);
  assert_non_null(strstr(error.message, "'seed 9' there, 'seed 10' here"));
  options.resume = false, options.replace = true;
  assert_status(shuffled_run(&options, NULL, &info, &error), GATHER_OK);
  shuffled_check_seed(10);
  nothing_is_left();
  leave(9);
  FILE *journal = fopen(FOLDER "/journal", "a");
  assert_non_null(journal);
  assert_true(fputs("x", journal) >= 0 && fclose(journal) == 0);
  options = shuffled_options(9, 2);
  options.resume = true;
  assert_status(shuffled_run(&options, NULL, &info, &error), GATHER_FILE_MALFORMED);
  assert_int_equal(info.remedy, GATHER_SHUFFLE_REMEDY_REPLACE);
  shuffled_clean();
}

/* What is in the journal: the names of files keep its lines apart. */
static void names_in_the_journal(void **state) {
  static char text[1 << 16];
  watch seen;
  gather_shuffle_options options = watched(14, 2, &seen);
  make_parts();
  seen.stop_in = GATHER_SHUFFLE_SECOND_PASS, seen.stop_from = 1;
  assert_status(run_parts(&options, NULL), GATHER_CANCELLED);
  FILE *journal = fopen(FOLDER "/journal", "rb");
  assert_non_null(journal);
  const size_t bytes = fread(text, 1, sizeof text - 1, journal);
  assert_int_equal(fclose(journal), 0);
  text[bytes] = 0;
  static const char *const LINES[] = {"gather shuffle, journal 1\ndata of ", "a.npy\ndata of ",
                                      "c%20%25%7f~!.npy\nrows 20000\nrow_bytes 320\ntype int32\noutput ",
                                      "o.npy\nshape 20000 80\nseed 14\nmemory 4300000\npasses 2\n"};
  for (size_t i = 0; i < COUNT(LINES); i++)
    if (!strstr(text, LINES[i])) fail_msg("'%s' is not in '%s'", LINES[i], text);
  assert_null(strstr(text, "b.npy")); /* it has no rows */
  options = shuffled_options(14, 2);
  options.resume = true;
  assert_status(run_parts(&options, NULL), GATHER_OK);
  shuffled_check_seed(14);
  nothing_is_left();
  remove_parts();
}

/* Another shuffle of the same output, while the first works. */
static void try_another(void *context, const gather_shuffle_progress *progress) {
  int *tried = context;
  gather_error error;
  if (progress->step != GATHER_SHUFFLE_SECOND_PASS || (*tried)++) return;
  gather_shuffle_options options = shuffled_options(11, 2);
  options.resume = true;
  assert_status(shuffled_run(&options, NULL, NULL, &error), GATHER_IO_ERROR);
  assert_non_null(strstr(error.message, "is using it"));
  options.resume = false, options.replace = true;
  assert_status(shuffled_run(&options, NULL, NULL, &error), GATHER_IO_ERROR);
}

static void two_cannot_work_at_once(void **state) {
  int tried = 0;
  gather_shuffle_options options = shuffled_options(11, 2);
  options.progress = try_another;
  options.progress_context = &tried;
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_OK);
  assert_true(tried > 1);
  shuffled_check_seed(11);
  nothing_is_left();
}

static void an_output_is_kept(void **state) {
  gather_shuffle_options options = shuffled_options(1, 1);
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_OK);
  options.seed = 2;
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_FILE_EXISTS);
  shuffled_check_seed(1);
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_OK);
  options.seed = 3, options.replace = true;
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_OK);
  shuffled_check_seed(3);
}

/* ---- what is refused */

static void wrong_options(void **state) {
  gather_error error = dirty_error();
  gather_shuffle_info info;
  gather_shuffle_options options = shuffled_options(-2, 0);
  gather_tensor order = {.data = (int64_t[]){3, ROWS, -ROWS - 1}, .type = GATHER_TYPE_INT64, .rank = 1, .shape = DIMS(3)};
  assert_status(shuffled_run(&options, NULL, NULL, &error), GATHER_USAGE);
  options = shuffled_options(1, 3);
  assert_status(shuffled_run(&options, NULL, NULL, &error), GATHER_USAGE);
  options = shuffled_options(1, 0);
  assert_status(shuffled_run(&options, &order, NULL, &error), GATHER_USAGE); /* a seed and an order */
  options.seed = -1;
  assert_status(shuffled_run(&options, &order, NULL, &error), GATHER_INDEX_OUT_OF_RANGE);
  assert_int_equal(error.position[0], 1);
  assert_int_equal(error.value, ROWS);
  assert_int_equal(error.bad_count, 2);
  order.data = NULL;
  assert_status(shuffled_run(&options, &order, NULL, &error), GATHER_USAGE);
  order.type = GATHER_TYPE_FLOAT32;
  assert_status(shuffled_run(&options, &order, NULL, &error), GATHER_TYPE_UNSUPPORTED);
  options.memory_bytes = 1 << 20;
  assert_status(shuffled_run(&options, NULL, &info, &error), GATHER_USAGE);
  assert_memory_equal(error.message, "memory 1.00 MiB is too little", 29);
  options = shuffled_options(1, 1);
  options.format = "nothing";
  assert_status(shuffled_run(&options, NULL, NULL, NULL), GATHER_USAGE);
  nothing_is_left();
}

/* Arguments that are none: each is GATHER_USAGE, and the place for the shuffle is NULL then. */
static void wrong_arguments(void **state) {
  static const char *const NO_PATH[] = {"x.npy", NULL};
  gather_error error = dirty_error();
  const struct {
    int32_t passes;
    int64_t memory_bytes;
    const char *words;
  } OPTIONS[] = {{-1, 0, "passes must be 1 or 2"}, {3, 0, "passes must be 1 or 2"}, {0, -1, "memory is below 0"}};
  for (size_t i = 0; i < COUNT(OPTIONS); i++) {
    gather_shuffle_options options = shuffled_options(1, OPTIONS[i].passes);
    if (OPTIONS[i].memory_bytes < 0) options.memory_bytes = OPTIONS[i].memory_bytes;
    assert_status(shuffled_run(&options, NULL, NULL, &error), GATHER_USAGE);
    assert_non_null(strstr(error.message, OPTIONS[i].words));
  }
  gather_shuffle_options options = shuffled_options(1, 1);
  gather_shuffle *shuffle = (gather_shuffle *)&error;
  assert_status(gather_shuffle_create(PATHS, 1, "o.npy", &options, NULL, &error), GATHER_USAGE);
  assert_status(gather_shuffle_create(NO_PATH, 2, "o.npy", &options, &shuffle, &error), GATHER_USAGE);
  assert_null(shuffle);
  options.size = 5;
  assert_status(gather_shuffle_create(PATHS, 1, "o.npy", &options, &shuffle, &error), GATHER_USAGE);
  assert_status(gather_shuffle_open(NULL, &error), GATHER_USAGE);
  assert_status(gather_shuffle_plan(NULL, NULL, NULL, &error), GATHER_USAGE);
  assert_status(gather_shuffle_run(NULL, NULL, &error), GATHER_USAGE);
  assert_non_null(strstr(error.message, "the shuffle is NULL"));
  static char name[1 << 14];
  memset(name, 'n', sizeof name - 1);
  options = shuffled_options(1, 1);
  static const size_t LENGTHS[] = {sizeof name - 1, 4097, 4095, 4090, 4080};
  for (size_t i = 0; i < COUNT(LENGTHS); i++) { /* shorter ones are too long with the name of the folder beside */
    name[LENGTHS[i]] = 0;
    assert_status(gather_shuffle_create(PATHS, 1, name, &options, &shuffle, &error), GATHER_USAGE);
    assert_non_null(strstr(error.message, "too long"));
  }
  const gather_executor nobody = {NULL, NULL, 2};
  assert_status(gather_shuffle_create(PATHS, 1, "o.npy", &options, &shuffle, &error), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, &error), GATHER_OK);
  assert_status(gather_shuffle_run(shuffle, &nobody, &error), GATHER_USAGE);
  gather_shuffle_close(shuffle);
  int64_t numbers[4];
  static const struct {
    int64_t seed, rows, first, len;
    bool nowhere;
    gather_status status;
  } NUMBERS[] = {{0, 4, 0, 4, false, GATHER_OK},     {-1, 4, 0, 4, false, GATHER_USAGE},       {0, 4, -1, 1, false, GATHER_USAGE},
                 {0, 4, 0, -1, false, GATHER_USAGE}, {0, 4, 5, 0, false, GATHER_USAGE},        {0, 4, 4, 0, true, GATHER_OK},
                 {0, 4, 1, 4, false, GATHER_USAGE},  {0, 4, 1, 3, true, GATHER_USAGE},         {0, -1, 0, 0, false, GATHER_USAGE},
                 {0, 0, 0, 0, true, GATHER_OK},      {0, 4, 3, INT64_MAX, false, GATHER_USAGE}};
  for (size_t i = 0; i < COUNT(NUMBERS); i++)
    for (int places = 0; places < 2; places++)
      assert_int_equal((places ? gather_shuffle_places : gather_shuffle_rows)(NUMBERS[i].seed, NUMBERS[i].rows, NUMBERS[i].first,
                                                                              NUMBERS[i].len, NUMBERS[i].nowhere ? NULL : numbers, &error),
                       NUMBERS[i].status);
  nothing_is_left();
}

/* Raw rows keep their type in a .npy; ranks that are none are refused. */
static void raw_rows(void **state) {
  const struct {
    const char *type, *descr;
    int32_t rank;
    gather_status status;
  } CASES[] = {
      {"|S8", "'|S8'", 2, GATHER_OK}, {"<i4", "'<i4'", 2, GATHER_OK}, {"<i4", NULL, 0, GATHER_USAGE}, {"<i4", NULL, 99, GATHER_USAGE}};
  for (size_t i = 0; i < COUNT(CASES); i++) {
    const gather_raw raw = {CASES[i].type, CASES[i].rank, DIMS(-1, 2), 128, true};
    gather_shuffle_options options = shuffled_options(1, 1);
    gather_error error = dirty_error();
    options.raw = &raw;
    const gather_status status = shuffled_run(&options, NULL, NULL, &error);
    if (CASES[i].status != GATHER_OK) {
      assert_true(status != GATHER_OK);
      assert_error(&error, status);
      continue;
    }
    if (status != GATHER_OK) fail_msg("%s: %s", CASES[i].type, error.message);
    gather_file *file;
    assert_status(file_open(file_at("o.npy"), &file, &error), GATHER_OK);
    assert_string_equal(gather_file_at(file, 0)->descr, CASES[i].descr);
    gather_file_close(file);
    assert_int_equal(unlink("o.npy"), 0);
  }
  nothing_is_left();
}

static void calls_have_an_order(void **state) {
  gather_shuffle_options options = shuffled_options(1, 1);
  gather_shuffle *shuffle = NULL;
  assert_status(gather_shuffle_create(NULL, 1, "o.npy", &options, &shuffle, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_create(PATHS, 0, "o.npy", &options, &shuffle, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_create(PATHS, 1, NULL, &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_run(shuffle, NULL, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, NULL), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_open(shuffle, NULL), GATHER_USAGE);
  assert_status(gather_shuffle_run(shuffle, NULL, NULL), GATHER_USAGE); /* no output */
  gather_shuffle_close(shuffle);
  assert_status(gather_shuffle_create(PATHS, 1, "o.npy", &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, NULL), GATHER_OK);
  assert_status(gather_shuffle_run(shuffle, NULL, NULL), GATHER_OK);
  assert_status(gather_shuffle_run(shuffle, NULL, NULL), GATHER_USAGE);
  gather_shuffle_close(shuffle);
  gather_shuffle_close(NULL);
  shuffled_check_seed(1);
  static const char *const MISSING[] = {"missing.npy"};
  assert_status(gather_shuffle_create(MISSING, 1, "o.npy", &options, &shuffle, NULL), GATHER_OK);
  assert_status(gather_shuffle_open(shuffle, NULL), GATHER_FILE_NOT_FOUND);
  assert_status(gather_shuffle_plan(shuffle, NULL, NULL, NULL), GATHER_USAGE); /* it has failed */
  gather_shuffle_close(shuffle);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_seed_is_an_order),
                                     cmocka_unit_test(a_new_seed_is_told),
                                     cmocka_unit_test(many_threads_give_the_same),
                                     cmocka_unit_test(an_order_is_taken),
                                     cmocka_unit_test(an_order_in_a_file),
                                     cmocka_unit_test(memory_is_no_mapping),
                                     cmocka_unit_test(rows_and_places),
                                     cmocka_unit_test(parts_are_one_table),
                                     cmocka_unit_test(progress_names_the_steps),
                                     cmocka_unit_test(what_is_stopped_can_be_resumed),
                                     cmocka_unit_test(every_question_may_stop),
                                     cmocka_unit_test(every_question_of_any_thread),
                                     cmocka_unit_test(an_order_may_be_stopped),
                                     cmocka_unit_test(descriptor_0_is_one_like_others),
                                     cmocka_unit_test(what_is_left_is_respected),
                                     cmocka_unit_test(names_in_the_journal),
                                     cmocka_unit_test(two_cannot_work_at_once),
                                     cmocka_unit_test(an_output_is_kept),
                                     cmocka_unit_test(wrong_options),
                                     cmocka_unit_test(wrong_arguments),
                                     cmocka_unit_test(raw_rows),
                                     cmocka_unit_test(calls_have_an_order)};
  return cmocka_run_group_tests(tests, shuffled_begin, shuffled_end);
}
