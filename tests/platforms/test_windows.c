/* SPDX-License-Identifier: MIT
 *
 * test_windows.c: what Windows does in a way of its own: positions beyond 4 GiB, overlapped reads, exceptions in a guarded copy, waiting,
 * what the machine has.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system/cache_size.h"
#include "core/system/machine.h"
#include "gather/table.h"
#include "platforms/windows_support.h"
#include "table/system/table_system.h"

/* ---- files */

static void knows_positions_beyond_4_gib(void **state) {
  const off_t far = (off_t)5 << 30;
  char bytes[4] = "";
  struct stat about;
  (void)state;
  int fd = open("far", O_RDWR | O_CREAT | O_EXCL);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, far + 4), 0);
  assert_int_equal(pwrite(fd, "abcd", 4, far), 4);
  assert_int_equal(pread(fd, bytes, 4, far), 4);
  assert_memory_equal(bytes, "abcd", 4);
  assert_int_equal(pread(fd, bytes, 4, far - 4), 4);
  assert_memory_equal(bytes, "\0\0\0\0", 4);
  assert_int_equal(pread(fd, bytes, 4, far + 2), 2);
  assert_int_equal(pread(fd, bytes, 4, far + 4), 0);
  assert_int_equal(lseek(fd, 0, SEEK_END), far + 4);
  assert_int_equal(fstat(fd, &about), 0);
  assert_int_equal(about.st_size, far + 4);
  assert_int_equal(close(fd), 0);
  assert_int_equal(unlink("far"), 0);
}

/* ---- overlapped reads against the others */

enum { ROWS = 5000, WIDTH = 300, COUNT_OF_IDS = 4000 };

static void write_rows(const char *path) {
  int32_t *row = malloc(sizeof *row * WIDTH);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL);
  assert_true(fd >= 0 && row);
  for (int32_t r = 0; r < ROWS; r++) {
    for (int32_t i = 0; i < WIDTH; i++) row[i] = r * WIDTH + i;
    assert_int_equal(write(fd, row, sizeof *row * WIDTH), sizeof *row * WIDTH);
  }
  free(row);
  assert_int_equal(close(fd), 0);
}

static void take_by(gather_engine engine, bool buffered, const int64_t *ids, int32_t *out) {
  const int64_t shape[] = {ROWS, WIDTH};
  const gather_raw raw = {.type = "int32", .rank = 2, .shape = shape};
  gather_table_options options = GATHER_TABLE_OPTIONS_INIT;
  gather_table_statistics statistics;
  gather_table *table;
  gather_error error;
  options.engine = engine, options.raw = &raw, options.buffered = buffered, options.cache_bytes = 0;
  if (gather_table_open("rows.bin", &options, &table, &error) != GATHER_OK) fail_msg("%s", error.message);
  const gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(COUNT_OF_IDS)),
                      rows = tensor_of(GATHER_TYPE_INT32, out, 2, DIMS(COUNT_OF_IDS, WIDTH));
  if (gather_table_take(table, &indices, &rows, NULL, &error) != GATHER_OK) fail_msg("%s", error.message);
  gather_table_statistics_get(table, &statistics);
  if (engine != GATHER_ENGINE_AUTO) assert_int_equal(statistics.engine, engine);
  if (engine == GATHER_ENGINE_AUTO) assert_int_equal(statistics.engine, GATHER_ENGINE_OVERLAPPED);
  gather_table_close(table);
}

