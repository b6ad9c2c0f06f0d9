/* SPDX-License-Identifier: MIT
 *
 * test_stress_files.c: files that are cut, replaced or removed while rows are taken from them: right bytes, or an error that names file,
 * row and byte; never other bytes, never the end of the program. And the handler for SIGBUS: only where one is needed, and
 * for nobody else's signals.
 */
#include "table/test_stress.h"

enum { ROW = 100, ROWS = 30000, LEN = 400, THREADS = 4 };

static setting setting_of(gather_engine engine, bool keep_signals) { return (setting){engine, false, keep_signals, 0, 0, 8}; }

/* Whether an error is the one of a file that is too short, with a row and a byte behind the cut. */
static bool names_the_cut(const gather_error *error, gather_status status, const known_file *file, int64_t cut) {
  return status == GATHER_IO_ERROR && strstr(error->file, file->path) && error->file_offset >= 0 && error->row >= 0 && error->row < ROWS &&
         (error->row + 1) * ROW > cut && strstr(error->message, "row ");
}

/* ---- cut ------------------------------------------------------------------------------------------------------------- */

/* Cut to where no page ends: rows before the cut are right, rows behind it and across it are errors. A mapping shows zeros between the
 * end of a file and the end of its page. */
static void cut_at(gather_engine engine, bool keep_signals, int64_t cut, bool warm) {
  known_file file = make_file("cut", (int64_t)ROW * ROWS);
  const setting how = setting_of(engine, keep_signals);
  gather_error error = dirty_error();
  uint8_t out[2 * ROW];
  const int64_t before[] = {0, cut / ROW - 1}, across[] = {1, cut / ROW}, behind[] = {2, ROWS - 1};
  gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
  if (warm) assert_status(take_rows(table, behind, 2, out, &error), GATHER_OK);
  assert_int_equal(truncate(file.path, cut), 0);
  assert_status(take_rows(table, before, 2, out, &error), GATHER_OK);
  assert_int_equal(first_wrong(&file, ROWS, ROW, 0, before, 2, out), -1);
  for (int i = 0; i < 2; i++) {
    gather_status status = take_rows(table, i ? behind : across, 2, out, &error);
    if (!names_the_cut(&error, status, &file, cut))
      fail_msg("%s, cut at %lld, row %lld: %s: %s", setting_text(&how), (long long)cut, (long long)(i ? behind : across)[1],
               gather_status_name(status), status ? error.message : "");
  }
  assert_status(take_rows(table, before, 2, out, &error), GATHER_OK);
  assert_int_equal(first_wrong(&file, ROWS, ROW, 0, before, 2, out), -1);
  gather_table_close(table);
  remove_file(&file);
}

static void files_that_are_cut(void **unused) {
  const int64_t cuts[] = {ROW * 1000 + 50, ROW * 20000, 4096 * 100, ROW * 2};
  no_hang(10);
  for (int engine = 0; engine < 4; engine++)
    for (size_t c = 0; c < COUNT(cuts); c++)
      for (int way = 0; way < 4; way++)
        if (engine_works((gather_engine)engine) && !(engine == GATHER_ENGINE_MMAP && way % 2))
          cut_at((gather_engine)engine, way % 2, cuts[c], way / 2);
}

/* A job finds the same. */
static void jobs_on_a_file_that_is_cut(void **unused) {
  no_hang(10);
  for (int engine = 0; engine < 4; engine++) {
    if (!engine_works((gather_engine)engine)) continue;
    known_file file = make_file("job", (int64_t)ROW * ROWS);
    const setting how = setting_of((gather_engine)engine, false);
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
    int64_t ids[] = {0, ROWS - 1};
    uint8_t out[2 * ROW];
    gather_table_job *job = NULL;
    gather_error error = dirty_error();
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(2)), rows = tensor_of(GATHER_TYPE_UINT8, out, 2, DIMS(2, ROW));
    assert_int_equal(truncate(file.path, 5000), 0);
    assert_status(gather_table_submit(table, &indices, &rows, NULL, &job, &error), GATHER_OK);
    gather_status status = gather_table_wait(job, &error);
    if (!names_the_cut(&error, status, &file, 5000)) fail_msg("%s: %s", setting_text(&how), error.message);
    gather_table_close(table);
    remove_file(&file);
  }
}

/* A take that fails after it has delivered rows counts for nothing: the sums still hold. */
static void failures_leave_the_sums(void **unused) {
  enum { MANY = 20000 };
  static int64_t ids[MANY];
  uint8_t *out = malloc((size_t)MANY * ROW);
  assert_non_null(out);
  for (int engine = 0; engine < 4; engine++) {
    setting how = setting_of((gather_engine)engine, false);
    gather_table_statistics is;
    gather_error error = dirty_error();
    if (!engine_works(how.engine)) continue;
    how.memory_bytes = GATHER_TABLE_LEAST_MEMORY; /* some thousands of rows at a time */
    known_file file = make_file("sums", (int64_t)ROW * ROWS);
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
    for (int64_t i = 0; i < MANY; i++) ids[i] = i % 10000;
    assert_status(take_rows(table, ids, MANY, out, &error), GATHER_OK);
    assert_int_equal(truncate(file.path, ROW * 10000), 0);
    ids[MANY - 1] = ROWS - 1;
    assert_status(take_rows(table, ids, MANY, out, &error), GATHER_IO_ERROR);
    assert_int_equal(error.row, ROWS - 1);
    gather_table_statistics_get(table, &is);
    assert_true(is.takes == 1 && is.rows == MANY && is.bytes_useful == (int64_t)MANY * ROW);
    assert_int_equal(is.rows_resident + is.rows_cached + is.rows_read, MANY);
    gather_table_close(table);
    remove_file(&file);
  }
  free(out);
}

