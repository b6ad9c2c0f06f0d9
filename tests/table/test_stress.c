/* SPDX-License-Identifier: MIT
 *
 * test_stress.c: many threads and processes take rows of one file, by calls and by jobs, from tables that are opened and closed, while
 * somebody drops the file from memory and children are made. No byte is wrong, nothing hangs, nothing is left behind.
 * GATHER_STRESS_SECONDS=N goes on for N seconds (2).
 */
#include "table/test_stress.h"

enum { THREADS = 8, PROCESSES = 4, SHARED = 6, ROW = 200, ROWS = 40000, OFFSET = 37, MOST = 600, IN_FLIGHT = 3 };

static known_file file;
static gather_table *shared[SHARED];

/* Small ceilings and caches, so that rows are put out of them all the time. */
static const setting settings[SHARED] = {
    {GATHER_ENGINE_AUTO, false, false, 0, -1, 0},
    {GATHER_ENGINE_AUTO, false, true, 2 * MIB, 64 * KIB, 3},
    {GATHER_ENGINE_MMAP, false, false, 1 * MIB, 0, 0},
    {GATHER_ENGINE_PREAD, true, false, 1 * MIB, 32 * KIB, 4},
    {GATHER_ENGINE_URING, false, false, 2 * MIB, 100 * KIB, 32},
    {GATHER_ENGINE_AUTO, true, false, 1 * MIB, 0, 1},
};

static void *do_nothing(void *argument) { return argument; }

/* Sanitizers start a thread of theirs with the first one of the program. */
static int make_table(void **unused) {
  pthread_t first;
  if (pthread_create(&first, NULL, do_nothing, NULL) || pthread_join(first, NULL)) return -1;
  file = make_file("stress", OFFSET + (int64_t)ROW * ROWS);
  return 0;
}

static int remove_table(void **unused) {
  remove_file(&file);
  return 0;
}

static gather_table *open_by(int i) {
  setting how = settings[i % SHARED];
  if (!engine_works(how.engine)) how.engine = GATHER_ENGINE_PREAD;
  return open_rows(file.path, ROWS, ROW, OFFSET, &how);
}

/* ---- one worker ------------------------------------------------------------------------------------------------------ */

/* A thread's work and what became of it. */
typedef struct worker {
  pthread_t thread;
  uint64_t chance;
  double end;
  int64_t takes, wrong;
  char complaint[256];
} worker;

typedef struct some_rows {
  int64_t ids[MOST], len;
  uint8_t out[MOST * ROW];
} some_rows;

static void fill_batch(some_rows *batch, worker *me) {
  bool clustered = below(&me->chance, 2);
  int64_t start = below(&me->chance, ROWS), width = clustered ? 300 : ROWS;
  batch->len = 1 + below(&me->chance, MOST);
  for (int64_t i = 0; i < batch->len; i++) batch->ids[i] = (start + below(&me->chance, width)) % ROWS - below(&me->chance, 2) * ROWS;
  memset(batch->out, 0xEE, sizeof batch->out);
}

static void judge(worker *me, const some_rows *batch, gather_status status, const gather_error *error, const char *what) {
  me->takes++;
  int64_t wrong = status == GATHER_OK ? first_wrong(&file, ROWS, ROW, OFFSET, batch->ids, batch->len, batch->out) : 0;
  if (wrong < 0) return;
  me->wrong++;
  snprintf(me->complaint, sizeof me->complaint, "%s: row %lld: %.200s", what, (long long)wrong,
           status == GATHER_OK ? "wrong bytes" : error->message);
}

static void take_some(worker *me, gather_table *table, some_rows *batch) {
  gather_error error;
  fill_batch(batch, me);
  gather_status status = take_rows(table, batch->ids, batch->len, batch->out, &error);
  judge(me, batch, status, &error, "take");
}

