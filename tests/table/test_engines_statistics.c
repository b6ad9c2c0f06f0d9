/* SPDX-License-Identifier: MIT
 *
 * test_engines_statistics.c: the statistics say what really happened, each block is read once, neighbours are read together, and the
 * ceiling on memory holds, both as the table counts it and as the system does.
 */
#include <fcntl.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "table/test_engines.h"

enum { ROW = 64, ROWS = 65536 }; /* 4 MiB */

static known_file file;

static int make_table(void **unused) {
  file = make_file("statistics", (int64_t)ROW * ROWS);
  return 0;
}

static int remove_table(void **unused) {
  remove_file(&file);
  return 0;
}

static gather_table_statistics statistics_of(const gather_table *table) {
  gather_table_statistics is;
  memset(&is, 0x5A, sizeof is);
  gather_table_statistics_get(table, &is);
  return is;
}

static void take_right(gather_table *table, const int64_t *ids, int64_t len, uint8_t *out) {
  gather_error error;
  gather_status status = take_rows(table, ids, len, out, &error);
  if (status != GATHER_OK) fail_msg("%s", error.message);
  assert_int_equal(first_wrong(&file, ROWS, ROW, 0, ids, len, out), -1);
}

/* The engines that read by requests: what they do does not hang on what is resident. */
static const setting readers[] = {
    {GATHER_ENGINE_PREAD, false, true, 0, 0, 8},
    {GATHER_ENGINE_URING, false, true, 0, 0, 8},
};

/* ---- each block once ------------------------------------------------------------------------------------------------- */

static void repeated_ids_are_read_once(void **unused) {
  enum { LEN = 20000 };
  static int64_t ids[LEN];
  static uint8_t out[LEN * ROW];
  for (int64_t i = 0; i < LEN; i++) ids[i] = i % 3 * 20000; /* three blocks far from each other */
  for (size_t r = 0; r < COUNT(readers); r++) {
    if (!engine_works(readers[r].engine)) continue;
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &readers[r]);
    evict(file.path);
    take_right(table, ids, LEN, out);
    gather_table_statistics is = statistics_of(table);
    assert_int_equal(is.rows, LEN);
    assert_true(is.rows_read >= 3 && is.rows_read + is.rows_resident + is.rows_cached == LEN);
    assert_in_range(is.reads, 1, 3);
    assert_in_range(is.bytes_read, 3 * ROW, 3 * 64 * KIB);
    assert_int_equal(is.bytes_useful, LEN * ROW);
    gather_table_close(table);
  }
}

/* A file's rows, each once, in order and shuffled: every byte is read about once, in far fewer requests than rows. */
static void neighbours_are_read_together(void **unused) {
  static int64_t ids[ROWS];
  static uint8_t out[(int64_t)ROWS * ROW];
  for (int shuffled = 0; shuffled < 2; shuffled++)
    for (size_t r = 0; r < COUNT(readers); r++) {
      if (!engine_works(readers[r].engine)) continue;
      for (int64_t i = 0; i < ROWS; i++) ids[i] = shuffled ? i * 40503 % ROWS : i;
      gather_table *table = open_rows(file.path, ROWS, ROW, 0, &readers[r]);
      evict(file.path);
      take_right(table, ids, ROWS, out);
      gather_table_statistics is = statistics_of(table);
      assert_in_range(is.bytes_read, 1, file.bytes + file.bytes / 8);
      assert_in_range(is.reads, 1, ROWS / 64 + 1); /* no worse than a request for each block of 4096 */
      if (is.reads > 256) fail_msg("%s: %lld reads", setting_text(&readers[r]), (long long)is.reads);
      gather_table_close(table);
    }
}

/* Scattered rows far from each other: the bytes that nobody asked for stay few. */
static void scattered_rows_do_not_drag_others_along(void **unused) {
  enum { LEN = 64 };
  static int64_t ids[LEN];
  static uint8_t out[LEN * ROW];
  for (int64_t i = 0; i < LEN; i++) ids[i] = i * 37 % LEN * (ROWS / LEN); /* 64 KiB apart */
  for (size_t r = 0; r < COUNT(readers); r++) {
    if (!engine_works(readers[r].engine)) continue;
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &readers[r]);
    evict(file.path);
    take_right(table, ids, LEN, out);
    gather_table_statistics is = statistics_of(table);
    assert_int_equal(is.reads, LEN);
    assert_true(is.bytes_read <= LEN * 4 * KIB || !is.direct);
    assert_true(is.bytes_read <= LEN * 16 * KIB);
    gather_table_close(table);
  }
}