static void overlapped_reads_give_the_same(void **state) {
  static const gather_engine ENGINES[] = {GATHER_ENGINE_OVERLAPPED, GATHER_ENGINE_PREAD, GATHER_ENGINE_MMAP, GATHER_ENGINE_AUTO};
  int64_t *ids = malloc(sizeof *ids * COUNT_OF_IDS);
  int32_t *out = malloc(sizeof *out * COUNT_OF_IDS * WIDTH);
  uint32_t random = 1;
  (void)state;
  assert_true(ids && out);
  write_rows("rows.bin");
  for (int i = 0; i < COUNT_OF_IDS; i++) ids[i] = (int64_t)((random = random * 1664525u + 1013904223u) >> 8) % ROWS;
  for (size_t way = 0; way < 2 * COUNT(ENGINES); way++) {
    memset(out, 0xee, sizeof *out * COUNT_OF_IDS * WIDTH);
    take_by(ENGINES[way / 2], way % 2, ids, out);
    for (int64_t i = 0; i < (int64_t)COUNT_OF_IDS * WIDTH; i++)
      if (out[i] != ids[i / WIDTH] * WIDTH + i % WIDTH) fail_msg("way %zu: element %lld", way, (long long)i);
  }
  free(ids);
  free(out);
  assert_int_equal(unlink("rows.bin"), 0);
}

/* ---- exceptions */

static char *volatile lost;
static volatile int reached;

static void touch(void *argument) {
  volatile char *at = (volatile char *)lost + 4096 + *(int *)argument;
  reached = reached + 1;
  (void)*at;
  reached = reached + 1;
}

/* A page of a source's mapping that cannot be read; again and again, since the handler stays. */
static void a_lost_page_becomes_a_result(void **state) {
  gather_error error;
  int32_t source = 7;
  int64_t offset = 0;
  int place = 5;
  (void)state;
  lost = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(lost != MAP_FAILED);
  gather_table_source sources[2] = {{.map = NULL, .size = 10}, {.map = lost, .size = 65536}};
  assert_status(gather_guard_install(&error), GATHER_OK);
  for (int i = 1; i <= 3; i++) {
    assert_false(gather_guard_run(sources, 2, touch, &place, &source, &offset));
    assert_int_equal(source, 1);
    assert_int_equal(offset, 4096 + 5);
    assert_int_equal(reached, i);
  }
  assert_int_equal(mprotect(lost, 65536, PROT_READ | PROT_WRITE), 0);
  assert_true(gather_guard_run(sources, 2, touch, &place, &source, &offset));
  assert_int_equal(munmap(lost, 65536), 0);
}

/* ---- waiting, and the machine */

static void a_wait_ends_in_time(void **state) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never;
  pthread_condattr_t attributes;
  struct timespec begin, end, now;
  (void)state;
  assert_int_equal(pthread_condattr_init(&attributes), 0);
  assert_int_equal(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
  assert_int_equal(pthread_cond_init(&never, &attributes), 0);
  assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &begin), 0);
  end = begin;
  end.tv_nsec += 50 * 1000 * 1000;
  if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
  assert_int_equal(pthread_mutex_lock(&lock), 0);
  assert_int_equal(pthread_cond_timedwait(&never, &lock, &end), ETIMEDOUT);
  assert_int_equal(pthread_mutex_unlock(&lock), 0);
  assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
  assert_true(now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec - 2000000));
}

static void the_machine_has_something(void **state) {
  (void)state;
  assert_true(gather_cpu_count() >= 1);
  assert_true(gather_usable_memory() > 64 << 20);
  assert_int_equal(sysconf(_SC_PAGESIZE), 4096);
  assert_true(gather_cache_size() >= 0);
  assert_int_equal(sizeof(long), 4);
}

/* Everything happens in a folder of its own. */
static char folder[] = "/tmp/gather-windows-XXXXXX";
static int enter(void **state) {
  (void)state;
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}
static int leave(void **state) {
  (void)state;
  return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(knows_positions_beyond_4_gib), cmocka_unit_test(overlapped_reads_give_the_same),
      cmocka_unit_test(a_lost_page_becomes_a_result), cmocka_unit_test(a_wait_ends_in_time),
      cmocka_unit_test(the_machine_has_something),    cmocka_unit_test(windows_replaces_an_open_file),
      cmocka_unit_test(windows_deletes_an_open_file), cmocka_unit_test(windows_knows_every_character),
      cmocka_unit_test(windows_knows_long_paths),     cmocka_unit_test(windows_takes_both_slashes),
      cmocka_unit_test(windows_locks_for_one),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}