static void submit_some(worker *me, gather_table *table, some_rows *batches) {
  gather_table_job *jobs[IN_FLIGHT];
  gather_error error;
  for (int j = 0; j < IN_FLIGHT; j++) {
    fill_batch(&batches[j], me);
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, batches[j].ids, 1, DIMS(batches[j].len)),
                  rows = tensor_of(GATHER_TYPE_UINT8, batches[j].out, 2, DIMS(batches[j].len, ROW));
    gather_status status = gather_table_submit(table, &indices, &rows, NULL, &jobs[j], &error);
    if (status == GATHER_OK) continue;
    jobs[j] = NULL;
    judge(me, &batches[j], status, &error, "submit");
  }
  for (int j = IN_FLIGHT - 1; j >= 0; j--) {
    if (!jobs[j]) continue;
    gather_status status = gather_table_wait(jobs[j], &error);
    judge(me, &batches[j], status, &error, "job");
  }
}

static void complain_once(worker *me, gather_table *table, some_rows *batch) {
  gather_error error;
  fill_batch(batch, me);
  batch->ids[batch->len - 1] = ROWS;
  gather_status status = take_rows(table, batch->ids, batch->len, batch->out, &error);
  me->wrong += status != GATHER_INDEX_OUT_OF_RANGE || error.position[0] != batch->len - 1 || batch->out[0] != 0xEE;
}

static void *work(void *argument) {
  worker *me = argument;
  some_rows *batches = malloc(IN_FLIGHT * sizeof *batches);
  gather_table_statistics is;
  if (!batches) abort();
  while (now() < me->end) {
    int64_t choice = below(&me->chance, 16);
    gather_table *table = choice == 0 ? open_by((int)below(&me->chance, SHARED)) : shared[below(&me->chance, SHARED)];
    take_some(me, table, batches);
    if (choice % 2) submit_some(me, table, batches);
    if (choice == 2) complain_once(me, table, batches);
    gather_table_statistics_get(table, &is);
    if (is.memory_ceiling && is.memory_peak > is.memory_ceiling) {
      me->wrong++;
      snprintf(me->complaint, sizeof me->complaint, "peak %lld", (long long)is.memory_peak);
    }
    if (choice == 0) gather_table_close(table);
  }
  free(batches);
  return NULL;
}

/* ---- who takes the file out of memory -------------------------------------------------------------------------------- */

static atomic_int evicting;

static void *evict_all_the_time(void *argument) {
  int fd = open(file.path, O_RDONLY | O_CLOEXEC);
  char *map = mmap(NULL, (size_t)file.bytes, PROT_READ, MAP_SHARED, fd, 0);
  (void)argument;
  while (atomic_load(&evicting)) {
    (void)madvise(map, (size_t)file.bytes, MADV_DONTNEED);
#ifdef MADV_PAGEOUT
    (void)madvise(map, (size_t)file.bytes, MADV_PAGEOUT);
#endif
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    usleep(2000);
  }
  munmap(map, (size_t)file.bytes);
  close(fd);
  return NULL;
}

/* Threads that take for a while; returns how many takes went wrong, and adds up how many there were. */
static int64_t threads_take(int count, double seconds, uint64_t seed, int64_t *takes) {
  worker workers[THREADS];
  pthread_t evictor;
  int64_t wrong = 0;
  atomic_store(&evicting, 1);
  if (pthread_create(&evictor, NULL, evict_all_the_time, NULL)) abort();
  for (int t = 0; t < count; t++) {
    workers[t] = (worker){.chance = seed * 1000 + (uint64_t)t, .end = now() + seconds};
    if (pthread_create(&workers[t].thread, NULL, work, &workers[t])) abort();
  }
  for (int t = 0; t < count; t++) {
    pthread_join(workers[t].thread, NULL);
    if (workers[t].wrong) print_error("thread %d: %s\n", t, workers[t].complaint);
    wrong += workers[t].wrong;
    *takes += workers[t].takes;
  }
  atomic_store(&evicting, 0);
  pthread_join(evictor, NULL);
  return wrong;
}

static void open_shared(void) {
  for (int i = 0; i < SHARED; i++) shared[i] = open_by(i);
}

static void close_shared(void) {
  for (int i = 0; i < SHARED; i++) gather_table_close(shared[i]);
}

static void many_threads(void **unused) {
  int descriptors = open_descriptors(), threads = entries("/proc/self/task");
  int64_t takes = 0;
  no_hang(stress_seconds(1));
  open_shared();
  int64_t wrong = threads_take(THREADS, stress_seconds(0.4), 1, &takes);
  close_shared();
  assert_int_equal(wrong, 0);
  assert_true(takes > THREADS);
  assert_int_equal(open_descriptors(), descriptors);
  assert_int_equal(threads_down_to(threads), threads);
}