/* ---- what is counted ------------------------------------------------------------------------------------------------- */

/* A cache that holds all of it: what was read once is not read again. But for a few rows: one that comes while another thread is
 * about to grow the cache may find both of its sets full, and is not kept (cache.c). */
static void cached_rows_are_not_read_again(void **unused) {
  enum { LEN = 500, NOT_KEPT = LEN / 50 };
  int64_t ids[LEN];
  static uint8_t out[LEN * ROW];
  for (int64_t i = 0; i < LEN; i++) ids[i] = i * 131 % ROWS;
  for (size_t r = 0; r < COUNT(readers); r++) {
    setting how = readers[r];
    if (!engine_works(how.engine)) continue;
    how.cache_bytes = 16 * MIB;
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
    evict(file.path);
    take_right(table, ids, LEN, out);
    gather_table_statistics first = statistics_of(table);
    take_right(table, ids, LEN, out);
    gather_table_statistics second = statistics_of(table);
    const int64_t again = second.rows_read - first.rows_read;
    assert_in_range(again, 0, NOT_KEPT);
    assert_int_equal(second.rows_cached, first.rows_cached + LEN - again);
    assert_in_range(second.bytes_read - first.bytes_read, 0, again * 64 * KIB);
    assert_int_equal(second.rows, 2 * LEN);
    gather_table_close(table);
  }
}

/* Without a cache nothing comes from one. */
static void no_cache_is_none(void **unused) {
  int64_t ids[] = {1, 2, 3};
  uint8_t out[3 * ROW];
  for (size_t r = 0; r < COUNT(readers); r++) {
    if (!engine_works(readers[r].engine)) continue;
    gather_table *table = open_rows(file.path, ROWS, ROW, 0, &readers[r]);
    for (int i = 0; i < 4; i++) take_right(table, ids, 3, out);
    assert_int_equal(statistics_of(table).rows_cached, 0);
    assert_int_equal(statistics_of(table).rows_read, 12);
    gather_table_close(table);
  }
}

/* Whether the system tells which pages of a file it has: Linux does since 6.5. */
static bool system_tells(void) {
#ifdef __linux__
  enum { CACHESTAT = 451 };
  uint64_t range[2] = {0, 4096}, found[5];
  int fd = open(file.path, O_RDONLY | O_CLOEXEC);
  bool tells = fd >= 0 && syscall(CACHESTAT, fd, range, found, 0) == 0;
  if (fd >= 0) close(fd);
  return tells;
#else
  return false;
#endif
}

/* In the page cache, auto copies from the mapping and reads nothing. */
static void what_is_resident_is_copied(void **unused) {
  enum { LEN = 4096 };
  static int64_t ids[LEN];
  static uint8_t out[LEN * ROW];
  const setting how = {GATHER_ENGINE_AUTO, false, false, 0, -1, 0};
  if (!system_tells()) GATHER_TEST_SKIP("cachestat", "the system does not tell what is in its page cache");
  write_whole(file.path, file.data, file.bytes); /* what was just written is in the page cache */
  for (int64_t i = 0; i < LEN; i++) ids[i] = i * 7919 % ROWS;
  gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
  take_right(table, ids, LEN, out);
  gather_table_statistics is = statistics_of(table);
  assert_int_equal(is.rows_resident, LEN);
  assert_int_equal(is.reads, 0);
  assert_int_equal(is.bytes_read, 0);
  gather_table_close(table);
}