/* A program's threads often block all signals; a fault whose signal is blocked ends the program. */
static void a_cut_in_a_thread_that_blocks_signals(void **unused) {
  sigset_t all, before;
  no_hang(10);
  sigfillset(&all);
  sigdelset(&all, SIGALRM);
  sigdelset(&all, SIGABRT);
  for (int engine = 0; engine < 4; engine++) {
    if (!engine_works((gather_engine)engine)) continue;
    pid_t child = fork();
    if (child == 0) {
      sigset_t after;
      become_child(30);
      pthread_sigmask(SIG_SETMASK, &all, &before);
      cut_at((gather_engine)engine, false, 4096 * 100, true);
      pthread_sigmask(SIG_SETMASK, NULL, &after);
      _exit(sigismember(&after, SIGBUS) == 1 && sigismember(&after, SIGUSR1) == 1 ? 0 : 2);
    }
    int end = end_of(child);
    if (end) fail_msg("%s: ended with %d", gather_engine_name((gather_engine)engine), end);
  }
}

/* ---- cut and replaced meanwhile -------------------------------------------------------------------------------------- */

typedef struct taker {
  pthread_t thread;
  const known_file *file;
  gather_table *table;
  uint64_t chance;
  atomic_int *begun; /* takes before anything happened to the file */
  atomic_int *ending;
  int64_t cut; /* the shortest that the file will be */
  int64_t good, failed, wrong;
  char complaint[256];
} taker;

static void *take_until_the_end(void *argument) {
  taker *me = argument;
  int64_t ids[LEN];
  uint8_t *out = malloc(LEN * ROW);
  gather_error error = dirty_error();
  if (!out) abort();
  while (!atomic_load(me->ending)) {
    for (int i = 0; i < LEN; i++) ids[i] = below(&me->chance, ROWS);
    gather_status status = take_rows(me->table, ids, LEN, out, &error);
    if (status == GATHER_OK && first_wrong(me->file, ROWS, ROW, 0, ids, LEN, out) < 0) {
      me->good++;
      atomic_fetch_add(me->begun, 1);
    } else if (names_the_cut(&error, status, me->file, me->cut)) {
      me->failed++;
    } else {
      me->wrong++;
      snprintf(me->complaint, sizeof me->complaint, "row %lld, byte %lld: %.180s", (long long)error.row, (long long)error.file_offset,
               status ? error.message : "wrong bytes");
    }
  }
  free(out);
  return NULL;
}

/* Threads take from one table; `disturb` happens to the file meanwhile. Returns how many calls failed as they should. */
static int64_t take_while(void (*disturb)(const known_file *file), gather_engine engine, double seconds) {
  taker takers[THREADS];
  known_file file = make_file("disturbed", (int64_t)ROW * ROWS);
  const setting how = setting_of(engine, false);
  gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
  atomic_int begun = 0, ending = 0;
  int64_t failed = 0;
  for (int t = 0; t < THREADS; t++) {
    takers[t] = (taker){.file = &file, .table = table, .chance = (uint64_t)t, .begun = &begun, .ending = &ending, .cut = 5000};
    assert_int_equal(pthread_create(&takers[t].thread, NULL, take_until_the_end, &takers[t]), 0);
  }
  while (atomic_load(&begun) < THREADS) usleep(100);
  disturb(&file);
  usleep((useconds_t)(seconds * 1e6));
  atomic_store(&ending, 1);
  for (int t = 0; t < THREADS; t++) {
    pthread_join(takers[t].thread, NULL);
    if (takers[t].wrong) fail_msg("%s: %s", setting_text(&how), takers[t].complaint);
    failed += takers[t].failed;
  }
  gather_table_close(table);
  remove_file(&file);
  return failed;
}

/* Shorter and shorter, so that cuts fall into takes. */
static void cut_slowly(const known_file *file) {
  for (int64_t bytes = file->bytes; bytes > 5000; bytes -= file->bytes / 30) {
    assert_int_equal(truncate(file->path, bytes), 0);
    usleep(1000);
  }
  assert_int_equal(truncate(file->path, 5000), 0);
}

/* Another file under the same name: the table has the one that it opened. */
static void replace(const known_file *file) {
  char path[128];
  uint8_t *other = calloc(1, (size_t)file->bytes);
  snprintf(path, sizeof path, "%s.new", file->path);
  write_whole(path, other, file->bytes);
  assert_int_equal(rename(path, file->path), 0);
  free(other);
}

static void take_away(const known_file *file) {
  evict(file->path);
  assert_int_equal(unlink(file->path), 0);
}

static void files_that_change_meanwhile(void **unused) {
  double each = stress_seconds(0.04);
  no_hang(stress_seconds(1));
  for (int engine = 0; engine < 4; engine++) {
    if (!engine_works((gather_engine)engine)) continue;
    assert_true(take_while(cut_slowly, (gather_engine)engine, each * 2) > 0);
    assert_int_equal(take_while(replace, (gather_engine)engine, each), 0);
    assert_int_equal(take_while(take_away, (gather_engine)engine, each), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_that_are_cut), cmocka_unit_test(jobs_on_a_file_that_is_cut),
                                     cmocka_unit_test(failures_leave_the_sums), cmocka_unit_test(a_cut_in_a_thread_that_blocks_signals),
                                     cmocka_unit_test(files_that_change_meanwhile)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