/* ---- one pool ------------------------------------------------------------------------------------------------------ */

enum { SHARERS = 4, LONG = 9000 };

typedef struct sharer {
  pthread_t thread;
  gather_table *table;
  const gather_executor *executor;
  double end;
  int64_t takes, wrong;
  int number;
} sharer;

static void *take_on_the_pool(void *argument) {
  sharer *me = argument;
  int64_t *ids = malloc(LONG * sizeof *ids);
  uint8_t *out = malloc((size_t)LONG * ROW);
  uint64_t state = (uint64_t)me->number;
  if (!ids || !out) abort();
  while (me->takes == 0 || now() < me->end) {
    gather_table_take_options options = GATHER_TABLE_TAKE_INIT;
    gather_tensor indices = tensor_of(GATHER_TYPE_INT64, ids, 1, DIMS(LONG)), rows = tensor_of(GATHER_TYPE_UINT8, out, 2, DIMS(LONG, ROW));
    for (int64_t i = 0; i < LONG; i++) ids[i] = below(&state, ROWS);
    options.executor = me->executor;
    bool good = gather_table_take(me->table, &indices, &rows, &options, NULL) == GATHER_OK;
    me->wrong += !good || first_wrong(&file, ROWS, ROW, OFFSET, ids, LONG, out) >= 0;
    me->takes++;
  }
  free(ids);
  free(out);
  return NULL;
}

/* Threads whose takes share a pool, and memory for one that reads: who has the memory waits for the pool, and who has the pool for the
 * memory, if nobody takes care. */
static void one_pool_for_all(void **unused) {
  gather_pool *pool = NULL;
  alarm(30 + (unsigned)stress_seconds(1));
  assert_status(gather_pool_create(3, &pool, NULL), GATHER_OK);
  for (int i = 0; i < SHARED; i++) {
    sharer sharers[SHARERS];
    setting how = settings[i];
    how.memory_bytes = how.memory_bytes ? GATHER_TABLE_LEAST_MEMORY : 0;
    how.cache_bytes = 0;
    if (!engine_works(how.engine)) how.engine = GATHER_ENGINE_PREAD;
    gather_table *table = open_rows(file.path, ROWS, ROW, OFFSET, &how);
    evict(file.path);
    for (int t = 0; t < SHARERS; t++) {
      sharers[t] =
          (sharer){.table = table, .executor = gather_pool_executor(pool), .end = now() + stress_seconds(0.03), .number = i * SHARERS + t};
      assert_int_equal(pthread_create(&sharers[t].thread, NULL, take_on_the_pool, &sharers[t]), 0);
    }
    for (int t = 0; t < SHARERS; t++) {
      pthread_join(sharers[t].thread, NULL);
      assert_int_equal(sharers[t].wrong, 0);
    }
    gather_table_close(table);
  }
  gather_pool_destroy(pool);
}

/* Each process takes from the tables that its parent opened, and from its own; the parent takes at the same time. */
static void many_processes(void **unused) {
  pid_t children[PROCESSES];
  int descriptors = open_descriptors();
  int64_t takes = 0, wrong = 0;
  no_hang(stress_seconds(1));
  open_shared();
  threads_take(2, 0.01, 2, &takes); /* the parent's tables have threads and rings when the children are made */
  for (int p = 0; p < PROCESSES; p++) {
    children[p] = fork();
    assert_true(children[p] >= 0);
    if (children[p] > 0) continue;
    int64_t mine = 0;
    become_child(60 + (unsigned)stress_seconds(1));
    wrong = threads_take(2, stress_seconds(0.3), 100 + (uint64_t)p, &mine);
    close_shared();
    _exit(wrong || mine < 2);
  }
  wrong = threads_take(2, stress_seconds(0.3), 3, &takes);
  for (int p = 0; p < PROCESSES; p++) assert_int_equal(end_of(children[p]), 0);
  close_shared();
  assert_int_equal(wrong, 0);
  assert_int_equal(open_descriptors(), descriptors);
}