static void reset_and_failures(void **unused) {
  int64_t ids[] = {5, -1, ROWS}, good = 2;
  uint8_t out[3 * ROW];
  const setting how = {GATHER_ENGINE_PREAD, false, true, 0, -1, 4};
  gather_error error;
  gather_table *table = open_rows(file.path, ROWS, ROW, 0, &how);
  assert_status(take_rows(table, ids, 3, out, &error), GATHER_INDEX_OUT_OF_RANGE);
  gather_table_statistics is = statistics_of(table);
  assert_true(is.takes == 0 && is.rows == 0 && is.reads == 0 && is.bytes_useful == 0);
  take_right(table, ids, good, out);
  is = statistics_of(table);
  assert_true(is.takes == 1 && is.rows == 2 && is.reads > 0 && is.bytes_useful == 2 * ROW && is.seconds > 0);
  assert_true(is.seconds_waiting >= 0 && is.seconds_waiting <= is.seconds);
  gather_table_statistics_reset(table);
  is = statistics_of(table);
  assert_true(is.takes == 0 && is.rows == 0 && is.reads == 0 && is.bytes_read == 0 && is.bytes_useful == 0);
  assert_true(is.rows_read == 0 && is.rows_cached == 0 && is.rows_resident == 0 && is.seconds == 0);
  assert_int_equal(is.memory_peak, is.memory_bytes);
  assert_int_equal(is.engine, GATHER_ENGINE_PREAD);
  gather_table_close(table);
}

/* ---- the ceiling ----------------------------------------------------------------------------------------------------- */

/* A number of /proc/self/status in bytes. */
static int64_t status_bytes(const char *name) {
  FILE *status = fopen("/proc/self/status", "re");
  char line[256];
  long long kib = -1;
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, name, strlen(name)) == 0) kib = strtoll(line + strlen(name) + 1, NULL, 10);
  if (status) fclose(status);
  return kib < 0 ? -1 : kib * KIB;
}

/* Starts the high-water mark anew. */
static bool forget_peak(void) {
  int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  bool done = fd >= 0 && write(fd, "5", 1) == 1;
  if (fd >= 0) close(fd);
  return done;
}

#if defined GATHER_TEST_EMULATED || defined GATHER_TEST_ASAN || defined GATHER_TEST_TSAN
#define COUNTS_ELSE 1
#endif

enum { WIDE_ROW = 4096, WIDE_ROWS = 12288, TAKEN = 512 }; /* 48 MiB */

/* In a process of its own: takes every row of the file under a ceiling; returns by how many bytes the process grew. */
static int64_t growth_under(const known_file *wide, const setting *how, bool warm) {
  static int64_t ids[TAKEN];
  static uint8_t out[TAKEN * WIDE_ROW];
  gather_table *table = open_rows(wide->path, WIDE_ROWS, WIDE_ROW, 0, how);
  memset(out, 1, sizeof out);
  int64_t before = status_bytes("VmRSS:");
  if (!forget_peak()) return -1;
  for (int64_t start = 0; start < WIDE_ROWS; start += TAKEN) {
    for (int64_t i = 0; i < TAKEN; i++) ids[i] = (start + i) * 5003 % WIDE_ROWS;
    if (!warm) evict(wide->path);
    gather_error error;
    if (take_rows(table, ids, TAKEN, out, &error) != GATHER_OK) _exit(3);
    if (first_wrong(wide, WIDE_ROWS, WIDE_ROW, 0, ids, TAKEN, out) != -1) _exit(4);
  }
  gather_table_statistics is = statistics_of(table);
  if (is.memory_peak > is.memory_ceiling) _exit(5);
  int64_t grown = status_bytes("VmHWM:") - before;
  gather_table_close(table);
  return grown;
}

/* All of a file comes into the page cache. */
static void bring(const char *path) {
  char block[65536];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  while (read(fd, block, sizeof block) > 0) continue;
  close(fd);
}