/* Children made at any moment, while other threads are within takes: whatever lock is held then, the child can use the tables. */
static void children_in_the_middle(void **unused) {
  worker workers[4], child = {.chance = 77};
  static some_rows batches[IN_FLIGHT];
  int64_t wrong = 0, made = 0;
  double end = now() + stress_seconds(0.3);
#ifdef STRESS_NO_FORK
  GATHER_TEST_SKIP("fork", "the sanitizer's own locks do not stand a fork at any moment");
#endif
  no_hang(stress_seconds(1));
  open_shared();
  for (int t = 0; t < 4; t++) {
    workers[t] = (worker){.chance = 500 + (uint64_t)t, .end = end};
    assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
  }
  while (now() < end) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      become_child(20);
      for (int i = 0; i < SHARED; i++) take_some(&child, shared[i], batches);
      submit_some(&child, shared[made % SHARED], batches);
      close_shared();
      _exit(child.wrong != 0);
    }
    assert_int_equal(end_of(pid), 0);
    made++;
  }
  for (int t = 0; t < 4; t++) {
    pthread_join(workers[t].thread, NULL);
    wrong += workers[t].wrong;
  }
  close_shared();
  assert_int_equal(wrong, 0);
  assert_true(made > 0);
}

/* The parent's jobs finish, whatever the child does with its copy of the table. */
static void a_child_while_jobs_run(void **unused) {
  enum { JOBS = 16 };
  static some_rows batches[JOBS], extra;
  gather_table_job *jobs[JOBS];
  gather_error error;
  worker me = {.chance = 11};
#ifdef STRESS_NO_FORK
  GATHER_TEST_SKIP("fork", "the sanitizer's own locks do not stand a fork at any moment");
#endif
  no_hang(stress_seconds(1));
  open_shared();
  for (int i = 0; i < SHARED; i++) {
    evict(file.path);
    for (int j = 0; j < JOBS; j++) {
      fill_batch(&batches[j], &me);
      gather_tensor indices = tensor_of(GATHER_TYPE_INT64, batches[j].ids, 1, DIMS(batches[j].len)),
                    rows = tensor_of(GATHER_TYPE_UINT8, batches[j].out, 2, DIMS(batches[j].len, ROW));
      assert_status(gather_table_submit(shared[i], &indices, &rows, NULL, &jobs[j], &error), GATHER_OK);
    }
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
      worker child = {.chance = 12};
      become_child(30);
      take_some(&child, shared[i], &extra);
      gather_table_close(shared[i]);
      _exit(child.wrong != 0);
    }
    for (int j = 0; j < JOBS; j++) judge(&me, &batches[j], gather_table_wait(jobs[j], &error), &error, "job");
    assert_int_equal(end_of(pid), 0);
  }
  close_shared();
  if (me.wrong) fail_msg("%s", me.complaint);
}

/* Opened and closed again and again, with and without work: nothing piles up. */
static void nothing_is_left(void **unused) {
  static some_rows some;
  worker me = {.chance = 21};
  int alone = entries("/proc/self/task");
  no_hang(stress_seconds(1));
  for (int i = 0; i < SHARED; i++) gather_table_close(open_by(i)); /* what is made once and stays, is there now */
  int descriptors = open_descriptors(), threads = threads_down_to(alone), maps = 0, left = 0;
  for (int round = 0; round < 60; round++) {
    gather_table *table = open_by(round);
    if (round % 5) take_some(&me, table, &some);
    gather_table_close(table);
    FILE *list = fopen("/proc/self/maps", "re");
    assert_non_null(list);
    int lines = 0;
    for (int letter; (letter = fgetc(list)) != EOF;) lines += letter == '\n';
    fclose(list);
    if (round == SHARED * 2) maps = lines;
    left = lines;
  }
  assert_int_equal(me.wrong, 0);
  assert_int_equal(open_descriptors(), descriptors);
  assert_int_equal(threads_down_to(threads), threads);
  assert_true(left <= maps + 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_left),        cmocka_unit_test(many_threads),
                                     cmocka_unit_test(one_pool_for_all),       cmocka_unit_test(many_processes),
                                     cmocka_unit_test(children_in_the_middle), cmocka_unit_test(a_child_while_jobs_run)};
  return cmocka_run_group_tests(tests, make_table, remove_table) + (engine_skips() != 0);
}