static void holds(const known_file *wide, const setting *how, bool warm) {
  const int64_t spare = 3 * MIB; /* stacks, tables of the engine, rounding of the system's counters */
  int status = 0;
  if (warm) bring(wide->path);
  pid_t child = fork();
  if (child == 0) {
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    int64_t grown = growth_under(wide, how, warm);
    if (grown > how->memory_bytes + spare) {
      printf("%s, %s: grew by %lld KiB\n", setting_text(how), warm ? "warm" : "cold", (long long)(grown / KIB));
      fflush(stdout);
      _exit(6);
    }
    _exit(grown < 0 ? 7 : 0);
  }
  assert_true(child > 0 && waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
    GATHER_TEST_SKIP("clear_refs", "the system does not let a process forget its peak of memory");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail_msg("%s, %s: ended with %#x", setting_text(how), warm ? "warm" : "cold", (unsigned)status);
}

/* The file is 48 MiB, of which a process may keep a few: by its own counters and by the system's. */
static void the_ceiling_holds(void **unused) {
#ifdef COUNTS_ELSE
  GATHER_TEST_SKIP("memory", "sanitizers and emulators take up memory of their own");
#endif
  known_file wide = make_file("ceiling", (int64_t)WIDE_ROW * WIDE_ROWS);
  for (int engine = 0; engine < 4; engine++)
    for (int warm = 0; warm < 2; warm++) {
      const setting how = {(gather_engine)engine, engine == GATHER_ENGINE_PREAD, false, 4 * MIB, -1, 0};
      if (engine_works(how.engine)) holds(&wide, &how, warm);
    }
  remove_file(&wide);
}

/* ---- reading in order ------------------------------------------------------------------------------------------------ */

/* A file of 64 MiB, the least that is read in order. 5461 reads of rows cost as much: 12 KiB each. */
enum { LONG_ROW = 512, LONG_ROWS = 131072, BATCH = 2048, BATCHES = 6 };

/* Takes batches of other rows each, far from each other. Returns the statistics before and after the last one. */
static void take_batches(const known_file *wide, int64_t memory_bytes, int64_t to_come, gather_table_statistics is[BATCHES]) {
  static int64_t ids[BATCH];
  static uint8_t out[BATCH * LONG_ROW];
  const setting how = {GATHER_ENGINE_AUTO, false, false, memory_bytes, 0, 0};
  gather_table *table = open_rows(wide->path, LONG_ROWS, LONG_ROW, 0, &how);
  evict(wide->path);
  for (int64_t b = 0; b < BATCHES; b++) {
    for (int64_t i = 0; i < BATCH; i++) ids[i] = (i * (LONG_ROWS / BATCH) + b * 8 + 3) % LONG_ROWS;
    const int64_t shape[2] = {BATCH, LONG_ROW};
    const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, shape), rows = tensor_of(GATHER_TYPE_UINT8, out, 2, shape);
    gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
    gather_error error;
    options.rows_to_come = to_come > b * BATCH ? to_come - b * BATCH : 0;
    if (gather_table_take(table, &indices, &rows, &options, &error) != GATHER_OK) fail_msg("%s", error.message);
    assert_int_equal(first_wrong(wide, LONG_ROWS, LONG_ROW, 0, ids, BATCH, out), -1);
    is[b] = statistics_of(table);
  }
  gather_table_close(table);
}

static void many_rows_read_the_file_in_order(void **unused) {
  known_file wide = make_file("in-order", (int64_t)LONG_ROW * LONG_ROWS);
  gather_table_statistics is[BATCHES];
  take_batches(&wide, 16 * MIB, 100000, is);                     /* never with a memory limit */
  const bool known = system_tells() && is[0].rows_resident == 0; /* and evicts files */
  if (known) {
    assert_int_equal(is[BATCHES - 1].rows_resident, 0);
    take_batches(&wide, 0, 0, is); /* unknown: once the reads have cost as much */
    assert_int_equal(is[1].rows_resident, 0);
    assert_in_range(is[1].bytes_read, 0, (int64_t)2 * BATCH * 8 * KIB);
    assert_true(is[BATCHES - 1].rows_resident >= BATCH);
    assert_in_range(is[BATCHES - 1].bytes_read, wide.bytes, 2 * wide.bytes);
    take_batches(&wide, 0, 100000, is); /* known: at once */
    assert_int_equal(is[0].rows_resident, BATCH);
    assert_in_range(is[BATCHES - 1].bytes_read, wide.bytes, wide.bytes + MIB);
    take_batches(&wide, 0, 2000, is); /* few rows do not pay */
    assert_int_equal(is[0].rows_resident, 0);
  }
  remove_file(&wide);
  if (!known) GATHER_TEST_SKIP("cachestat", "the system does not tell what is resident");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(repeated_ids_are_read_once),
                                     cmocka_unit_test(neighbours_are_read_together),
                                     cmocka_unit_test(scattered_rows_do_not_drag_others_along),
                                     cmocka_unit_test(cached_rows_are_not_read_again),
                                     cmocka_unit_test(no_cache_is_none),
                                     cmocka_unit_test(what_is_resident_is_copied),
                                     cmocka_unit_test(reset_and_failures),
                                     cmocka_unit_test(the_ceiling_holds),
                                     cmocka_unit_test(many_rows_read_the_file_in_order)};
  return cmocka_run_group_tests(tests, make_table, remove_table);
}
